//! What a clip says once: what becomes of each track, references and axes of rotations, middles of vectors, and how large the steps of
//! components are relative to each other.

use glam::{DMat3, DQuat, DVec3};

use crate::block::{BlockLength, Constant, Kind, Track};
use crate::measure::Frame;
use crate::{Channel, TrackId};

use super::eigen::eigenvectors;
use super::target::Target;

/// The exponent of a segment's step that steps of components are made for.
pub(super) const USUAL_STEP: u8 = 96;
/// A track that is nowhere farther than this share of its limit from one value has that value.
const STILL: f64 = 0.1;
/// A component that never moves anything by more than this share of the limit is left out.
const DEAD: f64 = 0.15;
/// Steps, in limits by reach: that of a component alone is off by half of it.
const STEP: f64 = 0.25;

/// What may be chosen for a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Choices {
    pub(super) block: BlockLength,
    /// Whether references and axes have 16 bits.
    pub(super) is_fine: bool,
    /// How much of the error of its place a joint's rotation makes up for at the tips of what it moves.
    pub(super) aim: f64,
}

pub(super) struct Plan {
    pub(super) choices: Choices,
    /// By joint, then by channel.
    pub(super) kinds: Vec<[Kind; 3]>,
    pub(super) constants: Vec<Constant>,
    /// What each joint is where nothing of it moves: its transform in the bind pose and constants.
    pub(super) still: Vec<Frame>,
    /// The tracks that move, rotations first, then translations, then scales.
    pub(super) tracks: Vec<PlannedTrack>,
    /// By joint, then by channel, the index among them.
    pub(super) track_of: Vec<[Option<usize>; 3]>,
}

#[derive(Clone, Debug)]
pub(super) struct PlannedTrack {
    pub(super) id: TrackId,
    pub(super) reference: DQuat,
    pub(super) axes: DQuat,
    pub(super) middle: DVec3,
    pub(super) codes: [u16; 6],
    /// 0 is dead.
    pub(super) steps: [u8; 3],
    pub(super) aim: Aim,
}

/// How a rotation makes up for an error of the joint's place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aim {
    /// The sum of the points that the joint moves, relative to it.
    pub(super) moment: DVec3,
    /// The inverse of their inertia.
    pub(super) inverse: DMat3,
}

impl PlannedTrack {
    pub(super) fn contents(&self) -> Track {
        Track {
            channel: self.id.channel,
            codes: self.codes,
            middle: self.middle.as_vec3().to_array(),
            steps: self.steps,
        }
    }
}

impl Plan {
    pub(super) fn new(target: &Target, pins: &[usize], choices: Choices) -> Self {
        let joints = target.joints();
        let mut plan = Self {
            choices,
            kinds: vec![[Kind::Default; 3]; joints],
            constants: Vec::new(),
            still: Vec::with_capacity(joints),
            tracks: Vec::new(),
            track_of: vec![[None; 3]; joints],
        };
        for joint in 0..joints {
            plan.find_kinds(target, joint, pins.contains(&joint));
        }
        for channel in Channel::ALL {
            for joint in 0..joints {
                if plan.kinds[joint][channel as usize] == Kind::Animated {
                    plan.track_of[joint][channel as usize] = Some(plan.tracks.len());
                    let id = TrackId { joint: joint as u16, channel };
                    let track = match channel {
                        Channel::Rotation => plan.rotation(target, id),
                        _ => plan.vector(target, id),
                    };
                    plan.tracks.push(track);
                }
            }
        }
        plan
    }

    fn find_kinds(&mut self, target: &Target, joint: usize, is_pinned: bool) {
        let bind = Frame::from(&target.skeleton().joints()[joint].bind);
        let mut still = bind;
        let frames = &target.local(joint, 0)[..target.samples];
        let limit = STILL * target.least_limit_cm[joint];
        let (reach, scale) = (target.reach_cm[joint], target.scale_above[joint]);

        let turn = |from: DQuat| {
            frames.iter().map(|frame| (from.inverse() * frame.rotation).xyz().length()).fold(0.0, f64::max) * 2.0
        };
        if is_pinned {
            self.kinds[joint][0] = Kind::Animated;
        } else if turn(bind.rotation) * reach > limit {
            let codes = rotation_codes(mean(frames), 21);
            still.rotation = rotation_of(codes, 21);
            self.kinds[joint][0] = if turn(still.rotation) * reach <= limit { Kind::Constant } else { Kind::Animated };
            if self.kinds[joint][0] == Kind::Constant {
                self.constants.push(Constant::Rotation(codes));
            }
        }
        type Vector = (Channel, fn(&Frame) -> DVec3, f64);
        let vectors: [Vector; 2] = [
            (Channel::Translation, |frame| frame.translation, scale),
            (Channel::Scale, |frame| frame.scale, scale * reach),
        ];
        for (channel, vector, reach) in vectors {
            let way = |from: DVec3| frames.iter().map(|frame| vector(frame).distance(from)).fold(0.0, f64::max);
            if is_pinned && channel == Channel::Translation {
                self.kinds[joint][1] = Kind::Animated;
            } else if way(vector(&bind)) * reach > limit {
                let middle = middle(frames, vector);
                let is_still = way(middle) * reach <= limit;
                self.kinds[joint][channel as usize] = if is_still { Kind::Constant } else { Kind::Animated };
                if is_still {
                    self.constants.push(Constant::Vector(middle.as_vec3().to_array()));
                    match channel {
                        Channel::Scale => still.scale = middle,
                        _ => still.translation = middle,
                    }
                }
            }
        }
        self.still.push(still);
    }

    fn vector(&self, target: &Target, id: TrackId) -> PlannedTrack {
        let joint = usize::from(id.joint);
        let frames = &target.local(joint, 0)[..target.samples];
        let (vector, reach): (fn(&Frame) -> DVec3, f64) = match id.channel {
            Channel::Scale => (|frame| frame.scale, target.reach_cm[joint]),
            _ => (|frame| frame.translation, 1.0),
        };
        let middle = middle(frames, vector);
        let size = target.least_limit_cm[joint] / reach;
        let is_dead = |axis: usize| {
            let moves = frames.iter().map(|frame| (vector(frame) - middle)[axis].abs()).fold(0.0, f64::max);
            moves * target.scale_above[joint] <= DEAD * size
        };
        // Pins answer for what becomes of their ancestors, which may be along any axis.
        let is_moved_by_others = id.channel == Channel::Translation;
        let step = step_code(size);
        let steps = [0, 1, 2].map(|axis| if is_dead(axis) && !is_moved_by_others { 0 } else { step });
        let aim = Aim::default();
        PlannedTrack { id, reference: DQuat::IDENTITY, axes: DQuat::IDENTITY, middle, codes: [0; 6], steps, aim }
    }

    fn rotation(&self, target: &Target, id: TrackId) -> PlannedTrack {
        let joint = usize::from(id.joint);
        let frames = &target.local(joint, 0)[..target.samples];
        let bits = if self.choices.is_fine { 16 } else { 8 };
        let reference_codes = rotation_codes(mean(frames), bits);
        let reference = rotation_of(reference_codes, bits);
        let mut spread = [[0.0; 3]; 3];
        let mut vectors = Vec::with_capacity(frames.len());
        for frame in frames {
            let p = parameters(positive(reference.inverse() * frame.rotation)).to_array();
            for (row, a) in spread.iter_mut().zip(p) {
                row.iter_mut().zip(p).for_each(|(sum, b)| *sum += a * b);
            }
            vectors.push(DVec3::from_array(p));
        }
        let [x, y, z] = eigenvectors(spread).map(DVec3::from_array);
        let z = if x.cross(y).dot(z) < 0.0 { -z } else { z };
        let axes_codes = rotation_codes(positive(DQuat::from_mat3(&DMat3::from_cols(x, y, z)).normalize()), bits);
        let axes = rotation_of(axes_codes, bits);
        let (inertia, aim) = self.inertia(target, joint);
        let limit = target.least_limit_cm[joint];
        let steps = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| {
            let axis = axes * axis;
            let largest = vectors.iter().map(|p| p.dot(axis).abs()).fold(0.0, f64::max);
            if 4.0 * largest * target.reach_cm[joint] <= DEAD * limit {
                return 0;
            }
            step_code(STEP * limit / axis.dot(inertia * axis).max(1e-9).sqrt())
        });
        let [a, b, c] = reference_codes.map(|code| code as u16);
        let [d, e, f] = axes_codes.map(|code| code as u16);
        PlannedTrack { id, reference, axes, middle: DVec3::ZERO, codes: [a, b, c, d, e, f], steps, aim }
    }

    /// The mean inertia of the points that move with a joint alone, in its own axes, and how it makes up for an error of its place. Of joints
    /// below it that are animated themselves only the place counts, since their own rotations come closer again.
    fn inertia(&self, target: &Target, joint: usize) -> (DMat3, Aim) {
        let skeleton = target.skeleton();
        let sample = target.samples / 2;
        let own = target.object(joint, sample)[0];
        let back = own.rotation.inverse();
        let is_turning = |joint: usize| self.kinds[joint][0] == Kind::Animated;
        let mut inertia = DMat3::ZERO;
        let mut moment = DVec3::ZERO;
        let mut count = 0.0;
        // Joints that move with it as one body, parents first.
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

fn inertia_of(arm: DVec3) -> DMat3 {
    let outer = DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z);
    DMat3::from_diagonal(DVec3::splat(arm.length_squared())) - outer
}

/// The rotation that is nearest to all of some.
fn mean(frames: &[Frame]) -> DQuat {
    let mut sum = [[0.0; 4]; 4];
    for q in frames.iter().map(|frame| frame.rotation.to_array()) {
        for (row, a) in sum.iter_mut().zip(q) {
            row.iter_mut().zip(q).for_each(|(sum, b)| *sum += a * b);
        }
    }
    positive(DQuat::from_array(eigenvectors(sum)[0]).normalize())
}

/// Half-way between the ends of each axis, as an f32.
fn middle(frames: &[Frame], vector: impl Fn(&Frame) -> DVec3) -> DVec3 {
    let (mut min, mut max) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for frame in frames {
        (min, max) = (min.min(vector(frame)), max.max(vector(frame)));
    }
    ((min + max) * 0.5).as_vec3().as_dvec3()
}

/// The same rotation, w not negative.
pub(super) fn positive(q: DQuat) -> DQuat {
    if q.w < 0.0 { -q } else { q }
}

/// Modified Rodrigues parameters; w is above −1.
pub(super) fn parameters(q: DQuat) -> DVec3 {
    q.xyz() / (1.0 + q.w)
}

/// The rotation of modified Rodrigues parameters.
pub(super) fn rotation_from(p: DVec3) -> DQuat {
    let n = p.length_squared();
    let d = 1.0 / (1.0 + n);
    DQuat::from_xyzw(2.0 * p.x * d, 2.0 * p.y * d, 2.0 * p.z * d, (1.0 - n) * d)
}

/// The codes of a rotation whose w is not negative.
fn rotation_codes(q: DQuat, bits: u32) -> [u32; 3] {
    let middle = f64::from(1_u32 << (bits - 1));
    parameters(q).to_array().map(|number| (number * (middle - 1.0) + middle).round() as u32)
}

fn rotation_of(codes: [u32; 3], bits: u32) -> DQuat {
    let middle = f64::from(1_u32 << (bits - 1));
    let [x, y, z] = codes.map(|code| (f64::from(code) - middle) / (middle - 1.0));
    rotation_from(DVec3::new(x, y, z)).normalize()
}

/// The code of a step of about this size, where the segment has its usual one.
fn step_code(size: f64) -> u8 {
    let quarters = 4.0 * (size.log2() + 64.0) - f64::from(USUAL_STEP) / 2.0;
    quarters.round().clamp(1.0, 255.0) as u8
}
