//! The rows of a figure's kind on the server: the lanes of the other components, then those of the
//! body.

use core::marker::PhantomData;
use std::fmt;

use bevy_ecs::message::Message;
use bevy_ecs::query::{Changed, Or, QueryData, With};
use bevy_ecs::world::World;
use kinepack::{EncodeError, EntityId, Snapshot};
use kinepack_anim::figure::{Figure, FigureError, FigurePose};

use super::{FigureBody, FigureKind};
use crate::server::{Changes, Rows};
use crate::{MotionId, MotionKind};

/// The message that the server did not send the new state of a body. Clients keep showing the last
/// state, and a new body does not appear. The server writes the message in each tick in which the
/// body changes, or is not there yet. [`ServerStats`](crate::ServerStats) counts these states.
#[derive(Message, Clone, Debug, PartialEq)]
pub struct FigureRefused {
    /// The body's entity: see [`MotionEntities`](crate::MotionEntities).
    pub id: MotionId,
    /// The reason.
    pub reason: FigureRefusal,
}

/// The reason why the state of a body is not sent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FigureRefusal {
    /// The [`FigureBody`] was made from another [`FigureKind`] than the registered one, or from an
    /// equal one that is not a clone.
    AnotherKind,
    /// The pose, for example because a joint is out of range.
    Pose(FigureError),
    /// A value of another component of the kind.
    Component(EncodeError),
}

impl fmt::Display for FigureRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnotherKind => {
                write!(f, "the body is not of the registered kind: make it from a clone of that")
            }
            Self::Pose(error) => error.fmt(f),
            Self::Component(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FigureRefusal {}

/// The changed bodies of a tick, with the components `K`.
pub(super) struct BodyRows<K> {
    kind: FigureKind,
    figure: Figure,
    /// The bodies, each with the place of its first lane in `lanes`. Its lanes of tier 0 are
    /// followed by those of each further tier.
    rows: Vec<(EntityId, Result<usize, FigureRefusal>)>,
    /// The bodies that were not refused, in the same way.
    pushed: Vec<(EntityId, usize)>,
    lanes: Vec<u32>,
    /// The number of lanes of a body in a tier.
    width: usize,
    /// The number of tiers that are sent.
    tiers: usize,
    components: PhantomData<fn() -> K>,
}

impl<K: MotionKind> BodyRows<K> {
    pub(super) fn new(kind: &FigureKind) -> Self {
        let figure = kind.figure();
        Self {
            width: K::LANES + figure.lane_count(),
            figure,
            kind: kind.clone(),
            rows: Vec::new(),
            pushed: Vec::new(),
            lanes: Vec::new(),
            tiers: 1,
            components: PhantomData,
        }
    }

    /// Appends the lanes of a body. Returns the place of the first one.
    fn quantize(&mut self, state: &K, body: &FigureBody) -> Result<usize, FigureRefusal> {
        if !self.kind.is_same(body.kind()) {
            return Err(FigureRefusal::AnotherKind);
        }
        let first = self.lanes.len();
        self.lanes.resize(first + self.tiers * self.width, 0);
        let quantized = (0..self.tiers).try_for_each(|tier| {
            let lanes = &mut self.lanes[first + tier * self.width..][..self.width];
            let (of_state, of_body) = lanes.split_at_mut(K::LANES);
            state.quantize(of_state).map_err(FigureRefusal::Component)?;
            let pose = FigurePose { tier, ..body.pose() };
            self.figure.quantize(&pose, of_body).map_err(FigureRefusal::Pose)
        });
        if quantized.is_err() {
            self.lanes.truncate(first);
        }
        quantized.map(|()| first)
    }
}

impl<K: MotionKind> Rows for BodyRows<K> {
    type Read = (K::Read, &'static FigureBody);
    type IsChanged = Or<(K::IsChanged, Changed<FigureBody>)>;
    type Has = (K::Has, With<FigureBody>);

    fn coarser(&self) -> usize {
        self.figure.tier_count() - 1
    }

    fn clear(&mut self, coarser: usize) {
        self.rows.clear();
        self.pushed.clear();
        self.lanes.clear();
        self.tiers = 1 + coarser.min(self.coarser());
    }

    fn read(&mut self, id: EntityId, components: <Self::Read as QueryData>::Item<'_, '_>) {
        let (components, body) = components;
        let row = self.quantize(&K::read(components), body);
        self.rows.push((id, row));
    }

    fn push(&mut self, world: &mut World, kind: usize, changes: &mut Changes<'_>) {
        self.rows.sort_unstable_by_key(|(id, _)| *id);
        self.rows.dedup_by_key(|(id, _)| *id);
        changes.stats.quantized += self.rows.len() as u64;
        for (id, row) in self.rows.drain(..) {
            let pushed = row.and_then(|first| {
                let lanes = &self.lanes[first..first + self.width];
                let pushed = changes.rows.push_lanes_of(kind, id, lanes);
                pushed.map(|()| first).map_err(FigureRefusal::Component)
            });
            match pushed {
                Ok(first) => self.pushed.push((id, first)),
                Err(reason) => {
                    changes.stats.note_refused::<(K, FigureBody)>(&reason);
                    world.write_message(FigureRefused { id: MotionId(id.0), reason });
                }
            }
        }
    }

    fn push_coarser(
        &self,
        kind: usize,
        tier: usize,
        _finest: &Snapshot,
        rows: &mut Snapshot,
    ) -> Result<(), EncodeError> {
        // A figure with fewer tiers is sent in its coarsest one.
        let tier = tier.min(self.tiers - 1);
        self.pushed.iter().try_for_each(|(id, first)| {
            let first = first + tier * self.width;
            rows.push_lanes_of(kind, *id, &self.lanes[first..first + self.width])
        })
    }
}
