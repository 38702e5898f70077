//! Prints the report of `kinepack tune`.

use std::fmt::Write as _;
use std::io::{self, Write};

use command_kit::counted;
use command_kit::table::{table, write_text};
use kinepack::Schema;
use serde::Serialize;

use super::order::FieldOrder;
use crate::runs::{First, Further};
use crate::steps::FieldSteps;

/// The mean size of a frame without headers, in bytes.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Bytes {
    pub(super) packed: f64,
    pub(super) adaptive: f64,
}

/// The sizes of the frames on which the tuned profile was trained, and of the held-out frames.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Parts {
    pub(super) training: Bytes,
    pub(super) held_out: Bytes,
}

/// A further capture that the model was trained on.
#[derive(Serialize)]
pub(super) struct FurtherFile {
    file: String,
    stream: String,
    /// Ticks per second.
    rate_hz: f64,
    frames: usize,
    /// Both rates as text for people. The value is `None` if the rate equals that of the first
    /// capture.
    #[serde(skip)]
    rate_note: Option<String>,
}

impl FurtherFile {
    pub(super) fn new(further: &Further, frames: usize, first: First<'_>) -> Self {
        let Further { path, stream, rate_hz, .. } = further;
        Self {
            file: path.display().to_string(),
            stream: stream.clone(),
            rate_hz: *rate_hz,
            frames,
            rate_note: further.rate_note(first),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Report {
    pub(super) file: String,
    pub(super) stream: String,
    /// Ticks per second.
    pub(super) rate_hz: f64,
    pub(super) lag: u32,
    /// A description of the baseline that each frame is coded against.
    #[serde(skip)]
    pub(super) against: String,
    pub(super) training_frames: usize,
    pub(super) held_out_frames: usize,
    pub(super) further: Vec<FurtherFile>,
    pub(super) profile_bytes: Option<usize>,
    /// The name of the profile without tuning: `built-in` or `untrained`.
    pub(super) untuned: String,
    /// The hash of the schema for which the profile is made.
    pub(super) schema_hash: String,
    /// The sizes without tuning: with the built-in profile if the stream has cubes, otherwise with
    /// an untrained profile.
    pub(super) built_in: Parts,
    /// The sizes with the requested steps and the tuned profile. The value is `None` if a signal
    /// arrived before the profile was ready.
    pub(super) tuned: Option<Parts>,
    /// The fields that got new steps.
    pub(super) steps: Vec<FieldSteps>,
    /// The best order of fields. The value is `None` if there are too few fields or frames to
    /// search for it, or after a signal.
    pub(super) field_order: Option<FieldOrder>,
}

impl Report {
    pub(super) fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        let Self {
            file,
            stream,
            against,
            training_frames,
            held_out_frames,
            profile_bytes,
            built_in,
            tuned,
            ..
        } = self;
        let size = match profile_bytes {
            Some(bytes) => format!("the profile takes {}", counted(bytes, "byte")),
            None => "no profile was found".to_owned(),
        };
        write_text(out, "", &format!("{file}: {stream}"))?;
        let title = format!("bytes a frame, {against}; {size}");
        write_text(out, "", &title)?;
        let [training, held_out] =
            [tuned.map(|tuned: Parts| tuned.training), tuned.map(|tuned: Parts| tuned.held_out)];
        let rows = [
            ("training", training_frames, built_in.training, training),
            ("held out", held_out_frames, built_in.held_out, held_out),
        ];
        let rows = rows.map(|(part, frames, before, after)| {
            let cell = |bytes: f64| format!("{bytes:.1}");
            let tuned =
                |bytes: fn(Bytes) -> f64| after.map_or("–".to_owned(), |b| cell(bytes(b)));
            [
                part.to_owned(),
                frames.to_string(),
                cell(before.packed),
                tuned(|bytes| bytes.packed),
                cell(before.adaptive),
                tuned(|bytes| bytes.adaptive),
            ]
        });
        let [packed, adaptive] =
            ["packed", "adaptive"].map(|level| format!("{level}: {}", self.untuned));
        let header = ["", "frames", &packed, "tuned", &adaptive, "tuned"];
        writeln!(out, "{}", table(header, 1, rows).trim_fmt())?;
        // A capture without frames is left out here, because a message about it was printed before.
        let trained = self.further.iter().filter(|further| further.frames > 0);
        for FurtherFile { file, frames, rate_note, .. } in trained {
            let frames = counted(*frames, "frame");
            write_text(out, "", &format!("The model was trained on {frames} of {file} too."))?;
            if let Some(note) = rate_note {
                write_text(out, "", &format!("{note}."))?;
            }
        }
        self.write_steps(out)?;
        if let Some(order) = &self.field_order {
            writeln!(out)?;
            write_text(out, "", &order.to_string())?;
        }
        Ok(())
    }

    fn write_steps(&self, out: &mut impl Write) -> io::Result<()> {
        if self.steps.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        write_text(
            out,
            "",
            "The profile is for these steps; write them into the struct, or the profile is \
             refused:",
        )?;
        let rows = self.steps.iter().map(|steps| {
            // The numbers have four digits, regardless of their magnitude.
            let error = |error: f64| format!("{error:.3e}").parse().unwrap_or(error).to_string();
            [
                steps.field.clone(),
                steps.was.clone(),
                steps.attribute.clone(),
                error(steps.asked),
                error(steps.error.p50),
                error(steps.error.p99),
                error(steps.error.max),
            ]
        });
        let header = ["field", "was", "now", "error asked", "half", "99 %", "largest"];
        writeln!(out, "{}", table(header, 1, rows).trim_fmt())?;
        writeln!(out)?;
        let hint = "To try the profile before you change the struct, give `measure` or `replay` \
                    the same --max-error.";
        write_text(out, "", hint)
    }
}

/// Formats the profile as a constant in Rust.
pub(super) fn constant(schema: &Schema, bytes: &[u8]) -> String {
    let mut text = format!(
        "/// A profile that `kinepack tune` found, for `kinepack::Profile::from_bytes` with the \
         schema of hash {:016x}.\n#[rustfmt::skip]\npub const PROFILE: [u8; {}] = [\n",
        schema.hash(),
        bytes.len()
    );
    for line in bytes.chunks(32) {
        text.push_str("   ");
        for byte in line {
            // Writing to a string cannot fail.
            let _ = write!(text, " {byte},");
        }
        text.push('\n');
    }
    text + "];\n"
}
