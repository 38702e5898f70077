//! The datagrams between `figure send` and `figure watch`: a kind, the number of the session, the
//! contents, and a checksum of 32 bits over all of it. `kinepack-net` requires that altered
//! datagrams do not arrive, and UDP's own checksum is too weak for that.
//!
//! There is no encryption: the commands are for a network that you trust.

use kinepack::hash::Fnv1a;

/// The bytes before the contents, and after them.
const HEADER_BYTES: usize = 5;
const CHECK_BYTES: usize = 4;
/// The bytes that framing adds to a datagram.
pub(super) const OVERHEAD_BYTES: usize = HEADER_BYTES + CHECK_BYTES;
/// The largest datagram.
const MAX_DATAGRAM_BYTES: usize = 1_200;
/// The largest contents of a datagram.
pub(super) const MAX_CONTENTS_BYTES: usize = MAX_DATAGRAM_BYTES - OVERHEAD_BYTES;

/// The kind of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A part of the body's description, from the sender.
    Description,
    /// A datagram of `kinepack-net`, in either direction.
    Net,
    /// The answer of a receiver to a `Net` of a session that it does not have, for example because
    /// it was restarted. The sender then begins another session.
    NoSession,
    /// The answer of a receiver to a description while it shows the body of another sender.
    Busy,
    /// The answer of a receiver to a description that it refused.
    Refused,
    /// A number of [`PING_BYTES`] from the receiver, which the sender returns at once as a `Pong`.
    /// It measures the network's round trip, and shows that the sender's address is not forged.
    Ping,
    Pong,
}

/// All kinds. The answers of a receiver are never larger than what they answer.
const KINDS: [Kind; 7] = [
    Kind::Description,
    Kind::Net,
    Kind::NoSession,
    Kind::Busy,
    Kind::Refused,
    Kind::Ping,
    Kind::Pong,
];
/// The bytes of the contents of a `Ping` and a `Pong`.
pub(super) const PING_BYTES: usize = 8;

impl Kind {
    /// The first byte. Its upper bits are those of no text, and hold the version.
    const fn byte(self) -> u8 {
        match self {
            Self::Description => 0xd1,
            Self::Net => 0xd2,
            Self::NoSession => 0xd3,
            Self::Busy => 0xd4,
            Self::Refused => 0xd5,
            Self::Ping => 0xd6,
            Self::Pong => 0xd7,
        }
    }
}

/// Writes a datagram over `out`.
pub(super) fn write(kind: Kind, session: u32, contents: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.push(kind.byte());
    out.extend_from_slice(&session.to_le_bytes());
    out.extend_from_slice(contents);
    out.extend_from_slice(&check(out).to_le_bytes());
}

/// Reads a datagram: its kind, its session and its contents. Returns `None` for other bytes, and
/// for session 0, which no sender has.
pub(super) fn read(datagram: &[u8]) -> Option<(Kind, u32, &[u8])> {
    let (framed, own_check) = datagram.split_last_chunk()?;
    let (kind, rest) = framed.split_first()?;
    let (session, contents) = rest.split_first_chunk()?;
    if check(framed) != u32::from_le_bytes(*own_check) {
        return None;
    }
    let kind = KINDS.into_iter().find(|own| own.byte() == *kind)?;
    let session = u32::from_le_bytes(*session);
    (session != 0).then_some((kind, session, contents))
}

fn check(bytes: &[u8]) -> u32 {
    let mut hash = Fnv1a::new();
    hash.add(bytes);
    let hash = hash.finish();
    (hash ^ (hash >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_are_read_back_and_altered_ones_refused() {
        let mut datagram = Vec::new();
        for contents in [&b""[..], b"some contents"] {
            write(Kind::Net, 77, contents, &mut datagram);
            assert_eq!(datagram.len(), contents.len() + OVERHEAD_BYTES);
            assert_eq!(read(&datagram), Some((Kind::Net, 77, contents)));
            for bit in 0..8 * datagram.len() {
                datagram[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(read(&datagram), None, "{bit}");
                datagram[bit / 8] ^= 1 << (bit % 8);
            }
            (0..datagram.len()).for_each(|end| assert_eq!(read(&datagram[..end]), None));
        }
        for kind in KINDS {
            write(kind, 77, b"", &mut datagram);
            assert_eq!(read(&datagram), Some((kind, 77, &b""[..])));
            write(kind, 0, b"", &mut datagram);
            assert_eq!(read(&datagram), None, "no sender has session 0");
        }
    }
}
