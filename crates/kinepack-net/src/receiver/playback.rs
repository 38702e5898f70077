//! Selects the two states of each entity around the playout point, and computes how far the point
//! is between them. The schema interpolates.

use kinepack::frame::{FrameError, Moment, Motion};
use kinepack::{Between, EncodeError, EntityId, Pack, Snapshot};

use super::shown::Shown;
use super::spawns::Spawns;
use crate::events::{Event, Played};
use crate::playout::{Entry, Playout};

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
    /// jump after a long loss of the stream.
    pub tick: f64,
    playout: Playout<'a, Shown>,
    tick_hz: f64,
    longest_blend_ticks: f64,
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
    /// The state after the moment, and the entity's index in it. Equals `from` if no later state is
    /// known.
    pub to: (&'a Snapshot, usize),
    /// How far the moment is between the two states, and the time from one to the other. At a
    /// [cut](kinepack::schema::Role::Cut), and if the [frame](kinepack::frame) changes, the ratio is
    /// 0 until the second state's time, so that nothing blends.
    pub between: Between,
    /// Whether a [cut](kinepack::schema::Role::Cut) is between the two states, such as a teleport.
    pub is_cut: bool,
    /// How far the moment is between the two states in the world, also if the frame changes.
    in_world: Between,
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

    fn moment(&self) -> Moment<'a> {
        Moment { from: self.from, to: self.to, at: self.in_world }
    }
}

impl<'a> Playback<'a> {
    pub(super) fn new(
        playout: Playout<'a, Shown>,
        tick_hz: f64,
        longest_blend_ticks: f64,
        spawns: &'a Spawns,
        events: &'a [Played],
    ) -> Self {
        Self { tick: playout.tick, playout, tick_hz, longest_blend_ticks, spawns, events }
    }

    /// Whether playback needed a newer state that had not arrived. In that case, the newest state
    /// is shown.
    pub fn is_starved(&self) -> bool {
        self.playout.starved
    }

    /// The entities in the order of their ids, kind by kind if the schema has several kinds. An
    /// added entity is shown from its first state on, and a removed entity until its last.
    ///
    /// Cost: constant for each entity; after partial snapshots, also a search of the buffered
    /// states.
    pub fn samples(&self) -> impl Iterator<Item = Sample<'a>> + use<'_, 'a> {
        let entities = self.playout.from.state.state.entities();
        entities.enumerate().map(|(index, (kind, id))| self.sample(index, kind, id))
    }

    /// The samples of the kind of entities that type `T` describes.
    ///
    /// # Errors
    /// Returns [`EncodeError::TypeMismatch`] if the type describes no kind.
    pub fn samples_of<T: Pack>(
        &self,
    ) -> Result<impl Iterator<Item = Sample<'a>> + use<'_, 'a, T>, EncodeError> {
        let kind = self.playout.from.state.state.kind_of_type::<T>()?;
        Ok(self.samples_of_kind(kind))
    }

    /// The samples of a kind of entities, for kinds that no type describes. `kind` is the index of
    /// the kind in the schema. There are no samples if the schema has no such kind.
    pub fn samples_of_kind(&self, kind: usize) -> impl Iterator<Item = Sample<'a>> + use<'_, 'a> {
        let state = &self.playout.from.state.state;
        let range = state.of_kind(kind);
        let ids = &state.ids()[range.clone()];
        range.zip(ids).map(move |(index, id)| self.sample(index, kind, *id))
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
        let state = &self.playout.from.state.state;
        let index = state.position(id)?;
        Some(self.sample(index, state.kind_at(index)?, id).moment())
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

    fn sample(&self, index: usize, kind: usize, id: EntityId) -> Sample<'a> {
        let Self { playout, .. } = self;
        let shown = &playout.from.state;
        let since = f64::from(shown.fresh(index).0);
        let held = (&*shown.state, index);
        let spawn = shown.state.spawn_hash(index);
        let look = |entry: &'a Entry<Shown>| {
            let at = place(&entry.state, kind, id, index)?;
            // In a later state, another entity may have this id.
            if entry.state.state.spawn_hash(at) != spawn {
                return None;
            }
            let fresh = f64::from(entry.state.fresh(at).0);
            // A complete state always has the entity's next value, so the search ends there.
            (fresh > since || entry.state.is_complete()).then_some((entry, at, fresh))
        };
        // Most entities are in the next state.
        let next = look(playout.to).or_else(|| playout.later().find_map(look));
        let Some((entry, at, until)) = next.filter(|(.., until)| *until > since) else {
            let between = Between { ratio: 0.0, seconds: 0.0 };
            return Sample { id, from: held, to: held, between, is_cut: false, in_world: between };
        };
        let unchanged_until =
            if entry.state.is_complete() { f64::from(entry.unchanged_until.0) } else { 0.0 };
        let begin = since.max(until - self.longest_blend_ticks).max(unchanged_until);
        let (passed, span) = (playout.tick - begin, until - begin);
        let ratio = if span > 0.0 { (passed / span).clamp(0.0, 1.0) } else { 1.0 };
        let steps = Between {
            ratio: if ratio < 1.0 { 0.0 } else { 1.0 },
            seconds: (span / self.tick_hz) as f32,
        };
        let blends = Between { ratio: ratio as f32, ..steps };
        let state = &*entry.state.state;
        let is_cut = state.is_cut_since(at, held.0, index);
        let is_broken = state.is_broken_since(at, held.0, index);
        Sample {
            id,
            from: held,
            to: (state, at),
            between: if is_broken { steps } else { blends },
            is_cut,
            in_world: if is_cut { steps } else { blends },
        }
    }
}

/// The index of an entity. Tries `guess` first, because the index is usually the same as in the
/// previous state.
fn place(shown: &Shown, kind: usize, id: EntityId, guess: usize) -> Option<usize> {
    let state = &shown.state;
    let is_there = state.ids().get(guess) == Some(&id) && state.kind_at(guess) == Some(kind);
    if is_there { Some(guess) } else { state.position_of(kind, id) }
}
