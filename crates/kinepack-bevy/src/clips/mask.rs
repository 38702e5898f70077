//! The joints of a layer: joints with given names, and all joints below these.

use std::ops::Range;

use kinepack_anim::JointMask;

use super::ClipAsset;

/// A set of joints of a skeleton.
#[derive(Clone, Debug)]
pub(super) struct Mask {
    /// The hash of the skeleton.
    skeleton: u64,
    joints: JointMask,
    /// The joints of `joints`, as runs of neighbours.
    runs: Vec<Range<usize>>,
}

impl Mask {
    pub(super) fn new(names: &[String], clip: &ClipAsset) -> Self {
        let skeleton = clip.skeleton();
        let mut is_in = vec![false; skeleton.len()];
        for name in names {
            match clip.find(name) {
                Some(joint) => is_in[joint] = true,
                None => log::warn!(
                    "kinepack-bevy: a layer is on the joint '{name}', which its skeleton does not \
                     have: write the name as in the model's file"
                ),
            }
        }
        // Parents come before their children.
        for joint in 0..skeleton.len() {
            is_in[joint] |= skeleton.parent(joint).is_some_and(|parent| is_in[parent]);
        }
        let mut runs: Vec<Range<usize>> = Vec::new();
        for joint in (0..skeleton.len()).filter(|joint| is_in[*joint]) {
            match runs.last_mut() {
                Some(run) if run.end == joint => run.end += 1,
                _ => runs.push(joint..joint + 1),
            }
        }
        let joints = JointMask::new(skeleton.len(), |joint| is_in[joint]);
        Self { skeleton: clip.skeleton_hash(), joints, runs }
    }

    /// Whether the mask was made for the skeleton of `clip`.
    pub(super) fn fits(&self, clip: &ClipAsset) -> bool {
        self.skeleton == clip.skeleton_hash()
    }

    pub(super) fn joints(&self) -> &JointMask {
        &self.joints
    }

    pub(super) fn runs(&self) -> &[Range<usize>] {
        &self.runs
    }
}
