//! The output of a receiver, a viewer or a replay: entities by kind, and the events that are due.

use std::sync::Mutex;

use kinepack::{EntityId, Schema};
use kinepack_net::{Event, EventKinds, Playback};

use crate::KpStatus;
use crate::columns::{KpTarget, write_rows};
use crate::handles::{Handles, lock};
use crate::memory::{give_list, slice};
use crate::schema::one_of;
use crate::status::{Failure, call};

/// The moment that is shown.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpPlayback {
    /// The tick that is shown, with its fraction.
    pub tick: f64,
    /// Not 0: no newer state had arrived when it was needed.
    pub is_starved: i32,
}

/// An event that is due.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpEvent {
    /// The tick at which it happened.
    pub tick: u32,
    /// The index of its kind among the kinds of the events' schema.
    pub kind: u32,
    /// Not 0: the event's tick was already shown at an earlier moment.
    pub is_late: i32,
}

/// Which entity ids a function writes.
#[derive(Clone, Copy)]
pub(crate) enum Which {
    /// All entities that are shown.
    Shown,
    /// Entities that the previous moment did not show.
    Added,
    /// Entities that the previous moment showed and this one does not.
    Removed,
}

/// The state that the caller reads after each moment of playback.
#[derive(Debug)]
pub(crate) struct Showing {
    kinds: Vec<Rows>,
    added: Vec<u32>,
    removed: Vec<u32>,
    /// The schema of each kind of events.
    event_kinds: Vec<Schema>,
    events: Vec<(KpEvent, Vec<u64>)>,
    /// How many events the caller has taken.
    taken: usize,
}

/// The entities of a kind.
#[derive(Debug)]
struct Rows {
    /// The schema of this kind only.
    schema: Schema,
    ids: Vec<u32>,
    /// The raw words of each entity.
    words: Vec<u64>,
}

impl Showing {
    pub(crate) fn new(schema: &Schema, events: Option<&EventKinds>) -> Self {
        let empty = |schema| Rows { schema, ids: Vec::new(), words: Vec::new() };
        Self {
            kinds: kinds_of(schema).map(empty).collect(),
            added: Vec::new(),
            removed: Vec::new(),
            event_kinds: events
                .map_or_else(Vec::new, |kinds| kinds_of(kinds.codec().schema()).collect()),
            events: Vec::new(),
            taken: 0,
        }
    }

    /// Stores what a playback shows. Drops the events of the previous moment.
    pub(crate) fn show(&mut self, playback: &Playback<'_>) -> Result<KpPlayback, Failure> {
        for of_kind in &mut self.kinds {
            of_kind.ids.clear();
            of_kind.words.clear();
        }
        let [mut from, mut to] = [Vec::new(), Vec::new()];
        for sample in playback.samples() {
            let (state, index) = sample.from;
            let of_kind = &mut self.kinds[state.kind_at(index).unwrap_or(0)];
            for (lanes, (state, index)) in [(&mut from, sample.from), (&mut to, sample.to)] {
                lanes.clear();
                lanes.extend(state.lanes_at(index));
            }
            let begin = of_kind.words.len();
            of_kind.words.resize(begin + from.len(), 0);
            let words = &mut of_kind.words[begin..];
            let interpolated = of_kind.schema.interpolate_raw(&from, &to, sample.between, words);
            interpolated.map_err(Failure::argument)?;
            of_kind.ids.push(sample.id.0);
        }
        let numbers = |ids: &[EntityId]| ids.iter().map(|id| id.0).collect();
        self.added = numbers(playback.added());
        self.removed = numbers(playback.removed());
        self.set_events(playback.events())?;
        Ok(KpPlayback { tick: playback.tick, is_starved: playback.is_starved().into() })
    }

    /// Replaces the due events by these.
    pub(crate) fn set_events<'a>(
        &mut self,
        events: impl Iterator<Item = Event<'a>>,
    ) -> Result<(), Failure> {
        self.events.clear();
        self.taken = 0;
        for event in events {
            let due = self.due(&event)?;
            self.events.push(due);
        }
        Ok(())
    }

    fn due(&self, event: &Event<'_>) -> Result<(KpEvent, Vec<u64>), Failure> {
        let kind = event.kind() as u32;
        let (rows, index) = event.state();
        let lanes: Vec<u32> = rows.lanes_at(index).collect();
        let mut words = vec![0; lanes.len()];
        let of_kind = one_of(&self.event_kinds, kind)?;
        of_kind.reconstruct_raw(&lanes, &mut words).map_err(Failure::argument)?;
        Ok((KpEvent { tick: event.tick.0, kind, is_late: event.late.into() }, words))
    }

    /// Writes ids, in increasing order. `kind` matters only for [`Which::Shown`].
    ///
    /// # Safety
    /// As for [`give_list`].
    pub(crate) unsafe fn write_ids(
        &self,
        which: Which,
        kind: u32,
        ids: *mut u32,
        capacity: usize,
        count: *mut usize,
    ) -> Result<(), Failure> {
        let from = match which {
            Which::Shown => &one_of(&self.kinds, kind)?.ids,
            Which::Added => &self.added,
            Which::Removed => &self.removed,
        };
        // SAFETY: guaranteed by the caller of this function, under its own safety contract.
        unsafe { give_list(from.iter().copied(), ids, capacity, count) }
    }

    /// Writes the numbers of a kind's entities.
    ///
    /// # Safety
    /// As for [`write_rows`].
    pub(crate) unsafe fn write(
        &self,
        kind: u32,
        capacity: usize,
        targets: &[KpTarget],
    ) -> Result<(), Failure> {
        let Rows { schema, ids, words } = one_of(&self.kinds, kind)?;
        let read = |row: usize, to: &mut [u64]| {
            let lanes = to.len();
            to.copy_from_slice(&words[row * lanes..][..lanes]);
            Ok(())
        };
        // SAFETY: guaranteed by the caller of this function, under its own safety contract.
        unsafe { write_rows(schema.fields(), targets, ids.len(), capacity, read) }
    }

    /// Takes the next due event.
    pub(crate) fn next_event(&mut self) -> Result<KpEvent, Failure> {
        let Some((event, _)) = self.events.get(self.taken) else {
            return Err(Failure::nothing("no further event is due"));
        };
        self.taken += 1;
        Ok(*event)
    }

    /// Writes the numbers of the event taken last. It must be of this kind, because the caller's
    /// memory is laid out for it.
    ///
    /// # Safety
    /// As for [`write_rows`], with room for one event.
    pub(crate) unsafe fn write_event(
        &self,
        kind: u32,
        targets: &[KpTarget],
    ) -> Result<(), Failure> {
        let last = self.taken.checked_sub(1).and_then(|last| self.events.get(last));
        let (event, words) = last.ok_or_else(|| Failure::nothing("no event was taken"))?;
        if event.kind != kind {
            return Err(Failure::argument(format!("the event is of kind {}", event.kind)));
        }
        let fields = one_of(&self.event_kinds, kind)?.fields();
        let read = |_: usize, to: &mut [u64]| {
            to.copy_from_slice(words);
            Ok(())
        };
        // SAFETY: guaranteed by the caller of this function, under its own safety contract.
        unsafe { write_rows(fields, targets, 1, 1, read) }
    }
}

/// The schema of each kind of a schema.
fn kinds_of(schema: &Schema) -> impl Iterator<Item = Schema> {
    (0..schema.kinds().len()).map(|kind| schema.of_kind(kind))
}

/// The objects that show entities: receivers, viewers and replays.
pub(crate) trait Shows {
    fn showing(&self) -> &Showing;
}

/// Writes ids of the entities that a handle shows.
///
/// # Safety
/// As for [`Showing::write_ids`].
pub(crate) unsafe fn write_ids<T: Shows>(
    (handles, handle): (&Handles<Mutex<T>>, u64),
    which: Which,
    kind: u32,
    ids: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    call(|| {
        let object = handles.get(handle)?;
        // SAFETY: guaranteed by the caller of this function, under its own safety contract.
        unsafe { lock(&object).showing().write_ids(which, kind, ids, capacity, count) }
    })
}

/// Writes the numbers of the entities that a handle shows.
///
/// # Safety
/// `targets` has `target_count` targets, each with writable memory for `capacity` entities.
pub(crate) unsafe fn write_numbers<T: Shows>(
    (handles, handle): (&Handles<Mutex<T>>, u64),
    kind: u32,
    capacity: usize,
    targets: *const KpTarget,
    target_count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: guaranteed by the caller of this function, under its own safety contract.
        unsafe {
            let targets = slice(targets, target_count)?;
            lock(&*handles.get(handle)?).showing().write(kind, capacity, targets)
        }
    })
}

pub(crate) fn nothing_yet() -> Failure {
    Failure::nothing("no state has arrived yet")
}
