//! A compressed clip in memory, with the same bytes as its file. These bytes contain a header, a
//! byte per joint with the kind of each channel, constants, rows of samples, and keys. The block of
//! keys is in the order in which playback needs them. Loading validates the clip once, so sampling
//! cannot fail. See `spec/ANIM.md`, section 5.
//!
//! [`build`](crate::offline::build) makes keyed clips, and a [`Cursor`](crate::keyed::Cursor) plays
//! them.

mod check;
mod layout;
#[cfg(feature = "offline")]
mod write;

use crate::keyed::quantize::{VectorRange, rotation_from_48};
use crate::keyed::{Key, Parametrization};
use crate::{Channel, ClipInfo, TrackId};

#[cfg(feature = "offline")]
pub(crate) use check::Playback;
#[cfg(feature = "offline")]
pub(crate) use layout::tracks_of;
pub(crate) use layout::{JointKinds, pad, ticks_per_sample};
pub use layout::{KeyedHeader, Kind, RotationBits};
#[cfg(feature = "offline")]
pub(crate) use write::{Contents, PlacedTrack};

/// A compressed clip of keys and rows.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::{Joint, RawClip, Skeleton, Transform, offline::{BuildOptions, build}};
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let samples = (0..31).map(sample).collect();
/// # let raw = RawClip::new("slide", Arc::clone(&skeleton), 30.0, samples)?;
/// use kinepack_anim::keyed::KeyedClip;
/// use kinepack_anim::offline::{KeyedOptions, Scheme};
///
/// let scheme = Scheme::Keyed(KeyedOptions::default());
/// let built = build(&raw, &BuildOptions { scheme, ..BuildOptions::default() })?;
/// let clip = KeyedClip::from_bytes(built.clip.as_bytes())?;
/// assert_eq!((clip.joints(), clip.samples()), (1, 31));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyedClip {
    bytes: Vec<u8>,
    header: KeyedHeader,
    kinds: Vec<JointKinds>,
    ranges: [VectorRange; 2],
    constants: Vec<(TrackId, [f32; 4])>,
    rows: Vec<TrackId>,
    row_bytes: usize,
    keyed: Vec<TrackId>,
    /// For each joint and channel, its index in `keyed`, or `u16::MAX` if the channel is not keyed.
    track_of: Vec<u16>,
    rows_at: usize,
    keys_at: usize,
    jumps_at: usize,
}

impl KeyedClip {
    /// Returns the bytes of the clip's file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the fields of the header.
    pub fn header(&self) -> &KeyedHeader {
        &self.header
    }

    /// Joints, times and skeleton.
    pub fn info(&self) -> ClipInfo {
        ClipInfo {
            joints: self.joints(),
            samples: self.samples(),
            rate_hz: self.header.rate_hz,
            skeleton_hash: self.header.skeleton,
        }
    }

    /// [`Skeleton::hash`](crate::Skeleton::hash) of the skeleton that the clip was built for.
    pub fn skeleton_hash(&self) -> u64 {
        self.header.skeleton
    }

    /// Returns the number of joints.
    pub fn joints(&self) -> usize {
        usize::from(self.header.joints)
    }

    /// Returns the number of sample times of the raw clip that the clip was built from.
    pub fn samples(&self) -> usize {
        self.header.samples as usize
    }

    /// Samples per second.
    pub fn rate_hz(&self) -> f32 {
        self.header.rate_hz
    }

    /// Seconds from the first sample to the last.
    pub fn duration_s(&self) -> f32 {
        self.info().duration_s()
    }

    /// Returns how the clip stores a channel of a joint.
    pub fn kind(&self, track: TrackId) -> Kind {
        self.kinds[usize::from(track.joint)].channels[track.channel as usize]
    }

    /// Returns how a joint's rotations are written in rows.
    pub fn row_rotation_bits(&self, joint: usize) -> RotationBits {
        self.kinds[joint].bits
    }

    /// Returns the tracks stored as rows of samples, in their order within a row.
    pub fn row_tracks(&self) -> &[TrackId] {
        &self.rows
    }

    /// Returns the tracks that have keys: rotations first, then translations and scales, each
    /// sorted by joint.
    pub fn keyed_tracks(&self) -> &[TrackId] {
        &self.keyed
    }

    /// Returns the tracks that hold a single value that differs from the bind pose.
    pub fn constants(&self) -> &[(TrackId, [f32; 4])] {
        &self.constants
    }

    /// Returns how keys are parametrized.
    pub fn parametrization(&self) -> Parametrization {
        self.header.parametrization
    }

    /// Returns the range over which a channel's vectors are quantized. For rotations it has no
    /// meaning.
    pub fn range(&self, channel: Channel) -> &VectorRange {
        &self.ranges[usize::from(channel == Channel::Scale)]
    }

    /// Returns the number of keys.
    pub fn key_count(&self) -> usize {
        self.header.keys as usize
    }

    /// Returns the key with index `index` in the clip's order, in which playback needs the keys.
    #[inline]
    pub fn key(&self, index: usize) -> Key {
        let bytes = &self.bytes[self.keys_at + index * Key::BYTES..][..Key::BYTES];
        let bytes = bytes.first_chunk().copied().unwrap_or_default();
        // Reading the clip checked every key, so the fallback is never used.
        Key::from_bytes(bytes).unwrap_or(Key {
            time: 0,
            joint: 0,
            channel: Channel::Rotation,
            value: [0; 3],
        })
    }

    /// Returns the time of a key, in seconds from the first sample.
    pub fn key_time_s(&self, key: &Key) -> f32 {
        f32::from(key.time) / ticks_per_sample(self.header.samples) as f32 / self.header.rate_hz
    }

    /// Returns the position of a key in samples, counted from the first, as
    /// [`Cursor::sample_at`](crate::keyed::Cursor::sample_at) takes it.
    pub fn key_position(&self, key: &Key) -> f64 {
        f64::from(key.time) / f64::from(ticks_per_sample(self.header.samples))
    }

    /// Returns the value of a key: a rotation, or a vector followed by a zero.
    #[inline]
    pub fn value(&self, key: &Key) -> [f32; 4] {
        self.value_of(key.channel, key.value)
    }

    /// Decodes a 48-bit value of a channel.
    #[inline]
    pub(crate) fn value_of(&self, channel: Channel, words: [u16; 3]) -> [f32; 4] {
        match channel {
            Channel::Rotation => rotation_from_48(words),
            channel => pad(self.range(channel).reconstruct(words)),
        }
    }

    /// Returns the bytes of a row of samples.
    #[inline]
    pub(crate) fn row(&self, sample: usize) -> &[u8] {
        &self.bytes[self.rows_at + sample * self.row_bytes..][..self.row_bytes]
    }

    /// Returns the index, among the keyed tracks, of the track to which `key` belongs.
    #[inline]
    pub(crate) fn keyed_index(&self, key: &Key) -> usize {
        usize::from(self.track_of[3 * usize::from(key.joint) + key.channel as usize])
    }

    /// Returns the four keys of a keyed track at the start of slice `slice` (numbered from 1), as
    /// indices into all keys.
    pub(crate) fn jump(&self, slice: usize, track: usize) -> [usize; 4] {
        let at = self.jumps_at
            + ((slice - 1) * self.keyed.len() + track) * self.header.jump_entry_bytes();
        std::array::from_fn(|index| {
            layout::read_index(&self.bytes[at..], index, self.header.has_wide_jumps())
        })
    }

    /// Returns the number of keys of each channel of each joint. The method reads all keys.
    pub fn keys_by_joint(&self) -> Vec<[usize; 3]> {
        let mut counts = vec![[0; 3]; self.joints()];
        for key in (0..self.key_count()).map(|index| self.key(index)) {
            counts[usize::from(key.joint)][key.channel as usize] += 1;
        }
        counts
    }

    /// Returns the size of each channel's keys, rows and constants in bytes. The method reads all
    /// keys.
    pub fn bytes_by_channel(&self) -> [usize; 3] {
        let mut bytes = [0; 3];
        for (track, _) in &self.constants {
            bytes[track.channel as usize] += layout::CONSTANT_BYTES[track.channel as usize];
        }
        for track in &self.rows {
            let bits = self.row_rotation_bits(usize::from(track.joint));
            bytes[track.channel as usize] += bits.row_bytes(track.channel) * self.samples();
        }
        for counts in self.keys_by_joint() {
            bytes.iter_mut().zip(counts).for_each(|(bytes, keys)| *bytes += keys * Key::BYTES);
        }
        bytes
    }

    /// Returns the size of each part in bytes, in the order of the file. The sizes sum to the
    /// file's length.
    pub fn bytes_by_part(&self) -> Vec<(&'static str, usize)> {
        let ranges = layout::ranges_bytes(&self.kinds);
        let head = layout::HEADER_BYTES + self.kinds.len();
        let constants = self.rows_at - head - ranges;
        let parts =
            [head, ranges, constants, self.keys_at - self.rows_at, self.jumps_at - self.keys_at];
        let [head, ranges, constants, rows, keys] = parts;
        let jumps = self.bytes.len() - self.jumps_at;
        vec![
            ("header", head),
            ("ranges", ranges),
            ("constants", constants),
            ("rows", rows),
            ("keys", keys),
            ("jumps", jumps),
        ]
    }
}
