//! How far two states of an entity are from each other, for the snap distance and for reports.
//!
//! A displaced state differs from the original only in what moves. So its lanes, times the steps of
//! the schema, are the distances, and no velocity or counter is among them.

use kinepack::frame::Place;
use kinepack::schema::{FieldKind, Share};
use kinepack::{EncodeError, Schema};

use crate::model::Model;

/// The largest distances of two states.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Distance {
    /// That of a vector or a number, in the field's unit.
    pub(super) length: f64,
    /// That of a rotation, or of a number that wraps.
    pub(super) turn_rad: f64,
}

/// Measures the way between two states, given by their lanes. The schema has one kind, that of the
/// model; `moved` is memory for a row. Numbers without a range are not measured.
pub(super) fn distance<S>(
    schema: &Schema,
    model: &impl Model<S>,
    [from, to]: [&[u32]; 2],
    moved: &mut [u32],
) -> Result<Distance, EncodeError> {
    let mut state = model.reconstruct(from);
    model.displace(&mut state, &model.reconstruct(from), &model.reconstruct(to), Share::WHOLE);
    model.quantize(&state, moved)?;
    let mut largest = Distance::default();
    for field in schema.fields() {
        let [from, moved] = [from, &*moved].map(|lanes| &lanes[field.lanes()]);
        if from == moved {
            continue;
        }
        match &field.kind {
            FieldKind::Floats(axes) => {
                let mut square = 0.0;
                for (axis, (from, to)) in axes.iter().zip(from.iter().zip(moved)) {
                    let codes = f64::from(from.abs_diff(*to));
                    if axis.wraps() {
                        let period = f64::from(axis.max_code()) + 1.0;
                        let turn_rad = codes.min(period - codes) / period * std::f64::consts::TAU;
                        largest.turn_rad = largest.turn_rad.max(turn_rad);
                    } else {
                        square += (codes * axis.step()).powi(2);
                    }
                }
                largest.length = largest.length.max(square.sqrt());
            }
            FieldKind::Rotation(rotation) => {
                let [from, to] = [from, moved].map(|codes| {
                    rotation.reconstruct([codes[0], codes[1], codes[2], codes[3]]).map(f64::from)
                });
                largest.turn_rad = largest.turn_rad.max(turn_rad(from, to));
            }
            _ => {}
        }
    }
    Ok(largest)
}

/// The angle of the shorter turn from one unit quaternion to the other.
fn turn_rad([x, y, z, w]: [f64; 4], to: [f64; 4]) -> f64 {
    let [x, y, z, w] = Place { rotation: to, ..Place::ORIGIN }.rotation([-x, -y, -z, w]);
    2.0 * (x * x + y * y + z * z).sqrt().atan2(w.abs())
}
