//! What clips are built for and of, on the command line.

use clap::{Args, ValueEnum};
use kinepack_anim::measure::ErrorOptions;
use kinepack_anim::offline::{BuildOptions, KeyOptions, KeyPosition, Margins, Scheme};
use kinepack_anim::spline::Parametrization;
use kinepack_anim::{RawClip, RotationBits};

use crate::failure::Failure;

/// How clips are compressed.
#[derive(Args, Clone, Debug)]
pub(crate) struct SchemeArguments {
    /// The largest error at the sample times, in object space. Quantized clips are what they are.
    #[arg(long, value_name = "CM", default_value_t = 0.1)]
    precision: f64,
    /// How far from each joint errors are measured.
    #[arg(long, value_name = "CM", default_value_t = 3.0)]
    shell: f64,
    /// What a clip is made of.
    #[arg(long, value_enum, default_value_t)]
    scheme: SchemeName,
    /// An end of a chain whose place must not suffer from what becomes of its ancestors, by its name; once for each. Skeletons without it have no
    /// such pin.
    #[arg(long, value_name = "JOINT", help_heading = "Keys")]
    pin: Vec<String>,
    /// How splines are parametrized.
    #[arg(long, value_enum, default_value_t, help_heading = "Keys")]
    parametrization: ParametrizationName,
    /// How far a track may be off.
    #[arg(long, value_enum, default_value_t, help_heading = "Keys")]
    margins: MarginsName,
    /// Where in a segment a new key goes.
    #[arg(long, value_enum, default_value_t, help_heading = "Keys")]
    key_position: PositionName,
    /// How often all keys are tried to be taken away.
    #[arg(long, value_name = "TIMES", default_value_t = KeyOptions::default().removal_passes, help_heading = "Keys")]
    removal_passes: usize,
    /// Leave the values of keys as they are when one next to them is taken away.
    #[arg(long, help_heading = "Keys")]
    no_refit: bool,
    /// Keys for every track that changes, even where rows of samples are smaller.
    #[arg(long, help_heading = "Keys")]
    no_rows: bool,
    /// Let joints that stand still be off as far as others.
    #[arg(long, help_heading = "Keys")]
    no_hold_still: bool,
}

/// What a clip is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemeName {
    /// The keys that splines need: the article's scheme, and what improves it.
    #[default]
    Article,
    /// All samples, rotations in 48 bits.
    Quantized,
    /// All samples, rotations in 32 bits.
    #[value(name = "quantized-32")]
    Quantized32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ParametrizationName {
    /// All distances between keys are alike.
    Uniform,
    /// By the time between keys.
    #[default]
    Times,
    /// By the length of chords.
    Chordal,
    /// By the square root of that.
    Centripetal,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum MarginsName {
    /// All joints as far.
    Fixed,
    /// The higher up the less.
    Hierarchy,
    /// By the error that is measured in object space.
    #[default]
    Measured,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum PositionName {
    /// Into the middle.
    Middle,
    /// Where the error is worst.
    #[default]
    Worst,
    /// Where it leaves the smallest errors.
    Best,
}

impl SchemeName {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Article => "article",
            Self::Quantized => "quantized",
            Self::Quantized32 => "quantized-32",
        }
    }
}

impl SchemeArguments {
    pub(crate) fn name(&self) -> &'static str {
        self.scheme.name()
    }

    pub(crate) fn precision_cm(&self) -> f64 {
        self.precision
    }

    pub(crate) fn error(&self) -> ErrorOptions {
        ErrorOptions { shell_cm: self.shell }
    }

    /// What the library takes, for one clip; it checks the numbers.
    pub(crate) fn options(&self, raw: &RawClip) -> BuildOptions {
        let scheme = match self.scheme {
            SchemeName::Article => Scheme::Keys(self.keys(raw)),
            SchemeName::Quantized => Scheme::Quantized(RotationBits::Bits48),
            SchemeName::Quantized32 => Scheme::Quantized(RotationBits::Bits32),
        };
        BuildOptions { precision_cm: self.precision, error: self.error(), scheme }
    }

    fn keys(&self, raw: &RawClip) -> KeyOptions {
        KeyOptions {
            parametrization: match self.parametrization {
                ParametrizationName::Uniform => Parametrization::Uniform,
                ParametrizationName::Times => Parametrization::Times,
                ParametrizationName::Chordal => Parametrization::Chordal,
                ParametrizationName::Centripetal => Parametrization::Centripetal,
            },
            margins: match self.margins {
                MarginsName::Fixed => Margins::Fixed,
                MarginsName::Hierarchy => Margins::Hierarchy,
                MarginsName::Measured => Margins::Measured,
            },
            position: match self.key_position {
                PositionName::Middle => KeyPosition::Middle,
                PositionName::Worst => KeyPosition::Worst,
                PositionName::Best => KeyPosition::Best,
            },
            removal_passes: self.removal_passes,
            refit: !self.no_refit,
            rows: !self.no_rows,
            hold_still: !self.no_hold_still,
            pins: self.pin.iter().filter_map(|name| raw.skeleton().find(name)).collect(),
            ..KeyOptions::default()
        }
    }

    /// Sees that each pin is a joint of at least one skeleton.
    pub(crate) fn check_pins<'a>(&self, clips: impl Iterator<Item = &'a RawClip> + Clone) -> Result<(), Failure> {
        let is_nowhere = |name: &&String| clips.clone().all(|clip| clip.skeleton().find(name).is_none());
        match self.pin.iter().find(is_nowhere) {
            Some(name) => Err(Failure::UnknownPin { name: name.clone() }),
            None => Ok(()),
        }
    }
}
