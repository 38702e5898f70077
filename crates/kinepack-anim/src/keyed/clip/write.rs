//! Writes the tracks of a clip as bytes. The writer sorts the keys into the order in which playback
//! needs them, and simulates playback to fill the jump table. See `spec/ANIM.md`, section 5.

use crate::keyed::quantize::{VectorRange, rotation_48};
use crate::keyed::{Key, Parametrization};
use crate::{Channel, TrackId};

use super::Playback;
use super::layout::{self, HEADER_BYTES, JointKinds, KeyedHeader};

/// The number of keys between two entries of the jump table. A cursor reads roughly at most this
/// number of keys after a seek.
const KEYS_PER_SLICE: usize = 2048;

/// The keys of one track, each with its tick and value. The first key is at tick zero, the last at
/// the tick of the last sample.
#[derive(Clone, Debug)]
pub(crate) struct PlacedTrack {
    pub(crate) id: TrackId,
    pub(crate) keys: Vec<(u16, [u16; 3])>,
}

/// The whole contents of a clip before it is written.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    pub(crate) parametrization: Parametrization,
    pub(crate) samples: u32,
    pub(crate) rate_hz: f32,
    pub(crate) skeleton: u64,
    pub(crate) kinds: Vec<JointKinds>,
    /// The ranges of translations and of scales.
    pub(crate) ranges: [VectorRange; 2],
    /// The constants, sorted by joint, then by channel.
    pub(crate) constants: Vec<(TrackId, [f32; 4])>,
    /// The bytes of all rows.
    pub(crate) rows: Vec<u8>,
    pub(crate) tracks: Vec<PlacedTrack>,
}

impl Contents {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut tracks: Vec<&PlacedTrack> = self.tracks.iter().collect();
        tracks.sort_by_key(|track| (track.id.channel, track.id.joint));
        let keys: usize = tracks.iter().map(|track| track.keys.len()).sum();
        let header = KeyedHeader {
            parametrization: self.parametrization,
            joints: self.kinds.len() as u16,
            slices: keys.div_ceil(KEYS_PER_SLICE).clamp(1, 1 << 10) as u16,
            samples: self.samples,
            rate_hz: self.rate_hz,
            keys: keys as u32,
            skeleton: self.skeleton,
        };
        let size = HEADER_BYTES + self.kinds.len() + self.rows.len() + layout::keys_bytes(keys);
        let mut bytes = Vec::with_capacity(size);
        bytes.extend_from_slice(&header.to_bytes());
        bytes.extend(self.kinds.iter().map(|kinds| kinds.to_byte()));
        for (range, channel) in self.ranges.iter().zip([Channel::Translation, Channel::Scale]) {
            if layout::has_range(&self.kinds, channel) {
                bytes.extend(
                    range.min.iter().chain(&range.max).flat_map(|float| float.to_le_bytes()),
                );
            }
        }
        for (track, value) in &self.constants {
            match track.channel {
                Channel::Rotation => {
                    bytes.extend(rotation_48(*value).iter().flat_map(|word| word.to_le_bytes()));
                }
                _ => bytes.extend(value[..3].iter().flat_map(|float| float.to_le_bytes())),
            }
        }
        bytes.extend_from_slice(&self.rows);
        write_keys(&mut bytes, &header, &tracks);
        bytes
    }
}

fn write_keys(bytes: &mut Vec<u8>, header: &KeyedHeader, tracks: &[&PlacedTrack]) {
    let mut jumps = Vec::new();
    let mut playback =
        Playback::new(tracks.len(), if tracks.is_empty() { 0 } else { header.end() });
    let mut slice = 1;
    let mut jump_to = |playback: &Playback, need: u32| {
        while slice < usize::from(header.slices) && header.slice_start(slice) < need {
            for index in (0..tracks.len()).flat_map(|track| playback.hot(track)) {
                layout::write_index(&mut jumps, index, header.has_wide_jumps());
            }
            slice += 1;
        }
    };
    for (index, (track, key)) in ordered(tracks).into_iter().enumerate() {
        let (time, value) = tracks[track].keys[key];
        jump_to(&playback, playback.need(track));
        let is_in_order = playback.push(track, index, time);
        debug_assert_eq!(is_in_order, Ok(()));
        let TrackId { joint, channel } = tracks[track].id;
        bytes.extend_from_slice(&Key { time, joint, channel, value }.to_bytes());
    }
    jump_to(&playback, u32::MAX);
    bytes.extend_from_slice(&jumps);
}

/// Returns all keys in the order in which playback needs them. Each is a pair of a track and an
/// index in that track. The first three keys of each track come first. The other keys are sorted by
/// the tick of the key two places before them in their track. The spline needs them from that tick
/// on.
fn ordered(tracks: &[&PlacedTrack]) -> Vec<(usize, usize)> {
    let mut order = Vec::new();
    for (track, placed) in tracks.iter().enumerate() {
        order.extend((0..placed.keys.len().min(3)).map(|key| (track, key)));
    }
    let head = order.len();
    for (track, placed) in tracks.iter().enumerate() {
        order.extend((3..placed.keys.len()).map(|key| (track, key)));
    }
    // The sort is stable. Keys that are needed together stay in the order of their tracks, and the
    // keys of a track stay in the order of time.
    order[head..].sort_by_key(|&(track, key)| tracks[track].keys[key - 2].0);
    order
}
