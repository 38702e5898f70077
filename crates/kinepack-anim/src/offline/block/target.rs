//! What a clip must come near to: the raw one, relative to the parents and in object space, and how
//! near it must come.

use glam::DVec3;

use crate::measure::{Frame, object_space};
use crate::{RawClip, Skeleton, additive};

pub(super) struct Target<'a> {
    pub(super) raw: &'a RawClip,
    /// Samples that are coded.
    pub(super) samples: usize,
    /// By joint, then by sample: relative to the parent.
    local: Vec<Frame>,
    /// What that is on top of, of an additive clip.
    base: Option<Vec<Frame>>,
    /// In object space.
    object: Vec<Frame>,
    /// The points at which errors are measured.
    shells: Vec<[DVec3; 3]>,
    /// By joint: the distance of those from the joint, and how far off they may be.
    pub(super) shell_cm: Vec<f64>,
    pub(super) limit_cm: Vec<f64>,
    /// The least of the joint's and those below it.
    pub(super) least_limit_cm: Vec<f64>,
    /// How far a rotation of the joint reaches: to the farthest point below it in any sample.
    pub(super) reach_cm: Vec<f64>,
    /// How far a change of the joint's scale reaches, for each unit of it: the same distance if
    /// that scale were 1.
    pub(super) scale_reach_cm: Vec<f64>,
    /// The largest scale of what the joint hangs below, in any sample.
    pub(super) scale_above: Vec<f64>,
}

impl<'a> Target<'a> {
    pub(super) fn new(
        raw: &'a RawClip,
        base: Option<&RawClip>,
        shell_cm: Vec<f64>,
        limit_cm: Vec<f64>,
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
                let mut above = Some(joint);
                while let Some(ancestor) = above {
                    let reach =
                        posed[joint].translation.distance(posed[ancestor].translation) + shell;
                    reach_cm[ancestor] = reach_cm[ancestor].max(reach);
                    if pose[ancestor].scale == [1.0; 3] {
                        scale_reach_cm[ancestor] = scale_reach_cm[ancestor].max(reach);
                    }
                    above = skeleton.parent(ancestor);
                }
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
        };
        if target.is_loop() {
            target.samples -= 1;
        }
        target
    }

    /// Whether the last sample is as good as the first.
    pub(super) fn loops(&self) -> bool {
        self.samples < self.raw.samples()
    }

    fn is_loop(&self) -> bool {
        const SHARE: f64 = 0.1;
        let last = self.samples - 1;
        // Where the first sample would be in the place of the last: on top of another pose of the
        // base.
        let first: Vec<_> = (0..self.joints())
            .map(|joint| self.whole(joint, last, &self.local(joint, 0)[0]))
            .collect();
        let mut posed = first.clone();
        object_space(self.skeleton(), &first, &mut posed);
        let is_near = |joint: usize| {
            let (first, last) = (posed[joint].shell(self.shell_cm[joint]), self.shell(joint, last));
            first.iter().zip(last).all(|(a, b)| a.distance(*b) <= SHARE * self.limit_cm[joint])
        };
        last > 1 && (0..self.joints()).all(is_near)
    }

    pub(super) fn joints(&self) -> usize {
        self.raw.joints()
    }

    pub(super) fn skeleton(&self) -> &Skeleton {
        self.raw.skeleton()
    }

    /// Relative to the parent, from a sample on.
    pub(super) fn local(&self, joint: usize, first: usize) -> &[Frame] {
        &self.local[joint * self.raw.samples() + first..(joint + 1) * self.raw.samples()]
    }

    /// Where a joint is relative to its parent whose track decodes to `local`: that itself, or on
    /// top of the base.
    pub(super) fn whole(&self, joint: usize, sample: usize, local: &Frame) -> Frame {
        match &self.base {
            Some(base) => base[joint * self.raw.samples() + sample].with(local),
            None => *local,
        }
    }

    /// What a track must decode to for its joint to be at `whole` relative to its parent.
    pub(super) fn own(&self, joint: usize, sample: usize, whole: &Frame) -> Frame {
        match &self.base {
            Some(base) => whole.on_top_of(&base[joint * self.raw.samples() + sample]),
            None => *whole,
        }
    }

    /// In object space, from a sample on.
    pub(super) fn object(&self, joint: usize, first: usize) -> &[Frame] {
        &self.object[joint * self.raw.samples() + first..(joint + 1) * self.raw.samples()]
    }

    pub(super) fn shell(&self, joint: usize, sample: usize) -> &[DVec3; 3] {
        &self.shells[joint * self.raw.samples() + sample]
    }

    /// Holds all joints to a share of what they may be off.
    pub(super) fn tighten(&mut self, share: f64) {
        for limits in [&mut self.limit_cm, &mut self.least_limit_cm] {
            limits.iter_mut().for_each(|limit| *limit *= share);
        }
    }
}

/// The distance from a joint to the farthest point below it if its scale in object space were
/// `scale`. The real distance cannot be divided by the real scale, because that may be 0.
fn reach_of_scale(
    skeleton: &Skeleton,
    joint: usize,
    scale: DVec3,
    (own, posed): (&[Frame], &[Frame]),
    shell_cm: &[f64],
) -> f64 {
    // By joint from this one on: where it would be relative to this one, and its scale, if it hangs
    // below this one.
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

fn least_below(skeleton: &Skeleton, limits: &[f64]) -> Vec<f64> {
    let mut least = limits.to_vec();
    for joint in (0..limits.len()).rev() {
        if let Some(parent) = skeleton.parent(joint) {
            least[parent] = least[parent].min(least[joint]);
        }
    }
    least
}
