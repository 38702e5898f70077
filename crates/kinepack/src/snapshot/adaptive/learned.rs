//! Holds the learned state of each view, at a level that learns. See `spec/CODEC.md`, section
//! 12.10.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::counters::MAX_TRAINED_COUNT;
use super::file::storable;
use super::learn::Loss;
use super::mixing::{UNTRAINED, WEIGHTS, Weights};
use super::model::Model;
use super::numbers::{FEATURES, Row};
use crate::entropy::Counter;

/// The models' learned state after coding a snapshot. The snapshot's [`View`](crate::View) holds
/// it.
///
/// Clones share the memory: four bytes per counter and 76 per predictor. For the cubes of the demo
/// this is 56 kB.
///
/// ```
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::{Codec, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View};
///
/// let schema = Schema::new(vec![Field::new("lit", FieldKind::Bool)]);
/// let codec = Codec::new(schema.clone(), Level::LEARNING, Profile::untrained(&schema))?;
/// let mut world = Snapshot::new(&schema, Tick(1));
/// world.push_lanes(EntityId(3), &[1])?;
/// let view = Encoder::new(&codec).encode(&View::empty(&schema), &world, &mut Vec::new())?;
/// let learned = view.learned().ok_or("this level learns")?;
/// assert!(learned.memory_bytes() > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// The hash of the codec that learned this state. Only that codec can resume from the state.
    codec_hash: u64,
    state: Arc<LearnedState>,
}

/// The part of a model's state that packets change: the counters, and the amounts that learning
/// adds to the weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LearnedState {
    pub(super) counters: Vec<Counter>,
    /// The amounts that learning added to the weights of every set. The list is empty at levels
    /// that do not learn.
    pub(super) gains: Vec<Row>,
    /// For each row, the loss that its gains cause. The list is empty at levels that do not learn.
    pub(super) losses: Vec<Loss>,
    /// For each part of the layout, the weights that mix decisions. The list is empty at levels
    /// that do not learn.
    pub(super) weights: Vec<Weights>,
}

impl LearnedState {
    /// Makes the state before the first packet.
    pub(super) fn from_model(model: &Model, sizes: (usize, usize)) -> Self {
        let mut state = Self::default();
        state.begin(None, model, sizes);
        state
    }

    /// Returns the heap memory of a state with these numbers of counters, rows and parts, in bytes.
    pub(super) fn bytes(counters: usize, rows: usize, parts: usize) -> usize {
        counters * size_of::<Counter>()
            + rows * (size_of::<Row>() + size_of::<Loss>())
            + parts * WEIGHTS * size_of::<Weights>()
    }

    /// Begins a packet: resumes from the baseline's state, or starts from the model. `rows` and
    /// `parts` are the numbers of rows and parts that learn.
    pub(super) fn begin(
        &mut self,
        learned: Option<&Learned>,
        model: &Model,
        (rows, parts): (usize, usize),
    ) {
        match learned {
            Some(learned) => {
                self.counters.clone_from(&learned.state.counters);
                self.gains.clone_from(&learned.state.gains);
                self.losses.clone_from(&learned.state.losses);
                self.weights.clone_from(&learned.state.weights);
            }
            None => {
                self.counters.clone_from(&model.counters);
                refill(&mut self.gains, rows, [0.0; FEATURES]);
                refill(&mut self.losses, rows, Loss::default());
                refill(&mut self.weights, parts * WEIGHTS, UNTRAINED);
            }
        }
    }
}

fn refill<T: Clone>(list: &mut Vec<T>, len: usize, value: T) {
    list.clear();
    list.resize(len, value);
}

impl Learned {
    /// Takes the state out of `state`, and leaves another state of the same size there, or an empty
    /// one. The memory of `reused` is used again if it has no other owner.
    pub(super) fn take(codec_hash: u64, state: &mut LearnedState, reused: Option<Self>) -> Self {
        if let Some(mut reused) = reused
            && let Some(old) = Arc::get_mut(&mut reused.state)
        {
            reused.codec_hash = codec_hash;
            core::mem::swap(old, state);
            return reused;
        }
        Self { codec_hash, state: Arc::new(core::mem::take(state)) }
    }

    /// Returns whether the memory has no other owner.
    pub(in crate::snapshot) fn is_unshared(&mut self) -> bool {
        Arc::get_mut(&mut self.state).is_some()
    }

    /// Returns whether the codec with this hash can resume from this state.
    pub(in crate::snapshot) fn is_from_codec(&self, codec_hash: u64) -> bool {
        self.codec_hash == codec_hash
    }

    /// Returns the size of the state on the heap, in bytes; all clones share this memory.
    pub fn memory_bytes(&self) -> usize {
        self.state.counters.capacity() * size_of::<Counter>()
            + self.state.gains.capacity() * size_of::<Row>()
            + self.state.losses.capacity() * size_of::<Loss>()
            + self.state.weights.capacity() * size_of::<Weights>()
    }
}

impl Model {
    /// Returns the model with learned counters and weights, rounded to what a file can store.
    pub(super) fn with_learned(&self, learned: &Learned) -> Self {
        let (mut model, learned) = (self.clone(), &learned.state);
        for rows in &mut model.sets {
            let learned = rows.iter_mut().zip(&learned.gains).zip(&learned.losses);
            for ((row, gains), _) in learned.filter(|(_, loss)| !loss.is_loss()) {
                for (weight, gain) in row.iter_mut().zip(gains) {
                    *weight = storable(*weight + gain);
                }
            }
        }
        let known = |counter: &Counter| {
            Counter::new(counter.probability(), counter.count().min(MAX_TRAINED_COUNT))
        };
        model.counters = learned.counters.iter().map(known).collect();
        model
    }
}
