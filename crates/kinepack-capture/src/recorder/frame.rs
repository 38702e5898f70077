//! Records the frame of a stream of several kinds, to which a game pushes entity by entity.

use kinepack::{EncodeError, EntityId, Pack, Schema, Snapshot, Tick};

use super::{Handle, RecordError, Recorder, Refusal};
use crate::file::columns::{MAX_ENTITIES, MAX_WORDS, shared_id};

/// A frame that is being recorded, made by [`Recorder::frame`].
///
/// ```
/// use kinepack::{EntityId, Pack, Schema, Tick};
/// use kinepack_capture::{RecordError, Recorder};
///
/// #[derive(Pack)]
/// struct Door {
///     open: bool,
/// }
///
/// #[derive(Pack)]
/// struct Lamp {
///     lit: bool,
/// }
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("run.mcap");
/// let schema = Schema::builder().kind::<Door>("door").kind::<Lamp>("lamp").build()?;
/// let mut recorder = Recorder::create(&path)?;
/// let world = recorder.stream_of_kinds("world", &schema, 60.0)?;
/// // Kinds may come in any order: the type of a state determines its kind.
/// let mut frame = recorder.frame(&world, Tick(0))?;
/// frame.push(EntityId(4), &Lamp { lit: true })?;
/// frame.push(EntityId(3), &Door { open: false })?;
/// frame.push(EntityId(9), &Lamp { lit: false })?;
/// frame.finish()?;
///
/// // All kinds share one range of ids.
/// let mut frame = recorder.frame(&world, Tick(1))?;
/// frame.push(EntityId(4), &Lamp { lit: true })?;
/// frame.push(EntityId(4), &Door { open: false })?;
/// assert!(matches!(frame.finish(), Err(RecordError::SharedId { id: 4, .. })));
/// assert_eq!(recorder.finish()?.frames, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "call `finish`, or the frame is not recorded"]
pub struct RecordedFrame<'a> {
    recorder: &'a mut Recorder,
    handle: Handle,
    tick: Tick,
}

impl<'a> RecordedFrame<'a> {
    pub(super) fn new(recorder: &'a mut Recorder, handle: Handle, tick: Tick) -> Self {
        Self { recorder, handle, tick }
    }

    /// Adds an entity. The entity's type determines its kind, as in
    /// [`Snapshot::push`](kinepack::Snapshot::push). Within each kind, the ids must increase.
    ///
    /// The call copies the numbers of the state. It does not allocate if a frame of this size was
    /// recorded before.
    ///
    /// # Errors
    /// [`RecordError::IdsNotIncreasing`] if `id` is not above the last id of the kind,
    /// [`RecordError::TooManyEntities`], and [`RecordError::BadState`] if no kind of the schema has
    /// the type. After an error, the frame does not have this entity.
    pub fn push<T: Pack>(&mut self, id: EntityId, state: &T) -> Result<(), RecordError> {
        let Self { recorder, handle, tick } = self;
        let stream = &mut recorder.streams[handle.stream];
        let pushed = stream.kinds.push(id, state);
        pushed.map_err(|(refusal, most)| refusal.into_error(&stream.name, *tick, most))
    }

    /// Records the frame. The call waits if the disk is far behind.
    ///
    /// # Errors
    /// [`RecordError::SharedId`] if entities of two kinds have the same id, and
    /// [`RecordError::SpawnChanged`] if a spawn field changed since the previous frame.
    /// [`RecordError::Write`] if the file cannot be written, or could not be written before. No
    /// part of a refused frame is recorded.
    pub fn finish(self) -> Result<(), RecordError> {
        self.recorder.record_pushed(self.handle, self.tick)
    }
}

/// The entities that were pushed to a stream of kinds.
#[derive(Default)]
pub(super) struct Kinds {
    list: Vec<Kind>,
    /// A snapshot without entities, which finds the kind of a type.
    empty: Option<Snapshot>,
    entities: usize,
    /// The number of words, without ids.
    words: usize,
}

#[derive(Default)]
struct Kind {
    /// The number of columns of an entity, including its id.
    columns: usize,
    last: Option<EntityId>,
    /// The words of the entities, row by row.
    rows: Vec<u64>,
}

impl Kinds {
    pub(super) fn new(schema: &Schema) -> Self {
        let columns = || schema.kinds().iter().map(|kind| kind.lanes().len() + 1);
        Self {
            list: columns().map(|columns| Kind { columns, ..Kind::default() }).collect(),
            empty: Some(Snapshot::new(schema, Tick(0))),
            ..Self::default()
        }
    }

    /// Removes all entities. The memory is kept for the next frame.
    pub(super) fn clear(&mut self) {
        for kind in &mut self.list {
            kind.rows.clear();
            kind.last = None;
        }
        (self.entities, self.words) = (0, 0);
    }

    /// Adds an entity. A refusal is returned with the number of entities in the frame.
    fn push<T: Pack>(&mut self, id: EntityId, state: &T) -> Result<(), (Refusal, usize)> {
        let failed = |error| (Refusal::State(id, error), 0);
        let kind = self.kind_of::<T>().map_err(failed)?;
        let Kind { columns, last, rows } = &mut self.list[kind];
        if last.is_some_and(|last| last >= id) {
            return Err((Refusal::Id(id), 0));
        }
        let words = self.words + *columns - 1;
        if self.entities == MAX_ENTITIES || words > MAX_WORDS {
            return Err((Refusal::TooMany, self.entities));
        }
        let begin = rows.len();
        rows.resize(begin + *columns, 0);
        rows[begin] = id.0.into();
        if let Err(error) = state.store_raw(&mut rows[begin + 1..]) {
            rows.truncate(begin);
            return Err(failed(error));
        }
        *last = Some(id);
        (self.entities, self.words) = (self.entities + 1, words);
        Ok(())
    }

    fn kind_of<T: Pack>(&self) -> Result<usize, EncodeError> {
        let none = EncodeError::NoSuchKind { kind: 0, kinds: 0 };
        self.empty.as_ref().ok_or(none)?.kind_of_type::<T>()
    }

    /// Returns an id that occurs twice, if there is one.
    pub(super) fn shared_id(&self, sorted: &mut Vec<EntityId>) -> Option<EntityId> {
        if let [_] = self.list[..] {
            return None;
        }
        let rows = self.list.iter().flat_map(|kind| kind.rows.iter().step_by(kind.columns));
        shared_id(rows.map(|id| EntityId(*id as u32)), sorted)
    }

    /// Copies the entities' rows to the front of `words`, which never shrinks. If there are several
    /// kinds, the number of entities of each kind precedes the rows. Returns the number of
    /// entities, and the number of copied words.
    pub(super) fn copy_to(&self, words: &mut Vec<u64>) -> (usize, usize) {
        let counts = if let [_] = self.list[..] { 0 } else { self.list.len() };
        let used = counts + self.words + self.entities;
        if words.len() < used {
            words.resize(2 * used, 0);
        }
        for (count, kind) in words[..counts].iter_mut().zip(&self.list) {
            *count = (kind.rows.len() / kind.columns) as u64;
        }
        let mut at = counts;
        for Kind { rows, .. } in &self.list {
            words[at..at + rows.len()].copy_from_slice(rows);
            at += rows.len();
        }
        (self.entities, used)
    }
}
