//! Draws a world from above with braille characters.

use kinepack::EntityId;

/// Half of the map's width in metres.
const HALF_M: f32 = 10.0;
/// The width of the map in characters. The next constant is its height.
pub const COLUMNS: usize = 36;
pub const ROWS: usize = 18;
/// The character that marks the player's own cube.
const OWN: char = '@';
/// The size of the map in dots. A braille character has two by four dots.
const DOTS: (usize, usize) = (COLUMNS * 2, ROWS * 4);

/// Draws a map around the origin. An object is one dot, and a player's cube is drawn to scale.
pub fn map(bodies: impl Iterator<Item = (EntityId, [f32; 3])>) -> Vec<String> {
    map_around([0.0; 3], bodies).iter().map(|row| row.iter().collect()).collect()
}

/// Draws a map around the player's own cube, which is marked in the middle.
pub fn map_of(own: [f32; 3], bodies: impl Iterator<Item = (EntityId, [f32; 3])>) -> Vec<String> {
    let mut rows = map_around(own, bodies);
    if let Some(middle) = rows.get_mut(ROWS / 2).and_then(|row| row.get_mut(COLUMNS / 2)) {
        *middle = OWN;
    }
    rows.iter().map(|row| row.iter().collect()).collect()
}

fn map_around(
    [x_m, y_m, _]: [f32; 3],
    bodies: impl Iterator<Item = (EntityId, [f32; 3])>,
) -> Vec<[char; COLUMNS]> {
    let mut dots = vec![[false; DOTS.0]; DOTS.1];
    let scale = |metres: f32, dots: usize| {
        ((metres + HALF_M) / (2.0 * HALF_M) * dots as f32).floor() as i32
    };
    let mut set = |x: i32, y: i32| {
        let row = usize::try_from(DOTS.1 as i32 - 1 - y).ok().and_then(|y| dots.get_mut(y));
        if let Some(dot) = row.and_then(|row| usize::try_from(x).ok().and_then(|x| row.get_mut(x)))
        {
            *dot = true;
        }
    };
    for (id, [x, y, _]) in bodies {
        let (x, y) = (scale(x - x_m, DOTS.0), scale(y - y_m, DOTS.1));
        let reach = if cubes::is_player(id.0) { 2 } else { 0 };
        for dx in -reach..=reach {
            (-reach..=reach).for_each(|dy| set(x + dx, y + dy));
        }
    }
    dots.chunks(4).map(braille).collect()
}

/// Converts four rows of dots to a row of characters.
fn braille(rows: &[[bool; DOTS.0]]) -> [char; COLUMNS] {
    /// The number of the bit for each dot of a character, row by row (Unicode, block Braille
    /// Patterns).
    const BITS: [[u32; 2]; 4] = [[0, 3], [1, 4], [2, 5], [6, 7]];
    let character = |column: usize| {
        let bits = rows.iter().zip(BITS).map(|(row, bits)| {
            u32::from(row[2 * column]) << bits[0] | u32::from(row[2 * column + 1]) << bits[1]
        });
        char::from_u32(0x2800 + bits.fold(0, |all, bits| all | bits)).unwrap_or(' ')
    };
    std::array::from_fn(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_players_own_cube_is_marked_in_the_middle() {
        let own = [25.0, -30.0, 0.75];
        let bodies = [(0, [27.5, -30.0, 0.75]), (7, [25.0, -25.0, 0.2]), (cubes::FIRST_GUEST, own)];
        let rows = map_of(own, bodies.into_iter().map(|(id, position)| (EntityId(id), position)));
        assert_eq!((rows.len(), rows[0].chars().count()), (ROWS, COLUMNS));
        assert_eq!(rows.concat().matches('@').count(), 1);
        let row: Vec<char> = rows[ROWS / 2].chars().collect();
        let drawn: Vec<usize> = (0..COLUMNS).filter(|column| row[*column] != '\u{2800}').collect();
        assert_eq!((row[COLUMNS / 2], &drawn[..]), ('@', &[17, 18, 19, 21, 22, 23][..]));
        assert_eq!(
            rows[4].chars().filter(|dot| *dot != '\u{2800}').count(),
            1,
            "the small one, five metres ahead"
        );
        assert!(
            map([(EntityId(7), own)].into_iter()).concat().chars().all(|dot| dot == '\u{2800}'),
            "out of sight"
        );
    }
}
