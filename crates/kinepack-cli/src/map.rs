//! A world from above, in braille.

use kinepack::EntityId;

/// Half of what a map shows, in metres.
const HALF_M: f32 = 10.0;
/// Characters of a map.
pub(crate) const COLUMNS: usize = 36;
pub(crate) const ROWS: usize = 18;
/// A character of braille has two by four dots.
const DOTS: (usize, usize) = (COLUMNS * 2, ROWS * 4);

/// A map from above: a dot for each object; players are as large as they are.
pub(crate) fn map(bodies: impl Iterator<Item = (EntityId, [f32; 3])>) -> Vec<String> {
    let mut dots = vec![[false; DOTS.0]; DOTS.1];
    let scale = |metres: f32, dots: usize| ((metres + HALF_M) / (2.0 * HALF_M) * dots as f32).floor() as i32;
    let mut set = |x: i32, y: i32| {
        let row = usize::try_from(DOTS.1 as i32 - 1 - y).ok().and_then(|y| dots.get_mut(y));
        if let Some(dot) = row.and_then(|row| usize::try_from(x).ok().and_then(|x| row.get_mut(x))) {
            *dot = true;
        }
    };
    for (id, [x, y, _]) in bodies {
        let (x, y) = (scale(x, DOTS.0), scale(y, DOTS.1));
        let reach = if cubes::is_player(id.0) { 2 } else { 0 };
        for dx in -reach..=reach {
            (-reach..=reach).for_each(|dy| set(x + dx, y + dy));
        }
    }
    dots.chunks(4).map(braille).collect()
}

/// A row of characters from four rows of dots.
fn braille(rows: &[[bool; DOTS.0]]) -> String {
    /// The bit of each dot of a character, row by row (Unicode, block Braille Patterns).
    const BITS: [[u32; 2]; 4] = [[0, 3], [1, 4], [2, 5], [6, 7]];
    let character = |column: usize| {
        let bits = rows
            .iter()
            .zip(BITS)
            .map(|(row, bits)| u32::from(row[2 * column]) << bits[0] | u32::from(row[2 * column + 1]) << bits[1]);
        char::from_u32(0x2800 + bits.fold(0, |all, bits| all | bits)).unwrap_or(' ')
    };
    (0..COLUMNS).map(character).collect()
}
