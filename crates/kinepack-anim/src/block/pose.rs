//! The destinations of poses, and the choice of joints to play.

use crate::Transform;
use crate::transform::metres;

/// Receives the values of joints, so that an engine can store poses in its own layout.
///
/// ```
/// use kinepack_anim::PoseWriter;
///
/// /// Keeps only the translations.
/// struct Translations(Vec<[f32; 3]>);
///
/// impl PoseWriter for Translations {
///     fn rotation(&mut self, _: usize, _: [f32; 4]) {}
///     fn translation(&mut self, joint: usize, translation: [f32; 3]) {
///         self.0[joint] = translation;
///     }
///     fn scale(&mut self, _: usize, _: [f32; 3]) {}
/// }
///
/// let mut pose = Translations(vec![[0.0; 3]; 2]);
/// pose.translation(1, [0.0, 90.0, 0.0]);
/// assert_eq!(pose.0[1], [0.0, 90.0, 0.0]);
/// ```
pub trait PoseWriter {
    /// Takes a joint's rotation, a unit quaternion `x, y, z, w`.
    fn rotation(&mut self, joint: usize, rotation: [f32; 4]);
    /// Takes a joint's translation relative to its parent, in cm.
    fn translation(&mut self, joint: usize, translation: [f32; 3]);
    /// Takes a joint's scale, a factor for each axis.
    fn scale(&mut self, joint: usize, scale: [f32; 3]);

    /// Takes the value of a curve, of a figure or of
    /// [`Sampler::write_with_curves`](crate::Sampler::write_with_curves). The latter's `curve` may
    /// exceed the last curve's index by up to two, because curves are stored in tracks of three.
    /// The default implementation ignores curves; [`PoseAndCurves`] stores them in a list.
    #[inline(always)]
    fn curve(&mut self, _curve: usize, _value: f32) {}

    /// Takes a whole pose: the three channels of each joint, in order.
    #[inline]
    fn pose(&mut self, pose: &[Transform]) {
        for (joint, transform) in pose.iter().enumerate() {
            self.rotation(joint, transform.rotation);
            self.translation(joint, transform.translation);
            self.scale(joint, transform.scale);
        }
    }
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

/// A pose as a structure of arrays: an array for each number of a transform, with an entry for each
/// joint.
///
/// ```
/// use kinepack_anim::{PoseWriter, SoaPose};
///
/// let mut pose = SoaPose::new(2);
/// pose.translation(1, [3.0, 4.0, 5.0]);
/// assert_eq!(pose.translations[0], [0.0, 3.0]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoaPose {
    /// The rotations: x, y, z and w.
    pub rotations: [Vec<f32>; 4],
    /// The translations in cm: x, y and z.
    pub translations: [Vec<f32>; 3],
    /// The scales: x, y and z.
    pub scales: [Vec<f32>; 3],
}

impl SoaPose {
    /// Returns a pose of `joints` joints. All its numbers are 0.
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

/// Writes poses with their translations in metres, for [`Sampler::write`](crate::Sampler::write)
/// and [`AnyPlayer::write`](crate::AnyPlayer::write).
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::offline::{BuildOptions, build};
/// # use kinepack_anim::{Joint, RawClip, Sampler, Skeleton, Transform};
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let samples = (0..31).map(sample).collect();
/// # let raw = RawClip::new("slide", Arc::clone(&skeleton), 30.0, samples)?;
/// # let built = build(&raw, &BuildOptions::default())?;
/// # let clip = built.clip.as_block().expect("block clips are the default");
/// use kinepack_anim::{Metres, SoaPose};
///
/// // The clip moves its joint by 30 cm in a second.
/// let sampler = Sampler::new(Arc::clone(clip), &skeleton)?;
/// let mut pose_m = SoaPose::new(skeleton.len());
/// sampler.write(1.0, &mut Metres(&mut pose_m));
/// assert!((pose_m.translations[0][0] - 0.3).abs() < 0.001);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Metres<'a, W: ?Sized>(
    /// The writer that receives the pose in metres.
    pub &'a mut W,
);

impl<W: PoseWriter + ?Sized> PoseWriter for Metres<'_, W> {
    #[inline]
    fn rotation(&mut self, joint: usize, rotation: [f32; 4]) {
        self.0.rotation(joint, rotation);
    }

    #[inline]
    fn translation(&mut self, joint: usize, translation: [f32; 3]) {
        self.0.translation(joint, translation.map(metres));
    }

    #[inline]
    fn scale(&mut self, joint: usize, scale: [f32; 3]) {
        self.0.scale(joint, scale);
    }

    #[inline(always)]
    fn curve(&mut self, curve: usize, value: f32) {
        self.0.curve(curve, value);
    }
}

/// Writes joints to a pose, and the values of curves to a list.
///
/// ```
/// use kinepack_anim::{PoseAndCurves, PoseWriter, Transform};
///
/// let (mut pose, mut weights) = ([Transform::IDENTITY; 2], [0.0; 3]);
/// // Any pose writer takes the joints: a list of transforms, a `SoaPose`, `Metres`, or your own.
/// let mut writer = PoseAndCurves { pose: &mut pose[..], curves: &mut weights };
/// // `Figure::interpolate` and `Sampler::write_with_curves` make such calls.
/// writer.translation(1, [0.0, 90.0, 0.0]);
/// writer.curve(2, 0.5);
/// assert_eq!((pose[1].translation[1], weights), (90.0, [0.0, 0.0, 0.5]));
/// ```
#[derive(Debug)]
pub struct PoseAndCurves<'a, W: ?Sized> {
    /// The writer that receives the joints.
    pub pose: &'a mut W,
    /// The values of the curves, by their indices. Values of curves beyond its end are dropped.
    pub curves: &'a mut [f32],
}

impl<W: PoseWriter + ?Sized> PoseWriter for PoseAndCurves<'_, W> {
    #[inline(always)]
    fn rotation(&mut self, joint: usize, rotation: [f32; 4]) {
        self.pose.rotation(joint, rotation);
    }

    #[inline(always)]
    fn translation(&mut self, joint: usize, translation: [f32; 3]) {
        self.pose.translation(joint, translation);
    }

    #[inline(always)]
    fn scale(&mut self, joint: usize, scale: [f32; 3]) {
        self.pose.scale(joint, scale);
    }

    #[inline(always)]
    fn curve(&mut self, curve: usize, value: f32) {
        if let Some(own) = self.curves.get_mut(curve) {
            *own = value;
        }
    }

    #[inline]
    fn pose(&mut self, pose: &[Transform]) {
        self.pose.pose(pose);
    }
}

/// A set of joints of a skeleton, such as the joints of a level of detail or of the upper body.
///
/// ```
/// use kinepack_anim::JointMask;
///
/// let upper_body = JointMask::new(60, |joint| joint >= 20);
/// assert!(upper_body.contains(20) && !upper_body.contains(19));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointMask {
    words: Vec<u64>,
}

impl JointMask {
    /// Returns the joints below `joints` for which `is_wanted` returns true.
    pub fn new(joints: usize, is_wanted: impl Fn(usize) -> bool) -> Self {
        let mut words = vec![0; joints.div_ceil(64)];
        for joint in (0..joints).filter(|joint| is_wanted(*joint)) {
            words[joint / 64] |= 1 << (joint % 64);
        }
        Self { words }
    }

    /// Returns whether the set contains `joint`.
    #[inline]
    pub fn contains(&self, joint: usize) -> bool {
        self.words.get(joint / 64).is_some_and(|word| word >> (joint % 64) & 1 != 0)
    }

    /// Returns the joints of the set, in ascending order.
    pub fn joints(&self) -> impl Iterator<Item = usize> + '_ {
        (0..64 * self.words.len()).filter(|joint| self.contains(*joint))
    }

    /// Calls `act` for each joint of the set, in ascending order.
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

/// Selects the joints and curves to play.
pub(super) trait Choice {
    /// Whether joints are played.
    const JOINTS: bool = true;
    /// Whether curves are played.
    const CURVES: bool = false;
    /// Whether the choice contains all joints or none, so that playback need not check each joint.
    const ALL: bool;
    fn contains(&self, joint: usize) -> bool;

    /// Returns the joint if the choice is a single joint, as [`One`] is. Other choices do not
    /// search for that case.
    #[inline(always)]
    fn single(&self) -> Option<usize> {
        None
    }
}

pub(super) struct All;

impl Choice for All {
    const ALL: bool = true;

    #[inline(always)]
    fn contains(&self, _: usize) -> bool {
        true
    }
}

/// All joints and all curves.
pub(super) struct WithCurves;

impl Choice for WithCurves {
    const ALL: bool = true;
    const CURVES: bool = true;

    #[inline(always)]
    fn contains(&self, _: usize) -> bool {
        true
    }
}

/// All curves, and no joints.
pub(super) struct Curves;

impl Choice for Curves {
    const JOINTS: bool = false;
    const ALL: bool = true;
    const CURVES: bool = true;

    #[inline(always)]
    fn contains(&self, _: usize) -> bool {
        true
    }
}

/// Stores the values of curves in a slice, and ignores joints.
pub(super) struct CurvesAlone<'a>(pub(super) &'a mut [f32]);

impl PoseWriter for CurvesAlone<'_> {
    #[inline(always)]
    fn rotation(&mut self, _: usize, _: [f32; 4]) {}

    #[inline(always)]
    fn translation(&mut self, _: usize, _: [f32; 3]) {}

    #[inline(always)]
    fn scale(&mut self, _: usize, _: [f32; 3]) {}

    #[inline(always)]
    fn curve(&mut self, curve: usize, value: f32) {
        if let Some(own) = self.0.get_mut(curve) {
            *own = value;
        }
    }
}

impl Choice for &JointMask {
    const ALL: bool = false;

    #[inline(always)]
    fn contains(&self, joint: usize) -> bool {
        JointMask::contains(self, joint)
    }
}

/// A single joint.
pub(super) struct One(pub(super) usize);

impl Choice for One {
    const ALL: bool = false;

    #[inline(always)]
    fn contains(&self, joint: usize) -> bool {
        joint == self.0
    }

    #[inline(always)]
    fn single(&self) -> Option<usize> {
        Some(self.0)
    }
}

/// Ignores the joint's index, because playback of a single joint writes only that joint.
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
