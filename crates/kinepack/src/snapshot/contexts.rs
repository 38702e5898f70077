//! Contexts: what a field's code depends on, kept for the entities of one packet. `spec/CODEC.md`,
//! the end of section 9.1.

use alloc::vec::Vec;

use super::profile::Context;

/// States of the contexts of all fields: what was coded just before.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    /// For each field, for each changed entity: 0 where the field was not coded, else 1 + its
    /// class.
    classes: Vec<Vec<u8>>,
}

impl Contexts {
    /// Forgets everything; room for `fields` fields of `changed` entities.
    pub(super) fn reset(&mut self, fields: usize, changed: usize) {
        self.classes.resize_with(fields, Vec::new);
        for field in &mut self.classes {
            field.clear();
            field.resize(changed, 0);
        }
    }

    /// The state for the field of the `nth` changed entity, where `previous` is the class coded
    /// before, plus 1.
    #[inline]
    pub(super) fn state(&self, context: Context, nth: usize, previous: usize) -> usize {
        match context {
            Context::None => 0,
            Context::Previous => previous,
            Context::Field(other) => usize::from(self.classes[other][nth]),
        }
    }

    /// Remembers a class.
    #[inline]
    pub(super) fn record(&mut self, field: usize, nth: usize, class: usize) {
        self.classes[field][nth] = class as u8 + 1;
    }

    /// For each changed entity, the class of `field` plus 1, or 0.
    #[cfg(feature = "training")]
    pub(super) fn of_field(&self, field: usize) -> &[u8] {
        &self.classes[field]
    }
}
