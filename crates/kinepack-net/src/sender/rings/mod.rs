//! Rings around viewpoints, which decide what a receiver sees by distance, and in which tier.
//!
//! [`Rings`] are the caller's settings. [`Sights`] computes once per tick what is seen from each
//! cell that has a viewpoint in it, and [`Eye`] is a receiver's viewpoint with its cell.

mod eye;
mod places;
mod sights;

use kinepack::Schema;

use crate::NetError;

pub(super) use eye::Eye;
pub(super) use places::Places;
pub(super) use sights::{HIDDEN, Sight, Sights};

/// The largest number of a tier, and of rings.
const MOST_TIER: usize = HIDDEN as usize - 1;

/// A ring around a viewpoint: the entities that are within a distance of it, and not in a nearer
/// ring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ring {
    /// An entity that comes closer than this belongs to the ring, in the unit of the position.
    pub within: f64,
    /// An entity of the ring leaves it when it is farther than this, which is at least
    /// [`within`](Self::within). The distance between the two keeps an entity at the edge from
    /// changing its ring in every tick. Choose a difference of at least [`Rings::cell`] if
    /// viewpoints move to and fro between cells.
    pub leave: f64,
    /// The tier in which the ring's entities are sent: the index of one of the worlds that
    /// [`Hub::tick`](crate::Hub::tick) gets, from 0 to 254. If there are fewer worlds, the last one
    /// counts.
    pub tier: usize,
}

/// What receivers see by distance from their [viewpoints](crate::Hub::set_viewpoint).
///
/// A *tier* is a world in another precision. [`Hub::tick`](crate::Hub::tick) takes one or several
/// worlds of the same entities, from the finest to the coarsest. Each receiver gets each entity
/// from the world that the entity's ring names.
///
/// ```
/// # use std::time::Duration;
/// # use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
/// # use kinepack_net::{Hub, HubConfig, NetError, Receiver, ReceiverConfig, ReceiverId};
/// # use kinepack_net::{ReceiverOptions, Ring, Rings};
/// #[derive(Pack, Debug, PartialEq)]
/// struct Ship {
///     #[pack(range = -500.0..500.0, precision = 0.1)]
///     position: [f32; 2],
///     /// Only for receivers that are near.
///     heat: Option<u8>,
/// }
///
/// # let schema = Schema::builder().kind::<Ship>("ship").build()?;
/// # let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// # let mut hub = Hub::new(&codec, HubConfig::default())?;
/// # let (client, now) = (ReceiverId(7), Duration::ZERO);
/// # hub.add(client, &ReceiverOptions::default(), now)?;
/// # let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60))?;
/// # hub.handle(client, now, receiver.poll_transmit(now).ok_or("no hello")?)?;
/// hub.set_rings(Some(&Rings {
///     positions: vec!["ship.position".into()],
///     rings: vec![
///         Ring { within: 50.0, leave: 55.0, tier: 0 },
///         Ring { within: 300.0, leave: 330.0, tier: 1 },
///     ],
///     beyond: None,
///     cell: 10.0,
/// }))?;
/// hub.set_viewpoint(client, Some([0.0, 0.0, 0.0]))?;
///
/// let [mut fine, mut coarse] = [(); 2].map(|()| Snapshot::new(&schema, Tick(1)));
/// for (id, x) in [(1, 20.0), (2, 200.0), (3, 450.0)] {
///     let position = [x, 0.0];
///     fine.push(EntityId(id), &Ship { position, heat: Some(40) })?;
///     coarse.push(EntityId(id), &Ship { position, heat: None })?;
/// }
/// hub.tick(now, &[&fine, &coarse])?;
///
/// # let (_, datagram) = hub.poll_transmit().ok_or("no snapshot")?;
/// # receiver.handle(now, datagram)?;
/// let seen = receiver.newest().ok_or("nothing was received")?;
/// let heat = |id| Ok::<_, NetError>(seen.get::<Ship>(EntityId(id)).unwrap().map(|s| s.heat));
/// assert_eq!(heat(1)?, Some(Some(40)));
/// assert_eq!(heat(2)?, Some(None));
/// assert_eq!(heat(3)?, None); // beyond all rings
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rings {
    /// The names of the fields that hold positions, each after its kind's name if the kind has one:
    /// `ship.position`. A position is a field of two or three real numbers that do not wrap. An
    /// entity that has no such field is always seen, in tier 0. Positions are those of the first
    /// world.
    pub positions: Vec<String>,
    /// The rings, from the smallest to the largest, at most 254.
    pub rings: Vec<Ring>,
    /// The tier of the entities beyond all rings. `None` hides them.
    pub beyond: Option<usize>,
    /// The edge length of the cells into which space is divided, in the unit of the position.
    /// Distances are measured from the nearest point of the viewpoint's cell, so receivers in the
    /// same cell see the same and share their snapshots. Each receiver sees a little more than the
    /// rings say, by at most the cell's diagonal and a fifth.
    pub cell: f64,
}

impl Rings {
    /// Checks the numbers, and finds the positions among a schema's fields.
    pub(super) fn places(&self, schema: &Schema) -> Result<Places, NetError> {
        let is_length = |length: f64| length.is_finite() && length > 0.0;
        let mut last = 0.0;
        for (index, ring) in self.rings.iter().enumerate() {
            let is_valid = is_length(ring.within)
                && is_length(ring.leave)
                && ring.leave >= ring.within
                && ring.within > last
                && ring.tier <= MOST_TIER;
            if !is_valid {
                return Err(NetError::BadRing { ring: index });
            }
            last = ring.within;
        }
        let count = self.rings.len();
        if count == 0 || count > MOST_TIER || self.beyond.is_some_and(|tier| tier > MOST_TIER) {
            return Err(NetError::BadRing { ring: count });
        }
        if !is_length(self.cell) {
            return Err(NetError::BadCell { cell: self.cell });
        }
        Places::new(schema, &self.positions)
    }

    /// Returns the ring of an entity at a squared distance. `before` is its ring in the last tick.
    /// The result is the number of rings if the entity is beyond all of them.
    fn ring(&self, squared: f64, before: Option<u8>) -> u8 {
        let entered = self.rings.iter().position(|ring| squared <= ring.within * ring.within);
        let entered = entered.unwrap_or(self.rings.len());
        let before = before.map_or(entered, usize::from);
        // An entity that was nearer stays in its ring until it leaves it.
        let stays = |index: &usize| squared <= self.rings[*index].leave * self.rings[*index].leave;
        (before..entered).find(stays).unwrap_or(entered) as u8
    }

    /// Returns the tier of a ring, or [`HIDDEN`].
    fn tier(&self, ring: u8) -> u8 {
        let beyond = self.beyond.map_or(HIDDEN, |tier| tier as u8);
        self.rings.get(usize::from(ring)).map_or(beyond, |ring| ring.tier as u8)
    }
}
