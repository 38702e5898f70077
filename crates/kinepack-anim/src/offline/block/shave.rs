//! Makes coarser steps possible than rounding alone allows. After a segment is coded with a coarser
//! step, single coefficients that affect the largest errors are changed by one, until all errors
//! are within their limits.

use glam::{DMat3, DVec3};

use crate::block::{self, MAX_LENGTH};
use crate::measure::Frame;
use crate::{Channel, TrackId};

use super::pieces;
use super::segment::{Coder, Components};
use super::trial::Trial;

/// The most changes of coefficients that are tried for an error.
const CANDIDATES: usize = 150;

/// A change of a coefficient by 1 or −1.
#[derive(Clone, Copy, Debug)]
struct Change {
    component: usize,
    k: usize,
    by: i32,
    /// About how much it reduces the square of the error.
    gain: f64,
}

/// Repairs the segments of a clip.
pub(super) struct Shaver {
    /// By joint: the joint and its descendants, parents first.
    below: Vec<Vec<usize>>,
    changes: Vec<Change>,
    trial: Trial,
    /// The width of each coefficient in the profile that its piece uses.
    widths: Vec<u8>,
    // The changed joint, before and after.
    values: Components,
    local: [Frame; MAX_LENGTH],
    // The state of all joints before a change, to undo it.
    object: Vec<Frame>,
    errors: Vec<f64>,
}

impl Shaver {
    pub(super) fn new(coder: &Coder) -> Self {
        Self {
            below: coder.target.skeleton().below(),
            changes: Vec::new(),
            trial: Trial::new(coder.target.joints()),
            widths: Vec::new(),
            values: [[0.0; MAX_LENGTH]; 3],
            local: [Frame::IDENTITY; MAX_LENGTH],
            object: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Changes coefficients of the segment that was coded last, until all errors are within their
    /// limits. Returns whether it managed to with at most `tries` changes.
    pub(super) fn repair(&mut self, coder: &mut Coder, mut tries: usize) -> bool {
        self.find_widths(coder);
        self.trial.forget();
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
                let change = self.changes[index];
                if let Some(better) = self.apply(coder, change, norm) {
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

    /// Finds the widths that coefficients have at no extra cost.
    fn find_widths(&mut self, coder: &Coder) {
        self.widths.clear();
        let block = coder.plan.choices.block;
        for coefficients in coder.coefficients.chunks_exact(coder.span.length) {
            self.widths.extend(pieces::widths(block, coefficients));
        }
    }

    /// Finds the changes that bring a joint's worst point nearer at a sample, and sorts them by
    /// gain.
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
        self.changes.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    }

    /// Makes a change if it reduces the norm of all errors, and returns the new norm.
    fn apply(&mut self, coder: &mut Coder, change: Change, before: f64) -> Option<f64> {
        let (track, axis) = (change.component / 3, change.component % 3);
        let TrackId { joint, channel } = coder.plan.tracks[track].id;
        let joint = usize::from(joint);
        let length = coder.span.length;
        let below = &self.below[joint];
        let least = before * (1.0 - 1e-6);
        let step = coder.step_size(change.component) * f64::from(change.by);
        self.values.copy_from_slice(&coder.values[3 * track..][..3]);
        self.local[..length].copy_from_slice(&coder.local[joint * MAX_LENGTH..][..length]);
        for (sample, value) in self.values[axis][..length].iter_mut().enumerate() {
            *value += step * f64::from(block::basis_row(length, sample)[change.k]);
        }
        let mut coefficients = [0; MAX_LENGTH];
        let own = change.component * length..(change.component + 1) * length;
        coefficients[..length].copy_from_slice(&coder.coefficients[own]);
        coefficients[change.k] += change.by;
        coder.round(change.component, &coefficients[..length], &mut self.values[axis][..length]);
        coder.decode(track, &self.values, &mut self.local[..length]);
        if channel != Channel::Scale
            && !self.trial.is_better(coder, below, &self.local[..length], before, least)
        {
            return None;
        }
        self.object.clear();
        self.errors.clear();
        for &joint in below {
            self.object.extend_from_slice(&coder.object[joint * MAX_LENGTH..][..length]);
            self.errors.extend_from_slice(&coder.errors[joint * MAX_LENGTH..][..length]);
        }
        let local = &mut coder.local[joint * MAX_LENGTH..][..length];
        local.swap_with_slice(&mut self.local[..length]);
        let mut norm = before;
        for (index, &joint) in below.iter().enumerate() {
            coder.update_object(joint);
            let new = &coder.errors[joint * MAX_LENGTH..][..length];
            norm += new.iter().map(|error| power(*error)).sum::<f64>();
            norm -= self.errors[index * length..][..length]
                .iter()
                .map(|error| power(*error))
                .sum::<f64>();
        }
        if norm < least {
            coder.values[change.component] = self.values[axis];
            coder.coefficients[change.component * length + change.k] += change.by;
            self.trial.forget_some(below);
            return Some(norm);
        }
        coder.local[joint * MAX_LENGTH..][..length].copy_from_slice(&self.local[..length]);
        for (index, &joint) in below.iter().enumerate() {
            coder.object[joint * MAX_LENGTH..][..length]
                .copy_from_slice(&self.object[index * length..][..length]);
            coder.errors[joint * MAX_LENGTH..][..length]
                .copy_from_slice(&self.errors[index * length..][..length]);
        }
        None
    }
}

/// The 16th power of an error, from its square.
pub(super) fn power(square: f64) -> f64 {
    let fourth = square * square;
    let eighth = fourth * fourth;
    eighth * eighth
}

/// The sum of the 16th powers of all errors.
pub(super) fn norm(coder: &Coder) -> f64 {
    let joints = coder.errors.chunks_exact(MAX_LENGTH);
    joints.flat_map(|errors| &errors[..coder.span.length]).map(|error| power(*error)).sum()
}

/// The joint and sample with the largest error, and the square of that error.
fn worst(coder: &Coder) -> (usize, usize, f64) {
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

/// How a point in object space moves with each component of a track, for each unit of the
/// component.
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
            // An approximation that takes the axes as they are at the reference.
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
