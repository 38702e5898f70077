//! Describes the stage that each level adds, for commands and reports. The rows of the table follow
//! the article "Snapshot Compression", one improvement per row.

use kinepack::Level;

/// The first row at which every field is quantized. The earlier rows of the table send some floats
/// in 32 bits.
pub const FIRST_QUANTIZED_ROW: u8 = 6;

/// The stage that each row adds to the row above it.
const SUMMARIES: [&str; Level::TABLE.len()] = [
    "every float in 32 bits",
    "rotations as smallest three",
    "velocity bounded and quantized",
    "one bit for a velocity of zero",
    "velocity is not sent",
    "position bounded and quantized",
    "one bit for what equals the baseline",
    "or the indices of what changed",
    "or the distances between them",
    "position as difference from the baseline",
    "orientation as difference too",
    "unchanged fields are left out",
    "values are predicted and arithmetic-coded",
    "models resume from what the baseline holds",
];

/// Describes the stage that a level adds to the level above it in the table.
pub fn summary(level: Level) -> &'static str {
    SUMMARIES[usize::from(level.row()) - 1]
}
