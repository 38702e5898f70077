//! Splits acknowledgements from the datagram that follows them. See `spec/NET.md`, section 9.

use crate::packet::{
    ACKNOWLEDGEMENT, CHECK, CHECK_BYTES, EVENTS_ALONE, FRAGMENT, KIND_MASK, SNAPSHOT,
    SNAPSHOT_WITH_OLDER, STREAM_ACKNOWLEDGEMENT, split_front, split_turns,
};
use crate::stream::acknowledgement_bytes;
use crate::{Channel, Refused, Sequence};

/// Splits the bytes that the transport delivered as one datagram. Each channel may have an
/// acknowledgement and a stream acknowledgement, each at most once and in this order. One other
/// datagram follows them. [`datagram_kind`] returns whether a part is for a [`Hub`](crate::Hub),
/// [`Receiver`](crate::Receiver), [`StreamSender`](crate::StreamSender) or
/// [`StreamReceiver`](crate::StreamReceiver). If there are several such endpoints,
/// [`Channel::from_datagram`] identifies the right one.
///
/// To combine datagrams, append one to the other. Allocates nothing.
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
/// Returns [`Refused::Length`] if the datagram is empty or an acknowledgement is cut off. Returns
/// [`Refused::Kind`] if an acknowledgement has other bits that are not 0, appears twice, or is out
/// of order.
pub fn split_datagram(datagrams: &[u8]) -> Result<impl Iterator<Item = &[u8]>, Refused> {
    if datagrams.is_empty() {
        return Err(Refused::Length { bytes: 0 });
    }
    // For each channel, the kinds of acknowledgements seen so far.
    let mut seen = [0u8; Channel::MAX as usize + 1];
    let mut rest = datagrams;
    while let Some((part, after)) = first_part(rest)? {
        let (channel, of_channel) = Channel::split(part);
        let seen = &mut seen[usize::from(channel.number())];
        let first_byte = of_channel.first().copied().unwrap_or(0);
        let bit = match first_byte & KIND_MASK {
            ACKNOWLEDGEMENT => 1,
            STREAM_ACKNOWLEDGEMENT => 2,
            _ => 0,
        };
        // Each kind may appear once, and an acknowledgement may not follow a stream
        // acknowledgement.
        if bit > 0 && *seen >= bit {
            return Err(Refused::Kind { first_byte });
        }
        *seen |= bit;
        rest = after;
    }
    let mut rest = datagrams;
    Ok(core::iter::from_fn(move || {
        let (part, after) = first_part(rest).ok()??;
        rest = after;
        Some(part)
    }))
}

/// A part of a datagram, and the bytes after it.
type Part<'a> = (&'a [u8], &'a [u8]);

/// The first part of a datagram; `None` at the end.
fn first_part(datagrams: &[u8]) -> Result<Option<Part<'_>>, Refused> {
    let (channel, rest) = Channel::split(datagrams);
    let bytes = match rest.first() {
        None if datagrams.is_empty() => return Ok(None),
        None => return Err(Refused::Length { bytes: datagrams.len() }),
        Some(&ACKNOWLEDGEMENT) => 7,
        Some(&first_byte) if first_byte & KIND_MASK == STREAM_ACKNOWLEDGEMENT => {
            acknowledgement_bytes(first_byte).ok_or(Refused::Kind { first_byte })?
        }
        Some(&first_byte) if first_byte & KIND_MASK == ACKNOWLEDGEMENT => {
            return Err(Refused::Kind { first_byte });
        }
        Some(_) => rest.len(),
    };
    let too_short = Refused::Length { bytes: datagrams.len() };
    datagrams.split_at_checked(channel.bytes() + bytes).map(Some).ok_or(too_short)
}

/// The endpoint that a datagram is for.
///
/// ```
/// use kinepack_net::{DatagramKind, datagram_kind, split_datagram};
///
/// /// Returns the server's endpoint for each part of a datagram.
/// fn route(datagrams: &[u8]) -> Result<Vec<&'static str>, kinepack_net::Refused> {
///     let route = |part: &[u8]| match datagram_kind(part) {
///         Some(DatagramKind::ToHub) => "hub",
///         Some(DatagramKind::StreamPacket) => "inputs",
///         _ => "nowhere", // only clients get the others
///     };
///     Ok(split_datagram(datagrams)?.map(route).collect())
/// }
///
/// let acknowledgement = [5, 1, 0, 0, 0, 0, 0];
/// let input = [6, 5, 0, 1, 99];
/// assert_eq!(route(&[&acknowledgement[..], &input].concat())?, ["hub", "inputs"]);
/// # Ok::<(), kinepack_net::Refused>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramKind {
    /// Snapshots, events, fragments and refusals, for
    /// [`Receiver::handle`](crate::Receiver::handle).
    ToReceiver,
    /// Hellos and acknowledgements, for [`Hub::handle`](crate::Hub::handle).
    ToHub,
    /// Packets of a stream, for [`StreamReceiver::handle`](crate::StreamReceiver::handle).
    StreamPacket,
    /// Acknowledgements of a stream, for [`StreamSender::handle`](crate::StreamSender::handle).
    StreamAcknowledgement,
}

/// The endpoint that a datagram is for; `None` if the datagram is empty.
pub fn datagram_kind(datagram: &[u8]) -> Option<DatagramKind> {
    let (_, datagram) = Channel::split(datagram);
    let kind = datagram.first()? & KIND_MASK;
    Some(match kind {
        0..=3 => DatagramKind::ToReceiver,
        4 | 5 => DatagramKind::ToHub,
        6 => DatagramKind::StreamPacket,
        _ => DatagramKind::StreamAcknowledgement,
    })
}

/// The sequence of a snapshot, a fragment or events; `None` for any other datagram. Meant for
/// tools, because it does not check the rest of the datagram.
pub fn datagram_sequence(datagram: &[u8]) -> Option<Sequence> {
    let (_, datagram) = Channel::split(datagram);
    let (_, datagram) = split_front(datagram).ok()?;
    let (_, datagram) = split_turns(datagram).ok()?;
    let is_checked = datagram.first() == Some(&CHECK);
    let datagram = datagram.get(if is_checked { CHECK_BYTES } else { 0 }..)?;
    let ([first_byte, low, high], _) = datagram.split_first_chunk()?;
    let has_one = *first_byte == EVENTS_ALONE
        || matches!(first_byte & KIND_MASK, SNAPSHOT | FRAGMENT | SNAPSHOT_WITH_OLDER);
    has_one.then_some(Sequence(u16::from_le_bytes([*low, *high])))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACK: [u8; 7] = [5, 1, 2, 3, 4, 5, 6];
    const STREAM_ACK: [u8; 3] = [7, 1, 2];
    const TIMED_ACK: [u8; 5] = [15, 1, 2, 3, 4];

    fn split(parts: &[&[u8]]) -> Result<Vec<Vec<u8>>, Refused> {
        split_datagram(&parts.concat()).map(|parts| parts.map(<[u8]>::to_vec).collect())
    }

    #[test]
    fn each_part_at_most_once_and_in_order() {
        let others: [&[u8]; 4] = [&[0, 1, 2, 3, 9], &[4; 26], &[6], &[0x16, 5, 0, 6]];
        for other in others {
            let fronts: [&[&[u8]]; 6] = [
                &[],
                &[&ACK],
                &[&STREAM_ACK],
                &[&TIMED_ACK],
                &[&ACK, &STREAM_ACK],
                &[&ACK, &TIMED_ACK],
            ];
            for front in fronts {
                let parts = [front, &[other]].concat();
                assert_eq!(split(&parts).unwrap(), parts);
                assert!(front.is_empty() || split(front).unwrap() == front);
            }
        }
    }

    #[test]
    fn each_channel_has_its_acknowledgements() {
        let of = |channel: u8, part: &[u8]| [&[2 | channel << 4], part].concat();
        let parts = [&ACK[..], &STREAM_ACK, &of(1, &ACK), &of(15, &STREAM_ACK), &of(3, &[6, 9])];
        assert_eq!(split(&parts).unwrap(), parts);
        for bad in
            [&[&of(1, &ACK)[..], &ACK, &of(1, &ACK)][..], &[&of(2, &STREAM_ACK), &of(2, &ACK)]]
        {
            assert_eq!(split(bad), Err(Refused::Kind { first_byte: ACK[0] }));
        }
        assert_eq!(split(&[&of(4, &[])]), Err(Refused::Length { bytes: 1 }));
        assert_eq!(datagram_kind(&of(4, &[6, 1])), Some(DatagramKind::StreamPacket));
        assert_eq!(datagram_sequence(&of(4, &[0, 0x34, 0x12, 9])), Some(Sequence(0x1234)));
    }

    #[test]
    fn snapshots_and_fragments_have_a_sequence() {
        for first_byte in [0, 8, 3, 1] {
            assert_eq!(datagram_sequence(&[first_byte, 0x34, 0x12, 9]), Some(Sequence(0x1234)));
            assert_eq!(datagram_sequence(&[first_byte, 0x34]), None);
        }
        assert_eq!(datagram_sequence(&[10, 1, 2, 0, 0x34, 0x12, 9]), Some(Sequence(0x1234)));
        let refusal = [2; 10];
        for datagram in [&[][..], &[10, 1], &[10, 1, 2, 10, 3, 4, 5], &ACK, &STREAM_ACK, &refusal] {
            assert_eq!(datagram_sequence(datagram), None, "{datagram:?}");
        }
    }

    #[test]
    fn nonsense_is_refused_whole() {
        assert_eq!(split(&[]), Err(Refused::Length { bytes: 0 }));
        for (ack, bytes) in [(&ACK[..], 7), (&STREAM_ACK, 3), (&TIMED_ACK, 5)] {
            for len in 1..bytes {
                assert_eq!(split(&[&ack[..len]]), Err(Refused::Length { bytes: len }));
            }
            assert_eq!(split(&[ack, ack]), Err(Refused::Kind { first_byte: ack[0] }));
            let first_byte = ack[0] | 16;
            assert_eq!(split(&[&[first_byte], &ack[1..]]), Err(Refused::Kind { first_byte }));
            assert_eq!(split(&[ack, &[first_byte], &ack[1..]]), Err(Refused::Kind { first_byte }));
        }
        assert_eq!(split(&[&STREAM_ACK, &ACK]), Err(Refused::Kind { first_byte: 5 }));
        assert_eq!(split(&[&STREAM_ACK, &ACK, &[0; 9]]), Err(Refused::Kind { first_byte: 5 }));
    }
}
