//! The tracks of a clip as playback has them: eight at a time, with all that does not depend on the
//! time. `spec/ANIM.md`, section 10.3.

use super::kernel::{self, Kernel, Lanes, Live, Quaternion, Vector, own_scale};
use super::layout::GROUP;
use super::pose::PoseWriter;
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
    /// From components to vectors: matrices, the columns of which are as long as the components'
    /// own scales.
    axes: [[Numbers; 3]; 3],
}

/// What there is of translations and scales besides their components.
#[derive(Clone, Debug)]
pub(super) struct Vectors {
    middles: [Numbers; 3],
    /// The own scale of each component.
    steps: [Numbers; 3],
    /// Which tracks are scales: a bit each.
    scales: u32,
}

/// What tracks are besides their components.
pub(super) trait Fixed {
    /// The values of eight tracks, from components, and where there are some behind, the share of
    /// the way to what those make.
    fn values<L: Lanes>(&self, here: Vector<L>, behind: Option<(Vector<L>, f32)>) -> [L; 4];
    /// Writes one of them.
    fn write<W: PoseWriter + ?Sized>(
        &self,
        lane: usize,
        value: [f32; 4],
        joint: usize,
        writer: &mut W,
    );
}

impl<T> Group<T> {
    fn new(ids: &[TrackId], tracks: &[Track], fixed: T) -> Self {
        let mut joints = [0; GROUP];
        joints.iter_mut().zip(ids).for_each(|(joint, id)| *joint = id.joint);
        let is_live =
            |axis: usize, lane: usize| tracks.get(lane).is_some_and(|track| track.steps[axis] != 0);
        Self { fixed, live: Live::new(is_live), joints, lanes: (1 << ids.len()) - 1 }
    }
}

impl Rotations {
    fn new(tracks: &[Track], is_fine: bool) -> Self {
        let mut numbers = [[[0.0; GROUP]; 3]; 2];
        let mut steps = [[1.0; GROUP]; 3];
        for (lane, track) in tracks.iter().enumerate() {
            for (numbers, own) in
                numbers.as_flattened_mut().iter_mut().zip(track.numbers(is_fine).as_flattened())
            {
                numbers[lane] = *own;
            }
            steps
                .iter_mut()
                .zip(track.steps)
                .for_each(|(steps, step)| steps[lane] = own_scale(step));
        }
        let [references, axes] = numbers.map(kernel::rotation);
        let mut axes = kernel::matrix(axes);
        for row in &mut axes {
            row.iter_mut().zip(steps).for_each(|(numbers, steps)| *numbers = numbers.mul(steps));
        }
        Self { references, axes }
    }

    /// The rotations of components along the axes, in the space of the references.
    #[inline(always)]
    fn inner<L: Lanes>(&self, [x, y, z]: Vector<L>) -> Quaternion<L> {
        let kernel = x.kernel();
        let mut vector = [x, y, z];
        for (number, [first, second, third]) in vector.iter_mut().zip(&self.axes) {
            *number = x
                .mul(kernel.load(first))
                .add(y.mul(kernel.load(second)))
                .add(z.mul(kernel.load(third)));
        }
        kernel::rotation(vector)
    }
}

impl Fixed for Rotations {
    #[inline(always)]
    fn values<L: Lanes>(&self, here: Vector<L>, behind: Option<(Vector<L>, f32)>) -> Quaternion<L> {
        let mut value = self.inner(here);
        if let Some((behind, share)) = behind {
            value = kernel::blend(value, self.inner(behind), share);
        }
        let (kernel, [x, y, z, w]) = (value[0].kernel(), &self.references);
        kernel::product([kernel.load(x), kernel.load(y), kernel.load(z), kernel.load(w)], value)
    }

    #[inline(always)]
    fn write<W: PoseWriter + ?Sized>(
        &self,
        _: usize,
        value: [f32; 4],
        joint: usize,
        writer: &mut W,
    ) {
        writer.rotation(joint, value);
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

    /// The vectors of components.
    #[inline(always)]
    fn vectors<L: Lanes>(&self, mut components: Vector<L>) -> Vector<L> {
        for (axis, number) in components.iter_mut().enumerate() {
            let kernel = number.kernel();
            *number =
                kernel.load(&self.middles[axis]).add(number.mul(kernel.load(&self.steps[axis])));
        }
        components
    }
}

impl Fixed for Vectors {
    #[inline(always)]
    fn values<L: Lanes>(&self, here: Vector<L>, behind: Option<(Vector<L>, f32)>) -> [L; 4] {
        let mut value = self.vectors(here);
        if let Some((behind, share)) = behind {
            let kernel = value[0].kernel();
            let (near, far) = (kernel.splat(1.0 - share), kernel.splat(share));
            for (number, other) in value.iter_mut().zip(self.vectors(behind)) {
                *number = number.mul(near).add(other.mul(far));
            }
        }
        let [x, y, z] = value;
        [x, y, z, z]
    }

    #[inline(always)]
    fn write<W: PoseWriter + ?Sized>(
        &self,
        lane: usize,
        [x, y, z, _]: [f32; 4],
        joint: usize,
        writer: &mut W,
    ) {
        match self.scales >> lane & 1 {
            0 => writer.translation(joint, [x, y, z]),
            _ => writer.scale(joint, [x, y, z]),
        }
    }
}

/// The groups of the rotations of a clip, and of its translations and scales.
pub(super) fn groups<B: AsRef<[u8]>>(
    clip: &Clip<B>,
) -> (Vec<Group<Rotations>>, Vec<Group<Vectors>>) {
    let (mut rotations, mut vectors) = (Vec::new(), Vec::new());
    for (ids, tracks) in clip.groups() {
        match ids[0].channel {
            Channel::Rotation => {
                rotations.push(Group::new(
                    ids,
                    &tracks,
                    Rotations::new(&tracks, clip.header.is_fine),
                ));
            }
            _ => vectors.push(Group::new(ids, &tracks, Vectors::new(ids, &tracks))),
        }
    }
    (rotations, vectors)
}
