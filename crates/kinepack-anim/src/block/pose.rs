//! Where poses go, and which joints of them.

use crate::Transform;

/// Takes what a clip says of a joint, as an engine keeps it.
pub trait PoseWriter {
    /// A unit quaternion, `x, y, z, w`.
    fn rotation(&mut self, joint: usize, rotation: [f32; 4]);
    /// In cm, relative to the parent.
    fn translation(&mut self, joint: usize, translation: [f32; 3]);
    /// A factor an axis.
    fn scale(&mut self, joint: usize, scale: [f32; 3]);
}

impl PoseWriter for [Transform] {
    #[inline(always)]
    fn rotation(&mut self, joint: usize, rotation: [f32; 4]) {
        self[joint].rotation = rotation;
    }

    #[inline(always)]
    fn translation(&mut self, joint: usize, translation: [f32; 3]) {
        self[joint].translation = translation;
    }

    #[inline(always)]
    fn scale(&mut self, joint: usize, scale: [f32; 3]) {
        self[joint].scale = scale;
    }
}

/// A pose as a structure of arrays: one for each number of a transform, as long as there are
/// joints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoaPose {
    /// x, y, z, w.
    pub rotations: [Vec<f32>; 4],
    /// x, y, z, in cm.
    pub translations: [Vec<f32>; 3],
    /// x, y, z.
    pub scales: [Vec<f32>; 3],
}

impl SoaPose {
    /// A pose of that many joints, all 0.
    pub fn new(joints: usize) -> Self {
        let zeros = || vec![0.0; joints];
        Self {
            rotations: std::array::from_fn(|_| zeros()),
            translations: std::array::from_fn(|_| zeros()),
            scales: std::array::from_fn(|_| zeros()),
        }
    }
}

impl PoseWriter for SoaPose {
    #[inline]
    fn rotation(&mut self, joint: usize, rotation: [f32; 4]) {
        self.rotations
            .iter_mut()
            .zip(rotation)
            .for_each(|(numbers, number)| numbers[joint] = number);
    }

    #[inline]
    fn translation(&mut self, joint: usize, translation: [f32; 3]) {
        self.translations
            .iter_mut()
            .zip(translation)
            .for_each(|(numbers, number)| numbers[joint] = number);
    }

    #[inline]
    fn scale(&mut self, joint: usize, scale: [f32; 3]) {
        self.scales.iter_mut().zip(scale).for_each(|(numbers, number)| numbers[joint] = number);
    }
}

/// Some joints of a skeleton: those of a level of detail, or of half a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointMask {
    words: Vec<u64>,
}

impl JointMask {
    /// Those of `joints` joints of which `is_wanted` says so.
    pub fn new(joints: usize, is_wanted: impl Fn(usize) -> bool) -> Self {
        let mut words = vec![0; joints.div_ceil(64)];
        for joint in (0..joints).filter(|joint| is_wanted(*joint)) {
            words[joint / 64] |= 1 << (joint % 64);
        }
        Self { words }
    }

    /// Whether a joint is one of them.
    #[inline]
    pub fn contains(&self, joint: usize) -> bool {
        self.words.get(joint / 64).is_some_and(|word| word >> (joint % 64) & 1 != 0)
    }

    /// Does something with each of them, in ascending order.
    #[inline]
    pub(super) fn for_each(&self, mut act: impl FnMut(usize)) {
        for (index, word) in self.words.iter().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                act(64 * index + rest.trailing_zeros() as usize);
                rest &= rest - 1;
            }
        }
    }
}

/// Which joints are played.
pub(super) trait Choice {
    /// Whether it is all.
    const ALL: bool;
    fn contains(&self, joint: usize) -> bool;
}

pub(super) struct All;

impl Choice for All {
    const ALL: bool = true;

    #[inline(always)]
    fn contains(&self, _: usize) -> bool {
        true
    }
}

impl Choice for &JointMask {
    const ALL: bool = false;

    #[inline(always)]
    fn contains(&self, joint: usize) -> bool {
        JointMask::contains(self, joint)
    }
}

/// One joint.
pub(super) struct One(pub(super) usize);

impl Choice for One {
    const ALL: bool = false;

    #[inline(always)]
    fn contains(&self, joint: usize) -> bool {
        joint == self.0
    }
}

/// Of whatever joint.
impl PoseWriter for Transform {
    #[inline]
    fn rotation(&mut self, _: usize, rotation: [f32; 4]) {
        self.rotation = rotation;
    }

    #[inline]
    fn translation(&mut self, _: usize, translation: [f32; 3]) {
        self.translation = translation;
    }

    #[inline]
    fn scale(&mut self, _: usize, scale: [f32; 3]) {
        self.scale = scale;
    }
}
