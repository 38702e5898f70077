//! The rows of a figure's kind on the server: the lanes of the other components, then those of the
//! body.

use core::marker::PhantomData;
use std::fmt;

use bevy_ecs::message::Message;
use bevy_ecs::query::{Changed, Or, QueryData, With};
use bevy_ecs::world::World;
use kinepack::{EncodeError, EntityId};
use kinepack_anim::figure::{Figure, FigureError};

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
    /// The bodies, each with the place of its first lane in `lanes`.
    rows: Vec<(EntityId, Result<usize, FigureRefusal>)>,
    lanes: Vec<u32>,
    /// The number of lanes of a body.
    width: usize,
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
            lanes: Vec::new(),
            components: PhantomData,
        }
    }

    /// Appends the lanes of a body. Returns the place of the first one.
    fn quantize(&mut self, state: &K, body: &FigureBody) -> Result<usize, FigureRefusal> {
        if !self.kind.is_same(body.kind()) {
            return Err(FigureRefusal::AnotherKind);
        }
        let first = self.lanes.len();
        self.lanes.resize(first + self.width, 0);
        let (of_state, of_body) = self.lanes[first..].split_at_mut(K::LANES);
        let quantized = state.quantize(of_state).map_err(FigureRefusal::Component).and_then(|()| {
            self.figure.quantize(&body.pose(), of_body).map_err(FigureRefusal::Pose)
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

    fn clear(&mut self) {
        self.rows.clear();
        self.lanes.clear();
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
                changes.rows.push_lanes_of(kind, id, lanes).map_err(FigureRefusal::Component)
            });
            if let Err(reason) = pushed {
                changes.stats.note_refused::<(K, FigureBody)>(&reason);
                world.write_message(FigureRefused { id: MotionId(id.0), reason });
            }
        }
    }
}
