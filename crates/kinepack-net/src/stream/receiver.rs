//! The server's end of a stream. It accepts packets, restores their records, and refuses what no
//! honest client sends. See `spec/NET.md`, section 8.3.

use std::time::Duration;

use kinepack::stream::{Learned, StreamCodec};
use kinepack::{DecodeError, Pack, Tick};

use super::acknowledgement::{PARTS, TIMED_RECORDS, to_early_parts};
use super::limit::RateLimit;
use super::packet::{HeaderBase, MOST_RECORDS, StreamHeader};
use super::ring::{Held, Ring};
use super::{
    StreamAcknowledgement, StreamConfig, StreamError, StreamReceiverStats, StreamRefused,
    StreamTiming,
};
use crate::Sequence;
use crate::trace::event;

/// A packet that the receiver accepted, with its new records.
///
/// ```
/// # use std::time::Duration;
/// # use kinepack::Pack;
/// # use kinepack::stream::{StreamCodec, StreamLevel};
/// # use kinepack_net::{StreamConfig, StreamReceiver, StreamSender};
/// # #[derive(Pack)]
/// # struct Input {
/// #     jump: bool,
/// # }
/// # let codec = StreamCodec::of::<Input>(StreamLevel::Packed)?;
/// # let mut client = StreamSender::new(&codec, StreamConfig::at_hz(60))?;
/// # let mut server = StreamReceiver::new(&codec, StreamConfig::at_hz(60))?;
/// client.push(&Input { jump: true })?;
/// let _lost = client.poll_transmit();
/// client.push(&Input { jump: false })?;
/// let datagram = client.poll_transmit().ok_or("nothing to send")?;
///
/// // The second packet repeats the record of the lost one.
/// let handled = server.handle(Duration::ZERO, datagram)?;
/// let mut jumps = Vec::new();
/// for record in handled.records() {
///     jumps.push((record.number.0, record.read::<Input>()?.jump, record.repeated));
/// }
/// assert_eq!(jumps, [(0, true, true), (1, false, false)]);
/// assert_eq!(server.stats().recovered, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StreamHandled<'a> {
    /// The packet's number, which is the number of its newest record.
    pub number: Sequence,
    /// Whether a newer packet was accepted before.
    pub late: bool,
    fresh: Fresh,
    ring: &'a Ring,
    codec: &'a StreamCodec,
}

impl<'a> StreamHandled<'a> {
    /// The records that no earlier packet had, oldest first.
    pub fn records(&self) -> impl Iterator<Item = StreamRecord<'a>> + use<'a> {
        let Self { fresh: Fresh { number: newest, new_bits, newest_before }, ring, codec, .. } =
            *self;
        (0..MOST_RECORDS as u16).rev().filter(move |index| new_bits >> index & 1 == 1).filter_map(
            move |index| {
                let number = newest.before(index);
                let late = newest_before.is_some_and(|newest| number.since(newest) < 0);
                let lanes = ring.record(number)?;
                Some(StreamRecord { number, lanes, repeated: index > 0, late, codec })
            },
        )
    }
}

/// A record that the receiver hands on. [`StreamHandled`] has an example.
#[derive(Clone, Copy, Debug)]
pub struct StreamRecord<'a> {
    /// The record's number. If a number is missing, its record is lost or still in flight.
    pub number: Sequence,
    /// The record's lanes.
    pub lanes: &'a [u32],
    /// Whether the record arrived as a repeat, because the packet with its number is missing.
    pub repeated: bool,
    /// Whether an earlier packet handed on a newer record.
    pub late: bool,
    codec: &'a StreamCodec,
}

impl StreamRecord<'_> {
    /// The record's value.
    ///
    /// # Errors
    /// Returns [`DecodeError::TypeMismatch`] for a type of another schema.
    pub fn read<T: Pack>(&self) -> Result<T, DecodeError> {
        self.codec.reconstruct(self.lanes)
    }
}

/// Receives the stream of one client.
///
/// Pass each datagram to [`handle`](Self::handle), which returns the new records in it. Send the
/// [`acknowledgement`](Self::acknowledgement) with any datagram to the client, at least a few times
/// within the configuration's longest round trip. The caller supplies the time. The receiver
/// allocates all its memory, [`memory_bytes`](Self::memory_bytes), at the beginning, whatever
/// arrives. After a silence of more than 2¹⁵ records, nine minutes at 60 Hz, the next full packet
/// begins the stream anew.
///
/// If two streams of the same direction share a connection, give each a channel of its own:
/// [`StreamConfig::channel`].
///
/// ```
/// use std::time::Duration;
/// use kinepack::Pack;
/// use kinepack::stream::{StreamCodec, StreamLevel};
/// use kinepack_net::{StreamConfig, StreamReceiver, StreamSender};
///
/// #[derive(Pack, Debug, PartialEq)]
/// struct Input {
///     jump: bool,
/// }
///
/// let codec = StreamCodec::of::<Input>(StreamLevel::Packed)?;
/// let mut client = StreamSender::new(&codec, StreamConfig::at_hz(60))?;
/// let mut server = StreamReceiver::new(&codec, StreamConfig::at_hz(60))?;
/// client.push(&Input { jump: true })?;
/// let datagram = client.poll_transmit().ok_or("nothing to send")?;
/// for record in server.handle(Duration::ZERO, datagram)?.records() {
///     assert_eq!(record.read::<Input>()?, Input { jump: true });
/// }
/// assert_eq!(server.stats().records, 1);
/// assert!(server.handle(Duration::ZERO, datagram).is_err(), "a duplicate");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct StreamReceiver {
    codec: StreamCodec,
    config: StreamConfig,
    ring: Ring,
    /// When the newest packet was accepted.
    newest_at: Duration,
    limit: RateLimit,
    /// The last tick that the server simulated, and when; `None` if records are not for ticks.
    simulated: Option<Simulated>,
    /// The records of a packet, oldest first.
    records: Vec<u32>,
    learned: Learned,
    stats: StreamReceiverStats,
}

/// A tick that the server simulated.
#[derive(Clone, Copy, Debug)]
struct Simulated {
    number: Sequence,
    at: Duration,
}

impl Simulated {
    /// How early the record `number` is if it arrives at `now`, in parts of a tick. Negative if its
    /// tick was already simulated.
    fn early_parts(&self, now: Duration, number: Sequence, rate_hz: u32) -> i16 {
        const NANOS_PER_S: u128 = 1_000_000_000;
        let since = now.saturating_sub(self.at).as_nanos();
        let elapsed_parts = since.saturating_mul(PARTS as u128 * u128::from(rate_hz)) / NANOS_PER_S;
        let elapsed_parts = i64::try_from(elapsed_parts).unwrap_or(i64::MAX);
        let ahead_ticks = i64::from(number.since(self.number));
        let parts = (PARTS * ahead_ticks).saturating_sub(elapsed_parts);
        to_early_parts(if ahead_ticks > 0 { parts.max(0) } else { parts.min(-1) })
    }
}

/// The new records of a packet.
#[derive(Clone, Copy, Debug)]
struct Fresh {
    /// The packet's number.
    number: Sequence,
    /// Bit i is set if the record with the number `number` − i is new.
    new_bits: u16,
    /// The number of the newest packet that was accepted before this one.
    newest_before: Option<Sequence>,
}

impl StreamReceiver {
    /// Makes a receiver that has not accepted any packet.
    ///
    /// # Errors
    /// Returns [`StreamError`] for an invalid configuration.
    pub fn new(codec: &StreamCodec, config: StreamConfig) -> Result<Self, StreamError> {
        config.validate()?;
        Ok(Self {
            ring: Ring::new(codec, config.ring_packets()),
            newest_at: Duration::ZERO,
            limit: RateLimit::new(&config),
            simulated: None,
            records: vec![0; MOST_RECORDS * codec.lanes()],
            learned: codec.nothing_learned(),
            stats: StreamReceiverStats::default(),
            codec: codec.clone(),
            config,
        })
    }

    /// Takes a packet, and returns its new records.
    ///
    /// # Errors
    /// Returns [`StreamRefused`]; then only a counter has changed. After
    /// [`Malformed`](StreamRefused::Malformed), the receiver also accepts fewer records until time
    /// has passed.
    pub fn handle(
        &mut self,
        now: Duration,
        datagram: &[u8],
    ) -> Result<StreamHandled<'_>, StreamRefused> {
        let fresh = self.take(now, datagram).inspect_err(|refused| {
            event!(debug, reason = %refused, "stream packet refused");
            self.stats.count(refused);
        })?;
        let late = fresh.newest_before.is_some_and(|newest| fresh.number.since(newest) < 0);
        self.stats.packets += 1;
        self.stats.late += u64::from(late);
        self.stats.bytes += datagram.len() as u64;
        self.stats.records += u64::from(fresh.new_bits.count_ones());
        self.stats.recovered += u64::from((fresh.new_bits >> 1).count_ones());
        let Self { ring, codec, .. } = self;
        Ok(StreamHandled { number: fresh.number, late, fresh, ring, codec })
    }

    fn take(&mut self, now: Duration, datagram: &[u8]) -> Result<Fresh, StreamRefused> {
        let rest = self.config.channel.strip(datagram);
        let rest = rest.ok_or_else(|| StreamRefused::channel(datagram))?;
        let (header, bytes) = StreamHeader::parse(rest)?;
        let number = header.number;
        if let HeaderBase::Full { hash: theirs } = header.base
            && theirs != self.codec.hash()
        {
            return Err(StreamRefused::Mismatch { ours: self.codec.hash(), theirs });
        }
        let restarts = match self.check_number(now, number) {
            Ok(()) => false,
            Err(StreamRefused::TooOld | StreamRefused::TooFarAhead { .. })
                if self.restarts(now, &header) =>
            {
                true
            }
            Err(refused) => return Err(refused),
        };
        let base = match header.base {
            HeaderBase::Full { .. } => None,
            HeaderBase::Back(back) => {
                let (base, lag) =
                    (number.before(u16::from(back)), u16::from(back - header.count) + 1);
                Some(self.ring.base(base, lag).ok_or(StreamRefused::NoBase { base })?)
            }
        };
        let new_bits = if restarts {
            u16::MAX >> (u16::BITS - u32::from(header.count))
        } else {
            self.new_records(&header)
        };
        if !self.limit.take(now, new_bits.count_ones().max(1)) {
            return Err(StreamRefused::Limited);
        }
        let lanes = self.codec.lanes();
        let records = &mut self.records[..usize::from(header.count) * lanes];
        self.codec
            .decode(base, records, &mut self.learned, bytes)
            .map_err(StreamRefused::Malformed)?;

        // From here on, nothing can fail.
        if new_bits == 0 {
            self.limit.give_back();
        }
        if restarts {
            self.ring.clear();
            self.stats.restarts += 1;
        }
        let newest_before = self.ring.newest();
        let late = newest_before.is_some_and(|newest| number.since(newest) < 0);
        if !late {
            self.ring.advance(number);
            self.newest_at = now;
        }
        for (index, record) in
            self.records[..usize::from(header.count) * lanes].rchunks_exact(lanes).enumerate()
        {
            if new_bits >> index & 1 == 1 {
                let number = number.before(index as u16);
                self.ring.put(number, record);
                if let Some(simulated) = &self.simulated {
                    let parts = simulated.early_parts(now, number, self.config.rate_hz);
                    self.ring.note_early(number, parts);
                }
            }
        }
        self.ring.make_base(number, &mut self.learned);
        self.stats.full += u64::from(matches!(header.base, HeaderBase::Full { .. }));
        Ok(Fresh { number, new_bits, newest_before })
    }

    /// Whether a packet with the number `number` may arrive now.
    fn check_number(&self, now: Duration, number: Sequence) -> Result<(), StreamRefused> {
        let Some(newest) = self.ring.newest() else { return Ok(()) };
        let ahead = number.since(newest);
        if ahead <= 0 {
            let is_old = -ahead >= self.ring.len() as i32;
            let is_held = self.ring.held(number) == Held::Packet;
            return match (is_old, is_held) {
                (true, _) => Err(StreamRefused::TooOld),
                (_, true) => Err(StreamRefused::Duplicate),
                _ => Ok(()),
            };
        }
        let limit = self.farthest(now);
        if ahead > i32::from(limit) { Err(StreamRefused::TooFarAhead { limit }) } else { Ok(()) }
    }

    /// Whether a packet with the header `header` restarts the stream. It does if it needs no base,
    /// and half of all numbers may have passed since the newest packet. Then the numbers no longer
    /// show which packet is newer.
    fn restarts(&self, now: Duration, header: &StreamHeader) -> bool {
        let elapsed_ms = now.saturating_sub(self.newest_at).as_millis();
        let sent = elapsed_ms.saturating_mul(u128::from(self.config.rate_hz)) / 1000;
        matches!(header.base, HeaderBase::Full { .. }) && sent > 0x8000
    }

    /// How far the number of a packet may be ahead of the newest packet. It is a ring's length,
    /// plus twice the number of records that the client can have sent since that packet.
    fn farthest(&self, now: Duration) -> u16 {
        let elapsed_ms = now.saturating_sub(self.newest_at).as_millis();
        let sent = elapsed_ms.saturating_mul(2 * u128::from(self.config.rate_hz)) / 1000;
        (self.ring.len() as u128).saturating_add(sent).min(0x7FFF) as u16
    }

    /// Bit i of the result is set if the record with the packet's number − i is new.
    fn new_records(&self, header: &StreamHeader) -> u16 {
        let newest = self
            .ring
            .newest()
            .filter(|newest| header.number.since(*newest) < 0)
            .unwrap_or(header.number);
        let is_new = |index: &u16| {
            let number = header.number.before(*index);
            newest.since(number) < self.ring.len() as i32 && self.ring.held(number) == Held::Nothing
        };
        (0..u16::from(header.count)).filter(is_new).fold(0, |new_bits, index| new_bits | 1 << index)
    }

    /// The lanes of a record, as long as the ring holds it.
    pub fn record(&self, number: Sequence) -> Option<&[u32]> {
        self.ring.record(number)
    }

    /// A record's value, as long as the ring holds the record.
    ///
    /// # Errors
    /// Returns [`DecodeError::TypeMismatch`] for a type of another schema.
    pub fn read<T: Pack>(&self, number: Sequence) -> Result<Option<T>, DecodeError> {
        self.ring.record(number).map(|record| self.codec.reconstruct(record)).transpose()
    }

    /// The lanes of the record for `tick`, which the server simulates at `now`. `None` if the
    /// record did not arrive in time; most games then repeat the last input.
    ///
    /// Call this once for each tick if the client numbers its records by ticks, as an
    /// [`InputClock`](crate::InputClock) does. From then on, acknowledgements tell the client how
    /// early its records arrive, and [`stats`](Self::stats) counts those that arrived in time. The
    /// records that [`handle`](Self::handle) returns are then not needed.
    ///
    /// The ring must hold the records that wait for their ticks:
    /// [`longest_round_trip`](StreamConfig::longest_round_trip) must be at least the time from
    /// sending a record until its tick.
    pub fn record_for_tick(&mut self, now: Duration, tick: Tick) -> Option<&[u32]> {
        let number = tick.into();
        self.simulated = Some(Simulated { number, at: now });
        let record = self.ring.record(number);
        let counter =
            if record.is_some() { &mut self.stats.in_time } else { &mut self.stats.missed };
        *counter += 1;
        record
    }

    /// The value of the record for `tick`, as [`record_for_tick`](Self::record_for_tick) returns
    /// it. [`InputClock`](crate::InputClock) has an example.
    ///
    /// # Errors
    /// Returns [`DecodeError::TypeMismatch`] for a type of another schema.
    pub fn read_for_tick<T: Pack>(
        &mut self,
        now: Duration,
        tick: Tick,
    ) -> Result<Option<T>, DecodeError> {
        let is_there = self.record_for_tick(now, tick).is_some();
        if is_there { self.read(tick.into()) } else { Ok(None) }
    }

    /// Appends the [`acknowledgement`](Self::acknowledgement), with the stream's channel, to `out`,
    /// a datagram for the sender. Returns false before the first packet.
    pub fn write_acknowledgement(&self, out: &mut Vec<u8>) -> bool {
        let acknowledgement = self.acknowledgement();
        if let Some(acknowledgement) = acknowledgement {
            self.config.channel.write(out);
            acknowledgement.write(out);
        }
        acknowledgement.is_some()
    }

    /// The acknowledgement to send back, again and again, with any datagram. The acknowledgement
    /// does not include the channel. `None` before the first packet.
    pub fn acknowledgement(&self) -> Option<StreamAcknowledgement> {
        let newest = self.ring.newest()?;
        let records = if StreamTiming::is_sample(newest) { 1 } else { TIMED_RECORDS };
        let timing = (0..records)
            .filter_map(|index| {
                let number = newest.before(index);
                Some(StreamTiming { number, early_parts: self.ring.early_parts(number)? })
            })
            .min_by_key(|timing| timing.early_parts);
        Some(StreamAcknowledgement { newest, timing })
    }

    /// The number of the newest packet and of its newest record. `None` before the first packet.
    pub fn newest(&self) -> Option<Sequence> {
        self.ring.newest()
    }

    /// The configuration.
    pub fn config(&self) -> &StreamConfig {
        &self.config
    }

    /// The counters.
    pub fn stats(&self) -> StreamReceiverStats {
        self.stats
    }

    /// The receiver's memory in bytes, without the codec, which is shared.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.ring.memory_bytes()
            + self.learned.memory_bytes()
            + self.records.capacity() * size_of::<u32>()
    }
}
