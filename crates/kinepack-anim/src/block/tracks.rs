//! What a clip, or its rig, says once of each track that moves. `spec/ANIM.md`, section 10.3.

use super::layout::{GROUP, Header};
use super::read::is_number;
use super::{Clip, Rig};
use crate::rest::Rest;
use crate::{Channel, ClipError, TrackId};

/// What is said of a track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Track {
    pub(crate) channel: Channel,
    /// Of a rotation: the codes of the reference, and of the axes.
    pub(crate) codes: [[u16; 3]; 2],
    /// Of a vector.
    pub(crate) middle: [f32; 3],
    /// 0 is dead.
    pub(crate) steps: [u8; 3],
    /// Whether reference or middle, and whether axes and steps are those of the rig.
    pub(crate) shares: [bool; 2],
}

impl Track {
    /// Of which nothing is known.
    pub(crate) fn of(channel: Channel) -> Self {
        Self { channel, codes: [[0; 3]; 2], middle: [0.0; 3], steps: [0; 3], shares: [false; 2] }
    }

    /// The track with what it shares, of which it knew nothing but which components are live.
    fn with(mut self, shared: &Self) -> Self {
        let [first, second] = self.shares;
        if first {
            (self.codes[0], self.middle) = (shared.codes[0], shared.middle);
        }
        if second {
            self.codes[1] = shared.codes[1];
            self.steps =
                std::array::from_fn(
                    |axis| if self.steps[axis] == 0 { 0 } else { shared.steps[axis] },
                );
        }
        self
    }

    /// What playback computes with: the numbers of reference and axes.
    pub(super) fn numbers(&self, is_fine: bool) -> [[f32; 3]; 2] {
        [0, 1].map(|part| {
            let (middle, step) = if self.shares[part] || is_fine {
                (32768.0, 1.0 / 32767.0)
            } else {
                (128.0, 1.0 / 127.0)
            };
            self.codes[part].map(|code| (f32::from(code) - middle) * step)
        })
    }

    /// Bits of what a clip says of it.
    pub(crate) fn bits(&self, header: &Header) -> usize {
        let [first, second] = self.shares.map(|is_shared| usize::from(!is_shared));
        let code_bits = 8 * header.code_bytes();
        let own = match self.channel {
            Channel::Rotation => 3 * (first * code_bits + second * (code_bits + 8)),
            _ => 3 * (first * 32 + second * 8),
        };
        // A bit in each of the bytes that groups begin with.
        own + if header.is_of_rig { RIG_BYTES } else { 0 }
    }
}

/// What a group of a clip of a rig begins with: which tracks share the first and the second part,
/// and what is live of the latter.
const RIG_BYTES: usize = 5;

/// The fewest bytes that say all of some tracks.
pub(super) fn least_bytes(header: &Header, tracks: usize) -> usize {
    if header.is_of_rig {
        tracks.div_ceil(GROUP) * RIG_BYTES
    } else {
        tracks * (6 * header.code_bytes() + 3)
    }
}

/// Reads a group; what a track shares is not known, but for what is live.
pub(super) fn read_group(
    rest: &mut Rest<'_>,
    ids: &[TrackId],
    (is_fine, is_of_rig): (bool, bool),
) -> Result<Vec<Track>, ClipError> {
    let mut take = |bytes: usize| rest.take(1, bytes, "groups");
    let mut shared = [0; RIG_BYTES];
    if is_of_rig {
        shared = take(RIG_BYTES)?.first_chunk().copied().unwrap_or_default();
        let [_, second, live @ ..] = shared;
        let is_track = (1_u32 << ids.len()) - 1;
        if shared.iter().any(|byte| u32::from(*byte) & !is_track != 0)
            || live.iter().any(|live| live & !second != 0)
        {
            return Err(ClipError::BadHeader { field: "shared tracks" });
        }
    }
    let new = |(index, id): (usize, &TrackId)| {
        let [first, second, steps @ ..] = shared.map(|byte| byte >> index & 1);
        Track { shares: [first != 0, second != 0], steps, ..Track::of(id.channel) }
    };
    let mut tracks: Vec<Track> = ids.iter().enumerate().map(new).collect();
    for number in 0..6 {
        for (track, id) in tracks.iter_mut().zip(ids) {
            if track.shares[number / 3] {
                continue;
            }
            match id.channel {
                Channel::Rotation if is_fine => {
                    track.codes[number / 3][number % 3] =
                        u16::from_le_bytes(take(2)?.first_chunk().copied().unwrap_or_default());
                }
                Channel::Rotation => track.codes[number / 3][number % 3] = u16::from(take(1)?[0]),
                _ if number < 3 => {
                    track.middle[number] =
                        f32::from_le_bytes(take(4)?.first_chunk().copied().unwrap_or_default());
                    if !is_number(track.middle[number]) {
                        return Err(ClipError::BadConstant { track: *id });
                    }
                }
                _ => {}
            }
        }
    }
    for axis in 0..3 {
        for track in tracks.iter_mut().filter(|track| !track.shares[1]) {
            track.steps[axis] = take(1)?[0];
        }
    }
    Ok(tracks)
}

/// Writes a group.
pub(super) fn write_group(
    tracks: &[Track],
    (is_fine, is_of_rig): (bool, bool),
    bytes: &mut Vec<u8>,
) {
    if is_of_rig {
        let is_live = |axis: usize| move |track: &Track| track.shares[1] && track.steps[axis] != 0;
        bytes
            .extend([0, 1].map(|part| bits_to_byte(tracks.iter().map(|track| track.shares[part]))));
        bytes.extend([0, 1, 2].map(|axis| bits_to_byte(tracks.iter().map(is_live(axis)))));
    }
    for number in 0..6 {
        for track in tracks.iter().filter(|track| !track.shares[number / 3]) {
            match track.channel {
                Channel::Rotation => {
                    bytes.extend(
                        &track.codes[number / 3][number % 3].to_le_bytes()
                            [..1 + usize::from(is_fine)],
                    );
                }
                _ if number < 3 => bytes.extend(track.middle[number].to_le_bytes()),
                _ => {}
            }
        }
    }
    for axis in 0..3 {
        bytes.extend(tracks.iter().filter(|track| !track.shares[1]).map(|track| track.steps[axis]));
    }
}

/// Up to eight bits, the first one in the lowest.
pub(super) fn bits_to_byte(bits: impl DoubleEndedIterator<Item = bool>) -> u8 {
    bits.rev().fold(0, |byte, bit| byte << 1 | u8::from(bit))
}

impl<B: AsRef<[u8]>> Clip<B> {
    /// What the clip and its rig say of each track, group by group.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&[TrackId], Vec<Track>)> {
        let mut rest = Rest::new(self.as_bytes(), self.parts.rotations);
        let (rotations, vectors) = self.tracks.split_at(self.rotations);
        rotations.chunks(GROUP).chain(vectors.chunks(GROUP)).map_while(move |ids| {
            // Read once before, when the clip was.
            let mut tracks = read_group(&mut rest, ids, self.header.group_format()).ok()?;
            if let Some(rig) = &self.rig {
                tracks
                    .iter_mut()
                    .zip(ids)
                    .for_each(|(track, id)| *track = shared(*track, *id, rig));
            }
            Some((ids, tracks))
        })
    }
}

fn shared(track: Track, id: TrackId, rig: &Rig) -> Track {
    rig.track(id).map_or(track, |shared| track.with(shared))
}
