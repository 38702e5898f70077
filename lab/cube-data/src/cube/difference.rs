//! Computes the errors of cubes' positions and orientations.

use kinepack::Snapshot;

use super::Cube;

/// The error of one cube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Off {
    /// The distance between the positions, in metres.
    pub position_m: f64,
    /// The angle between the orientations, in radians.
    pub angle_rad: f64,
}

/// Returns the error of each cube that differs between two snapshots of the same cubes, in the
/// schema that quantizes everything.
pub fn off<'a>(exact: &'a Snapshot, other: &'a Snapshot) -> impl Iterator<Item = Off> + 'a {
    let differs = |index: &usize| {
        (0..exact.lane_count()).any(|lane| exact.lane(lane)[*index] != other.lane(lane)[*index])
    };
    (0..exact.len()).filter(differs).filter_map(|index| {
        let (was, is) =
            (exact.get_at_index::<Cube>(index).ok()?, other.get_at_index::<Cube>(index).ok()?);
        let square = |(a, b): (&f32, &f32)| (f64::from(*a) - f64::from(*b)).powi(2);
        let position_m = was.position.iter().zip(&is.position).map(square).sum::<f64>().sqrt();
        let same = was.orientation == is.orientation;
        Some(Off {
            position_m,
            angle_rad: if same { 0.0 } else { angle_rad(is.orientation, was.orientation) },
        })
    })
}

/// Returns the angle between two rotations in radians, from the chord between their quaternions.
/// The second quaternion may have any length except 0.
pub fn angle_rad(a: [f32; 4], b: [f32; 4]) -> f64 {
    let length = b.iter().map(|b| f64::from(*b).powi(2)).sum::<f64>().sqrt();
    let chord_squared = |sign: f64| {
        a.iter()
            .zip(b)
            .map(|(a, b)| (f64::from(*a) - sign * f64::from(b) / length).powi(2))
            .sum::<f64>()
    };
    let chord = chord_squared(1.0).min(chord_squared(-1.0)).sqrt();
    4.0 * (chord / 2.0).min(1.0).asin()
}
