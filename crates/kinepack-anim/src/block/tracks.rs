//! The parameters of animated tracks, which a clip or its rig stores once for all segments.
//! `spec/ANIM.md`, section 10.3.

use super::layout::{GROUP, Header};
use crate::rest::Rest;
use crate::{Channel, ClipError, TrackId};

/// The parameters of an animated track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Track {
    pub(crate) channel: Channel,
    /// The codes of a rotation's reference, then those of its axes, three each.
    pub(crate) codes: [[u16; 3]; 2],
    /// The middle of a translation or scale.
    pub(crate) middle: [f32; 3],
    /// The steps of the three components. A step of 0 means that the component is dead.
    pub(crate) steps: [u8; 3],
    /// Whether the rig supplies the reference or middle, and whether it supplies axes and steps.
    pub(crate) shares: [bool; 2],
    /// Whether segments store anchors for the track. Only translations may have anchors.
    pub(crate) is_far: bool,
}

impl Track {
    /// Returns a track of this channel, with all other parameters 0.
    pub(crate) fn new(channel: Channel) -> Self {
        Self {
            channel,
            codes: [[0; 3]; 2],
            middle: [0.0; 3],
            steps: [0; 3],
            shares: [false; 2],
            is_far: false,
        }
    }

    /// Fills in the parameters that the track shares with the rig's track. Until then, shared steps
    /// only mark which components are live.
    pub(super) fn with_shared(mut self, shared: &Self) -> Self {
        let [shares_reference, shares_steps] = self.shares;
        if shares_reference {
            (self.codes[0], self.middle) = (shared.codes[0], shared.middle);
        }
        if shares_steps {
            self.codes[1] = shared.codes[1];
            self.steps =
                std::array::from_fn(
                    |axis| if self.steps[axis] == 0 { 0 } else { shared.steps[axis] },
                );
        }
        self
    }

    /// Returns the same track, but with no parameter marked as shared.
    pub(super) fn owned(self) -> Self {
        Self { shares: [false; 2], ..self }
    }

    /// Returns the number of bits that the track's parameters occupy in a clip.
    pub(crate) fn bits(&self, header: &Header) -> usize {
        let [stores_reference, stores_steps] = self.shares.map(|is_shared| usize::from(!is_shared));
        let code_bits = 8 * header.code_bytes();
        let own = match self.channel {
            Channel::Rotation => {
                3 * (stores_reference * code_bits + stores_steps * (code_bits + 8))
            }
            _ => 3 * (stores_reference * 32 + stores_steps * 8),
        };
        // In a clip of a rig, a track has one bit in each of the bytes that precede its group.
        own + if header.is_of_rig { SHARED_BYTES } else { 0 }
    }
}

/// The number of bytes that precede each group in a clip of a rig. The first marks the tracks that
/// share their reference or middle, the second the tracks that share axes and steps. For tracks
/// that share steps, the other three mark the live components, with a byte for each axis.
const SHARED_BYTES: usize = 5;

/// Returns the minimum number of bytes that the parameters of `tracks` tracks can occupy.
pub(super) fn min_group_bytes(header: &Header, tracks: usize) -> usize {
    if header.is_of_rig {
        tracks.div_ceil(GROUP) * SHARED_BYTES
    } else {
        tracks * (6 * header.code_bytes() + 3)
    }
}

/// Reads a group, without checking its middles. Parameters that a track shares are 0, except that a
/// step of 1 marks a live component.
pub(super) fn read_group(
    rest: &mut Rest<'_>,
    ids: &[TrackId],
    (is_fine, is_of_rig): (bool, bool),
) -> Result<Vec<Track>, ClipError> {
    let mut take = |bytes: usize| rest.take(1, bytes, "groups");
    let mut shared = [0; SHARED_BYTES];
    if is_of_rig {
        shared = take(SHARED_BYTES)?.first_chunk().copied().unwrap_or_default();
        let [_, shares_steps, live @ ..] = shared;
        let all_tracks = (1_u32 << ids.len()) - 1;
        if shared.iter().any(|byte| u32::from(*byte) & !all_tracks != 0)
            || live.iter().any(|live| live & !shares_steps != 0)
        {
            return Err(ClipError::BadHeader { field: "shared tracks" });
        }
    }
    let new = |(index, id): (usize, &TrackId)| {
        let [shares_reference, shares_steps, steps @ ..] = shared.map(|byte| byte >> index & 1);
        let shares = [shares_reference != 0, shares_steps != 0];
        Track { shares, steps, ..Track::new(id.channel) }
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

/// Packs up to eight bits into a byte, the first one into the lowest bit.
pub(super) fn bits_to_byte(bits: impl DoubleEndedIterator<Item = bool>) -> u8 {
    bits.rev().fold(0, |byte, bit| byte << 1 | u8::from(bit))
}
