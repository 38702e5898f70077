//! The guests that play, and their keys. This is the server's end of the stream of `inputs.rs`.
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
    ReceiverId, StreamAcknowledgement, StreamReceiver, StreamReceiverStats, StreamRefused,
};

use crate::inputs::{key_codec, key_config};
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
    present: BTreeMap<u64, Player>,
    /// The number of guests with a cube.
    playing: usize,
    peak: usize,
    /// The total counts of guests that have disconnected.
    ended: KeyCounts,
}

/// What a guest must be told about its cube.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// The guest's cube, or `None` if the guest only watches.
    pub cube: Option<EntityId>,
    /// The notice about the guest for the log.
    pub notice: String,
}

/// One guest that has sent keys.
struct Player {
    keys: StreamReceiver,
    entity: Option<EntityId>,
    /// The time from which the guest may ask for a cube again.
    asks_at: Duration,
    is_refused: bool,
    /// The time at which the guest's held keys arrived.
    holds_since: Option<Duration>,
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
            present: BTreeMap::new(),
            playing: 0,
            peak: 0,
            ended: KeyCounts::default(),
        }
    }

    /// Takes a packet of a guest's keys. Returns the guest's seat if it has changed, or if the
    /// guest's first attempt to get a cube failed.
    pub fn handle(
        &mut self,
        client: u64,
        now: Duration,
        packet: &[u8],
        world: &mut Played,
    ) -> Option<Seat> {
        let player = match self.present.entry(client) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Player::new(&self.keys)?),
        };
        let handled = match player.keys.handle(now, packet) {
            Ok(handled) => handled,
            Err(refused @ StreamRefused::Mismatch { .. })
                if player.entity.is_none() && !player.is_refused =>
            {
                player.is_refused = true;
                return Some(Seat { cube: None, notice: format!("cannot play: {refused}") });
            }
            Err(_) => return None,
        };
        let newest = handled.records().filter(|record| !record.late).last();
        let keys = newest.and_then(|record| record.read::<Keys>().ok())?;
        let mut seat = None;
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
                    player.entity = Some(entity);
                    self.playing += 1;
                    self.peak = self.peak.max(self.playing);
                    let notice = format!("plays; players: {}", self.playing);
                    seat = Some(Seat { cube: Some(entity), notice });
                }
                Err(why) if is_first => {
                    seat = Some(Seat { cube: None, notice: format!("only watches: {why}") });
                }
                Err(_) => {}
            }
        }
        if player.entity.is_some() {
            world.hold_for(ReceiverId(client), Input::from(keys));
            player.holds_since = Some(now);
        }
        seat
    }

    /// Returns the cubes of all guests that play.
    pub fn cubes(&self) -> impl Iterator<Item = (ReceiverId, EntityId)> {
        let present = self.present.iter();
        present.filter_map(|(client, player)| Some((ReceiverId(*client), player.entity?)))
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
    pub fn front(&mut self, client: u64, now: Duration) -> Option<Vec<u8>> {
        self.present.get_mut(&client)?.acknowledgement(now, ACKNOWLEDGE_EVERY)
    }

    /// Returns the next acknowledgement that is due and found no other datagram to travel with.
    pub fn poll_transmit(&mut self, now: Duration) -> Option<(u64, Vec<u8>)> {
        let due = |(client, player): (&u64, &mut Player)| {
            Some((*client, player.acknowledgement(now, ACKNOWLEDGE_ALONE)?))
        };
        self.present.iter_mut().find_map(due)
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
    /// Returns a new player. The result is never `None`, because the configuration is constant
    /// and valid.
    fn new(keys: &StreamCodec) -> Option<Self> {
        Some(Self {
            keys: StreamReceiver::new(keys, key_config()).ok()?,
            entity: None,
            asks_at: Duration::ZERO,
            is_refused: false,
            holds_since: None,
            acknowledged: None,
            acknowledged_at: Duration::ZERO,
        })
    }

    fn acknowledgement(&mut self, now: Duration, every: Duration) -> Option<Vec<u8>> {
        let newest = self.keys.acknowledgement()?;
        let is_due = self
            .acknowledged
            .is_none_or(|last| last != newest && now >= self.acknowledged_at + every);
        is_due.then(|| {
            (self.acknowledged, self.acknowledged_at) = (Some(newest), now);
            newest.to_bytes()
        })
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
