//! What `kinepack tune` says.

use std::fmt::Write as _;
use std::io::{self, Write};

use command_kit::table::table;
use kinepack::Schema;
use serde::Serialize;

use super::order::FieldOrder;
use super::steps::FieldSteps;

/// Bytes of a frame, without headers.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Bytes {
    pub(super) packed: f64,
    pub(super) adaptive: f64,
}

/// On the frames that the tuned profile was made from, and on the others.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Parts {
    pub(super) training: Bytes,
    pub(super) held_out: Bytes,
}

#[derive(Serialize)]
pub(super) struct Report {
    pub(super) file: String,
    pub(super) stream: String,
    pub(super) lag: u32,
    pub(super) training_frames: usize,
    pub(super) held_out_frames: usize,
    pub(super) profile_bytes: usize,
    /// What there is without tuning: `built-in` or `untrained`.
    pub(super) untuned: String,
    /// Of the schema that the profile is for.
    pub(super) schema_hash: String,
    /// Of the stream as it is, with the profile that is there without tuning: the one trained for
    /// cubes where the stream has them, else one that knows nothing.
    pub(super) built_in: Parts,
    /// With the steps that were asked for, and the profile for them.
    pub(super) tuned: Parts,
    /// Fields that were given other steps.
    pub(super) steps: Vec<FieldSteps>,
    /// The order of fields that takes least, where it was looked for.
    pub(super) field_order: Option<FieldOrder>,
}

impl Report {
    pub(super) fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        let Self {
            file,
            stream,
            lag,
            training_frames,
            held_out_frames,
            profile_bytes,
            built_in,
            tuned,
            ..
        } = self;
        writeln!(
            out,
            "{file}: {stream}\nbytes a frame, each against the one {lag} before; the profile takes {profile_bytes} bytes"
        )?;
        let rows = [
            ("training", training_frames, built_in.training, tuned.training),
            ("held out", held_out_frames, built_in.held_out, tuned.held_out),
        ];
        let rows = rows.map(|(part, frames, before, after)| {
            let cell = |bytes: f64| format!("{bytes:.1}");
            [
                part.to_owned(),
                frames.to_string(),
                cell(before.packed),
                cell(after.packed),
                cell(before.adaptive),
                cell(after.adaptive),
            ]
        });
        let [packed, adaptive] =
            ["packed", "adaptive"].map(|level| format!("{level}: {}", self.untuned));
        let header = ["", "frames", &packed, "tuned", &adaptive, "tuned"];
        writeln!(out, "{}", table(header, 1, rows).trim_fmt())?;
        self.write_steps(out)?;
        if let Some(order) = &self.field_order {
            writeln!(out, "\n{order}")?;
        }
        Ok(())
    }

    fn write_steps(&self, out: &mut impl Write) -> io::Result<()> {
        if self.steps.is_empty() {
            return Ok(());
        }
        writeln!(
            out,
            "\nThe profile is for these steps; write them into the struct, or the profile is refused:"
        )?;
        let rows = self.steps.iter().map(|steps| {
            // To four digits, of any size.
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
        writeln!(out, "{}", table(header, 3, rows).trim_fmt())
    }
}

/// The profile as Rust.
pub(super) fn constant(schema: &Schema, bytes: &[u8]) -> String {
    let mut text = format!(
        "/// A profile that `kinepack tune` found, for `kinepack::Profile::from_bytes` with the schema of hash {:016x}.\n#[rustfmt::skip]\npub const PROFILE: [u8; {}] = [\n",
        schema.hash(),
        bytes.len()
    );
    for line in bytes.chunks(32) {
        text.push_str("   ");
        for byte in line {
            // Writing to a string does not fail.
            let _ = write!(text, " {byte},");
        }
        text.push('\n');
    }
    text + "];\n"
}
