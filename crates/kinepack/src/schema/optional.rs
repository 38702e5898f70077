//! Packs values that may be absent: `Option` without an attribute, and the conditions of its
//! fields.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::{Condition, Field, FieldKind, Pack, Share, derived};
use crate::{Between, EncodeError};

/// Appends the flag that signals whether the field `name` is present. Returns the flag's index.
pub fn presence_field(path: &str, name: &str, fields: &mut Vec<Field>) -> usize {
    push_presence(derived::join(path, name), fields)
}

fn push_presence(mut name: String, fields: &mut Vec<Field>) -> usize {
    name.push('?');
    fields.push(Field::new(name, FieldKind::Bool));
    fields.len() - 1
}

/// Makes the fields from the index `first` on depend on the field at the index `selector`. A field
/// that already has a condition keeps it, because that field's selector is among these fields and
/// depends on `selector`.
pub fn only_if(fields: &mut [Field], selector: usize, first: usize, values: RangeInclusive<u32>) {
    let condition = Condition::new(fields[selector].name.as_str(), values);
    for field in &mut fields[first..] {
        field.condition.get_or_insert_with(|| condition.clone());
    }
}

/// The fields are a flag `path?`, and the fields of `T` at `path`, which are present if the flag is
/// set. If one end is `None`, interpolation returns `from` below ratio 1, then `to`.
impl<T: Pack> Pack for Option<T> {
    const LANES: usize = 1 + T::LANES;

    fn fields(path: &str, fields: &mut Vec<Field>) {
        let selector = push_presence(String::from(path), fields);
        T::fields(path, fields);
        only_if(fields, selector, selector + 1, 1..=1);
    }

    #[inline]
    fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
        let lanes = &mut lanes[..Self::LANES];
        lanes.fill(0);
        let Some(value) = self else { return Ok(()) };
        lanes[0] = 1;
        value.quantize(&mut lanes[1..])
    }

    #[inline]
    fn store_raw(&self, raw: &mut [u64]) -> Result<(), EncodeError> {
        let raw = &mut raw[..Self::LANES];
        raw.fill(0);
        let Some(value) = self else { return Ok(()) };
        raw[0] = 1;
        value.store_raw(&mut raw[1..])
    }

    #[inline]
    fn reconstruct(lanes: &[u32]) -> Self {
        (lanes[0] != 0).then(|| T::reconstruct(&lanes[1..Self::LANES]))
    }

    #[inline]
    fn interpolate(from: &[u32], to: &[u32], at: Between) -> Self {
        if from[0] == 0 || to[0] == 0 {
            return Self::reconstruct(at.step(from, to));
        }
        Some(T::interpolate(&from[1..Self::LANES], &to[1..Self::LANES], at))
    }

    #[inline]
    fn displace(&mut self, from: &Self, to: &Self, share: Share) {
        if let (Some(now), Some(from), Some(to)) = (self, from, to) {
            now.displace(from, to, share);
        }
    }
}
