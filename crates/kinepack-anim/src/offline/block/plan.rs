//! Plans the parameters that a clip stores once. They are the kind of each track, the references
//! and axes of rotations, the middles of vectors, and the relative steps of components.

use glam::{DMat3, DQuat, DVec3, Vec3};

use crate::block::{BlockLength, Constant, Kind, MAX_NUMBER, Track, animated};
use crate::measure::Frame;
use crate::{Channel, Rig, TrackId};

use super::curves::{self, PlannedCurve};
use super::options::BlockOptions;
use super::rotations::{
    axes_codes, constant_codes, constant_rotation, reference_codes, relative_parameters,
    rotation_from_codes, turn,
};
use super::steps::step_code;
use super::target::Target;

/// A track is constant if it stays within this share of its limit around a value.
const STILL: f64 = 0.1;
/// A constant from the rig must be within this share of the usual tolerance. A track's own constant
/// is usually exact, but a shared one has an error that is always in the same direction.
pub(super) const SHARED: f64 = 0.1;
/// A component is dead if it never moves a point by more than this share of the limit.
const DEAD: f64 = 0.3;
/// The size of a step, in units of the limit divided by the reach. The error of a single component
/// is at most half a step.
const STEP: f64 = 0.25;
/// A rotation is near the end of its chain if at most this many descendants have animated
/// rotations.
const NEAR_END: usize = 1;
/// The factor by which the steps of a rotation near the end of its chain are larger. The errors of
/// such a rotation add to the errors of only a few other rotations.
const COARSER_NEAR_END: f64 = 1.189_207_115_002_721; // 2^(1/4), one step

/// A translation is far if it moves by more than this multiple of its limit, which is 13 m for a
/// limit of 0.01 cm. The rounding errors of `f32` are then a few per cent of the limit.
const FAR: f64 = (1 << 17) as f64;

/// The choices for a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Choices {
    pub(super) block: BlockLength,
    /// Whether references and axes have 16 bits.
    pub(super) is_fine: bool,
    /// The share of a joint's position error that its rotation corrects at the points that the
    /// joint moves.
    pub(super) aim: f64,
    /// Whether tracks may share parameters with the rig.
    pub(super) is_of_rig: bool,
}

/// Whether a track shares its reference or middle with the rig, and whether it shares its axes and
/// steps.
pub(super) type Shares = [bool; 2];

/// The size of each code of a rig's references and axes, in bits.
pub(super) const RIG_BITS: u32 = 16;

pub(super) struct Plan {
    pub(super) choices: Choices,
    /// The kinds of tracks, by joint, then by channel.
    pub(super) kinds: Vec<[Kind; 3]>,
    pub(super) constants: Vec<Constant>,
    /// The transforms of joints without their animated tracks: the bind pose with the constants
    /// applied.
    pub(super) still: Vec<Frame>,
    /// The animated tracks: rotations, then translations, then scales.
    pub(super) tracks: Vec<PlannedTrack>,
    /// The index in `tracks`, by joint, then by channel.
    pub(super) track_of: Vec<[Option<usize>; 3]>,
    pub(super) curves: Vec<PlannedCurve>,
}

#[derive(Clone, Debug)]
pub(super) struct PlannedTrack {
    pub(super) id: TrackId,
    pub(super) reference: DQuat,
    pub(super) axes: DQuat,
    pub(super) middle: DVec3,
    /// Whether segments store anchors for the track, which then replace the middle.
    pub(super) is_far: bool,
    pub(super) codes: [[u16; 3]; 2],
    /// The steps of the three components, or 0 for a dead component.
    pub(super) steps: [u8; 3],
    /// The steps that the track would have without a rig.
    pub(super) own_steps: [u8; 3],
    pub(super) shares: Shares,
    pub(super) aim: Aim,
}

/// Describes how a joint's rotation can correct an error of the joint's position.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aim {
    /// The sum of the points that the joint moves, relative to the joint.
    pub(super) moment: DVec3,
    /// The inverse of the inertia of the points that the joint moves.
    pub(super) inverse: DMat3,
}

impl PlannedTrack {
    pub(super) fn contents(&self) -> Track {
        Track {
            channel: self.id.channel,
            codes: self.codes,
            middle: self.middle.as_vec3().to_array(),
            steps: self.steps,
            shares: self.shares,
            is_far: self.is_far,
        }
    }
}

impl Plan {
    /// Returns a plan with the choices `choices`. `shares` returns which parameters a track shares
    /// with the rig.
    pub(super) fn new(
        target: &Target,
        options: &BlockOptions,
        choices: Choices,
        shares: impl Fn(TrackId) -> Shares,
    ) -> Self {
        let joints = target.joints();
        let rig = options.rig.as_deref().filter(|_| choices.is_of_rig);
        let mut plan = Self {
            choices,
            kinds: vec![[Kind::Default; 3]; joints],
            constants: Vec::new(),
            still: Vec::with_capacity(joints),
            tracks: Vec::new(),
            track_of: vec![[None; 3]; joints],
            curves: curves::plan(target),
        };
        for joint in 0..joints {
            plan.find_kinds(target, joint, options.pins.contains(&joint), rig);
        }
        for id in animated(&plan.kinds) {
            plan.track_of[usize::from(id.joint)][id.channel as usize] = Some(plan.tracks.len());
            let shared = rig.and_then(|rig| rig.track(id));
            let shares = if shared.is_some() { shares(id) } else { [false; 2] };
            let shared = shared.copied().unwrap_or(Track::new(id.channel));
            let track = match id.channel {
                Channel::Rotation => plan.rotation(target, id, &shared, shares),
                _ => plan.vector(target, id, &shared, shares),
            };
            plan.tracks.push(track);
        }
        plan
    }

    /// Chooses the kinds of a joint's tracks, and computes their constants.
    fn find_kinds(&mut self, target: &Target, joint: usize, is_pinned: bool, rig: Option<&Rig>) {
        let bind = Frame::from(&target.skeleton().joints()[joint].bind);
        let mut still = bind;
        let frames = &target.local(joint, 0)[..target.samples];
        let id = |channel| TrackId { joint: joint as u16, channel };
        let shared = |channel| rig?.constant(id(channel));
        let farthest_turn =
            |from: DQuat| frames.iter().map(|frame| turn(from, frame.rotation)).fold(0.0, f64::max);
        let tolerance = |channel| tolerance(target, id(channel));
        if is_pinned {
            self.kinds[joint][0] = Kind::Animated;
        } else if farthest_turn(bind.rotation) > tolerance(Channel::Rotation) {
            let own = Constant::Rotation(constant_codes(frames.iter().map(|frame| frame.rotation)));
            let away = |constant: Constant| {
                farthest_turn(constant_rotation(constant)) / tolerance(Channel::Rotation)
            };
            let (kind, constant) = kind_of(shared(Channel::Rotation), own, away);
            self.kinds[joint][0] = kind;
            still.rotation = constant.map_or(bind.rotation, constant_rotation);
            self.constants.extend(constant.filter(|_| kind == Kind::Constant));
        }
        type Vector = (Channel, fn(&Frame) -> DVec3);
        let vectors: [Vector; 2] = [
            (Channel::Translation, |frame| frame.translation),
            (Channel::Scale, |frame| frame.scale),
        ];
        for (channel, vector) in vectors {
            let farthest_move = |from: DVec3| {
                frames.iter().map(|frame| vector(frame).distance(from)).fold(0.0, f64::max)
            };
            if is_pinned && channel == Channel::Translation {
                self.kinds[joint][1] = Kind::Animated;
            } else if farthest_move(vector(&bind)) > tolerance(channel) {
                let own = Constant::Vector(middle(frames, vector).as_vec3().to_array());
                let away = |constant: Constant| {
                    farthest_move(constant_vector(constant)) / tolerance(channel)
                };
                let (kind, constant) = kind_of(shared(channel), own, away);
                self.kinds[joint][channel as usize] = kind;
                match (channel, constant.map(constant_vector)) {
                    (_, None) => {}
                    (Channel::Scale, Some(scale)) => still.scale = scale,
                    (_, Some(translation)) => still.translation = translation,
                }
                self.constants.extend(constant.filter(|_| kind == Kind::Constant));
            }
        }
        self.still.push(still);
    }

    /// Plans a translation or scale track.
    fn vector(&self, target: &Target, id: TrackId, shared: &Track, shares: Shares) -> PlannedTrack {
        let joint = usize::from(id.joint);
        let frames = &target.local(joint, 0)[..target.samples];
        let vector: fn(&Frame) -> DVec3 = match id.channel {
            Channel::Scale => |frame| frame.scale,
            _ => |frame| frame.translation,
        };
        let middle =
            if shares[0] { Vec3::from(shared.middle).as_dvec3() } else { middle(frames, vector) };
        let size = vector_size(target, id);
        let is_far = id.channel == Channel::Translation && is_far(frames, size);
        let is_dead = |axis: usize| {
            let moves =
                frames.iter().map(|frame| (vector(frame) - middle)[axis].abs()).fold(0.0, f64::max);
            moves * target.scale_above[joint] <= dead_share(shares) * size
        };
        // A pinned joint corrects the errors of its ancestors, which may be along any axis.
        let corrects_others = id.channel == Channel::Translation;
        let own_steps = [step_code(size); 3];
        let steps = if shares[1] { shared.steps } else { own_steps };
        let is_live = [0, 1, 2].map(|axis| !is_dead(axis) || corrects_others);
        let steps = [0, 1, 2].map(|axis| if is_live[axis] { steps[axis] } else { 0 });
        let aim = Aim::default();
        PlannedTrack {
            id,
            reference: DQuat::IDENTITY,
            axes: DQuat::IDENTITY,
            middle: if is_far { DVec3::ZERO } else { middle },
            is_far,
            codes: [[0; 3]; 2],
            steps,
            own_steps,
            shares: if is_far { [false, shares[1]] } else { shares },
            aim,
        }
    }

    /// Plans a rotation track.
    fn rotation(
        &self,
        target: &Target,
        id: TrackId,
        shared: &Track,
        shares: Shares,
    ) -> PlannedTrack {
        let joint = usize::from(id.joint);
        let frames = &target.local(joint, 0)[..target.samples];
        let bits = if self.choices.is_fine { 16 } else { 8 };
        let rotations = || frames.iter().map(|frame| (frame.rotation, 1.0));
        let shared_or = |part: usize, own: &dyn Fn() -> [u16; 3]| {
            let (codes, bits) =
                if shares[part] { (shared.codes[part], RIG_BITS) } else { (own(), bits) };
            (codes, rotation_from_codes(codes, bits))
        };
        let (reference_codes, reference) = shared_or(0, &|| reference_codes(rotations(), bits));
        let (axes_codes, axes) = shared_or(1, &|| axes_codes(reference, rotations(), bits));
        let vectors: Vec<_> =
            rotations().map(|(rotation, _)| relative_parameters(reference, rotation)).collect();
        let (inertia, aim) = self.inertia(target, joint);
        let limit = target.least_limit_cm[joint];
        let limit_of_steps = self.limit_of_steps_cm(target, joint);
        let own_steps =
            DVec3::AXES.map(|axis| step_code(step_size(axes * axis, inertia, limit_of_steps)));
        let all_steps = if shares[1] { shared.steps } else { own_steps };
        let steps = [0, 1, 2].map(|index| {
            let largest =
                vectors.iter().map(|p| p.dot(axes * DVec3::AXES[index]).abs()).fold(0.0, f64::max);
            let is_dead = 4.0 * largest * target.reach_cm[joint] <= dead_share(shares) * limit;
            if is_dead { 0 } else { all_steps[index] }
        });
        let codes = [reference_codes, axes_codes];
        PlannedTrack {
            id,
            reference,
            axes,
            middle: DVec3::ZERO,
            is_far: false,
            codes,
            steps,
            own_steps,
            shares,
            aim,
        }
    }

    /// Returns the error limit for which the steps of a joint's rotation are planned.
    pub(super) fn limit_of_steps_cm(&self, target: &Target, joint: usize) -> f64 {
        let mut is_below = vec![false; target.joints()];
        is_below[joint] = true;
        let mut turning = 0;
        for below in joint + 1..target.joints() {
            is_below[below] =
                target.skeleton().parent(below).is_some_and(|parent| is_below[parent]);
            turning += usize::from(is_below[below] && self.kinds[below][0] == Kind::Animated);
        }
        let share = if turning <= NEAR_END { COARSER_NEAR_END } else { 1.0 };
        share * target.least_limit_cm[joint]
    }

    /// Returns the mean inertia of the points that a joint's rotation moves, in the joint's axes.
    /// Also returns how that rotation can correct an error of the joint's position. For a
    /// descendant with an animated rotation, only the position counts, since the descendant's own
    /// rotation corrects the rest.
    pub(super) fn inertia(&self, target: &Target, joint: usize) -> (DMat3, Aim) {
        let skeleton = target.skeleton();
        let size_at = |sample: usize| target.object(joint, sample)[0].scale.abs().max_element();
        let middle = target.samples / 2;
        let largest = (0..target.samples)
            .max_by(|a, b| size_at(*a).total_cmp(&size_at(*b)))
            .unwrap_or(middle);
        // In a sample in which the joint's scale is small, the joint's rotation hardly moves
        // points.
        let is_small = 2.0 * size_at(middle) < size_at(largest);
        let sample = if is_small { largest } else { middle };
        let own = target.object(joint, sample)[0];
        let back = own.rotation.inverse();
        let is_turning = |joint: usize| self.kinds[joint][0] == Kind::Animated;
        let mut inertia = DMat3::ZERO;
        if is_small {
            // The scale of other axes may be large in other samples.
            let shell_cm = target.shell_cm[joint] * size_at(largest);
            inertia += DMat3::from_diagonal(DVec3::splat(shell_cm * shell_cm / 6.0));
        }
        let mut moment = DVec3::ZERO;
        let mut count = 0.0;
        // `is_body` marks the joints that move with this joint as a rigid body. Parents precede
        // their children.
        let mut is_body = vec![false; target.joints()];
        is_body[joint] = true;
        for below in joint..target.joints() {
            let parent = skeleton.parent(below);
            if below != joint && !parent.is_some_and(|parent| is_body[parent]) {
                continue;
            }
            is_body[below] = below == joint || !is_turning(below);
            if is_body[below] {
                for point in target.shell(below, sample) {
                    let arm = back * (*point - own.translation);
                    inertia += inertia_of(arm) * (1.0 / 3.0);
                    moment += arm / 3.0;
                }
            } else {
                let arm = back * (target.object(below, sample)[0].translation - own.translation);
                inertia += inertia_of(arm);
                moment += arm;
            }
            count += 1.0;
        }
        let is_regular = inertia.determinant().abs() > 1e-12;
        let inverse = if is_regular { inertia.inverse() } else { DMat3::ZERO };
        (inertia * (1.0 / count), Aim { moment, inverse })
    }
}

/// Returns the vector that a constant represents.
pub(super) fn constant_vector(constant: Constant) -> DVec3 {
    match constant {
        Constant::Vector(vector) => Vec3::from(vector).as_dvec3(),
        Constant::Rotation(_) => DVec3::ZERO,
    }
}

/// Returns the inertia of a point of mass 1 at `arm`.
fn inertia_of(arm: DVec3) -> DMat3 {
    let outer = DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z);
    DMat3::from_diagonal(DVec3::splat(arm.length_squared())) - outer
}

/// Returns whether a translation moves so far that its segments need anchors. `size` is the limit
/// of the translation's errors. A translation whose numbers are too large for anchors is never far.
fn is_far(frames: &[Frame], size: f64) -> bool {
    let places = || frames.iter().map(|frame| frame.translation);
    range(places()) > FAR * size
        && places().all(|place| place.abs().max_element() <= f64::from(MAX_NUMBER))
}

/// Returns the largest range of the points along an axis.
pub(super) fn range(points: impl Iterator<Item = DVec3>) -> f64 {
    let (mut min, mut max) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for point in points {
        (min, max) = (min.min(point), max.max(point));
    }
    (max - min).max_element()
}

/// Returns the middle of each axis' range, rounded to `f32`.
pub(super) fn middle(frames: &[Frame], vector: impl Fn(&Frame) -> DVec3) -> DVec3 {
    let (mut min, mut max) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for frame in frames {
        (min, max) = (min.min(vector(frame)), max.max(vector(frame)));
    }
    ((min + max) * 0.5).as_vec3().as_dvec3()
}

/// Returns the maximum distance of a track from its constant.
pub(super) fn tolerance(target: &Target, id: TrackId) -> f64 {
    let joint = usize::from(id.joint);
    let reach_cm = match id.channel {
        Channel::Rotation => target.reach_cm[joint],
        Channel::Translation => target.scale_above[joint],
        Channel::Scale => target.scale_above[joint] * target.scale_reach_cm[joint],
    };
    STILL * target.least_limit_cm[joint] / reach_cm
}

/// Returns the size of the steps of a translation or a scale.
pub(super) fn vector_size(target: &Target, id: TrackId) -> f64 {
    let joint = usize::from(id.joint);
    let reach_cm = if id.channel == Channel::Scale { target.scale_reach_cm[joint] } else { 1.0 };
    target.least_limit_cm[joint] / reach_cm
}

/// Returns the maximum motion of a dead component, as a share of the limit.
fn dead_share(shares: Shares) -> f64 {
    if shares.contains(&true) { SHARED * DEAD } else { DEAD }
}

/// Returns the size of steps along `axis` for a rotation that moves points with the inertia
/// `inertia`.
pub(super) fn step_size(axis: DVec3, inertia: DMat3, limit_cm: f64) -> f64 {
    STEP * limit_cm / axis.dot(inertia * axis).max(1e-9).sqrt()
}

/// Returns the kind of a track that differs from the bind pose. The function tries the rig's
/// constant first, and then the track's own constant. If neither is near enough, the track is
/// animated. `away` returns the track's largest distance from a constant, as a multiple of the
/// tolerance.
fn kind_of(
    shared: Option<Constant>,
    own: Constant,
    away: impl Fn(Constant) -> f64,
) -> (Kind, Option<Constant>) {
    match shared.filter(|shared| away(*shared) <= SHARED) {
        Some(shared) => (Kind::Shared, Some(shared)),
        None if away(own) <= 1.0 => (Kind::Constant, Some(own)),
        None => (Kind::Animated, None),
    }
}
