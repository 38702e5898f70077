//! Reads and writes the headers of stream packets, as section 8.1 of `spec/NET.md` defines them.

use super::StreamRefused;
use crate::Sequence;
use crate::packet::{KIND_MASK, STREAM_PACKET};

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
    fn other_packets_are_refused() {
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
    }
}
