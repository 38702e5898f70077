//! Reads a clip from bytes. The reader checks every length, kind and number. It checks the order of
//! the keys by simulating playback once. Playing a valid clip then needs no further checks.
//! `spec/ANIM.md`, section 5.7 lists what a reader must refuse.

use std::borrow::Cow;

use crate::file_kind::magic;
use crate::keyed::quantize::{VectorRange, rotation_from_48};
use crate::keyed::{Key, Parametrization};
use crate::rest::{self, Rest};
use crate::{Channel, ClipError, MAX_JOINTS, MAX_SAMPLES};

use super::KeyedClip;
use super::layout::{
    self, HEADER_BYTES, JointKinds, KeyedHeader, Kind, VERSION, pad, ticks_per_sample, tracks_of,
};

/// The largest magnitude of a range's end. Up to this value, splines and the squares of chords stay
/// finite.
const MAX_END: f32 = 1e18;

impl KeyedClip {
    /// Reads a clip and validates it once.
    ///
    /// # Errors
    /// Returns [`ClipError`], with the reason, for anything that `spec/ANIM.md` does not allow. The
    /// memory is proportional to the length of `bytes`.
    pub fn from_bytes<'a>(bytes: impl Into<Cow<'a, [u8]>>) -> Result<Self, ClipError> {
        let bytes = bytes.into().into_owned();
        let header = read_header(&bytes)?;
        let joints = usize::from(header.joints);
        let mut rest = Rest::new(&bytes, HEADER_BYTES);
        let kind_bytes = rest.take(joints, 1, "kinds")?;
        let mut kinds = Vec::with_capacity(joints);
        for (joint, &byte) in kind_bytes.iter().enumerate() {
            kinds.push(JointKinds::from_byte(byte).ok_or(ClipError::BadKind { joint, byte })?);
        }
        let mut ranges = [VectorRange { min: [0.0; 3], max: [0.0; 3] }; 2];
        for (range, channel) in ranges.iter_mut().zip([Channel::Translation, Channel::Scale]) {
            if layout::has_range(&kinds, channel) {
                let bytes = rest.take(1, layout::RANGE_BYTES, "ranges")?;
                *range = VectorRange { min: floats(bytes), max: floats(&bytes[12..]) };
                let is_sane = range.min.iter().chain(&range.max).all(|end| end.abs() <= MAX_END);
                if !(is_sane && range.is_valid()) {
                    return Err(ClipError::BadRange { channel });
                }
            }
        }
        let mut constants = Vec::new();
        for track in tracks_of(&kinds, Kind::Constant) {
            let bytes =
                rest.take(1, layout::CONSTANT_BYTES[track.channel as usize], "constants")?;
            let value = match track.channel {
                Channel::Rotation => rotation_from_48(words(bytes)),
                _ => pad(floats(bytes)),
            };
            if value.iter().any(|c| !c.is_finite()) {
                return Err(ClipError::BadConstant { track });
            }
            constants.push((track, value));
        }
        let rows: Vec<_> = tracks_of(&kinds, Kind::Rows).collect();
        let row_bytes = rows
            .iter()
            .map(|track| kinds[usize::from(track.joint)].bits.row_bytes(track.channel))
            .sum::<usize>();
        let mut keyed: Vec<_> = tracks_of(&kinds, Kind::Keys).collect();
        keyed.sort_by_key(|track| (track.channel, track.joint));
        if ticks_per_sample(header.samples) == 0 && !keyed.is_empty() {
            return Err(ClipError::TooManySamples { samples: header.samples });
        }
        let mut track_of = vec![u16::MAX; 3 * joints];
        for (index, track) in keyed.iter().enumerate() {
            // There are at most 3 · 16,384 tracks, so the index fits.
            track_of[3 * usize::from(track.joint) + track.channel as usize] = index as u16;
        }
        let rows_at = rest.at();
        rest.take(header.samples as usize, row_bytes, "rows")?;
        let keys_at = rest.at();
        rest.take(header.keys as usize, Key::BYTES, "keys")?;
        let jumps_at = rest.at();
        let jump_entries = (usize::from(header.slices) - 1) * keyed.len();
        rest.take(jump_entries, header.jump_entry_bytes(), "jumps")?;
        rest.end()?;
        let clip = Self {
            header,
            kinds,
            ranges,
            constants,
            rows,
            row_bytes,
            keyed,
            track_of,
            rows_at,
            keys_at,
            jumps_at,
            bytes,
        };
        check_keys(&clip)?;
        Ok(clip)
    }
}

fn read_header(bytes: &[u8]) -> Result<KeyedHeader, ClipError> {
    let head: &[u8; HEADER_BYTES] = rest::head(bytes, magic::KEYED_CLIP, VERSION)?;
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let half = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    let Some(&parametrization) = Parametrization::ALL.get(usize::from(head[5])) else {
        return Err(ClipError::BadHeader { field: "parametrization" });
    };
    let header = KeyedHeader {
        parametrization,
        joints: half(8),
        slices: half(10),
        samples: word(12),
        rate_hz: f32::from_bits(word(16)),
        keys: word(20),
        skeleton: u64::from(word(24)) | u64::from(word(28)) << 32,
    };
    let checks = [
        (head[6..8] == [0; 2], "reserved bytes"),
        ((1..=MAX_JOINTS).contains(&usize::from(header.joints)), "joints"),
        (header.slices > 0, "slices"),
        ((1..=MAX_SAMPLES as u32).contains(&header.samples), "samples"),
        (header.rate_hz.is_finite() && header.rate_hz > 0.0, "rate"),
    ];
    match checks.into_iter().find(|(is_right, _)| !is_right) {
        Some((_, field)) => Err(ClipError::BadHeader { field }),
        None => Ok(header),
    }
}

/// Simulates playback of all keys once, in the order of the file.
fn check_keys(clip: &KeyedClip) -> Result<(), ClipError> {
    let end = if clip.keyed.is_empty() { 0 } else { clip.header.end() };
    let mut playback = Playback::new(clip.keyed.len(), end);
    let mut slice = 1;
    for index in 0..clip.key_count() {
        let bytes = clip.bytes[clip.keys_at + index * Key::BYTES..]
            .first_chunk()
            .copied()
            .unwrap_or_default();
        let key = Key::from_bytes(bytes)
            .ok_or(ClipError::BadKey { index, reason: "a channel that does not exist" })?;
        let is_joint = usize::from(key.joint) < clip.joints();
        let track = if is_joint { clip.keyed_index(&key) } else { usize::MAX };
        if track >= clip.keyed.len() {
            return Err(ClipError::BadKey { index, reason: "a joint or channel that has no keys" });
        }
        let need = playback.need(track);
        slice = check_jumps(clip, &playback, slice, need)?;
        playback
            .push(track, index, key.time)
            .map_err(|reason| ClipError::BadKey { index, reason })?;
    }
    check_jumps(clip, &playback, slice, u32::MAX)?;
    playback.finish().map_err(|reason| ClipError::BadKey { index: clip.key_count(), reason })
}

/// Compares the jump table with the playback state, for each slice that starts before tick `need`.
/// The next key is needed at that tick.
fn check_jumps(
    clip: &KeyedClip,
    playback: &Playback,
    mut slice: usize,
    need: u32,
) -> Result<usize, ClipError> {
    while slice < usize::from(clip.header.slices) && clip.header.slice_start(slice) < need {
        for track in 0..clip.keyed.len() {
            if clip.jump(slice, track) != playback.hot(track) {
                return Err(ClipError::BadJump { slice, track: clip.keyed[track] });
            }
        }
        slice += 1;
    }
    Ok(slice)
}

/// Tracks which four keys each track holds as the block of keys is read, and enforces the order of
/// keys.
pub(crate) struct Playback {
    tracks: Vec<HotKeys>,
    end: u16,
    /// The track whose first keys come next in the block. Once all tracks have their first keys,
    /// this is the number of tracks.
    head: usize,
    /// The tick at which the last key was needed.
    needed: u32,
}

#[derive(Clone, Copy, Default)]
struct HotKeys {
    count: u32,
    keys: [usize; 4],
    times: [u16; 4],
}

impl HotKeys {
    /// Returns whether the first keys of all tracks have been read. A track has three, or two if
    /// the second is its last.
    fn has_head(&self, end: u16) -> bool {
        self.count >= 3 || (self.count == 2 && self.times[3] == end)
    }
}

impl Playback {
    pub(crate) fn new(tracks: usize, end: u16) -> Self {
        Self { tracks: vec![HotKeys::default(); tracks], end, head: 0, needed: 0 }
    }

    /// Returns the tick at which playback needs the next key of a track.
    pub(crate) fn need(&self, track: usize) -> u32 {
        let hot = &self.tracks[track];
        if hot.has_head(self.end) { u32::from(hot.times[2]) } else { 0 }
    }

    /// Returns the indices of the four keys that a cursor holds for a track.
    pub(crate) fn hot(&self, track: usize) -> [usize; 4] {
        self.tracks[track].keys
    }

    /// Reads the next key of the block.
    pub(crate) fn push(
        &mut self,
        track: usize,
        index: usize,
        time: u16,
    ) -> Result<(), &'static str> {
        let need = self.need(track);
        let is_head = self.head < self.tracks.len();
        if is_head && track != self.head {
            return Err("not among the first keys of each track, which come first");
        }
        if need < self.needed {
            return Err("not in the order in which playback needs it");
        }
        let hot = &mut self.tracks[track];
        match hot.count {
            0 if time != 0 => return Err("a track that does not begin with the clip"),
            0 => (hot.keys, hot.times) = ([index; 4], [time; 4]),
            _ if time <= hot.times[3] => return Err("times of a track that do not increase"),
            _ if time > self.end => return Err("a time after the last sample"),
            1 => {
                hot.keys[2..].fill(index);
                hot.times[2..].fill(time);
            }
            2 => (hot.keys[3], hot.times[3]) = (index, time),
            _ => {
                hot.keys.rotate_left(1);
                hot.times.rotate_left(1);
                (hot.keys[3], hot.times[3]) = (index, time);
            }
        }
        hot.count += 1;
        if is_head && hot.has_head(self.end) {
            self.head += 1;
        }
        self.needed = need;
        Ok(())
    }

    fn finish(&self) -> Result<(), &'static str> {
        let is_whole = |hot: &HotKeys| hot.count >= 2 && hot.times[3] == self.end;
        if self.tracks.iter().all(is_whole) {
            Ok(())
        } else {
            Err("a track that does not end with the clip")
        }
    }
}

/// Decodes three little-endian floats.
fn floats(bytes: &[u8]) -> [f32; 3] {
    [0, 4, 8].map(|at| f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
}

fn words(bytes: &[u8]) -> [u16; 3] {
    [0, 2, 4].map(|at| u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}
