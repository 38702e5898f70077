//! Reads the frames of a BVH file as poses. The reader holds the numbers of only one frame at a
//! time, and converts only the frames that are kept.

use super::convention::is_t_pose;
use super::hierarchy::BvhJoint;
use super::tokens::Tokens;
use super::{BvhConvention, ImportError, ImportOptions};
use crate::Transform;
use crate::import::Note;
use crate::import::budget::Budget;

pub(super) struct Motion {
    /// The poses, one after another in the order of the frames.
    pub(super) samples: Vec<Transform>,
    pub(super) rate_hz: f32,
    pub(super) unit_cm: f64,
    pub(super) notes: Vec<Note>,
}

/// Reads everything after `MOTION`, to the end of the file. The function counts the rows of
/// numbers, and ignores the number of frames that the file states.
pub(super) fn read(
    tokens: &mut Tokens<'_>,
    joints: &[BvhJoint],
    clip: &str,
    options: &ImportOptions,
    budget: &mut Budget,
) -> Result<Motion, ImportError> {
    let mut is_usual = tokens.expect_label("Frames")?;
    let stated = tokens.count("a number of frames", u64::MAX)?;
    tokens.expect("Frame")?;
    is_usual &= tokens.expect_label("Time")?;
    let frame_time_s = tokens.number(|| "a time in seconds".to_owned())?;
    let native_hz = options.frame_rate_hz.unwrap_or_else(|| nearest_rate(frame_time_s));
    if !(native_hz > 0.0 && native_hz.is_finite()) {
        return Err(tokens.unexpected("the first frame after a positive frame time"));
    }
    let step = step(tokens.file(), native_hz, options.rate_hz)?;

    let channels: usize = joints.iter().map(|joint| joint.channels.len()).sum();
    if channels == 0 {
        return Err(tokens.unexpected("the end of a file in which no joint has channels"));
    }
    budget.take((channels * size_of::<f64>()) as u64)?;
    let mut numbers = vec![0.0; channels];
    read_frame(tokens, &mut numbers, 0)?;
    // The remaining words are the numbers of further frames. The last frame may be incomplete.
    let words = tokens.words();
    let (frames, cut) = ((words / channels) as u64 + 1, words % channels);

    let begins_with_t_pose = is_t_pose(joints, &numbers);
    let found = BvhConvention::detect(joints, frames, begins_with_t_pose);
    let convention = options.convention.unwrap_or(found);
    let unit_cm = options.unit_cm.unwrap_or(convention.unit_cm());
    let dropped =
        options.drop_frames.unwrap_or_else(|| match convention.drop_frames(begins_with_t_pose) {
            // If all frames would be dropped, the file contains a single pose, so the reader keeps
            // it.
            dropped if options.convention.is_none() && dropped as u64 >= frames => 0,
            dropped => dropped,
        });
    let file = || tokens.file().to_owned();
    if dropped as u64 >= frames {
        return Err(ImportError::AllDropped { file: file(), frames, dropped });
    }
    let samples = (frames - dropped as u64).div_ceil(step);
    if samples.saturating_mul(joints.len() as u64) > options.max_transforms as u64 {
        let (clip, joints, limit) = (clip.to_owned(), joints.len(), options.max_transforms);
        return Err(ImportError::TooManyTransforms { file: file(), clip, joints, samples, limit });
    }
    let mut notes = Vec::new();
    if options.convention.is_none() && convention != BvhConvention::AsWritten {
        notes.push(Note::Convention { file: file(), convention, unit_cm, dropped });
    }
    if !is_usual {
        let fault = "it has Frames or Frame Time without a colon and a space after them";
        notes.push(Note::Faulty { file: file(), fault });
    }
    if stated != frames || cut > 0 {
        notes.push(Note::FrameCount { file: file(), stated, found: frames, cut });
    }

    let transforms = samples.saturating_mul(joints.len() as u64);
    budget.take(transforms.saturating_mul(size_of::<Transform>() as u64))?;
    let mut poses = Vec::with_capacity(transforms as usize);
    for frame in 0..frames {
        if frame > 0 {
            read_frame(tokens, &mut numbers, frame)?;
        }
        if frame.checked_sub(dropped as u64).is_some_and(|frame| frame.is_multiple_of(step)) {
            push_pose(joints, &numbers, unit_cm, &mut poses);
        }
    }
    Ok(Motion { samples: poses, rate_hz: native_hz / step as f32, unit_cm, notes })
}

fn read_frame(tokens: &mut Tokens<'_>, numbers: &mut [f64], frame: u64) -> Result<(), ImportError> {
    let count = numbers.len();
    for (index, number) in numbers.iter_mut().enumerate() {
        *number =
            tokens.number(|| format!("number {} of {count} of frame {}", index + 1, frame + 1))?;
    }
    Ok(())
}

fn push_pose(joints: &[BvhJoint], mut numbers: &[f64], unit_cm: f64, poses: &mut Vec<Transform>) {
    for joint in joints {
        let (own, rest) = numbers.split_at(joint.channels.len());
        poses.push(joint.pose(own, unit_cm));
        numbers = rest;
    }
}

/// Returns the rate for a frame time, rounded to a whole number because files give frame times with
/// few digits. A rate below one frame in two seconds is not rounded, because it would round to
/// zero.
fn nearest_rate(frame_time_s: f64) -> f32 {
    let rate = 1.0 / frame_time_s;
    if rate.round() > 0.0 { rate.round() as f32 } else { rate as f32 }
}

/// Returns the number of frames from one sample to the next at the requested rate.
fn step(file: &str, native_hz: f32, rate_hz: Option<f32>) -> Result<u64, ImportError> {
    let Some(rate_hz) = rate_hz else { return Ok(1) };
    let ratio = f64::from(native_hz) / f64::from(rate_hz);
    let step = ratio.round();
    if step < 1.0 || (ratio - step).abs() > 1e-4 {
        let possible_hz = divisors(native_hz);
        return Err(ImportError::RateNotPossible {
            file: file.to_owned(),
            rate_hz,
            native_hz,
            possible_hz,
        });
    }
    Ok(step as u64)
}

/// Returns the whole rates up to 10 kHz that divide `native_hz`.
fn divisors(native_hz: f32) -> Vec<u32> {
    if native_hz.fract() != 0.0 || native_hz > 10_000.0 {
        return Vec::new();
    }
    let native = native_hz as u32;
    (1..=native).rev().filter(|rate| native.is_multiple_of(*rate)).collect()
}
