//! Encodes the datagrams of a page's own receiver as binary messages on the page's socket.
//!
//! Once per tick, the page gets a message with the datagrams that its simulated link has delivered.
//! All numbers are little-endian. The header has 2 for "datagrams", the number of the connection,
//! the row of its level, the number of datagrams (`u32`), the minimum and maximum playout delay in
//! milliseconds (`f32`), and the session's time in seconds (`f64`). Each datagram follows, with its
//! arrival time in seconds of the session (`f64`), its length (`u32`), and its bytes.
//!
//! A message from the page has the number of the connection (`u32`), and then each of its
//! receiver's datagrams after its length (`u16`).

use std::time::Duration;

use axum::body::Bytes;

/// The settings of a page's receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Receiving {
    /// The number of the connection. A new number means a new receiver.
    pub(super) connection: u32,
    /// The level's row in the table.
    pub(super) row: u8,
    /// The minimum and the maximum playout delay.
    pub(super) playout_delays: [Duration; 2],
}

/// Encodes the message of a tick.
pub(super) fn delivered(
    receiving: &Receiving,
    now: Duration,
    datagrams: &[(Duration, Vec<u8>)],
) -> Bytes {
    let Receiving { connection, row, playout_delays } = receiving;
    let mut bytes = Vec::new();
    for head in [2, *connection, u32::from(*row), datagrams.len() as u32] {
        bytes.extend(head.to_le_bytes());
    }
    for delay in playout_delays {
        bytes.extend((delay.as_secs_f32() * 1e3).to_le_bytes());
    }
    bytes.extend(now.as_secs_f64().to_le_bytes());
    for (at, datagram) in datagrams {
        bytes.extend(at.as_secs_f64().to_le_bytes());
        bytes.extend((datagram.len() as u32).to_le_bytes());
        bytes.extend(datagram);
    }
    bytes.into()
}

/// Returns the datagrams of a page's message, with the number of the connection, or `None` if the
/// message is malformed.
pub(super) fn answered(message: &[u8]) -> Option<(u32, Vec<&[u8]>)> {
    let (connection, mut rest) = message.split_first_chunk()?;
    let mut datagrams = Vec::new();
    while !rest.is_empty() {
        let (length, after) = rest.split_first_chunk()?;
        let (datagram, after) = after.split_at_checked(u16::from_le_bytes(*length).into())?;
        datagrams.push(datagram);
        rest = after;
    }
    Some((u32::from_le_bytes(*connection), datagrams))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_as_documented() {
        let ms = Duration::from_millis;
        let receiving = Receiving { connection: 3, row: 13, playout_delays: [ms(20), ms(500)] };
        let message = delivered(&receiving, ms(1500), &[(ms(1250), vec![7, 8, 9])]);
        assert_eq!(message.len(), 32 + 12 + 3);
        assert_eq!(message[..16], [2, 0, 0, 0, 3, 0, 0, 0, 13, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(message[16..20], 20f32.to_le_bytes());
        assert_eq!(message[24..32], 1.5f64.to_le_bytes());
        assert_eq!(message[32..40], 1.25f64.to_le_bytes());
        assert_eq!(message[40..], [3, 0, 0, 0, 7, 8, 9]);
    }

    #[test]
    fn only_whole_answers_are_taken() {
        let message = [5, 0, 0, 0, 2, 0, 8, 9, 0, 0, 1, 0, 7];
        assert_eq!(answered(&message), Some((5, vec![&[8, 9][..], &[], &[7]])));
        assert_eq!(answered(&message[..4]), Some((5, vec![])));
        for length in [0, 3, 5, 6, 7, 9, 11, 12] {
            assert_eq!(answered(&message[..length]), None, "{length}");
        }
    }
}
