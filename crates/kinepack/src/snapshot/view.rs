//! Views, which are the states that both sides hold after a packet.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Deref;

use super::adaptive::Learned;
use super::ids::Tick;
use super::store::Snapshot;
use crate::Schema;

/// A state that both sides hold: the receiver's snapshot after a packet and, at a level that
/// learns, what the models had learned by then. Packets are coded against views.
///
/// A view never changes, and a clone shares its memory. A view dereferences to its [`Snapshot`].
///
/// ```
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::{EntityId, Schema, Snapshot, Tick, View};
///
/// let schema = Schema::new(vec![Field::new("lit", FieldKind::Bool)]);
/// let mut level = Snapshot::new(&schema, Tick(0));
/// level.push_lanes(EntityId(7), &[1])?;
/// // Both sides have loaded this game level, so it can be their first view.
/// let view = View::from(level);
/// assert_eq!(view.ids(), [EntityId(7)]);
/// assert_eq!(view.lane(0), [1]);
/// // Two sides compare their state checks to detect that their views differ.
/// assert_ne!(view.check(), View::empty(&schema).check());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Contract
/// Views are made in three ways, and both sides must get the same view:
///
/// 1. Before the first packet, both sides create an [empty](Self::empty) view. Alternatively, both
///    call `View::from` with a snapshot that both know, such as the initial state of a game level.
/// 2. [`Encoder::encode`](super::Encoder::encode), or [`Encoded::view`](super::Encoded::view),
///    returns the view that a receiver will have after the packet.
/// 3. [`Decoder::decode`](super::Decoder::decode) returns the same view on the other side.
///
/// The following rules determine how long to keep a view:
///
/// - The sender keeps a view until the receiver has acknowledged a newer one and no further packet
///   will be coded against it.
/// - The receiver keeps a view until no packet coded against it can arrive, for example until it
///   receives a packet coded against a later one. Packets can arrive late and out of order. The
///   protocol must therefore define when a view may be dropped, and how a packet is handled whose
///   view was dropped.
///
/// The sender must not code against a view before it knows that the receiver holds the view. A
/// packet does not name the views that it was coded against, so the protocol must.
///
/// Some kinds of misuse do not compile. For example, a view cannot be changed:
///
/// ```compile_fail,E0594
/// # use kinepack::schema::{Field, FieldKind};
/// # use kinepack::{Schema, Tick, View};
/// # let schema = Schema::new(vec![Field::new("lit", FieldKind::Bool)]);
/// let mut view = View::empty(&schema);
/// view.tick = Tick(7);
/// ```
///
/// A view cannot be used after it was recycled:
///
/// ```compile_fail,E0382
/// # use kinepack::{Encoder, View};
/// # fn given_back(mut encoder: Encoder, view: View) {
/// encoder.recycle(view);
/// println!("{}", view.len());
/// # }
/// ```
///
/// A snapshot cannot be used as a baseline, until `View::from` asserts that both sides hold it:
///
/// ```compile_fail,E0277
/// # use kinepack::{Encoder, Snapshot};
/// # fn encode(mut encoder: Encoder, old: &Snapshot, new: &Snapshot) {
/// encoder.encode(old, new, &mut Vec::new());
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    snapshot: Arc<Snapshot>,
    learned: Option<Learned>,
}

impl View {
    /// Makes a view without entities, at tick 0.
    pub fn empty(schema: &Schema) -> Self {
        Self::from(Snapshot::new(schema, Tick(0)))
    }

    /// The snapshot that the view holds, in shared memory.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// The state that the models had learned after this view was coded; `None` at levels that do
    /// not learn.
    pub fn learned(&self) -> Option<&Learned> {
        self.learned.as_ref()
    }

    /// Returns a view of the same snapshot with different learned state, or with none. Protocols
    /// that store the two separately use this.
    ///
    /// Both sides must make the same replacement, except that a sender may drop the learned state.
    /// In that case its packet signals that it starts from the profile. State that another codec
    /// learned is ignored.
    #[must_use]
    pub fn with_learned(self, learned: Option<Learned>) -> Self {
        Self { learned, ..self }
    }

    /// The *state check*: a 16-bit hash of the tick, the entities and their lanes. If the checks of
    /// the two sides differ, their views differ. If the checks are equal, the views are equal too,
    /// except in one case of 65,536. The check does not cover learned state; a difference there
    /// shows only when it makes a value wrong. See `spec/CODEC.md`, section 18.
    ///
    /// The cost is one pass over the snapshot, an eighth of a nanosecond per entity and lane.
    pub fn check(&self) -> u16 {
        self.snapshot.state_check()
    }

    /// The size of the view on the heap in bytes, including memory shared with clones and other
    /// views.
    pub fn memory_bytes(&self) -> usize {
        self.snapshot.memory_bytes() + self.learned.as_ref().map_or(0, Learned::memory_bytes)
    }

    /// Splits the view into its snapshot and its learned state.
    pub(super) fn into_parts(self) -> (Arc<Snapshot>, Option<Learned>) {
        (self.snapshot, self.learned)
    }
}

impl Deref for View {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        &self.snapshot
    }
}

impl From<Snapshot> for View {
    fn from(snapshot: Snapshot) -> Self {
        Self::from(Arc::new(snapshot))
    }
}

impl From<Arc<Snapshot>> for View {
    fn from(snapshot: Arc<Snapshot>) -> Self {
        Self { snapshot, learned: None }
    }
}

/// The number of buffers for learned state that are kept. A packet in the packed form needs no
/// buffer, because its view shares the learned state of its baseline. After such packets there are
/// several spare buffers, until each view has its own state again.
const SPARE_LEARNED: usize = 8;

/// The memory of recycled views, which the next views reuse.
#[derive(Debug, Default)]
pub(super) struct Spare {
    snapshot: Option<Arc<Snapshot>>,
    learned: Vec<Learned>,
}

impl Spare {
    /// Keeps the snapshot and the learned state of a view, each only if it has no other owner.
    pub(super) fn keep(&mut self, view: View) {
        let (mut snapshot, learned) = view.into_parts();
        if Arc::get_mut(&mut snapshot).is_some() {
            self.snapshot = Some(snapshot);
        }
        self.keep_learned(learned);
    }

    /// Keeps the buffer of learned state, if it has no other owner.
    pub(super) fn keep_learned(&mut self, learned: Option<Learned>) {
        if let Some(mut learned) = learned
            && self.learned.len() < SPARE_LEARNED
            && learned.is_unshared()
        {
            self.learned.push(learned);
        }
    }

    /// Returns memory for a snapshot of the schema, with no other owner. The content of that
    /// snapshot is arbitrary.
    pub(super) fn snapshot(&mut self, schema: &Schema) -> Arc<Snapshot> {
        let is_fit = |snapshot: &Arc<Snapshot>| snapshot.schema_hash() == schema.hash();
        self.snapshot
            .take()
            .filter(is_fit)
            .unwrap_or_else(|| Arc::new(Snapshot::new(schema, Tick(0))))
    }

    /// Returns memory for learned state, if there is a spare buffer.
    pub(super) fn learned(&mut self) -> Option<Learned> {
        self.learned.pop()
    }
}
