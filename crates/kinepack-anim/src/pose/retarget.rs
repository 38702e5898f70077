//! Plays poses of one skeleton on another, matching joints by name.
//!
//! A joint's rotation is taken in model space, relative to the bind pose, and applied to the other
//! skeleton's bind pose. The two skeletons may therefore differ in the axes and lengths of bones,
//! and either may lack joints in between. The bind poses must show the same stance, such as two T
//! poses that face the same direction. Unreal Engine and Unity retarget rotations in the same way.
//!
//! | joint | rotation | translation | scale |
//! |---|---|---|---|
//! | in both, topmost | by name | bind pose, moved like the source's, by size | like the source's |
//! | in both, below another | by name | bind pose | like the source's |
//! | only in the target | bind pose | bind pose | bind pose |
//! | only in the source | contributes to the joints below | none | none |

use super::links::{Target, Unmatched, links, model_bind, size_ratio, unit};
use crate::transform::check_pose;
use crate::{Skeleton, Transform, quaternion};

/// Converts poses of a source skeleton to a target skeleton. Each character or thread needs its own
/// converter, because it holds scratch memory.
///
/// ```
/// use kinepack_anim::pose::Retarget;
/// use kinepack_anim::{Joint, Skeleton, Transform};
///
/// let joint = |name: &str, parent, y| {
///     let bind = Transform { translation: [0.0, y, 0.0], ..Transform::IDENTITY };
///     Joint { name: name.into(), parent, bind }
/// };
/// let giant = Skeleton::new(vec![
///     joint("Hips", None, 200.0),
///     joint("Twist", Some(0), 20.0),
///     joint("Head", Some(1), 100.0),
/// ])?;
/// let child = Skeleton::new(vec![joint("hips", None, 50.0), joint("Head", Some(0), 30.0)])?;
/// let mut retarget = Retarget::new(&giant, &child, &[("Hips", "hips")]);
/// assert_eq!(retarget.unmatched().source, ["Twist"]);
/// assert_eq!(retarget.size(), 0.25);
///
/// // The giant jumps, and turns its head from below it.
/// let mut pose = giant.bind_pose();
/// pose[0].translation[1] += 40.0;
/// pose[1].rotation = [0.0, 1.0, 0.0, 0.0];
/// let mut small = child.bind_pose();
/// retarget.apply(&pose, &mut small);
/// assert_eq!(small[0].translation, [0.0, 60.0, 0.0]);
/// assert_eq!(small[1].rotation, [0.0, 1.0, 0.0, 0.0]);
/// # Ok::<(), kinepack_anim::SkeletonError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Retarget {
    source: Vec<Source>,
    target: Vec<Target>,
    size: f32,
    unmatched: Unmatched,
    /// The source's pose in model space.
    source_model: Vec<Transform>,
    /// The rotations of the target's pose in model space.
    target_model: Vec<[f32; 4]>,
}

/// A joint of the source.
#[derive(Clone, Debug)]
struct Source {
    parent: Option<usize>,
    bind: Transform,
}

impl Retarget {
    /// Returns a mapping that pairs joints by name. `renames` contains pairs of a name in the
    /// source and a name in the target, for joints whose names differ. If several joints share a
    /// name, the first one is used. Joints without a name match no joint.
    pub fn new(source: &Skeleton, target: &Skeleton, renames: &[(&str, &str)]) -> Self {
        let binds = [source, target].map(model_bind);
        let links = links(source, target, renames, &binds);
        let [source_bind, target_bind] = binds;
        let joints = source.joints().iter().enumerate();
        let joints = joints
            .map(|(index, own)| Source { parent: source.parent(index), bind: unit(own.bind) });
        Self {
            size: size_ratio(&links, &source_bind, &target_bind),
            unmatched: Unmatched::new(source, target, &links),
            source: joints.collect(),
            source_model: source_bind,
            target_model: vec![quaternion::IDENTITY; target.len()],
            target: links,
        }
    }

    /// Returns the joints of both skeletons that have no partner.
    pub fn unmatched(&self) -> &Unmatched {
        &self.unmatched
    }

    /// Returns the size of the target relative to the source, from the distances between joints of
    /// both. The converter multiplies the translations from the source by this ratio.
    pub fn size(&self) -> f32 {
        self.size
    }

    /// Returns the same mapping with a different size, for characters with other proportions. The
    /// size may be the ratio of the leg lengths, for example.
    #[must_use]
    pub fn with_size(self, size: f32) -> Self {
        Self { size, ..self }
    }

    /// Returns the same mapping, with another choice of the joints that take translations from the
    /// source. `is_moving` chooses them by their names in the target. By default, these are the
    /// joints without a partner above them. Choose the hips too if they are below a root, and the
    /// joints of a face or of props.
    #[must_use]
    pub fn with_translations(
        mut self,
        target: &Skeleton,
        mut is_moving: impl FnMut(&str) -> bool,
    ) -> Self {
        for (own, joint) in self.target.iter_mut().zip(target.joints()) {
            if let Some(link) = &mut own.link {
                link.is_moving = is_moving(&joint.name);
            }
        }
        self
    }

    /// Converts a pose of the source to a pose of the target, whose rotations are unit quaternions.
    ///
    /// # Panics
    /// Panics if a pose has a different number of joints from its skeleton.
    #[track_caller]
    pub fn apply(&mut self, source: &[Transform], target: &mut [Transform]) {
        check_pose("the source's pose", source.len(), "the source", self.source.len());
        check_pose("the target's pose", target.len(), "the target", self.target.len());
        for (index, (joint, own)) in self.source.iter().zip(source).enumerate() {
            let own = unit(*own);
            let above = joint.parent.map(|parent| self.source_model[parent]);
            self.source_model[index] = above.map_or(own, |above| above.child(&own));
        }
        for (index, (joint, own)) in self.target.iter().zip(target).enumerate() {
            let above =
                joint.parent.map_or(quaternion::IDENTITY, |parent| self.target_model[parent]);
            *own = joint.bind;
            if let Some(link) = &joint.link {
                let model = &self.source_model[link.joint];
                let rotation = quaternion::product(model.rotation, link.turn);
                let local = quaternion::product(quaternion::conjugate(above), rotation);
                own.rotation = quaternion::unit(local);
                let (pose, bind) = (&source[link.joint], &self.source[link.joint].bind);
                if link.is_moving {
                    let way = link.way(model, pose, bind, above).map(|c| self.size * c);
                    own.translation = std::array::from_fn(|axis| own.translation[axis] + way[axis]);
                }
                own.scale = std::array::from_fn(|axis| {
                    let factor = pose.scale[axis] / bind.scale[axis];
                    // A scale of 0 in the bind pose gives no finite factor.
                    own.scale[axis] * if factor.is_finite() { factor } else { 1.0 }
                });
            }
            self.target_model[index] = quaternion::product(above, own.rotation);
        }
    }
}
