//! `kinepack info`: describes the contents of a replay.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use command_kit::table::{table, write_json};
use command_kit::{counted, escaped, print};
use kinepack::schema::{EntityKind, Field};
use serde::Serialize;

use super::moment::shown;
use super::unpack::for_each;
use super::{KpzError, open, read_error};

/// Show what a replay holds: length, size, kinds of entities, markers and notes.
#[derive(Args)]
pub struct Arguments {
    /// The replay.
    file: PathBuf,
    /// Decode the whole replay, and list its damaged parts. If there are any, the exit code is 1.
    #[arg(long)]
    verify: bool,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    file: String,
    name: String,
    level: &'static str,
    codec: String,
    profile_bytes: usize,
    kinds: Vec<KindReport>,
    event_kinds: Vec<KindReport>,
    rate_hz: f64,
    first_tick: Option<u32>,
    last_tick: Option<u32>,
    seconds: f64,
    bytes: u64,
    kbit_per_s: f64,
    groups: usize,
    largest_group_bytes: u64,
    /// The number of frames, which is counted only with --verify.
    frames: Option<u64>,
    is_complete: bool,
    markers: Vec<MarkerReport>,
    info: BTreeMap<String, String>,
    damage: Vec<String>,
}

#[derive(Serialize)]
struct KindReport {
    name: String,
    fields: Vec<String>,
}

#[derive(Serialize)]
struct MarkerReport {
    name: String,
    tick: u32,
    /// The time from the first frame, in seconds.
    seconds: f64,
}

fn kinds(schema: &kinepack::Schema) -> Vec<KindReport> {
    let name = |field: &Field| field.name.clone();
    let kind = |kind: &EntityKind| KindReport {
        name: kind.name().to_owned(),
        fields: schema.fields()[kind.fields()].iter().map(name).collect(),
    };
    schema.kinds().iter().map(kind).collect()
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), KpzError> {
    let Arguments { file, verify, json } = arguments;
    let mut replay = open(file)?;
    let failed = |error| read_error(file, error);
    let mut frames = None;
    if *verify {
        frames = Some(for_each(file, &mut replay, |_| Ok(()))?);
    }
    let ticks = replay.ticks().map_err(failed)?;
    let rate_hz = replay.rate_hz();
    let (first, last) = ticks.unwrap_or_default();
    let seconds = ticks.map_or(0.0, |_| (f64::from(last.0 - first.0) + 1.0) / rate_hz);
    let bytes = replay.file_bytes().map_err(failed)?;
    let markers = replay.markers().iter().map(|marker| MarkerReport {
        name: marker.name.clone(),
        tick: marker.tick.0,
        seconds: (f64::from(marker.tick.0) - f64::from(first.0)) / rate_hz,
    });
    let report = Report {
        file: file.display().to_string(),
        name: replay.name().to_owned(),
        level: replay.codec().level().name(),
        codec: format!("{:016x}", replay.codec().hash()),
        profile_bytes: replay.codec().profile().to_bytes().len(),
        kinds: kinds(replay.schema()),
        event_kinds: replay.events().map_or_else(Vec::new, |events| kinds(events.codec().schema())),
        rate_hz,
        first_tick: ticks.map(|(first, _)| first.0),
        last_tick: ticks.map(|(_, last)| last.0),
        seconds,
        bytes,
        kbit_per_s: if seconds > 0.0 { bytes as f64 * 8e-3 / seconds } else { 0.0 },
        groups: replay.groups(),
        largest_group_bytes: replay.group_sizes().map(|(_, bytes)| bytes).max().unwrap_or(0),
        frames,
        is_complete: replay.is_complete(),
        markers: markers.collect(),
        info: replay.info().clone(),
        damage: replay.damage().iter().map(ToString::to_string).collect(),
    };
    print(|out| if *json { write_json(&report, out) } else { write(&report, out) })?;
    if !report.damage.is_empty() {
        return Err(KpzError::Damaged {
            path: file.clone(),
            count: report.damage.len(),
            is_complete: report.is_complete,
        });
    }
    Ok(())
}

fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let row = |name: &str, value: String| [name.to_owned(), value];
    let kinds = |kinds: &[KindReport]| {
        let kind = |kind: &KindReport| match kind.name.as_str() {
            "" => kind.fields.join(", "),
            name => format!("{name} ({})", kind.fields.join(", ")),
        };
        kinds.iter().map(kind).collect::<Vec<_>>().join("; ")
    };
    let mut rows = vec![
        row(
            "length",
            match (report.first_tick, report.last_tick) {
                (Some(first), Some(last)) => format!(
                    "{}, ticks {first} to {last} at {} Hz",
                    shown(report.seconds),
                    report.rate_hz
                ),
                _ => "no frames".to_owned(),
            },
        ),
        row(
            "size",
            format!(
                "{}, {:.1} kbit/s, {}, the largest of {}",
                counted(report.bytes, "byte"),
                report.kbit_per_s,
                counted(report.groups, "group"),
                counted(report.largest_group_bytes, "byte")
            ),
        ),
        row(
            "level",
            format!(
                "{}, codec {}, a profile of {}",
                report.level,
                report.codec,
                counted(report.profile_bytes, "byte")
            ),
        ),
        row("fields", kinds(&report.kinds)),
    ];
    if !report.event_kinds.is_empty() {
        rows.push(row("fields of events", kinds(&report.event_kinds)));
    }
    if let Some(frames) = report.frames {
        rows.push(row("frames", frames.to_string()));
    }
    let end = if report.is_complete { "complete" } else { "still being written, or cut off" };
    rows.push(row("end", end.to_owned()));
    rows.extend(report.info.iter().map(|(key, value)| row(key, value.clone())));
    let title = format!("{}: {}", report.file, escaped(&report.name));
    writeln!(out, "{}", table([title, String::new()], 2, rows).trim_fmt())?;
    if !report.markers.is_empty() {
        let rows = report
            .markers
            .iter()
            .map(|marker| [marker.name.clone(), shown(marker.seconds), marker.tick.to_string()]);
        writeln!(out, "\n{}", table(["marker", "time", "tick"], 1, rows).trim_fmt())?;
    }
    for damage in &report.damage {
        writeln!(out, "{damage}")?;
    }
    Ok(())
}
