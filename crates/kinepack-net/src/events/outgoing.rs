//! Tracks the events for one receiver: whether each event waits, is in flight, or has arrived. See
//! `spec/NET.md`, section 10.

use std::collections::VecDeque;
use std::sync::Arc;

use kinepack::{EncodeError, Tick};

use super::Emitted;
use super::list::{EventWriter, MOST_EVENTS, WINDOW};
use crate::Sequence;

/// The maximum number of events that wait for a receiver without having been sent.
const MOST_WAITING: usize = 4096;
/// Every number in use is less than this far after the newest floor that the receiver acknowledged.
pub(super) const FLOOR_REACH: i32 = 1 << 14;

/// A hub's state for the events of one receiver.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    /// Events that were never sent and have no number yet, oldest first.
    waiting: VecDeque<Arc<Emitted>>,
    /// The numbered events, from the floor to the number before `next`.
    sent: VecDeque<Slot>,
    next: Sequence,
    /// The newest floor that the receiver is known to have.
    known_floor: Sequence,
    /// The floor that the receiver must learn, because an event before that floor was given up.
    owed_floor: Option<Sequence>,
    /// Whether a datagram with the owed floor is in flight.
    is_floor_in_flight: bool,
    /// The number of events that the sender has given up.
    pub(crate) dropped: u64,
    /// The number of events that had to arrive but never will, because too many were waiting.
    pub(crate) refused: u64,
}

/// A numbered event.
#[derive(Debug)]
enum Slot {
    /// The event must be sent, for the first time or because its last copy was lost.
    Due(Arc<Emitted>),
    /// The event was sent `copies` times since it became due, last in `tick`. Of these copies,
    /// `in_flight` are not known to be lost.
    InFlight {
        event: Arc<Emitted>,
        copies: u8,
        in_flight: u8,
        tick: Tick,
    },
    Arrived,
    GivenUp,
}

impl Slot {
    /// The event, if it should be sent in tick `now`. `wanted` is the number of copies to send.
    fn due(&self, now: Tick, wanted: u8) -> Option<&Arc<Emitted>> {
        match self {
            Self::Due(event) => Some(event),
            Self::InFlight { event, copies, tick, .. } if *copies < wanted && *tick < now => {
                Some(event)
            }
            _ => None,
        }
    }
}

/// A list of events to send.
#[derive(Debug)]
pub(crate) struct EventList {
    pub(crate) bytes: Vec<u8>,
    carried: Carried,
    /// How many of the list's events are sent for the first time.
    new: usize,
}

/// The events of a datagram in flight.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    numbers: Vec<Sequence>,
    floor: Sequence,
}

impl Outgoing {
    /// Adds `event`. If too many events wait, drops `event` or a waiting event, whichever is
    /// droppable. If neither is droppable, refuses `event`.
    pub(crate) fn push(&mut self, event: &Arc<Emitted>) {
        if self.waiting.len() >= MOST_WAITING {
            if event.last_tick.is_some() {
                self.dropped += 1;
                return;
            }
            let droppable = self.waiting.iter().position(|waiting| waiting.last_tick.is_some());
            let Some(index) = droppable else {
                self.refused += 1;
                return;
            };
            self.waiting.remove(index);
            self.dropped += 1;
        }
        self.waiting.push_back(Arc::clone(event));
    }

    /// Gives up the events whose last tick is before `tick`.
    pub(crate) fn expire(&mut self, tick: Tick) {
        let is_over = |event: &Emitted| event.last_tick.is_some_and(|last| last < tick);
        let before = self.waiting.len();
        self.waiting.retain(|event| !is_over(event));
        self.dropped += (before - self.waiting.len()) as u64;
        for slot in &mut self.sent {
            if matches!(slot, Slot::Due(event) if is_over(event)) {
                *slot = Slot::GivenUp;
                self.dropped += 1;
            }
        }
        self.advance_floor();
    }

    /// The number of events that were never sent.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The number of events that have not arrived.
    pub(crate) fn unfinished(&self) -> usize {
        let is_open = |slot: &&Slot| matches!(slot, Slot::Due(_) | Slot::InFlight { .. });
        self.waiting.len() + self.sent.iter().filter(is_open).count()
    }

    /// Whether an event or the floor must be sent now. Further copies of events in flight do not
    /// count.
    pub(crate) fn is_due(&self) -> bool {
        self.owes_floor()
            || !self.waiting.is_empty()
            || self.sent.iter().any(|slot| matches!(slot, Slot::Due(_)))
    }

    fn owes_floor(&self) -> bool {
        self.owed_floor.is_some() && !self.is_floor_in_flight
    }

    fn floor(&self) -> Sequence {
        self.next.before(self.sent.len() as u16)
    }

    /// The list to send now, of at most `limit_bytes`. `None` if no event is due or fits. The
    /// events count as sent after [`note_sent`](Self::note_sent).
    ///
    /// # Errors
    /// Returns [`EncodeError`] for events of another schema.
    pub(crate) fn list(
        &self,
        tick: Tick,
        copies: u8,
        limit_bytes: usize,
        writer: &mut EventWriter,
    ) -> Result<Option<EventList>, EncodeError> {
        let floor = self.floor();
        let is_near = |number: Sequence| {
            number.since(floor) < WINDOW && number.since(self.known_floor) < FLOOR_REACH
        };
        let numbered = self.sent.iter().zip(0..);
        let numbered =
            numbered.filter_map(|(slot, at)| Some((floor.after(at), slot.due(tick, copies)?)));
        let new = self.waiting.iter().zip(0..).map(|(event, at)| (self.next.after(at), event));
        let due: Vec<_> = numbered
            .chain(new.take_while(|(number, _)| is_near(*number)))
            .take(MOST_EVENTS)
            .collect();
        if due.is_empty() && !self.owes_floor() {
            return Ok(None);
        }
        let first = due.first().map_or(floor, |(number, _)| *number);
        let events: Vec<(u16, &Emitted)> =
            due.iter().map(|(number, event)| (number.0.wrapping_sub(first.0), &***event)).collect();
        let mut count = events.len();
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            writer.write(tick, first, floor, &events[..count], &mut bytes)?;
            if bytes.len() <= limit_bytes {
                break;
            }
            if copies > 1 {
                // Copies are sent only if there is room for them, so try again without copies.
                return self.list(tick, 1, limit_bytes, writer);
            }
            if count <= 1 {
                return Ok(None);
            }
            count = (count * limit_bytes / bytes.len()).clamp(1, count - 1);
        }
        let numbers: Vec<_> = due[..count].iter().map(|(number, _)| *number).collect();
        let new = numbers.iter().filter(|number| number.since(self.next) >= 0).count();
        Ok(Some(EventList { bytes, carried: Carried { numbers, floor }, new }))
    }

    /// Notes that a list from [`list`](Self::list) is sent. Pass the result to
    /// [`arrive`](Self::arrive) or [`lose`](Self::lose) once the outcome of its datagram is known.
    pub(crate) fn note_sent(&mut self, tick: Tick, list: EventList) -> Carried {
        for event in self.waiting.drain(..list.new) {
            self.sent.push_back(Slot::Due(event));
            self.next = self.next.after(1);
        }
        for number in &list.carried.numbers {
            self.change(*number, |slot| match slot {
                Slot::Due(event) => Slot::InFlight { event, copies: 1, in_flight: 1, tick },
                Slot::InFlight { event, copies, in_flight, .. } => {
                    Slot::InFlight { event, copies: copies + 1, in_flight: in_flight + 1, tick }
                }
                other => other,
            });
        }
        self.is_floor_in_flight |= self.owed_floor.is_some();
        list.carried
    }

    /// Notes that the datagram with the events `carried` arrived.
    pub(crate) fn arrive(&mut self, carried: &Carried) {
        for number in &carried.numbers {
            self.change(*number, |_| Slot::Arrived);
        }
        if carried.floor.since(self.known_floor) > 0 {
            self.known_floor = carried.floor;
        }
        let is_known = |owed: Sequence| self.known_floor.since(owed) >= 0;
        self.owed_floor = self.owed_floor.filter(|owed| !is_known(*owed));
        self.advance_floor();
    }

    /// Notes that the datagram with the events `carried` counts as lost. It may still arrive.
    pub(crate) fn lose(&mut self, carried: &Carried) {
        for number in &carried.numbers {
            self.change(*number, |slot| match slot {
                Slot::InFlight { event, in_flight: ..=1, .. } => Slot::Due(event),
                Slot::InFlight { event, copies, in_flight, tick } => {
                    Slot::InFlight { event, copies, in_flight: in_flight - 1, tick }
                }
                other => other,
            });
        }
        self.is_floor_in_flight = false;
    }

    /// Changes the slot of a number, unless the floor has passed it.
    fn change(&mut self, number: Sequence, change: impl FnOnce(Slot) -> Slot) {
        let at = usize::try_from(number.since(self.floor())).ok();
        if let Some(slot) = at.and_then(|at| self.sent.get_mut(at)) {
            *slot = change(std::mem::replace(slot, Slot::Arrived));
        }
    }

    fn advance_floor(&mut self) {
        while let Some(Slot::Arrived | Slot::GivenUp) = self.sent.front() {
            if let Some(Slot::GivenUp) = self.sent.pop_front() {
                self.owed_floor = Some(self.floor());
                self.is_floor_in_flight = false;
            }
        }
    }
}
