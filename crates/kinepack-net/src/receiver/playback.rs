//! What a game reads in each frame: the entities at a moment, what changed since the previous frame,
//! and the events. The schema interpolates.

use std::time::Duration;

use kinepack::frame::{FrameError, Moment, Motion};
use kinepack::{Between, EncodeError, EntityId, Pack, Snapshot};

use super::playout_point::PlayoutPoint;
use super::spawns::Spawns;
use crate::events::{Event, Played};

/// A moment of playback.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::time::Duration;
/// use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
/// use kinepack_net::{Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions};
///
/// #[derive(Pack, Debug)]
/// struct Unit {
///     #[pack(max = 100)]
///     health: u8,
/// }
///
/// let schema = Schema::of::<Unit>();
/// let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// # let mut hub = Hub::new(&codec, HubConfig::default())?;
/// # hub.add(ReceiverId(1), &ReceiverOptions::default(), Duration::ZERO)?;
/// let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60))?;
/// let mut scene: BTreeMap<EntityId, u8> = BTreeMap::new();
/// for tick in 1..=60u32 {
///     let now = Duration::from_secs(1) * tick / 60;
/// #   while let Some(datagram) = receiver.poll_transmit(now) {
/// #       hub.handle(ReceiverId(1), now, datagram)?;
/// #   }
/// #   let mut world = Snapshot::new(&schema, Tick(tick));
/// #   world.push(EntityId(1), &Unit { health: 100 })?;
/// #   if tick > 20 {
/// #       world.push(EntityId(2), &Unit { health: 50 })?;
/// #   }
/// #   hub.tick(now, &world)?;
/// #   while let Some((_, datagram)) = hub.poll_transmit() {
/// #       receiver.handle(now, datagram)?;
/// #   }
///     // Each frame: spawn and despawn, then update everything that is shown.
///     let Some(playback) = receiver.playback(now) else { continue };
///     for id in playback.added() {
///         scene.insert(*id, 0);
///     }
///     for id in playback.removed() {
///         scene.remove(id);
///     }
///     for sample in playback.samples() {
///         let unit: Unit = sample.state()?;
///         *scene.get_mut(&sample.id).ok_or("not added")? = unit.health;
///     }
/// }
/// assert_eq!(scene, BTreeMap::from([(EntityId(1), 100), (EntityId(2), 50)]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Playback<'a> {
    /// The moment, as a tick with its fraction. The tick never goes backwards, except that it may
    /// jump after a long loss of the stream. It is at most that of the newest state, unless a kind
    /// is [extrapolated](crate::Extrapolation).
    pub tick: f64,
    point: PlayoutPoint<'a>,
    spawns: &'a Spawns,
    events: &'a [Played],
}

/// One entity at a moment of playback. [`Playback`] has an example.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The entity.
    pub id: EntityId,
    /// The state before the moment, and the entity's index in it.
    pub from: (&'a Snapshot, usize),
    /// The state after the moment, and the entity's index in it. If no later state is known, it is
    /// the newest one. It then equals `from`, unless the entity is
    /// [extrapolated](crate::Extrapolation::Straight) from the two.
    pub to: (&'a Snapshot, usize),
    /// How far the moment is between the two states, and the time from one to the other. The ratio
    /// is above 1 if the entity is extrapolated. At a
    /// [cut](kinepack::schema::Role::Cut), and if the [frame](kinepack::frame) changes, the ratio is
    /// 0 until the second state's time, so that nothing blends.
    pub between: Between,
    /// Whether a [cut](kinepack::schema::Role::Cut) is between the two states, such as a teleport.
    pub is_cut: bool,
    /// How far the moment is between the two states in the world, also if the frame changes.
    pub(super) in_world: Between,
    /// `None` if a later state is known.
    pub(super) starved: Option<Starved>,
}

/// How an entity waits for its next state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Starved {
    /// The tick of its newest state.
    pub(crate) since: f64,
    /// For how long it has waited.
    pub(crate) passed_s: f64,
}

impl<'a> Sample<'a> {
    /// The entity's state at the moment, interpolated by its schema. Fields that are relative to a
    /// [frame](kinepack::frame) remain so: [`Playback::in_world`] returns world coordinates.
    ///
    /// # Errors
    /// Returns [`EncodeError::TypeMismatch`] for a type of another schema, and
    /// [`EncodeError::AnotherKind`] for the type of another kind.
    pub fn state<T: Pack>(&self) -> Result<T, EncodeError> {
        let (from, index) = self.from;
        let (to, to_index) = self.to;
        from.interpolate_at_index(index, to, to_index, self.between)
    }

    /// How long ago the entity's newest known state was, if no later one is known and playback
    /// needs it. The time counts as far as playback runs on: by
    /// [`Extrapolation`](crate::Extrapolation), or because other entities have newer states.
    ///
    /// Zero if a later state is known. An entity at rest also has no later state, so the time is
    /// long for entities that snapshots leave out because nothing changed.
    pub fn starved_for(&self) -> Duration {
        let passed_s = self.starved.map_or(0.0, |starved| starved.passed_s);
        Duration::try_from_secs_f64(passed_s).unwrap_or_default()
    }

    pub(crate) fn moment(&self) -> Moment<'a> {
        Moment { from: self.from, to: self.to, at: self.in_world }
    }
}

/// How far away a moment is from which a velocity follows.
const NEARBY_TICKS: f64 = 0.25;

impl<'a> Playback<'a> {
    pub(super) fn new(point: PlayoutPoint<'a>, spawns: &'a Spawns, events: &'a [Played]) -> Self {
        Self { tick: point.tick(), point, spawns, events }
    }

    /// Whether playback needed a newer state that had not arrived. In that case, the newest state
    /// is shown, or continued: see [`Extrapolation`](crate::Extrapolation).
    pub fn is_starved(&self) -> bool {
        self.point.is_starved()
    }

    /// The entities in the order of their ids, kind by kind if the schema has several kinds. An
    /// added entity is shown from its first state on, and a removed entity until its last.
    ///
    /// Cost: constant for each entity; after partial snapshots, also a search of the buffered
    /// states.
    pub fn samples(&self) -> impl Iterator<Item = Sample<'a>> + use<'_, 'a> {
        let entities = self.point.state().entities();
        entities.enumerate().map(|(index, (kind, id))| self.point.sample(index, kind, id))
    }

    /// The samples of the kind of entities that type `T` describes.
    ///
    /// # Errors
    /// Returns [`EncodeError::TypeMismatch`] if the type describes no kind.
    pub fn samples_of<T: Pack>(
        &self,
    ) -> Result<impl Iterator<Item = Sample<'a>> + use<'_, 'a, T>, EncodeError> {
        let kind = self.point.state().kind_of_type::<T>()?;
        Ok(self.samples_of_kind(kind))
    }

    /// The samples of a kind of entities, for kinds that no type describes. `kind` is the index of
    /// the kind in the schema. There are no samples if the schema has no such kind.
    pub fn samples_of_kind(&self, kind: usize) -> impl Iterator<Item = Sample<'a>> + use<'_, 'a> {
        self.point.samples_of_kind(kind)
    }

    /// The state of a sample in world coordinates. Fields that are relative to another entity, the
    /// [frame](kinepack::frame), follow that entity as it is shown at this moment. So a passenger
    /// stands still on a ship, even if one of the two is late. If the frame changes, the entity moves
    /// from the one place in the world to the other. Without frames, this is [`Sample::state`].
    ///
    /// Cost: that of the state, and for each frame up to the world a search and some hundred
    /// nanoseconds.
    ///
    /// # Errors
    /// Returns [`FrameError`]: most often [`FrameError::UnknownFrame`], as long as the frame has not
    /// arrived. Show nothing then.
    pub fn in_world<T: Pack>(&self, sample: &Sample<'a>) -> Result<T, FrameError> {
        sample.moment().in_world(|id| self.moment(id))
    }

    /// Like [`in_world`](Self::in_world), for a type that describes some of the entity's fields only.
    /// `state` returns the state at a moment, with fields that are relative to the frame.
    ///
    /// # Errors
    /// Returns [`FrameError`], as [`in_world`](Self::in_world) does.
    pub fn in_world_with<T: Pack>(
        &self,
        sample: &Sample<'a>,
        state: impl FnMut(&Moment<'a>) -> Result<T, EncodeError>,
    ) -> Result<T, FrameError> {
        sample.moment().in_world_with(state, |id| self.moment(id))
    }

    /// Where a sample's entity is in the world, and how it moves. The entity's kind must have a
    /// position: see [`frame`](kinepack::frame). For a camera in a vehicle, or hands of a body.
    ///
    /// # Errors
    /// Returns [`FrameError`], as [`in_world`](Self::in_world) does.
    pub fn motion(&self, sample: &Sample<'a>) -> Result<Motion, FrameError> {
        sample.moment().motion(|id| self.moment(id))
    }

    fn moment(&self, id: EntityId) -> Option<Moment<'a>> {
        Some(self.sample(id)?.moment())
    }

    fn sample(&self, id: EntityId) -> Option<Sample<'a>> {
        let state = self.point.state();
        let index = state.position(id)?;
        Some(self.point.sample(index, state.kind_at(index)?, id))
    }

    /// A moment nearby, between the same states if possible, with the entity's sample and the time
    /// from there to this moment in seconds.
    pub(super) fn nearby(&self, id: EntityId) -> Option<(Self, Sample<'a>, f64)> {
        let begins = self.tick - NEARBY_TICKS >= self.point.state().tick.0.into();
        let ticks = if begins { -NEARBY_TICKS } else { NEARBY_TICKS };
        let point = self.point.later_by(ticks);
        let nearby = Self { tick: point.tick(), point, ..*self };
        let sample = nearby.sample(id)?;
        Some((nearby, sample, -ticks / self.point.tick_hz()))
    }

    /// The entities in [`samples`](Self::samples) that the previous playback call did not have, by
    /// id. In the first call these are all entities.
    ///
    /// This list and [`removed`](Self::removed) are the exact difference of two calls, whatever the
    /// network lost in between. So an entity is never added twice without a removal in between, or
    /// removed twice without an addition in between. An entity that was removed and added again
    /// between two calls is in neither list. Neither list contains a new entity with the id, the
    /// kind and the spawn fields of an entity that was shown until now. Therefore, do not reuse an
    /// id while receivers may still show the entity that had it. If the kind or a spawn field
    /// differs, the id is in both lists.
    pub fn added(&self) -> &'a [EntityId] {
        self.spawns.added()
    }

    /// The entities of the previous playback call that are no longer in [`samples`](Self::samples),
    /// by id.
    pub fn removed(&self) -> &'a [EntityId] {
        self.spawns.removed()
    }

    /// The entities that jumped since the previous playback call, in the order of
    /// [`samples`](Self::samples). Reset what follows an entity's motion when it is in this list,
    /// for example trails, the smoothing of a camera, or the Doppler effect of a sound.
    ///
    /// An entity jumps if one of its [cut](kinepack::schema::Role::Cut) fields is shown with another
    /// value than in the previous call. So each jump is in one call's list: the first one that shows
    /// the entity after the jump, whatever the network lost in between. Several jumps between two
    /// calls count once. A flag that changes twice between two calls looks unchanged, so a counter
    /// is safer. Entities in [`added`](Self::added) are never in the list.
    ///
    /// In contrast, [`Sample::is_cut`] is true in all calls before a jump that has arrived already.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};
    /// use kinepack_net::FramePlayer;
    ///
    /// #[derive(Pack)]
    /// struct Player {
    ///     #[pack(range = -256.0..256.0, precision = 0.01)]
    ///     position: [f32; 3],
    ///     #[pack(cut)]
    ///     jumps: u8,
    /// }
    ///
    /// let state = |tick, position, jumps| -> Result<_, Box<dyn std::error::Error>> {
    ///     let mut state = Snapshot::new(&Schema::of::<Player>(), Tick(tick));
    ///     state.push(EntityId(1), &Player { position, jumps })?;
    ///     Ok(Arc::new(state))
    /// };
    /// let (from, to) = (state(60, [0.0; 3], 0)?, state(62, [200.0, 0.0, 0.0], 1)?);
    /// let mut player = FramePlayer::new(60.0);
    /// for (tick, cut) in [(60.0, 0), (61.0, 0), (62.0, 1), (62.0, 0)] {
    ///     assert_eq!(player.show(tick, &from, &to, []).cut().len(), cut);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cut(&self) -> &'a [EntityId] {
        self.spawns.cut()
    }

    /// The events after the moment of the previous playback call, up to this moment, in order. Only
    /// one call returns an event, so handle the events of every call.
    ///
    /// If an event arrived after playback had passed its tick, the next call returns it, marked as
    /// [late](Event::late).
    ///
    /// ```
    /// use std::time::Duration;
    /// use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
    /// use kinepack_net::{
    ///     Audience, EventKinds, Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId,
    ///     ReceiverOptions,
    /// };
    ///
    /// #[derive(Pack)]
    /// struct Unit {
    ///     #[pack(max = 100)]
    ///     health: u8,
    /// }
    ///
    /// #[derive(Pack)]
    /// struct Hit {
    ///     #[pack(max = 100)]
    ///     damage: u8,
    /// }
    ///
    /// let of_hits = Schema::builder().kind::<Hit>("hit").build()?;
    /// let events = EventKinds::new(&Codec::new(
    ///     of_hits.clone(),
    ///     Level::PACKED,
    ///     Profile::untrained(&of_hits),
    /// )?);
    /// let schema = Schema::of::<Unit>();
    /// let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
    /// let mut hub = Hub::new(&codec, HubConfig::default())?.with_events(&events);
    /// let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60))?.with_events(&events);
    /// # hub.add(ReceiverId(1), &ReceiverOptions::default(), Duration::ZERO)?;
    /// let mut heard = Vec::new();
    /// for tick in 1..=60u32 {
    ///     let now = Duration::from_secs(1) * tick / 60;
    /// #   while let Some(datagram) = receiver.poll_transmit(now) {
    /// #       hub.handle(ReceiverId(1), now, datagram)?;
    /// #   }
    ///     if tick == 20 {
    ///         hub.emit(&Hit { damage: 30 }, Audience::All)?;
    ///     }
    /// #   let mut world = Snapshot::new(&schema, Tick(tick));
    /// #   world.push(EntityId(1), &Unit { health: if tick < 20 { 100 } else { 70 } })?;
    ///     hub.tick(now, &world)?;
    /// #   while let Some((_, datagram)) = hub.poll_transmit() {
    /// #       receiver.handle(now, datagram)?;
    /// #   }
    ///     let Some(playback) = receiver.playback(now) else { continue };
    ///     for event in playback.events() {
    ///         if let Some(hit) = event.get::<Hit>()? {
    ///             heard.push((event.tick, hit.damage));
    ///             assert!(playback.tick >= 20.0 && !event.late);
    ///         }
    ///     }
    /// }
    /// assert_eq!(heard, [(Tick(20), 30)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn events(&self) -> impl Iterator<Item = Event<'a>> + use<'a> {
        self.events.iter().map(Played::event)
    }
}
