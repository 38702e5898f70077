//! The tracks of a clip as playback has them: eight at a time, with all that does not depend on the time. `spec/ANIM.md`, section 10.3.

use super::kernel::{self, Lanes};
use super::layout::GROUP;
use super::{Clip, Track};
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
    fn new(ids: &[TrackId], tracks: &[Track], is_fine: bool) -> Self {
        let mut group = Self {
            fixed: [[0.0; GROUP]; 8],
            steps: [[0; GROUP]; 3],
            live: 0,
            count: ids.len() as u32,
            joints: [0; GROUP],
            scales: 0,
        };
        for (lane, (id, track)) in ids.iter().zip(tracks).enumerate() {
            group.joints[lane] = id.joint;
            group.scales |= u32::from(id.channel == Channel::Scale) << lane;
            for axis in 0..3 {
                let step = track.steps[axis];
                group.steps[axis][lane] = step;
                group.live |= u32::from(step != 0) << (GROUP * axis + lane);
                group.fixed[axis][lane] = track.middle[axis];
            }
        }
        if ids[0].channel == Channel::Rotation {
            let mut numbers = [[[0.0; GROUP]; 3]; 2];
            for (lane, track) in tracks.iter().enumerate() {
                for (numbers, own) in numbers.as_flattened_mut().iter_mut().zip(track.numbers(is_fine).as_flattened()) {
                    numbers[lane] = *own;
                }
            }
            group.fixed = numbers.map(kernel::rotation).as_flattened().try_into().unwrap_or(group.fixed);
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

/// The groups of a clip, and how many of them are rotations.
pub(super) fn groups<B: AsRef<[u8]>>(clip: &Clip<B>) -> (Vec<Group>, usize) {
    let groups = clip.groups().map(|(ids, tracks)| Group::new(ids, &tracks, clip.header.is_fine));
    (groups.collect(), clip.rotations.div_ceil(GROUP))
}
