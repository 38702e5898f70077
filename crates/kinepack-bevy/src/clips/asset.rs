//! Clips and skeletons as assets.

use std::sync::Arc;

use bevy_asset::Asset;
use bevy_reflect::TypePath;
use kinepack_anim::{AnyClip, AnyPlayer, PlayError, Skeleton, additive};

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
    /// The joints, sorted by name. Of joints with the same name, it contains only the first.
    by_name: Vec<u16>,
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
        let mut by_name: Vec<u16> = (0..skeleton.len() as u16).collect();
        let name = |joint: &u16| skeleton.joints()[usize::from(*joint)].name.as_str();
        by_name.sort_by(|one, other| name(one).cmp(name(other)));
        by_name.dedup_by(|one, other| name(one) == name(other));
        let additive_hash = additive::skeleton(&skeleton).hash();
        Ok(Self { clip, skeleton, player, by_name, additive_hash })
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
        let joints = self.skeleton.joints();
        let found = self
            .by_name
            .binary_search_by(|joint| joints[usize::from(*joint)].name.as_str().cmp(name));
        found.ok().map(|index| usize::from(self.by_name[index]))
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
