//! Determines whether a clip travels, and which of its joints carries the motion.

use kinepack_anim::pose::{Axis, Passed, RootJoint, RootMotion};
use kinepack_anim::{AnyClip, Joint, RawClip, Skeleton, Transform};
use serde::Serialize;

use super::joints::joint_name;

/// The smallest turn that is reported.
const TURNS_DEGREES: f64 = 15.0;

/// The motion of a clip on the ground.
#[derive(Serialize)]
pub(crate) struct Travel {
    /// Whether the clip moves farther than a tenth of the skeleton's size.
    pub(crate) travels: bool,
    /// The joint that carries the motion.
    joint: String,
    joint_index: usize,
    /// The largest distance of this joint from its start, in cm.
    way_cm: f32,
    /// The turn from the start to the end, in degrees.
    turn_degrees: f64,
}

impl Travel {
    pub(crate) fn of_raw(raw: &RawClip) -> Self {
        let last = raw.samples() - 1;
        let pose = |time_s: f32| raw.pose(((time_s * raw.rate_hz()).round() as usize).min(last));
        Self::new(raw.skeleton(), raw.duration_s(), |time_s, out| {
            out.copy_from_slice(pose(time_s));
        })
    }

    /// Returns the motion of a clip, or `None` for an additive clip, whose skeleton has the
    /// identity as its bind pose.
    pub(crate) fn of_clip(clip: &AnyClip, skeleton: &Skeleton) -> Option<Self> {
        let is_still = |joint: &Joint| joint.bind == Transform::IDENTITY;
        if skeleton.len() > 1 && skeleton.joints().iter().all(is_still) {
            return None;
        }
        let mut player = clip.player(skeleton).ok()?;
        Some(Self::new(skeleton, clip.duration_s(), |time_s, out| player.sample(time_s, out)))
    }

    fn new(
        skeleton: &Skeleton,
        duration_s: f32,
        mut sample: impl FnMut(f32, &mut [Transform]),
    ) -> Self {
        let motion = RootMotion::on_ground(Axis::Y);
        let root = RootJoint::find(skeleton, &motion, duration_s, &mut sample);
        let mut pose = skeleton.bind_pose();
        let at = |time_s: f32| {
            sample(time_s, &mut pose);
            root.in_model(&pose[root.joint()])
        };
        let all = Passed::new(duration_s, 0.0, f64::from(duration_s));
        let [.., w] = motion.delta(at, &all).rotation;
        Self {
            travels: root.travels(),
            joint: joint_name(skeleton, root.joint()),
            joint_index: root.joint(),
            way_cm: root.way_cm(),
            turn_degrees: 2.0 * f64::from(w.abs()).min(1.0).acos().to_degrees(),
        }
    }

    /// Returns the distance, and the joint that carries the motion, as short text.
    pub(crate) fn short(&self) -> String {
        format!("{:.0} cm by {}", self.way_cm, self.joint)
    }

    /// Returns the motion as a line of text.
    pub(crate) fn text(&self) -> String {
        let Self { joint, joint_index, way_cm, turn_degrees, .. } = self;
        let turn = match *turn_degrees >= TURNS_DEGREES {
            true => format!(" and turns {turn_degrees:.0}°"),
            false => String::new(),
        };
        let verb = if self.travels { "travels" } else { "stays in place: it goes" };
        format!("{verb} {way_cm:.1} cm on the ground{turn}, by joint {joint_index}, {joint}")
    }
}
