//! Reads and writes stream acknowledgements, as sections 8.2 and 8.4 of `spec/NET.md` define them.

use super::StreamRefused;
use crate::Sequence;
use crate::packet::STREAM_ACKNOWLEDGEMENT;

/// Set in the first byte of an acknowledgement that has a timing.
const TIMED: u8 = 1 << 3;
/// How many of the newest numbers a timing covers, because it has 4 bits for the index.
pub(crate) const TIMED_RECORDS: u16 = 16;
const INDEX_SHIFT: u32 = 12;
/// The parts of a tick that a timing counts.
pub(crate) const PARTS: i64 = 16;
const MOST_EARLY: i64 = (1 << (INDEX_SHIFT - 1)) - 1;

/// How early a record arrived at a server that uses it at the record's tick. An
/// [`InputClock`](crate::InputClock) takes this to compute the tick to simulate.
///
/// ```
/// use kinepack_net::{Sequence, StreamAcknowledgement, StreamTiming};
///
/// // `StreamReceiver::write_acknowledgement` writes these bytes: number 10, and a timing.
/// let acknowledgement = StreamAcknowledgement::from_bytes(&[15, 10, 0, 0xD5, 0x2F])?;
/// let late = StreamTiming { number: Sequence(8), early_parts: -43 };
/// assert_eq!(acknowledgement.timing, Some(late));
/// assert_eq!(late.early_ticks(), -2.6875);
/// # Ok::<(), kinepack_net::StreamRefused>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamTiming {
    /// The record's number.
    pub number: Sequence,
    /// How early the record arrived before the server needed it, in sixteenths of a tick, from
    /// -2,048 to 2,047. Negative if the record arrived too late.
    pub early_parts: i16,
}

impl StreamTiming {
    /// Whether the acknowledgement of `newest` has the timing of this record, whatever that is.
    /// Otherwise it has that of the least early of the last 16 records.
    pub(crate) fn is_sample(newest: Sequence) -> bool {
        newest.0.count_ones() % 2 == 1
    }

    /// How early the record arrived, in ticks. Negative if it arrived too late.
    pub fn early_ticks(&self) -> f64 {
        f64::from(self.early_parts) / PARTS as f64
    }
}

/// Limits how early a record arrived to what a timing can hold.
pub(super) fn to_early_parts(parts: i64) -> i16 {
    parts.clamp(-MOST_EARLY - 1, MOST_EARLY) as i16
}

/// What the receiver of a stream sends back to the sender, alone or in front of another datagram
/// ([`split_datagram`](crate::split_datagram)).
///
/// ```
/// use kinepack_net::{DatagramKind, datagram_kind, split_datagram};
/// use kinepack_net::{Sequence, StreamAcknowledgement};
///
/// // `StreamReceiver::acknowledgement` makes one. It travels in front of the next snapshot.
/// let acknowledgement = StreamAcknowledgement { newest: Sequence(41), timing: None };
/// let mut datagrams = Vec::new();
/// acknowledgement.write(&mut datagrams);
/// datagrams.extend([0, 7, 0, 0, 0]); // a snapshot
///
/// let front = split_datagram(&datagrams)?.next().ok_or("empty")?;
/// assert_eq!(datagram_kind(front), Some(DatagramKind::StreamAcknowledgement));
/// // `StreamSender::handle` takes it.
/// assert_eq!(StreamAcknowledgement::from_bytes(front)?, acknowledgement);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamAcknowledgement {
    /// The number of the newest accepted packet.
    pub newest: Sequence,
    /// How early the records arrive, if the receiver uses them [by
    /// ticks](super::StreamReceiver::record_for_tick): about half of the time that of the newest
    /// record, otherwise that of the least early of the last 16.
    pub timing: Option<StreamTiming>,
}

impl StreamAcknowledgement {
    /// The length of the longest acknowledgement in bytes, without a channel.
    pub const MOST_BYTES: usize = 5;

    /// Appends the acknowledgement, without a channel, to `out`: 3 bytes, or 5 with a timing. If
    /// the timing's number is not among the last 16, the timing is left out.
    pub fn write(&self, out: &mut Vec<u8>) {
        let timing = self.timing.and_then(|timing| {
            let index = u16::try_from(self.newest.since(timing.number)).ok()?;
            let early = to_early_parts(timing.early_parts.into()) as u16;
            let word = index << INDEX_SHIFT | early & ((1 << INDEX_SHIFT) - 1);
            (index < TIMED_RECORDS).then_some(word)
        });
        out.push(STREAM_ACKNOWLEDGEMENT | if timing.is_some() { TIMED } else { 0 });
        out.extend(self.newest.0.to_le_bytes());
        if let Some(word) = timing {
            out.extend(word.to_le_bytes());
        }
    }

    /// The acknowledgement as a datagram of its own, without a channel.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::MOST_BYTES);
        self.write(&mut bytes);
        bytes
    }

    /// Reads an acknowledgement from a datagram without a channel.
    ///
    /// # Errors
    /// Returns [`StreamRefused::Kind`] or [`StreamRefused::Length`].
    pub fn from_bytes(datagram: &[u8]) -> Result<Self, StreamRefused> {
        let too_short = StreamRefused::Length { bytes: datagram.len() };
        let (&first_byte, rest) = datagram.split_first().ok_or(too_short)?;
        let bytes = acknowledgement_bytes(first_byte).ok_or(StreamRefused::Kind { first_byte })?;
        if datagram.len() != bytes {
            return Err(StreamRefused::Length { bytes: datagram.len() });
        }
        let (number, rest) = rest.split_first_chunk().ok_or(too_short)?;
        let newest = Sequence(u16::from_le_bytes(*number));
        let timing = rest.first_chunk().map(|word| {
            let word = u16::from_le_bytes(*word);
            // The shifts extend the sign.
            let early_parts =
                (word << (u16::BITS - INDEX_SHIFT)) as i16 >> (u16::BITS - INDEX_SHIFT);
            StreamTiming { number: newest.before(word >> INDEX_SHIFT), early_parts }
        });
        Ok(Self { newest, timing })
    }
}

/// The length of an acknowledgement whose first byte is `first_byte`; `None` if no acknowledgement
/// has this first byte.
pub(crate) fn acknowledgement_bytes(first_byte: u8) -> Option<usize> {
    match first_byte {
        STREAM_ACKNOWLEDGEMENT => Some(3),
        _ if first_byte == STREAM_ACKNOWLEDGEMENT | TIMED => {
            Some(StreamAcknowledgement::MOST_BYTES)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_acknowledgements_of_the_specification_parse() {
        let newest = Sequence(0x0102);
        let plain = StreamAcknowledgement { newest, timing: None };
        assert_eq!(plain.to_bytes(), [7, 2, 1]);
        assert_eq!(StreamAcknowledgement::from_bytes(&[7, 2, 1]), Ok(plain));

        let timing = Some(StreamTiming { number: newest.before(2), early_parts: -43 });
        let timed = StreamAcknowledgement { newest, timing };
        assert_eq!(timed.to_bytes(), [15, 2, 1, 0xD5, 0x2F]);
        assert_eq!(StreamAcknowledgement::from_bytes(&timed.to_bytes()), Ok(timed));
    }

    #[test]
    fn every_timing_round_trips() {
        for word in 0..=u16::MAX {
            let [low, high] = word.to_le_bytes();
            let datagram = [15, 3, 0, low, high];
            let read = StreamAcknowledgement::from_bytes(&datagram).unwrap();
            assert_eq!(read.to_bytes(), datagram);
        }
    }

    #[test]
    fn a_timing_that_does_not_fit_is_limited_or_left_out() {
        let newest = Sequence(3);
        let of = |number, early_parts| {
            let timing = Some(StreamTiming { number, early_parts });
            let written = StreamAcknowledgement { newest, timing }.to_bytes();
            StreamAcknowledgement::from_bytes(&written).unwrap().timing
        };
        let limited = |early_parts| Some(StreamTiming { number: newest, early_parts });
        assert_eq!(of(newest, i16::MAX), limited(2047));
        assert_eq!(of(newest, i16::MIN), limited(-2048));
        assert_eq!(of(newest.before(16), 0), None);
        assert_eq!(of(newest.after(1), 0), None);
    }

    #[test]
    fn others_are_refused() {
        for datagram in [&[][..], &[7], &[7, 2], &[7, 2, 1, 0], &[15, 2, 1], &[15, 2, 1, 0]] {
            let bytes = datagram.len();
            assert_eq!(
                StreamAcknowledgement::from_bytes(datagram),
                Err(StreamRefused::Length { bytes })
            );
        }
        for first_byte in (0..=255).filter(|byte| ![7, 15].contains(byte)) {
            assert_eq!(
                StreamAcknowledgement::from_bytes(&[first_byte, 2, 1]),
                Err(StreamRefused::Kind { first_byte })
            );
        }
    }
}
