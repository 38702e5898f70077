//! Codes a segment: computes the coefficients for its samples, joint by joint in a closed loop.
//! Each track is fitted so that its joint, given the decoded parent, comes near the raw clip's
//! joint in object space. Errors therefore do not add up along chains.

use glam::{DQuat, DVec3, Vec3};

use crate::Channel;
use crate::block::{self, Anchors, MAX_LENGTH};
use crate::measure::Frame;

use super::curves;
use super::pieces;
use super::plan::{Plan, PlannedTrack, middle, range, vector_size};
use super::rotations::{parameters, positive};
use super::spans::Span;
use super::target::Target;
use super::transform::{LARGEST, Rounding, transform};

/// If the parent's scale is below this, a translation does not try to correct the parent's error.
const SMALLEST_SCALE: f64 = 0.05;
/// The cosine of half the largest angle from the reference. A rotation beyond that angle uses the
/// other quaternion of the same rotation.
const FARTHEST: f64 = -0.98;
/// If a translation moves by more than this multiple of its limit in a segment, it has an anchor
/// for each sample. That is 52 m for a limit of 0.01 cm.
const JUMP: f64 = (1 << 19) as f64;

/// The arithmetic that converts components to transforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    /// Computes in `f64`. The result is what a player would compute without rounding.
    Double,
    /// Computes in `f32`, to the last bit as a player does. This arithmetic takes longer, but it
    /// lets descendants correct the rounding of their ancestors.
    Player,
}

/// The values of a track's three components at each sample.
pub(super) type Components = [[f64; MAX_LENGTH]; 3];

/// Codes the segments of a clip. The fields describe the segment that was coded last. Lists by
/// joint or component, and then by sample, have room for [`MAX_LENGTH`] samples.
pub(super) struct Coder<'a> {
    pub(super) target: &'a Target<'a>,
    pub(super) plan: &'a Plan,
    pub(super) arithmetic: Arithmetic,
    /// The largest magnitude that a coefficient may have.
    pub(super) largest: f64,
    /// Whether each sample of a rotation takes the quaternion nearer to the reference, instead of
    /// the one nearer to the previous sample. The parameters may then jump to the other side within
    /// a segment, but they stay small.
    pub(super) stays_near: bool,
    /// Whether the segment has a rotation that is more than half a turn from its reference.
    pub(super) is_turned: bool,
    pub(super) span: Span,
    /// The anchors of far tracks in the segment, by track.
    anchors: Vec<Option<Anchors>>,
    pub(super) step: u8,
    /// The steps of components, by track. Curve tracks follow the others. Initially they equal the
    /// plan's steps, and tuning changes them.
    pub(super) steps: Vec<[u8; 3]>,
    /// The coefficients, by component, then by frequency.
    pub(super) coefficients: Vec<i32>,
    /// The decoded components, by component, then by sample.
    pub(super) values: Vec<[f64; MAX_LENGTH]>,
    /// The decoded transforms relative to the parent, by joint, then by sample.
    pub(super) local: Vec<Frame>,
    /// The decoded transforms in object space, in the same order as `local`.
    pub(super) object: Vec<Frame>,
    /// The squares of errors as multiples of the squared limit, in the same order as `local`.
    pub(super) errors: Vec<f64>,
    /// The largest error of a curve, as a multiple of its limit.
    pub(super) curve_error: f64,
}

impl<'a> Coder<'a> {
    pub(super) fn new(target: &'a Target<'a>, plan: &'a Plan, arithmetic: Arithmetic) -> Self {
        let numbers = target.joints() * MAX_LENGTH;
        Self {
            target,
            plan,
            arithmetic,
            largest: LARGEST,
            stays_near: false,
            is_turned: false,
            span: Span::default(),
            anchors: vec![None; plan.tracks.len()],
            step: 0,
            steps: plan
                .tracks
                .iter()
                .map(|track| track.steps)
                .chain(curves::tracks(&plan.curves).map(|track| track.steps))
                .collect(),
            coefficients: Vec::new(),
            values: vec![[0.0; MAX_LENGTH]; 3 * plan.tracks.len()],
            local: vec![Frame::IDENTITY; numbers],
            object: vec![Frame::IDENTITY; numbers],
            errors: vec![0.0; numbers],
            curve_error: 0.0,
        }
    }

    /// Codes a segment with the step `step`, and returns its largest error as a multiple of the
    /// limit. Stops early if that error is above `enough`.
    pub(super) fn code(&mut self, span: Span, step: u8, rounding: Rounding, enough: f64) -> f64 {
        self.set_span(span);
        self.step = step;
        self.is_turned = false;
        self.coefficients.clear();
        self.coefficients.resize(3 * self.steps.len() * span.length, 0);
        let mut worst: f64 = 0.0;
        for joint in 0..self.target.joints() {
            self.code_joint(joint, rounding);
            worst = worst.max(self.update_object(joint).sqrt());
            if worst > enough {
                return worst;
            }
        }
        self.curve_error = self.code_curves(rounding, enough);
        worst.max(self.curve_error)
    }

    /// Begins a segment, and computes the anchors of far tracks.
    fn set_span(&mut self, span: Span) {
        let is_same = (span.first, span.length) == (self.span.first, self.span.length);
        self.span = span;
        for (anchors, track) in self.anchors.iter_mut().zip(&self.plan.tracks) {
            if track.is_far && !(is_same && anchors.is_some()) {
                *anchors = Some(anchors_of(self.target, track, span));
            }
        }
    }

    /// Returns the anchors of all far tracks in the segment.
    pub(super) fn far_anchors(&self) -> Vec<Anchors> {
        self.anchors.iter().flatten().cloned().collect()
    }

    /// Returns the vector to which a track's components are added at a sample of the segment.
    pub(super) fn middle(&self, track: usize, sample: usize) -> DVec3 {
        self.anchors[track].as_ref().map_or(self.plan.tracks[track].middle, |anchors| {
            Vec3::from(anchors.at(sample)).as_dvec3()
        })
    }

    /// Codes the joints `joints` of the segment again. They must be listed parents first, and must
    /// include all descendants of each listed joint.
    pub(super) fn recode(&mut self, joints: &[usize], rounding: Rounding) {
        for &joint in joints {
            self.code_joint(joint, rounding);
            self.update_object(joint);
        }
    }

    /// Returns the size of the step of a component.
    pub(super) fn step_size(&self, component: usize) -> f64 {
        f64::from(
            block::segment_scale(self.step)
                * block::own_scale(self.steps[component / 3][component % 3]),
        )
    }

    /// Returns the size of the segment in bits.
    pub(super) fn bits(&self) -> usize {
        let components = 0..3 * self.steps.len();
        8 + components.map(|component| self.component_bits(component)).sum::<usize>()
    }

    /// Returns the number of bits that a component takes with its profiles, or 0 if the component
    /// is dead.
    pub(super) fn component_bits(&self, component: usize) -> usize {
        if self.steps[component / 3][component % 3] == 0 {
            return 0;
        }
        pieces::bits(self.plan.choices.block, self.coefficients_of(component))
    }

    /// Returns the coefficients of a component.
    pub(super) fn coefficients_of(&self, component: usize) -> &[i32] {
        &self.coefficients[component * self.span.length..][..self.span.length]
    }

    /// Computes the coefficients of a joint's tracks, and its decoded transforms relative to the
    /// parent.
    fn code_joint(&mut self, joint: usize, rounding: Rounding) {
        let length = self.span.length;
        let mut local = [self.plan.still[joint]; MAX_LENGTH];
        for channel in [Channel::Scale, Channel::Translation, Channel::Rotation] {
            let Some(index) = self.plan.track_of[joint][channel as usize] else { continue };
            let track = &self.plan.tracks[index];
            let mut components: Components = [[0.0; MAX_LENGTH]; 3];
            match channel {
                Channel::Rotation => {
                    let is_turned = self.wanted_rotations(track, &local, &mut components);
                    self.is_turned |= is_turned;
                }
                _ => self.wanted_vectors(index, &mut components),
            }
            for (axis, component) in components.iter_mut().enumerate() {
                let step = self.step_size(3 * index + axis);
                let of_component = (3 * index + axis) * length..(3 * index + axis + 1) * length;
                let own = &mut self.coefficients[of_component.clone()];
                if self.steps[index][axis] == 0 {
                    component.fill(0.0);
                    own.fill(0);
                } else {
                    transform(
                        self.plan.choices.block,
                        (step, self.largest),
                        rounding,
                        &mut component[..length],
                        own,
                    );
                    let own = &self.coefficients[of_component];
                    self.round(3 * index + axis, own, &mut component[..length]);
                }
                self.values[3 * index + axis] = *component;
            }
            self.decode(index, &components, &mut local[..length]);
        }
        self.local[joint * MAX_LENGTH..][..length].copy_from_slice(&local[..length]);
    }

    /// Computes the components that a translation or scale track should have.
    fn wanted_vectors(&self, index: usize, wanted: &mut Components) {
        let track = &self.plan.tracks[index];
        let joint = usize::from(track.id.joint);
        let raw = self.target.local(joint, self.span.first);
        let object = self.target.object(joint, self.span.first);
        let parent =
            self.target.skeleton().parent(joint).map(|parent| &self.object[parent * MAX_LENGTH..]);
        for sample in 0..self.span.length {
            if track.id.channel == Channel::Scale {
                put(wanted, sample, raw[sample].scale - track.middle);
                continue;
            }
            let value = match parent {
                Some(parent) if parent[sample].scale.abs().min_element() > SMALLEST_SCALE => {
                    let parent = &parent[sample];
                    parent.rotation.inverse() * (object[sample].translation - parent.translation)
                        / parent.scale
                }
                _ => {
                    put(wanted, sample, raw[sample].translation - self.middle(index, sample));
                    continue;
                }
            };
            let whole = Frame { translation: value, ..raw[sample] };
            let own = self.target.without_base(joint, self.span.first + sample, &whole);
            put(wanted, sample, own.translation - self.middle(index, sample));
        }
    }

    /// Computes the components that a rotation track should have. Returns whether the rotation is
    /// more than half a turn from its reference at any sample.
    fn wanted_rotations(
        &self,
        track: &PlannedTrack,
        local: &[Frame],
        wanted: &mut Components,
    ) -> bool {
        let joint = usize::from(track.id.joint);
        let object = self.target.object(joint, self.span.first);
        let parent =
            self.target.skeleton().parent(joint).map(|parent| &self.object[parent * MAX_LENGTH..]);
        let (to_reference, to_axes) = (track.reference.inverse(), track.axes.inverse());
        let aim = self.plan.choices.aim;
        let mut before: Option<DQuat> = None;
        let mut is_turned = false;
        for sample in 0..self.span.length {
            let mut rotation = object[sample].rotation;
            if let Some(parent) = parent.map(|parent| &parent[sample]) {
                if aim > 0.0 {
                    let whole =
                        self.target.with_base(joint, self.span.first + sample, &local[sample]);
                    let place =
                        parent.translation + parent.rotation * (whole.translation * parent.scale);
                    let off = rotation.inverse() * (place - object[sample].translation);
                    let turn = track.aim.inverse * track.aim.moment.cross(off) * (-0.5 * aim);
                    rotation =
                        (rotation * DQuat::from_xyzw(turn.x, turn.y, turn.z, 1.0)).normalize();
                }
                rotation = parent.rotation.inverse() * rotation;
            }
            let whole = Frame { rotation, ..local[sample] };
            let turned = to_reference
                * self.target.without_base(joint, self.span.first + sample, &whole).rotation;
            let turned = match before {
                Some(before) if !self.stays_near && turned.dot(before) < 0.0 => -turned,
                Some(_) if !self.stays_near => turned,
                _ => positive(turned),
            };
            let turned = if turned.w < FARTHEST { -turned } else { turned };
            is_turned |= turned.w < 0.0;
            before = Some(turned);
            put(wanted, sample, to_axes * parameters(turned));
        }
        is_turned
    }

    /// Updates a joint's transforms in object space, and its errors. Returns the square of the
    /// largest error as a multiple of the limit.
    pub(super) fn update_object(&mut self, joint: usize) -> f64 {
        let parent = self.target.skeleton().parent(joint);
        let (shell_cm, limit_cm) = (self.target.shell_cm[joint], self.target.limit_cm[joint]);
        let per_limit = 1.0 / (limit_cm * limit_cm);
        let mut worst: f64 = 0.0;
        for sample in 0..self.span.length {
            let at = joint * MAX_LENGTH + sample;
            let local = self.target.with_base(joint, self.span.first + sample, &self.local[at]);
            let object = parent
                .map_or(local, |parent| self.object[parent * MAX_LENGTH + sample].child(&local));
            self.object[at] = object;
            let raw = self.target.shell(joint, self.span.first + sample);
            let squares =
                object.shell(shell_cm).into_iter().zip(raw).map(|(a, b)| a.distance_squared(*b));
            let square = squares.fold(0.0, f64::max) * per_limit;
            self.errors[at] = square;
            worst = worst.max(square);
        }
        worst
    }
}

/// Returns the anchors of a far track in a segment. There is one anchor for the whole segment,
/// unless its samples are too far from each other.
fn anchors_of(target: &Target, track: &PlannedTrack, span: Span) -> Anchors {
    let joint = usize::from(track.id.joint);
    let raw = &target.local(joint, span.first)[..span.length];
    let translations = || raw.iter().map(|frame| frame.translation);
    if range(translations()) > JUMP * vector_size(target, track.id) {
        return Anchors::Samples(translations().map(|at| at.as_vec3().to_array()).collect());
    }
    Anchors::Segment(middle(raw, |frame| frame.translation).as_vec3().to_array())
}

fn put(components: &mut Components, sample: usize, value: DVec3) {
    for (component, number) in components.iter_mut().zip(value.to_array()) {
        component[sample] = number;
    }
}
