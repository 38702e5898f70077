//! Computes the mean motion of a body's neighbours, from which the body's motion is predicted. See
//! `spec/CODEC.md`, section 12.6, "Surroundings".

use super::neighbours::{CodedBody, Neighbours};
use crate::geometry::{Vector, add, carried, scale, sub};

/// The distance, in sizes of a body, at which a neighbour has half the weight.
const SOFTNESS: f64 = 1.38;

/// The sum of weights at which the means are halved.
const DOUBT: f64 = 0.02;

/// Means over the neighbours, scaled down if all of them are far.
#[derive(Default)]
pub(super) struct Surroundings {
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

/// Computes the means over the nearest bodies that are already coded. If there are no such bodies,
/// the errors are those of `mover`.
pub(super) fn surroundings(
    neighbours: &Neighbours,
    size: f64,
    position: Vector,
    mover: &CodedBody,
) -> Surroundings {
    let mut surroundings = Surroundings::default();
    let mut found = neighbours.nearest(position).iter().peekable();
    if found.peek().is_none() {
        surroundings.position_error_log2 = mover.position_error_log2;
        surroundings.turn_error_log2 = mover.turn_error_log2;
        return surroundings;
    }
    let soft = SOFTNESS * size;
    let soft_squared = soft * soft;
    let (mut all, mut steep_all) = (0.0, 0.0);
    let (mut position_error_log2, mut turn_error_log2) = (0.0, 0.0);
    for (distance_squared, index) in found {
        let other = &neighbours.coded[index as usize];
        let weight = soft_squared / (distance_squared + soft_squared);
        let steep = weight * weight * weight;
        all += weight;
        steep_all += steep;
        surroundings.moved = add(surroundings.moved, scale(other.moved, weight));
        surroundings.moved_before =
            add(surroundings.moved_before, scale(other.moved_before, weight));
        surroundings.turned = add(surroundings.turned, scale(other.turned, weight));
        surroundings.turned_before =
            add(surroundings.turned_before, scale(other.turned_before, weight));
        surroundings.turn_error = add(surroundings.turn_error, scale(other.turn_error, weight));
        surroundings.position_error =
            add(surroundings.position_error, scale(other.position_error, weight));
        surroundings.near_turned_before =
            add(surroundings.near_turned_before, scale(other.turned_before, steep));
        surroundings.near_moved = add(surroundings.near_moved, scale(other.moved, steep));
        surroundings.near_turned = add(surroundings.near_turned, scale(other.turned, steep));
        let carries = carried(other.turn, sub(position, other.position));
        surroundings.near_carried = add(surroundings.near_carried, scale(carries, steep));
        position_error_log2 += weight * f64::from(other.position_error_log2);
        turn_error_log2 += weight * f64::from(other.turn_error_log2);
    }
    // The means are scaled down if all neighbours are far, because far neighbours are less
    // reliable.
    let sure = all / (all + DOUBT);
    for sum in [
        &mut surroundings.moved,
        &mut surroundings.moved_before,
        &mut surroundings.turned,
        &mut surroundings.turned_before,
        &mut surroundings.turn_error,
        &mut surroundings.position_error,
    ] {
        *sum = scale(*sum, sure / all);
    }
    for sum in [
        &mut surroundings.near_moved,
        &mut surroundings.near_turned_before,
        &mut surroundings.near_turned,
        &mut surroundings.near_carried,
    ] {
        *sum = scale(*sum, sure / steep_all);
    }
    surroundings.position_error_log2 = (position_error_log2 / all) as i32;
    surroundings.turn_error_log2 = (turn_error_log2 / all) as i32;
    surroundings
}
