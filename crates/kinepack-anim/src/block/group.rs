//! The tracks of a clip as playback has them: eight at a time, with all that does not depend on the time. `spec/ANIM.md`, section 10.3.

use super::Clip;
use super::kernel::{self, Lanes};
use super::layout::GROUP;
use crate::{Channel, TrackId};

/// Up to eight tracks, all rotations or none.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub(super) struct Group {
    /// Of rotations: x, y, z, w of the references, then of the axes. Of others: x, y, z of the middles.
    pub(super) fixed: [[f32; GROUP]; 8],
    /// Of first, second and third components.
    pub(super) steps: [[u8; GROUP]; 3],
    /// Which components are live: a bit for each of eight first ones, then of eight second and eight third ones.
    pub(super) live: u32,
    /// Tracks.
    pub(super) count: u32,
    pub(super) joints: [u16; GROUP],
    /// Which tracks are scales: a bit each.
    pub(super) scales: u32,
}

impl Group {
    fn new(tracks: &[TrackId], bytes: &[u8], is_fine: bool) -> Self {
        let count = tracks.len();
        let is_rotation = tracks[0].channel == Channel::Rotation;
        let mut group = Self {
            fixed: [[0.0; GROUP]; 8],
            steps: [[0; GROUP]; 3],
            live: 0,
            count: count as u32,
            joints: [0; GROUP],
            scales: 0,
        };
        let (values, steps) = bytes.split_at(bytes.len() - 3 * count);
        for (lane, track) in tracks.iter().enumerate() {
            group.joints[lane] = track.joint;
            group.scales |= u32::from(track.channel == Channel::Scale) << lane;
            for axis in 0..3 {
                let step = steps[axis * count + lane];
                group.steps[axis][lane] = step;
                group.live |= u32::from(step != 0) << (GROUP * axis + lane);
                if !is_rotation {
                    let middle = values.as_chunks().0[axis * count + lane];
                    group.fixed[axis][lane] = f32::from_le_bytes(middle);
                }
            }
        }
        if is_rotation {
            let (references, axes) = values.split_at(values.len() / 2);
            let rotations = [rotations(references, count, is_fine), rotations(axes, count, is_fine)];
            group.fixed = rotations.as_flattened().try_into().unwrap_or(group.fixed);
        }
        group
    }

    /// Four of its fixed numbers.
    #[inline(always)]
    pub(super) fn quaternions<L: Lanes>(&self, first: usize) -> kernel::Quaternion<L> {
        let [x, y, z, w] = [first, first + 1, first + 2, first + 3];
        [L::load(&self.fixed[x]), L::load(&self.fixed[y]), L::load(&self.fixed[z]), L::load(&self.fixed[w])]
    }
}

/// The rotations of references or axes.
fn rotations(codes: &[u8], count: usize, is_fine: bool) -> [[f32; GROUP]; 4] {
    let mut numbers = [[0.0; GROUP]; 3];
    for (axis, numbers) in numbers.iter_mut().enumerate() {
        for (lane, number) in numbers.iter_mut().take(count).enumerate() {
            let at = axis * count + lane;
            *number = if is_fine {
                (f32::from(u16::from_le_bytes(codes.as_chunks().0[at])) - 32768.0) * (1.0 / 32767.0)
            } else {
                (f32::from(codes[at]) - 128.0) * (1.0 / 127.0)
            };
        }
    }
    kernel::rotation(numbers)
}

/// The groups of a clip, and how many of them are rotations.
pub(super) fn groups<B: AsRef<[u8]>>(clip: &Clip<B>) -> (Vec<Group>, usize) {
    let bytes = clip.as_bytes();
    let mut at = clip.parts.rotations;
    let (rotations, vectors) = clip.tracks.split_at(clip.rotations);
    let parts = rotations.chunks(GROUP).chain(vectors.chunks(GROUP));
    let groups = parts.map(|tracks| {
        let length = clip.header.track_bytes(tracks[0].channel == Channel::Rotation) * tracks.len();
        at += length;
        Group::new(tracks, &bytes[at - length..at], clip.header.is_fine)
    });
    (groups.collect(), rotations.len().div_ceil(GROUP))
}
