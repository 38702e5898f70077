//! The names of a codec's levels in commands and reports. The rows follow the article "Snapshot
//! Compression", one improvement a row.

use kinepack::Level;

/// The first row at which every field is quantized. The rows above it in the table send some floats
/// whole.
pub const FIRST_QUANTIZED_ROW: u8 = 6;

/// Names, and what each row adds to the one above.
const ROWS: [(&str, &str); Level::TABLE.len()] = [
    ("uncompressed", "every float in 32 bits"),
    ("smallest-three", "rotations as smallest three"),
    ("velocity", "velocity bounded and quantized"),
    ("at-rest", "one bit for a velocity of zero"),
    ("no-velocity", "velocity is not sent"),
    ("position", "position bounded and quantized"),
    ("changed-bits", "one bit for what equals the baseline"),
    ("indices", "or the indices of what changed"),
    ("relative-indices", "or the distances between them"),
    ("relative-position", "position as difference from the baseline"),
    ("relative-orientation", "orientation as difference too"),
    ("packed", "unchanged fields are left out"),
    ("adaptive", "values are predicted and arithmetic-coded"),
    ("learning", "models resume from what the baseline holds"),
];

/// The name of a level.
pub fn name(level: Level) -> &'static str {
    ROWS[usize::from(level.row()) - 1].0
}

/// A level's addition to the one above it in the table.
pub fn summary(level: Level) -> &'static str {
    ROWS[usize::from(level.row()) - 1].1
}

/// The level with this name or row number.
pub fn named(text: &str) -> Option<Level> {
    Level::TABLE.into_iter().find(|level| name(*level) == text || text.parse() == Ok(level.row()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_found_by_name_and_by_row() {
        for level in Level::TABLE {
            assert_eq!(named(name(level)), Some(level));
            assert_eq!(named(&level.row().to_string()), Some(level));
        }
        assert_eq!(
            [Level::PACKED, Level::ADAPTIVE, Level::LEARNING].map(name),
            ["packed", "adaptive", "learning"]
        );
        assert_eq!([named("0"), named("15"), named("packe"), named("")], [None; 4]);
    }
}
