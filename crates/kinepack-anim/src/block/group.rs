//! The tracks of a clip as playback has them: eight at a time, with all that does not depend on the time. `spec/ANIM.md`, section 10.3.

use super::kernel::{self, Lanes, Live, Quaternion, Vector, own_scale};
use super::layout::GROUP;
use super::{Clip, Track};
use crate::{Channel, TrackId};

/// A number of each of eight tracks.
type Numbers = [f32; GROUP];

/// Up to eight tracks.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub(super) struct Group<T> {
    pub(super) fixed: T,
    pub(super) live: Live,
    pub(super) joints: [u16; GROUP],
    /// Which lanes have a track: a bit each.
    pub(super) lanes: u32,
}

/// What there is of rotations besides their components.
#[derive(Clone, Debug)]
pub(super) struct Rotations {
    references: [Numbers; 4],
    /// From components to vectors: matrices, the columns of which have the components' steps as lengths.
    axes: [[Numbers; 3]; 3],
}

/// What there is of translations and scales besides their components.
#[derive(Clone, Debug)]
pub(super) struct Vectors {
    middles: [Numbers; 3],
    /// Of each component.
    steps: [Numbers; 3],
    /// Which tracks are scales: a bit each.
    pub(super) scales: u32,
}

impl<T> Group<T> {
    fn new(ids: &[TrackId], tracks: &[Track], fixed: T) -> Self {
        let mut joints = [0; GROUP];
        joints.iter_mut().zip(ids).for_each(|(joint, id)| *joint = id.joint);
        let is_live = |axis: usize, lane: usize| tracks.get(lane).is_some_and(|track| track.steps[axis] != 0);
        Self { fixed, live: Live::new(is_live), joints, lanes: (1 << ids.len()) - 1 }
    }
}

impl Rotations {
    fn new(tracks: &[Track], is_fine: bool) -> Self {
        let mut numbers = [[[0.0; GROUP]; 3]; 2];
        let mut steps = [[1.0; GROUP]; 3];
        for (lane, track) in tracks.iter().enumerate() {
            for (numbers, own) in numbers.as_flattened_mut().iter_mut().zip(track.numbers(is_fine).as_flattened()) {
                numbers[lane] = *own;
            }
            steps.iter_mut().zip(track.steps).for_each(|(steps, step)| steps[lane] = own_scale(step));
        }
        let [references, axes] = numbers.map(kernel::rotation);
        let mut axes = kernel::matrix(axes);
        for row in &mut axes {
            row.iter_mut().zip(steps).for_each(|(numbers, steps)| *numbers = numbers.mul(steps));
        }
        Self { references, axes }
    }

    #[inline(always)]
    pub(super) fn references<L: Lanes>(&self) -> Quaternion<L> {
        let [x, y, z, w] = &self.references;
        [L::load(x), L::load(y), L::load(z), L::load(w)]
    }

    /// Components along the axes, in steps, as vectors.
    #[inline(always)]
    pub(super) fn along_axes<L: Lanes>(&self, [x, y, z]: Vector<L>) -> Vector<L> {
        let mut vector = [x, y, z];
        for (number, [first, second, third]) in vector.iter_mut().zip(&self.axes) {
            *number = x.mul(L::load(first)).add(y.mul(L::load(second))).add(z.mul(L::load(third)));
        }
        vector
    }
}

impl Vectors {
    fn new(ids: &[TrackId], tracks: &[Track]) -> Self {
        let mut vectors = Self { middles: [[0.0; GROUP]; 3], steps: [[1.0; GROUP]; 3], scales: 0 };
        for (lane, (id, track)) in ids.iter().zip(tracks).enumerate() {
            vectors.scales |= u32::from(id.channel == Channel::Scale) << lane;
            for axis in 0..3 {
                vectors.middles[axis][lane] = track.middle[axis];
                vectors.steps[axis][lane] = own_scale(track.steps[axis]);
            }
        }
        vectors
    }

    /// What components, in steps, stand for.
    #[inline(always)]
    pub(super) fn values<L: Lanes>(&self, mut components: Vector<L>) -> Vector<L> {
        for (axis, number) in components.iter_mut().enumerate() {
            *number = L::load(&self.middles[axis]).add(number.mul(L::load(&self.steps[axis])));
        }
        components
    }
}

/// The groups of the rotations of a clip, and of its translations and scales.
pub(super) fn groups<B: AsRef<[u8]>>(clip: &Clip<B>) -> (Vec<Group<Rotations>>, Vec<Group<Vectors>>) {
    let (mut rotations, mut vectors) = (Vec::new(), Vec::new());
    for (ids, tracks) in clip.groups() {
        match ids[0].channel {
            Channel::Rotation => {
                rotations.push(Group::new(ids, &tracks, Rotations::new(&tracks, clip.header.is_fine)));
            }
            _ => vectors.push(Group::new(ids, &tracks, Vectors::new(ids, &tracks))),
        }
    }
    (rotations, vectors)
}
