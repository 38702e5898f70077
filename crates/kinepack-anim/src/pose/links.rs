//! Finds which joints of two skeletons correspond, and how the bind poses of these joints differ.

use std::collections::HashMap;

use crate::{Skeleton, Transform, quaternion};

/// A joint of the target skeleton.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) parent: Option<usize>,
    pub(super) bind: Transform,
    pub(super) link: Option<Link>,
}

/// The joint of the source that a joint of the target follows, which is its partner.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) joint: usize,
    /// The rotation of the target's joint relative to the source's, in model space of the bind
    /// pose.
    pub(super) turn: [f32; 4],
    /// The rotation of the target's parent relative to the source's parent, which converts
    /// translations of the source to the target.
    parents_turn: [f32; 4],
    /// The position of the source's joint in model space of the bind pose.
    place: [f32; 3],
    /// Whether no joint above the target's joint has a partner.
    is_first: bool,
    /// Whether the joint takes its translations from the source.
    pub(super) is_moving: bool,
}

/// The joints without a partner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unmatched {
    /// The names of the source's joints that no joint of the target follows.
    pub source: Vec<String>,
    /// The names of the target's joints that keep their bind pose.
    pub target: Vec<String>,
}

/// Returns the joints of the target, with their partners. `binds` are the bind poses in model
/// space.
pub(super) fn links(
    source: &Skeleton,
    target: &Skeleton,
    renames: &[(&str, &str)],
    binds: &[Vec<Transform>; 2],
) -> Vec<Target> {
    // `partners` maps each name, in the target's naming, to the first joint of the source with that
    // name.
    let new_names: HashMap<&str, &str> = renames.iter().copied().collect();
    let mut partners = HashMap::new();
    for (index, joint) in source.joints().iter().enumerate() {
        let name = joint.name.as_str();
        let name = *new_names.get(name).unwrap_or(&name);
        if !name.is_empty() {
            partners.entry(name).or_insert(index);
        }
    }
    let [source_bind, target_bind] = binds;
    let turn = |of: Option<usize>, to: Option<usize>| {
        let rotation = |bind: &[Transform], joint: Option<usize>| {
            joint.map_or(quaternion::IDENTITY, |joint| bind[joint].rotation)
        };
        let of = quaternion::conjugate(rotation(source_bind, of));
        quaternion::product(of, rotation(target_bind, to))
    };
    let mut links: Vec<Target> = Vec::with_capacity(target.len());
    for (index, own) in target.joints().iter().enumerate() {
        let parent = target.parent(index);
        let is_first = linked_above(&links, parent).is_none();
        let link = partners.get(own.name.as_str()).map(|&joint| Link {
            joint,
            turn: turn(Some(joint), Some(index)),
            parents_turn: turn(source.parent(joint), parent),
            place: source_bind[joint].translation,
            is_first,
            is_moving: is_first,
        });
        links.push(Target { parent, bind: unit(own.bind), link });
    }
    links
}

impl Link {
    /// Returns the displacement of the source's joint from its bind pose, in the space of the
    /// target's parent. For the topmost joints with a partner, the displacement is measured in
    /// model space, because no joint above moves them.
    pub(super) fn way(
        &self,
        model: &Transform,
        pose: &Transform,
        bind: &Transform,
        above: [f32; 4],
    ) -> [f32; 3] {
        let (to, from, turn) = if self.is_first {
            (model.translation, self.place, above)
        } else {
            (pose.translation, bind.translation, self.parents_turn)
        };
        let way = std::array::from_fn(|axis| to[axis] - from[axis]);
        quaternion::rotated(way, quaternion::conjugate(turn))
    }
}

impl Unmatched {
    pub(super) fn new(source: &Skeleton, target: &Skeleton, links: &[Target]) -> Self {
        let mut is_used = vec![false; source.len()];
        for link in links.iter().filter_map(|own| own.link.as_ref()) {
            is_used[link.joint] = true;
        }
        let names = |skeleton: &Skeleton, is_alone: &dyn Fn(usize) -> bool| {
            let joints = skeleton.joints().iter().enumerate();
            let alone = joints.filter(|(joint, _)| is_alone(*joint));
            alone.map(|(_, joint)| joint.name.clone()).collect()
        };
        Self {
            source: names(source, &|joint| !is_used[joint]),
            target: names(target, &|joint| links[joint].link.is_none()),
        }
    }
}

/// Returns the nearest joint with a partner, starting at `joint` and going up, and that partner.
fn linked_above(links: &[Target], joint: Option<usize>) -> Option<(usize, usize)> {
    let mut above = std::iter::successors(joint, |joint| links[*joint].parent);
    above.find_map(|joint| links[joint].link.as_ref().map(|link| (joint, link.joint)))
}

pub(super) fn unit(transform: Transform) -> Transform {
    Transform { rotation: quaternion::unit(transform.rotation), ..transform }
}

/// Returns the bind pose of `skeleton` in model space.
pub(super) fn model_bind(skeleton: &Skeleton) -> Vec<Transform> {
    let bind: Vec<Transform> = skeleton.bind_pose().into_iter().map(unit).collect();
    let mut model = bind.clone();
    skeleton.model_pose(&bind, &mut model);
    model
}

/// Returns the target's size relative to the source's. The size is the ratio of two sums of
/// distances, one for each skeleton. Each joint with a partner adds its distance to the nearest
/// joint above it that also has a partner. If these sums give no ratio, the distances of the
/// topmost joints from the origin are used.
pub(super) fn size_ratio(links: &[Target], source: &[Transform], target: &[Transform]) -> f32 {
    let mut sums = [0.0_f32; 2];
    let mut roots = [0.0_f32; 2];
    for (index, own) in links.iter().enumerate() {
        let Some(link) = &own.link else { continue };
        let (sum, from) = match linked_above(links, own.parent) {
            Some((own, other)) => (&mut sums, [source[other], target[own]].map(|t| t.translation)),
            None => (&mut roots, [[0.0; 3]; 2]),
        };
        let to = [source[link.joint], target[index]].map(|t| t.translation);
        for side in 0..2 {
            sum[side] += distance(from[side], to[side]);
        }
    }
    let ratio = |[source, target]: [f32; 2]| target / source;
    [ratio(sums), ratio(roots)]
        .into_iter()
        .find(|ratio| *ratio > 0.0 && ratio.is_finite())
        .unwrap_or(1.0)
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    a.into_iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt()
}
