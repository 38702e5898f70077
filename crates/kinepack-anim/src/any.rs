//! A compressed clip of either scheme, and its player, for code that loads files of both schemes.
//! The first four bytes of a file identify its scheme.

use std::borrow::Cow;
use std::sync::Arc;

use crate::file_kind::magic;
use crate::keyed::{Cursor, KeyedClip};
use crate::{
    Clip, ClipError, ClipInfo, MarkerRef, PlayError, PoseWriter, Rig, Sampler, Skeleton, Transform,
    disk,
};

/// A compressed clip. A clone shares the clip's memory.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::offline::{BuildOptions, build};
/// # use kinepack_anim::{AnyClip, Joint, RawClip, Skeleton, Transform};
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let samples = (0..31).map(sample).collect();
/// # let raw = RawClip::new("slide", Arc::clone(&skeleton), 30.0, samples)?;
/// # let file = build(&raw, &BuildOptions::default())?.clip.as_bytes().to_vec();
/// let clip = AnyClip::from_bytes(file)?;
/// assert_eq!((clip.joints(), clip.duration_s()), (1, 1.0));
/// assert_eq!(clip.skeleton_hash(), skeleton.hash());
/// assert!(clip.as_block().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum AnyClip {
    /// The block scheme.
    Block(Arc<Clip>),
    /// The keyed scheme.
    Keyed(Arc<KeyedClip>),
}

impl AnyClip {
    /// Reads and checks a clip, from borrowed or owned bytes. A disk file is unpacked.
    ///
    /// # Errors
    /// Returns [`ClipError`], with the reason, for anything that the specification does not allow.
    /// Returns [`ClipError::Rig`] for a clip that needs a rig. The memory is proportional to the
    /// length of `bytes`.
    pub fn from_bytes<'a>(bytes: impl Into<Cow<'a, [u8]>>) -> Result<Self, ClipError> {
        Self::read(bytes.into(), None)
    }

    /// Reads and checks a clip that may need `rig`.
    ///
    /// # Errors
    /// Fails as [`from_bytes`](Self::from_bytes) does, and with [`ClipError::Rig`] for a clip of
    /// another rig.
    pub fn with_rig<'a>(
        bytes: impl Into<Cow<'a, [u8]>>,
        rig: &Arc<Rig>,
    ) -> Result<Self, ClipError> {
        Self::read(bytes.into(), Some(rig))
    }

    pub(crate) fn read(bytes: Cow<'_, [u8]>, rig: Option<&Arc<Rig>>) -> Result<Self, ClipError> {
        match bytes.first_chunk() {
            Some(&magic::BLOCK_CLIP) => Clip::read(bytes.into_owned(), rig).map(Self::from),
            Some(&magic::DISK_CLIP) => Clip::read(disk::unpack(&bytes)?, rig).map(Self::from),
            Some(&magic::KEYED_CLIP) => KeyedClip::from_bytes(bytes).map(Self::from),
            _ => Err(ClipError::of_other_file(&bytes)),
        }
    }

    /// Returns the bytes of the clip's file in memory form.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Block(clip) => clip.as_bytes(),
            Self::Keyed(clip) => clip.as_bytes(),
        }
    }

    /// Returns the block clip, unless the clip is keyed.
    pub fn as_block(&self) -> Option<&Arc<Clip>> {
        match self {
            Self::Block(clip) => Some(clip),
            Self::Keyed(_) => None,
        }
    }

    /// Returns the keyed clip, unless the clip is a block clip.
    pub fn as_keyed(&self) -> Option<&Arc<KeyedClip>> {
        match self {
            Self::Block(_) => None,
            Self::Keyed(clip) => Some(clip),
        }
    }

    /// Joints, times and skeleton.
    pub fn info(&self) -> ClipInfo {
        match self {
            Self::Block(clip) => clip.info(),
            Self::Keyed(clip) => clip.info(),
        }
    }

    /// Returns the number of joints.
    pub fn joints(&self) -> usize {
        self.info().joints
    }

    /// Returns the number of sample times of the raw clip that this clip was built from.
    pub fn samples(&self) -> usize {
        self.info().samples
    }

    /// Samples per second.
    pub fn rate_hz(&self) -> f32 {
        self.info().rate_hz
    }

    /// Seconds from the first sample to the last.
    pub fn duration_s(&self) -> f32 {
        self.info().duration_s()
    }

    /// [`Skeleton::hash`] of the skeleton that the clip was built for.
    pub fn skeleton_hash(&self) -> u64 {
        self.info().skeleton_hash
    }

    /// Returns the file's bytes by purpose, in file order. They sum to the file's length.
    pub fn bytes_by_part(&self) -> Vec<(&'static str, usize)> {
        match self {
            Self::Block(clip) => clip.bytes_by_part(),
            Self::Keyed(clip) => clip.bytes_by_part(),
        }
    }

    /// Returns the number of curves. Keyed clips have none.
    pub fn curves(&self) -> usize {
        self.as_block().map_or(0, |clip| clip.curves())
    }

    /// Returns the names of the curves, in order.
    pub fn curve_names(&self) -> impl Iterator<Item = &str> {
        self.as_block().into_iter().flat_map(|clip| clip.curve_names())
    }

    /// Returns the markers, by time. Keyed clips have none.
    pub fn markers(&self) -> impl Iterator<Item = MarkerRef<'_>> {
        self.as_block().into_iter().flat_map(|clip| clip.markers())
    }

    /// Creates a player at the beginning of the clip. The player shares the clip's memory.
    ///
    /// # Errors
    /// Returns [`PlayError`] if the clip was built for another skeleton.
    pub fn player(&self, skeleton: &Skeleton) -> Result<AnyPlayer, PlayError> {
        match self {
            Self::Block(clip) => Sampler::new(Arc::clone(clip), skeleton).map(AnyPlayer::Block),
            Self::Keyed(clip) => Cursor::new(Arc::clone(clip), skeleton).map(AnyPlayer::Keyed),
        }
    }

    /// Creates a player at the beginning of the clip, without checking a skeleton's hash. Channels
    /// that the clip does not store keep the values of `bind`.
    ///
    /// # Errors
    /// Returns [`PlayError::OtherJoints`] if `bind` has a different number of joints.
    pub fn player_with_bind_pose(&self, bind: &[Transform]) -> Result<AnyPlayer, PlayError> {
        match self {
            Self::Block(clip) => {
                Sampler::with_bind_pose(Arc::clone(clip), bind).map(AnyPlayer::Block)
            }
            Self::Keyed(clip) => {
                Cursor::with_bind_pose(Arc::clone(clip), bind).map(AnyPlayer::Keyed)
            }
        }
    }
}

impl From<Clip> for AnyClip {
    fn from(clip: Clip) -> Self {
        Self::Block(Arc::new(clip))
    }
}

impl From<KeyedClip> for AnyClip {
    fn from(clip: KeyedClip) -> Self {
        Self::Keyed(Arc::new(clip))
    }
}

/// The state of one playback of an [`AnyClip`]. It samples whole poses at any time, without
/// allocating. The player shares the clip's memory and borrows nothing, so a component of an engine
/// can store the player.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::{Joint, RawClip, Skeleton, Transform, offline::{BuildOptions, build}};
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let samples = (0..31).map(sample).collect();
/// # let raw = RawClip::new("slide", Arc::clone(&skeleton), 30.0, samples)?;
/// # let clip = build(&raw, &BuildOptions::default())?.clip;
/// let mut player = clip.player(&skeleton)?;
/// let mut pose = skeleton.bind_pose();
/// player.sample(0.5, &mut pose);
/// // The joint has moved by 15 cm.
/// assert!((pose[0].translation_m()[0] - 0.15).abs() < 0.001);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum AnyPlayer {
    /// The block scheme.
    Block(Sampler),
    /// The keyed scheme.
    Keyed(Cursor),
}

impl AnyPlayer {
    /// Returns the clip that this player plays. The result shares the player's memory.
    pub fn clip(&self) -> AnyClip {
        match self {
            Self::Block(sampler) => AnyClip::Block(Arc::clone(sampler.clip())),
            Self::Keyed(cursor) => AnyClip::Keyed(Arc::clone(cursor.clip())),
        }
    }

    /// Joints, times and skeleton of the clip.
    pub fn info(&self) -> ClipInfo {
        match self {
            Self::Block(sampler) => sampler.clip().info(),
            Self::Keyed(cursor) => cursor.clip().info(),
        }
    }

    /// The pose at `time_s` seconds from the first sample. Times outside the clip give its first or
    /// last pose.
    ///
    /// # Panics
    /// Panics if `pose` has a different number of joints from the clip.
    #[track_caller]
    pub fn sample(&mut self, time_s: f32, pose: &mut [Transform]) {
        match self {
            Self::Block(sampler) => sampler.sample(time_s, pose),
            Self::Keyed(cursor) => cursor.sample(time_s, pose),
        }
    }

    /// The pose `position` samples after the first. At whole numbers it is the pose of a sample.
    ///
    /// # Panics
    /// Panics if `pose` has a different number of joints from the clip.
    #[track_caller]
    pub fn sample_at(&mut self, position: f64, pose: &mut [Transform]) {
        match self {
            Self::Block(sampler) => sampler.sample_at(position, pose),
            Self::Keyed(cursor) => cursor.sample_at(position, pose),
        }
    }

    /// The values of all curves at a time, as [`Sampler::curves`]. Keyed clips have none.
    ///
    /// # Panics
    /// Panics if `curves` and the clip have different numbers of curves.
    #[track_caller]
    pub fn curves(&mut self, time_s: f32, curves: &mut [f32]) {
        match self {
            Self::Block(sampler) => sampler.curves(time_s, curves),
            Self::Keyed(_) => assert!(curves.is_empty(), "a keyed clip has no curves"),
        }
    }

    /// The pose and the values of all curves at a time, as [`Sampler::sample_with_curves`].
    ///
    /// # Panics
    /// Panics if the length of `pose` is not the clip's number of joints, or if the length of
    /// `curves` is not the clip's number of curves.
    #[track_caller]
    pub fn sample_with_curves(&mut self, time_s: f32, pose: &mut [Transform], curves: &mut [f32]) {
        match self {
            Self::Block(sampler) => sampler.sample_with_curves(time_s, pose, curves),
            Self::Keyed(cursor) => {
                assert!(curves.is_empty(), "a keyed clip has no curves");
                cursor.sample(time_s, pose);
            }
        }
    }

    /// Writes the pose at a time to a [`PoseWriter`], for engines that store poses in a layout of
    /// their own. Wrap the writer in [`Metres`](crate::Metres) for translations in metres.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use kinepack_anim::{Joint, RawClip, Skeleton, Transform, offline::{BuildOptions, build}};
    /// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
    /// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
    /// # let at = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
    /// # let samples = (0..31).map(at).collect();
    /// # let raw = RawClip::new("slide", Arc::clone(&skeleton), 30.0, samples)?;
    /// # let clip = build(&raw, &BuildOptions::default())?.clip;
    /// use kinepack_anim::{Metres, SoaPose};
    ///
    /// let mut player = clip.player(&skeleton)?;
    /// let mut pose_m = SoaPose::new(skeleton.len());
    /// player.write(0.5, &mut Metres(&mut pose_m));
    /// // The joint has moved by 15 cm.
    /// assert!((pose_m.translations[0][0] - 0.15).abs() < 0.001);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write<W: PoseWriter + ?Sized>(&mut self, time_s: f32, writer: &mut W) {
        match self {
            Self::Block(sampler) => sampler.write(time_s, writer),
            Self::Keyed(cursor) => cursor.write(time_s, writer),
        }
    }
}
