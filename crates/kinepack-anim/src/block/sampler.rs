//! Plays a clip at any time: whole poses, some joints, one. Nothing depends on what was played
//! before, so going forwards, backwards and seeking cost the same; nothing is allocated.
//! `spec/ANIM.md`, section 12.

use std::sync::Arc;

use super::Clip;
use super::group::{Group, Rotations, Vectors, groups};
use super::kernel::{AnyKernel, Instructions, prefetch};
use super::play::{Play, Source};
use super::pose::{All, Choice, JointMask, One, PoseWriter};
use crate::{PlayError, Skeleton, Transform, time};

/// Plays one clip, for any number of characters: it holds what does not depend on the time, and no
/// state.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::{Joint, RawClip, Sampler, Skeleton, Transform, offline::{BuildOptions, build}};
/// let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// let samples = (0..31).map(|i| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY }).collect();
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
    source: Source,
    /// The bind pose, with constants over it.
    base: Vec<Transform>,
    rotations: Vec<Group<Rotations>>,
    vectors: Vec<Group<Vectors>>,
    kernel: AnyKernel,
}

impl<B: AsRef<[u8]>> Sampler<B> {
    /// A sampler of `clip`, which it shares or owns.
    ///
    /// # Errors
    /// [`PlayError`] if the clip was built for another skeleton.
    pub fn new(clip: impl Into<Arc<Clip<B>>>, skeleton: &Skeleton) -> Result<Self, PlayError> {
        let clip = clip.into();
        let bind = clip.info().bind_pose(skeleton)?;
        Self::with_bind_pose(clip, &bind)
    }

    /// A sampler of `clip`, without a skeleton to compare. Channels that the clip does not store
    /// keep the values of `bind`.
    ///
    /// # Errors
    /// [`PlayError::OtherJoints`] if `bind` has another number of joints.
    pub fn with_bind_pose(
        clip: impl Into<Arc<Clip<B>>>,
        bind: &[Transform],
    ) -> Result<Self, PlayError> {
        let clip = clip.into();
        let base = clip.info().base_pose(bind, clip.constants())?;
        let (rotations, vectors) = groups(&clip);
        let source = Source {
            header: *clip.header(),
            components: clip.live_components(),
            spans: clip.spans(),
            segments_a_sample: clip.segments() as f32 / clip.header().coded_samples() as f32,
        };
        Ok(Self { clip, source, base, rotations, vectors, kernel: AnyKernel::best() })
    }

    /// The clip.
    pub fn clip(&self) -> &Arc<Clip<B>> {
        &self.clip
    }

    /// The same with other instructions than the fastest that this machine has; the poses are the
    /// same, to the last bit.
    ///
    /// # Panics
    /// Where this machine does not have them.
    #[must_use]
    pub fn with_instructions(self, instructions: Instructions) -> Self {
        let kernel = instructions.kernel();
        assert!(kernel.is_some(), "{instructions:?} on a machine that does not have them");
        Self { kernel: kernel.unwrap_or(self.kernel), ..self }
    }

    /// Number of joints.
    pub fn joints(&self) -> usize {
        self.base.len()
    }

    /// The pose at `time_s` seconds from the first sample; before it and behind the last one it
    /// stands still.
    ///
    /// # Panics
    /// Where `pose` is not of as many joints as the clip.
    pub fn sample(&self, time_s: f32, pose: &mut [Transform]) {
        self.sample_at(self.position(time_s), pose);
    }

    /// The pose at `position` samples from the first: whole numbers are the sample times.
    ///
    /// # Panics
    /// Where `pose` is not of as many joints as the clip.
    pub fn sample_at(&self, position: f64, pose: &mut [Transform]) {
        self.play(position, All, pose, |pose| pose.copy_from_slice(&self.base));
    }

    /// Some joints of the pose at a time; the others stay as they are. What is left out costs as
    /// much as finding out where the rest stands.
    ///
    /// # Panics
    /// Where `pose` is not of as many joints as the clip.
    pub fn sample_joints(&self, time_s: f32, joints: &JointMask, pose: &mut [Transform]) {
        assert_eq!(pose.len(), self.base.len(), "a pose of another skeleton");
        self.play(self.position(time_s), joints, pose, |pose| {
            joints.for_each(|joint| {
                if let (Some(transform), Some(base)) = (pose.get_mut(joint), self.base.get(joint)) {
                    *transform = *base;
                }
            });
        });
    }

    /// One joint at a time.
    ///
    /// # Panics
    /// Where there is no such joint.
    pub fn joint(&self, time_s: f32, joint: usize) -> Transform {
        let mut transform = self.base[joint];
        self.play(self.position(time_s), One(joint), &mut transform, |_| ());
        transform
    }

    /// The pose at a time into whatever keeps it: each channel of each joint once.
    pub fn write<W: PoseWriter + ?Sized>(&self, time_s: f32, writer: &mut W) {
        self.play(self.position(time_s), All, writer, |writer| {
            for (joint, transform) in self.base.iter().enumerate() {
                writer.rotation(joint, transform.rotation);
                writer.translation(joint, transform.translation);
                writer.scale(joint, transform.scale);
            }
        });
    }

    fn position(&self, time_s: f32) -> f64 {
        time::position(time_s, self.source.header.rate_hz)
    }

    /// Plays what moves over what `begin` writes.
    #[inline]
    fn play<C: Choice, W: PoseWriter + ?Sized>(
        &self,
        position: f64,
        choice: C,
        writer: &mut W,
        begin: impl FnOnce(&mut W),
    ) {
        let Self { clip, source, rotations, vectors, .. } = self;
        if source.spans.is_empty() {
            return begin(writer);
        }
        prefetch(rotations);
        prefetch(vectors);
        let bytes = clip.as_bytes();
        self.kernel.run(Play {
            bytes,
            source,
            rotations,
            vectors,
            position,
            choice,
            writer,
            begin,
        });
    }
}

/// The poses of a crowd: of each sampler the one at its time in seconds, one behind the other in
/// `poses`.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::{Joint, RawClip, Sampler, Skeleton, Transform, offline::{BuildOptions, build}, sample_batch};
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let samples = (0..31).map(|i| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY }).collect();
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
/// Where `poses` is not as long as all of them together.
pub fn sample_batch<B: AsRef<[u8]>>(requests: &[(&Sampler<B>, f32)], poses: &mut [Transform]) {
    let joints: usize = requests.iter().map(|(sampler, _)| sampler.joints()).sum();
    assert_eq!(joints, poses.len(), "poses of other skeletons");
    let mut rest = poses;
    for (sampler, time_s) in requests {
        let (pose, behind) = rest.split_at_mut(sampler.joints());
        sampler.sample(*time_s, pose);
        rest = behind;
    }
}
