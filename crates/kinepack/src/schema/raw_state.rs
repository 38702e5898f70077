//! Quantizes, reconstructs, interpolates and displaces the raw words of whole entities: see [`raw`](super::raw).

use super::raw::reconstruct_fields;
use super::{Field, Schema, Share};
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

    /// Moves the raw words of an entity by a share of the way from the words `from` to the words
    /// `to`, as [`Pack::displace`](super::Pack::displace) does for states of `f64`. Only numbers with
    /// limits and rotations move, except velocities. The attribute `step` has no effect, because a
    /// schema does not record it.
    ///
    /// ```
    /// use kinepack::schema::Share;
    /// use kinepack::{Pack, Schema};
    ///
    /// #[derive(Pack)]
    /// struct Ball {
    ///     #[pack(range = -64.0..64.0, precision = 0.125)]
    ///     height: f64,
    ///     bounces: u8,
    /// }
    ///
    /// let schema = Schema::of::<Ball>();
    /// let words = |height: f64, bounces| [height.to_bits(), bounces];
    /// let mut ball = words(1.0, 1);
    /// schema.displace_raw(&mut ball, &words(0.0, 7), &words(8.0, 7), Share::of(0.25))?;
    /// assert_eq!(ball, words(3.0, 1));
    /// # Ok::<(), kinepack::EncodeError>(())
    /// ```
    ///
    /// # Errors
    /// [`EncodeError::LaneCount`] if a slice has another length.
    pub fn displace_raw(
        &self,
        raw: &mut [u64],
        from: &[u64],
        to: &[u64],
        share: Share,
    ) -> Result<(), EncodeError> {
        for state in [&*raw, from, to] {
            self.check_lanes(state.len())?;
        }
        for field in &self.fields {
            // No selector moves, so the conditions still hold after the fields before.
            if [&*raw, from, to].into_iter().all(|state| self.is_present_raw(field, state)) {
                let lanes = field.lanes();
                field.displace_raw(
                    &mut raw[lanes.clone()],
                    &from[lanes.clone()],
                    &to[lanes],
                    share,
                );
            }
        }
        Ok(())
    }

    /// Whether a field is present in the entity with these raw words.
    fn is_present_raw(&self, field: &Field, raw: &[u64]) -> bool {
        field.conditions().hold(|lane| {
            let selector = self.fields.iter().find(|field| field.lanes().start == lane);
            let mut code = [0];
            // A selector has one lane and is no real number, so it can always be quantized.
            selector.map_or(0, |selector| {
                selector.quantize_raw(&raw[lane..=lane], &mut code).map_or(0, |_| code[0])
            })
        })
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
