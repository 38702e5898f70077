//! The client's end of a stream. It numbers records, and codes packets against acknowledged ones.
//! See `spec/NET.md`, section 8.

use kinepack::stream::{Learned, StreamCodec};
use kinepack::{EncodeError, Pack, Tick};

use super::packet::{HeaderBase, LONGEST_HEADER_BYTES, MOST_RECORDS, StreamHeader};
use super::ring::{Held, Ring};
use super::{StreamAcknowledgement, StreamConfig, StreamError, StreamRefused, StreamSenderStats};
use crate::Sequence;
use crate::trace::event;

/// The maximum number of bytes that a lane of a record takes, including its class.
const MOST_BYTES_PER_LANE: usize = 6;

/// Sends a stream of records.
///
/// Call [`push`](Self::push) for each record, then [`poll_transmit`](Self::poll_transmit) for the
/// datagram to send. Call [`handle`](Self::handle) for each acknowledgement, whenever it arrives.
/// The sender needs no clock. It allocates all its memory, [`memory_bytes`](Self::memory_bytes), at
/// the beginning.
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
/// #[derive(Pack, Clone, Copy, Debug, PartialEq)]
/// struct Input {
///     #[pack(range = 0.0..360.0, bits = 16, wrap)]
///     view: [f32; 2],
///     jump: bool,
/// }
///
/// let codec = StreamCodec::of::<Input>(StreamLevel::Packed)?;
/// let mut client = StreamSender::new(&codec, StreamConfig::at_hz(60))?;
/// let mut server = StreamReceiver::new(&codec, StreamConfig::at_hz(60))?;
/// for step in 0..60 {
///     let now = Duration::from_secs(1) * step / 60;
///     client.push(&Input { view: [step as f32 * 0.5, 0.0], jump: step == 7 })?;
///     while let Some(datagram) = client.poll_transmit() {
///         // Over your transport.
///         for record in server.handle(now, datagram)?.records() {
///             assert_eq!(record.read::<Input>()?.jump, step == 7);
///         }
///     }
///     let mut back = Vec::new();
///     if server.write_acknowledgement(&mut back) {
///         client.handle(&back)?; // in front of whatever goes back
///     }
/// }
/// assert_eq!(server.stats().records, 60);
/// assert!(client.stats().full == 1 && client.stats().bytes < 60 * 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct StreamSender {
    codec: StreamCodec,
    config: StreamConfig,
    ring: Ring,
    /// The number of records pushed since the last packet, at most the ring's length.
    unsent: usize,
    /// The newest acknowledged packet. Invariant: the ring holds it.
    acknowledged: Option<Sequence>,
    /// The records of a packet, oldest first.
    records: Vec<u32>,
    learned: Learned,
    out: Vec<u8>,
    stats: StreamSenderStats,
}

impl StreamSender {
    /// Makes a sender without acknowledged packets.
    ///
    /// # Errors
    /// Returns [`StreamError`] for an invalid configuration.
    pub fn new(codec: &StreamCodec, config: StreamConfig) -> Result<Self, StreamError> {
        config.validate()?;
        let lanes = MOST_RECORDS * codec.lanes();
        Ok(Self {
            ring: Ring::new(codec, config.ring_packets()),
            unsent: 0,
            acknowledged: None,
            records: vec![0; lanes],
            learned: codec.nothing_learned(),
            out: Vec::with_capacity(LONGEST_HEADER_BYTES + MOST_BYTES_PER_LANE * lanes),
            stats: StreamSenderStats::default(),
            codec: codec.clone(),
            config,
        })
    }

    /// Adds a record, and returns its number.
    ///
    /// # Errors
    /// Returns [`EncodeError::TypeMismatch`] for a type of another schema, and the errors of
    /// [`StreamCodec::quantize`]. Then nothing has changed.
    pub fn push<T: Pack>(&mut self, value: &T) -> Result<Sequence, EncodeError> {
        self.push_at(self.next(), value)
    }

    /// Adds the record of a tick of the server, as an [`InputClock`](crate::InputClock) asks for
    /// it, and returns its number: the tick modulo 2¹⁶.
    ///
    /// Ticks that the clock skipped have no record. If the tick is not after that of the newest
    /// record, or 2¹⁵ or more after it, the sender forgets all records and begins anew with a full
    /// packet.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn push_for_tick<T: Pack>(
        &mut self,
        tick: Tick,
        value: &T,
    ) -> Result<Sequence, EncodeError> {
        self.push_at(tick.into(), value)
    }

    fn push_at<T: Pack>(&mut self, number: Sequence, value: &T) -> Result<Sequence, EncodeError> {
        let mut records = std::mem::take(&mut self.records);
        let record = &mut records[..self.codec.lanes()];
        let pushed =
            self.codec.quantize(value, record).and_then(|()| self.push_lanes_at(number, record));
        self.records = records;
        pushed
    }

    /// Adds a record whose lanes are already quantized.
    ///
    /// # Errors
    /// Returns [`EncodeError::LaneCount`] or [`EncodeError::LaneOutOfRange`]. Then nothing has
    /// changed.
    pub fn push_lanes(&mut self, lanes: &[u32]) -> Result<Sequence, EncodeError> {
        self.push_lanes_at(self.next(), lanes)
    }

    /// Adds the record of a tick of the server, whose lanes are already quantized. See
    /// [`push_for_tick`](Self::push_for_tick).
    ///
    /// # Errors
    /// As for [`push_lanes`](Self::push_lanes).
    pub fn push_lanes_for_tick(
        &mut self,
        tick: Tick,
        lanes: &[u32],
    ) -> Result<Sequence, EncodeError> {
        self.push_lanes_at(tick.into(), lanes)
    }

    fn push_lanes_at(&mut self, number: Sequence, lanes: &[u32]) -> Result<Sequence, EncodeError> {
        self.check_count(lanes.len())?;
        self.codec.check_lanes(lanes)?;
        let is_ahead = |newest| number.since(newest) > 0;
        if !self.ring.newest().is_none_or(is_ahead) {
            self.ring.clear();
            self.unsent = 0;
        }
        self.ring.advance(number);
        self.ring.put(number, lanes);
        self.acknowledged = self.acknowledged.filter(|base| self.ring.held(*base) == Held::Packet);
        self.unsent = (self.unsent + 1).min(self.ring.len());
        self.stats.records += 1;
        Ok(number)
    }

    fn next(&self) -> Sequence {
        self.ring.newest().map_or(self.config.first_number, |newest| newest.after(1))
    }

    fn check_count(&self, lanes: usize) -> Result<(), EncodeError> {
        let expected_lanes = self.codec.lanes();
        if lanes == expected_lanes {
            Ok(())
        } else {
            Err(EncodeError::LaneCount { expected_lanes, lanes })
        }
    }

    /// The packet to send for the newest record, valid until the next call. `None` if no record was
    /// pushed since the last packet.
    ///
    /// The packet contains all records that were not yet in a packet, and as many repeats of
    /// earlier records as the configuration asks for. It contains at most 16 records, no record
    /// older than its base, and no more than fit into a datagram. It always contains the newest
    /// record.
    pub fn poll_transmit(&mut self) -> Option<&[u8]> {
        let number = self.ring.newest().filter(|_| self.unsent > 0)?;
        let back = self.acknowledged.and_then(|base| u8::try_from(number.since(base)).ok());
        let wanted = self
            .unsent
            .max(1 + usize::from(self.config.repeats))
            .min(back.map_or(MOST_RECORDS, usize::from));
        let mut count = self.gather(number, wanted.min(MOST_RECORDS));
        self.write(number, back, count)?;
        while self.out.len() > self.config.datagram_bytes && count > 1 {
            count /= 2;
            self.write(number, back, count)?;
        }
        self.ring.make_base(number, &mut self.learned);
        self.unsent = 0;
        self.stats.packets += 1;
        self.stats.full += u64::from(back.is_none());
        self.stats.bytes += self.out.len() as u64;
        self.stats.sent_records += count as u64;
        Some(&self.out)
    }

    /// Copies the newest `wanted` records up to `number`, or as many as the ring holds, to the end
    /// of `records`. Returns how many it copied.
    fn gather(&mut self, number: Sequence, wanted: usize) -> usize {
        let lanes = self.codec.lanes();
        let places = self.records.rchunks_exact_mut(lanes).take(wanted);
        let mut count = 0;
        for place in places {
            let Some(record) = self.ring.record(number.before(count as u16)) else { break };
            place.copy_from_slice(record);
            count += 1;
        }
        count
    }

    /// Writes the packet of the `count` records at the end of `records`. `None` if the codec does
    /// not accept the records or the base; then no packet is sent.
    fn write(&mut self, number: Sequence, back: Option<u8>, count: usize) -> Option<()> {
        let base = match back {
            Some(back) => {
                let lag = (u16::from(back) + 1).checked_sub(count as u16)?;
                Some(self.ring.base(number.before(u16::from(back)), lag)?)
            }
            None => None,
        };
        let header_base =
            back.map_or(HeaderBase::Full { hash: self.codec.hash() }, HeaderBase::Back);
        let header = StreamHeader { number, count: count as u8, base: header_base };
        self.out.clear();
        self.config.channel.write(&mut self.out);
        header.write(&mut self.out);
        let first = self.records.len() - count * self.codec.lanes();
        self.codec.encode(base, &self.records[first..], &mut self.learned, &mut self.out).ok()
    }

    /// Takes an acknowledgement, and returns it, for an [`InputClock`](crate::InputClock).
    ///
    /// # Errors
    /// Returns [`StreamRefused`], such as [`NeverSent`](StreamRefused::NeverSent). Then only a
    /// counter has changed.
    pub fn handle(&mut self, datagram: &[u8]) -> Result<StreamAcknowledgement, StreamRefused> {
        let taken = self.take(datagram);
        match taken {
            Ok(acknowledgement) => {
                let number = acknowledgement.newest;
                if self.acknowledged.is_none_or(|base| number.since(base) > 0) {
                    self.acknowledged = Some(number);
                    self.stats.acknowledged += 1;
                }
            }
            Err(refused) => {
                event!(debug, reason = %refused, "stream acknowledgement refused");
                self.stats.refused += 1;
                return Err(refused);
            }
        }
        taken
    }

    /// Reads an acknowledgement of a packet that the ring holds.
    fn take(&self, datagram: &[u8]) -> Result<StreamAcknowledgement, StreamRefused> {
        let rest = self.config.channel.strip(datagram);
        let rest = rest.ok_or_else(|| StreamRefused::channel(datagram))?;
        let acknowledgement = StreamAcknowledgement::from_bytes(rest)?;
        let newest = self.ring.newest().ok_or(StreamRefused::NeverSent)?;
        // A number at a distance of half the number space is neither earlier nor later.
        let behind = newest.since(acknowledgement.newest);
        if !(0..0x8000).contains(&behind) {
            return Err(StreamRefused::NeverSent);
        }
        if behind >= self.ring.len() as i32 {
            return Err(StreamRefused::LongAgo);
        }
        if self.ring.held(acknowledgement.newest) != Held::Packet {
            return Err(StreamRefused::NeverSent);
        }
        Ok(acknowledgement)
    }

    /// The newest acknowledged packet. The next packet is coded against this packet, unless this
    /// packet falls out of the ring first. If `None`, the next packet is full.
    pub fn acknowledged(&self) -> Option<Sequence> {
        self.acknowledged
    }

    /// The number of the newest record.
    pub fn newest(&self) -> Option<Sequence> {
        self.ring.newest()
    }

    /// The configuration.
    pub fn config(&self) -> &StreamConfig {
        &self.config
    }

    /// The counters.
    pub fn stats(&self) -> StreamSenderStats {
        self.stats
    }

    /// The sender's memory in bytes, without the codec, which is shared.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.ring.memory_bytes()
            + self.learned.memory_bytes()
            + self.records.capacity() * size_of::<u32>()
            + self.out.capacity()
    }
}
