//! Plays a clip at any time: whole poses, some joints, or a single joint. A pose does not depend on
//! earlier calls, so playing forwards, playing backwards and seeking all cost the same. Sampling
//! allocates nothing. See `spec/ANIM.md`, section 12.

use std::sync::Arc;

use super::clip::Clip;
use super::kernel::{AnyKernel, Instructions};
use super::play::Play;
use super::pose::{
    All, Choice, Curves, CurvesAlone, JointMask, One, PoseAndCurves, PoseWriter, WithCurves,
};
use super::source::Source;
use crate::transform::check_pose;
use crate::{PlayError, Skeleton, Transform, time};

/// Plays a clip, for any number of characters. A sampler holds only data that does not depend on
/// the time, and no playback state.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::offline::{BuildOptions, build};
/// # use kinepack_anim::{Joint, RawClip, Sampler, Skeleton, Transform};
/// let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// let samples = (0..31).map(sample).collect();
/// let raw = RawClip::new("slide", Arc::clone(&skeleton), 30.0, samples)?;
/// let built = build(&raw, &BuildOptions::default())?;
/// let clip = built.clip.as_block().expect("block clips are the default");
///
/// let sampler = Sampler::new(Arc::clone(clip), &skeleton)?;
/// let mut pose = skeleton.bind_pose();
/// sampler.sample(0.5, &mut pose);
/// assert!((pose[0].translation[0] - 15.0).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sampler<B = Vec<u8>> {
    clip: Arc<Clip<B>>,
    bind: Arc<[Transform]>,
    kernel: AnyKernel,
}

impl<B: AsRef<[u8]>> Sampler<B> {
    /// Returns a sampler of `clip`, which it shares or owns. The sampler shares the skeleton's bind
    /// pose.
    ///
    /// # Errors
    /// Returns [`PlayError`] if the clip was built for another skeleton.
    pub fn new(clip: impl Into<Arc<Clip<B>>>, skeleton: &Skeleton) -> Result<Self, PlayError> {
        let clip = clip.into();
        clip.info().check_skeleton(skeleton)?;
        Ok(Self { clip, bind: skeleton.shared_bind_pose(), kernel: AnyKernel::best() })
    }

    /// Returns a sampler of `clip`, without a skeleton to check it against. Channels that the clip
    /// does not store keep the values of `bind`. The sampler copies `bind` once and shares that
    /// copy with its clones.
    ///
    /// # Errors
    /// Returns [`PlayError::OtherJoints`] if `bind` has a different number of joints.
    pub fn with_bind_pose(
        clip: impl Into<Arc<Clip<B>>>,
        bind: &[Transform],
    ) -> Result<Self, PlayError> {
        let clip = clip.into();
        clip.info().check_joints(bind.len())?;
        Ok(Self { clip, bind: bind.into(), kernel: AnyKernel::best() })
    }

    /// Returns the clip that this sampler plays.
    pub fn clip(&self) -> &Arc<Clip<B>> {
        &self.clip
    }

    /// Uses these instructions instead of the fastest ones that this machine has. The poses stay
    /// the same, to the last bit.
    ///
    /// # Panics
    /// Panics if this machine does not have the instructions.
    #[must_use]
    pub fn with_instructions(self, instructions: Instructions) -> Self {
        let kernel = instructions.kernel();
        assert!(kernel.is_some(), "this machine does not have {instructions:?}");
        Self { kernel: kernel.unwrap_or(self.kernel), ..self }
    }

    /// Returns the number of joints.
    pub fn joints(&self) -> usize {
        self.bind.len()
    }

    /// The pose `time_s` seconds after the first sample. A time before the first sample gives the
    /// first sample's pose. A time after the last sample gives the last sample's pose.
    ///
    /// # Panics
    /// Panics if `pose` and the clip have different numbers of joints.
    #[track_caller]
    pub fn sample(&self, time_s: f32, pose: &mut [Transform]) {
        self.sample_at(self.position(time_s), pose);
    }

    /// The pose `position` samples after the first. Whole numbers are the sample times.
    ///
    /// # Panics
    /// Panics if `pose` and the clip have different numbers of joints.
    #[track_caller]
    pub fn sample_at(&self, position: f64, pose: &mut [Transform]) {
        check_pose("the pose", pose.len(), "the clip", self.joints());
        self.call(position).pose(pose);
    }

    /// Samples the joints in `joints` at a time, and leaves the other joints of `pose` unchanged. A
    /// joint outside the mask still costs a little, because the reader must skip its coefficients.
    ///
    /// # Panics
    /// Panics if `pose` and the clip have different numbers of joints.
    #[track_caller]
    pub fn sample_joints(&self, time_s: f32, joints: &JointMask, pose: &mut [Transform]) {
        check_pose("the pose", pose.len(), "the clip", self.joints());
        self.call(self.position(time_s)).joints(joints, pose);
    }

    /// Returns the transform of a single joint at a time.
    ///
    /// # Panics
    /// Panics if the clip has no such joint.
    #[track_caller]
    pub fn joint(&self, time_s: f32, joint: usize) -> Transform {
        let joints = self.joints();
        assert!(joint < joints, "joint {joint} of a clip of {joints} joints");
        self.call(self.position(time_s)).joint(joint)
    }

    /// Writes the pose at a time to a [`PoseWriter`], for engines that store poses in their own
    /// layout. The sampler writes the static values first, and animated tracks then overwrite them.
    pub fn write<W: PoseWriter + ?Sized>(&self, time_s: f32, writer: &mut W) {
        self.call(self.position(time_s)).play(All, writer, |writer| writer.pose(&self.bind));
    }

    /// The values of all curves at a time, in the order of [`Clip::curve_names`]. The call decodes
    /// no joints and allocates nothing.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use kinepack_anim::offline::{BuildOptions, build};
    /// # use kinepack_anim::{Curve, Joint, RawClip, Sampler, Skeleton, Transform};
    /// # let joint = Joint { name: "head".into(), parent: None, bind: Transform::IDENTITY };
    /// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
    /// # let raw = RawClip::new("greet", Arc::clone(&skeleton), 30.0, vec![Transform::IDENTITY; 3])?;
    /// let smile = Curve { name: "smile".into(), precision: 0.01, values: vec![0.0, 0.5, 1.0] };
    /// let built = build(&raw.with_curves(vec![smile])?, &BuildOptions::default())?;
    /// let clip = built.clip.as_block().expect("block clips are the default");
    ///
    /// let sampler = Sampler::new(Arc::clone(clip), &skeleton)?;
    /// let mut weights = vec![0.0; clip.curves()];
    /// sampler.curves(1.0 / 30.0, &mut weights);
    /// assert!((weights[0] - 0.5).abs() <= 0.01);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// Panics if `curves` and the clip have different numbers of curves.
    #[track_caller]
    pub fn curves(&self, time_s: f32, curves: &mut [f32]) {
        self.curves_at(self.position(time_s), curves);
    }

    /// The values of all curves `position` samples after the first.
    ///
    /// # Panics
    /// Panics if `curves` and the clip have different numbers of curves.
    #[track_caller]
    pub fn curves_at(&self, position: f64, curves: &mut [f32]) {
        self.check_curves(curves);
        if !curves.is_empty() {
            self.call(position).curves(curves);
        }
    }

    /// The pose and the values of all curves at a time. One call costs less than two separate ones.
    ///
    /// # Panics
    /// Panics if `pose` and the clip have different numbers of joints, or `curves` and the clip
    /// different numbers of curves.
    #[track_caller]
    pub fn sample_with_curves(&self, time_s: f32, pose: &mut [Transform], curves: &mut [f32]) {
        self.sample_with_curves_at(self.position(time_s), pose, curves);
    }

    /// The pose and the values of all curves `position` samples after the first.
    ///
    /// # Panics
    /// Fails as [`sample_with_curves`](Self::sample_with_curves) does.
    #[track_caller]
    pub fn sample_with_curves_at(&self, position: f64, pose: &mut [Transform], curves: &mut [f32]) {
        check_pose("the pose", pose.len(), "the clip", self.joints());
        self.check_curves(curves);
        self.call(position).pose_and_curves(pose, curves);
    }

    /// Works like [`write`](Self::write), but also writes the values of curves, for example to a
    /// [`PoseAndCurves`](crate::PoseAndCurves).
    pub fn write_with_curves<W: PoseWriter + ?Sized>(&self, time_s: f32, writer: &mut W) {
        self.call(self.position(time_s)).play(WithCurves, writer, |writer| writer.pose(&self.bind));
    }

    #[track_caller]
    fn check_curves(&self, curves: &[f32]) {
        let (room, own) = (curves.len(), self.clip.curves());
        assert!(room == own, "there is room for {room} curves and the clip has {own}");
    }

    fn position(&self, time_s: f32) -> f64 {
        time::position(time_s, self.clip.rate_hz())
    }

    #[inline]
    fn call(&self, position: f64) -> Call<'_> {
        Call { source: self.clip.source(), bind: &self.bind, kernel: self.kernel, position }
    }
}

/// The arguments of a call of a sampler. Most methods of this type are not generic, so they are
/// compiled once, with this crate. If they were methods of the generic sampler, each crate that
/// plays clips would compile them again, for all instruction sets.
struct Call<'a> {
    source: Source<'a>,
    bind: &'a [Transform],
    kernel: AnyKernel,
    position: f64,
}

impl Call<'_> {
    fn pose(self, pose: &mut [Transform]) {
        let bind = self.bind;
        self.play(All, pose, |pose| pose.copy_from_slice(bind));
    }

    fn joints(self, joints: &JointMask, pose: &mut [Transform]) {
        let bind = self.bind;
        self.play(joints, pose, |pose| {
            joints.for_each(|joint| {
                if let (Some(transform), Some(bind)) = (pose.get_mut(joint), bind.get(joint)) {
                    *transform = *bind;
                }
            });
        });
    }

    fn joint(self, joint: usize) -> Transform {
        let mut transform = self.bind[joint];
        self.play(One(joint), &mut transform, |_| ());
        transform
    }

    fn curves(self, curves: &mut [f32]) {
        self.play(Curves, &mut CurvesAlone(curves), |_| ());
    }

    fn pose_and_curves(self, pose: &mut [Transform], curves: &mut [f32]) {
        let bind = self.bind;
        self.play(WithCurves, &mut PoseAndCurves { pose, curves }, |writer| {
            writer.pose.copy_from_slice(bind);
        });
    }

    /// Calls `begin` to write the static values, and then writes the animated tracks over them.
    #[inline]
    fn play<C: Choice, W: PoseWriter + ?Sized>(
        self,
        choice: C,
        writer: &mut W,
        begin: impl FnOnce(&mut W),
    ) {
        let Self { source, position, kernel, .. } = self;
        kernel.run(Play { source, position, choice, writer, begin });
    }
}

/// Samples the poses of a crowd. Each request is a sampler and a time in seconds. `poses` receives
/// the poses one after another, in the order of the requests.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::offline::{BuildOptions, build};
/// # use kinepack_anim::{Joint, RawClip, Sampler, Skeleton, Transform, sample_batch};
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let samples = (0..31).map(sample).collect();
/// # let raw = RawClip::new("slide", Arc::clone(&skeleton), 30.0, samples)?;
/// # let built = build(&raw, &BuildOptions::default())?;
/// # let clip = built.clip.as_block().expect("block clips are the default");
/// let sampler = Sampler::new(Arc::clone(clip), &skeleton)?;
/// let mut poses = [Transform::IDENTITY; 2];
/// sample_batch(&[(&sampler, 0.5), (&sampler, 1.0)], &mut poses);
/// assert!((poses[1].translation[0] - 30.0).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// Panics if the length of `poses` is not the sum of all samplers' joints.
#[track_caller]
pub fn sample_batch<B: AsRef<[u8]>>(requests: &[(&Sampler<B>, f32)], poses: &mut [Transform]) {
    let joints: usize = requests.iter().map(|(sampler, _)| sampler.joints()).sum();
    assert!(
        joints == poses.len(),
        "the samplers have {joints} joints together and there is room for {}",
        poses.len()
    );
    let mut rest = poses;
    for (sampler, time_s) in requests {
        let (pose, after) = rest.split_at_mut(sampler.joints());
        sampler.sample(*time_s, pose);
        rest = after;
    }
}
