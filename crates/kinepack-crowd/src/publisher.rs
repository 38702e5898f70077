//! The publishing side: each tick's world in, objects and datagrams out.

use std::collections::VecDeque;

use kinepack::codec::Chosen;
use kinepack::group::GroupWriter;
use kinepack::{BaselinesError, EncodeError, Encoder, Snapshot, Tick, View};

use crate::datagram::{MAX_PACKET_BYTES, split};
use crate::{Carry, Catalogue, CrowdError, Tier};

/// What the transport carries for a track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The number of the tier, which has the track.
    pub tier: usize,
    /// The number of the group.
    pub group: u64,
    /// An object, or a datagram beside the groups.
    pub carried: Carried,
    /// The tick of the snapshot.
    pub tick: Tick,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// How a piece is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// The object of a group with this number. The first one, number 0, begins the group and ends
    /// the one before.
    Object(u64),
    /// A datagram.
    Datagram,
}

/// A new head has an eighth of a second to arrive everywhere before datagrams stand on it.
const GRACE: u32 = 8;
/// The most ticks from a head to a datagram.
const MAX_TICKS: u32 = 127;

/// Which entities a tier has: those for which this is true, by index.
type Selection = Box<dyn FnMut(&Snapshot, usize) -> bool + Send>;

/// Publishes one world for any number of viewers: it encodes each snapshot once for each tier,
/// however many watch.
///
/// ```
/// use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
/// use kinepack_crowd::{Carried, Catalogue, Publisher, Tier};
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
///         // The transport carries it on the track of the tier.
///         assert_eq!(piece.group, u64::from(tick / 60));
///         assert_eq!(piece.carried, Carried::Object(u64::from(tick % 60)));
///         bytes += piece.bytes.len();
///     }
/// }
/// assert!(bytes < 700, "{bytes}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Publisher {
    tracks: Vec<Track>,
    /// Pieces that are not due yet.
    waiting: VecDeque<Piece>,
    delay_ticks: u32,
    last: Option<Tick>,
    out: Vec<Piece>,
}

/// The state of a tier.
struct Track {
    tier: Tier,
    writer: GroupWriter,
    /// Encodes datagrams against a head.
    encoder: Encoder,
    /// The heads of this group and of the one before, with the number of the group.
    heads: [Option<(u64, View)>; 2],
    /// So many ticks after a new head, datagrams still stand on the one before.
    grace_ticks: u32,
    selection: Option<Selection>,
    /// The snapshot that has only the selected entities.
    selected: Option<Snapshot>,
    indices: Vec<u32>,
    group: u64,
    objects: u64,
    /// The ticks of the first and of the last snapshot of the group.
    first: Option<Tick>,
    last: Option<Tick>,
}

impl Publisher {
    /// A publisher of these tiers. Its groups have numbers from 0 on.
    pub fn new(catalogue: &Catalogue) -> Self {
        Self::starting_at(catalogue, 0)
    }

    /// A publisher whose groups have numbers from `group` on. After a restart take a number above
    /// all before, such as the seconds since 1970, so that relays and viewers do not mix the two.
    pub fn starting_at(catalogue: &Catalogue, group: u64) -> Self {
        let track = |tier: &Tier| Track {
            writer: GroupWriter::new(&tier.codec),
            encoder: Encoder::new(&tier.codec),
            heads: [None, None],
            grace_ticks: (u32::from(catalogue.tick_hz()) / GRACE)
                .min(MAX_TICKS.saturating_sub(tier.ticks_per_group.into())),
            selection: None,
            selected: None,
            indices: Vec::new(),
            group,
            objects: 0,
            first: None,
            last: None,
            tier: tier.clone(),
        };
        Self {
            tracks: catalogue.tiers().iter().map(track).collect(),
            waiting: VecDeque::new(),
            delay_ticks: 0,
            last: None,
            out: Vec::new(),
        }
    }

    /// From now on, gives pieces only this many ticks later, against players who watch their own
    /// match. It keeps the pieces meanwhile, not the worlds.
    #[must_use]
    pub fn with_delay(mut self, ticks: u32) -> Self {
        self.delay_ticks = ticks;
        self
    }

    /// Restricts a tier to the entities for which `is_wanted` is true, such as those of a region.
    /// It gets the snapshot and an index in it.
    ///
    /// # Errors
    /// [`CrowdError::NoTier`].
    pub fn select(
        &mut self,
        tier: usize,
        is_wanted: impl FnMut(&Snapshot, usize) -> bool + Send + 'static,
    ) -> Result<(), CrowdError> {
        let track = self.tracks.get_mut(tier).ok_or(CrowdError::NoTier { number: tier })?;
        track.selection = Some(Box::new(is_wanted));
        Ok(())
    }

    /// Takes the world of a tick, and returns what to carry now. Ticks must increase.
    ///
    /// Cost: an encoding for each tier whose snapshot is due.
    ///
    /// # Errors
    /// [`CrowdError::Encode`] for a world of another schema, or of a tick that is not above the one
    /// before, and [`CrowdError::TooLarge`]. Tiers before the one that fails have taken the world,
    /// and their pieces come with the next one's.
    pub fn publish(&mut self, world: &Snapshot) -> Result<&[Piece], CrowdError> {
        self.out.clear();
        if let Some(last) = self.last
            && world.tick.0.wrapping_sub(last.0) as i32 <= 0
        {
            let (tick, newer) = (last.0, world.tick.0);
            return Err(EncodeError::from(BaselinesError::NotOlder { tick, newer }).into());
        }
        self.last = Some(world.tick);
        for (number, track) in self.tracks.iter_mut().enumerate() {
            track.publish(number, world, &mut self.waiting)?;
        }
        let is_due = |piece: &Piece| world.tick.0.wrapping_sub(piece.tick.0) >= self.delay_ticks;
        while let Some(piece) = self.waiting.pop_front_if(|piece| is_due(piece)) {
            self.out.push(piece);
        }
        Ok(&self.out)
    }
}

impl Track {
    fn publish(
        &mut self,
        number: usize,
        world: &Snapshot,
        out: &mut VecDeque<Piece>,
    ) -> Result<(), CrowdError> {
        let since = |tick: Option<Tick>| tick.map(|tick| world.tick.0.wrapping_sub(tick.0));
        if since(self.last).is_some_and(|ticks| ticks < u32::from(self.tier.ticks_per_frame)) {
            return Ok(());
        }
        let is_first =
            since(self.first).is_none_or(|ticks| ticks >= u32::from(self.tier.ticks_per_group));
        let world = match &mut self.selection {
            None => world,
            Some(is_wanted) => {
                let selected = self.selected.get_or_insert_with(|| Snapshot::new_like(world));
                self.indices.clear();
                let indices = 0..world.len() as u32;
                self.indices.extend(indices.filter(|index| is_wanted(world, *index as usize)));
                selected.clear(world.tick);
                selected.gather(world, &self.indices)?;
                selected
            }
        };
        if is_first {
            self.writer.begin(None);
        }
        let group = if is_first && self.first.is_some() { self.group + 1 } else { self.group };
        let mut bytes = Vec::new();
        if self.tier.carry == Carry::Groups || is_first {
            let view = self.writer.write(world, &mut bytes)?;
            if is_first && self.tier.carry == Carry::Datagrams {
                self.heads = [Some((group, view.clone())), self.heads[0].take()];
            }
            self.objects = if is_first { 1 } else { self.objects + 1 };
            let carried = Carried::Object(self.objects - 1);
            out.push_back(Piece { tier: number, group, carried, tick: world.tick, bytes });
        } else if let Some((of, head)) = head(&self.heads, self.grace_ticks, world.tick) {
            let ticks = world.tick.0.wrapping_sub(head.tick.0) as u8;
            self.encoder.write(&head, world, Chosen::All, &mut bytes)?;
            let datagrams = split(of, ticks, &bytes)
                .ok_or(CrowdError::TooLarge { bytes: bytes.len(), most: MAX_PACKET_BYTES })?;
            let piece = |bytes| Piece {
                tier: number,
                group: of,
                carried: Carried::Datagram,
                tick: world.tick,
                bytes,
            };
            out.extend(datagrams.into_iter().map(piece));
        }
        self.group = group;
        self.first = if is_first { Some(world.tick) } else { self.first };
        self.last = Some(world.tick);
        Ok(())
    }
}

/// The head that a datagram of this tick stands on. It may be the one before the newest, which
/// viewers surely have.
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
