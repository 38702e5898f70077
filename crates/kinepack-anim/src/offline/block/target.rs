//! The target of a build: the raw clip's transforms, relative to the parents and in object space,
//! and the limits of the errors.

use glam::DVec3;

use crate::measure::{Frame, object_space};
use crate::{RawClip, Skeleton, Transform, additive};

/// The minimum limit, as a share of the distance from the origin. A player's floats are 2¹⁶ times
/// as coarse. With much finer limits, the search would find no step, and the clip would be coarser
/// than necessary.
const LEAST_SHARE: f64 = 1.0 / (1_u64 << 40) as f64;

pub(super) struct Target<'a> {
    pub(super) raw: &'a RawClip,
    /// Number of coded samples.
    pub(super) samples: usize,
    /// The raw transforms relative to the parent, by joint, then by sample.
    local: Vec<Frame>,
    /// The transforms to which an additive clip is added, in the same order as `local`.
    base: Option<Vec<Frame>>,
    /// The raw transforms in object space, in the same order as `local`.
    object: Vec<Frame>,
    /// The points at which errors are measured, in the same order as `local`.
    shells: Vec<[DVec3; 3]>,
    /// For each joint, the distance in cm from the joint to the points at which errors are
    /// measured.
    pub(super) shell_cm: Vec<f64>,
    /// For each joint, the largest error in cm that its points in `shells` may have.
    pub(super) limit_cm: Vec<f64>,
    /// For each joint, the smallest limit of the joint and its descendants, in cm.
    pub(super) least_limit_cm: Vec<f64>,
    /// For each joint, the reach of its rotation in cm, which is the distance to the farthest point
    /// of a descendant in any sample.
    pub(super) reach_cm: Vec<f64>,
    /// For each joint, the distance by which a change of its scale by 1 moves a point. It equals
    /// the reach that the joint would have with a scale of 1.
    pub(super) scale_reach_cm: Vec<f64>,
    /// For each joint, the largest scale of its parent in object space, in any sample.
    pub(super) scale_above: Vec<f64>,
    /// For each curve, the largest error that it may have.
    pub(super) curve_limit: Vec<f64>,
}

impl<'a> Target<'a> {
    pub(super) fn new(
        raw: &'a RawClip,
        base: Option<&RawClip>,
        shell_cm: Vec<f64>,
        mut limit_cm: Vec<f64>,
    ) -> Self {
        let skeleton = raw.skeleton();
        let (joints, samples) = (raw.joints(), raw.samples());
        let mut local = vec![Frame::IDENTITY; joints * samples];
        let mut object = local.clone();
        let mut shells = vec![[DVec3::ZERO; 3]; joints * samples];
        let mut reach_cm = shell_cm.clone();
        let mut scale_reach_cm = shell_cm.clone();
        let mut scale_above = vec![1.0_f64; joints];
        let mut own = vec![Frame::IDENTITY; joints];
        let mut bases = base.map(|_| local.clone());
        let mut posed = own.clone();
        for (sample, pose) in raw.poses().enumerate() {
            own.iter_mut().zip(pose).for_each(|(own, transform)| *own = Frame::from(transform));
            for joint in 0..joints {
                local[joint * samples + sample] = own[joint];
            }
            if let (Some(base), Some(bases)) = (base, &mut bases) {
                for (joint, transform) in additive::pose_of(base, sample).iter().enumerate() {
                    let base = Frame::from(transform);
                    own[joint] = base.with(&own[joint]);
                    bases[joint * samples + sample] = base;
                }
            }
            object_space(skeleton, &own, &mut posed);
            for joint in 0..joints {
                let at = joint * samples + sample;
                object[at] = posed[joint];
                shells[at] = posed[joint].shell(shell_cm[joint]);
                if let Some(parent) = skeleton.parent(joint) {
                    scale_above[joint] =
                        scale_above[joint].max(posed[parent].scale.abs().max_element());
                }
                let shell = shell_cm[joint] * posed[joint].scale.abs().max_element();
                let reaches = [&mut reach_cm[..], &mut scale_reach_cm[..]];
                extend_reaches(skeleton, joint, shell, (pose, &posed), reaches);
            }
            for joint in (0..joints).filter(|joint| pose[*joint].scale != [1.0; 3]) {
                let base_scale = bases
                    .as_ref()
                    .map_or(DVec3::ONE, |bases| bases[joint * samples + sample].scale);
                let above = skeleton.parent(joint).map_or(DVec3::ONE, |parent| posed[parent].scale);
                let reach =
                    reach_of_scale(skeleton, joint, above * base_scale, (&own, &posed), &shell_cm);
                scale_reach_cm[joint] = scale_reach_cm[joint].max(reach);
            }
        }
        raise_limits(&mut limit_cm, &object, &shell_cm, samples);
        let least_limit_cm = least_below(skeleton, &limit_cm);
        let mut target = Self {
            raw,
            samples,
            local,
            base: bases,
            object,
            shells,
            shell_cm,
            limit_cm,
            least_limit_cm,
            reach_cm,
            scale_reach_cm,
            scale_above,
            curve_limit: curve_limits(raw),
        };
        if target.is_loop() {
            target.samples -= 1;
        }
        target
    }

    /// Returns whether the clip loops, so that the first sample can replace the last.
    pub(super) fn loops(&self) -> bool {
        self.samples < self.raw.samples()
    }

    fn is_loop(&self) -> bool {
        const SHARE: f64 = 0.1;
        let last = self.samples - 1;
        // `first` is the first sample at the time of the last, when the base may have another pose.
        let first: Vec<_> = (0..self.joints())
            .map(|joint| self.with_base(joint, last, &self.local(joint, 0)[0]))
            .collect();
        let mut posed = first.clone();
        object_space(self.skeleton(), &first, &mut posed);
        let is_near = |joint: usize| {
            let (first, last) = (posed[joint].shell(self.shell_cm[joint]), self.shell(joint, last));
            first.iter().zip(last).all(|(a, b)| a.distance(*b) <= SHARE * self.limit_cm[joint])
        };
        let curves = self.raw.curves().iter().zip(&self.curve_limit);
        let mut curves = curves.map(|(curve, limit)| {
            f64::from(curve.values[0]) - f64::from(curve.values[last]) <= SHARE * limit
                && f64::from(curve.values[last]) - f64::from(curve.values[0]) <= SHARE * limit
        });
        last > 1 && (0..self.joints()).all(is_near) && curves.all(|is_near| is_near)
    }

    pub(super) fn joints(&self) -> usize {
        self.raw.joints()
    }

    pub(super) fn skeleton(&self) -> &Skeleton {
        self.raw.skeleton()
    }

    /// Returns a joint's raw transforms relative to the parent, from sample `first` on.
    pub(super) fn local(&self, joint: usize, first: usize) -> &[Frame] {
        &self.local[joint * self.raw.samples() + first..(joint + 1) * self.raw.samples()]
    }

    /// Returns the transform of a joint whose tracks decode to `local`. For an additive clip, the
    /// base is added to `local`. Otherwise the transform is `local` itself.
    pub(super) fn with_base(&self, joint: usize, sample: usize, local: &Frame) -> Frame {
        match &self.base {
            Some(base) => base[joint * self.raw.samples() + sample].with(local),
            None => *local,
        }
    }

    /// Returns the inverse of [`with_base`](Self::with_base): the transform to which a joint's
    /// tracks must decode, so that the joint has the transform `whole`.
    pub(super) fn without_base(&self, joint: usize, sample: usize, whole: &Frame) -> Frame {
        match &self.base {
            Some(base) => whole.on_top_of(&base[joint * self.raw.samples() + sample]),
            None => *whole,
        }
    }

    /// Returns a joint's raw transforms in object space, from sample `first` on.
    pub(super) fn object(&self, joint: usize, first: usize) -> &[Frame] {
        &self.object[joint * self.raw.samples() + first..(joint + 1) * self.raw.samples()]
    }

    pub(super) fn shell(&self, joint: usize, sample: usize) -> &[DVec3; 3] {
        &self.shells[joint * self.raw.samples() + sample]
    }

    /// Returns the current limits, so that the caller can restore them later.
    pub(super) fn limits(&self) -> [Vec<f64>; 3] {
        [self.limit_cm.clone(), self.least_limit_cm.clone(), self.curve_limit.clone()]
    }

    pub(super) fn set_limits(&mut self, limits: [Vec<f64>; 3]) {
        [self.limit_cm, self.least_limit_cm, self.curve_limit] = limits;
    }

    /// Multiplies all limits by `share`.
    pub(super) fn tighten(&mut self, share: f64) {
        for limits in [&mut self.limit_cm, &mut self.least_limit_cm, &mut self.curve_limit] {
            limits.iter_mut().for_each(|limit| *limit *= share);
        }
    }
}

/// Extends the reaches of a joint and its ancestors to the joint's points, at the distance `shell`.
/// The reach of the scale is extended for a scale of 1.
fn extend_reaches(
    skeleton: &Skeleton,
    joint: usize,
    shell: f64,
    (pose, posed): (&[Transform], &[Frame]),
    [reach_cm, scale_reach_cm]: [&mut [f64]; 2],
) {
    let mut above = Some(joint);
    while let Some(ancestor) = above {
        let reach = posed[joint].translation.distance(posed[ancestor].translation) + shell;
        reach_cm[ancestor] = reach_cm[ancestor].max(reach);
        if pose[ancestor].scale == [1.0; 3] {
            scale_reach_cm[ancestor] = scale_reach_cm[ancestor].max(reach);
        }
        above = skeleton.parent(ancestor);
    }
}

/// Raises the limit of each joint to the minimum at its distance from the origin. `object` contains
/// the transforms in object space, by joint, then by sample.
fn raise_limits(limit_cm: &mut [f64], object: &[Frame], shell_cm: &[f64], samples: usize) {
    for (joint, limit) in limit_cm.iter_mut().enumerate() {
        let object = &object[joint * samples..(joint + 1) * samples];
        let far = object.iter().map(|frame| frame.translation.length()).fold(0.0, f64::max);
        *limit = limit.max(LEAST_SHARE * (far + shell_cm[joint]));
    }
}

/// For each curve, the largest error that it may have.
fn curve_limits(raw: &RawClip) -> Vec<f64> {
    let limits = raw.curves().iter().map(|curve| {
        let far = curve.values.iter().fold(0.0_f32, |far, value| far.max(value.abs()));
        f64::from(curve.precision).max(LEAST_SHARE * f64::from(far))
    });
    limits.collect()
}

/// Returns the distance from a joint to the farthest point below it if its scale in object space
/// were `scale`. The real distance cannot be divided by the real scale, because that may be 0.
fn reach_of_scale(
    skeleton: &Skeleton,
    joint: usize,
    scale: DVec3,
    (own, posed): (&[Frame], &[Frame]),
    shell_cm: &[f64],
) -> f64 {
    // For each joint from this one on, `placed` holds its offset from this joint and its scale.
    // `None` marks a joint that is not a descendant.
    let mut placed = vec![None; own.len() - joint];
    placed[0] = Some((DVec3::ZERO, scale));
    let mut reach = shell_cm[joint] * scale.abs().max_element();
    for below in joint + 1..own.len() {
        let Some(parent) = skeleton.parent(below).filter(|parent| *parent >= joint) else {
            continue;
        };
        let Some((offset, scale)) = placed[parent - joint] else { continue };
        let offset = offset + posed[parent].rotation * (own[below].translation * scale);
        let scale = scale * own[below].scale;
        placed[below - joint] = Some((offset, scale));
        reach = reach.max(offset.length() + shell_cm[below] * scale.abs().max_element());
    }
    reach
}

/// For each joint, the smallest limit of the joint and its descendants.
fn least_below(skeleton: &Skeleton, limits: &[f64]) -> Vec<f64> {
    let mut least = limits.to_vec();
    for joint in (0..limits.len()).rev() {
        if let Some(parent) = skeleton.parent(joint) {
            least[parent] = least[parent].min(least[joint]);
        }
    }
    least
}
