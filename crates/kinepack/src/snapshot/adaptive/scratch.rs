//! Scratch memory that packets reuse, and the types that it holds while a packet is coded.

use alloc::vec::Vec;

use super::geometry::Vector;
use super::neighbours::{CodedBody, Neighbours};
use super::newcomers::Newcomers;

/// A body that moves others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mover {
    /// The body's index.
    pub(super) entity: u32,
    pub(super) position: Vector,
    /// The body's motion. Until it is coded, that of a body at rest.
    pub(super) coded: CodedBody,
}

/// The number that means no mover.
pub(super) const NO_MOVER: u32 = u32::MAX;

/// The nearest mover of each entity, by index.
#[derive(Debug, Default)]
pub(super) struct Nearest {
    /// The mover's number. [`NO_MOVER`] for entities without a body, or if there are no movers.
    pub(super) movers: Vec<u32>,
    /// The squared distance to the mover.
    pub(super) distances: Vec<f64>,
}

impl Nearest {
    /// The nearest mover of an entity, and the squared distance to it.
    #[inline]
    pub(super) fn mover(&self, index: usize) -> Option<(u32, f64)> {
        let mover = self.movers[index];
        (mover != NO_MOVER).then(|| (mover, self.distances[index]))
    }
}

/// The part of a coded entity that the prediction of the next entity uses, one per lane.
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
    /// The contexts of the flags that entities of a kind changed.
    pub(super) contexts: Vec<u16>,
    /// The changed entities, by index, with their sort keys, in the order of the packet.
    pub(super) order: Vec<(u64, u32)>,
    /// The changed entities that an encoder must write, by index. Empty in a decoder.
    pub(super) encoder_changed: Vec<u32>,
    /// The changed entities of the packet, as coded on both sides.
    pub(super) changed: Vec<u32>,
    /// The entities in `changed` for which there was no room.
    pub(super) unsent: Vec<u32>,
    /// If wanted, the cost of each entity, in 1/256 bit and in the order of the packet.
    pub(super) entities_spent: Option<Vec<(u32, u64)>>,
    /// For each field, one element per lane: the last entity whose field was coded.
    pub(super) previous: Vec<Vec<Previous>>,
}
