//! Clips and skeletons as assets.

use std::sync::Arc;

use bevy_asset::Asset;
use bevy_reflect::TypePath;
use kinepack_anim::{AnyClip, AnyPlayer, PlayError, Skeleton, additive};

use crate::joints::JointNames;

/// A compressed clip that is ready to play. All characters that play it share its memory.
///
/// The asset server makes it from a `.kpa` or `.kpd` file: see [`ClipLoader`](super::ClipLoader).
/// [`new`](Self::new) makes it from a clip that the program already has.
#[derive(Asset, TypePath, Debug)]
pub struct ClipAsset {
    clip: AnyClip,
    skeleton: Arc<Skeleton>,
    /// The player of the clip. Block clips play from it directly. Each layer that plays a keyed
    /// clip has a clone of it.
    player: AnyPlayer,
    names: JointNames,
    /// The hash of the skeleton that clips need if they add to this clip's poses.
    additive_hash: u64,
}

impl ClipAsset {
    /// A clip with the skeleton that it was built for.
    ///
    /// # Errors
    /// Returns [`PlayError`] if the clip was built for another skeleton.
    pub fn new(
        clip: impl Into<AnyClip>,
        skeleton: impl Into<Arc<Skeleton>>,
    ) -> Result<Self, PlayError> {
        let (clip, skeleton) = (clip.into(), skeleton.into());
        let player = clip.player(&skeleton)?;
        let names = JointNames::new(&skeleton);
        let additive_hash = additive::skeleton(&skeleton).hash();
        Ok(Self { clip, skeleton, player, names, additive_hash })
    }

    /// The clip.
    pub fn clip(&self) -> &AnyClip {
        &self.clip
    }

    /// The skeleton that the clip moves.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// The number of seconds from the first sample to the last.
    pub fn duration_s(&self) -> f32 {
        self.clip.duration_s()
    }

    /// The first joint with the name `name`.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.names.find(&self.skeleton, name)
    }

    pub(super) fn names(&self) -> &JointNames {
        &self.names
    }

    pub(super) fn skeleton_hash(&self) -> u64 {
        self.clip.skeleton_hash()
    }

    pub(super) fn additive_hash(&self) -> u64 {
        self.additive_hash
    }

    pub(super) fn player(&self) -> &AnyPlayer {
        &self.player
    }
}

/// A skeleton: the names, parents and bind transforms of joints. The asset server makes it from a
/// `.kps` file.
///
/// Characters do not need this asset, because each [`ClipAsset`] holds its skeleton. The asset is
/// for programs that use joints in other ways.
#[derive(Asset, TypePath, Clone, Debug)]
pub struct SkeletonAsset(
    /// The skeleton.
    pub Arc<Skeleton>,
);
