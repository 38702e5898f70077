//! Acknowledgements, which list the datagrams that a receiver got.

use super::kinds::ACKNOWLEDGEMENT;
use crate::Sequence;

/// The datagrams that were received: the newest sequence, and a bit for each of the 32 before it.
///
/// [`Receiver::poll_acknowledgement`](crate::Receiver::poll_acknowledgement) makes one, and
/// [`Hub::acknowledge`](crate::Hub::acknowledge) takes it. In between, it may travel in one of your
/// own messages.
///
/// ```
/// use kinepack_net::{Acknowledgement, Sequence};
///
/// let received = Acknowledgement { latest: Sequence(10), before: 0 };
/// let received = received.with(Sequence(11)).with(Sequence(13)); // 12 is lost, or late
/// assert_eq!(received, Acknowledgement { latest: Sequence(13), before: 0b110 });
///
/// let message = received.to_bytes();
/// assert_eq!(Acknowledgement::from_bytes(message), received);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The newest sequence received.
    pub latest: Sequence,
    /// Bit i is set if the sequence `latest` − 1 − i was received too.
    pub before: u32,
}

impl Acknowledgement {
    /// Returns six bytes that may travel in any message from the receiver to the sender.
    pub fn to_bytes(self) -> [u8; 6] {
        let ([a, b], [c, d, e, f]) = (self.latest.0.to_le_bytes(), self.before.to_le_bytes());
        [a, b, c, d, e, f]
    }

    /// Reads six bytes. Any six bytes are a valid acknowledgement, but a sender may refuse it.
    pub fn from_bytes([a, b, c, d, e, f]: [u8; 6]) -> Self {
        Self {
            latest: Sequence(u16::from_le_bytes([a, b])),
            before: u32::from_le_bytes([c, d, e, f]),
        }
    }

    /// Returns this acknowledgement with `sequence` as one more received sequence.
    #[must_use]
    pub fn with(self, sequence: Sequence) -> Self {
        let Self { latest, before } = self;
        match sequence.since(latest) {
            0 => self,
            behind @ -32..=-1 => Self { before: before | 1 << (-behind - 1), ..self },
            ..-32 => self,
            // The previous newest sequence moves into the bit field, and the oldest sequences move
            // out.
            ahead @ 1..=32 => {
                let before = ((u64::from(before) << 1 | 1) << (ahead - 1)) & u64::from(u32::MAX);
                Self { latest: sequence, before: before as u32 }
            }
            _ => Self { latest: sequence, before: 0 },
        }
    }

    /// Appends a datagram that holds this acknowledgement alone.
    pub fn write(self, out: &mut Vec<u8>) {
        out.push(ACKNOWLEDGEMENT);
        out.extend(self.to_bytes());
    }
}
