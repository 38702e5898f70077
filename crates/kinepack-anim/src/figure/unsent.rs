//! Finds the joint that most likely moves in a way that the figure does not send.

use std::fmt;

use super::plan::Plan;
use super::{FigureError, FigurePose};
use crate::Transform;
use crate::measure::Frame;

/// How a joint moves that a figure does not send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnsentMotion {
    /// The joint leaves its place in the bind pose, for example because its bone changes its
    /// length. Only joints with [`Motion::Moves`](super::Motion::Moves) may.
    Moves,
    /// The joint changes its scale, which no figure sends. Animations sometimes have a channel of
    /// scales that is not meant.
    Scales,
    /// The joint turns although it has [`Motion::Still`](super::Motion::Still), or about another
    /// axis than that of its [`Motion::Hinge`](super::Motion::Hinge).
    Turns,
}

impl fmt::Display for UnsentMotion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Moves => {
                "is not at its place in the bind pose, as if its bone changed its length, but the \
                 options do not let it move"
            }
            Self::Scales => "has another scale than in the bind pose, and figures send no scales",
            Self::Turns => "turns, but was declared still or a hinge about another axis",
        })
    }
}

/// Makes the error of a joint that would be `off_cm` off. `own` is the joint in model space, and
/// `above` has the joints above it.
#[cold]
pub(super) fn error(
    plan: &Plan,
    pose: &FigurePose<'_>,
    (joint, own): (usize, &Frame),
    above: &[Frame],
    off_cm: f64,
) -> FigureError {
    let mut found = (f64::MIN_POSITIVE, joint, UnsentMotion::Moves);
    let mut next = Some(joint);
    while let Some(index) = next {
        let planned = &plan.joints[index];
        let frame = if index == joint { own } else { &above[index] };
        let scale_above = planned.parent.map_or(1.0, |parent| largest(&above[parent]));
        // What turns or scales a joint moves the points around `joint` by this length's share.
        let reach_cm =
            (own.translation - frame.translation).length() + plan.shell_cm * largest(own);
        for (motion, effect_cm) in
            effects(planned.unsent(&pose.joints[index]), scale_above, reach_cm)
        {
            if effect_cm > found.0 {
                found = (effect_cm, index, motion);
            }
        }
        next = planned.parent;
    }
    let (_, mover, motion) = found;
    let name = plan.joints[mover].name.clone();
    FigureError::Unsent { joint, off_cm, mover, name, motion }
}

/// The differences of a joint's transform that the figure does not send.
pub(super) struct Unsent {
    /// The distance from the place in the bind pose.
    pub(super) moved_cm: f64,
    /// The largest change of a factor, relative to the factor in the bind pose.
    pub(super) scaled_ratio: f64,
    pub(super) turned_rad: f64,
}

/// How far each difference moves points, in cm.
fn effects(of: Unsent, scale_above: f64, reach_cm: f64) -> [(UnsentMotion, f64); 3] {
    [
        (UnsentMotion::Moves, of.moved_cm * scale_above),
        (UnsentMotion::Scales, of.scaled_ratio * reach_cm),
        (UnsentMotion::Turns, of.turned_rad * reach_cm),
    ]
}

fn largest(frame: &Frame) -> f64 {
    frame.scale.abs().max_element()
}

/// The difference of two scales, relative to the second one.
pub(super) fn scaled_ratio(transform: &Transform, bind: &Transform) -> f64 {
    let (own, bind) = (transform.scale64(), bind.scale64());
    (own - bind).abs().max_element() / bind.abs().max_element().max(f64::MIN_POSITIVE)
}
