//! The options of figures in the caller's memory: what a figure sends, and how precisely.

use std::ffi::c_char;

use kinepack_anim::figure::{FigureClips, FigureCurve, FigureOptions, FigurePart, Motion};

use crate::figure_clips::KpFigureClip;
use crate::memory::{self, or_default, slice};
use crate::status::Failure;

/// How a joint moves, relative to its parent.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpMotion {
    /// The joint keeps its bind pose, and takes no bits.
    Still = 0,
    /// The joint turns about an axis in its own space, and takes one number.
    Hinge = 1,
    /// The joint turns about any axis, and takes three numbers.
    Turns = 2,
    /// The joint turns, and moves from its bind pose by up to a range along each axis. It takes six
    /// numbers.
    Moves = 3,
}

/// A joint that moves in another way than by default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpJointMotion {
    /// The joint's index.
    pub joint: u32,
    /// How the joint moves: a `KpMotion`.
    pub motion: i32,
    /// The axis of a hinge, which need not have length 1. Other motions ignore it.
    pub axis: [f32; 3],
    /// The largest movement along each axis, in cm, of a joint that moves. Other motions ignore it.
    pub range_cm: f32,
}

/// A joint with a different precision.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpJointPrecision {
    /// The joint's precision in cm, above 0.
    pub precision_cm: f64,
    /// The joint's index.
    pub joint: u32,
}

/// A curve of a figure, which is a number besides the joints, such as the weight of a face shape.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpFigureCurve {
    /// The name. The schema's hash covers it.
    pub name: *const c_char,
    /// The smallest value.
    pub min: f32,
    /// The largest value.
    pub max: f32,
    /// The largest error of a value, above 0.
    pub precision: f32,
}

/// A part of a body that may be absent, for example because it is not tracked: a hand, both legs or
/// the face. An absent part takes one bit. Joints and curves belong to one part at most.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpFigurePart {
    /// The name. The schema's hash covers it.
    pub name: *const c_char,
    /// The indices of the part's joints. A part has all joints below each of its joints.
    pub joints: *const u32,
    /// The number of joints.
    pub joint_count: usize,
    /// The indices of the part's curves.
    pub curves: *const u32,
    /// The number of curves.
    pub curve_count: usize,
}

/// The description of what a figure sends. Both sides need the same options. Zeros select the
/// defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpFigureOptions {
    /// The largest error in cm, in model space, of any point within `shell_cm` of a joint.
    /// Default: 0.5.
    pub precision_cm: f64,
    /// The distance in cm from a joint to the skin around it, before the scales of the joint and
    /// its ancestors. Default: 3. A negative number means 0.
    pub shell_cm: f64,
    /// Joints with a different precision. The last entry for a joint counts.
    pub precisions: *const KpJointPrecision,
    /// The number of `precisions`.
    pub precision_count: usize,
    /// Joints that move in another way than by default. By default, roots move by up to 100 m, and
    /// all other joints turn. The last entry for a joint counts.
    pub motions: *const KpJointMotion,
    /// The number of `motions`.
    pub motion_count: usize,
    /// The curves, in their order.
    pub curves: *const KpFigureCurve,
    /// The number of `curves`.
    pub curve_count: usize,
    /// The parts that may be absent, in their order.
    pub parts: *const KpFigurePart,
    /// The number of `parts`.
    pub part_count: usize,
    /// The clips that a body can play, in their order.
    pub clips: *const KpFigureClip,
    /// The number of `clips`.
    pub clip_count: usize,
    /// The number of clips that can play at once, at most 64. It is 0 without clips, and otherwise
    /// at least 1.
    pub clip_slots: usize,
    /// How many times coarser each further tier is than the precisions above, increasing from more
    /// than 1. A body that is sent in a coarser tier is read like any other.
    pub coarser: *const f64,
    /// The number of `coarser`, at most 254.
    pub coarser_count: usize,
}

/// Reads the options of a figure.
///
/// # Safety
/// The lists and texts that the options point to are readable.
pub(crate) unsafe fn options_of(options: &KpFigureOptions) -> Result<FigureOptions, Failure> {
    let default = FigureOptions::default();
    // SAFETY: the caller of this function guarantees that each list has its count of readable
    // values, with readable names.
    let (precisions, motions, curves, parts, clips, coarser) = unsafe {
        (
            slice(options.precisions, options.precision_count)?,
            slice(options.motions, options.motion_count)?,
            slice(options.curves, options.curve_count)?,
            slice(options.parts, options.part_count)?,
            slice(options.clips, options.clip_count)?,
            slice(options.coarser, options.coarser_count)?,
        )
    };
    let precision_of = |one: &KpJointPrecision| (one.joint as usize, one.precision_cm);
    // SAFETY: the caller of this function guarantees that the names and lists of curves, parts and
    // clips are readable.
    let (curves, parts, names) = unsafe {
        (
            curves.iter().map(|curve| curve_of(curve)).collect::<Result<_, Failure>>()?,
            parts.iter().map(|part| part_of(part)).collect::<Result<_, Failure>>()?,
            clips.iter().map(|clip| name_of(clip)).collect::<Result<_, Failure>>()?,
        )
    };
    Ok(FigureOptions {
        precision_cm: or_default(options.precision_cm, default.precision_cm),
        joint_precisions_cm: precisions.iter().map(precision_of).collect(),
        shell_cm: if options.shell_cm < 0.0 {
            0.0
        } else {
            or_default(options.shell_cm, default.shell_cm)
        },
        motions: motions.iter().map(motion_of).collect::<Result<_, Failure>>()?,
        curves,
        parts,
        clips: FigureClips { slots: options.clip_slots, names },
        coarser: coarser.to_vec(),
    })
}

fn motion_of(of: &KpJointMotion) -> Result<(usize, Motion), Failure> {
    let motion = match of.motion {
        0 => Motion::Still,
        1 => Motion::Hinge(of.axis),
        2 => Motion::Turns,
        3 => Motion::Moves { range_cm: of.range_cm },
        other => return Err(Failure::argument(format!("no motion has the number {other}"))),
    };
    Ok((of.joint as usize, motion))
}

/// # Safety
/// The name is a readable text.
unsafe fn curve_of(of: &KpFigureCurve) -> Result<FigureCurve, Failure> {
    // SAFETY: the caller guarantees that the name points to a zero-terminated text until this call
    // returns.
    let name = unsafe { memory::text(of.name)? };
    Ok(FigureCurve { name: name.into(), min: of.min, max: of.max, precision: of.precision })
}

/// # Safety
/// The name is a readable text.
unsafe fn name_of(of: &KpFigureClip) -> Result<String, Failure> {
    // SAFETY: the caller guarantees that the name points to a zero-terminated text until this call
    // returns.
    Ok(unsafe { memory::text(of.name)? }.into())
}

/// # Safety
/// The name is a readable text, and both lists are readable.
unsafe fn part_of(of: &KpFigurePart) -> Result<FigurePart, Failure> {
    // SAFETY: the caller guarantees that the name points to a zero-terminated text, and that both
    // lists have their counts of readable values, until this call returns.
    let (name, joints, curves) = unsafe {
        (
            memory::text(of.name)?,
            slice(of.joints, of.joint_count)?,
            slice(of.curves, of.curve_count)?,
        )
    };
    let indices = |list: &[u32]| list.iter().map(|index| *index as usize).collect();
    Ok(FigurePart { name: name.into(), joints: indices(joints), curves: indices(curves) })
}
