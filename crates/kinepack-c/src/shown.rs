//! The state that a receiver, a viewer or a replay shows, and a hub's past: entities by kind, and
//! the events that are due. One set of functions reads the state of all four.

use std::ops::Range;
use std::sync::Mutex;
use std::time::Duration;

use kinepack::frame::Motion;
use kinepack::{Between, EntityId, Schema, Snapshot, Tick};
use kinepack_net::{Event, EventKinds, Past, Playback, Sample, WordSmoother};

use crate::KpStatus;
use crate::columns::{KpTarget, write_rows};
use crate::handles::{Handles, lock};
use crate::memory::{check_out, give_list, put, slice};
use crate::schema::one_of;
use crate::shown_places::KpPlace;
use crate::shown_rows::Rows;
use crate::status::{Failure, call};

/// The entities and events that a receiver, a viewer or a replay shows at the moment of its last
/// `kp_..._play`, or the entities that a hub found in its past. That object owns the handle and
/// frees it, so there is no function to free it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpShown {
    /// The handle; 0 means no object.
    pub id: u64,
}

static SHOWN: Handles<Mutex<Showing>> = Handles::new(28, "a shown state");

/// The shown moment.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpPlayback {
    /// The shown tick, with its fraction.
    pub tick: f64,
    /// Not 0 if no newer state had arrived when one was needed.
    pub is_starved: i32,
}

/// An event that is due.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpEvent {
    /// The tick at which the event happened.
    pub tick: u32,
    /// The index of the event's kind among the kinds of the events' schema.
    pub kind: u32,
    /// Not 0 if an earlier moment had already shown the event's tick.
    pub is_late: i32,
}

/// Writes the ids of a kind's entities, in increasing order: `*count` ids, if they fit into
/// `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_shown_ids(
    shown: KpShown,
    kind: u32,
    ids: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    // SAFETY: the caller guarantees that `ids` has `capacity` writable values and `count` is
    // writable, until this call returns.
    unsafe {
        write_list(shown, ids, capacity, count, |showing| Ok(&one_of(&showing.kinds, kind)?.ids))
    }
}

/// Writes the ids of the entities that the previous moment did not show, of all kinds, like
/// `kp_shown_ids`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_shown_added(
    shown: KpShown,
    ids: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    // SAFETY: the caller guarantees that `ids` has `capacity` writable values and `count` is
    // writable, until this call returns.
    unsafe { write_list(shown, ids, capacity, count, |showing| Ok(&showing.added)) }
}

/// Writes the ids of the entities that only the previous moment showed, of all kinds, like
/// `kp_shown_ids`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_shown_removed(
    shown: KpShown,
    ids: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    // SAFETY: the caller guarantees that `ids` has `capacity` writable values and `count` is
    // writable, until this call returns.
    unsafe { write_list(shown, ids, capacity, count, |showing| Ok(&showing.removed)) }
}

/// Writes the ids of the entities that jumped since the previous moment, of all kinds, like
/// `kp_shown_ids`. An entity jumps if a field with `KP_ROLE_CUT` is shown with another value than at
/// the previous moment, so exactly one moment lists each jump. Entities that the previous moment
/// did not show are never among them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_shown_cut(
    shown: KpShown,
    ids: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    // SAFETY: the caller guarantees that `ids` has `capacity` writable values and `count` is
    // writable, until this call returns.
    unsafe { write_list(shown, ids, capacity, count, |showing| Ok(&showing.cut)) }
}

/// Writes the numbers of a kind's entities, in the order of their ids. There is a target for each
/// field, with room for `capacity` entities.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_shown_read(
    shown: KpShown,
    kind: u32,
    capacity: usize,
    targets: *const KpTarget,
    target_count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `targets` has `target_count` valid targets until this
        // call returns.
        let targets = unsafe { slice(targets, target_count)? };
        let showing = SHOWN.get(shown.id)?;
        let showing = lock(&showing);
        let rows = one_of(&showing.kinds, kind)?;
        let read = |row: usize, words: &mut [u64]| match rows.smoothed(row) {
            Some(smoothed) => {
                words.copy_from_slice(smoothed);
                Ok(())
            }
            None => {
                let ([from, to], between) = rows.states(row);
                rows.schema.interpolate_raw(from, to, between, words)
            }
        };
        // SAFETY: the caller guarantees that each target has writable memory for `capacity`
        // entities until this call returns.
        unsafe { write_rows(rows.schema.fields(), targets, rows.ids.len(), capacity, read) }
    })
}

/// Takes the next event that is due. Returns `KP_STATUS_NOTHING` if no event is due. Viewers have
/// no events. The next moment drops events that were not taken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_shown_next_event(shown: KpShown, out: *mut KpEvent) -> KpStatus {
    call(|| {
        check_out(out)?;
        let showing = SHOWN.get(shown.id)?;
        let mut showing = lock(&showing);
        let next = showing.events.get(showing.taken).map(|(event, _)| *event);
        let event = next.ok_or_else(|| Failure::nothing("no further event is due"))?;
        showing.taken += 1;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, event) }
    })
}

/// Writes the numbers of the event that `kp_shown_next_event` returned last, to a target for each
/// field of its kind. `kind` must be the event's kind, because the targets are laid out for that
/// kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_shown_read_event(
    shown: KpShown,
    kind: u32,
    targets: *const KpTarget,
    target_count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `targets` has `target_count` valid targets until this
        // call returns.
        let targets = unsafe { slice(targets, target_count)? };
        let showing = SHOWN.get(shown.id)?;
        let showing = lock(&showing);
        let last = showing.taken.checked_sub(1).and_then(|last| showing.events.get(last));
        let (event, words) = last.ok_or_else(|| Failure::nothing("no event was taken"))?;
        if event.kind != kind {
            return Err(Failure::argument(format!("the event is of kind {}", event.kind)));
        }
        let fields = one_of(&showing.event_kinds, kind)?.fields();
        let read = |_: usize, to: &mut [u64]| {
            to.copy_from_slice(words);
            Ok(())
        };
        // SAFETY: the caller guarantees that each target has writable memory for one event until
        // this call returns.
        unsafe { write_rows(fields, targets, 1, 1, read) }
    })
}

/// Writes the list that `of` selects, such as ids.
///
/// # Safety
/// The caller must meet the conditions of [`give_list`].
pub(crate) unsafe fn write_list<T: Copy>(
    shown: KpShown,
    list: *mut T,
    capacity: usize,
    count: *mut usize,
    of: impl FnOnce(&Showing) -> Result<&Vec<T>, Failure>,
) -> KpStatus {
    call(|| {
        let showing = SHOWN.get(shown.id)?;
        let showing = lock(&showing);
        // SAFETY: the caller guarantees that `list` has `capacity` writable values and `count` is
        // writable, until this call returns.
        unsafe { give_list(of(&showing)?.iter().copied(), list, capacity, count) }
    })
}

/// Copies the two states between which an entity is shown: each replaces the contents of a snapshot
/// that has only the lanes which `lanes_of` selects of the kind, as entity 0. Returns how far the
/// shown moment is between them.
pub(crate) fn copy_entity(
    shown: KpShown,
    kind: u32,
    id: u32,
    to: &mut [Snapshot; 2],
    lanes_of: impl FnOnce(&Schema) -> Result<Range<usize>, Failure>,
) -> Result<Between, Failure> {
    let showing = SHOWN.get(shown.id)?;
    let showing = lock(&showing);
    let rows = one_of(&showing.kinds, kind)?;
    let range = lanes_of(&rows.schema)?;
    let row = rows.ids.binary_search(&id).map_err(|_| no_entity())?;
    let (states, between) = rows.states(row);
    for (snapshot, lanes) in to.iter_mut().zip(states) {
        snapshot.clear(Tick(0));
        snapshot.push_lanes(EntityId(0), &lanes[range.clone()]).map_err(Failure::argument)?;
    }
    Ok(between)
}

pub(crate) fn no_entity() -> Failure {
    Failure::nothing("the kind has no entity with this id")
}

/// The shown state of one receiver, viewer, replay or hub. It owns the handle, which is freed when that
/// object is dropped.
#[derive(Debug)]
pub(crate) struct Shown {
    handle: KpShown,
}

impl Shown {
    pub(crate) fn new(schema: &Schema, events: Option<&EventKinds>) -> Self {
        let showing = Mutex::new(Showing::new(schema, events));
        Self { handle: KpShown { id: SHOWN.add(showing) } }
    }

    pub(crate) fn handle(&self) -> KpShown {
        self.handle
    }

    /// Stores the state of a playback. Drops the events of the previous moment.
    pub(crate) fn show(&self, playback: &Playback<'_>) -> Result<KpPlayback, Failure> {
        lock(&*SHOWN.get(self.handle.id)?).show(playback)
    }

    /// Begins a frame at `now` for the kinds that are smoothed.
    pub(crate) fn begin(&self, now: Duration) -> Result<(), Failure> {
        let showing = SHOWN.get(self.handle.id)?;
        let mut showing = lock(&showing);
        showing.kinds.iter_mut().flat_map(|rows| &mut rows.smoother).for_each(|of| of.begin(now));
        Ok(())
    }

    /// Smooths a kind from the next moment on, or ends that if `fade` is zero.
    pub(crate) fn set_smoothing(&self, kind: u32, fade: Duration) -> Result<(), Failure> {
        let showing = SHOWN.get(self.handle.id)?;
        let mut showing = lock(&showing);
        let smoother = WordSmoother::new(&one_of(&showing.kinds, kind)?.schema, fade);
        let smoother = smoother.map_err(Failure::argument)?;
        showing.kinds[kind as usize].smoother = (!fade.is_zero()).then_some(smoother);
        Ok(())
    }

    /// The name of a kind.
    pub(crate) fn kind_name(&self, kind: u32) -> Result<String, Failure> {
        let showing = SHOWN.get(self.handle.id)?;
        let showing = lock(&showing);
        Ok(one_of(&showing.kinds, kind)?.schema.kinds()[0].name().to_owned())
    }

    /// Stores entities of a past. The ids increase. Leaves out entities that were not shown, and
    /// those whose state is too old, because neither is a target.
    pub(crate) fn show_past(&self, past: &Past<'_>, ids: &[EntityId]) -> Result<(), Failure> {
        let samples = ids.iter().filter_map(|id| past.sample(*id).ok());
        let motion = |sample: &Sample<'_>| past.motion(sample.id).ok();
        lock(&*SHOWN.get(self.handle.id)?).fill(samples, motion);
        Ok(())
    }

    /// Replaces the due events by `events`.
    pub(crate) fn set_events<'a>(
        &self,
        events: impl Iterator<Item = Event<'a>>,
    ) -> Result<(), Failure> {
        lock(&*SHOWN.get(self.handle.id)?).set_events(events)
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        // Only this owner removes the handle, so the handle is still valid.
        let _ = SHOWN.remove(self.handle.id);
    }
}

/// The state that the caller reads after each moment of playback.
#[derive(Debug)]
pub(crate) struct Showing {
    kinds: Vec<Rows>,
    added: Vec<u32>,
    removed: Vec<u32>,
    cut: Vec<u32>,
    /// The schema of each kind of events.
    event_kinds: Vec<Schema>,
    events: Vec<(KpEvent, Vec<u64>)>,
    /// How many events the caller has taken.
    taken: usize,
}

impl Showing {
    fn new(schema: &Schema, events: Option<&EventKinds>) -> Self {
        Self {
            kinds: kinds_of(schema).map(Rows::new).collect(),
            added: Vec::new(),
            removed: Vec::new(),
            cut: Vec::new(),
            event_kinds: events
                .map_or_else(Vec::new, |kinds| kinds_of(kinds.codec().schema()).collect()),
            events: Vec::new(),
            taken: 0,
        }
    }

    /// Where the entities of a kind are in the world. `None` if no field of it is relative.
    pub(crate) fn places(&self, kind: u32) -> Result<Option<&Vec<KpPlace>>, Failure> {
        Ok(one_of(&self.kinds, kind)?.places.as_ref())
    }

    /// For how long each entity of a kind has waited for a newer state.
    pub(crate) fn starved_ms(&self, kind: u32) -> Result<&Vec<f64>, Failure> {
        Ok(&one_of(&self.kinds, kind)?.starved_ms)
    }

    /// Stores the state of a playback. Drops the events of the previous moment.
    fn show(&mut self, playback: &Playback<'_>) -> Result<KpPlayback, Failure> {
        self.fill(playback.samples(), |sample| playback.motion(sample).ok());
        for (kind, rows) in self.kinds.iter_mut().enumerate() {
            rows.smooth(kind, playback)?;
        }
        let numbers = |ids: &[EntityId]| ids.iter().map(|id| id.0).collect();
        self.added = numbers(playback.added());
        self.removed = numbers(playback.removed());
        self.cut = numbers(playback.cut());
        self.set_events(playback.events())?;
        Ok(KpPlayback { tick: playback.tick, is_starved: playback.is_starved().into() })
    }

    /// Replaces the entities. `motion` finds where an entity is in the world.
    fn fill<'a>(
        &mut self,
        samples: impl Iterator<Item = Sample<'a>>,
        motion: impl Fn(&Sample<'a>) -> Option<Motion>,
    ) {
        self.kinds.iter_mut().for_each(Rows::clear);
        for sample in samples {
            let (state, index) = sample.from;
            self.kinds[state.kind_at(index).unwrap_or(0)].add(&sample, || motion(&sample));
        }
    }

    /// Replaces the due events by `events`.
    fn set_events<'a>(&mut self, events: impl Iterator<Item = Event<'a>>) -> Result<(), Failure> {
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
}

/// A schema of its own for each kind of `schema`.
fn kinds_of(schema: &Schema) -> impl Iterator<Item = Schema> {
    (0..schema.kinds().len()).map(|kind| schema.of_kind(kind))
}

pub(crate) fn nothing_yet() -> Failure {
    Failure::nothing("no state has arrived yet")
}
