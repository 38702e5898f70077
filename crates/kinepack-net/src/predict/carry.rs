//! Adds the difference of two states to a third one, field by field: the repair that repeats no
//! steps.

use kinepack::Schema;
use kinepack::frame::Place;
use kinepack::schema::{Field, FieldKind};

/// What an authoritative state says about a tick that was predicted otherwise.
#[derive(Clone, Copy)]
pub(super) struct Differing<'a> {
    pub(super) authority: &'a [u32],
    pub(super) predicted: &'a [u32],
}

/// Adds the difference to the lanes `row` of a later tick. Numbers with a `range` and rotations
/// change by as much as they did there. Other fields that differ there, and fields that appeared,
/// become those of the authority. The schema has one kind; `before` is memory for a row.
pub(super) fn carry(schema: &Schema, of: Differing<'_>, row: &mut [u32], before: &mut [u32]) {
    before.copy_from_slice(row);
    for field in schema.fields() {
        let lanes = field.lanes();
        // The selectors of a field are before it, and so they are carried already.
        if !field.is_present(row) {
            row[lanes].fill(0);
            continue;
        }
        let everywhere =
            [of.authority, of.predicted, before].iter().all(|row| field.is_present(row));
        if !everywhere || !add(field, of, &mut row[lanes.clone()]) {
            row[lanes.clone()].copy_from_slice(&of.authority[lanes]);
        }
    }
}

/// Adds the difference to a field's lanes. Returns false if they should become the authority's.
fn add(field: &Field, of: Differing<'_>, row: &mut [u32]) -> bool {
    let [to, from] = [of.authority, of.predicted].map(|state| &state[field.lanes()]);
    if to == from {
        return true;
    }
    match &field.kind {
        FieldKind::Floats(axes) => {
            for (index, axis) in axes.iter().enumerate() {
                let sum = i64::from(row[index]) + i64::from(to[index]) - i64::from(from[index]);
                let max = i64::from(axis.max_code());
                let within = if axis.wraps() { sum.rem_euclid(max + 1) } else { sum.clamp(0, max) };
                row[index] = within as u32;
            }
            true
        }
        FieldKind::Rotation(rotation) => {
            let xyzw = |lanes: &[u32]| {
                rotation.reconstruct([lanes[0], lanes[1], lanes[2], lanes[3]]).map(f64::from)
            };
            let of = |rotation: [f64; 4]| Place { rotation, ..Place::ORIGIN };
            let [x, y, z, w] = xyzw(from);
            let turn = of(xyzw(to)).rotation([-x, -y, -z, w]);
            let sum = of(turn).rotation(xyzw(row)).map(|component| component as f32);
            rotation.quantize(sum).is_ok_and(|codes| {
                row.copy_from_slice(&codes);
                true
            })
        }
        _ => false,
    }
}
