//! What both sides hold after a packet.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Deref;

use super::adaptive::Learned;
use super::store::{Snapshot, Tick};
use crate::Schema;

/// A state that both sides hold: the snapshot as the receiver has it, and what a level that learns
/// had learned by then. Packets are coded against views.
///
/// A view never changes, and a clone shares its memory. It is read like a [`Snapshot`].
///
/// # Contract
/// Views come from three places, and both sides must take the same one:
///
/// 1. Before the first packet, both sides make an [empty](Self::empty) view, or `View::from` a
///    snapshot that both know, such as a level of a game.
/// 2. [`Encoder::encode`](super::Encoder::encode), or
///    [`Encoded::view`](super::Encoded::view), returns the view that a receiver of the packet will
///    have.
/// 3. [`Decoder::decode`](super::Decoder::decode) returns the same view on the other side.
///
/// How long to keep a view:
///
/// - The sender keeps it until the receiver has acknowledged a newer one, and the sender will not
///   code against it any more.
/// - The receiver keeps it until no packet against it can arrive, for example until a packet came
///   that is against a later view. Packets arrive late and out of order, so the protocol must say
///   when that is, and what happens to a packet whose view is gone.
///
/// The sender must not code against a view before it knows that the receiver holds it. Packets do
/// not name their views: the protocol has to.
///
/// Some wrong uses do not compile. A view cannot be changed:
///
/// ```compile_fail,E0594
/// # use kinepack::schema::{Field, FieldKind};
/// # use kinepack::{Schema, Tick, View};
/// # let schema = Schema::new(vec![Field::new("lit", FieldKind::Bool)]);
/// let mut view = View::empty(&schema);
/// view.tick = Tick(7);
/// ```
///
/// A view that was given back cannot be used:
///
/// ```compile_fail,E0382
/// # use kinepack::{Encoder, View};
/// # fn given_back(mut encoder: Encoder, view: View) {
/// encoder.recycle(view);
/// println!("{}", view.len());
/// # }
/// ```
///
/// A snapshot is not a baseline until somebody says, by `View::from`, that both sides hold it:
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
    /// A view of nothing, at tick 0.
    pub fn empty(schema: &Schema) -> Self {
        Self::from(Snapshot::new(schema, Tick(0)))
    }

    /// The snapshot, whose memory the view shares.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// What was learned when the view was coded; `None` at levels that do not learn.
    pub fn learned(&self) -> Option<&Learned> {
        self.learned.as_ref()
    }

    /// The same snapshot with something else learned, or nothing. For protocols that keep the two
    /// apart.
    ///
    /// Both sides have to do alike, with one exception: a sender may leave out what was learned.
    /// Its packet then says that it starts from the profile. What another codec learned counts as
    /// nothing.
    #[must_use]
    pub fn with_learned(self, learned: Option<Learned>) -> Self {
        Self { learned, ..self }
    }

    /// The *state check*: 16 bits that follow from the tick, the entities and their lanes. If the
    /// checks of two sides differ, they do not hold the same view. If the checks are equal, they
    /// do, in all but one of 65,536 cases. What was learned is not covered: it shows once it makes
    /// a value wrong. `spec/CODEC.md`, section 18.
    ///
    /// Cost: a run over the snapshot, of an eighth of a nanosecond an entity and lane.
    pub fn check(&self) -> u16 {
        self.snapshot.state_check()
    }

    /// Bytes on the heap, those that clones and other views share included.
    pub fn memory_bytes(&self) -> usize {
        self.snapshot.memory_bytes() + self.learned.as_ref().map_or(0, Learned::memory_bytes)
    }

    /// What it consists of.
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

/// How much memory for what is learned is kept. A packet that packs bits takes none, as its view
/// shares what the one before learned: until views are all different again, some is left over.
const SPARE_LEARNED: usize = 8;

/// The memory of recycled views. The next views reuse it.
#[derive(Debug, Default)]
pub(super) struct Spare {
    snapshot: Option<Arc<Snapshot>>,
    learned: Vec<Learned>,
}

impl Spare {
    /// Keeps the parts of a view that have no other owner.
    pub(super) fn keep(&mut self, view: View) {
        let (mut snapshot, learned) = view.into_parts();
        if Arc::get_mut(&mut snapshot).is_some() {
            self.snapshot = Some(snapshot);
        }
        self.keep_learned(learned);
    }

    /// Keeps what was learned, if it has no other owner.
    pub(super) fn keep_learned(&mut self, learned: Option<Learned>) {
        if let Some(mut learned) = learned
            && self.learned.len() < SPARE_LEARNED
            && learned.is_alone()
        {
            self.learned.push(learned);
        }
    }

    /// Memory for a snapshot of the schema, with no other owner. Its content is arbitrary.
    pub(super) fn snapshot(&mut self, schema: &Schema) -> Arc<Snapshot> {
        let is_fit = |snapshot: &Arc<Snapshot>| snapshot.schema_hash() == schema.hash();
        self.snapshot
            .take()
            .filter(is_fit)
            .unwrap_or_else(|| Arc::new(Snapshot::new(schema, Tick(0))))
    }

    /// Memory for what is learned.
    pub(super) fn learned(&mut self) -> Option<Learned> {
        self.learned.pop()
    }
}
