//! What a level that learns keeps with each view. `spec/CODEC.md`, section 12.10.

use alloc::borrow::ToOwned;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::fixed::Row;
use crate::entropy::Counter;

/// What the models had learned when a snapshot was coded, to be kept with it. A clone shares the
/// memory: four bytes a counter and 64 a predictor, for the cubes 50 kB.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// Of the codec: another one's cannot be gone on from.
    codec_hash: u64,
    state: Arc<LearnedState>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct LearnedState {
    pub(super) counters: Vec<Counter>,
    /// What was added to the weights of every set.
    pub(super) gains: Vec<Row>,
}

impl Learned {
    /// In the memory of `before`, if nobody else holds that.
    pub(super) fn new(
        codec_hash: u64,
        counters: &[Counter],
        gains: &[Row],
        before: Option<Self>,
    ) -> Self {
        if let Some(mut before) = before
            && let Some(state) = Arc::get_mut(&mut before.state)
        {
            before.codec_hash = codec_hash;
            counters.clone_into(&mut state.counters);
            gains.clone_into(&mut state.gains);
            return before;
        }
        let state = LearnedState { counters: counters.to_vec(), gains: gains.to_vec() };
        Self { codec_hash, state: Arc::new(state) }
    }

    /// Whether nobody else shares the memory.
    pub(in crate::snapshot) fn is_alone(&mut self) -> bool {
        Arc::get_mut(&mut self.state).is_some()
    }

    /// Whether the codec of this hash can go on from here.
    pub(in crate::snapshot) fn is_of(&self, codec_hash: u64) -> bool {
        self.codec_hash == codec_hash
    }

    pub(super) fn state(&self) -> &LearnedState {
        &self.state
    }

    /// Bytes on the heap, shared by all clones.
    pub fn memory_bytes(&self) -> usize {
        self.state.counters.capacity() * size_of::<Counter>()
            + self.state.gains.capacity() * size_of::<Row>()
    }
}
