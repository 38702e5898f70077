//! Reads recordings of Live Link Face: the face shapes of ARKit as CSV, a row for each frame.
//!
//! The first two columns are `Timecode` and `BlendShapeCount`. A timecode `HH:MM:SS:FF.mmm` counts
//! frames, with a fraction that may be absent. Its rate is not in the file. It is the number of
//! frames in a second that has them all, or the lowest common rate that has all the frame numbers.
//! The other columns are 52 shapes, which are 0 to 1, and nine
//! angles of the head and the eyes in radians. Their order and case do not matter. Sources: the
//! documentation of ARKit's `ARFaceAnchor.BlendShapeLocation`, and of Live Link Face by Epic Games.

use std::f32::consts::PI;
use std::fmt;

use super::csv;
use super::timecode::{Row, rate_hz, timecode};
use crate::figure::{FigureCurve, FigureOptions, Motion};
use crate::{Joint, Skeleton, Transform};

/// The names of ARKit's face shapes, in the order of Live Link Face. Their values are 0 to 1.
#[rustfmt::skip]
pub const ARKIT_SHAPES: [&str; 52] = [
    "eyeBlinkLeft", "eyeLookDownLeft", "eyeLookInLeft", "eyeLookOutLeft", "eyeLookUpLeft",
    "eyeSquintLeft", "eyeWideLeft", "eyeBlinkRight", "eyeLookDownRight", "eyeLookInRight",
    "eyeLookOutRight", "eyeLookUpRight", "eyeSquintRight", "eyeWideRight", "jawForward",
    "jawRight", "jawLeft", "jawOpen", "mouthClose", "mouthFunnel", "mouthPucker", "mouthRight",
    "mouthLeft", "mouthSmileLeft", "mouthSmileRight", "mouthFrownLeft", "mouthFrownRight",
    "mouthDimpleLeft", "mouthDimpleRight", "mouthStretchLeft", "mouthStretchRight",
    "mouthRollLower", "mouthRollUpper", "mouthShrugLower", "mouthShrugUpper", "mouthPressLeft",
    "mouthPressRight", "mouthLowerDownLeft", "mouthLowerDownRight", "mouthUpperUpLeft",
    "mouthUpperUpRight", "browDownLeft", "browDownRight", "browInnerUp", "browOuterUpLeft",
    "browOuterUpRight", "cheekPuff", "cheekSquintLeft", "cheekSquintRight", "noseSneerLeft",
    "noseSneerRight", "tongueOut",
];

/// The names of the angles of the head and the eyes, in the order of Live Link Face. They are in
/// radians, from −π to π.
#[rustfmt::skip]
pub const HEAD_AND_EYES: [&str; 9] = [
    "headYaw", "headPitch", "headRoll", "leftEyeYaw", "leftEyePitch", "leftEyeRoll",
    "rightEyeYaw", "rightEyePitch", "rightEyeRoll",
];

/// The largest error of a value as a curve.
const PRECISION: f32 = 0.01;

/// How far a value may be beyond its range, which is rounding. It is then limited to the range.
const SLACK: f32 = 0.05;

const DAY_S: f64 = 86_400.0;
/// A longer time between two rows is a jump. Between frames that are farther apart, the face holds.
const LONGEST_GAP_S: f64 = 10.0;

/// The reason why a file is no recording of a face.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FaceError {
    /// The file is not UTF-8.
    NotUtf8,
    /// The first line is not that of Live Link Face: `Timecode,BlendShapeCount,` and known names.
    NoHeader,
    /// Two columns have the same name.
    TwoColumns {
        /// The name.
        name: &'static str,
    },
    /// There is no frame in which a face was tracked.
    NoFrame,
    /// A row has too few or too many fields.
    WrongCount {
        /// The line, from 1.
        line: usize,
        /// The fields that the header has.
        expected: usize,
        /// The fields that the row has.
        found: usize,
    },
    /// A timecode is not `HH:MM:SS:FF` with an optional fraction.
    BadTimecode {
        /// The line, from 1.
        line: usize,
    },
    /// A value is not a number within its range.
    BadValue {
        /// The line, from 1.
        line: usize,
        /// The name of the column.
        name: &'static str,
    },
}

impl fmt::Display for FaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 => write!(f, "the file is not text in UTF-8"),
            Self::NoHeader => write!(
                f,
                "not a recording of Live Link Face: it would begin with Timecode,BlendShapeCount \
                 and names of face shapes"
            ),
            Self::TwoColumns { name } => write!(f, "two columns have the name {name}"),
            Self::NoFrame => write!(f, "no frame in which a face was tracked"),
            Self::WrongCount { line, expected, found } => {
                write!(f, "line {line}: {found} fields instead of {expected}")
            }
            Self::BadTimecode { line } => {
                write!(f, "line {line}: the timecode is not HH:MM:SS:FF with a fraction or without")
            }
            Self::BadValue { line, name } => write!(
                f,
                "line {line}: {name} is not a number in its range (0 to 1, or radians for angles)"
            ),
        }
    }
}

impl std::error::Error for FaceError {}

/// A recording of a face.
///
/// ```
/// use kinepack_anim::live::FaceClip;
///
/// let text = "Timecode,BlendShapeCount,JawOpen,HeadYaw\r\n\
///     14:03:52:28.207,61,0.0,0.1\r\n\
///     14:03:52:58.207,61,1.0,0.1\r\n";
/// let face = FaceClip::read(text.as_bytes())?;
/// assert_eq!(face.curve_names(), ["jawOpen", "headYaw"]);
/// assert_eq!(face.duration_s(), 0.5);
/// let mut curves = Vec::new();
/// assert!(face.sample(0.25, false, &mut curves));
/// assert_eq!(curves, [0.5, 0.1]);
/// # Ok::<(), kinepack_anim::live::FaceError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FaceClip {
    names: Vec<&'static str>,
    /// The times of the frames, which increase from 0.
    times_s: Vec<f64>,
    /// The time from a frame to the next, if none is missing.
    frame_s: f64,
    /// The values of all curves at the first time, then at the second, and so on.
    values: Vec<f32>,
    /// The number of rows without a face.
    untracked: usize,
    backwards: OddRows,
    jumps: OddRows,
    is_cut: bool,
}

/// Rows of a recording whose timecodes do not follow the rows before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OddRows {
    /// The number of rows.
    pub count: usize,
    /// The line of the first one, from 1; 0 if there is none.
    pub line: usize,
}

impl OddRows {
    fn add(&mut self, line: u32) {
        if self.count == 0 {
            self.line = line as usize;
        }
        self.count += 1;
    }
}

impl FaceClip {
    /// Reads the bytes of a file. Rows without a tracked face, and rows whose time is not after
    /// that of the row before, are left out. So is a last row without the end of its line, because
    /// its last number may be cut off. The memory is at most eight times that of the file.
    ///
    /// # Errors
    /// Returns [`FaceError`], with the line, for the first fault.
    pub fn read(bytes: &[u8]) -> Result<Self, FaceError> {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            // A file that was cut off may end within a character.
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(_) => return Err(FaceError::NotUtf8),
        };
        let mut lines = csv::lines(text);
        let columns = columns(lines.next().map_or("", |(_, line)| line))?;
        let names: Vec<&str> = columns.iter().flatten().copied().collect();
        let mut rows: Vec<Row> = Vec::new();
        let mut values = Vec::new();
        let mut is_cut = false;
        let mut lines = lines.peekable();
        while let Some((line, row)) = lines.next() {
            let kept = values.len();
            let may_be_cut = lines.peek().is_none()
                && !text.ends_with(csv::LINE_ENDS)
                && !ends_without_value(row, &columns);
            match read_row(line, row, &columns, &mut values) {
                _ if may_be_cut => {
                    values.truncate(kept);
                    is_cut = true;
                }
                row => rows.push(row?),
            }
        }
        let untracked = rows.iter().filter(|row| !row.is_tracked).count();
        let (backwards, jumps) = (OddRows::default(), OddRows::default());
        let (times_s, rate_hz) = (Vec::new(), rate_hz(&rows));
        let frame_s = 1.0 / rate_hz;
        let mut clip =
            Self { names, times_s, frame_s, values, untracked, backwards, jumps, is_cut };
        clip.set_times(&rows, rate_hz);
        if clip.times_s.is_empty() { Err(FaceError::NoFrame) } else { Ok(clip) }
    }

    /// Computes the times of the rows, and removes the values of rows that are not later than the
    /// one before.
    fn set_times(&mut self, rows: &[Row], rate_hz: f64) {
        let time_s = |row: &Row| f64::from(row.whole_s) + row.frame / rate_hz;
        let Some(first_s) = rows.iter().find(|row| row.is_tracked).map(time_s) else { return };
        let (mut days_s, mut before_s) = (0.0, f64::NEG_INFINITY);
        let stride = self.names.len();
        let mut tracked = 0;
        for row in rows {
            let from = tracked * stride;
            tracked += usize::from(row.is_tracked);
            let mut at_s = time_s(row) - first_s + days_s;
            if at_s < before_s - DAY_S / 2.0 {
                // The recording continues after midnight.
                days_s += DAY_S;
                at_s += DAY_S;
            }
            if at_s <= before_s {
                if row.is_tracked {
                    self.backwards.add(row.line);
                }
                continue;
            }
            if before_s.is_finite() && at_s - before_s > LONGEST_GAP_S {
                self.jumps.add(row.line);
            }
            before_s = at_s;
            if row.is_tracked {
                let kept = self.times_s.len();
                self.values.copy_within(from..from + stride, kept * stride);
                self.times_s.push(at_s);
            }
        }
        self.values.truncate(self.times_s.len() * stride);
    }

    /// The names of the curves: [`ARKIT_SHAPES`] and [`HEAD_AND_EYES`], as far as the file has
    /// them, in its order.
    pub fn curve_names(&self) -> &[&'static str] {
        &self.names
    }

    /// The number of frames.
    pub fn frames(&self) -> usize {
        self.times_s.len()
    }

    /// The time from the first frame to the last, in seconds.
    pub fn duration_s(&self) -> f64 {
        self.times_s.last().copied().unwrap_or(0.0)
    }

    /// The number of rows that were left out, because no face was tracked.
    pub fn untracked(&self) -> usize {
        self.untracked
    }

    /// The rows that were left out, because their time was not after that of the row before.
    pub fn backwards(&self) -> OddRows {
        self.backwards
    }

    /// The rows whose time is more than ten seconds after that of the row before.
    pub fn jumps(&self) -> OddRows {
        self.jumps
    }

    /// Whether the last row was left out, because its line has no end, so a number may be cut off.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The skeleton of a face: a head that does not move. The angles of the head are curves.
    pub fn skeleton() -> Skeleton {
        let head = Joint { name: "head".into(), parent: None, bind: Transform::IDENTITY };
        Skeleton::new(vec![head]).expect("a joint without a parent")
    }

    /// Returns the options of the face's figure, whose curves are exact to 0.01.
    pub fn options(&self) -> FigureOptions {
        let curve = |name: &&'static str| {
            let (min, max) = range(name);
            FigureCurve { name: (*name).to_owned(), min, max, precision: PRECISION }
        };
        FigureOptions {
            motions: vec![(0, Motion::Still)],
            curves: self.names.iter().map(curve).collect(),
            ..FigureOptions::default()
        }
    }

    /// Writes the values at a time in seconds, linear between frames. If the next frame is more than
    /// ten seconds after the one before, the face holds still until the time of one frame is left.
    ///
    /// Returns false at and after the end if the recording does not loop; the values are then those
    /// of the last frame.
    pub fn sample(&self, time_s: f64, loops: bool, curves: &mut Vec<f32>) -> bool {
        let duration_s = self.duration_s();
        let plays = loops || time_s < duration_s;
        let mut at_s = time_s.max(0.0);
        if at_s >= duration_s {
            at_s = if loops && duration_s > 0.0 { at_s % duration_s } else { duration_s };
        }
        let to = self.times_s.partition_point(|own_s| *own_s <= at_s).min(self.frames() - 1);
        let from = to.saturating_sub(1);
        let mut span_s = self.times_s[to] - self.times_s[from];
        if span_s > LONGEST_GAP_S {
            span_s = self.frame_s;
        }
        let left_s = self.times_s[to] - at_s;
        let share = if span_s > 0.0 { (1.0 - left_s / span_s).clamp(0.0, 1.0) } else { 0.0 };
        let row = |frame: usize| &self.values[frame * self.names.len()..][..self.names.len()];
        curves.clear();
        let pairs = row(from).iter().zip(row(to));
        curves.extend(pairs.map(|(from, to)| from + (to - from) * share as f32));
        plays
    }
}

/// Reads the header. Each column after the first two gets its name, or `None` if it is unknown.
fn columns(line: &str) -> Result<Vec<Option<&'static str>>, FaceError> {
    let mut fields = csv::fields(line);
    for expected in ["Timecode", "BlendShapeCount"] {
        if !fields.next().is_some_and(|field| field.eq_ignore_ascii_case(expected)) {
            return Err(FaceError::NoHeader);
        }
    }
    let mut columns: Vec<Option<&'static str>> = Vec::new();
    for field in fields {
        let mut known = ARKIT_SHAPES.iter().chain(&HEAD_AND_EYES);
        let name = known.find(|known| field.eq_ignore_ascii_case(known)).copied();
        if let Some(name) = name
            && columns.contains(&Some(name))
        {
            return Err(FaceError::TwoColumns { name });
        }
        columns.push(name);
    }
    match columns.iter().any(Option::is_some) {
        true => Ok(columns),
        false => Err(FaceError::NoHeader),
    }
}

/// Reads a row. If a face was tracked, appends the values of known columns.
fn read_row(
    line: usize,
    row: &str,
    columns: &[Option<&'static str>],
    values: &mut Vec<f32>,
) -> Result<Row, FaceError> {
    let mut fields = csv::fields(row);
    let time = fields.next().unwrap_or_default();
    let (whole_s, frame) = timecode(&time).ok_or(FaceError::BadTimecode { line })?;
    let count = fields.next();
    let is_tracked = count.is_none_or(|count| count.parse() != Ok(0));
    let read = Row { line: line as u32, whole_s, frame, is_tracked };
    if !is_tracked {
        return Ok(read);
    }
    let found = 2 + fields.by_ref().count();
    let expected = 2 + columns.len();
    if found != expected {
        return Err(FaceError::WrongCount { line, expected, found });
    }
    for (name, field) in columns.iter().zip(csv::fields(row).skip(2)) {
        let Some(name) = name else { continue };
        let value: Option<f32> = field.parse().ok();
        let (min, max) = range(name);
        let value = value.filter(|value| (min - SLACK..=max + SLACK).contains(value));
        let value = value.ok_or(FaceError::BadValue { line, name })?;
        values.push(value.clamp(min, max));
    }
    Ok(read)
}

/// Whether the end of a row surely is not that of a cut number: the last field is in quotes, or in
/// a column that is not read.
fn ends_without_value(row: &str, columns: &[Option<&'static str>]) -> bool {
    let is_unread = columns.last().is_some_and(Option::is_none);
    let is_quoted = row.ends_with('"') && row.matches('"').count().is_multiple_of(2);
    is_quoted || (is_unread && csv::fields(row).count() == 2 + columns.len())
}

fn range(name: &str) -> (f32, f32) {
    if HEAD_AND_EYES.contains(&name) { (-PI, PI) } else { (0.0, 1.0) }
}
