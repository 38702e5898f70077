//! A key: the value of one channel of one joint at one time, in ten bytes. Rotations, translations
//! and scales all take 48 bits, so one block can hold the keys of all tracks. Source: the article
//! on the animations of League of Legends. See `spec/ANIM.md`, section 3.

use crate::Channel;

/// A channel's value at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The time in ticks of the clip. In `r3d2canm` files, ticks 0 to 65535 span the duration.
    pub time: u16,
    /// Index of the joint, below [`MAX_JOINTS`](crate::MAX_JOINTS).
    pub joint: u16,
    /// The channel of the joint.
    pub channel: Channel,
    /// The encoded value: a rotation of 48 bits, or a vector within its range.
    pub value: [u16; 3],
}

impl Key {
    /// Size of a key in bytes.
    pub const BYTES: usize = 10;

    /// Encodes the key, little-endian: the time, then the joint with the channel in its top two
    /// bits, then the value.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let words = [
            self.time,
            self.joint | (self.channel as u16) << 14,
            self.value[0],
            self.value[1],
            self.value[2],
        ];
        let mut bytes = [0; Self::BYTES];
        for (bytes, word) in bytes.chunks_exact_mut(2).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Decodes a key from ten bytes. Returns `None` if the channel code is invalid.
    #[inline]
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Option<Self> {
        let word = |index: usize| u16::from_le_bytes([bytes[2 * index], bytes[2 * index + 1]]);
        let channel = *Channel::ALL.get(usize::from(word(1) >> 14))?;
        Some(Self {
            time: word(0),
            joint: word(1) & 0x3fff,
            channel,
            value: [word(2), word(3), word(4)],
        })
    }
}
