//! The receiver's events: in order, each once, when playback shows their tick. `spec/NET.md`,
//! section 10.3.

use std::collections::VecDeque;
use std::sync::Arc;

use kinepack::{EncodeError, Pack, Snapshot, Tick};

use super::EventKinds;
use super::list::{List, ListReader, WINDOW};
use super::outgoing::FLOOR_REACH;
use crate::{Refused, Sequence};

/// The maximum number of events that wait for playback.
const MOST_READY: usize = 4096;

/// A receiver's state for events.
#[derive(Debug)]
pub(crate) struct Incoming {
    reader: ListReader,
    /// The first number that has neither arrived nor been given up.
    next: Sequence,
    /// Events after `next`, by their distance from it.
    held: VecDeque<Option<Held>>,
    /// Events that wait for playback.
    ready: VecDeque<Held>,
    /// How many events at the front of `ready` belong to the previous session.
    ready_before: usize,
    /// The events of the last moment of playback.
    played: Vec<Played>,
    /// The last moment of playback, in ticks.
    shown: Option<f64>,
    /// Events handed on.
    pub(crate) count: u64,
    /// How many of the events that were handed on had arrived after their tick was shown.
    pub(crate) late: u64,
}

/// An event as it arrived.
#[derive(Clone, Debug)]
struct Held {
    tick: Tick,
    rows: Arc<Snapshot>,
    index: usize,
}

/// An event at a moment of playback.
#[derive(Debug)]
pub(crate) struct Played {
    held: Held,
    late: bool,
}

impl Played {
    /// Makes an event that is in time from a row of a snapshot of events.
    pub(crate) fn in_time(tick: Tick, rows: Arc<Snapshot>, index: usize) -> Self {
        Self { held: Held { tick, rows, index }, late: false }
    }

    pub(crate) fn event(&self) -> Event<'_> {
        Event { tick: self.held.tick, late: self.late, held: &self.held }
    }
}

/// A list that was checked and can be taken.
#[derive(Debug)]
pub(crate) struct Taken(List);

/// An event that playback has reached. [`Playback::events`](crate::Playback::events) has an
/// example.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The tick at which the event happened.
    pub tick: Tick,
    /// Whether an earlier moment of playback already showed the event's tick or a later one. Then
    /// the event's first datagram was lost, or took longer than the snapshots.
    pub late: bool,
    held: &'a Held,
}

impl Event<'_> {
    /// The index of its kind among the schema's kinds.
    pub fn kind(&self) -> usize {
        self.held.rows.kind_at(self.held.index).unwrap_or(0)
    }

    /// The snapshot, of the events' schema, that contains the event, and the event's index in it.
    pub fn state(&self) -> (&Snapshot, usize) {
        (&self.held.rows, self.held.index)
    }

    /// The event, if it is of the kind that the type describes.
    ///
    /// # Errors
    /// [`EncodeError::TypeMismatch`] if the type describes no kind of event.
    pub fn get<T: Pack>(&self) -> Result<Option<T>, EncodeError> {
        let Held { rows, index, .. } = self.held;
        if rows.kind_of_type::<T>()? != self.kind() {
            return Ok(None);
        }
        rows.get_at_index(*index).map(Some)
    }
}

impl Incoming {
    pub(crate) fn new(kinds: &EventKinds) -> Self {
        Self {
            reader: ListReader::new(kinds),
            next: Sequence(0),
            held: VecDeque::new(),
            ready: VecDeque::new(),
            ready_before: 0,
            played: Vec::new(),
            shown: None,
            count: 0,
            late: 0,
        }
    }

    /// Reads and checks the list of a datagram of `tick`, which may begin a new session. Changes
    /// nothing.
    pub(crate) fn check(
        &mut self,
        tick: Tick,
        bytes: &[u8],
        begins_session: bool,
    ) -> Result<Taken, Refused> {
        let list = self.reader.read(tick, bytes)?;
        let next = if begins_session { Sequence(0) } else { self.next };
        let floor_ahead = list.floor.since(next);
        let next = if floor_ahead > 0 { list.floor } else { next };
        let ahead = |(at, ..): &(u16, Tick, u32)| list.first.after(*at).since(next);
        if floor_ahead >= FLOOR_REACH || list.order.iter().any(|event| ahead(event) >= WINDOW) {
            return Err(Refused::BadEvents);
        }
        if self.ready.len() >= MOST_READY {
            return Err(Refused::EventsFull);
        }
        Ok(Taken(list))
    }

    /// Begins a new session, which numbers its events from 0 again. Events that wait for playback
    /// stay.
    pub(crate) fn begin_session(&mut self) {
        self.next = Sequence(0);
        self.held.clear();
        self.ready_before = self.ready.len();
    }

    /// Notes that the world has restarted at `tick`. Events of the world before it become due at
    /// once.
    pub(crate) fn restart(&mut self, tick: Tick) {
        self.shown = None;
        let before = self.ready.iter_mut().take(self.ready_before);
        before.for_each(|held| held.tick = held.tick.min(tick));
    }

    /// Takes a list that was checked. Invariant: no other list was taken since that check.
    pub(crate) fn take(&mut self, Taken(list): Taken) {
        while list.floor.since(self.next) > 0 {
            self.advance();
        }
        let place = |at: u16| usize::try_from(list.first.after(at).since(self.next)).ok();
        let is_new = |place: usize| !matches!(self.held.get(place), Some(Some(_)));
        let mut fresh: Vec<(u32, usize, Tick)> = list
            .order
            .iter()
            .filter_map(|(at, tick, index)| {
                place(*at).filter(|place| is_new(*place)).map(|place| (*index, place, *tick))
            })
            .collect();
        fresh.sort_unstable_by_key(|(index, ..)| *index);
        let indices: Vec<u32> = fresh.iter().map(|(index, ..)| *index).collect();
        let mut rows = Snapshot::new_like(&list.events);
        // Cannot fail: the indices increase, and the list has the same schema.
        if !fresh.is_empty() && rows.gather(&list.events, &indices).is_ok() {
            let rows = Arc::new(rows);
            for (index, (_, place, tick)) in fresh.into_iter().enumerate() {
                if self.held.len() <= place {
                    self.held.resize(place + 1, None);
                }
                self.held[place] = Some(Held { tick, rows: Arc::clone(&rows), index });
            }
        }
        while let Some(Some(_)) = self.held.front() {
            self.advance();
        }
        self.reader.recycle(list);
    }

    /// Moves `next` by one. If the event with that number has arrived, it now waits for playback.
    fn advance(&mut self) {
        self.ready.extend(self.held.pop_front().flatten());
        self.next = self.next.after(1);
    }

    /// Moves playback to `tick`, and hands on the events up to there.
    pub(crate) fn play(&mut self, tick: f64) {
        self.played.clear();
        while let Some(held) = self.ready.pop_front_if(|held| f64::from(held.tick.0) <= tick) {
            let late = self.shown.is_some_and(|shown| f64::from(held.tick.0) <= shown);
            self.ready_before = self.ready_before.saturating_sub(1);
            self.count += 1;
            self.late += u64::from(late);
            self.played.push(Played { held, late });
        }
        self.shown = Some(self.shown.map_or(tick, |shown| shown.max(tick)));
    }

    /// The events of the last moment of playback.
    pub(crate) fn played(&self) -> &[Played] {
        &self.played
    }

    /// Hands on all events that are in order, whatever playback shows.
    pub(crate) fn take_ready(&mut self) {
        self.played.clear();
        self.count += self.ready.len() as u64;
        self.ready_before = 0;
        self.played.extend(self.ready.drain(..).map(|held| Played { held, late: false }));
    }
}
