//! Collects the animations and channels that the importer skips.

use super::ImportError;
use super::document::Document;
use crate::import::Skipped;
use crate::import::budget::Budget;

/// The parts of a document that were skipped.
#[derive(Default)]
pub(super) struct Skips {
    pub(super) list: Vec<Skipped>,
}

impl Skips {
    /// Skips a channel of an animation because of an error. If the error concerns more than one
    /// part, returns it instead.
    pub(super) fn channel(
        &mut self,
        budget: &mut Budget,
        document: Document<'_>,
        (animation, channel): (usize, usize),
        error: ImportError,
    ) -> Result<(), ImportError> {
        let animation = document.animation_name(animation);
        Skipped { animation, channel: Some(channel), error }.add_to(&mut self.list, budget)
    }

    /// Skips an animation because of an error. If the error concerns more than one part, returns it
    /// instead.
    pub(super) fn animation(
        &mut self,
        budget: &mut Budget,
        document: Document<'_>,
        animation: usize,
        error: ImportError,
    ) -> Result<(), ImportError> {
        let animation = document.animation_name(animation);
        Skipped { animation, channel: None, error }.add_to(&mut self.list, budget)
    }
}
