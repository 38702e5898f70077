//! What clips are built for and of, on the command line.

use clap::{Args, ValueEnum};
use kinepack_anim::RawClip;
use kinepack_anim::keyed::{Parametrization, RotationBits};
use kinepack_anim::measure::ErrorOptions;
use kinepack_anim::offline::{BuildOptions, KeyOptions, KeyPosition, Margins, Scheme};

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
    /// Ends of chains whose place must not suffer from what becomes of their ancestors, by name: case does not matter, * stands for anything.
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
            pins: pins(&self.pin, raw),
            ..KeyOptions::default()
        }
    }

    /// Sees that each pin is a joint of at least one skeleton.
    pub(crate) fn check_pins<'a>(&self, clips: impl Iterator<Item = &'a RawClip> + Clone) -> Result<(), Failure> {
        let is_nowhere = |name: &&String| clips.clone().all(|clip| pins(std::slice::from_ref(*name), clip).is_empty());
        match self.pin.iter().find(is_nowhere) {
            Some(name) => Err(Failure::UnknownPin { name: name.clone() }),
            None => Ok(()),
        }
    }
}

/// The joints that a pattern names.
fn pins(patterns: &[String], raw: &RawClip) -> Vec<usize> {
    let names = raw.skeleton().joints().iter().map(|joint| joint.name.to_lowercase());
    let is_named = |name: &String| patterns.iter().any(|pattern| matches(&pattern.to_lowercase(), name));
    names.enumerate().filter(|(_, name)| is_named(name)).map(|(joint, _)| joint).collect()
}

/// Whether a name is what a pattern says, in which * stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_of_names() {
        for (pattern, name, is_match) in [
            ("foot", "foot", true),
            ("foot", "foot.l", false),
            ("foot*", "foot.l", true),
            ("*foot*", "leftfoot", true),
            ("l*o*t", "lfoot", true),
            ("*foot", "feet", false),
            ("a*a", "a", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, name), is_match, "{pattern} {name}");
        }
    }
}
