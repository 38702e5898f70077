//! Recognizes datagrams that cannot be netcode packets, by their first byte and their length.
//!
//! ```text
//! request   | 00 | version 13 | protocol id 8 | expiry 8 | nonce 24 | token 1024 |
//! others    | length of number : 4, type : 4 | number 0 to 8 | body | authentication 16 |
//! ```
//!
//! The screen saves the time to decrypt junk. It is also necessary, because `renetcode` 2.0 panics
//! on a number longer than 8 bytes, and on a packet too short for its number and authentication.
//! Debug builds also panic on a number close to 2⁶⁴. `renetcode` panics in all these cases before
//! it authenticates the packet.

use std::ops::Range;

use super::protocol::MAX_PAYLOAD_BYTES;

/// The length of a connection request.
pub(crate) const REQUEST_BYTES: usize = 1 + VERSION.len() + 8 + 8 + 24 + 1024;

const VERSION: &[u8; 13] = b"NETCODE 1.02\0";
const AUTHENTICATION_BYTES: usize = 16;
/// The length of the body of a challenge or a response: a number and an encrypted token.
const CHALLENGE_BODY_BYTES: usize = 8 + 300;
const KEEP_ALIVE_BODY_BYTES: usize = 8;
/// The largest accepted packet number. It is far above the number of any packet, and far below an
/// overflow.
const MAX_NUMBER: u64 = 1 << 62;

/// The longest accepted time until a token expires. Our tokens are valid for a minute, and the rest
/// allows for clocks that differ. The server keeps a half-open connection until its token expires.
const MAX_TOKEN_SECONDS: u64 = 600;

/// The types of netcode packets, with their numbers on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Request,
    Denied,
    Challenge,
    Response,
    KeepAlive,
    Payload,
    Disconnect,
}

/// A datagram's type and layout, before decryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    /// The number of bytes before the body.
    bytes: usize,
}

impl Header {
    /// Reads a datagram's header. `None` if the length does not fit, which makes the datagram junk.
    pub(crate) fn read(datagram: &[u8]) -> Option<Self> {
        let (&first, rest) = datagram.split_first()?;
        let kind = match first & 0xf {
            0 => Kind::Request,
            1 => Kind::Denied,
            2 => Kind::Challenge,
            3 => Kind::Response,
            4 => Kind::KeepAlive,
            5 => Kind::Payload,
            6 => Kind::Disconnect,
            _ => return None,
        };
        if kind == Kind::Request {
            return (first == 0 && datagram.len() == REQUEST_BYTES)
                .then_some(Self { kind, bytes: 1 });
        }
        let number_bytes = usize::from(first >> 4);
        let mut number = [0; 8];
        number.get_mut(..number_bytes)?.copy_from_slice(rest.get(..number_bytes)?);
        if u64::from_le_bytes(number) > MAX_NUMBER {
            return None;
        }
        let body_bytes = rest.len().checked_sub(number_bytes + AUTHENTICATION_BYTES)?;
        let fits = match kind {
            Kind::Request | Kind::Denied | Kind::Disconnect => body_bytes == 0,
            Kind::Challenge | Kind::Response => body_bytes == CHALLENGE_BODY_BYTES,
            Kind::KeepAlive => body_bytes == KEEP_ALIVE_BODY_BYTES,
            Kind::Payload => body_bytes <= MAX_PAYLOAD_BYTES,
        };
        // renetcode needs more bytes than a packet with an empty number and an empty body has.
        (fits && datagram.len() > 1 + AUTHENTICATION_BYTES)
            .then_some(Self { kind, bytes: 1 + number_bytes })
    }

    /// The range of the body in a packet with the range `packet`.
    pub(crate) fn body(self, packet: &Range<usize>) -> Range<usize> {
        packet.start + self.bytes..packet.end - AUTHENTICATION_BYTES
    }
}

/// Whether a connection request is for this protocol and has not expired. Anyone can write a
/// request that passes, but a request that fails need not be decrypted.
pub(crate) fn is_current_request(request: &[u8], protocol_id: u64, now_unix_s: u64) -> bool {
    let number = |at: usize| {
        let bytes = request.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u64::from_le_bytes)
    };
    let at = 1 + VERSION.len();
    request.get(1..at) == Some(VERSION)
        && number(at) == Some(protocol_id)
        && number(at + 8)
            .is_some_and(|expiry| expiry > now_unix_s && expiry - now_unix_s <= MAX_TOKEN_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(first: u8, bytes: usize) -> Vec<u8> {
        let mut packet = vec![0; bytes];
        packet[0] = first;
        packet
    }

    #[test]
    fn only_the_right_sizes_pass() {
        let right: [(u8, &[usize]); 7] = [
            (0x00, &[1078]),
            (0x21, &[1 + 2 + 16]),
            (0x12, &[1 + 1 + 308 + 16]),
            (0x83, &[1 + 8 + 308 + 16]),
            (0x04, &[1 + 8 + 16]),
            (0x35, &[1 + 3 + 16, 1 + 3 + 1 + 16, 1 + 3 + MAX_PAYLOAD_BYTES + 16]),
            (0x16, &[1 + 1 + 16]),
        ];
        for (first, sizes) in right {
            for &bytes in sizes {
                assert!(Header::read(&packet(first, bytes)).is_some(), "{first:02x} with {bytes}");
            }
            let (shortest, longest) = (sizes[0], sizes[sizes.len() - 1]);
            for bytes in (1..shortest).chain(longest + 1..2048) {
                assert_eq!(Header::read(&packet(first, bytes)), None, "{first:02x} with {bytes}");
            }
        }
        assert_eq!(Header::read(&[]), None);
    }

    #[test]
    fn what_renetcode_panics_on_is_junk() {
        for number_bytes in 9..16 {
            assert_eq!(Header::read(&packet(number_bytes << 4 | 5, 200)), None);
        }
        assert_eq!(
            Header::read(&packet(0x85, 18)),
            None,
            "no room for the number and the authentication"
        );
        let mut huge = packet(0x85, 60);
        huge[1..9].fill(0xff);
        assert_eq!(Header::read(&huge), None);
    }

    #[test]
    fn a_body_stands_between_number_and_authentication() {
        let header = Header::read(&packet(0x25, 30)).unwrap();
        assert_eq!(header.body(&(100..130)), 103..114);
    }

    #[test]
    fn requests_of_others_and_of_other_times_are_refused() {
        let mut request = packet(0, REQUEST_BYTES);
        request[1..14].copy_from_slice(VERSION);
        request[14..22].copy_from_slice(&7u64.to_le_bytes());
        request[22..30].copy_from_slice(&1060u64.to_le_bytes());
        assert!(is_current_request(&request, 7, 1000));
        assert!(!is_current_request(&request, 8, 1000));
        assert!(!is_current_request(&request, 7, 1060));
        assert!(!is_current_request(&request, 7, 1060 - MAX_TOKEN_SECONDS - 1));
        assert!(!is_current_request(&request[..25], 7, 1000));
        request[5] ^= 1;
        assert!(!is_current_request(&request, 7, 1000));
    }
}
