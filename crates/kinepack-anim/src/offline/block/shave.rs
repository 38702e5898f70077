//! Finds coarser steps than rounding alone allows. The module first codes a segment with a coarser
//! step. It then adds or subtracts 1 at single coefficients that affect the largest errors, until
//! all errors are within their limits.

use std::cmp::Ordering;

use glam::{DMat3, DVec3};

use crate::block::{self, MAX_LENGTH};
use crate::measure::Frame;
use crate::{Channel, TrackId};

use super::pieces;
use super::segment::{Coder, Components};
use super::trial::{Trial, power};

/// The maximum number of changes of coefficients that are tried for an error.
const CANDIDATES: usize = 150;
/// The number of changes that are tried first. One of them usually helps, so the others are sorted
/// only if none of them does.
const FIRST: usize = 12;

/// A change of a coefficient by 1 or −1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) component: usize,
    k: usize,
    by: i32,
    /// The approximate reduction of the square of the error.
    gain: f64,
}

impl Change {
    /// Orders changes by gain, the largest first.
    fn by_gain(&self, other: &Self) -> Ordering {
        let by_place = || (self.component, self.k).cmp(&(other.component, other.k));
        other.gain.total_cmp(&self.gain).then_with(by_place)
    }
}

/// Repairs the segments of a clip by changing coefficients.
pub(super) struct Shaver {
    /// For each joint, the joint and its descendants, parents first.
    below: Vec<Vec<usize>>,
    changes: Vec<Change>,
    /// The changes that the last repair made.
    pub(super) made: Vec<Change>,
    pub(super) repaired: Vec<usize>,
    trial: Trial,
    /// The width of each coefficient in the profile that its piece uses.
    widths: Vec<u8>,
    // These fields hold the changed joint, before and after the change.
    values: Components,
    local: [Frame; MAX_LENGTH],
    // These fields hold the state of all joints before a change, for undoing it.
    object: Vec<Frame>,
    errors: Vec<f64>,
}

impl Shaver {
    pub(super) fn new(coder: &Coder) -> Self {
        Self {
            below: coder.target.skeleton().below(),
            changes: Vec::new(),
            made: Vec::new(),
            repaired: Vec::new(),
            trial: Trial::new(coder.target.joints()),
            widths: Vec::new(),
            values: [[0.0; MAX_LENGTH]; 3],
            local: [Frame::IDENTITY; MAX_LENGTH],
            object: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Changes coefficients of the segment that was coded last, until all errors are within their
    /// limits. Returns whether trying at most `tries` changes was enough.
    pub(super) fn repair(&mut self, coder: &mut Coder, tries: usize) -> bool {
        self.begin(coder);
        self.bring_within(coder, tries)
    }

    /// Begins to repair the segment that was coded last.
    pub(super) fn begin(&mut self, coder: &Coder) {
        self.find_widths(coder);
        self.trial.forget();
    }

    /// Changes coefficients until all errors are within their limits. Returns whether trying at
    /// most `tries` changes was enough.
    pub(super) fn bring_within(&mut self, coder: &mut Coder, mut tries: usize) -> bool {
        self.made.clear();
        let mut norm = norm(coder);
        loop {
            let (joint, sample, worst) = worst(coder);
            if worst <= 1.0 {
                return true;
            }
            self.find_changes(coder, joint, sample);
            let mut is_better = false;
            for index in 0..self.changes.len().min(CANDIDATES) {
                if tries == 0 {
                    return false;
                }
                tries -= 1;
                if index == FIRST {
                    self.changes[FIRST..].sort_unstable_by(Change::by_gain);
                }
                let change = self.changes[index];
                if let Some(better) = self.apply(coder, change, norm) {
                    self.made.push(change);
                    norm = better;
                    is_better = true;
                    break;
                }
            }
            if !is_better {
                return false;
            }
        }
    }

    /// Computes the width of each coefficient in its piece's profile. The coefficient may use that
    /// width at no extra cost.
    fn find_widths(&mut self, coder: &Coder) {
        self.widths.clear();
        let block = coder.plan.choices.block;
        for coefficients in coder.coefficients.chunks_exact(coder.span.length) {
            self.widths.extend(pieces::widths(block, coefficients));
        }
    }

    /// Finds the changes that bring a joint's worst point nearer to its target at a sample. Moves
    /// the [`FIRST`] best ones to the front, sorted by gain.
    fn find_changes(&mut self, coder: &Coder, joint: usize, sample: usize) {
        self.changes.clear();
        let played = coder.object[joint * MAX_LENGTH + sample].shell(coder.target.shell_cm[joint]);
        let raw = coder.target.shell(joint, coder.span.first + sample);
        let pairs = played.into_iter().zip(raw).map(|(played, raw)| (played, played - *raw));
        let Some((point, off)) =
            pairs.max_by(|a, b| a.1.length_squared().total_cmp(&b.1.length_squared()))
        else {
            return;
        };
        let row = block::basis_row(coder.span.length, sample);
        let mut above = Some(joint);
        while let Some(ancestor) = above {
            above = coder.target.skeleton().parent(ancestor);
            for channel in Channel::ALL {
                let Some(track) = coder.plan.track_of[ancestor][channel as usize] else { continue };
                let moves = point_motion(coder, ancestor, track, sample, point);
                for (axis, moves) in moves.into_iter().enumerate() {
                    let component = 3 * track + axis;
                    if coder.steps[track][axis] == 0 {
                        continue;
                    }
                    let move_of_step = moves * coder.step_size(component);
                    for (k, basis) in row[..coder.span.length].iter().enumerate() {
                        let moved = move_of_step * f64::from(*basis);
                        let by = if moved.dot(off) > 0.0 { -1 } else { 1 };
                        let gain = 2.0 * moved.dot(off).abs() - moved.length_squared();
                        let at = component * coder.span.length + k;
                        // A change must not need more bits.
                        if gain > 0.0
                            && block::width_of(coder.coefficients[at] + by) <= self.widths[at]
                        {
                            self.changes.push(Change { component, k, by, gain });
                        }
                    }
                }
            }
        }
        let first = self.changes.len().min(FIRST);
        if first < self.changes.len() {
            self.changes.select_nth_unstable_by(first, Change::by_gain);
        }
        self.changes[..first].sort_unstable_by(Change::by_gain);
    }

    /// Makes a change if it reduces the norm of all errors, and returns the new norm. `before` is
    /// the norm before the change.
    fn apply(&mut self, coder: &mut Coder, change: Change, before: f64) -> Option<f64> {
        let Change { component, k, by, .. } = change;
        let length = coder.span.length;
        let mut coefficients = [0; MAX_LENGTH];
        coefficients[..length].copy_from_slice(coder.coefficients_of(component));
        coefficients[k] += by;
        let coefficients = &coefficients[..length];
        let joint = self.decode(coder, component, coefficients);
        let least = before * (1.0 - 1e-6);
        let below = &self.below[joint];
        let is_scale = coder.plan.tracks[component / 3].id.channel == Channel::Scale;
        if !is_scale && !self.trial.is_better(coder, below, &self.local[..length], before, least) {
            return None;
        }
        self.put(coder, joint);
        let powers = |errors: &[f64]| errors.iter().map(|error| power(*error)).sum::<f64>();
        let mut norm = before;
        for (&joint, old) in self.below[joint].iter().zip(self.errors.chunks_exact(length)) {
            norm += powers(&coder.errors[joint * MAX_LENGTH..][..length]) - powers(old);
        }
        if norm < least {
            self.keep(coder, component, coefficients);
            return Some(norm);
        }
        self.take_back(coder, joint);
        None
    }

    /// Reverts the changes that the last repair made.
    pub(super) fn undo(&mut self, coder: &mut Coder) {
        while let Some(Change { component, k, by, .. }) = self.made.pop() {
            let mut coefficients = coder.coefficients_of(component).to_vec();
            coefficients[k] -= by;
            let joint = self.decode(coder, component, &coefficients);
            self.put(coder, joint);
            self.keep(coder, component, &coefficients);
        }
    }

    /// Computes the widths of a component again, after its coefficients have changed.
    pub(super) fn update_widths(&mut self, coder: &Coder, component: usize) {
        let widths = pieces::widths(coder.plan.choices.block, coder.coefficients_of(component));
        let own = &mut self.widths[component * coder.span.length..];
        own.iter_mut().zip(widths).for_each(|(own, width)| *own = width);
    }

    /// Returns whether the squares of all errors probably stay below `most`. The joint of
    /// `component` has the transforms that were decoded last.
    pub(super) fn probably_stays_below(
        &mut self,
        coder: &Coder,
        component: usize,
        most: f64,
    ) -> bool {
        let TrackId { joint, channel } = coder.plan.tracks[component / 3].id;
        let local = &self.local[..coder.span.length];
        channel == Channel::Scale
            || self.trial.stays_below(coder, &self.below[usize::from(joint)], local, most)
    }

    /// Decodes the joint of a component as if the component had the coefficients `coefficients`.
    /// Returns the joint.
    pub(super) fn decode(
        &mut self,
        coder: &Coder,
        component: usize,
        coefficients: &[i32],
    ) -> usize {
        let (track, axis) = (component / 3, component % 3);
        let joint = usize::from(coder.plan.tracks[track].id.joint);
        let length = coder.span.length;
        let step = coder.step_size(component);
        for (values, old) in self.values.iter_mut().zip(&coder.values[3 * track..]) {
            values[..length].copy_from_slice(&old[..length]);
        }
        self.local[..length].copy_from_slice(&coder.local[joint * MAX_LENGTH..][..length]);
        let values = &mut self.values[axis][..length];
        let before = coder.coefficients_of(component);
        for (k, (new, old)) in
            coefficients.iter().zip(before).enumerate().filter(|(_, (new, old))| new != old)
        {
            let by = step * f64::from(new - old);
            for (sample, value) in values.iter_mut().enumerate() {
                *value += by * f64::from(block::basis_row(length, sample)[k]);
            }
        }
        coder.round(component, coefficients, values);
        coder.decode(track, &self.values, &mut self.local[..length]);
        joint
    }

    /// Replaces a joint's transforms with those that [`decode`](Self::decode) computed last.
    /// Returns the square of the largest error of the joint and its descendants.
    pub(super) fn put(&mut self, coder: &mut Coder, joint: usize) -> f64 {
        let length = coder.span.length;
        self.object.clear();
        self.errors.clear();
        for &joint in &self.below[joint] {
            self.object.extend_from_slice(&coder.object[joint * MAX_LENGTH..][..length]);
            self.errors.extend_from_slice(&coder.errors[joint * MAX_LENGTH..][..length]);
        }
        let local = &mut coder.local[joint * MAX_LENGTH..][..length];
        local.swap_with_slice(&mut self.local[..length]);
        self.below[joint].iter().map(|joint| coder.update_object(*joint)).fold(0.0, f64::max)
    }

    /// Keeps the transforms of the last [`put`](Self::put), and stores the component's
    /// coefficients.
    pub(super) fn keep(&mut self, coder: &mut Coder, component: usize, coefficients: &[i32]) {
        let length = coder.span.length;
        let joint = usize::from(coder.plan.tracks[component / 3].id.joint);
        coder.values[component] = self.values[component % 3];
        coder.coefficients[component * length..][..length].copy_from_slice(coefficients);
        self.trial.forget_some(&self.below[joint]);
    }

    /// Restores the transforms and errors from before the last [`put`](Self::put).
    pub(super) fn take_back(&mut self, coder: &mut Coder, joint: usize) {
        let length = coder.span.length;
        coder.local[joint * MAX_LENGTH..][..length].copy_from_slice(&self.local[..length]);
        for (index, &joint) in self.below[joint].iter().enumerate() {
            coder.object[joint * MAX_LENGTH..][..length]
                .copy_from_slice(&self.object[index * length..][..length]);
            coder.errors[joint * MAX_LENGTH..][..length]
                .copy_from_slice(&self.errors[index * length..][..length]);
        }
    }
}

/// Returns the sum of the 16th powers of all errors.
pub(super) fn norm(coder: &Coder) -> f64 {
    let joints = coder.errors.chunks_exact(MAX_LENGTH);
    joints.flat_map(|errors| &errors[..coder.span.length]).map(|error| power(*error)).sum()
}

/// Returns the joint and sample with the largest error, and the square of that error.
pub(super) fn worst(coder: &Coder) -> (usize, usize, f64) {
    let mut worst = (0, 0, 0.0);
    for (joint, errors) in coder.errors.chunks_exact(MAX_LENGTH).enumerate() {
        for (sample, &error) in errors[..coder.span.length].iter().enumerate() {
            if error > worst.2 {
                worst = (joint, sample, error);
            }
        }
    }
    worst
}

/// Returns the distance that a point in object space moves along each axis, per unit of each
/// component of a track.
fn point_motion(
    coder: &Coder,
    joint: usize,
    track: usize,
    sample: usize,
    point: DVec3,
) -> [DVec3; 3] {
    let object = &coder.object[joint * MAX_LENGTH + sample];
    let arm = point - object.translation;
    let parent = coder
        .target
        .skeleton()
        .parent(joint)
        .map(|parent| &coder.object[parent * MAX_LENGTH + sample]);
    match coder.plan.tracks[track].id.channel {
        Channel::Rotation => {
            // This is an approximation, because it uses the axes at the reference rotation.
            let axes = DMat3::from_quat(object.rotation * coder.plan.tracks[track].axes);
            [axes.x_axis, axes.y_axis, axes.z_axis].map(|axis| 4.0 * axis.cross(arm))
        }
        Channel::Translation => {
            let axes = parent.map_or(DMat3::IDENTITY, |parent| {
                DMat3::from_quat(parent.rotation) * DMat3::from_diagonal(parent.scale)
            });
            [axes.x_axis, axes.y_axis, axes.z_axis]
        }
        Channel::Scale => {
            let inside = object.rotation.inverse() * arm;
            let axes = DMat3::from_quat(object.rotation);
            let share = inside / object.scale;
            let share = if share.is_finite() { share } else { DVec3::ZERO };
            [axes.x_axis * share.x, axes.y_axis * share.y, axes.z_axis * share.z]
        }
    }
}
