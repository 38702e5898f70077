//! The tracks of a clip in the form that playback uses: groups of eight, with the data that does
//! not depend on the time already decoded. `spec/ANIM.md`, section 10.3.

use super::kernel::{self, Kernel, Lanes, Live, Quaternion, Vector, own_scale};
use super::layout::GROUP;
use super::pose::PoseWriter;
use super::{Clip, Track};
use crate::{Channel, TrackId};

/// A number for each of eight tracks.
type Numbers = [f32; GROUP];

/// Up to eight tracks.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub(super) struct Group<T> {
    pub(super) parameters: T,
    pub(super) live: Live,
    pub(super) joints: [u16; GROUP],
    /// A bit for each lane: whether it has a track.
    pub(super) lanes: u32,
}

/// The parameters of eight rotation tracks.
#[derive(Clone, Debug)]
pub(super) struct Rotations {
    references: [Numbers; 4],
    /// The matrices that turn components into vectors. Each column is as long as its component's
    /// own scale.
    axes: [[Numbers; 3]; 3],
}

/// The parameters of eight translation or scale tracks.
#[derive(Clone, Debug)]
pub(super) struct Vectors {
    middles: [Numbers; 3],
    /// The own scale of each component.
    steps: [Numbers; 3],
    /// A bit for each lane: whether its track is a scale.
    scales: u32,
}

/// The parameters of eight tracks, which turn components into values.
pub(super) trait Parameters {
    /// The values of eight tracks at the components `here`. With `next`, blends them with the
    /// values at those components, whose share is the number beside them.
    fn values<L: Lanes>(&self, here: Vector<L>, next: Option<(Vector<L>, f32)>) -> [L; 4];
    /// Writes the value of the track in `lane`.
    fn write<W: PoseWriter + ?Sized>(
        &self,
        lane: usize,
        value: [f32; 4],
        joint: usize,
        writer: &mut W,
    );
}

impl<T> Group<T> {
    fn new(ids: &[TrackId], tracks: &[Track], parameters: T) -> Self {
        let mut joints = [0; GROUP];
        joints.iter_mut().zip(ids).for_each(|(joint, id)| *joint = id.joint);
        let is_live =
            |axis: usize, lane: usize| tracks.get(lane).is_some_and(|track| track.steps[axis] != 0);
        Self { parameters, live: Live::new(is_live), joints, lanes: (1 << ids.len()) - 1 }
    }
}

impl Rotations {
    fn new(tracks: &[Track], is_fine: bool) -> Self {
        let mut numbers = [[[0.0; GROUP]; 3]; 2];
        let mut steps = [[1.0; GROUP]; 3];
        for (lane, track) in tracks.iter().enumerate() {
            for (numbers, own) in numbers
                .as_flattened_mut()
                .iter_mut()
                .zip(track.decoded_codes(is_fine).as_flattened())
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

    /// The rotations that components along the axes stand for, relative to the references.
    #[inline(always)]
    fn relative_rotations<L: Lanes>(&self, [x, y, z]: Vector<L>) -> Quaternion<L> {
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

impl Parameters for Rotations {
    #[inline(always)]
    fn values<L: Lanes>(&self, here: Vector<L>, next: Option<(Vector<L>, f32)>) -> Quaternion<L> {
        let mut value = self.relative_rotations(here);
        if let Some((next, share)) = next {
            value = kernel::blend(value, self.relative_rotations(next), share);
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

    /// The vectors that components stand for.
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

impl Parameters for Vectors {
    #[inline(always)]
    fn values<L: Lanes>(&self, here: Vector<L>, next: Option<(Vector<L>, f32)>) -> [L; 4] {
        let mut value = self.vectors(here);
        if let Some((next, share)) = next {
            let kernel = value[0].kernel();
            let (near, far) = (kernel.splat(1.0 - share), kernel.splat(share));
            for (number, other) in value.iter_mut().zip(self.vectors(next)) {
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

/// The groups of a clip: those of rotations, and those of translations and scales.
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
