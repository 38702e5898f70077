//! A character's pose, which its layers make together.

use bevy_asset::Assets;
use kinepack_anim::{Transform, additive, blend};

use super::{ClipAsset, ClipLayer, ClipPlayer};

/// The pose of a character in this frame, in centimetres. It reuses its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Pose {
    joints: Vec<Transform>,
    covers: Covers,
    /// Whether a layer moves each joint, if `covers` is `Some`.
    covered: Vec<bool>,
    /// The pose of one layer.
    layer: Vec<Transform>,
}

/// The joints that layers move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Covers {
    #[default]
    Nothing,
    Some,
    All,
}

impl Pose {
    /// The transform of a joint. `None` if no layer moves the joint.
    pub(super) fn get(&self, joint: usize) -> Option<&Transform> {
        let is_covered = match self.covers {
            Covers::Nothing => false,
            Covers::Some => self.covered.get(joint).is_some_and(|covered| *covered),
            Covers::All => true,
        };
        self.joints.get(joint).filter(|_| is_covered)
    }

    /// Samples the layers of a player whose clips are for the skeleton with the hash `skeleton`.
    pub(super) fn sample(
        &mut self,
        player: &mut ClipPlayer,
        clips: &Assets<ClipAsset>,
        (skeleton, additive): (u64, u64),
    ) {
        self.covers = Covers::Nothing;
        for layer in player.all_mut() {
            let Some(clip) = clips.get(&layer.clip) else { continue };
            let hash = clip.skeleton_hash();
            if hash != skeleton && hash != additive {
                layer.report_other_skeleton(clip, skeleton);
            } else if layer.weight > 0.0 {
                self.add(layer, clip, hash != skeleton);
            }
        }
    }

    fn add(&mut self, layer: &mut ClipLayer, clip: &ClipAsset, is_additive: bool) {
        let joints = clip.skeleton().joints();
        self.joints.resize(joints.len(), Transform::IDENTITY);
        if layer.is_whole() && layer.weight >= 1.0 && !is_additive {
            layer.sample(clip, &mut self.joints);
            self.covers = Covers::All;
            return;
        }
        if self.covers == Covers::Nothing {
            self.joints.iter_mut().zip(joints).for_each(|(own, joint)| *own = joint.bind);
        }
        self.layer.resize(joints.len(), Transform::IDENTITY);
        layer.sample(clip, &mut self.layer);
        let weight = layer.weight;
        for run in layer.runs().unwrap_or(std::slice::from_ref(&(0..joints.len()))) {
            let (own, layer) = (&mut self.joints[run.clone()], &self.layer[run.clone()]);
            if is_additive {
                additive::add(own, layer, weight);
            } else if weight >= 1.0 {
                own.copy_from_slice(layer);
            } else {
                blend(own, layer, weight);
            }
        }
        self.cover(layer, joints.len());
    }

    /// Marks the joints of a layer as covered.
    fn cover(&mut self, layer: &ClipLayer, joints: usize) {
        match (layer.runs(), self.covers) {
            (_, Covers::All) => return,
            (None, _) => {
                self.covers = Covers::All;
                return;
            }
            (Some(_), Covers::Nothing) => {
                self.covered.clear();
                self.covered.resize(joints, false);
                self.covers = Covers::Some;
            }
            (Some(_), Covers::Some) => {}
        }
        for run in layer.runs().unwrap_or_default() {
            self.covered[run.clone()].fill(true);
        }
    }
}
