//! The joiner's end of the stream of `inputs.rs`: the pilot, and the keys and cube of a connection.
//!
//! An acknowledgement of snapshots waits at most 1/60 s for the next record of keys and is then
//! sent in front of it. One datagram for both saves bandwidth, because a datagram's headers are
//! larger than the acknowledgement or the record.

use std::time::Duration;

use cubes::{Input, Script};
use kinepack::EntityId;
use kinepack_net::{Acknowledgement, StreamRefused, StreamSender, StreamSenderStats};

use crate::inputs::{RECORD_EVERY, key_codec, key_config};
use crate::join::JoinError;
use crate::keys::Keys;
use crate::sight::Sight;

/// The maximum number of records to send at once after a pause of this process. Further records are
/// skipped.
const MAX_RECORDS_AT_ONCE: u32 = 16;

/// The pilot who steers. It stays the same over all connections of a joiner.
pub enum Pilot {
    /// Nobody steers, because this joiner only watches.
    Nobody,
    /// A person steers, and holds these keys.
    Person(Input),
    /// A script steers, and sees the received world.
    Script(Box<Script>),
}

/// A connection that plays.
pub struct Player {
    keys: StreamSender,
    entity: Option<EntityId>,
    /// Whether the server has answered with a cube, or with none, since the last call of
    /// [`take_seat`](Self::take_seat).
    is_seated: bool,
    /// The time at which the next record is due. The value is `None` before the first record.
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
            entity: None,
            is_seated: false,
            next: None,
            out: Vec::new(),
        })
    }

    /// Takes the seat that the server assigned: a cube, or none.
    pub fn seat(&mut self, entity: Option<EntityId>) {
        (self.entity, self.is_seated) = (entity, true);
    }

    /// Returns the seat if it is new since the last call.
    pub fn take_seat(&mut self) -> Option<Option<EntityId>> {
        std::mem::take(&mut self.is_seated).then_some(self.entity)
    }

    /// Takes an acknowledgement of keys.
    pub fn acknowledge(&mut self, datagram: &[u8]) -> Result<(), StreamRefused> {
        self.keys.handle(datagram).map(drop)
    }

    /// Asks the pilot for each record that is due. Returns whether there is something to
    /// [transmit](Self::transmit). Call it every 1/60 s or more often.
    pub fn step(&mut self, now: Duration, pilot: &mut Pilot, sight: Option<&Sight<'_>>) -> bool {
        let next = self.next.unwrap_or(now);
        if now < next {
            return false;
        }
        let due = 1 + ((now - next).as_nanos() / RECORD_EVERY.as_nanos()) as u32;
        for _ in 0..due.min(MAX_RECORDS_AT_ONCE) {
            let pushed = self.keys.push(&Keys::from(pilot.next_input(sight)));
            debug_assert!(pushed.is_ok(), "bits are never out of range: {pushed:?}");
        }
        self.next = Some(next + RECORD_EVERY * due);
        true
    }

    /// Returns a datagram with the newest records, and with an acknowledgement in front of them. It
    /// is valid until the next call.
    pub fn transmit(&mut self, snapshots: Option<Acknowledgement>) -> &[u8] {
        self.out.clear();
        if let Some(acknowledgement) = snapshots {
            acknowledgement.write(&mut self.out);
        }
        self.out.extend(self.keys.poll_transmit().unwrap_or_default());
        &self.out
    }

    /// Returns the cube that the joiner steers.
    pub fn entity(&self) -> Option<EntityId> {
        self.entity
    }

    pub fn stats(&self) -> StreamSenderStats {
        self.keys.stats()
    }
}
