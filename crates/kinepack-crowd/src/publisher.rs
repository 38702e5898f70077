//! Encodes each tick's world into objects and datagrams.

use std::collections::VecDeque;

use kinepack::codec::Chosen;
use kinepack::group::GroupWriter;
use kinepack::{BaselinesError, EncodeError, Encoder, Snapshot, Tick, View};

use crate::datagram::{MAX_PACKET_BYTES, split};
use crate::{Carry, Catalogue, CrowdError, Tier, Track};

/// An object or a datagram for the transport to carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The track that carries the piece.
    pub track: Track,
    /// The number of the piece's group.
    pub group: u64,
    /// The way in which the piece is carried.
    pub carried: Carried,
    /// The tick of the snapshot, or of the last snapshot if there are several.
    pub tick: Tick,
    /// The bytes of the object or of the datagram.
    pub bytes: Vec<u8>,
}

/// The way in which a piece is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// The piece is an object of a group, with this number. Object 0 begins the group and ends the
    /// previous one.
    Object(u64),
    /// The piece is a datagram.
    Datagram,
}

/// A new head has 1 / `GRACE` seconds to reach all viewers before datagrams are coded against it.
const GRACE: u32 = 8;
/// The maximum number of ticks from a head to a datagram that is coded against it.
const MAX_TICKS: u32 = 127;

/// Selects the entities of a tier: those for which the function returns true. The function gets the
/// snapshot and the entity's index.
type Selection = Box<dyn FnMut(&Snapshot, usize) -> bool + Send>;

/// Publishes one world for any number of viewers. A publisher encodes each snapshot once for each
/// tier, no matter how many viewers watch.
///
/// ```
/// use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
/// use kinepack_crowd::{Carried, Catalogue, Publisher, Tier, Track};
///
/// #[derive(Pack)]
/// struct Ship {
///     #[pack(range = -512.0..512.0, precision = 0.01)] // metres
///     position: [f32; 3],
/// }
///
/// let schema = Schema::of::<Ship>();
/// let codec = Codec::new(schema.clone(), Level::LEARNING, Profile::untrained(&schema))?;
/// let mut publisher = Publisher::new(&Catalogue::new(60, vec![Tier::new("full", &codec, 60)])?);
/// let (mut world, mut bytes) = (Snapshot::new(&schema, Tick(0)), 0);
/// for tick in 0..120 {
///     world.clear(Tick(tick));
///     world.push(EntityId(7), &Ship { position: [0.1 * tick as f32, 0.0, 0.0] })?;
///     for piece in publisher.publish(&world)? {
///         // The transport carries it on this track.
///         assert_eq!(piece.group, u64::from(tick / 60));
///         if piece.track == Track::Snapshots(0) {
///             assert_eq!(piece.carried, Carried::Object(u64::from(tick % 60)));
///         }
///         bytes += piece.bytes.len();
///     }
/// }
/// assert!(bytes < 700, "{bytes}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Publisher {
    tiers: Vec<Encoding>,
    /// The pieces that are not due yet.
    waiting: VecDeque<Piece>,
    delay_ticks: u32,
    last: Option<Tick>,
    out: Vec<Piece>,
}

/// The state of a tier.
struct Encoding {
    tier: Tier,
    /// The tier's number.
    number: usize,
    writer: GroupWriter,
    /// The writer of key snapshots.
    keys: GroupWriter,
    /// The encoder of datagrams, which are coded against a head.
    encoder: Encoder,
    /// The heads of the current group and of the previous one, each with its group's number.
    heads: [Option<(u64, View)>; 2],
    /// The number of ticks after a new head during which datagrams are still coded against the
    /// previous head.
    grace_ticks: u32,
    selection: Option<Selection>,
    /// The snapshot with only the selected entities.
    selected: Option<Snapshot>,
    indices: Vec<u32>,
    group: u64,
    objects: u64,
    /// The object that is being filled with snapshots.
    object: Vec<u8>,
    /// The number of snapshots in `object`.
    frames: u8,
    /// The ticks of the first and of the last snapshot of the group.
    first: Option<Tick>,
    last: Option<Tick>,
}

impl Publisher {
    /// Makes a publisher of these tiers, whose groups have numbers from 0 on.
    pub fn new(catalogue: &Catalogue) -> Self {
        Self::starting_at(catalogue, 0)
    }

    /// Makes a publisher whose groups have numbers from `group` on. After a restart, pass a number
    /// above all earlier ones, such as the seconds since 1970. Otherwise relays and viewers would
    /// mix the two broadcasts.
    pub fn starting_at(catalogue: &Catalogue, group: u64) -> Self {
        let encoding = |(number, tier): (usize, &Tier)| Encoding {
            number,
            writer: GroupWriter::new(&tier.codec),
            keys: GroupWriter::new(&tier.codec),
            encoder: Encoder::new(&tier.codec),
            heads: [None, None],
            grace_ticks: (u32::from(catalogue.tick_hz()) / GRACE)
                .min(MAX_TICKS.saturating_sub(tier.ticks_per_group.into())),
            selection: None,
            selected: None,
            indices: Vec::new(),
            group,
            objects: 0,
            object: Vec::new(),
            frames: 0,
            first: None,
            last: None,
            tier: tier.clone(),
        };
        Self {
            tiers: catalogue.tiers().iter().enumerate().map(encoding).collect(),
            waiting: VecDeque::new(),
            delay_ticks: 0,
            last: None,
            out: Vec::new(),
        }
    }

    /// Makes the publisher return each piece `ticks` ticks later, so that players gain nothing from
    /// watching their own match. During that time the publisher keeps the pieces, not the worlds.
    /// After the last world, [`drain`](Self::drain) returns the pieces that still wait.
    #[must_use]
    pub fn with_delay(mut self, ticks: u32) -> Self {
        self.delay_ticks = ticks;
        self
    }

    /// Restricts a tier to the entities for which `is_wanted` is true, such as those of a region.
    /// The function gets the snapshot and the index of an entity in it. An entity that is relative
    /// to another one, its [frame](kinepack::frame), is shown in the world only if both are wanted.
    ///
    /// # Errors
    /// [`CrowdError::NoTier`] if there is no tier with this number.
    pub fn select(
        &mut self,
        tier: usize,
        is_wanted: impl FnMut(&Snapshot, usize) -> bool + Send + 'static,
    ) -> Result<(), CrowdError> {
        let encoding = self.tiers.get_mut(tier).ok_or(CrowdError::NoTier { number: tier })?;
        encoding.selection = Some(Box::new(is_wanted));
        Ok(())
    }

    /// The last snapshot of a tier in groups, as the tier's viewers decode it. The snapshot lacks
    /// the entities that the tier leaves out. The snapshot is coarser than the world if the schema
    /// has a time precision. The function returns `None` before the tier's first snapshot, and for
    /// a tier in datagrams.
    pub fn last_of(&self, tier: usize) -> Option<&Snapshot> {
        let of = self.tiers.get(tier).filter(|of| of.tier.carry == Carry::Groups)?;
        Some(of.writer.last()?.snapshot())
    }

    /// Takes the world of a tick, and returns the pieces to carry now. The ticks of the worlds must
    /// increase.
    ///
    /// The cost is an encoding for each tier whose snapshot is due.
    ///
    /// # Errors
    /// [`CrowdError::Encode`] if the world has another schema, or its tick is not above the
    /// previous tick. In that case, nothing has changed. [`CrowdError::TooLarge`] if the world does
    /// not fit into the datagrams of a tier. The other tiers have encoded it, and
    /// [`pieces`](Self::pieces) has the pieces to carry now.
    pub fn publish(&mut self, world: &Snapshot) -> Result<&[Piece], CrowdError> {
        self.out.clear();
        if let Some(last) = self.last
            && world.tick.0.wrapping_sub(last.0) as i32 <= 0
        {
            let (tick, newer) = (last.0, world.tick.0);
            return Err(EncodeError::from(BaselinesError::NotOlder { tick, newer }).into());
        }
        let expected_hash = self.tiers.first().map_or(0, |of| of.tier.codec.schema().hash());
        let hash = world.schema_hash();
        if hash != expected_hash {
            return Err(EncodeError::SchemaMismatch { expected_hash, hash }.into());
        }
        self.last = Some(world.tick);
        let mut taken = Ok(());
        for encoding in &mut self.tiers {
            let of_tier = encoding.publish(world, &mut self.waiting);
            taken = taken.and(of_tier);
        }
        self.take_due(world.tick);
        taken.map(|()| &self.out[..])
    }

    /// Returns, after the last world, the pieces to carry at `tick`, which is the last world's tick
    /// or a later one. These are the pieces that wait for the [delay](Self::with_delay), and
    /// objects that have fewer snapshots than their tier allows. Call it at each tick until
    /// [`is_drained`](Self::is_drained) returns true. Otherwise the end of the broadcast is lost.
    /// It may be called between worlds too, but then objects become smaller.
    ///
    /// The cost is that of moving the pieces; nothing is encoded.
    pub fn drain(&mut self, tick: Tick) -> &[Piece] {
        self.out.clear();
        for encoding in &mut self.tiers {
            encoding.flush(&mut self.waiting);
        }
        let is_before = |last: &Tick| (tick.0.wrapping_sub(last.0) as i32) < 0;
        self.take_due(self.last.filter(is_before).unwrap_or(tick));
        &self.out
    }

    /// Returns true if the publisher keeps no pieces: the whole broadcast was returned.
    pub fn is_drained(&self) -> bool {
        self.waiting.is_empty() && self.tiers.iter().all(|encoding| encoding.frames == 0)
    }

    /// Moves the pieces that are due at a tick to `out`.
    fn take_due(&mut self, tick: Tick) {
        let is_due = |piece: &Piece| tick.0.wrapping_sub(piece.tick.0) >= self.delay_ticks;
        while let Some(piece) = self.waiting.pop_front_if(|piece| is_due(piece)) {
            self.out.push(piece);
        }
    }

    /// The pieces to carry now, after the last [`publish`](Self::publish), even if it failed for
    /// one of the tiers.
    pub fn pieces(&self) -> &[Piece] {
        &self.out
    }
}

impl Encoding {
    fn publish(&mut self, world: &Snapshot, out: &mut VecDeque<Piece>) -> Result<(), CrowdError> {
        let since = |tick: Option<Tick>| tick.map(|tick| world.tick.0.wrapping_sub(tick.0));
        if since(self.last).is_some_and(|ticks| ticks < u32::from(self.tier.ticks_per_frame)) {
            return Ok(());
        }
        let is_first =
            since(self.first).is_none_or(|ticks| ticks >= u32::from(self.tier.ticks_per_group));
        let mut selected = self.selected.take();
        let of_tier = match &mut self.selection {
            None => world,
            Some(is_wanted) => {
                let selected = selected.get_or_insert_with(|| Snapshot::new_like(world));
                self.indices.clear();
                let indices = 0..world.len() as u32;
                self.indices.extend(indices.filter(|index| is_wanted(world, *index as usize)));
                selected.clear(world.tick);
                selected.gather(world, &self.indices)?;
                selected
            }
        };
        let taken = if is_first {
            self.begin(of_tier, out)
        } else if self.tier.carry == Carry::Groups {
            self.continue_group(of_tier, out)
        } else {
            self.datagrams(of_tier, out)
        };
        self.selected = selected;
        taken?;
        self.first = if is_first { Some(world.tick) } else { self.first };
        self.last = Some(world.tick);
        Ok(())
    }

    /// Begins a group.
    fn begin(&mut self, world: &Snapshot, out: &mut VecDeque<Piece>) -> Result<(), CrowdError> {
        let group = if self.first.is_some() { self.group + 1 } else { self.group };
        let given = self.writer.last().map(|view| view.clone().with_learned(None));
        let given = given.unwrap_or_else(|| {
            let mut nothing = Snapshot::new_like(world);
            nothing.tick = Tick(world.tick.0.wrapping_sub(1));
            nothing.into()
        });
        self.keys.begin(None);
        let mut key = Vec::new();
        self.keys.write(&given, &mut key)?;
        let mut bytes = given.tick.0.to_le_bytes().to_vec();
        self.writer.begin(Some(given));
        let view = self.writer.write(world, &mut bytes)?.clone();
        self.flush(out);
        out.push_back(Piece {
            track: Track::Keys(self.number),
            group,
            carried: Carried::Object(0),
            tick: world.tick,
            bytes: key,
        });
        if self.tier.carry == Carry::Datagrams {
            self.heads = [Some((group, view)), self.heads[0].take()];
        }
        (self.group, self.objects, self.object, self.frames) = (group, 0, bytes, 1);
        self.last = Some(world.tick);
        self.flush_if_full(out);
        Ok(())
    }

    /// Adds a snapshot to the group.
    fn continue_group(
        &mut self,
        world: &Snapshot,
        out: &mut VecDeque<Piece>,
    ) -> Result<(), CrowdError> {
        self.writer.write(world, &mut self.object)?;
        self.frames += 1;
        self.last = Some(world.tick);
        self.flush_if_full(out);
        Ok(())
    }

    fn flush_if_full(&mut self, out: &mut VecDeque<Piece>) {
        if self.frames >= self.tier.frames_per_object {
            self.flush(out);
        }
    }

    /// Passes on the object that is being filled, if it has snapshots.
    fn flush(&mut self, out: &mut VecDeque<Piece>) {
        if self.frames > 0 {
            out.push_back(Piece {
                track: Track::Snapshots(self.number),
                group: self.group,
                carried: Carried::Object(self.objects),
                tick: self.last.unwrap_or_default(),
                bytes: std::mem::take(&mut self.object),
            });
            self.frames = 0;
            self.objects += 1;
        }
    }

    /// Codes a snapshot against a head.
    fn datagrams(&mut self, world: &Snapshot, out: &mut VecDeque<Piece>) -> Result<(), CrowdError> {
        let Some((group, head)) = head(&self.heads, self.grace_ticks, world.tick) else {
            return Ok(());
        };
        let ticks = world.tick.0.wrapping_sub(head.tick.0) as u8;
        let mut bytes = Vec::new();
        self.encoder.write(&head, world, Chosen::All, &mut bytes)?;
        let datagrams = split(group, ticks, &bytes)
            .ok_or(CrowdError::TooLarge { bytes: bytes.len(), most: MAX_PACKET_BYTES })?;
        out.extend(datagrams.into_iter().map(|bytes| Piece {
            track: Track::Snapshots(self.number),
            group,
            carried: Carried::Datagram,
            tick: world.tick,
            bytes,
        }));
        Ok(())
    }
}

/// Returns the head that a datagram of this tick is coded against. While the newest head is young,
/// this is the previous head, which viewers probably have.
fn head(
    [newest, before]: &[Option<(u64, View)>; 2],
    grace_ticks: u32,
    tick: Tick,
) -> Option<(u64, View)> {
    let since = |view: &View| tick.0.wrapping_sub(view.tick.0);
    let (_, view) = newest.as_ref()?;
    let is_new = since(view) <= grace_ticks;
    let before = before.as_ref().filter(|(_, view)| is_new && since(view) <= MAX_TICKS);
    before.or(newest.as_ref()).cloned()
}
