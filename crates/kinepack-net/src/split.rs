//! Acknowledgements in front of another datagram. `spec/NET.md`, section 9.

use crate::Refused;
use crate::packet::{ACKNOWLEDGEMENT, KIND_MASK, STREAM_ACKNOWLEDGEMENT};

/// The datagrams that the transport brought as one: an acknowledgement, a stream acknowledgement, another one; each at most once, in this
/// order. Each is then for [`Hub`](crate::Hub), [`Receiver`](crate::Receiver), [`StreamSender`](crate::StreamSender) or
/// [`StreamReceiver`](crate::StreamReceiver), by [`datagram_kind`].
///
/// Who puts them together appends one to the other. Allocates nothing.
///
/// ```
/// use kinepack_net::{DatagramKind, datagram_kind, split_datagram};
///
/// let datagrams = [7, 3, 0, 6, 5, 0, 1, 99];
/// let mut parts = split_datagram(&datagrams)?;
/// assert_eq!(parts.next(), Some(&[7, 3, 0][..]));
/// let rest = parts.next().unwrap();
/// assert_eq!(datagram_kind(rest), Some(DatagramKind::StreamPacket));
/// assert_eq!(parts.next(), None);
/// # Ok::<(), kinepack_net::Refused>(())
/// ```
///
/// # Errors
/// [`Refused::Length`] where nothing came or an acknowledgement is cut off, [`Refused::Kind`] for one whose other bits are not 0, that is there twice, or
/// out of order.
pub fn split_datagram(datagrams: &[u8]) -> Result<impl Iterator<Item = &[u8]>, Refused> {
    const FRONT: [(u8, usize); 2] = [(ACKNOWLEDGEMENT, 7), (STREAM_ACKNOWLEDGEMENT, 3)];
    let too_short = Refused::Length { bytes: datagrams.len() };
    let (mut parts, mut rest) = ([None; 3], datagrams);
    for (part, (kind, bytes)) in parts.iter_mut().zip(FRONT) {
        if rest.first() == Some(&kind) {
            let (front, behind) = rest.split_at_checked(bytes).ok_or(too_short)?;
            (*part, rest) = (Some(front), behind);
        }
    }
    match rest.first() {
        None if datagrams.is_empty() => return Err(too_short),
        None => {}
        Some(first_byte) if matches!(first_byte & KIND_MASK, ACKNOWLEDGEMENT | STREAM_ACKNOWLEDGEMENT) => {
            return Err(Refused::Kind { first_byte: *first_byte });
        }
        Some(_) => parts[2] = Some(rest),
    }
    Ok(parts.into_iter().flatten())
}

/// What kind of datagram this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramKind {
    /// Snapshots, fragments and refusals, for a [`Receiver`](crate::Receiver).
    State,
    /// Hellos and acknowledgements, for a [`Hub`](crate::Hub).
    Answer,
    /// For a [`StreamReceiver`](crate::StreamReceiver).
    StreamPacket,
    /// For a [`StreamSender`](crate::StreamSender).
    StreamAcknowledgement,
}

/// Whom a datagram is for; `None` where it is empty.
pub fn datagram_kind(datagram: &[u8]) -> Option<DatagramKind> {
    let kind = datagram.first()? & KIND_MASK;
    Some(match kind {
        0..=3 => DatagramKind::State,
        4 | 5 => DatagramKind::Answer,
        6 => DatagramKind::StreamPacket,
        _ => DatagramKind::StreamAcknowledgement,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACK: [u8; 7] = [5, 1, 2, 3, 4, 5, 6];
    const STREAM_ACK: [u8; 3] = [7, 1, 2];

    fn split(parts: &[&[u8]]) -> Result<Vec<Vec<u8>>, Refused> {
        split_datagram(&parts.concat()).map(|parts| parts.map(<[u8]>::to_vec).collect())
    }

    #[test]
    fn each_part_at_most_once_and_in_order() {
        let others: [&[u8]; 4] = [&[0, 1, 2, 3, 9], &[4; 26], &[6], &[0x16, 5, 0, 6]];
        for other in others {
            for front in [&[][..], &[&ACK[..]], &[&STREAM_ACK[..]], &[&ACK[..], &STREAM_ACK]] {
                let parts = [front, &[other]].concat();
                assert_eq!(split(&parts).unwrap(), parts);
                assert!(front.is_empty() || split(front).unwrap() == front);
            }
        }
    }

    #[test]
    fn nonsense_is_refused_whole() {
        assert_eq!(split(&[]), Err(Refused::Length { bytes: 0 }));
        for (ack, bytes) in [(&ACK[..], 7), (&STREAM_ACK, 3)] {
            for len in 1..bytes {
                assert_eq!(split(&[&ack[..len]]), Err(Refused::Length { bytes: len }));
            }
            assert_eq!(split(&[ack, ack]), Err(Refused::Kind { first_byte: ack[0] }));
            let first_byte = ack[0] | 8;
            assert_eq!(split(&[&[first_byte], &ack[1..]]), Err(Refused::Kind { first_byte }));
            assert_eq!(split(&[ack, &[first_byte], &ack[1..]]), Err(Refused::Kind { first_byte }));
        }
        assert_eq!(split(&[&STREAM_ACK, &ACK]), Err(Refused::Kind { first_byte: 5 }));
        assert_eq!(split(&[&STREAM_ACK, &ACK, &[0; 9]]), Err(Refused::Kind { first_byte: 5 }));
    }
}
