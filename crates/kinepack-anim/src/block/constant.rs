//! The values of constant tracks, which a clip or its rig stores. See `spec/ANIM.md`, section 10.2.

use super::kernel::Turn;
use super::layout::{CONSTANT_BYTES, GROUP, is_number};
use super::pose::PoseWriter;
use crate::{Channel, TrackId};

/// The value of a constant track, as stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Constant {
    /// A rotation as three codes of 21 bits.
    Rotation([u32; 3]),
    Vector([f32; 3]),
}

impl Constant {
    #[cfg(feature = "offline")]
    pub(crate) fn bits(self) -> usize {
        8 * if matches!(self, Self::Rotation(_)) { CONSTANT_BYTES[0] } else { CONSTANT_BYTES[1] }
    }

    pub(super) fn write(self, bytes: &mut Vec<u8>) {
        match self {
            Self::Rotation([x, y, z]) => {
                let code = u64::from(x) | u64::from(y) << 21 | u64::from(z) << 42;
                bytes.extend(code.to_le_bytes());
            }
            Self::Vector(vector) => {
                bytes.extend(vector.iter().flat_map(|number| number.to_le_bytes()));
            }
        }
    }

    /// Takes the constant at the front of `bytes`.
    pub(super) fn read(channel: Channel, bytes: &mut &[u8]) -> Self {
        let (own, rest) = bytes.split_at(CONSTANT_BYTES[channel as usize]);
        *bytes = rest;
        if channel == Channel::Rotation {
            let code = u64::from_le_bytes(own.first_chunk().copied().unwrap_or_default());
            Self::Rotation([0, 21, 42].map(|bit| (code >> bit) as u32 & 0x1f_ffff))
        } else {
            Self::Vector([0, 1, 2].map(|axis| float(own, axis)))
        }
    }

    /// Writes the constant as the value of a track.
    #[inline(always)]
    pub(super) fn write_to<W: PoseWriter + ?Sized>(self, track: TrackId, writer: &mut W) {
        let value @ [x, y, z, _] = self.value();
        let joint = usize::from(track.joint);
        match track.channel {
            Channel::Rotation => writer.rotation(joint, value),
            Channel::Translation => writer.translation(joint, [x, y, z]),
            Channel::Scale => writer.scale(joint, [x, y, z]),
        }
    }

    /// Returns the value that playback uses: a unit quaternion, or a vector followed by 0.
    pub(crate) fn value(self) -> [f32; 4] {
        match self {
            Self::Rotation(codes) => {
                let number = |code: u32| (code as f32 - CONSTANT_MIDDLE) * CONSTANT_STEP;
                Turn::new(codes.map(|code| [number(code); GROUP]))
                    .normalized()
                    .map(|lanes| lanes[0])
            }
            Self::Vector([x, y, z]) => [x, y, z, 0.0],
        }
    }
}

/// The 21-bit code that represents 0 in a constant rotation.
const CONSTANT_MIDDLE: f32 = 1_048_576.0;
/// The difference between the values that two neighbouring codes represent.
const CONSTANT_STEP: f32 = 1.0 / 1_048_575.0;

/// Returns the float at `index` in `bytes`, which store floats.
fn float(bytes: &[u8], index: usize) -> f32 {
    let bytes = bytes.get(4 * index..).and_then(<[u8]>::first_chunk).copied();
    f32::from_le_bytes(bytes.unwrap_or_default())
}

/// Returns whether the bytes are a valid constant.
pub(super) fn is_constant(channel: Channel, bytes: &[u8]) -> bool {
    match channel {
        Channel::Rotation => bytes.last().is_some_and(|last| last >> 7 == 0),
        _ => bytes.as_chunks().0.iter().all(|bytes| is_number(f32::from_le_bytes(*bytes))),
    }
}
