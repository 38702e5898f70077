//! Codes records at level `Packed`: each part against the base in plain bits. See `spec/CODEC.md`,
//! section 17.2.

use super::plan::{PartKind, Plan};
use crate::DecodeError;
use crate::bits::{BitReader, BitSink};
use crate::magnitude::{read_steps, write_steps};
use crate::quantize::{SmallestThree, read_up_to};
use crate::rle::{read_sparse_lanes, write_sparse_lanes};
use crate::schema::{Lane, Presence};

/// Writes a record against a base, or in full if there is no base. Invariant: the lanes of the base
/// and of the record obey the plan's rules.
pub(super) fn write(sink: &mut impl BitSink, plan: &Plan, base: Option<&[u32]>, record: &[u32]) {
    let Some(base) = base else {
        for (lanes, conditions) in plan.rules().fields() {
            if conditions.hold(|lane| record[lane]) {
                write_full(sink, &plan.lanes[lanes.clone()], &record[lanes.clone()]);
            }
        }
        return;
    };
    for part in &plan.parts {
        let presence = part.conditions.presence(|lane| base[lane], |lane| record[lane]);
        let (lanes, base, record) = (part.slice(&plan.lanes), part.slice(base), part.slice(record));
        match (presence, part.kind) {
            (Presence::Absent, _) => {}
            (Presence::Added, _) => write_full(sink, lanes, record),
            (_, PartKind::Numbers) => write_numbers(sink, lanes, base, record),
            (_, PartKind::Rotation(rotation)) => {
                write_rotation(sink, rotation, lanes, base, record);
            }
            (_, PartKind::Choice) => write_choice(sink, lanes[0].max, base[0], record[0]),
            (_, PartKind::Bytes) => write_sparse_lanes(sink, base, record),
        }
    }
}

/// Reads a record that [`write`] wrote.
pub(super) fn read(
    reader: &mut BitReader<'_>,
    plan: &Plan,
    base: Option<&[u32]>,
    record: &mut [u32],
) -> Result<(), DecodeError> {
    let Some(base) = base else {
        return plan.rules().fields().iter().try_for_each(|(lanes, conditions)| {
            if conditions.hold(|lane| record[lane]) {
                read_full(reader, &plan.lanes[lanes.clone()], &mut record[lanes.clone()])
            } else {
                record[lanes.clone()].fill(0);
                Ok(())
            }
        });
    };
    plan.parts.iter().try_for_each(|part| {
        let presence = part.conditions.presence(|lane| base[lane], |lane| record[lane]);
        let (lanes, base, record) =
            (part.slice(&plan.lanes), part.slice(base), part.slice_mut(record));
        match (presence, part.kind) {
            (Presence::Absent, _) => {
                record.fill(0);
                Ok(())
            }
            (Presence::Added, _) => read_full(reader, lanes, record),
            (_, PartKind::Numbers) => read_numbers(reader, lanes, base, record),
            (_, PartKind::Rotation(rotation)) => {
                read_rotation(reader, rotation, lanes, base, record)
            }
            (_, PartKind::Choice) => {
                record[0] = read_choice(reader, lanes[0].max, base[0])?;
                Ok(())
            }
            (_, PartKind::Bytes) => read_sparse_lanes(reader, base, record),
        }
    })
}

/// Writes lanes without a base.
fn write_full(sink: &mut impl BitSink, lanes: &[Lane], values: &[u32]) {
    lanes.iter().zip(values).for_each(|(lane, value)| sink.write(u64::from(*value), lane.bits()));
}

fn read_full(
    reader: &mut BitReader<'_>,
    lanes: &[Lane],
    values: &mut [u32],
) -> Result<(), DecodeError> {
    lanes.iter().zip(values).try_for_each(|(lane, value)| {
        *value = read_up_to(reader, u64::from(lane.max))? as u32;
        Ok(())
    })
}

/// Writes the differences of 1 to 4 numbers.
fn write_numbers(sink: &mut impl BitSink, lanes: &[Lane], base: &[u32], values: &[u32]) {
    match lanes.len() {
        1 => write_n::<1>(sink, lanes, base, values),
        2 => write_n::<2>(sink, lanes, base, values),
        3 => write_n::<3>(sink, lanes, base, values),
        _ => write_n::<4>(sink, lanes, base, values),
    }
}

fn write_n<const N: usize>(sink: &mut impl BitSink, lanes: &[Lane], base: &[u32], values: &[u32]) {
    let (lanes, base, values) = (&lanes[..N], &base[..N], &values[..N]);
    let steps: [i64; N] =
        core::array::from_fn(|axis| lanes[axis].difference(base[axis], values[axis]));
    let written = write_steps(sink, steps);
    debug_assert!(written.is_ok(), "lanes differ by less than 2³²");
}

fn read_numbers(
    reader: &mut BitReader<'_>,
    lanes: &[Lane],
    base: &[u32],
    values: &mut [u32],
) -> Result<(), DecodeError> {
    match lanes.len() {
        1 => read_n::<1>(reader, lanes, base, values),
        2 => read_n::<2>(reader, lanes, base, values),
        3 => read_n::<3>(reader, lanes, base, values),
        _ => read_n::<4>(reader, lanes, base, values),
    }
}

fn read_n<const N: usize>(
    reader: &mut BitReader<'_>,
    lanes: &[Lane],
    base: &[u32],
    values: &mut [u32],
) -> Result<(), DecodeError> {
    let (lanes, base, values) = (&lanes[..N], &base[..N], &mut values[..N]);
    let steps = read_steps::<N>(reader)?;
    for axis in 0..N {
        let value = lanes[axis].offset(base[axis], steps[axis]);
        values[axis] = value.ok_or(DecodeError::OutOfRange { at_bit: reader.position_bits() })?;
    }
    Ok(())
}

/// Writes the index of the dropped component as a choice, then the other three components. The
/// other components are coded against the base's components, turned to drop the same component.
fn write_rotation(
    sink: &mut impl BitSink,
    rotation: SmallestThree,
    lanes: &[Lane],
    base: &[u32],
    codes: &[u32],
) {
    write_choice(sink, 3, base[0], codes[0]);
    write_n::<3>(sink, &lanes[1..], &turned(rotation, base, codes[0]), &codes[1..]);
}

fn read_rotation(
    reader: &mut BitReader<'_>,
    rotation: SmallestThree,
    lanes: &[Lane],
    base: &[u32],
    codes: &mut [u32],
) -> Result<(), DecodeError> {
    codes[0] = read_choice(reader, 3, base[0])?;
    let turned = turned(rotation, base, codes[0]);
    read_n::<3>(reader, &lanes[1..], &turned, &mut codes[1..])
}

fn turned(rotation: SmallestThree, codes: &[u32], dropped: u32) -> [u32; 3] {
    rotation.turned([codes[0], codes[1], codes[2], codes[3]], dropped)
}

/// Writes one bit for whether the value differs from the base. If the value differs, also writes
/// its number among the alternatives other than the base.
fn write_choice(sink: &mut impl BitSink, max: u32, base: u32, value: u32) {
    sink.write_bool(value != base);
    if value != base {
        sink.write(u64::from(value - u32::from(value > base)), others_bits(max));
    }
}

fn read_choice(reader: &mut BitReader<'_>, max: u32, base: u32) -> Result<u32, DecodeError> {
    if !reader.read_bool()? {
        return Ok(base);
    }
    let value = reader.read(others_bits(max))? as u32;
    let value = value.checked_add(u32::from(value >= base)).filter(|value| *value <= max);
    value.ok_or(DecodeError::OutOfRange { at_bit: reader.position_bits() })
}

/// Returns the number of bits of a number among all alternatives except one.
fn others_bits(max: u32) -> u32 {
    crate::bits::bits_for(u64::from(max.saturating_sub(1)))
}
