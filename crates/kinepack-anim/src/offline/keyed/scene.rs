//! The raw clip and its playback, both in object space. A scene computes how a change of a track
//! moves everything below its joint, and whether all joints stay within their limits.

use crate::keyed::Kind;
use crate::measure::{Frame, object_space, stands};
use crate::{Channel, RawClip, TrackId, Transform};

use super::curve::{Curve, Value};

pub(super) struct Scene<'a> {
    pub(super) raw: &'a RawClip,
    /// The distance of each joint's shell, in cm.
    pub(super) shell_cm: Vec<f64>,
    /// The raw clip's frames relative to the parent, by sample, then by joint. The next three lists
    /// have the same order.
    pub(super) raw_local: Vec<Frame>,
    /// The raw clip's frames in object space.
    pub(super) raw_object: Vec<Frame>,
    /// The played frames relative to the parent.
    pub(super) local: Vec<Frame>,
    /// The played frames in object space.
    pub(super) object: Vec<Frame>,
    /// The largest error that is allowed in cm, by sample, then by joint.
    limit_cm: Vec<f32>,
    /// For each joint, the strictest precision at or below it, divided by the joint's own
    /// precision.
    strictest_below: Vec<f64>,
    /// For each joint, the joint itself and all its descendants, parents first.
    below: Vec<Vec<usize>>,
    /// The reach of each joint's rotation in cm. It is the distance to the farthest point of any
    /// shell at or below the joint, in any sample.
    pub(super) reach_cm: Vec<f64>,
    /// The reach in cm of each joint's rotation to the shells of the joint itself and its children
    /// only.
    pub(super) near_reach_cm: Vec<f64>,
    scratch: Vec<Frame>,
}

impl<'a> Scene<'a> {
    /// Returns a scene that plays the raw clip itself.
    pub(super) fn new(raw: &'a RawClip, precisions_cm: &[f64], shell_cm: Vec<f64>) -> Self {
        let skeleton = raw.skeleton();
        let joints = raw.joints();
        let raw_local: Vec<Frame> = raw.poses().flatten().map(Frame::from).collect();
        let mut raw_object = raw_local.clone();
        for (local, object) in
            raw_local.chunks_exact(joints).zip(raw_object.chunks_exact_mut(joints))
        {
            object_space(skeleton, local, object);
        }
        let below = skeleton.below();
        let strictest = |joints: &Vec<usize>| {
            joints.iter().map(|joint| precisions_cm[*joint]).fold(f64::INFINITY, f64::min)
        };
        let strictest_below =
            below.iter().zip(precisions_cm).map(|(joints, own)| strictest(joints) / own).collect();
        let mut scene = Self {
            raw,
            shell_cm,
            local: raw_local.clone(),
            object: raw_object.clone(),
            raw_local,
            raw_object,
            limit_cm: raw
                .poses()
                .flat_map(|_| precisions_cm.iter().map(|precision_cm| *precision_cm as f32))
                .collect(),
            strictest_below,
            below,
            reach_cm: vec![0.0; joints],
            near_reach_cm: vec![0.0; joints],
            scratch: vec![Frame::IDENTITY; joints],
        };
        scene.find_reaches();
        scene
    }

    fn find_reaches(&mut self) {
        for object in self.raw_object.chunks_exact(self.raw.joints()) {
            let shell =
                |joint: usize| self.shell_cm[joint] * object[joint].scale.abs().max_element();
            for joint in 0..object.len() {
                let mut is_child = true;
                let mut above = Some(joint);
                while let Some(ancestor) = above {
                    let reach = object[joint].translation.distance(object[ancestor].translation)
                        + shell(joint);
                    self.reach_cm[ancestor] = self.reach_cm[ancestor].max(reach);
                    if ancestor == joint || is_child {
                        self.near_reach_cm[ancestor] = self.near_reach_cm[ancestor].max(reach);
                        is_child = ancestor == joint;
                    }
                    above = self.raw.skeleton().parent(ancestor);
                }
            }
        }
    }

    /// Halves the limits of joints while they are at rest, so that no joint drifts by more than its
    /// whole limit.
    pub(super) fn hold_still(&mut self) {
        let joints = self.raw.joints();
        for (joint, stand) in stands(self.raw, None).iter().enumerate() {
            for sample in stand.runs().iter().flat_map(|&(first, last)| first..=last) {
                self.limit_cm[sample * joints + joint] *= 0.5;
            }
        }
    }

    /// Returns the transform, relative to the parent as played, with which a joint is exactly where
    /// the raw clip has it.
    pub(super) fn pinned(&self, sample: usize, joint: usize) -> Frame {
        let at = |joint: usize| sample * self.joints() + joint;
        let raw = &self.raw_object[at(joint)];
        let Some(parent) = self.raw.skeleton().parent(joint).map(|parent| &self.object[at(parent)])
        else {
            return *raw;
        };
        let back = parent.rotation.inverse();
        let moved = (back * (raw.translation - parent.translation)) / parent.scale;
        let local = &self.raw_local[at(joint)];
        Frame {
            rotation: (back * raw.rotation).normalize(),
            // If the parent's scale is zero, all translations lead to the same position.
            translation: if moved.is_finite() { moved } else { local.translation },
            scale: local.scale,
        }
    }

    pub(super) fn joints(&self) -> usize {
        self.raw.joints()
    }

    pub(super) fn samples(&self) -> usize {
        self.raw.samples()
    }

    /// Returns the limit of a joint at a sample, in cm.
    pub(super) fn limit_cm(&self, sample: usize, joint: usize) -> f64 {
        f64::from(self.limit_cm[sample * self.joints() + joint])
    }

    /// Returns the limit for a joint's tracks, which also move everything below the joint.
    pub(super) fn limit_below_cm(&self, sample: usize, joint: usize) -> f64 {
        self.limit_cm(sample, joint) * self.strictest_below[joint]
    }

    /// Returns the error of a joint at a sample, in cm.
    pub(super) fn error_cm(&self, sample: usize, joint: usize) -> f64 {
        let at = sample * self.joints() + joint;
        self.object[at].shell_error_cm(&self.raw_object[at], self.shell_cm[joint])
    }

    /// Returns whether a joint is within its limit at a sample.
    pub(super) fn is_within(&self, sample: usize, joint: usize) -> bool {
        let at = sample * self.joints() + joint;
        is_within(
            &self.object[at],
            &self.raw_object[at],
            self.shell_cm[joint],
            f64::from(self.limit_cm[at]),
        )
    }

    /// Returns the largest ratio of an error to its limit.
    pub(super) fn worst_ratio(&self) -> f64 {
        let all = (0..self.samples())
            .flat_map(|sample| (0..self.joints()).map(move |joint| (sample, joint)));
        all.fold(0.0, |worst, (sample, joint)| {
            worst.max(self.error_cm(sample, joint) / self.limit_cm(sample, joint))
        })
    }

    /// Returns whether all joints stay within their limits at a sample if `curve` plays its decoded
    /// value.
    pub(super) fn holds(&mut self, curve: &Curve, sample: usize) -> bool {
        let first = sample * self.joints();
        let joint = usize::from(curve.id.joint);
        let mut local = self.local[first + joint];
        put(&mut local, curve.id.channel, &curve.decoded[sample]);
        let skeleton = self.raw.skeleton();
        for &below in &self.below[joint] {
            let object = match skeleton.parent(below) {
                _ if below == joint => skeleton
                    .parent(joint)
                    .map_or(local, |parent| self.object[first + parent].child(&local)),
                Some(parent) => self.scratch[parent].child(&self.local[first + below]),
                None => local,
            };
            self.scratch[below] = object;
            let at = first + below;
            if !is_within(
                &object,
                &self.raw_object[at],
                self.shell_cm[below],
                f64::from(self.limit_cm[at]),
            ) {
                return false;
            }
        }
        true
    }

    /// Writes a curve's decoded values at `samples` to the played frames. Updates the frames of the
    /// joint and its descendants in object space.
    pub(super) fn play(&mut self, curve: &Curve, samples: std::ops::RangeInclusive<usize>) {
        let joints = self.joints();
        let skeleton = self.raw.skeleton();
        let joint = usize::from(curve.id.joint);
        for sample in samples {
            let local = &mut self.local[sample * joints..][..joints];
            let object = &mut self.object[sample * joints..][..joints];
            put(&mut local[joint], curve.id.channel, &curve.decoded[sample]);
            for &below in &self.below[joint] {
                object[below] = match skeleton.parent(below) {
                    Some(parent) => object[parent].child(&local[below]),
                    None => local[below],
                };
            }
        }
    }

    /// Writes a single value of a track to the played frames of all samples. Does not update the
    /// frames in object space.
    pub(super) fn play_constant(&mut self, id: TrackId, value: &Value) {
        let joints = self.joints();
        for frame in self.local.iter_mut().skip(usize::from(id.joint)).step_by(joints) {
            put(frame, id.channel, value);
        }
    }

    /// Writes the decoded values of all curves to the played frames. Updates all frames in object
    /// space.
    pub(super) fn play_all(&mut self, curves: &[Curve]) {
        let joints = self.joints();
        for curve in curves {
            for (sample, value) in curve.decoded.iter().enumerate() {
                put(
                    &mut self.local[sample * joints + usize::from(curve.id.joint)],
                    curve.id.channel,
                    value,
                );
            }
        }
        for (local, object) in
            self.local.chunks_exact(joints).zip(self.object.chunks_exact_mut(joints))
        {
            object_space(self.raw.skeleton(), local, object);
        }
    }
}

/// Returns whether a shell of `a` is close enough to that of `b`. A bound that costs less than the
/// three points decides most cases.
#[inline]
fn is_within(a: &Frame, b: &Frame, shell_cm: f64, limit_cm: f64) -> bool {
    if a.scale == b.scale {
        let moved = a.translation.distance(b.translation);
        let (p, q) = (a.rotation, b.rotation);
        let turned = 2.0 * f64::min((p - q).length_squared(), (p + q).length_squared()).sqrt();
        if moved + turned * shell_cm * a.scale.abs().max_element() <= limit_cm {
            return true;
        }
        if moved - turned * shell_cm * a.scale.abs().max_element() > limit_cm {
            return false;
        }
    }
    a.shell_error_cm(b, shell_cm) <= limit_cm
}

/// Puts a channel's value into a frame.
#[inline]
pub(super) fn put(frame: &mut Frame, channel: Channel, value: &Value) {
    let [x, y, z, w] = *value;
    match channel {
        Channel::Rotation => frame.rotation = glam::DQuat::from_xyzw(x, y, z, w),
        Channel::Translation => frame.translation = glam::DVec3::new(x, y, z),
        Channel::Scale => frame.scale = glam::DVec3::new(x, y, z),
    }
}

/// Returns a channel's value in a frame.
pub(super) fn value_of(frame: &Frame, channel: Channel) -> Value {
    match channel {
        Channel::Rotation => frame.rotation.to_array(),
        Channel::Translation => {
            [frame.translation.x, frame.translation.y, frame.translation.z, 0.0]
        }
        Channel::Scale => [frame.scale.x, frame.scale.y, frame.scale.z, 0.0],
    }
}

/// The kind of each channel of each joint before anything is fitted. The kind depends on whether
/// the channel changes by more than float noise and, if not, on whether it equals the bind pose.
/// The test does not depend on the precision, so that the sizes of raw tracks can be compared.
pub(super) fn raw_kinds(raw: &RawClip) -> Vec<[Kind; 3]> {
    let frames = |pose: &[Transform]| pose.iter().map(Frame::from).collect::<Vec<_>>();
    let (first, bind) = (frames(raw.pose(0)), frames(&raw.skeleton().bind_pose()));
    let mut kinds: Vec<[Kind; 3]> = first
        .iter()
        .zip(&bind)
        .map(|(first, bind)| {
            let is_other =
                |channel| differ(channel, &value_of(first, channel), &value_of(bind, channel));
            Channel::ALL
                .map(|channel| if is_other(channel) { Kind::Constant } else { Kind::Default })
        })
        .collect();
    for pose in raw.poses() {
        for ((transform, first), kinds) in pose.iter().zip(&first).zip(&mut kinds) {
            let frame = Frame::from(transform);
            for channel in Channel::ALL {
                if differ(channel, &value_of(&frame, channel), &value_of(first, channel)) {
                    kinds[channel as usize] = Kind::Keys;
                }
            }
        }
    }
    kinds
}

/// Returns whether two values differ by more than the rounding of files, which is 0.00001 for
/// rotations and scales, and 0.001 cm for translations.
pub(super) fn differ(channel: Channel, a: &Value, b: &Value) -> bool {
    let distance = |sign: f64| (0..4).map(|c| (a[c] - sign * b[c]).abs()).fold(0.0, f64::max);
    match channel {
        Channel::Rotation => distance(1.0).min(distance(-1.0)) > 1e-5,
        Channel::Translation => distance(1.0) > 1e-3,
        Channel::Scale => distance(1.0) > 1e-5,
    }
}
