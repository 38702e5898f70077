//! `kinepack anim compare`: compares the schemes, or the steps of the keyed scheme, on the same
//! clips.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use command_kit::table::{percent, table, write_json, write_text};
use command_kit::{counted, print};
use flate2::Compression;
use flate2::write::GzEncoder;
use kinepack_anim::keyed::{Parametrization, RotationBits};
use kinepack_anim::measure::ErrorReport;
use kinepack_anim::offline::{
    BuildOptions, KeyPosition, KeyedOptions, Margins, Scheme, animated_raw_bytes,
};
use kinepack_anim::{RawClip, exchange};
use serde::Serialize;

use super::import_options::ImportArguments;
use super::peers::{Comparison, Peers};
use super::rigs::{RigReport, Rigs};
use super::scheme::{EffortName, SchemeArguments, SchemeName};
use super::sources::{self, BuiltClip, Source};
use super::timing;
use crate::anim::error::AnimError;

/// Compare the sizes, errors and speed of schemes on animation files.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Animations: .glb, .gltf, .vrm, .vrma, .bvh, .bvh.zst, .clip or, with the feature
    /// fbx, .fbx.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Show the effect of each option of the keyed scheme: once with only this option on, and once
    /// with only this option off.
    #[arg(long)]
    options: bool,
    /// Compare clip by clip with another codec: a CSV file with the columns file, clip, samples,
    /// NAME_bytes and NAME_max_error_cm.
    #[arg(long, value_name = "CSV")]
    peer: Option<PathBuf>,
    /// Let clips of one skeleton share a rig. The bytes of rigs count.
    #[arg(long, conflicts_with = "options")]
    rig: bool,
    #[command(flatten)]
    scheme: SchemeArguments,
    #[command(flatten)]
    import: ImportArguments,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    clips: usize,
    raw_bytes: usize,
    animated_raw_bytes: usize,
    precision_cm: f64,
    rows: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer: Option<Comparison>,
    notes: Vec<String>,
    /// The bad parts of the input. The command exits with 1 if the list is not empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<String>,
}

/// The results of one scheme over all clips.
#[derive(Serialize)]
struct Row {
    name: String,
    bytes: usize,
    /// The results of playback. The value is `None` for forms that cannot be played.
    #[serde(flatten)]
    played: Option<Played>,
}

#[derive(Serialize)]
struct Played {
    max_error_cm: f64,
    /// The 99th percentile of errors, averaged over the clips.
    p99_error_cm: f64,
    max_error_between_cm: f64,
    foot_slide_cm: f64,
    /// The speed of a build on one core, in megabytes of raw samples per second.
    build_mb_per_s: f64,
    /// The time to play a joint, as the mean over the clips with 30 to 50 joints, or over all clips
    /// if there are none.
    sample_ns_per_joint: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), AnimError> {
    let peers = arguments.peer.as_deref().map(Peers::read).transpose()?;
    let read = sources::read_some(&arguments.files, &arguments.import)?;
    let (sources, notes, skipped) = read.into_parts();
    arguments.scheme.check(sources.iter().map(|source| &source.raw))?;
    arguments.scheme.check_block(&[("--rig", arguments.rig)])?;
    let schemes = if arguments.options { options(arguments) } else { schemes(arguments) };
    let mut rows = if arguments.options { Vec::new() } else { plain(&sources)? };
    let mut last = Vec::new();
    for (name, options) in schemes {
        last = sources::build_all(&sources, options, &name, None)?;
        rows.push(Row::new(name, &sources, &last));
    }
    let mut rig_bytes = 0;
    if arguments.rig {
        let options = |raw: &RawClip| arguments.scheme.options(raw);
        let rigs = Rigs::of(&sources, options, None, None)?;
        last = sources::build_all(&sources, |raw| rigs.give(raw, options(raw)), "with rigs", None)?;
        rig_bytes = rigs.reports(&last, None).iter().map(RigReport::bytes).sum();
        let row = Row::new("  the same with rigs".to_owned(), &sources, &last);
        rows.push(Row { bytes: row.bytes + rig_bytes, ..row });
    }
    let packed =
        sources::on_all_cores(&last, "packed", |built| Ok(built.packed().map(<[u8]>::len)))?;
    if let Some(bytes) = packed.into_iter().sum::<Option<usize>>() {
        rows.push(Row {
            name: "  the same on disk".to_owned(),
            bytes: bytes + rig_bytes,
            played: None,
        });
    }
    let animated = sources.iter().map(|source| animated_raw_bytes(&source.raw)).sum();
    let report = Report {
        clips: sources.len(),
        raw_bytes: sources.iter().map(|source| source.raw.raw_bytes()).sum(),
        animated_raw_bytes: animated,
        precision_cm: arguments.scheme.precision_cm(),
        rows,
        peer: peers.map(|peers| peers.compare(&sources, &last, rig_bytes)),
        notes,
        skipped: skipped.lines(),
    };
    print(|out| if arguments.json { write_json(&report, out) } else { report.write(out) })?;
    skipped.finish()
}

type Options<'a> = Box<dyn Fn(&RawClip) -> BuildOptions + Sync + 'a>;

/// Returns all schemes with their options. The scheme that the user chose is last.
fn schemes(arguments: &Arguments) -> Vec<(String, Options<'_>)> {
    let scheme = &arguments.scheme;
    let asked = |raw: &RawClip| scheme.options(raw);
    let with = move |of: Box<dyn Fn(&RawClip) -> Scheme + Sync>| -> Options<'_> {
        Box::new(move |raw| BuildOptions { scheme: of(raw), ..asked(raw) })
    };
    let mut all = vec![
        (
            "quantized, 48 bits".to_owned(),
            with(Box::new(|_| Scheme::Quantized(RotationBits::Bits48))),
        ),
        (
            "quantized, 32 bits".to_owned(),
            with(Box::new(|_| Scheme::Quantized(RotationBits::Bits32))),
        ),
        ("splines alone".to_owned(), with(Box::new(|_| Scheme::Keyed(KeyedOptions::plain())))),
    ];
    if scheme.scheme() != SchemeName::Keyed {
        all.push(("keyed".to_owned(), with(Box::new(|raw| Scheme::Keyed(scheme.keyed(raw))))));
    }
    let is_block = scheme.scheme() == SchemeName::Block;
    let asked_effort = scheme.asked_effort();
    for effort in EffortName::value_variants() {
        // The other schemes take a hundred times as long, so users must request them.
        let is_quick =
            *effort <= EffortName::Default && !(is_block && *effort == EffortName::default());
        if asked_effort.is_none() && is_quick {
            let block = |raw: &RawClip| Scheme::Block(scheme.block(raw, *effort));
            all.push((format!("block, {} effort", effort.name()), with(Box::new(block))));
        }
    }
    let effort = asked_effort.unwrap_or_default().name();
    let name = if is_block { format!("block, {effort} effort") } else { scheme.name().to_owned() };
    all.push((format!("as asked: {name}"), Box::new(asked)));
    all
}

/// Returns the sizes of the samples as plain floats, and of these floats packed by gzip.
fn plain(sources: &[Source]) -> Result<Vec<Row>, AnimError> {
    let raw = sources.iter().map(|source| source.raw.raw_bytes()).sum();
    let zipped = sources::on_all_cores(sources, "packed", |source| {
        gzip_bytes(&source.raw)
            .map_err(|error| AnimError::ClipFile { path: source.file.clone(), error })
    })?;
    let row = |name: &str, bytes: usize| Row { name: name.to_owned(), bytes, played: None };
    Ok(vec![row("raw floats", raw), row("raw floats, gzip", zipped.iter().sum())])
}

fn gzip_bytes(raw: &RawClip) -> io::Result<usize> {
    let mut floats = Vec::with_capacity(raw.raw_bytes());
    raw.poses().try_for_each(|pose| exchange::write_pose(pose, &mut floats))?;
    let mut out = GzEncoder::new(Vec::new(), Compression::new(6));
    out.write_all(&floats)?;
    Ok(out.finish()?.len())
}

/// Returns the rows for the keyed scheme: splines alone, splines with one option, all options but
/// one, and all options.
fn options(arguments: &Arguments) -> Vec<(String, Options<'_>)> {
    type Change = fn(&mut KeyedOptions);
    let plain: [(&str, Change); 10] = [
        ("uniform parametrization", |keys| keys.parametrization = Parametrization::Uniform),
        ("chordal parametrization", |keys| keys.parametrization = Parametrization::Chordal),
        ("centripetal parametrization", |keys| keys.parametrization = Parametrization::Centripetal),
        ("no shortest paths", |keys| keys.shortest_path = false),
        ("key where it is worst", |keys| keys.position = KeyPosition::Worst),
        ("key at the best place", |keys| keys.position = KeyPosition::Best),
        ("margins by hierarchy", |keys| keys.margins = Margins::Hierarchy),
        ("margins by measured error", |keys| keys.margins = Margins::Measured),
        ("removal of keys", |keys| keys.removal_passes = KeyedOptions::default().removal_passes),
        ("removal with refit", |keys| {
            (keys.removal_passes, keys.refit) = (KeyedOptions::default().removal_passes, true);
        }),
    ];
    let full: [(&str, Change); 9] = [
        ("uniform parametrization", |keys| keys.parametrization = Parametrization::Uniform),
        ("key at the best place", |keys| keys.position = KeyPosition::Best),
        ("margins by hierarchy", |keys| keys.margins = Margins::Hierarchy),
        ("no refit", |keys| keys.refit = false),
        ("no removal of keys", |keys| keys.removal_passes = 0),
        ("no constants", |keys| keys.constants = false),
        ("no rows", |keys| keys.rows = false),
        ("joints not held still", |keys| keys.hold_still = false),
        ("no pins", |keys| keys.pins.clear()),
    ];
    let mut all: Vec<(String, Options<'_>)> = Vec::new();
    let mut add = |name: String, base: fn() -> KeyedOptions, change: Change| {
        let options = move |raw: &RawClip| {
            let asked = arguments.scheme.options(raw);
            let mut keys = KeyedOptions { pins: arguments.scheme.pins(raw), ..base() };
            change(&mut keys);
            BuildOptions { scheme: Scheme::Keyed(keys), ..asked }
        };
        all.push((name, Box::new(options)));
    };
    add("splines alone".into(), KeyedOptions::plain, |keys| keys.pins.clear());
    for (name, change) in plain {
        add(format!("  with {name}"), KeyedOptions::plain, change);
    }
    for (name, change) in full {
        add(format!("all, {name}"), KeyedOptions::default, change);
    }
    add("all".into(), KeyedOptions::default, |_| ());
    all
}

impl Row {
    fn new(name: String, sources: &[Source], built: &[BuiltClip]) -> Self {
        let worst = |error: fn(&ErrorReport) -> f64| {
            built.iter().map(|built| error(&built.built.errors)).fold(0.0, f64::max)
        };
        let raw: usize = sources.iter().map(|source| source.raw.raw_bytes()).sum();
        let is_usual = |source: &Source| (30..=50).contains(&source.raw.joints());
        let any_usual = sources.iter().any(is_usual);
        let timed: Vec<f64> = sources
            .iter()
            .zip(built)
            .filter(|(source, _)| !any_usual || is_usual(source))
            .map(|(source, built)| timing::warm_ns_per_joint(&source.raw, &built.built))
            .collect();
        let played = Played {
            max_error_cm: worst(|errors| errors.all.max_cm),
            p99_error_cm: built.iter().map(|built| built.built.errors.all.p99_cm).sum::<f64>()
                / built.len().max(1) as f64,
            max_error_between_cm: worst(|errors| errors.between.max_cm),
            foot_slide_cm: worst(|errors| errors.foot_slide_cm),
            build_mb_per_s: raw as f64
                / 1e3
                / built.iter().map(|built| built.build_ms).sum::<f64>(),
            sample_ns_per_joint: timed.iter().sum::<f64>() / timed.len().max(1) as f64,
        };
        let bytes = built.iter().map(|built| built.built.clip.as_bytes().len()).sum();
        Self { name, bytes, played: Some(played) }
    }

    fn size_cells(&self, report: &Report) -> [String; 4] {
        [
            self.name.clone(),
            self.bytes.to_string(),
            percent(self.bytes, report.raw_bytes),
            percent(self.bytes, report.animated_raw_bytes),
        ]
    }

    /// Returns the cells for errors and speed, or `None` if the scheme cannot be played.
    fn played_cells(&self) -> Option<[String; 6]> {
        let played = self.played.as_ref()?;
        Some([
            self.name.clone(),
            format!("{:.4}", played.max_error_cm),
            format!("{:.4}", played.p99_error_cm),
            format!("{:.4}", played.foot_slide_cm),
            format!("{:.1}", played.build_mb_per_s),
            format!("{:.1}", played.sample_ns_per_joint),
        ])
    }
}

impl Report {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let (clips, raw) = (counted(self.clips, "clip"), self.raw_bytes);
        writeln!(out, "{clips}: {raw} bytes of raw floats,")?;
        writeln!(out, "{} bytes of them in tracks that change", self.animated_raw_bytes)?;
        writeln!(out, "precision: {} cm\n", self.precision_cm)?;
        let sizes = self.rows.iter().map(|row| row.size_cells(self));
        let header = ["scheme", "bytes", "of raw", "of changing"];
        writeln!(out, "{}\n", table(header, 1, sizes).trim_fmt())?;
        let header = ["scheme", "max cm", "p99 cm", "slide cm", "MB/s", "ns/joint"];
        let played = self.rows.iter().filter_map(Row::played_cells);
        writeln!(out, "{}", table(header, 1, played).trim_fmt())?;
        write_text(out, "", "MB/s: speed of building on one core; ns/joint: of playing")?;
        if let Some(peer) = &self.peer {
            writeln!(out)?;
            peer.write(out)?;
        }
        self.notes.iter().try_for_each(|note| write_text(out, "", note))
    }
}
