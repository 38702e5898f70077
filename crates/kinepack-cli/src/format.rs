//! The formats of states that commands write, by the extension of a file's name.

use std::path::Path;

/// The format of a file with states, as the extension of its name states it. Each command writes
/// some of these formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A capture.
    Capture,
    /// A replay.
    Replay,
    /// A challenge file of quantized cubes.
    Quantized,
    /// A challenge file of cubes before quantization.
    Floats,
    /// A table of numbers.
    Table,
}

impl Format {
    /// The extensions in lower case. Commands also recognize files by them.
    const ENDINGS: [(&'static str, Self); 5] = [
        ("mcap", Self::Capture),
        ("kpz", Self::Replay),
        ("bin", Self::Quantized),
        ("f32", Self::Floats),
        ("csv", Self::Table),
    ];

    /// Returns the format of a file name, or `None` if the extension is unknown or missing.
    pub fn of_name(name: &Path) -> Option<Self> {
        let ending = name.extension()?;
        Self::ENDINGS.into_iter().find(|(known, _)| ending == *known).map(|(_, format)| format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_a_name_says_the_format() {
        for (name, format) in [
            ("a/world.mcap", Some(Format::Capture)),
            ("world.v2.kpz", Some(Format::Replay)),
            ("world.bin", Some(Format::Quantized)),
            ("world.f32", Some(Format::Floats)),
            ("world.csv", Some(Format::Table)),
            ("world.F32", None),
            ("world.f32.zst", None),
            ("/dev/stdout", None),
            (".mcap", None),
        ] {
            assert_eq!(Format::of_name(Path::new(name)), format, "{name}");
        }
    }
}
