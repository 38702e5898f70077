//! Rings around viewpoints, which decide what a receiver sees by distance, and in which tier.
//!
//! [`Rings`] are the caller's settings. [`Sights`] computes once per tick what is seen from each
//! cell that has a viewpoint in it. [`Places`] finds what is near a cell, and [`nearby`] keeps the
//! rings of these entities up to date. [`CoarseWorlds`](coarse::CoarseWorlds) are worlds in which
//! fields are coarser. [`samples`] keeps the values of what is not sent in every
//! tick, and [`Sources`] are all worlds that values come from. [`frames`] adds what others are
//! relative to. [`Eye`] is a receiver's viewpoint
//! with its cell.

mod coarse;
mod eye;
mod frames;
mod grid;
mod nearby;
mod places;
mod samples;
mod sights;
mod sources;

use kinepack::schema::Coarser;
use kinepack::{EntityId, Schema};

use crate::NetError;

use coarse::CoarseWorlds;
pub(super) use eye::Eye;
pub(super) use frames::Riders;
use places::{Places, find_field};
pub(super) use sights::{Sight, Sights};
pub(super) use sources::Sources;

/// The share of a length by which rounding may change it, generously.
const ROUNDING: f64 = 1e-9;
/// The largest number of a tier, and of rings.
const MOST_TIER: usize = 254;
/// The least and the largest length of rings and cells. Squares and numbers of cells of such lengths
/// are exact enough.
const LENGTHS: (f64, f64) = (1e-9, 1e100);
/// How much farther than the largest ring a cell looks, as a share of the ring, so that it need not
/// look in every tick.
const SLACK: f64 = 1.0 / 16.0;
/// The largest [`Ring::every`].
const MOST_EVERY: u32 = 255;

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
    /// The ring's entities change in every n-th tick, from 1 to 255. Each entity has its own turn, so
    /// about as many change in each tick. Until its next turn, an entity keeps its values, which
    /// are sent once, and again if the hub knows of a loss. Playback blends from one turn to the
    /// next. For that, it needs a state that is `every` ticks ahead, so the playout delay grows by
    /// as many ticks, unless a turn takes longer than playback blends.
    pub every: u32,
    /// The tier in which the ring's entities are sent: the index of one of the worlds that
    /// [`Hub::tick`](crate::Hub::tick) gets, from 0 to 254. If there are fewer worlds, the last one
    /// counts.
    pub tier: usize,
    /// By how many bits the fields that may be [coarser](kinepack::schema::Coarser) are coarser in
    /// this ring, from 0 to 31, or by as many as they allow. Such fields take fewer bits while
    /// their entity moves. All views remain exact: both sides hold the coarser values.
    pub coarser: u8,
}

/// What receivers see by distance from their [viewpoints](crate::Hub::set_viewpoint).
///
/// A *tier* is a world in another precision. [`Hub::tick`](crate::Hub::tick) takes one or several
/// worlds of the same entities, from the finest to the coarsest. Each receiver gets each entity
/// from the world that the entity's ring names. In each world, a ring may make the fields that allow
/// it [coarser](Ring::coarser).
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
///     urgent: vec![],
///     rings: vec![
///         Ring { within: 50.0, leave: 55.0, every: 1, tier: 0, coarser: 0 },
///         Ring { within: 300.0, leave: 330.0, every: 4, tier: 1, coarser: 0 },
///     ],
///     beyond: None,
///     cell: 10.0,
///     exact_after: None,
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
    /// world. A position that is relative to a [frame](kinepack::frame) counts where it is in the
    /// world. An entity whose frame is not there is always seen. An entity that is seen brings its
    /// frame, in the same ring if the frame is not seen anyway.
    pub positions: Vec<String>,
    /// The names of fields whose changes do not wait for the entity's turn, such as `ship.health`.
    /// An entity that is new, jumps ([`Role::Cut`](kinepack::schema::Role::Cut)), changes its
    /// [frame](kinepack::frame), or moves farther
    /// than [`cell`](Self::cell) in a tick, does not wait either.
    pub urgent: Vec<String>,
    /// The rings, from the smallest to the largest, at most 254.
    pub rings: Vec<Ring>,
    /// The tier of the entities beyond all rings, which are sent in every tick. `None` hides them.
    pub beyond: Option<usize>,
    /// The edge length of the cells into which space is divided, in the unit of the position.
    /// Distances are measured from the nearest point of the viewpoint's cell, so receivers in the
    /// same cell see the same and share their snapshots. Each receiver sees a little more than the
    /// rings say, by at most the cell's diagonal and a fifth. A receiver that moves to another cell
    /// may see an entity between two rings go back in time once, by less than the larger `every`.
    pub cell: f64,
    /// After how many ticks without a change of its coarser fields an entity is sent exactly, in
    /// rings that are [coarser](Ring::coarser). `None` if it never is. An entity that has never
    /// moved is exact. Changes of [groups](crate::Hub::add_group) do not count, because they may be
    /// secret.
    pub exact_after: Option<u32>,
}

/// What decides about the values of a ring's entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RingValues {
    every: u32,
    tier: u8,
    coarser: u8,
}

impl Rings {
    /// Checks the settings, and makes what finds out what is seen.
    pub(super) fn sights(&self, schema: &Schema) -> Result<Sights, NetError> {
        let is_length = |length: f64| (LENGTHS.0..=LENGTHS.1).contains(&length);
        let (mut last, mut reach) = (0.0, 0.0_f64);
        for (index, ring) in self.rings.iter().enumerate() {
            let is_valid = is_length(ring.within)
                && is_length(ring.leave)
                && ring.leave >= ring.within
                && ring.within > last
                && (1..=MOST_EVERY).contains(&ring.every)
                && ring.tier <= MOST_TIER
                && ring.coarser <= Coarser::MOST_BITS;
            if !is_valid {
                return Err(NetError::BadRing { ring: index });
            }
            (last, reach) = (ring.within, reach.max(ring.leave));
        }
        let count = self.rings.len();
        if count == 0 || count > MOST_TIER || self.beyond.is_some_and(|tier| tier > MOST_TIER) {
            return Err(NetError::BadRing { ring: count });
        }
        if !is_length(self.cell) {
            return Err(NetError::BadCell { cell: self.cell });
        }
        let places = Places::new(schema, &self.positions, reach)?;
        let mut urgent = Vec::new();
        for name in &self.urgent {
            let unknown = || NetError::NoSuchField { field: name.clone() };
            let (kind, field) = find_field(schema, name).ok_or_else(unknown)?;
            urgent.extend(field.lanes().map(|lane| (kind, lane)));
        }
        for (kind, of) in schema.kinds().iter().enumerate() {
            urgent.extend(of.break_lanes().iter().map(|lane| (kind, *lane)));
        }
        Ok(Sights::new(self.clone(), places, urgent, CoarseWorlds::new(schema)))
    }

    /// Returns the ring of an entity at a squared distance. `before` is its ring in the last tick,
    /// if it had one. The result is the number of rings if the entity is beyond all of them.
    fn ring(&self, squared: f64, before: Option<u8>, id: EntityId, tick: u64) -> u8 {
        let ring = self.natural(squared, before);
        let Some(before) = before.map(usize::from).filter(|before| *before != ring) else {
            return ring as u8;
        };
        // An entity must not go back in time. So it changes its ring only when its values in the
        // new ring are at least as new.
        let age = |ring| samples::age(id, self.every(ring), tick);
        (if age(ring) > age(before) { before } else { ring }) as u8
    }

    /// Returns the ring of an entity that need not wait for its turn to change its ring.
    fn natural(&self, squared: f64, before: Option<u8>) -> usize {
        let entered = self.rings.iter().position(|ring| squared <= ring.within * ring.within);
        let entered = entered.unwrap_or(self.rings.len());
        // An entity that was nearer stays in its ring until it leaves it.
        let stays = |index: &usize| squared <= self.rings[*index].leave * self.rings[*index].leave;
        let nearer = before.map_or(entered, usize::from)..entered;
        nearer.into_iter().find(stays).unwrap_or(entered)
    }

    /// The distance of an entity from the nearest edge of a ring, a little less for the rounding of
    /// numbers, as a share of the largest ring. Positions are up to `extent`.
    fn margin(&self, squared: f64, extent: f64) -> f64 {
        let distance = squared.sqrt();
        let edges = self.rings.iter().flat_map(|ring| [ring.within, ring.leave]);
        let nearest =
            edges.fold(f64::INFINITY, |nearest, edge| nearest.min((distance - edge).abs()));
        (nearest - ROUNDING * (distance + extent)) / self.reach()
    }

    /// How far the largest ring reaches.
    fn reach(&self) -> f64 {
        self.rings.iter().fold(0.0, |reach: f64, ring| reach.max(ring.leave))
    }

    /// What decides about the values of each ring's entities, and last of those beyond. `coarsest`
    /// is the tier of the coarsest world.
    fn values(&self, coarsest: u8) -> impl Iterator<Item = RingValues> + '_ {
        let tier = move |tier: usize| tier.min(coarsest.into()) as u8;
        let of_ring = move |&Ring { every, tier: of, coarser, .. }: &Ring| RingValues {
            every,
            tier: tier(of),
            coarser,
        };
        let beyond = tier(self.beyond.unwrap_or(0));
        let beyond = RingValues { every: 1, tier: beyond, coarser: 0 };
        self.rings.iter().map(of_ring).chain([beyond])
    }

    /// In which ticks a ring is sent, or what is beyond.
    fn every(&self, ring: usize) -> u32 {
        self.rings.get(ring).map_or(1, |ring| ring.every)
    }

    /// Whether the entities of a ring are not seen.
    fn is_hidden(&self, ring: u8) -> bool {
        usize::from(ring) == self.rings.len() && self.beyond.is_none()
    }

    /// The farthest ring, or what is beyond if it is seen.
    fn farthest(&self) -> usize {
        self.rings.len() - usize::from(self.beyond.is_none())
    }
}
