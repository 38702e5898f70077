//! Reads and writes the headers of stream packets, and stream acknowledgements, as sections 8.1 and
//! 8.2 of `spec/NET.md` define them.

use super::StreamRefused;
use crate::Sequence;
use crate::packet::{KIND_MASK, STREAM_ACKNOWLEDGEMENT, STREAM_PACKET};

const FULL: u8 = 1 << 3;
const COUNT_SHIFT: u32 = 4;

/// The maximum number of records in a packet.
pub(super) const MOST_RECORDS: usize = 16;

/// The length of the longest header, which is that of a full packet.
pub(super) const LONGEST_HEADER_BYTES: usize = 11;

/// The header of a stream packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StreamHeader {
    /// The number of the newest record.
    pub(super) number: Sequence,
    /// The number of records, 1 to [`MOST_RECORDS`].
    pub(super) count: u8,
    pub(super) base: HeaderBase,
}

/// The base that the first record is coded against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeaderBase {
    /// The base is the packet this many numbers earlier. Invariant: at least `count`.
    Back(u8),
    /// The first record has no base. The header has the codec's hash instead.
    Full { hash: u64 },
}

impl StreamHeader {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let full = if matches!(self.base, HeaderBase::Full { .. }) { FULL } else { 0 };
        out.push(STREAM_PACKET | full | (self.count - 1) << COUNT_SHIFT);
        out.extend(self.number.0.to_le_bytes());
        match self.base {
            HeaderBase::Back(back) => out.push(back),
            HeaderBase::Full { hash } => out.extend(hash.to_le_bytes()),
        }
    }

    /// Splits a datagram into its header and its coded records.
    pub(super) fn parse(datagram: &[u8]) -> Result<(Self, &[u8]), StreamRefused> {
        let too_short = StreamRefused::Length { bytes: datagram.len() };
        let (&first_byte, rest) = datagram.split_first().ok_or(too_short)?;
        if first_byte & KIND_MASK != STREAM_PACKET {
            return Err(StreamRefused::Kind { first_byte });
        }
        let count = (first_byte >> COUNT_SHIFT) + 1;
        let (number, rest) = rest.split_first_chunk().ok_or(too_short)?;
        let number = Sequence(u16::from_le_bytes(*number));
        let (base, rest) = if first_byte & FULL != 0 {
            let (hash, rest) = rest.split_first_chunk().ok_or(too_short)?;
            (HeaderBase::Full { hash: u64::from_le_bytes(*hash) }, rest)
        } else {
            let (&back, rest) = rest.split_first().ok_or(too_short)?;
            if back < count {
                return Err(StreamRefused::BadBack { back, count });
            }
            (HeaderBase::Back(back), rest)
        };
        Ok((Self { number, count, base }, rest))
    }
}

/// The number of the newest accepted packet. The receiver sends this number back to the sender,
/// alone or in front of another datagram ([`split_datagram`](crate::split_datagram)).
///
/// ```
/// use kinepack_net::{DatagramKind, datagram_kind, split_datagram};
/// use kinepack_net::{Sequence, StreamAcknowledgement};
///
/// // `StreamReceiver::acknowledgement` makes one. It travels in front of the next snapshot.
/// let acknowledgement = StreamAcknowledgement(Sequence(41));
/// let snapshot = [0, 7, 0, 0, 0];
/// let datagrams = [&acknowledgement.to_bytes()[..], &snapshot].concat();
///
/// let front = split_datagram(&datagrams)?.next().ok_or("empty")?;
/// assert_eq!(datagram_kind(front), Some(DatagramKind::StreamAcknowledgement));
/// // `StreamSender::handle` takes it.
/// assert_eq!(StreamAcknowledgement::from_bytes(front)?, acknowledgement);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamAcknowledgement(pub Sequence);

impl StreamAcknowledgement {
    /// The length of an acknowledgement in bytes.
    pub const BYTES: usize = 3;

    /// Writes the acknowledgement as a datagram.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let [low, high] = self.0.0.to_le_bytes();
        [STREAM_ACKNOWLEDGEMENT, low, high]
    }

    /// Reads an acknowledgement from a datagram.
    ///
    /// # Errors
    /// Returns [`StreamRefused::Kind`] or [`StreamRefused::Length`].
    pub fn from_bytes(datagram: &[u8]) -> Result<Self, StreamRefused> {
        match *datagram {
            [STREAM_ACKNOWLEDGEMENT, low, high] => {
                Ok(Self(Sequence(u16::from_le_bytes([low, high]))))
            }
            [first_byte, ..] if first_byte != STREAM_ACKNOWLEDGEMENT => {
                Err(StreamRefused::Kind { first_byte })
            }
            _ => Err(StreamRefused::Length { bytes: datagram.len() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(header: &StreamHeader) -> Vec<u8> {
        let mut bytes = Vec::new();
        header.write(&mut bytes);
        bytes
    }

    #[test]
    fn the_header_of_the_specification_parses() {
        let header = StreamHeader { number: Sequence(5), count: 2, base: HeaderBase::Back(6) };
        assert_eq!(bytes(&header), [0x16, 5, 0, 6]);
        assert_eq!(StreamHeader::parse(&[0x16, 5, 0, 6]), Ok((header, &[][..])));
    }

    #[test]
    fn every_header_round_trips_and_no_prefix_parses() {
        let hash = 0x0123_4567_89AB_CDEF;
        for (count, base) in [
            (1, HeaderBase::Back(1)),
            (16, HeaderBase::Back(16)),
            (16, HeaderBase::Back(255)),
            (3, HeaderBase::Full { hash }),
        ] {
            let header = StreamHeader { number: Sequence(65_534), count, base };
            let mut bytes = bytes(&header);
            assert!(bytes.len() <= LONGEST_HEADER_BYTES);
            for len in 0..bytes.len() {
                assert_eq!(
                    StreamHeader::parse(&bytes[..len]),
                    Err(StreamRefused::Length { bytes: len })
                );
            }
            bytes.push(9);
            assert_eq!(StreamHeader::parse(&bytes), Ok((header, &[9][..])));
        }
    }

    #[test]
    fn other_packets_and_acknowledgements_are_refused() {
        for first_byte in (0..=255).filter(|byte| byte & 7 != 6) {
            assert_eq!(
                StreamHeader::parse(&[first_byte; 20]),
                Err(StreamRefused::Kind { first_byte })
            );
        }
        let back = |first_byte, back| StreamHeader::parse(&[first_byte, 0, 0, back]).map(drop);
        assert_eq!(back(0x06, 0), Err(StreamRefused::BadBack { back: 0, count: 1 }));
        assert_eq!(back(0xF6, 15), Err(StreamRefused::BadBack { back: 15, count: 16 }));
        assert_eq!(back(0xF6, 16), Ok(()));

        let acknowledgement = StreamAcknowledgement(Sequence(0x0102));
        assert_eq!(acknowledgement.to_bytes(), [7, 2, 1]);
        assert_eq!(StreamAcknowledgement::from_bytes(&[7, 2, 1]), Ok(acknowledgement));
        for datagram in [&[][..], &[7], &[7, 2], &[7, 2, 1, 0]] {
            let bytes = datagram.len();
            assert_eq!(
                StreamAcknowledgement::from_bytes(datagram),
                Err(StreamRefused::Length { bytes })
            );
        }
        assert_eq!(
            StreamAcknowledgement::from_bytes(&[15, 2, 1]),
            Err(StreamRefused::Kind { first_byte: 15 })
        );
    }
}
