//! Quantizes and reconstructs the raw words of whole entities: see [`raw`](super::raw).

use super::raw::reconstruct_fields;
use super::{Field, Schema};
use crate::{Between, EncodeError};

impl Schema {
    /// Quantizes the raw words of an entity. Returns false if a value was outside of its limits and
    /// was clamped to the nearest end. This also happens for a type without the attribute `clamp`,
    /// because a schema does not record that attribute.
    ///
    /// # Errors
    /// [`EncodeError::NotANumber`] if a number is NaN or a rotation has no direction, and
    /// [`EncodeError::LaneCount`] if a slice has another length.
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

    /// Reconstructs the raw words from an entity's lanes.
    ///
    /// # Errors
    /// [`EncodeError::LaneCount`] if a slice has another length.
    pub fn reconstruct_raw(&self, lanes: &[u32], raw: &mut [u64]) -> Result<(), EncodeError> {
        self.check_lanes(raw.len())?;
        self.check_lanes(lanes.len())?;
        reconstruct_fields(&self.fields, lanes, raw);
        Ok(())
    }

    /// Interpolates the raw words between those of `from` and `to`, as
    /// [`Pack::interpolate`](super::Pack::interpolate) does for states. The attribute `step` has no
    /// effect, because a schema does not record it. If a field is absent at one end, its words are
    /// those of `from` below ratio 1, then those of `to`.
    ///
    /// # Errors
    /// [`EncodeError::LaneCount`] if a slice has another length.
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
            field.interpolate_raw(velocity, from, to, at, &mut raw[field.lanes()]);
        }
        Ok(())
    }

    /// Finds the index of the field that is the velocity of `field`.
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
