//! The motion of a body's neighbours, from which its own is predicted. `spec/CODEC.md`, section
//! 12.6, "Surroundings".

use super::geometry::{Vector, add, carried, scale, sub};
use super::neighbours::{Coded, NEAREST, Neighbours};

/// The distance, in sizes of a body, at which a neighbour weighs half.
const SOFTNESS: f64 = 1.38;

/// The sum of weights at which the sums are halved.
const DOUBT: f64 = 0.02;

/// Means over the neighbours, lower if all of them are far.
#[derive(Default)]
pub(super) struct Around {
    pub(super) moved: Vector,
    pub(super) moved_before: Vector,
    pub(super) turned: Vector,
    pub(super) turned_before: Vector,
    pub(super) turn_error: Vector,
    pub(super) position_error: Vector,
    /// Means with steeper weights, which favour the nearest neighbours.
    pub(super) near_turned_before: Vector,
    pub(super) near_moved: Vector,
    pub(super) near_carried: Vector,
    pub(super) near_turned: Vector,
    /// Means of logarithms, in 1/256.
    pub(super) position_error_log2: i32,
    pub(super) turn_error_log2: i32,
}

/// The means over the nearest bodies already coded. `mover` gives the errors if there are none.
pub(super) fn around(
    neighbours: &Neighbours,
    size: f64,
    position: Vector,
    mover: &Coded,
) -> Around {
    let mut found = [(0.0, 0); NEAREST];
    let count = neighbours.nearest(position, &mut found);
    let mut around = Around::default();
    if count == 0 {
        around.position_error_log2 = mover.position_error_log2;
        around.turn_error_log2 = mover.turn_error_log2;
        return around;
    }
    let soft = SOFTNESS * size;
    let soft_squared = soft * soft;
    let (mut all, mut steep_all) = (0.0, 0.0);
    let (mut position_error_log2, mut turn_error_log2) = (0.0, 0.0);
    for (distance_squared, index) in &found[..count] {
        let other = &neighbours.coded[*index as usize];
        let weight = soft_squared / (distance_squared + soft_squared);
        let steep = weight * weight * weight;
        all += weight;
        steep_all += steep;
        around.moved = add(around.moved, scale(other.moved, weight));
        around.moved_before = add(around.moved_before, scale(other.moved_before, weight));
        around.turned = add(around.turned, scale(other.turned, weight));
        around.turned_before = add(around.turned_before, scale(other.turned_before, weight));
        around.turn_error = add(around.turn_error, scale(other.turn_error, weight));
        around.position_error = add(around.position_error, scale(other.position_error, weight));
        around.near_turned_before =
            add(around.near_turned_before, scale(other.turned_before, steep));
        around.near_moved = add(around.near_moved, scale(other.moved, steep));
        around.near_turned = add(around.near_turned, scale(other.turned, steep));
        let carries = carried(other.turn, sub(position, other.position));
        around.near_carried = add(around.near_carried, scale(carries, steep));
        position_error_log2 += weight * f64::from(other.position_error_log2);
        turn_error_log2 += weight * f64::from(other.turn_error_log2);
    }
    // Far neighbours are trusted less.
    let sure = all / (all + DOUBT);
    for sum in [
        &mut around.moved,
        &mut around.moved_before,
        &mut around.turned,
        &mut around.turned_before,
        &mut around.turn_error,
        &mut around.position_error,
    ] {
        *sum = scale(*sum, sure / all);
    }
    for sum in [
        &mut around.near_moved,
        &mut around.near_turned_before,
        &mut around.near_turned,
        &mut around.near_carried,
    ] {
        *sum = scale(*sum, sure / steep_all);
    }
    around.position_error_log2 = (position_error_log2 / all) as i32;
    around.turn_error_log2 = (turn_error_log2 / all) as i32;
    around
}
