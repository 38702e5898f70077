//! How clips are built: options of the command line.

use clap::{Args, ValueEnum};
use kinepack_anim::RawClip;
use kinepack_anim::block::Interpolation;
use kinepack_anim::keyed::{Parametrization, RotationBits};
use kinepack_anim::measure::ErrorOptions;
use kinepack_anim::offline::{
    BlockOptions, BuildOptions, Effort, KeyPosition, KeyedOptions, Margins, Scheme,
};

use super::joints::{JointLength, lengths, named, parse_length, similar};
use crate::anim::error::AnimError;

/// How clips are compressed.
#[derive(Args, Clone, Debug)]
pub(crate) struct SchemeArguments {
    /// The largest error at the sample times, in object space. Quantized clips ignore it.
    #[arg(long, value_name = "CM", default_value_t = 0.1)]
    precision: f64,
    /// Another precision for some joints, by name. Case does not matter, and * stands for any
    /// characters, as in '*hand*=0.02'. If several match a joint, the last one counts.
    #[arg(long, value_name = "NAME=CM", value_parser = parse_length)]
    joint_precision: Vec<JointLength>,
    /// The distance from each joint at which errors are measured.
    #[arg(long, value_name = "CM", default_value_t = 3.0)]
    shell: f64,
    /// Another distance for some joints, by name as with --joint-precision.
    #[arg(long, value_name = "NAME=CM", value_parser = parse_length)]
    joint_shell: Vec<JointLength>,
    /// How a clip is stored.
    #[arg(long, value_enum, default_value_t)]
    scheme: SchemeName,
    /// Ends of chains, such as feet, whose place must not depend on the errors of their ancestors;
    /// by name as with --joint-precision. For block and keyed clips.
    #[arg(long, value_name = "JOINT")]
    pin: Vec<String>,
    /// How much time a build may take [default: default]
    #[arg(long, value_enum, help_heading = "Block scheme")]
    effort: Option<EffortName>,
    /// How the clip moves between two samples [default: linear]
    #[arg(long, value_enum, help_heading = "Block scheme")]
    interpolation: Option<InterpolationName>,
    /// How splines are parametrized [default: times]
    #[arg(long, value_enum, help_heading = "Keyed scheme")]
    parametrization: Option<ParametrizationName>,
    /// How the largest error of each track is chosen [default: measured]
    #[arg(long, value_enum, help_heading = "Keyed scheme")]
    margins: Option<MarginsName>,
    /// The position of a new key in a segment [default: worst]
    #[arg(long, value_enum, help_heading = "Keyed scheme")]
    key_position: Option<PositionName>,
    /// How many times to try removing each key [default: 3]
    #[arg(long, value_name = "TIMES", help_heading = "Keyed scheme")]
    removal_passes: Option<usize>,
    /// Do not change the values of keys when a key next to them is removed.
    #[arg(long, help_heading = "Keyed scheme")]
    no_refit: bool,
    /// Use keys for every track that changes, even if rows of samples are smaller.
    #[arg(long, help_heading = "Keyed scheme")]
    no_rows: bool,
    /// Allow the full error for joints that are at rest. By default, half of it is allowed.
    #[arg(long, help_heading = "Keyed scheme")]
    no_hold_still: bool,
}

/// How a clip is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemeName {
    /// Coefficients for a few samples at a time: the fewest bytes.
    #[default]
    Block,
    /// The keys of splines, as Riot describes them for League of Legends, with improvements.
    #[value(alias = "article")]
    Keyed,
    /// All samples, rotations in 48 bits.
    Quantized,
    /// All samples, rotations in 32 bits.
    #[value(name = "quantized-32")]
    Quantized32,
}

/// How much time a build may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, ValueEnum)]
pub(crate) enum EffortName {
    /// For previews.
    Fast,
    /// For builds of a game.
    #[default]
    Default,
    /// For releases of clips in blocks of at most 16 samples.
    Thorough,
    /// For releases: the fewest bytes that play as fast as with the default.
    Best,
}

/// How a clip moves between two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum InterpolationName {
    /// In straight lines.
    #[default]
    Linear,
    /// Along cubic splines: nearer to motion that was captured at a higher rate.
    Cubic,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ParametrizationName {
    /// All keys are equally far apart.
    Uniform,
    /// By the time between keys.
    #[default]
    Times,
    /// By the length of chords.
    Chordal,
    /// By the square root of the length of chords.
    Centripetal,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum MarginsName {
    /// The same for all joints.
    Fixed,
    /// Smaller towards the root.
    Hierarchy,
    /// By the error in object space.
    #[default]
    Measured,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum PositionName {
    /// In the middle of the segment.
    Middle,
    /// At the sample with the largest error.
    #[default]
    Worst,
    /// At the sample where the new key leaves the smallest errors.
    Best,
}

impl SchemeName {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Keyed => "keyed",
            Self::Quantized => "quantized",
            Self::Quantized32 => "quantized-32",
        }
    }
}

impl EffortName {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Default => "default",
            Self::Thorough => "thorough",
            Self::Best => "best",
        }
    }

    pub(crate) fn effort(self) -> Effort {
        match self {
            Self::Fast => Effort::Fast,
            Self::Default => Effort::Default,
            Self::Thorough => Effort::Thorough,
            Self::Best => Effort::Best,
        }
    }
}

impl SchemeArguments {
    pub(crate) fn scheme(&self) -> SchemeName {
        self.scheme
    }

    pub(crate) fn name(&self) -> &'static str {
        self.scheme.name()
    }

    /// Returns the effort, if one was given.
    pub(crate) fn asked_effort(&self) -> Option<EffortName> {
        self.effort
    }

    pub(crate) fn precision_cm(&self) -> f64 {
        self.precision
    }

    /// Returns how errors of a clip are measured.
    pub(crate) fn error(&self, raw: &RawClip) -> ErrorOptions {
        ErrorOptions {
            shell_cm: self.shell,
            joint_shells_cm: lengths(&self.joint_shell, raw),
            base: None,
        }
    }

    /// Returns the options of the library for one clip. The library checks the numbers.
    pub(crate) fn options(&self, raw: &RawClip) -> BuildOptions {
        let scheme = match self.scheme {
            SchemeName::Block => Scheme::Block(self.block(raw, self.effort.unwrap_or_default())),
            SchemeName::Keyed => Scheme::Keyed(self.keyed(raw)),
            SchemeName::Quantized => Scheme::Quantized(RotationBits::Bits48),
            SchemeName::Quantized32 => Scheme::Quantized(RotationBits::Bits32),
        };
        BuildOptions {
            precision_cm: self.precision,
            joint_precisions_cm: lengths(&self.joint_precision, raw),
            error: self.error(raw),
            scheme,
        }
    }

    /// Options of the block scheme, even if another scheme was chosen.
    pub(crate) fn block(&self, raw: &RawClip, effort: EffortName) -> BlockOptions {
        BlockOptions {
            effort: effort.effort(),
            pins: self.pins(raw),
            rig: None,
            interpolation: match self.interpolation.unwrap_or_default() {
                InterpolationName::Linear => Interpolation::Linear,
                InterpolationName::Cubic => Interpolation::Cubic,
            },
        }
    }

    /// Options of the keyed scheme, even if another scheme was chosen.
    pub(crate) fn keyed(&self, raw: &RawClip) -> KeyedOptions {
        KeyedOptions {
            parametrization: match self.parametrization.unwrap_or_default() {
                ParametrizationName::Uniform => Parametrization::Uniform,
                ParametrizationName::Times => Parametrization::Times,
                ParametrizationName::Chordal => Parametrization::Chordal,
                ParametrizationName::Centripetal => Parametrization::Centripetal,
            },
            margins: match self.margins.unwrap_or_default() {
                MarginsName::Fixed => Margins::Fixed,
                MarginsName::Hierarchy => Margins::Hierarchy,
                MarginsName::Measured => Margins::Measured,
            },
            position: match self.key_position.unwrap_or_default() {
                PositionName::Middle => KeyPosition::Middle,
                PositionName::Worst => KeyPosition::Worst,
                PositionName::Best => KeyPosition::Best,
            },
            removal_passes: self.removal_passes.unwrap_or(KeyedOptions::default().removal_passes),
            refit: !self.no_refit,
            rows: !self.no_rows,
            hold_still: !self.no_hold_still,
            pins: self.pins(raw),
            ..KeyedOptions::default()
        }
    }

    pub(crate) fn pins(&self, raw: &RawClip) -> Vec<usize> {
        named(&self.pin, raw)
    }

    /// Checks that the scheme has all options that are given, and that each name matches a joint of
    /// at least one skeleton.
    pub(crate) fn check<'a>(
        &self,
        clips: impl Iterator<Item = &'a RawClip> + Clone,
    ) -> Result<(), AnimError> {
        self.check_scheme()?;
        let precisions =
            self.joint_precision.iter().map(|length| ("--joint-precision", &length.pattern));
        let shells = self.joint_shell.iter().map(|length| ("--joint-shell", &length.pattern));
        let pins = self.pin.iter().map(|name| ("--pin", name));
        let is_nowhere = |name: &String| {
            clips.clone().all(|clip| named(std::slice::from_ref(name), clip).is_empty())
        };
        match precisions.chain(shells).chain(pins).find(|(_, name)| is_nowhere(name)) {
            Some((option, name)) => {
                let similar =
                    clips.clone().find_map(|clip| similar(name, clip)).unwrap_or_default();
                Err(AnimError::UnknownJoint { option, name: name.clone(), similar })
            }
            None => Ok(()),
        }
    }

    /// Refuses the command's options for block clips if another scheme was chosen.
    pub(crate) fn check_block(&self, options: &[(&'static str, bool)]) -> Result<(), AnimError> {
        match options.iter().find(|(_, is_given)| *is_given) {
            Some(&(option, _)) if self.scheme != SchemeName::Block => Err(AnimError::OtherScheme {
                option,
                schemes: vec![SchemeName::Block.name()],
                given: self.name(),
            }),
            _ => Ok(()),
        }
    }

    fn check_scheme(&self) -> Result<(), AnimError> {
        use SchemeName::{Block, Keyed};
        let (block, keyed, both): (&[_], &[_], &[_]) = (&[Block], &[Keyed], &[Block, Keyed]);
        let options = [
            ("--pin", !self.pin.is_empty(), both),
            ("--effort", self.effort.is_some(), block),
            ("--interpolation", self.interpolation.is_some(), block),
            ("--parametrization", self.parametrization.is_some(), keyed),
            ("--margins", self.margins.is_some(), keyed),
            ("--key-position", self.key_position.is_some(), keyed),
            ("--removal-passes", self.removal_passes.is_some(), keyed),
            ("--no-refit", self.no_refit, keyed),
            ("--no-rows", self.no_rows, keyed),
            ("--no-hold-still", self.no_hold_still, keyed),
        ];
        let wrong = options
            .into_iter()
            .find(|(_, is_given, schemes)| *is_given && !schemes.contains(&self.scheme));
        match wrong {
            Some((option, _, schemes)) => {
                let schemes = schemes.iter().map(|scheme| scheme.name()).collect();
                Err(AnimError::OtherScheme { option, schemes, given: self.name() })
            }
            None => Ok(()),
        }
    }
}
