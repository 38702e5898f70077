//! Writes and reads a tier's datagrams: splits long snapshots into parts, and joins the parts. See
//! `spec/CROWD.md`, section 4.

use crate::Refused;

/// The maximum number of bytes of a datagram that a publisher makes. WebTransport carries datagrams
/// of this size on every path.
pub(crate) const MAX_BYTES: usize = 1150;
/// The maximum number of bytes of a datagram that a viewer accepts.
const MOST_BYTES: usize = 1200;
/// The maximum number of parts in a snapshot.
pub(crate) const MAX_PARTS: usize = 16;
/// The number of bytes of the header before a part.
const HEADER_BYTES: usize = 3;
const GROUPS: u64 = 128;
const HAS_PARTS: u8 = 0x80;

/// The header of a datagram, which precedes a packet or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The number of the group, modulo 128.
    pub(crate) group: u8,
    /// The number of ticks since the head of the group.
    pub(crate) ticks: u8,
    /// The number of this part, and the number of all parts.
    pub(crate) part: (u8, u8),
}

/// Returns whether the number `group` equals `short` modulo 128.
pub(crate) fn is_group(group: u64, short: u8) -> bool {
    group % GROUPS == u64::from(short)
}

/// Splits a packet into datagrams. Returns `None` if the packet is too long.
pub(crate) fn split(group: u64, ticks: u8, packet: &[u8]) -> Option<Vec<Vec<u8>>> {
    let group = (group % GROUPS) as u8;
    if packet.len() + 2 <= MAX_BYTES {
        return Some(vec![[&[group, ticks], packet].concat()]);
    }
    let parts = packet.chunks(MAX_BYTES - HEADER_BYTES);
    let count = parts.len();
    let one = |(nth, part): (usize, &[u8])| {
        [&[group | HAS_PARTS, ticks, (nth << 4 | (count - 1)) as u8], part].concat()
    };
    (count <= MAX_PARTS).then(|| parts.enumerate().map(one).collect())
}

/// The maximum number of bytes of a packet that can be split.
pub(crate) const MAX_PACKET_BYTES: usize = MAX_PARTS * (MAX_BYTES - HEADER_BYTES);

impl Header {
    /// Reads the header, and returns it with the bytes that follow.
    pub(crate) fn read(datagram: &[u8]) -> Result<(Self, &[u8]), Refused> {
        let (&[first, ticks], rest) = datagram.split_first_chunk().ok_or(Refused::Part)?;
        let group = first & !HAS_PARTS;
        let (part, rest) = if first & HAS_PARTS == 0 {
            ((0, 1), rest)
        } else {
            let (part, rest) = rest.split_first().ok_or(Refused::Part)?;
            ((part >> 4, (part & 15) + 1), rest)
        };
        let is_several = first & HAS_PARTS != 0;
        let is_valid = (1..=127).contains(&ticks)
            && part.0 < part.1
            && (part.1 > 1) == is_several
            && !rest.is_empty()
            && datagram.len() <= MOST_BYTES;
        if is_valid { Ok((Self { group, ticks, part }, rest)) } else { Err(Refused::Part) }
    }
}

/// The parts of one snapshot that have arrived.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// The group, modulo 128, and the ticks since the group's head; `None` before the first part.
    of: Option<(u8, u8)>,
    parts: Vec<Option<Vec<u8>>>,
    /// The number of bytes of every part except the last.
    length: usize,
}

impl Parts {
    /// Adds a part. If this was the last missing part, returns the packet. A part of another
    /// snapshot replaces all parts that are waiting.
    pub(crate) fn add(&mut self, header: &Header, part: &[u8]) -> Result<Option<Vec<u8>>, Refused> {
        let (number, count) = (usize::from(header.part.0), usize::from(header.part.1));
        let of = Some((header.group, header.ticks));
        let is_last = number + 1 == count;
        if self.of != of {
            (self.of, self.length) = (of, 0);
            self.parts.clear();
            self.parts.resize(count, None);
        }
        let is_long_enough = self.length == 0
            || if is_last { part.len() <= self.length } else { part.len() == self.length };
        let is_last_too_long = !is_last
            && self
                .parts
                .last()
                .is_some_and(|last| last.as_ref().is_some_and(|last| last.len() > part.len()));
        if self.parts.len() != count || !is_long_enough || is_last_too_long {
            return Err(Refused::Part);
        }
        if self.parts[number].is_some() {
            return Err(Refused::Duplicate);
        }
        if !is_last {
            self.length = part.len();
        }
        self.parts[number] = Some(part.to_vec());
        if self.parts.iter().any(Option::is_none) {
            return Ok(None);
        }
        Ok(Some(self.parts.drain(..).flatten().flatten().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_split_and_put_together_in_any_order() {
        for length in [1, MAX_BYTES - 2, MAX_BYTES - 1, 5000, MAX_PACKET_BYTES] {
            let packet: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let datagrams = split(300, 7, &packet).unwrap();
            assert!(datagrams.iter().all(|datagram| datagram.len() <= MAX_BYTES));
            let (mut parts, mut whole) = (Parts::default(), None);
            for datagram in datagrams.iter().rev() {
                let (header, part) = Header::read(datagram).unwrap();
                assert_eq!((header.group, header.ticks), (44, 7));
                whole = if header.part.1 == 1 {
                    Some(part.to_vec())
                } else {
                    parts.add(&header, part).unwrap()
                };
            }
            assert_eq!(whole, Some(packet), "{length}");
        }
        assert_eq!(split(0, 1, &vec![0; MAX_PACKET_BYTES + 1]), None);
    }

    #[test]
    fn contradictions_are_refused() {
        for wrong in [
            &[][..],
            &[1],
            &[1, 0, 9],
            &[1, 128, 9],
            &[1, 5],
            &[0x81, 5, 0x10],
            &[0x81, 5, 0x00, 1],
            &[0x81, 5, 0x21, 1],
            &[1; 1201],
        ] {
            assert_eq!(Header::read(wrong), Err(Refused::Part), "{wrong:?}");
        }
        let mut parts = Parts::default();
        let header = |number, count| Header { group: 1, ticks: 2, part: (number, count) };
        assert_eq!(parts.add(&header(0, 3), &[1, 2]), Ok(None));
        assert_eq!(parts.add(&header(0, 3), &[1, 2]), Err(Refused::Duplicate));
        assert_eq!(parts.add(&header(1, 3), &[1]), Err(Refused::Part));
        assert_eq!(parts.add(&header(2, 3), &[1, 2, 3]), Err(Refused::Part));
        assert_eq!(parts.add(&header(1, 4), &[1, 2]), Err(Refused::Part));
        assert_eq!(parts.add(&header(2, 3), &[5]), Ok(None));
        assert_eq!(parts.add(&header(1, 3), &[3, 4]), Ok(Some(vec![1, 2, 3, 4, 5])));
    }
}
