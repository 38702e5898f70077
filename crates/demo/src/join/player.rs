//! The joiner's end of the streams of `inputs.rs`: who steers, and one connection's keys and seat.
//!
//! An acknowledgement of snapshots waits for the next record of keys, at most 1/60 s, and goes in
//! front of it: one datagram for both, each of which takes more around it than in it.

use std::time::Duration;

use cubes::{Input, Script};
use kinepack::EntityId;
use kinepack_net::{
    Acknowledgement, StreamAcknowledgement, StreamReceiver, StreamRefused, StreamSender,
    StreamSenderStats,
};

use crate::inputs::{RECORD_EVERY, Seat, key_codec, key_config, seat_codec, seat_config};
use crate::join::JoinError;
use crate::keys::Keys;
use crate::sight::Sight;

/// More records than that behind, after a pause of this process, are skipped.
const MOST_BEHIND: u32 = 16;

/// Who steers, over all connections of a joiner.
pub enum Pilot {
    /// This joiner watches.
    Nobody,
    /// A person with these keys held.
    Person(Input),
    /// A script, by what came of the world.
    Script(Box<Script>),
}

/// A connection that plays.
pub struct Player {
    keys: StreamSender,
    seats: StreamReceiver,
    /// What the server said last; `None` before.
    seat: Option<Seat>,
    /// A seat came that is to be acknowledged.
    acknowledges: bool,
    /// When the next record is due; `None` before the first.
    next: Option<Duration>,
    out: Vec<u8>,
}

impl Pilot {
    fn next_input(&mut self, sight: Option<&Sight<'_>>) -> Input {
        match (self, sight) {
            (Self::Person(held), _) => *held,
            (Self::Script(script), Some(sight)) => script.next_input(sight),
            (Self::Nobody, _) | (Self::Script(_), None) => Input::default(),
        }
    }
}

impl Player {
    pub fn new() -> Result<Self, JoinError> {
        Ok(Self {
            keys: StreamSender::new(&key_codec(), key_config())?,
            seats: StreamReceiver::new(&seat_codec(), seat_config())?,
            seat: None,
            acknowledges: false,
            next: None,
            out: Vec::new(),
        })
    }

    /// Takes a packet of seats. True where the server says something new.
    pub fn handle(&mut self, now: Duration, packet: &[u8]) -> Result<bool, StreamRefused> {
        let handled = self.seats.handle(now, packet)?;
        self.acknowledges = true;
        let newest = handled.records().filter(|record| !record.late).last();
        let Some(seat) = newest.and_then(|record| record.read::<Seat>().ok()) else {
            return Ok(false);
        };
        Ok(self.seat.replace(seat) != Some(seat))
    }

    /// Takes an acknowledgement of keys.
    pub fn acknowledge(&mut self, datagram: &[u8]) -> Result<(), StreamRefused> {
        self.keys.handle(datagram)
    }

    /// Asks the pilot for each record that is due, and says whether there is something to
    /// [transmit](Self::transmit). Call it for each 1/60 s or more often.
    pub fn step(&mut self, now: Duration, pilot: &mut Pilot, sight: Option<&Sight<'_>>) -> bool {
        let next = self.next.unwrap_or(now);
        if now < next {
            return false;
        }
        let behind = ((now - next).as_nanos() / RECORD_EVERY.as_nanos()) as u32;
        for _ in 0..=behind.min(MOST_BEHIND - 1) {
            let pushed = self.keys.push(&Keys::from(pilot.next_input(sight)));
            debug_assert!(pushed.is_ok(), "bits are never out of range: {pushed:?}");
        }
        self.next = Some(next + RECORD_EVERY * (behind + 1));
        true
    }

    /// The datagram of the newest records, with acknowledgements in front. Valid until the next
    /// call.
    pub fn transmit(&mut self, snapshots: Option<Acknowledgement>) -> &[u8] {
        self.out.clear();
        if let Some(acknowledgement) = snapshots {
            acknowledgement.write(&mut self.out);
        }
        if std::mem::take(&mut self.acknowledges) {
            self.out.extend(
                self.seats.acknowledgement().into_iter().flat_map(StreamAcknowledgement::to_bytes),
            );
        }
        self.out.extend(self.keys.poll_transmit().unwrap_or_default());
        &self.out
    }

    /// The cube that it steers.
    pub fn entity(&self) -> Option<EntityId> {
        self.seat.and_then(Seat::entity)
    }

    pub fn stats(&self) -> StreamSenderStats {
        self.keys.stats()
    }
}
