//! The guests that play, and their keys. This is the server's end of the streams of `inputs.rs`.
//!
//! A guest's first packet of keys asks for a cube. If no cube is free, later packets ask again. The
//! newest keys are held until new keys arrive or the guest becomes silent. The caller passes the
//! time. From its first packet on, a guest takes a few kilobytes. The stream's rate limit bounds a
//! guest's records per second, and records above the limit are only counted.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use cubes::Input;
use kinepack::EntityId;
use kinepack::stream::StreamCodec;
use kinepack_net::{
    ReceiverId, Sequence, StreamAcknowledgement, StreamReceiver, StreamReceiverStats,
    StreamRefused, StreamSender,
};

use crate::inputs::{SEAT_EVERY, Seat, key_codec, key_config, seat_codec, seat_config};
use crate::keys::Keys;
use crate::world::Played;

/// If a guest sends no keys for this time (15 packets), its held keys are released.
const SILENCE: Duration = Duration::from_millis(250);
/// The time between two attempts of a guest to get a cube. Each attempt searches the world for a
/// free place.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// The time between two acknowledgements that travel in front of other datagrams. Each
/// acknowledgement takes 24 bits. With fewer acknowledgements, bases would be three records older,
/// which would cost half a bit more in each packet of keys.
const ACKNOWLEDGE_EVERY: Duration = Duration::from_millis(50);
/// If no other datagram was sent for this time, an acknowledgement gets its own datagram.
const ACKNOWLEDGE_ALONE: Duration = Duration::from_millis(150);

/// All guests that have sent keys.
pub struct Players {
    /// The maximum number of guests that may play at once.
    most: usize,
    keys: StreamCodec,
    seats: StreamCodec,
    present: BTreeMap<u64, Player>,
    /// The number of guests with a cube.
    playing: usize,
    peak: usize,
    /// The total counts of guests that have disconnected.
    ended: KeyCounts,
    out: Vec<u8>,
}

/// One guest that has sent keys.
struct Player {
    keys: StreamReceiver,
    seats: StreamSender,
    entity: Option<EntityId>,
    /// The time from which the guest may ask for a cube again.
    asks_at: Duration,
    is_refused: bool,
    /// The time at which the guest's held keys arrived.
    holds_since: Option<Duration>,
    /// The first record that counts for the guest's current seat. Earlier records belong to other
    /// seats.
    seat_from: Option<Sequence>,
    /// The time at which the seat must be sent again.
    seat_due: Duration,
    /// The last acknowledgement, and the time at which it was sent.
    acknowledged: Option<StreamAcknowledgement>,
    acknowledged_at: Duration,
}

/// Counts of all guests' packets of keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyCounts {
    /// The number of accepted packets. The next field counts those that were full.
    pub packets: u64,
    pub full: u64,
    /// The number of bytes of the accepted packets, without those that the transport adds.
    pub bytes: u64,
    pub records: u64,
    /// The number of records that arrived as repeats.
    pub recovered: u64,
    /// The number of packets that were refused because their base never arrived.
    pub lost_bases: u64,
    /// The number of packets that were refused because they exceed the rate.
    pub limited: u64,
    /// The number of packets that were refused because their number is a duplicate, too old, or too
    /// far ahead.
    pub out_of_place: u64,
    /// The number of packets that were refused because they are invalid or of another codec.
    pub malformed: u64,
}

impl Players {
    pub fn new(most: usize) -> Self {
        Self {
            most,
            keys: key_codec(),
            seats: seat_codec(),
            present: BTreeMap::new(),
            playing: 0,
            peak: 0,
            ended: KeyCounts::default(),
            out: Vec::new(),
        }
    }

    /// Takes a packet of a guest's keys. Returns a notice about the guest for the log.
    pub fn handle(
        &mut self,
        client: u64,
        now: Duration,
        packet: &[u8],
        world: &mut Played,
    ) -> Option<String> {
        let player = match self.present.entry(client) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Player::new(&self.keys, &self.seats)?),
        };
        let handled = match player.keys.handle(now, packet) {
            Ok(handled) => handled,
            Err(refused @ StreamRefused::Mismatch { .. }) if !player.is_refused => {
                player.is_refused = true;
                player.seat(None, now);
                return Some(format!("cannot play: {refused}"));
            }
            Err(_) => return None,
        };
        let newest = handled.records().filter(|record| !record.late).last();
        let keys = newest.and_then(|record| record.read::<Keys>().ok())?;
        let mut notice = None;
        if player.entity.is_none() && now >= player.asks_at {
            let is_first = player.asks_at.is_zero();
            player.asks_at = now + ASK_EVERY;
            let admitted = if self.playing < self.most {
                world.admit(ReceiverId(client)).map_err(|why| why.to_string())
            } else {
                Err("all places of players are taken".to_owned())
            };
            match admitted {
                Ok(entity) => {
                    player.seat(Some(entity), now);
                    self.playing += 1;
                    self.peak = self.peak.max(self.playing);
                    notice = Some(format!("plays; players: {}", self.playing));
                }
                Err(why) if is_first => {
                    player.seat(None, now);
                    notice = Some(format!("only watches: {why}"));
                }
                Err(_) => {}
            }
        }
        if player.entity.is_some() {
            world.hold_for(ReceiverId(client), Input::from(keys));
            player.holds_since = Some(now);
        }
        notice
    }

    /// Takes a guest's acknowledgement of its seat. Returns false if it is invalid.
    pub fn acknowledge(&mut self, client: u64, datagram: &[u8]) -> bool {
        let player = self.present.get_mut(&client);
        player.is_some_and(
            |player| !matches!(player.seats.handle(datagram), Err(error) if error != StreamRefused::LongAgo),
        )
    }

    /// Removes a guest and its cube.
    pub fn remove(&mut self, client: u64, world: &mut Played) {
        let Some(player) = self.present.remove(&client) else { return };
        self.ended.add(&player.keys.stats());
        if player.entity.is_some() {
            world.dismiss(ReceiverId(client));
            self.playing -= 1;
        }
    }

    /// Releases the keys of silent guests. The caller must call this method before each step of the
    /// world.
    pub fn release_silent(&mut self, now: Duration, world: &mut Played) {
        for (client, player) in &mut self.present {
            if player.holds_since.is_some_and(|since| now > since + SILENCE) {
                player.holds_since = None;
                world.hold_for(ReceiverId(*client), Input::default());
            }
        }
    }

    /// Returns the acknowledgement to put in front of a datagram to a guest, if one is due.
    pub fn front(
        &mut self,
        client: u64,
        now: Duration,
    ) -> Option<[u8; StreamAcknowledgement::BYTES]> {
        self.present.get_mut(&client)?.acknowledgement(now, ACKNOWLEDGE_EVERY)
    }

    /// Returns the next datagram that is due. It is a seat, or an acknowledgement that found no
    /// other datagram to travel with. It is valid until the next call.
    pub fn poll_transmit(&mut self, now: Duration) -> Option<(u64, &[u8])> {
        let out = &mut self.out;
        let due =
            |(client, player): (&u64, &mut Player)| player.write_due(now, out).then_some(*client);
        let client = self.present.iter_mut().find_map(due)?;
        Some((client, &self.out))
    }

    pub fn playing(&self) -> usize {
        self.playing
    }

    /// Returns the maximum number of guests that played at once.
    pub fn peak(&self) -> usize {
        self.peak
    }

    /// The counts of all guests so far.
    pub fn counts(&self) -> KeyCounts {
        let mut counts = self.ended;
        self.present.values().for_each(|player| counts.add(&player.keys.stats()));
        counts
    }
}

impl Player {
    /// Returns a new player. The result is never `None`, because the configurations are constant
    /// and valid.
    fn new(keys: &StreamCodec, seats: &StreamCodec) -> Option<Self> {
        Some(Self {
            keys: StreamReceiver::new(keys, key_config()).ok()?,
            seats: StreamSender::new(seats, seat_config()).ok()?,
            entity: None,
            asks_at: Duration::ZERO,
            is_refused: false,
            holds_since: None,
            seat_from: None,
            seat_due: Duration::MAX,
            acknowledged: None,
            acknowledged_at: Duration::ZERO,
        })
    }

    /// Assigns the cube `entity`, or no cube, and queues the new seat for the guest.
    fn seat(&mut self, entity: Option<EntityId>, now: Duration) {
        self.entity = entity;
        self.seat_from = None;
        self.seat_due = now;
    }

    fn acknowledgement(
        &mut self,
        now: Duration,
        every: Duration,
    ) -> Option<[u8; StreamAcknowledgement::BYTES]> {
        let newest = self.keys.acknowledgement()?;
        let is_due = self
            .acknowledged
            .is_none_or(|last| last != newest && now >= self.acknowledged_at + every);
        is_due.then(|| {
            (self.acknowledged, self.acknowledged_at) = (Some(newest), now);
            newest.to_bytes()
        })
    }

    /// Writes the datagram that is due. Returns false if no datagram is due.
    fn write_due(&mut self, now: Duration, out: &mut Vec<u8>) -> bool {
        out.clear();
        if now >= self.seat_due && !self.knows_seat() {
            self.seat_due = now + SEAT_EVERY;
            let pushed = self.seats.push(&Seat::of(self.entity));
            debug_assert!(pushed.is_ok(), "a seat is always within its range: {pushed:?}");
            self.seat_from = self.seat_from.or(pushed.ok());
            out.extend(self.acknowledgement(now, Duration::ZERO).into_iter().flatten());
            out.extend(self.seats.poll_transmit().unwrap_or_default());
        } else {
            out.extend(self.acknowledgement(now, ACKNOWLEDGE_ALONE).into_iter().flatten());
        }
        !out.is_empty()
    }

    /// Returns whether the guest has acknowledged a record of its seat.
    fn knows_seat(&self) -> bool {
        let known = self.seats.acknowledged().zip(self.seat_from);
        known.is_some_and(|(acknowledged, from)| acknowledged.since(from) >= 0)
    }
}

impl KeyCounts {
    fn add(&mut self, stats: &StreamReceiverStats) {
        self.packets += stats.packets;
        self.full += stats.full;
        self.bytes += stats.bytes;
        self.records += stats.records;
        self.recovered += stats.recovered;
        self.lost_bases += stats.lost_bases;
        self.limited += stats.limited;
        self.out_of_place += stats.duplicates + stats.too_old + stats.too_far_ahead;
        self.malformed += stats.bad_headers + stats.mismatched + stats.malformed;
    }

    /// Returns the difference from an earlier count. Only packets and bytes are subtracted.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            packets: self.packets - before.packets,
            bytes: self.bytes - before.bytes,
            ..Self::default()
        }
    }

    /// Returns the mean bits of a packet, including its header.
    pub fn bits_a_packet(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.packets.max(1) as f64
    }
}
