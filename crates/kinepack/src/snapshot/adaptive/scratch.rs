//! Memory that packets use again, and what stands in it while one is coded.

use alloc::vec::Vec;

use super::geometry::Vector;
use super::neighbours::{Coded, Neighbours};

/// A body that moves others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mover {
    pub(super) entity: u32,
    pub(super) position: Vector,
    /// What is known of it; before it is coded, that it stays.
    pub(super) coded: Coded,
}

/// What an entity leaves for the next, a lane each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Previous {
    pub(super) moved: i32,
    pub(super) error: i32,
    pub(super) error_log2: i32,
}

/// Memory that packets use again.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) neighbours: Neighbours,
    pub(super) movers: Vec<Mover>,
    pub(super) nearness: Vec<u8>,
    /// Of each entity, for those that changed.
    pub(super) order: Vec<(u64, u32)>,
    /// The entities that an encoder knows to have changed, and those that the packet says have.
    pub(super) told: Vec<u32>,
    pub(super) changed: Vec<u32>,
    /// Those of the latter for which there was no room.
    pub(super) unsent: Vec<u32>,
    /// Where somebody asks: what each entity took, in 1/256 bit, in the order of the packet.
    pub(super) entities_spent: Option<Vec<(u32, u64)>>,
    /// For each field, what the entity before left.
    pub(super) previous: Vec<Vec<Previous>>,
}
