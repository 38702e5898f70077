//! Hands on the receiver's events in order, each once, as soon as playback shows the event's tick.
//! See `spec/NET.md`, section 10.3.

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
    /// The first event number that has neither arrived nor been given up.
    next: Sequence,
    /// The events from number `next` on, indexed by distance from `next`. `None` for a missing
    /// event.
    held: VecDeque<Option<Held>>,
    /// Events that wait for playback.
    ready: VecDeque<Held>,
    /// How many events at the front of `ready` belong to the previous session.
    ready_before: usize,
    /// The events that the most recent call of `play` or `take_ready` handed on.
    played: Vec<Played>,
    /// The latest tick that `play` reached. `None` before the first call and after a restart.
    shown: Option<f64>,
    /// The number of events handed on.
    pub(crate) count: u64,
    /// How many of the events that were handed on had arrived after their tick was shown.
    pub(crate) late: u64,
}

/// An event that has arrived and was not handed on yet.
#[derive(Clone, Debug)]
struct Held {
    tick: Tick,
    rows: Arc<Snapshot>,
    index: usize,
}

/// An event that was handed on.
#[derive(Debug)]
pub(crate) struct Played {
    held: Held,
    late: bool,
}

impl Played {
    /// The event in row `index` of `rows`, marked as in time.
    pub(crate) fn in_time(tick: Tick, rows: Arc<Snapshot>, index: usize) -> Self {
        Self { held: Held { tick, rows, index }, late: false }
    }

    pub(crate) fn event(&self) -> Event<'_> {
        Event { tick: self.held.tick, late: self.late, held: &self.held }
    }
}

/// A checked list of events, for [`Incoming::take`].
#[derive(Debug)]
pub(crate) struct Taken(List);

/// An event that playback has reached. [`Playback::events`](crate::Playback::events) has an
/// example.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The tick at which the event happened.
    pub tick: Tick,
    /// Whether playback had shown this tick or a later one before the event could be handed on. If
    /// true, the event's first datagram was lost, or took longer than the snapshots.
    pub late: bool,
    held: &'a Held,
}

impl Event<'_> {
    /// The index of the event's kind among the schema's kinds.
    pub fn kind(&self) -> usize {
        self.held.rows.kind_at(self.held.index).unwrap_or(0)
    }

    /// The snapshot that contains the event, and the event's index in that snapshot. The snapshot
    /// has the schema of the events.
    pub fn state(&self) -> (&Snapshot, usize) {
        (&self.held.rows, self.held.index)
    }

    /// The event, if it is of the kind that the type describes.
    ///
    /// # Errors
    /// Returns [`EncodeError::TypeMismatch`] if the type describes no kind of event.
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

    /// Reads and checks `bytes`, the event list of a datagram of tick `tick`. The datagram may
    /// begin a new session. The check changes nothing.
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

    /// Begins a new session, which numbers its events from 0 again. Events of the previous session
    /// that wait for playback keep waiting.
    pub(crate) fn begin_session(&mut self) {
        self.next = Sequence(0);
        self.held.clear();
        self.ready_before = self.ready.len();
    }

    /// Notes that the world has restarted at `tick`. Events that wait from the previous session are
    /// handed on when playback reaches `tick`, or earlier.
    pub(crate) fn restart(&mut self, tick: Tick) {
        self.shown = None;
        let before = self.ready.iter_mut().take(self.ready_before);
        before.for_each(|held| held.tick = held.tick.min(tick));
    }

    /// Takes a list that [`check`](Self::check) returned. Invariant: no other list was taken since
    /// that check.
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

    /// Moves playback to `tick`, and hands on the events up to that tick.
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

    /// The events that the most recent call of `play` or `take_ready` handed on.
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
