//! Contexts: the classes that the code of a field depends on, for the entities of one packet. See
//! `spec/CODEC.md`, the end of section 9.1.

use alloc::vec::Vec;
use core::ops::Range;

use super::profile::Context;

/// The classes that a packet has already coded, from which the states of all contexts follow.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    /// For each field and each changed entity of the field's kind: 1 + the field's class, or 0 if
    /// the field was not coded.
    classes: Vec<Vec<u8>>,
}

impl Contexts {
    /// Clears all classes of the fields of a kind, and makes room for `changed` entities.
    pub(super) fn reset(&mut self, fields: Range<usize>, changed: usize) {
        if self.classes.len() < fields.end {
            self.classes.resize_with(fields.end, Vec::new);
        }
        for field in &mut self.classes[fields] {
            field.clear();
            field.resize(changed, 0);
        }
    }

    /// Returns the state of a field's `context` for the `nth` changed entity of its kind.
    /// `previous` is 1 + the class that the previous entity had in the same field, or 0.
    #[inline]
    pub(super) fn state(&self, context: Context, nth: usize, previous: usize) -> usize {
        match context {
            Context::None => 0,
            Context::Previous => previous,
            Context::Field(other) => usize::from(self.classes[other][nth]),
        }
    }

    /// Records the class of a field in the `nth` changed entity.
    #[inline]
    pub(super) fn record(&mut self, field: usize, nth: usize, class: usize) {
        self.classes[field][nth] = class as u8 + 1;
    }

    /// Returns, for each changed entity of the field's kind, 1 + the class of `field`, or 0 if the
    /// field was not coded.
    #[cfg(feature = "training")]
    pub(super) fn field_classes(&self, field: usize) -> &[u8] {
        &self.classes[field]
    }
}
