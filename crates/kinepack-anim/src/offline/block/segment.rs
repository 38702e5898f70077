//! One segment: coefficients for its samples, joint by joint in a closed loop. Each track is fitted to where the raw clip has the joint in object
//! space, given its parent as it is decoded, so that errors do not add up along chains.

use glam::{DQuat, DVec3};

use crate::Channel;
use crate::block::{self, MAX_LENGTH, SegmentContents};
use crate::measure::Frame;

use super::plan::{Plan, PlannedTrack, parameters, positive, rotation_from};
use super::target::Target;

/// The largest coefficient that 24 bits hold.
const LARGEST: f64 = 8_388_607.0;
/// A parent's scale below which nothing can be made up for.
const SMALLEST_SCALE: f64 = 0.05;
/// Rotations by more than this from the reference are taken from the other side: cosine of half the angle.
const FARTHEST: f64 = -0.8;

/// The samples of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) first: usize,
    pub(super) length: usize,
}

/// Three components by sample.
type Components = [[f64; MAX_LENGTH]; 3];

/// Codes segments of one clip.
pub(super) struct Coder<'a> {
    target: &'a Target<'a>,
    plan: &'a Plan,
    /// By joint, then by sample of the segment, in object space.
    decoded: Vec<Frame>,
    coefficients: Vec<i32>,
}

impl<'a> Coder<'a> {
    pub(super) fn new(target: &'a Target<'a>, plan: &'a Plan) -> Self {
        Self { target, plan, decoded: vec![Frame::IDENTITY; target.joints() * MAX_LENGTH], coefficients: Vec::new() }
    }

    /// Codes a segment with a step, and says how far off it is at most, in what is allowed; stops early where that is above `enough`.
    pub(super) fn code(&mut self, span: Span, step: u8, enough: f64) -> f64 {
        self.coefficients.clear();
        self.coefficients.resize(3 * self.plan.tracks.len() * span.length, 0);
        let mut worst: f64 = 0.0;
        for joint in 0..self.target.joints() {
            let local = self.code_joint(span, step, joint);
            worst = worst.max(self.place(span, joint, &local));
            if worst > enough {
                break;
            }
        }
        worst
    }

    /// What the last call of [`code`](Self::code) found.
    pub(super) fn contents(&self, span: Span, step: u8) -> SegmentContents {
        SegmentContents { step, length: span.length, coefficients: self.coefficients.clone() }
    }

    /// The bits of that.
    pub(super) fn bits(&self, span: Span) -> usize {
        let mut bits = 0;
        for (component, coefficients) in self.coefficients.chunks_exact(span.length).enumerate() {
            if self.plan.tracks[component / 3].steps[component % 3] != 0 {
                let block = self.plan.choices.block;
                for piece in 0..block.pieces() {
                    let own = &coefficients[block::of_piece(piece, span.length)];
                    bits += 8 + block.choose(piece, own).bits as usize;
                }
            }
        }
        bits
    }

    /// The transforms of a joint relative to its parent, as they will be decoded.
    fn code_joint(&mut self, span: Span, step: u8, joint: usize) -> [Frame; MAX_LENGTH] {
        let mut local = [self.plan.still[joint]; MAX_LENGTH];
        let tracks = self.plan.track_of[joint];
        for channel in [Channel::Scale, Channel::Translation, Channel::Rotation] {
            let Some(index) = tracks[channel as usize] else { continue };
            let track = &self.plan.tracks[index];
            let mut wanted: Components = [[0.0; MAX_LENGTH]; 3];
            match channel {
                Channel::Rotation => self.wanted_rotations(span, track, &local, &mut wanted),
                _ => self.wanted_vectors(span, track, &mut wanted),
            }
            let coefficients = &mut self.coefficients[3 * index * span.length..][..3 * span.length];
            for axis in 0..3 {
                let own = &mut coefficients[axis * span.length..][..span.length];
                transform(track, axis, step, &mut wanted[axis][..span.length], own);
            }
            for (sample, local) in local[..span.length].iter_mut().enumerate() {
                let value = DVec3::new(wanted[0][sample], wanted[1][sample], wanted[2][sample]);
                match channel {
                    Channel::Rotation => local.rotation = track.reference * rotation_from(track.axes * value),
                    Channel::Translation => local.translation = track.middle + value,
                    Channel::Scale => local.scale = track.middle + value,
                }
            }
        }
        local
    }

    fn wanted_vectors(&self, span: Span, track: &PlannedTrack, wanted: &mut Components) {
        let joint = usize::from(track.id.joint);
        let raw = self.target.local(joint, span.first);
        let object = self.target.object(joint, span.first);
        let parent = self.target.skeleton().parent(joint).map(|parent| &self.decoded[parent * MAX_LENGTH..]);
        for sample in 0..span.length {
            let value = match (track.id.channel, parent) {
                (Channel::Scale, _) => raw[sample].scale,
                (_, Some(parent)) if parent[sample].scale.abs().min_element() > SMALLEST_SCALE => {
                    let parent = &parent[sample];
                    parent.rotation.inverse() * (object[sample].translation - parent.translation) / parent.scale
                }
                _ => raw[sample].translation,
            };
            put(wanted, sample, value - track.middle);
        }
    }

    fn wanted_rotations(&self, span: Span, track: &PlannedTrack, local: &[Frame], wanted: &mut Components) {
        let joint = usize::from(track.id.joint);
        let object = self.target.object(joint, span.first);
        let parent = self.target.skeleton().parent(joint).map(|parent| &self.decoded[parent * MAX_LENGTH..]);
        let (to_reference, to_axes) = (track.reference.inverse(), track.axes.inverse());
        let mut before: Option<DQuat> = None;
        for sample in 0..span.length {
            let mut rotation = object[sample].rotation;
            if let Some(parent) = parent.map(|parent| &parent[sample]) {
                if self.plan.choices.aim > 0.0 {
                    let place = parent.translation + parent.rotation * (local[sample].translation * parent.scale);
                    let off = rotation.inverse() * (place - object[sample].translation);
                    let turn = track.aim.inverse * track.aim.moment.cross(off) * -self.plan.choices.aim;
                    rotation = (rotation * DQuat::from_xyzw(0.5 * turn.x, 0.5 * turn.y, 0.5 * turn.z, 1.0)).normalize();
                }
                rotation = parent.rotation.inverse() * rotation;
            }
            let turned = to_reference * rotation;
            let turned = match before {
                Some(before) if turned.dot(before) < 0.0 => -turned,
                Some(_) => turned,
                None => positive(turned),
            };
            let turned = if turned.w < FARTHEST { -turned } else { turned };
            before = Some(turned);
            put(wanted, sample, to_axes * parameters(turned));
        }
    }

    /// Puts a joint into object space, and says how far off it is, in what is allowed.
    fn place(&mut self, span: Span, joint: usize, local: &[Frame]) -> f64 {
        let parent = self.target.skeleton().parent(joint);
        let shell_cm = self.target.shell_cm[joint];
        let mut worst: f64 = 0.0;
        for (sample, local) in local[..span.length].iter().enumerate() {
            let object = parent.map_or(*local, |parent| self.decoded[parent * MAX_LENGTH + sample].child(local));
            self.decoded[joint * MAX_LENGTH + sample] = object;
            let raw = self.target.shell(joint, span.first + sample);
            let squares = object.shell(shell_cm).into_iter().zip(raw).map(|(a, b)| a.distance_squared(*b));
            worst = squares.fold(worst, f64::max);
        }
        worst.sqrt() / self.target.limit_cm[joint]
    }
}

fn put(components: &mut Components, sample: usize, value: DVec3) {
    for (component, number) in components.iter_mut().zip(value.to_array()) {
        component[sample] = number;
    }
}

/// Coefficients of a component, and what they decode to in its place.
fn transform(track: &PlannedTrack, axis: usize, segment_step: u8, samples: &mut [f64], coefficients: &mut [i32]) {
    let length = samples.len();
    if track.steps[axis] == 0 {
        return samples.fill(0.0);
    }
    let step = track.step(axis, segment_step);
    let mut sums = [0.0; MAX_LENGTH];
    for (sample, &value) in samples.iter().enumerate() {
        for (sum, &basis) in sums.iter_mut().zip(block::basis_row(length, sample)) {
            *sum += f64::from(basis) * value;
        }
    }
    let mut count = 0;
    for (k, (coefficient, sum)) in coefficients.iter_mut().zip(sums).enumerate() {
        *coefficient = (sum / step).round().clamp(-LARGEST, LARGEST) as i32;
        if *coefficient != 0 {
            count = k + 1;
        }
    }
    for (sample, value) in samples.iter_mut().enumerate() {
        let row = &block::basis_row(length, sample)[..count];
        let sum: f64 = row.iter().zip(&*coefficients).map(|(basis, c)| f64::from(*basis) * f64::from(*c)).sum();
        *value = sum * step;
    }
}
