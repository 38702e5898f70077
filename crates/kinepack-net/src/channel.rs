//! Channels distinguish the datagrams of several hubs or streams on one connection. See
//! `spec/NET.md`, section 2.1.

use crate::packet::{CHANNEL, CHANNEL_SHIFT, KIND_MASK};

/// The number of one of several hubs or streams that share a connection.
///
/// Give both ends of a hub or a stream the same channel in their configuration, such as
/// [`HubConfig::channel`](crate::HubConfig::channel). Each datagram then begins with one more byte,
/// unless the channel is the default, 0. [`Channel::from_datagram`] finds the channel of a
/// datagram. An endpoint refuses datagrams of other channels.
///
/// ```
/// use kinepack_net::Channel;
///
/// let chat = Channel::new(2).ok_or("above 15")?;
/// let datagram = [0x22, 6, 0, 0]; // from a stream whose configuration has this channel
/// assert_eq!(Channel::from_datagram(&datagram), chat);
/// assert_eq!(Channel::from_datagram(&[6, 0, 0]), Channel::default());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channel(u8);

impl Channel {
    /// The largest channel number.
    pub const MAX: u8 = 15;

    /// The channel with this number; `None` above [`MAX`](Self::MAX).
    pub const fn new(number: u8) -> Option<Self> {
        if number <= Self::MAX { Some(Self(number)) } else { None }
    }

    /// The channel's number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The channel that a datagram belongs to.
    pub fn from_datagram(datagram: &[u8]) -> Self {
        Self::split(datagram).0
    }

    /// Splits a datagram into its channel and the rest.
    pub(crate) fn split(datagram: &[u8]) -> (Self, &[u8]) {
        match datagram {
            [first_byte, rest @ ..] if is_prefix(*first_byte) => {
                (Self(first_byte >> CHANNEL_SHIFT), rest)
            }
            _ => (Self(0), datagram),
        }
    }

    /// The datagram without its channel's byte; `None` if the datagram belongs to another channel.
    pub(crate) fn strip(self, datagram: &[u8]) -> Option<&[u8]> {
        let (channel, rest) = Self::split(datagram);
        (channel == self).then_some(rest)
    }

    /// The number of bytes in front of each datagram: 1, or 0 for channel 0.
    pub(crate) fn bytes(self) -> usize {
        usize::from(self.0 > 0)
    }

    /// Begins a datagram with the channel's byte. Channel 0 has no such byte.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        if self.0 > 0 {
            out.push(CHANNEL | self.0 << CHANNEL_SHIFT);
        }
    }
}

/// Whether `first_byte` is a channel's byte, which precedes the datagram proper.
fn is_prefix(first_byte: u8) -> bool {
    first_byte & (KIND_MASK | 1 << 3) == CHANNEL && first_byte >> CHANNEL_SHIFT > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_no_other_first_byte() {
        for number in 0..=Channel::MAX {
            let channel = Channel::new(number).unwrap();
            for first_byte in 0..=u8::MAX {
                let mut datagram = Vec::new();
                channel.write(&mut datagram);
                assert_eq!(datagram.len(), channel.bytes());
                datagram.extend([first_byte, 7]);
                if number > 0 {
                    assert_eq!(Channel::from_datagram(&datagram), channel);
                    assert_eq!(channel.strip(&datagram), Some(&[first_byte, 7][..]));
                    assert_eq!(Channel(number % 15 + 1).strip(&datagram), None);
                }
            }
            assert_eq!(channel.strip(&[6, 1]).is_some(), number == 0);
        }
        assert_eq!(Channel::new(16), None);
        assert_eq!(Channel::from_datagram(&[]), Channel::default());
        // Section 2 gives datagrams of kind 2 only these two first bytes.
        assert!(![0b10, 0b1010].into_iter().any(is_prefix));
    }
}
