//! The parts of clips that the readers of all formats share: the names of clips and curves, and the
//! limit on samples.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::budget::Budget;
use super::{ImportError, Note};
use crate::{MAX_NAME_BYTES, MAX_SAMPLES, RawClip, RawClipError, Skeleton};

/// If a skeleton is smaller than this, a note warns that its unit is probably wrong.
const SMALL_CM: f64 = 5.0;
/// The note suggests a unit that makes the skeleton at least this large.
const USUAL_CM: f64 = 30.0;

/// An upper bound on the memory that a curve takes besides its values and its name, in bytes.
const MOST_OF_CURVE_BYTES: u64 = 512;

/// Returns the name of a file without its directories, and without the first ending in `endings`
/// that matches.
pub(super) fn stem<'a>(file: &'a str, endings: &[&str]) -> &'a str {
    let name = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file);
    endings.iter().find_map(|ending| without_ending(name, ending)).unwrap_or(name)
}

pub(super) fn without_ending<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    let (stem, end) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
    end.eq_ignore_ascii_case(ending).then_some(stem)
}

/// Returns the name of a clip, made from the stem of the file's name and the animation's own name.
pub(super) fn name(stem: &str, own: &str) -> String {
    format!("{stem}__{own}").replace(' ', "_").replace(['|', '/'], "-")
}

/// Returns the number of samples of a clip of `duration_s` seconds, including the first and the
/// last. The number of intervals is rounded to the nearest whole number.
pub(super) fn samples(duration_s: f64, rate_hz: f32) -> usize {
    // The cast saturates, so a huge duration gives the largest number.
    ((duration_s * f64::from(rate_hz)).round_ties_even() as usize).saturating_add(1)
}

/// Returns a note for a skeleton so small that its unit is probably wrong. The error is usually a
/// power of ten, such as metres that were read as cm. The extent includes the origin, because the
/// origin is on the ground.
pub(super) fn size_note(file: &str, skeleton: &Skeleton, unit_cm: f64) -> Option<Note> {
    let bind = skeleton.bind_pose();
    let mut model = bind.clone();
    skeleton.model_pose(&bind, &mut model);
    let side = |axis: usize| {
        let places = model.iter().map(|joint| joint.translation[axis]);
        let (low, high) =
            places.fold((0.0_f32, 0.0_f32), |(low, high), c| (low.min(c), high.max(c)));
        f64::from(high) - f64::from(low)
    };
    let extent_cm = [0, 1, 2].map(side).into_iter().fold(0.0, f64::max);
    // If all joints are at the origin, no unit can be suggested.
    if !(extent_cm > 0.0 && extent_cm < SMALL_CM) {
        return None;
    }
    let tens = (USUAL_CM / extent_cm).log10().ceil() as i32;
    let (file, suggested_cm) = (file.to_owned(), unit_cm * 10.0_f64.powi(tens));
    Some(Note::Small { file, extent_cm, unit_cm, suggested_cm })
}

/// The maximum number of transforms that all clips of a file may have together, and the number that
/// remains.
#[derive(Clone, Copy)]
pub(super) struct Room {
    limit: usize,
    left: usize,
}

impl Room {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, left: limit }
    }

    /// Returns the size of a clip in transforms. A curve counts as a tenth, because a transform has
    /// ten numbers.
    fn transforms(samples: usize, joints: usize, curves: usize) -> usize {
        samples.saturating_mul(joints + curves.div_ceil(10))
    }

    /// Checks that there is room for a clip.
    pub(super) fn check(
        self,
        file: &str,
        clip: &str,
        samples: usize,
        joints: usize,
        curves: usize,
    ) -> Result<(), ImportError> {
        let (file, clip) = (|| file.to_owned(), || clip.to_owned());
        if samples > MAX_SAMPLES {
            let error = RawClipError::TooManySamples { samples };
            return Err(ImportError::Clip { file: file(), clip: clip(), error });
        }
        if Self::transforms(samples, joints, curves) > self.left {
            return Err(ImportError::TooManyTransforms {
                file: file(),
                clip: clip(),
                joints,
                samples: samples as u64,
                limit: self.limit,
            });
        }
        Ok(())
    }

    /// Subtracts the size of a clip from the remaining number.
    pub(super) fn take(&mut self, clip: &RawClip) {
        self.left -= Self::transforms(clip.samples(), clip.joints(), clip.curves().len());
    }
}

/// Makes the names of a clip's curves unique: a second `a` becomes `a-2`.
#[derive(Default)]
pub(super) struct Names {
    used: HashSet<String>,
    /// For each repeated name, the last number that was appended to it.
    again: HashMap<String, usize>,
}

impl Names {
    /// The maximum number of bytes that are added to the names of a node and a part. The added text
    /// consists of a dot, a part's number in place of its name, a dash, and another number.
    const MOST_ADDED: usize = 16;

    /// Returns the name of a curve, from the names of its node and of the part. A part without a
    /// name gets its number as its name. The function takes memory for a curve of `samples`
    /// samples. The inner error concerns the clip itself, and the caller adds the names of the file
    /// and the clip.
    pub(super) fn take(
        &mut self,
        of_node: &str,
        of_part: Option<&str>,
        number: usize,
        samples: usize,
        budget: &mut Budget,
    ) -> Result<Result<String, RawClipError>, ImportError> {
        let bytes = of_node.len() + of_part.map_or(0, str::len);
        if bytes > MAX_NAME_BYTES - Self::MOST_ADDED {
            return Ok(Err(RawClipError::LongName { bytes }));
        }
        // The set of names holds the name too, and so does the map if the name is repeated.
        budget.take(3 * bytes as u64 + 4 * samples as u64 + MOST_OF_CURVE_BYTES)?;
        let number = number.to_string();
        let of_part = of_part.unwrap_or(&number);
        let dot = if of_node.is_empty() { "" } else { "." };
        Ok(Ok(self.unique(format!("{of_node}{dot}{of_part}"))))
    }

    fn unique(&mut self, name: String) -> String {
        if self.used.insert(name.clone()) {
            return name;
        }
        let last = self.again.entry(name.clone()).or_insert(1);
        loop {
            *last += 1;
            let other = format!("{name}-{last}");
            if self.used.insert(other.clone()) {
                return other;
            }
        }
    }
}
