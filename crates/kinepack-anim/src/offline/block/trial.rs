//! Estimates how a change of a coefficient affects the errors, without decoding the segment again.
//! A new rotation or translation of a joint moves all points below it as one rigid body. A trial
//! therefore needs only the joint's new transform at each sample. Each point then takes a few
//! multiplications in `f32`, for eight samples at a time. `f32` is precise enough, because points
//! are stored as offsets from the raw points and as distances from an origin near the joints.

use glam::{DMat3, DVec3};

use crate::block::MAX_LENGTH;
use crate::measure::Frame;

use super::segment::Coder;

/// The number of samples that are computed at a time.
const LANES: usize = 8;
/// Larger squares of errors are clamped to this maximum, so that their powers fit into `f32`.
const LARGEST_SQUARE: f32 = 1e4;
/// Smaller squares of errors are clamped to this minimum, so that their powers are normal numbers.
/// Arithmetic on subnormal numbers is slow.
const SMALLEST_SQUARE: f32 = 1e-4;

/// A number for each sample.
type Row = [[f32; LANES]; MAX_LENGTH / LANES];

/// The points of a joint at which errors are measured. A field with nine rows contains x, y and z
/// of the first point, then of the second, then of the third.
#[derive(Clone, Debug)]
struct Points {
    /// Whether the rows match the coded segment.
    is_current: bool,
    /// The sum of the powers of all errors.
    power: f64,
    /// The decoded points, relative to the raw ones.
    offsets: [Row; 9],
    /// The decoded points, relative to the sample's origin.
    positions: [Row; 9],
}

/// The errors of a joint after a motion.
#[derive(Clone, Copy, Debug)]
struct After {
    /// The sum of the powers of all errors.
    power: f32,
    /// An upper bound on the square of the largest error, which is slightly too large.
    worst: f32,
}

/// How a joint's transform in object space changes.
#[derive(Clone, Debug, Default)]
struct Motion {
    /// The joint's position before the motion, relative to the sample's origin.
    center: [Row; 3],
    /// The rotation minus the identity, row by row.
    turn: [Row; 9],
    /// The displacement of the joint.
    moved: [Row; 3],
}

/// The points of all joints in the segment that was coded last.
#[derive(Debug)]
pub(super) struct Trial {
    points: Vec<Points>,
    motion: Motion,
}

impl Trial {
    pub(super) fn new(joints: usize) -> Self {
        let empty = Points {
            is_current: false,
            power: 0.0,
            offsets: [Row::default(); 9],
            positions: [Row::default(); 9],
        };
        Self { points: vec![empty; joints], motion: Motion::default() }
    }

    /// Discards all points, because another segment was coded.
    pub(super) fn forget(&mut self) {
        self.points.iter_mut().for_each(|points| points.is_current = false);
    }

    /// Discards the points of the joints `joints`, because their transforms changed.
    pub(super) fn forget_some(&mut self, joints: &[usize]) {
        joints.iter().for_each(|joint| self.points[*joint].is_current = false);
    }

    /// Returns whether the norm of all errors probably falls below `least` with the transforms
    /// `local`. The first of the joints `below` gets these transforms, which are relative to its
    /// parent. The other joints keep their transforms relative to their parents. `norm` is the
    /// current norm. The change must not be a change of scale.
    pub(super) fn is_better(
        &mut self,
        coder: &Coder,
        below: &[usize],
        local: &[Frame],
        norm: f64,
        least: f64,
    ) -> bool {
        let before: f64 = below.iter().map(|joint| self.current(coder, *joint).power).sum();
        self.motion.fill(coder, below[0], local);
        let mut after = norm - before;
        below.iter().all(|joint| {
            after += f64::from(self.after(coder, *joint, local.len()).power);
            after < least
        })
    }

    /// Returns whether the squares of all errors probably stay below `most` with the transforms
    /// `local`. The first of the joints `below` gets the transforms `local`, which are relative to
    /// its parent. The other joints keep their transforms relative to their parents. The change
    /// must not be a change of scale.
    pub(super) fn stays_below(
        &mut self,
        coder: &Coder,
        below: &[usize],
        local: &[Frame],
        most: f64,
    ) -> bool {
        self.motion.fill(coder, below[0], local);
        below.iter().all(|joint| {
            self.current(coder, *joint);
            f64::from(self.after(coder, *joint, local.len()).worst) < most
        })
    }

    /// Returns the errors of `joint` after the motion. The joint's points must be up to date.
    fn after(&self, coder: &Coder, joint: usize, length: usize) -> After {
        let limit_cm = coder.target.limit_cm[joint];
        let per_limit = (1.0 / (limit_cm * limit_cm)) as f32;
        self.points[joint].after(&self.motion, length.div_ceil(LANES), per_limit)
    }

    /// Returns the points of a joint. If they are out of date, the method computes them again.
    fn current(&mut self, coder: &Coder, joint: usize) -> &Points {
        let points = &mut self.points[joint];
        if !points.is_current {
            points.fill(coder, joint);
        }
        points
    }
}

impl Points {
    fn fill(&mut self, coder: &Coder, joint: usize) {
        let length = coder.span.length;
        let frames = &coder.object[joint * MAX_LENGTH..][..length];
        let errors = &coder.errors[joint * MAX_LENGTH..][..length];
        self.power = errors.iter().map(|error| power(*error)).sum();
        self.is_current = true;
        for (sample, frame) in frames.iter().enumerate() {
            let origin = origin(coder, sample);
            let raw = coder.target.shell(joint, coder.span.first + sample);
            let shell = frame.shell(coder.target.shell_cm[joint]);
            for (index, (point, raw)) in shell.into_iter().zip(raw).enumerate() {
                put(&mut self.offsets[3 * index..], sample, point - *raw);
                put(&mut self.positions[3 * index..], sample, point - origin);
            }
        }
        self.offsets.iter_mut().chain(&mut self.positions).for_each(|row| clear(row, length));
    }

    /// Returns the errors of the points after a motion.
    fn after(&self, motion: &Motion, rows: usize, per_limit: f32) -> After {
        let mut sum = [0.0_f32; LANES];
        let mut most = [0.0_f32; LANES];
        for row in 0..rows {
            let [center, moved_by] =
                [&motion.center, &motion.moved].map(|rows| rows.each_ref().map(|axis| &axis[row]));
            let turn = motion.turn.each_ref().map(|axis| &axis[row]);
            let mut worst = [0.0_f32; LANES];
            for point in 0..3 {
                let [position, offset] = [&self.positions, &self.offsets]
                    .map(|rows| [0, 1, 2].map(|axis| &rows[3 * point + axis][row]));
                let mut arm = [[0.0_f32; LANES]; 3];
                for axis in 0..3 {
                    for lane in 0..LANES {
                        arm[axis][lane] = position[axis][lane] - center[axis][lane];
                    }
                }
                let mut square = [0.0_f32; LANES];
                for axis in 0..3 {
                    let [x, y, z] = [turn[3 * axis], turn[3 * axis + 1], turn[3 * axis + 2]];
                    for lane in 0..LANES {
                        let moved = offset[axis][lane]
                            + moved_by[axis][lane]
                            + (x[lane] * arm[0][lane]
                                + y[lane] * arm[1][lane]
                                + z[lane] * arm[2][lane]);
                        square[lane] += moved * moved;
                    }
                }
                for lane in 0..LANES {
                    worst[lane] =
                        if square[lane] > worst[lane] { square[lane] } else { worst[lane] };
                }
            }
            for lane in 0..LANES {
                let square = worst[lane] * per_limit + SMALLEST_SQUARE;
                let square = if square < LARGEST_SQUARE { square } else { LARGEST_SQUARE };
                most[lane] = if square > most[lane] { square } else { most[lane] };
                let fourth = square * square;
                let eighth = fourth * fourth;
                sum[lane] += eighth * eighth;
            }
        }
        After { power: sum.into_iter().sum(), worst: most.into_iter().fold(0.0, f32::max) }
    }
}

impl Motion {
    /// Computes the motion of a joint to the transforms `local` relative to its parent.
    fn fill(&mut self, coder: &Coder, joint: usize, local: &[Frame]) {
        let parent = coder.target.skeleton().parent(joint);
        for (sample, local) in local.iter().enumerate() {
            let whole = coder.target.with_base(joint, coder.span.first + sample, local);
            let new = parent
                .map_or(whole, |parent| coder.object[parent * MAX_LENGTH + sample].child(&whole));
            let old = &coder.object[joint * MAX_LENGTH + sample];
            let turn = DMat3::from_quat(new.rotation * old.rotation.inverse());
            let turn = (turn - DMat3::IDENTITY).transpose();
            put(&mut self.turn, sample, turn.x_axis);
            put(&mut self.turn[3..], sample, turn.y_axis);
            put(&mut self.turn[6..], sample, turn.z_axis);
            put(&mut self.moved, sample, new.translation - old.translation);
            put(&mut self.center, sample, old.translation - origin(coder, sample));
        }
        let rows = self.turn.iter_mut().chain(&mut self.moved).chain(&mut self.center);
        rows.for_each(|row| clear(row, local.len()));
    }
}

/// Returns the 16th power of an error, given its square.
pub(super) fn power(square: f64) -> f64 {
    let fourth = square * square;
    let eighth = fourth * fourth;
    eighth * eighth
}

/// Returns a point near all joints, so that `f32` is enough for distances from it.
fn origin(coder: &Coder, sample: usize) -> DVec3 {
    coder.object[sample].translation
}

fn put(rows: &mut [Row], sample: usize, vector: DVec3) {
    for (row, number) in rows.iter_mut().zip(vector.to_array()) {
        row[sample / LANES][sample % LANES] = number as f32;
    }
}

/// Sets the samples after the last one to 0, up to a multiple of [`LANES`].
fn clear(row: &mut Row, length: usize) {
    (length..length.next_multiple_of(LANES))
        .for_each(|sample| row[sample / LANES][sample % LANES] = 0.0);
}
