//! Scratch memory that packets reuse, and the types that it holds while a packet is coded.

use alloc::vec::Vec;

use super::neighbours::{CodedBody, Neighbours};
use super::newcomers::Newcomers;
use crate::geometry::Vector;

/// A body that moves others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mover {
    /// The index of the body's entity.
    pub(super) entity: u32,
    pub(super) position: Vector,
    /// The motion of the body. Until the body is coded, this is the motion of a body at rest.
    pub(super) coded: CodedBody,
}

/// The number that stands for no mover.
pub(super) const NO_MOVER: u32 = u32::MAX;

/// For each entity, the nearest mover, by index.
#[derive(Debug, Default)]
pub(super) struct Nearest {
    /// The number of each entity's nearest mover. The number is [`NO_MOVER`] for entities without a
    /// body, or if there are no movers.
    pub(super) movers: Vec<u32>,
    /// The squared distance of each entity to that mover.
    pub(super) distances: Vec<f64>,
}

impl Nearest {
    /// Returns the nearest mover of an entity, and the squared distance to that mover.
    #[inline]
    pub(super) fn mover(&self, index: usize) -> Option<(u32, f64)> {
        let mover = self.movers[index];
        (mover != NO_MOVER).then(|| (mover, self.distances[index]))
    }
}

/// The part of a coded lane that the prediction of the next entity's lane uses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Previous {
    pub(super) moved: f64,
    pub(super) error: f64,
    pub(super) error_log2: i32,
}

/// Scratch memory that packets reuse.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) neighbours: Neighbours,
    pub(super) movers: Vec<Mover>,
    pub(super) nearest: Nearest,
    pub(super) newcomers: Newcomers,
    /// The nearness of each entity, by index.
    pub(super) nearness: Vec<u8>,
    /// The contexts of the flags that tell which entities of a kind changed.
    pub(super) contexts: Vec<u16>,
    /// The changed entities in the order of the packet, as pairs of the sort key and the index.
    pub(super) order: Vec<(u64, u32)>,
    /// The indices of the changed entities that an encoder must write. This list is empty in a
    /// decoder.
    pub(super) encoder_changed: Vec<u32>,
    /// The indices of the changed entities of the packet, as coded on both sides.
    pub(super) changed: Vec<u32>,
    /// The indices of the entities in `changed` that did not fit into the packet.
    pub(super) unsent: Vec<u32>,
    /// The cost of each entity, in 1/256 bit and in the order of the packet, if the caller wants
    /// it.
    pub(super) entities_spent: Option<Vec<(u32, u64)>>,
    /// For each field, one element per lane, from the last entity whose field was coded.
    pub(super) previous: Vec<Vec<Previous>>,
}
