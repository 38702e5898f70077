//! State before quantization as *raw words*, one per lane. A capture holds raw words, so that
//! precision and ranges can be analysed and changed later. For real numbers and rotations (x, y, z,
//! w), a word is the component's bits as `f64`. For an integer, it is the value in two's
//! complement; if there are two lanes, the first word holds it. For every other kind, it is the
//! lane itself. The words of an absent field are 0. `spec/CAPTURE.md`, section 4.

use alloc::vec;
use alloc::vec::Vec;

use super::{Field, FieldKind, Schema, derived};
use crate::quantize::IntegerLimits;
use crate::{Between, EncodeError};

impl Schema {
    /// Quantizes the raw words of an entity. Returns false if a value was outside of its limits and
    /// took the nearest end. This happens even if the type does not clamp, because a schema does
    /// not record clamping.
    ///
    /// # Errors
    /// [`EncodeError::NotANumber`] for NaN and for a rotation without direction,
    /// [`EncodeError::LaneCount`] for slices of other lengths.
    pub fn quantize_raw(&self, raw: &[u64], lanes: &mut [u32]) -> Result<bool, EncodeError> {
        self.check_lanes(raw.len())?;
        self.check_lanes(lanes.len())?;
        let mut is_within = true;
        for field in &self.fields {
            if field.conditions().hold(|lane| lanes[lane]) {
                is_within &= field.quantize_raw(&raw[field.lanes()], &mut lanes[field.lanes()])?;
            } else {
                lanes[field.lanes()].fill(0);
            }
        }
        Ok(is_within)
    }

    /// The raw words of an entity's lanes.
    ///
    /// # Errors
    /// [`EncodeError::LaneCount`] for slices of other lengths.
    pub fn reconstruct_raw(&self, lanes: &[u32], raw: &mut [u64]) -> Result<(), EncodeError> {
        self.check_lanes(raw.len())?;
        self.check_lanes(lanes.len())?;
        for field in &self.fields {
            if field.conditions().hold(|lane| lanes[lane]) {
                field.reconstruct_raw(&lanes[field.lanes()], &mut raw[field.lanes()]);
            } else {
                raw[field.lanes()].fill(0);
            }
        }
        Ok(())
    }

    /// The raw words of the state between those of `from` and `to`, as
    /// [`Pack::interpolate`](super::Pack::interpolate) gives it without `step`: a schema does not
    /// record which fields step. A field that is absent at one end steps.
    ///
    /// # Errors
    /// [`EncodeError::LaneCount`] for slices of other lengths.
    pub fn interpolate_raw(
        &self,
        from: &[u32],
        to: &[u32],
        at: Between,
        raw: &mut [u64],
    ) -> Result<(), EncodeError> {
        self.check_lanes(from.len())?;
        self.check_lanes(to.len())?;
        self.check_lanes(raw.len())?;
        for field in &self.fields {
            let velocity = self.velocity_of(field).map(|index| &self.fields[index]);
            field.interpolate_raw(velocity, from, to, at, raw);
        }
        Ok(())
    }

    /// The index of the field that is the velocity of `field`.
    pub(crate) fn velocity_of(&self, field: &Field) -> Option<usize> {
        let is_its = |other: &Field| other.velocity_of.as_deref() == Some(field.name.as_str());
        self.fields.iter().position(is_its)
    }

    fn check_lanes(&self, lanes: usize) -> Result<(), EncodeError> {
        let expected_lanes = self.lanes.len();
        if lanes == expected_lanes && self.kinds().len() == 1 {
            Ok(())
        } else {
            Err(EncodeError::LaneCount { expected_lanes, lanes })
        }
    }
}

impl Field {
    /// Quantizes this field's raw words into its lanes. Returns false if one was outside of its
    /// limits and took the nearest end.
    ///
    /// # Errors
    /// [`EncodeError::NotANumber`] for NaN and for a rotation without direction.
    ///
    /// # Panics
    /// If the number of words or lanes is not the field's.
    pub fn quantize_raw(&self, raw: &[u64], lanes: &mut [u32]) -> Result<bool, EncodeError> {
        assert!(
            raw.len() == self.lane_count && lanes.len() == self.lane_count,
            "words of another field"
        );
        let mut is_within = true;
        match &self.kind {
            FieldKind::Floats(axes) => {
                for ((axis, word), lane) in axes.iter().zip(raw).zip(lanes) {
                    let value = f64::from_bits(*word);
                    *lane = axis.quantize(value).or_else(|error| match error {
                        EncodeError::OutOfRange { .. } => {
                            is_within = false;
                            axis.quantize_clamped(value)
                        }
                        error => Err(error),
                    })?;
                }
            }
            FieldKind::Rotation(rotation) => {
                let xyzw = core::array::from_fn(|index| f64::from_bits(raw[index]) as f32);
                lanes.copy_from_slice(&rotation.quantize(xyzw)?);
            }
            FieldKind::Integer(limits) => {
                let value = integer(limits, raw[0]);
                is_within = (limits.min()..=limits.max()).contains(&value);
                derived::store_wide(lanes, limits.quantize_clamped(value));
            }
            FieldKind::Bool
            | FieldKind::Choice { .. }
            | FieldKind::Raw { .. }
            | FieldKind::Bytes { .. } => {
                let max = self.kind.plain_max();
                for (word, lane) in raw.iter().zip(lanes) {
                    is_within &= *word <= u64::from(max);
                    *lane = (*word).min(u64::from(max)) as u32;
                }
            }
        }
        Ok(is_within)
    }

    /// The raw words of this field's lanes.
    ///
    /// # Panics
    /// If the number of words or lanes is not the field's.
    pub fn reconstruct_raw(&self, lanes: &[u32], raw: &mut [u64]) {
        assert!(
            raw.len() == self.lane_count && lanes.len() == self.lane_count,
            "words of another field"
        );
        match &self.kind {
            FieldKind::Floats(axes) => {
                for ((axis, lane), word) in axes.iter().zip(lanes).zip(raw) {
                    *word = axis.reconstruct(*lane).to_bits();
                }
            }
            FieldKind::Rotation(rotation) => {
                let xyzw = rotation.reconstruct([lanes[0], lanes[1], lanes[2], lanes[3]]);
                raw.iter_mut()
                    .zip(xyzw)
                    .for_each(|(word, component)| *word = f64::from(component).to_bits());
            }
            FieldKind::Integer(limits) => {
                raw.fill(0);
                raw[0] = limits.reconstruct(derived::load_wide(lanes)) as u64;
            }
            FieldKind::Bool
            | FieldKind::Choice { .. }
            | FieldKind::Raw { .. }
            | FieldKind::Bytes { .. } => {
                raw.iter_mut().zip(lanes).for_each(|(word, lane)| *word = u64::from(*lane));
            }
        }
    }

    /// Interpolates this field's raw words between two states. All slices hold whole entities.
    pub(crate) fn interpolate_raw(
        &self,
        velocity: Option<&Self>,
        from: &[u32],
        to: &[u32],
        at: Between,
        raw: &mut [u64],
    ) {
        let (lanes, conditions) = (self.lanes(), self.conditions());
        let is_present = |state: &[u32]| conditions.hold(|lane| state[lane]);
        let raw = &mut raw[lanes.clone()];
        let nearest = at.step(from, to);
        if !is_present(nearest) {
            raw.fill(0);
            return;
        }
        let (begin, end) = (&from[lanes.clone()], &to[lanes.clone()]);
        match &self.kind {
            FieldKind::Rotation(rotation) if begin != end && is_present(from) && is_present(to) => {
                let xyzw = |lanes: &[u32]| {
                    rotation.reconstruct([lanes[0], lanes[1], lanes[2], lanes[3]]).map(f64::from)
                };
                let turned = at.end(None, None).unwrap_or_else(|| at.slerp(xyzw(begin), xyzw(end)));
                match turned {
                    Some(turned) => {
                        let words = raw.iter_mut().zip(turned);
                        words.for_each(|(word, component)| *word = component.to_bits());
                    }
                    None => self.reconstruct_raw(&nearest[lanes], raw),
                }
            }
            FieldKind::Floats(axes) if is_present(from) && is_present(to) => {
                let velocity = velocity.and_then(|velocity| match &velocity.kind {
                    FieldKind::Floats(axes) => Some((axes, velocity.lanes().start)),
                    _ => None,
                });
                for (index, axis) in axes.iter().enumerate() {
                    let ends = [axis.reconstruct(begin[index]), axis.reconstruct(end[index])];
                    let velocities = velocity.and_then(|(axes, first)| {
                        let (axis, lane) = (axes.get(index)?, first + index);
                        Some([axis.reconstruct(from[lane]), axis.reconstruct(to[lane])])
                    });
                    let value = match velocities {
                        _ if axis.wraps() => {
                            at.around(axis, begin[index], end[index], |value| value)
                        }
                        Some(velocities) => {
                            at.hermite(ends[0], ends[1], velocities).clamp(axis.min(), axis.max())
                        }
                        None => at.linear(ends[0], ends[1]),
                    };
                    raw[index] = value.to_bits();
                }
            }
            _ => self.reconstruct_raw(&nearest[lanes], raw),
        }
    }

    /// The value of an integer's raw word, unsigned if the limits exceed `i64`.
    pub fn raw_integer(limits: &IntegerLimits, word: u64) -> i128 {
        integer(limits, word)
    }
}

fn integer(limits: &IntegerLimits, word: u64) -> i128 {
    if limits.max() > i128::from(i64::MAX) { i128::from(word) } else { i128::from(word as i64) }
}

impl FieldKind {
    /// The largest lane value of a field that is not quantized.
    pub(crate) fn plain_max(&self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::Choice { max } => *max,
            Self::Bytes { .. } => u8::MAX.into(),
            _ => u32::MAX,
        }
    }
}

/// The raw words of a type that gives only its lanes. They are reconstructed from the lanes.
pub(super) fn of_lanes(
    count: usize,
    raw: &mut [u64],
    fields: impl FnOnce(&mut Vec<Field>),
    quantize: impl FnOnce(&mut [u32]) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    let (mut all, mut lanes) = (Vec::new(), vec![0; count]);
    fields(&mut all);
    quantize(&mut lanes)?;
    Schema::new(all).reconstruct_raw(&lanes, raw)
}
