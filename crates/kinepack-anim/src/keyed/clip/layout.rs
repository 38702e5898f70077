//! The layout of a clip: the header, and the sizes that follow from it. See `spec/ANIM.md`, section
//! 5.

#[cfg(feature = "offline")]
use crate::file_kind::magic;
#[cfg(feature = "offline")]
use crate::keyed::Key;
use crate::keyed::Parametrization;
use crate::{Channel, TrackId};

pub(crate) const VERSION: u8 = 1;
pub(crate) const HEADER_BYTES: usize = 32;
/// The size of a constant in bytes, for each channel.
pub(crate) const CONSTANT_BYTES: [usize; 3] = [6, 12, 12];
/// The size of the range of a channel's vectors in bytes.
pub(crate) const RANGE_BYTES: usize = 24;

/// The size of a joint's rotations in rows. Rotations of keys always take 48 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RotationBits {
    /// A rotation takes 48 bits: 15 bits per component.
    #[default]
    Bits48 = 0,
    /// A rotation takes 32 bits: 10 bits per component.
    Bits32 = 1,
}

impl RotationBits {
    /// Returns the size of a value of `channel` in a row, in bytes.
    pub(crate) const fn row_bytes(self, channel: Channel) -> usize {
        match (self, channel) {
            (Self::Bits32, Channel::Rotation) => 4,
            _ => 6,
        }
    }
}

/// The header of a clip, which is its first 32 bytes.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::{Joint, RawClip, Skeleton, Transform};
/// # use kinepack_anim::offline::{BuildOptions, KeyedOptions, Scheme, build};
/// use kinepack_anim::keyed::{KeyedClip, Parametrization};
///
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let raw = RawClip::new("slide", Arc::clone(&skeleton), 30.0, (0..31).map(sample).collect())?;
/// # let scheme = Scheme::Keyed(KeyedOptions::default());
/// # let file = build(&raw, &BuildOptions { scheme, ..BuildOptions::default() })?.clip;
/// let clip = KeyedClip::from_bytes(file.as_bytes())?;
/// let header = clip.header();
/// assert_eq!((header.joints, header.samples, header.rate_hz), (1, 31, 30.0));
/// assert_eq!(header.parametrization, Parametrization::Times);
/// assert_eq!(header.skeleton, skeleton.hash(), "built for another skeleton");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyedHeader {
    /// How keys are parametrized.
    pub parametrization: Parametrization,
    /// Number of joints.
    pub joints: u16,
    /// Number of equal slices of the duration. A cursor that seeks starts at the slice of the
    /// target time.
    pub slices: u16,
    /// Number of sample times of the raw clip.
    pub samples: u32,
    /// Samples per second.
    pub rate_hz: f32,
    /// Number of keys.
    pub keys: u32,
    /// [`Skeleton::hash`](crate::Skeleton::hash) of the skeleton that the clip was built for.
    pub skeleton: u64,
}

impl KeyedHeader {
    #[cfg(feature = "offline")]
    pub(crate) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&magic::KEYED_CLIP);
        bytes[4] = VERSION;
        bytes[5] = self.parametrization as u8;
        bytes[8..10].copy_from_slice(&self.joints.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.slices.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.samples.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.rate_hz.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.keys.to_le_bytes());
        bytes[24..].copy_from_slice(&self.skeleton.to_le_bytes());
        bytes
    }

    /// Returns whether the jump table stores an index of a key in four bytes instead of two.
    pub(crate) fn has_wide_jumps(&self) -> bool {
        self.keys > 1 << 16
    }

    /// Returns the size of a track's four keys in the jump table, in bytes.
    pub(crate) fn jump_entry_bytes(&self) -> usize {
        if self.has_wide_jumps() { 16 } else { 8 }
    }

    /// Returns the tick of the last sample, which is the last tick.
    pub(crate) fn end(&self) -> u16 {
        ((self.samples - 1) * ticks_per_sample(self.samples)) as u16
    }

    /// Returns the first tick of a slice.
    pub(crate) fn slice_start(&self, slice: usize) -> u32 {
        (slice * usize::from(self.end())).div_ceil(usize::from(self.slices)) as u32
    }
}

/// How a clip stores a channel of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The channel keeps the bind pose's value.
    Default = 0,
    /// The channel keeps a value that the clip stores.
    Constant = 1,
    /// The channel follows a spline through keys.
    Keys = 2,
    /// The clip stores a value for each sample.
    Rows = 3,
}

/// How a clip stores each channel of a joint, and the format of its rotations in rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JointKinds {
    pub(crate) channels: [Kind; 3],
    pub(crate) bits: RotationBits,
}

impl JointKinds {
    #[cfg(feature = "offline")]
    /// Encodes the kinds: two bits per channel, then one bit for 32-bit rotations in rows.
    pub(crate) fn to_byte(self) -> u8 {
        let [rotation, translation, scale] = self.channels;
        rotation as u8 | (translation as u8) << 2 | (scale as u8) << 4 | (self.bits as u8) << 6
    }

    /// Decodes the kinds. Returns `None` if the bits are invalid.
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        let channels = [0, 2, 4].map(|shift| Kind::ALL[usize::from(byte >> shift & 3)]);
        let bits = match byte >> 6 {
            0 => RotationBits::Bits48,
            1 if channels[0] == Kind::Rows => RotationBits::Bits32,
            _ => return None,
        };
        Some(Self { channels, bits })
    }
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Default, Self::Constant, Self::Keys, Self::Rows];

    /// Returns the kind's lower-case name for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Constant => "constant",
            Self::Keys => "keys",
            Self::Rows => "rows",
        }
    }

    /// Returns whether the value of the channel changes.
    pub fn is_animated(self) -> bool {
        matches!(self, Self::Keys | Self::Rows)
    }
}

/// Returns the number of ticks between two samples. It is as large as the 16 bits of a key's time
/// allow, or zero if the clip has too many samples for keys.
pub(crate) const fn ticks_per_sample(samples: u32) -> u32 {
    match samples {
        0 | 1 => 1,
        _ => 65535 / (samples - 1),
    }
}

/// Returns the size of all ranges in bytes. There is a range for each vector channel that is
/// animated in any joint.
pub(crate) fn ranges_bytes(kinds: &[JointKinds]) -> usize {
    let has = |channel: Channel| usize::from(has_range(kinds, channel));
    RANGE_BYTES * (has(Channel::Translation) + has(Channel::Scale))
}

pub(crate) fn has_range(kinds: &[JointKinds], channel: Channel) -> bool {
    kinds.iter().any(|kinds| kinds.channels[channel as usize].is_animated())
}

pub(crate) fn read_index(bytes: &[u8], index: usize, is_wide: bool) -> usize {
    let byte = |at: usize| usize::from(bytes[at]);
    if is_wide {
        let at = 4 * index;
        byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 | byte(at + 3) << 24
    } else {
        byte(2 * index) | byte(2 * index + 1) << 8
    }
}

#[cfg(feature = "offline")]
pub(crate) fn write_index(bytes: &mut Vec<u8>, index: usize, is_wide: bool) {
    let all = (index as u32).to_le_bytes();
    bytes.extend_from_slice(if is_wide { &all } else { &all[..2] });
}

#[cfg(feature = "offline")]
/// Returns the size of `keys` keys in bytes.
pub(crate) const fn keys_bytes(keys: usize) -> usize {
    keys * Key::BYTES
}

/// Returns the tracks of one kind, sorted by joint and then by channel.
pub(crate) fn tracks_of(kinds: &[JointKinds], kind: Kind) -> impl Iterator<Item = TrackId> {
    let of_joint = move |(joint, kinds): (usize, &JointKinds)| {
        let channels = kinds.channels;
        let wanted =
            Channel::ALL.into_iter().filter(move |channel| channels[*channel as usize] == kind);
        wanted.map(move |channel| TrackId { joint: joint as u16, channel })
    };
    kinds.iter().enumerate().flat_map(of_joint)
}

/// Returns the vector followed by a zero.
#[inline]
pub(crate) fn pad([x, y, z]: [f32; 3]) -> [f32; 4] {
    [x, y, z, 0.0]
}
