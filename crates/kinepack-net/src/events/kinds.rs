//! The kinds of events that both sides agree on, and an event as the hub keeps it.

use std::sync::Arc;

use kinepack::{Codec, EncodeError, EntityId, Pack, Snapshot, Tick};

/// The kinds of events of a connection. Holds a codec, whose schema has one kind for each kind of
/// event, and the kinds of events that the hub may drop. Both sides need the same codec, but only
/// the hub's settings decide which events are dropped. A clone is cheap.
///
/// ```
/// use kinepack::{Codec, Level, Pack, Profile, Schema};
/// use kinepack_net::EventKinds;
///
/// #[derive(Pack)]
/// struct Explosion {
///     #[pack(range = -100.0..100.0, precision = 0.1)]
///     position: [f32; 3],
/// }
///
/// #[derive(Pack)]
/// struct Step {
///     #[pack(max = 63)]
///     player: u8,
/// }
///
/// let schema = Schema::builder().kind::<Explosion>("explosion").kind::<Step>("step").build()?;
/// let codec = Codec::new(schema.clone(), Level::ADAPTIVE, Profile::untrained(&schema))?;
/// // The sound of a step is of no use after a fifth of a second; an explosion always arrives.
/// let events = EventKinds::new(&codec).droppable::<Step>(12)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct EventKinds {
    codec: Codec,
    /// For each kind, how many ticks an event may wait before it is dropped. `None` if the events
    /// of this kind must arrive.
    longest_ticks: Arc<[Option<u32>]>,
}

/// An event that the hub keeps once for all its receivers.
#[derive(Debug)]
pub(crate) struct Emitted {
    /// A key that is unique among the events of a hub.
    pub(crate) key: u64,
    pub(crate) tick: Tick,
    pub(crate) kind: usize,
    pub(crate) lanes: Box<[u32]>,
    /// The last tick in which a datagram may carry the event; `None` if the event must arrive.
    pub(crate) last_tick: Option<Tick>,
}

impl EventKinds {
    /// Uses the kinds of the codec's schema. At first, the events of all kinds must arrive.
    ///
    /// Each list of events is coded without a baseline. So [`Level::LEARNING`](kinepack::Level)
    /// saves no bytes compared to `ADAPTIVE`. A trained profile saves the most.
    pub fn new(codec: &Codec) -> Self {
        let longest_ticks = codec.schema().kinds().iter().map(|_| None).collect();
        Self { codec: codec.clone(), longest_ticks }
    }

    /// Lets the hub drop an event of type `T` if it has not arrived `longest_ticks` after its tick.
    /// With 0, such an event is sent only in its own tick.
    ///
    /// # Errors
    /// Returns [`EncodeError::TypeMismatch`] if the type describes no kind.
    pub fn droppable<T: Pack>(self, longest_ticks: u32) -> Result<Self, EncodeError> {
        let kind = Snapshot::new(self.codec.schema(), Tick(0)).kind_of_type::<T>()?;
        self.droppable_kind(kind, longest_ticks)
    }

    /// Like [`droppable`](Self::droppable), but for the kind with this index.
    ///
    /// # Errors
    /// Returns [`EncodeError::NoSuchKind`] if the schema has no such kind.
    pub fn droppable_kind(mut self, kind: usize, longest_ticks: u32) -> Result<Self, EncodeError> {
        let kinds = self.longest_ticks.len();
        let Some(longest) = Arc::make_mut(&mut self.longest_ticks).get_mut(kind) else {
            return Err(EncodeError::NoSuchKind { kind, kinds });
        };
        *longest = Some(longest_ticks);
        Ok(self)
    }

    /// The codec of the events.
    pub fn codec(&self) -> &Codec {
        &self.codec
    }

    /// Returns the kind and the lanes of an event, for programs that store events. Replaces the
    /// contents of `scratch`, a snapshot of the kinds' schema.
    ///
    /// # Errors
    /// Returns the errors of [`Snapshot::push`].
    pub fn quantize<T: Pack>(
        &self,
        event: &T,
        scratch: &mut Snapshot,
    ) -> Result<(usize, Box<[u32]>), EncodeError> {
        scratch.clear(Tick(0));
        scratch.push(EntityId(0), event)?;
        self.row(scratch, 0)
    }

    /// Returns the kind and the lanes of the event in row `index` of `rows`, a snapshot of the
    /// kinds' schema. Programs without Rust types can use this to quantize events as they quantize
    /// states.
    ///
    /// # Errors
    /// Returns [`EncodeError::SchemaMismatch`] for a snapshot of another schema, and
    /// [`EncodeError::IndexOutOfRange`] if `rows` has no such row.
    pub fn row(&self, rows: &Snapshot, index: usize) -> Result<(usize, Box<[u32]>), EncodeError> {
        let [expected_hash, hash] = [self.codec.schema().hash(), rows.schema_hash()];
        if hash != expected_hash {
            return Err(EncodeError::SchemaMismatch { expected_hash, hash });
        }
        let beyond = EncodeError::IndexOutOfRange { index, entities: rows.ids().len() };
        let kind = rows.kind_at(index).ok_or(beyond)?;
        Ok((kind, rows.lanes_at(index).collect()))
    }

    /// The last tick in which a datagram may carry an event of `kind` that happens at `tick`.
    pub(crate) fn last_tick(&self, kind: usize, tick: Tick) -> Option<Tick> {
        let longest_ticks = self.longest_ticks.get(kind).copied().flatten();
        longest_ticks.map(|ticks| Tick(tick.0.saturating_add(ticks)))
    }
}
