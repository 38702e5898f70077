//! Prints the report of `measure`, as a table and as JSON.

use std::io::{self, Write};

use command_kit::bandwidth::{HEADER_BYTES, kbps};
use command_kit::counted;
use command_kit::cube_precision::{ErrorReport, Errors};
use command_kit::table::{table, write_json, write_text};
use serde::Serialize;

use crate::captured::Pace;
use crate::ladder::Measurement;

/// The results of one run of the ladder.
#[derive(Serialize)]
pub(crate) struct Report {
    file: String,
    lag: u32,
    /// Ticks per second.
    rate_hz: f64,
    /// Frames per second. There are fewer frames than ticks if some ticks have no frame. Kilobits
    /// per second are computed from this rate.
    frames_per_s: f64,
    /// The number of frames that were encoded, decoded and compared.
    frames: usize,
    /// The largest number of entities in a frame.
    entities: usize,
    levels: Vec<LevelReport>,
}

#[derive(Serialize)]
struct LevelReport {
    level: &'static str,
    row: u8,
    bytes_per_frame: Bytes,
    bits_per_frame: Bits,
    kbps_payload: f64,
    kbps_with_headers: f64,
    changed_per_frame: f64,
    /// The time to fill a snapshot from structs of floats, in microseconds. It is only measured for
    /// cubes, whose type is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    fill_us_per_frame: Option<f64>,
    encode_us_per_frame: f64,
    decode_us_per_frame: f64,
    /// The time to read a snapshot into structs of floats, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    read_us_per_frame: Option<f64>,
    verified: bool,
    /// The errors of values that a time precision makes inexact.
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<ErrorReport>,
}

#[derive(Serialize)]
struct Bytes {
    mean: f64,
    p50: u32,
    p95: u32,
    max: u32,
}

#[derive(Serialize)]
struct Bits {
    flags_and_indices: f64,
    position: f64,
    orientation: f64,
    others: f64,
}

impl Report {
    pub(crate) fn new<'a>(
        file: String,
        lag: u32,
        Pace { rate_hz, frames_per_s }: Pace,
        entities: usize,
        measurements: impl Iterator<Item = &'a Measurement>,
    ) -> Self {
        let levels: Vec<&Measurement> = measurements.collect();
        Self {
            file,
            lag,
            rate_hz,
            frames_per_s,
            frames: levels.first().map_or(0, |level| level.frames_bytes.len()),
            entities,
            levels: levels.into_iter().map(|level| LevelReport::new(level, frames_per_s)).collect(),
        }
    }

    /// Writes the report as one JSON document.
    pub(crate) fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        write_json(self, out)
    }

    /// Writes a table of the levels.
    pub(crate) fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { file, lag, rate_hz, frames_per_s, frames, entities, .. } = self;
        let pace = Pace { rate_hz: *rate_hz, frames_per_s: *frames_per_s };
        let title = format!(
            "{entities} {} at {pace}, {}, {}, decoded and compared",
            if *entities == 1 { "entity" } else { "entities" },
            counted(frames, "frame"),
            pace.against(*lag)
        );
        writeln!(out, "{file}")?;
        write_text(out, "", &title)?;
        let header = [
            "",
            "\nlevel",
            "bytes\nmean",
            "\np50",
            "\np95",
            "\nmax",
            "kbit/s\npayload",
            "\n+headers",
            "bits\nsets",
            "\nposition",
            "\norient.",
            "\nothers",
            "µs\nfill",
            "\nencode",
            "\ndecode",
            "\nread",
        ];
        let rows = self.levels.iter().map(LevelReport::cells);
        writeln!(out, "{}", table(header, 2, rows).trim_fmt())?;
        self.write_errors(out)
    }

    /// Writes the errors of values that are not exact.
    fn write_errors(&self, out: &mut impl Write) -> io::Result<()> {
        let rows: Vec<Vec<String>> = self
            .levels
            .iter()
            .filter_map(|level| {
                let cells = level.errors.as_ref()?.cells();
                Some([level.level.to_owned()].into_iter().chain(cells).collect())
            })
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        let header = ["\nlevel", "mm\nmean", "\np99", "\nmax", "degrees\nmean", "\np99", "\nmax"];
        writeln!(out)?;
        write_text(out, "", "Errors of the values that are not exact")?;
        writeln!(out, "{}", table(header, 1, rows).trim_fmt())
    }
}

impl LevelReport {
    fn new(measurement: &Measurement, frames_per_s: f64) -> Self {
        let parts = measurement.mean_parts_bits();
        let mean = measurement.mean_bytes();
        Self {
            level: measurement.level.name(),
            row: measurement.level.row(),
            bytes_per_frame: Bytes {
                mean,
                p50: measurement.percentile_bytes(0.50),
                p95: measurement.percentile_bytes(0.95),
                max: measurement.percentile_bytes(1.0),
            },
            bits_per_frame: Bits {
                flags_and_indices: parts.flags_and_indices,
                position: parts.position,
                orientation: parts.orientation,
                others: parts.others,
            },
            kbps_payload: kbps(mean, frames_per_s),
            kbps_with_headers: kbps(mean + HEADER_BYTES, frames_per_s),
            changed_per_frame: measurement.mean_changed(),
            fill_us_per_frame: measurement.fill_us(),
            encode_us_per_frame: measurement.encode_us(),
            decode_us_per_frame: measurement.decode_us(),
            read_us_per_frame: measurement.read_us(),
            // This is always true, because a frame that differs after decoding ends the command.
            verified: true,
            errors: measurement.errors.as_ref().map(Errors::report),
        }
    }

    fn cells(&self) -> [String; 16] {
        let Self { bytes_per_frame: bytes, bits_per_frame: bits, .. } = self;
        let stage = |us: Option<f64>| us.map_or_else(String::new, |us| format!("{us:.1}"));
        [
            self.row.to_string(),
            self.level.to_owned(),
            format!("{:.1}", bytes.mean),
            bytes.p50.to_string(),
            bytes.p95.to_string(),
            bytes.max.to_string(),
            format!("{:.1}", self.kbps_payload),
            format!("{:.1}", self.kbps_with_headers),
            format!("{:.0}", bits.flags_and_indices),
            format!("{:.0}", bits.position),
            format!("{:.0}", bits.orientation),
            format!("{:.0}", bits.others),
            stage(self.fill_us_per_frame),
            format!("{:.1}", self.encode_us_per_frame),
            format!("{:.1}", self.decode_us_per_frame),
            stage(self.read_us_per_frame),
        ]
    }
}
