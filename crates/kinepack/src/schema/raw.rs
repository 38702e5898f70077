//! Stores the state before quantization as *raw words*, one per lane. A capture holds raw words, so
//! that precision and ranges can be analysed and changed later. For real numbers and rotations (x,
//! y, z, w), a word is the component's bits as `f64`. For an integer, a word is the value in two's
//! complement; if the integer has two lanes, the first word holds it. For every other kind, a word
//! is the lane itself. The words of an absent field are 0. `spec/CAPTURE.md`, section 4, defines
//! the words.

use alloc::vec;
use alloc::vec::Vec;

use super::displace::{displace_floats, displace_rotation};
use super::field::{Field, FieldKind};
use super::lane::{load_wide, store_wide};
use super::resolve::ResolvedFields;
use super::{Role, Share};
use crate::quantize::IntegerLimits;
use crate::{Between, EncodeError};

impl Field {
    /// Quantizes this field's raw words into its lanes. Returns false if a value was outside of its
    /// limits and was clamped to the nearest end.
    ///
    /// # Errors
    /// [`EncodeError::NotANumber`] if a number is NaN or a rotation has no direction.
    ///
    /// # Panics
    /// If `raw` or `lanes` does not have the field's number of lanes.
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
                store_wide(lanes, limits.quantize_clamped(value));
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

    /// Reconstructs the raw words from this field's lanes.
    ///
    /// # Panics
    /// If `raw` or `lanes` does not have the field's number of lanes.
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
                raw[0] = limits.reconstruct(load_wide(lanes)) as u64;
            }
            FieldKind::Bool
            | FieldKind::Choice { .. }
            | FieldKind::Raw { .. }
            | FieldKind::Bytes { .. } => {
                raw.iter_mut().zip(lanes).for_each(|(word, lane)| *word = u64::from(*lane));
            }
        }
    }

    /// Interpolates this field's raw words between two states, and stores them in `raw`. `from` and
    /// `to` hold the lanes of whole entities.
    pub(crate) fn interpolate_raw(
        &self,
        velocity: Option<&Self>,
        from: &[u32],
        to: &[u32],
        at: Between,
        raw: &mut [u64],
    ) {
        let (lanes, conditions) = (self.lanes(), self.conditions());
        let at = if self.role == Role::Velocity { at.within() } else { at };
        let is_present = |state: &[u32]| conditions.hold(|lane| state[lane]);
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
                        None => at.linear(ends[0], ends[1]).clamp(axis.min(), axis.max()),
                    };
                    raw[index] = value.to_bits();
                }
            }
            _ => self.reconstruct_raw(&nearest[lanes], raw),
        }
    }

    /// Moves this field's raw words by a share of the way from `from` to `to`.
    pub(crate) fn displace_raw(&self, raw: &mut [u64], from: &[u64], to: &[u64], share: Share) {
        match &self.kind {
            FieldKind::Floats(axes) if self.role != Role::Velocity => {
                for (index, axis) in axes.iter().enumerate() {
                    let [mut now, from, to] =
                        [raw[index], from[index], to[index]].map(f64::from_bits);
                    displace_floats(&mut now, &from, &to, &[*axis], share);
                    raw[index] = now.to_bits();
                }
            }
            FieldKind::Rotation(_) => {
                let xyzw =
                    |raw: &[u64]| -> [f64; 4] { core::array::from_fn(|i| f64::from_bits(raw[i])) };
                let mut now = xyzw(raw);
                displace_rotation(&mut now, &xyzw(from), &xyzw(to), share);
                raw.iter_mut().zip(now).for_each(|(word, component)| *word = component.to_bits());
            }
            _ => {}
        }
    }

    /// Returns the value of an integer's raw word, unsigned if the limits exceed `i64`.
    pub fn raw_integer(limits: &IntegerLimits, word: u64) -> i128 {
        integer(limits, word)
    }
}

fn integer(limits: &IntegerLimits, word: u64) -> i128 {
    if limits.max() > i128::from(i64::MAX) { i128::from(word) } else { i128::from(word as i64) }
}

impl FieldKind {
    /// Returns the largest lane value of a field that is not quantized.
    pub(crate) fn plain_max(&self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::Choice { max } => *max,
            Self::Bytes { .. } => u8::MAX.into(),
            _ => u32::MAX,
        }
    }
}

/// Reconstructs the raw words of a type that does not implement `store_raw` from its lanes.
pub(super) fn from_lanes(
    count: usize,
    raw: &mut [u64],
    fields: impl FnOnce(&mut Vec<Field>),
    quantize: impl FnOnce(&mut [u32]) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    let (mut all, mut lanes) = (Vec::new(), vec![0; count]);
    fields(&mut all);
    quantize(&mut lanes)?;
    let resolved = ResolvedFields::valid(all);
    let expected_lanes = resolved.lanes.len();
    if let Some(lanes) = [raw.len(), count].into_iter().find(|lanes| *lanes != expected_lanes) {
        return Err(EncodeError::LaneCount { expected_lanes, lanes });
    }
    reconstruct_fields(&resolved.fields, &lanes, raw);
    Ok(())
}

/// Reconstructs the raw words of an entity with these fields from its lanes.
pub(super) fn reconstruct_fields(fields: &[Field], lanes: &[u32], raw: &mut [u64]) {
    for field in fields {
        if field.conditions().hold(|lane| lanes[lane]) {
            field.reconstruct_raw(&lanes[field.lanes()], &mut raw[field.lanes()]);
        } else {
            raw[field.lanes()].fill(0);
        }
    }
}
