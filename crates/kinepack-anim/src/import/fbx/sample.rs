//! Samples a stack at a constant rate.

use std::collections::HashSet;
use std::sync::Arc;

use glam::DVec3;
use ufbx::{Anim, Node, Scene};

use super::left_out::Collector;
use super::motion::{Channels, Motion, Part, Span};
use super::{ImportError, JointNodes, LeftOutKind, joints};
use crate::import::budget::Budget;
use crate::import::clips::{self, Names, Room};
use crate::{Curve, MAX_CURVES, RawClip, RawClipError, Transform};

/// A stack that animates a joint or a curve, and the inputs for its clip.
pub(super) struct Job<'a, 'b> {
    pub(super) file: &'b str,
    pub(super) scene: &'a Scene,
    pub(super) joint_nodes: &'b JointNodes,
    pub(super) channels: &'b Channels<'a>,
    pub(super) motion: &'b Motion<'a>,
    pub(super) rate_hz: f32,
}

impl<'a> Job<'a, '_> {
    /// Samples the clip. After the end of the stack, the values at the end are repeated.
    pub(super) fn clip(
        &self,
        name: String,
        room: Room,
        left_out: &mut Collector<'a>,
        budget: &mut Budget,
    ) -> Result<RawClip, ImportError> {
        let (begin_s, end_s) = self.span();
        let duration_s = end_s - begin_s;
        let samples = clips::samples(duration_s, self.rate_hz);
        let joints = self.joint_nodes.skeleton.len();
        // This memory is for the list of curves and the set that removes duplicates.
        budget.take((self.motion.parts.len() * 4 * size_of::<CurvePart<'_>>()) as u64)?;
        let parts = self.curve_parts();
        room.check(self.file, &name, samples, joints, parts.len())?;
        // Memory for one additional sample covers the lists of nodes and scales.
        budget.take(((samples + 1) * joints * size_of::<Transform>()) as u64)?;
        let time = |sample| begin_s + (sample as f64 / f64::from(self.rate_hz)).min(duration_s);
        let transforms = self.transforms((0..samples).map(time), left_out, budget)?;
        let curves = self.curves(&parts, (0..samples).map(time), budget)?;
        RawClip::new(name.clone(), Arc::clone(&self.joint_nodes.skeleton), self.rate_hz, transforms)
            .and_then(|clip| clip.with_curves(curves?))
            .map_err(|error| ImportError::Clip { file: self.file.to_owned(), clip: name, error })
    }

    /// Returns the stack's own interval or, if it has none, the interval of its keys.
    fn span(&self) -> Span {
        let stack = self.motion.stack;
        if stack.time_begin < stack.time_end {
            return (stack.time_begin, stack.time_end);
        }
        let keys = self.motion.parts.iter().filter_map(|part| match part {
            Part::Transform { keys, .. }
            | Part::Weight { keys, .. }
            | Part::Custom { keys, .. } => Some(keys),
            Part::Other { .. } => None,
        });
        let (begin_s, end_s) = keys
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(begin, end), keys| {
                (begin.min(keys.0), end.max(keys.1))
            });
        if begin_s <= end_s { (begin_s, end_s) } else { (0.0, 0.0) }
    }

    /// Returns the transforms of all joints at all times. A property may depend on another node's
    /// property, so joints without keys are evaluated too.
    fn transforms(
        &self,
        times: impl ExactSizeIterator<Item = f64>,
        left_out: &mut Collector<'a>,
        budget: &mut Budget,
    ) -> Result<Vec<Transform>, ImportError> {
        let mut nodes: Vec<&'a Node> = Vec::with_capacity(self.joint_nodes.skeleton.len());
        nodes.extend(self.joint_nodes.nodes().map(|node| &self.scene.nodes[node]));
        let parent_of = |joint| self.joint_nodes.skeleton.parent(joint);
        let mut scales = vec![DVec3::ONE; nodes.len()];
        let mut is_stuck = vec![false; nodes.len()];
        let mut transforms = Vec::with_capacity(times.len() * nodes.len());
        for time_s in times {
            for (joint, node) in nodes.iter().enumerate() {
                let transform = ufbx::evaluate_transform(self.motion.anim(), node, time_s);
                scales[joint] = joints::scale(&transform);
                let above = joints::above(node).map(|parent| match parent_of(joint) {
                    Some(parent) => scales[parent],
                    // The parent is a static node above the joints.
                    None => joints::scale(&parent.local_transform),
                });
                let (local, is_zero) = joints::local(&transform, above);
                is_stuck[joint] |= is_zero;
                transforms.push(self.joint_nodes.transform(joint, local));
            }
        }
        for (node, _) in nodes.iter().zip(is_stuck).filter(|(_, is_stuck)| *is_stuck) {
            left_out.add(LeftOutKind::OwnScale, &node.element.name, "", budget)?;
        }
        Ok(transforms)
    }

    /// Returns the parts that become curves. Several layers may animate the same part, so the
    /// function removes duplicates.
    fn curve_parts(&self) -> Vec<CurvePart<'a>> {
        let parts = self.motion.parts.iter().filter_map(|part| match *part {
            Part::Weight { channel, .. } => {
                let node = self.channels.node_of(channel)?;
                Some(CurvePart { node, source: Source::Weight(channel) })
            }
            Part::Custom { node, name, .. } => {
                self.joint_nodes.joint_of(node)?;
                Some(CurvePart { node, source: Source::Custom(name) })
            }
            _ => None,
        });
        let mut seen = HashSet::new();
        parts.filter(|part| seen.insert(*part)).collect()
    }

    /// Returns the curves, with a value at each time. An inner error concerns the clip itself, and
    /// the caller adds the names of the file and the clip.
    fn curves(
        &self,
        parts: &[CurvePart<'a>],
        times: impl ExactSizeIterator<Item = f64> + Clone,
        budget: &mut Budget,
    ) -> Result<Result<Vec<Curve>, RawClipError>, ImportError> {
        if parts.len() > MAX_CURVES {
            return Ok(Err(RawClipError::TooManyCurves { curves: parts.len() }));
        }
        let mut names = Names::default();
        let mut curves = Vec::with_capacity(parts.len());
        for (index, &CurvePart { node, source }) in parts.iter().enumerate() {
            let node = &self.scene.nodes[node];
            let of_part = match source {
                Source::Weight(channel) => self.channels.get(channel).1,
                Source::Custom(name) => Some(name),
            };
            let node_name = &*node.element.name;
            let name = match names.take(node_name, of_part, index, times.len(), budget)? {
                Ok(name) => name,
                Err(error) => return Ok(Err(error)),
            };
            let anim = self.motion.anim();
            let values = times.clone().map(|time_s| self.value(anim, node, source, time_s) as f32);
            let values = values.collect();
            curves.push(Curve { name, precision: Curve::WEIGHT_PRECISION, values });
        }
        Ok(Ok(curves))
    }

    fn value(&self, anim: &Anim, node: &Node, source: Source<'_>, time_s: f64) -> f64 {
        match source {
            Source::Weight(channel) => {
                ufbx::evaluate_blend_weight(anim, self.channels.get(channel).0, time_s)
            }
            Source::Custom(name) => {
                ufbx::evaluate_prop(anim, &node.element, name, time_s).value_vec4.x
            }
        }
    }
}

/// A part that becomes a curve, before it is sampled.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct CurvePart<'a> {
    node: usize,
    source: Source<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Source<'a> {
    /// A channel of a blend shape.
    Weight(usize),
    /// A user-defined property of the node.
    Custom(&'a str),
}
