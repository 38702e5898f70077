//! `kinepack anim build`: compresses the clips of animation files and reports the error of each.

use std::collections::HashSet;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use command_kit::output::{Batch, Force, Target};
use command_kit::table::{percent, table, write_json, write_text};
use command_kit::{counted, print};
use kinepack_anim::RawClip;
use kinepack_anim::offline::{Scheme, animated_raw_bytes};
use serde::Serialize;

use super::base::{Base, BaseArguments};
use super::compiled::{SKELETON, find_hashed, hashed_name};
use super::import_options::ImportArguments;
use super::joints::joint_name;
use super::left_out::LeftOutReport;
use super::markers::MarkerArguments;
use super::names::{asset, file_stem};
use super::rigs::{RigReport, Rigs};
use super::scheme::{SchemeArguments, SchemeName};
use super::sources::{self, BuiltClip, Source, Sources};
use super::timing;
use crate::anim::error::AnimError;

/// Compress every clip of animation files. Writes DIR/CLIP.kpa or .kpd for each clip,
/// DIR/ASSET-HASH.kps for each skeleton, and DIR/ASSET-HASH.kpr for each rig.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Animations: .glb, .gltf, .vrm, .vrma, .bvh, .bvh.zst or .clip.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The directory for the clips; created if it does not exist. Without it nothing is written.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Write disk files, CLIP.kpd: entropy-coded block clips, which a game unpacks when it loads
    /// them.
    #[arg(long, requires = "out")]
    disk: bool,
    /// Let clips of one skeleton share a rig. They are smaller, but cannot be read without it. If
    /// DIR already has a rig of the skeleton, that one is used.
    #[arg(long)]
    rig: bool,
    /// How many clips to build at the same time [default: one a core]. The files are the same with
    /// any number.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Also measure how fast clips in cold memory play: random ones of 2.5 MB, and of 64 MB.
    #[arg(long)]
    cold: bool,
    #[command(flatten)]
    base: BaseArguments,
    #[command(flatten)]
    scheme: SchemeArguments,
    #[command(flatten)]
    import: ImportArguments,
    #[command(flatten)]
    markers: MarkerArguments,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

/// The report of a build.
#[derive(Serialize)]
struct Report {
    clips: Vec<ClipReport>,
    rigs: Vec<RigReport>,
    /// What the clips do not have.
    left_out: Vec<LeftOutReport>,
    notes: Vec<String>,
}

/// The report of a clip.
#[derive(Serialize)]
struct ClipReport {
    name: String,
    file: String,
    scheme: &'static str,
    joints: usize,
    samples: usize,
    rate_hz: f32,
    /// Ten floats for each joint and sample.
    raw_bytes: usize,
    /// The floats of the tracks that change.
    animated_raw_bytes: usize,
    bytes: usize,
    /// Bytes as a disk file.
    #[serde(skip_serializing_if = "Option::is_none")]
    disk_bytes: Option<usize>,
    precision_cm: f64,
    /// Whether every joint keeps its precision.
    is_within_precision: bool,
    max_error_cm: f64,
    p99_error_cm: f64,
    mean_error_cm: f64,
    /// The largest error half-way between samples.
    max_error_between_cm: f64,
    foot_slide_cm: f64,
    curves: usize,
    markers: usize,
    /// The largest error of each curve, in the order of the clip.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    curve_errors: Vec<f64>,
    /// The largest of these errors, in precisions of the curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_curve_error_share: Option<f64>,
    build_ms: f64,
    sample_ns_per_joint: f64,
    /// Playing random copies of the clip that together take 2.5 MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    cold_2_5_mb_ns_per_joint: Option<f64>,
    /// Playing random copies that take 64 MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    cold_64_mb_ns_per_joint: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), AnimError> {
    let scheme = &arguments.scheme;
    let of_block = [
        ("--disk", arguments.disk),
        ("--rig", arguments.rig),
        ("--base", arguments.base.is_given()),
    ];
    scheme.check_block(&of_block)?;
    let Inputs { sources, mut notes, left_out, base } = Inputs::read(arguments)?;
    let targets = arguments
        .out
        .as_ref()
        .map(|directory| targets(directory, arguments, &sources))
        .transpose()?;
    let (built, rigs) = build(arguments, &sources, base.as_ref())?;
    if let (Some(directory), Some(targets)) = (&arguments.out, targets) {
        let mut batch = Batch::in_directory(directory)?;
        for (target, built) in targets.clips.iter().zip(&built) {
            batch.write(target, bytes_of(built, target, arguments.disk)?)?;
        }
        for (target, bytes) in &targets.skeletons {
            batch.write(target, bytes)?;
        }
        rigs.write(&mut batch, arguments.force, directory, &built)?;
        batch.commit()?;
    }
    notes.extend(
        sources.iter().zip(&built).filter_map(|(source, built)| too_far_off(source, built, scheme)),
    );
    let clips = sources.iter().zip(&built).map(|(source, built)| {
        let cold = |bytes| {
            arguments.cold.then(|| timing::cold_ns_per_joint(&source.raw, &built.built, bytes))
        };
        ClipReport {
            cold_2_5_mb_ns_per_joint: cold(2_500_000),
            cold_64_mb_ns_per_joint: cold(64_000_000),
            ..ClipReport::new(source, built, scheme)
        }
    });
    let report = Report { clips: clips.collect(), rigs: rigs.reports(&built), left_out, notes };
    print(|out| if arguments.json { write_json(&report, out) } else { report.write_table(out) })?;
    Ok(())
}

/// The input of a build.
struct Inputs {
    /// All clips. With a base, the difference of each clip from the base.
    sources: Vec<Source>,
    notes: Vec<String>,
    left_out: Vec<LeftOutReport>,
    base: Option<Base>,
}

impl Inputs {
    fn read(arguments: &Arguments) -> Result<Self, AnimError> {
        let Arguments { files, import, scheme, .. } = arguments;
        let base = arguments.base.read(&import.options())?;
        let Sources { mut sources, mut notes, mut left_out } =
            sources::read_checked(files, import, scheme)?;
        arguments.markers.add_to(&mut sources)?;
        if !matches!(arguments.scheme.scheme(), SchemeName::Block) {
            let of_clip = |source: &Source| LeftOutReport::of_clip(&source.file, &source.raw);
            left_out.extend(sources.iter().flat_map(of_clip));
        }
        let Some((base, base_notes)) = base else {
            return Ok(Self { sources, notes, left_out, base: None });
        };
        let sources = base.differences(sources)?;
        for note in base_notes {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes.push(base.note());
        Ok(Self { sources, notes, left_out, base: Some(base) })
    }
}

/// Builds all clips and the rigs that they share.
fn build(
    arguments: &Arguments,
    sources: &[Source],
    base: Option<&Base>,
) -> Result<(Vec<BuiltClip>, Rigs), AnimError> {
    let options = |raw: &RawClip| {
        let mut options = arguments.scheme.options(raw);
        options.error.base = base.map(|base| Arc::clone(&base.raw));
        options
    };
    let rigs = if arguments.rig {
        Rigs::of(sources, options, arguments.out.as_deref(), arguments.jobs)?
    } else {
        Rigs::default()
    };
    let options = |raw: &RawClip| rigs.give(raw, options(raw));
    let built = sources::build_all(sources, options, "built", arguments.jobs)?;
    Ok((built, rigs))
}

/// The output files whose names are known before the build.
struct Targets {
    /// A file for each source.
    clips: Vec<Target>,
    /// The skeletons that do not exist yet, with their bytes.
    skeletons: Vec<(Target, Vec<u8>)>,
}

fn targets(
    directory: &Path,
    arguments: &Arguments,
    sources: &[Source],
) -> Result<Targets, AnimError> {
    let (force, extension) = (arguments.force, if arguments.disk { "kpd" } else { "kpa" });
    let clip = |source: &Source| {
        force.target_in(directory, &format!("{}.{extension}", file_stem(source.raw.name())))
    };
    let mut hashes = HashSet::new();
    let mut skeletons = Vec::new();
    for raw in sources.iter().map(|source| &source.raw) {
        let hash = raw.skeleton().hash();
        if hashes.insert(hash) {
            let bytes = raw.skeleton().to_bytes();
            let name = find_hashed(directory, hash, SKELETON)
                .unwrap_or_else(|| hashed_name(&asset(raw.name()), hash, SKELETON));
            let target = force.target_of(directory, &name, &bytes)?;
            skeletons.extend(target.map(|target| (target, bytes)));
        }
    }
    Ok(Targets { clips: sources.iter().map(clip).collect::<Result<_, _>>()?, skeletons })
}

/// The bytes for a clip's file.
fn bytes_of<'a>(
    built: &'a BuiltClip,
    target: &Target,
    is_disk: bool,
) -> Result<&'a [u8], AnimError> {
    if !is_disk {
        return Ok(built.built.clip.as_bytes());
    }
    let no_disk_form = || AnimError::BadClip {
        path: target.name().to_owned(),
        reason: "this clip has no disk form".to_owned(),
    };
    built.packed().ok_or_else(no_disk_form)
}

/// A note for a clip that does not keep its precision. Quantized clips have none, because they
/// ignore the precision.
fn too_far_off(source: &Source, built: &BuiltClip, scheme: &SchemeArguments) -> Option<String> {
    let raw = &source.raw;
    let options = scheme.options(raw);
    let errors = &built.built.errors;
    let (joint, share) = options.farthest_off(errors);
    if share <= 1.0 || matches!(options.scheme, Scheme::Quantized(_)) {
        return None;
    }
    let (name, scheme) = (joint_name(raw.skeleton(), joint), scheme.name());
    let (off_cm, asked_cm) =
        (errors.joints[joint].max_cm, options.precisions_cm(raw.joints())[joint]);
    Some(format!(
        "{}: {name} is {off_cm:.4} cm off, and {asked_cm} cm was asked for: \
         {scheme} clips cannot be more precise",
        raw.name()
    ))
}

impl ClipReport {
    fn new(source: &Source, built: &BuiltClip, scheme: &SchemeArguments) -> Self {
        let disk_bytes = built.packed().map(<[u8]>::len);
        let BuiltClip { built, build_ms, .. } = built;
        let (raw, errors) = (&source.raw, &built.errors);
        let curve_share = errors.farthest_curve(raw).map(|(_, share)| share);
        Self {
            name: raw.name().to_owned(),
            file: source.file.display().to_string(),
            scheme: scheme.name(),
            joints: raw.joints(),
            samples: raw.samples(),
            rate_hz: raw.rate_hz(),
            raw_bytes: raw.raw_bytes(),
            animated_raw_bytes: animated_raw_bytes(raw),
            bytes: built.clip.as_bytes().len(),
            disk_bytes,
            precision_cm: scheme.precision_cm(),
            is_within_precision: scheme.options(raw).farthest_off(errors).1 <= 1.0
                && curve_share.is_none_or(|share| share <= 1.0),
            max_error_cm: errors.all.max_cm,
            p99_error_cm: errors.all.p99_cm,
            mean_error_cm: errors.all.mean_cm,
            max_error_between_cm: errors.between.max_cm,
            foot_slide_cm: errors.foot_slide_cm,
            curves: built.clip.curves(),
            markers: built.clip.markers().count(),
            curve_errors: errors.curves.clone(),
            max_curve_error_share: curve_share,
            build_ms: *build_ms,
            sample_ns_per_joint: timing::warm_ns_per_joint(raw, built),
            cold_2_5_mb_ns_per_joint: None,
            cold_64_mb_ns_per_joint: None,
        }
    }

    fn cells(&self) -> [String; 7] {
        [
            self.name.clone(),
            self.joints.to_string(),
            self.samples.to_string(),
            self.bytes.to_string(),
            percent(self.bytes, self.raw_bytes),
            format!("{:.4}", self.max_error_cm),
            format!("{:.1}", self.sample_ns_per_joint),
        ]
    }
}

impl Report {
    fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        let header = ["clip", "joints", "samples", "bytes", "of raw", "max cm", "ns/joint"];
        writeln!(out, "{}", table(header, 1, self.clips.iter().map(ClipReport::cells)).trim_fmt())?;
        let sum = |number: fn(&ClipReport) -> usize| self.clips.iter().map(number).sum::<usize>();
        let (raw, animated, bytes) = (
            sum(|clip| clip.raw_bytes),
            sum(|clip| clip.animated_raw_bytes),
            sum(|clip| clip.bytes),
        );
        let seconds = self.clips.iter().map(|clip| clip.build_ms).sum::<f64>() / 1e3;
        let worst = self.clips.iter().map(|clip| clip.max_error_cm).fold(0.0, f64::max);
        writeln!(out)?;
        writeln!(out, "{}: {bytes} bytes", counted(self.clips.len(), "clip"))?;
        let shares = format!(
            "{} of the raw floats, {} of the floats that change",
            percent(bytes, raw),
            percent(bytes, animated)
        );
        write_text(out, "", &shares)?;
        writeln!(out, "at most {worst:.4} cm off")?;
        let (curves, markers) = (sum(|clip| clip.curves), sum(|clip| clip.markers));
        if curves + markers > 0 {
            let (curves, markers) = (counted(curves, "curve"), counted(markers, "marker"));
            let shares = self.clips.iter().filter_map(|clip| clip.max_curve_error_share);
            let share = shares.fold(0.0, f64::max);
            writeln!(out, "{curves}, {markers}; curves at most {share:.2} of their precision off")?;
        }
        writeln!(
            out,
            "built at {:.1} MB of raw samples a second on one core",
            raw as f64 / 1e6 / seconds
        )?;
        if let Some(disk) = self.clips.iter().map(|clip| clip.disk_bytes).sum::<Option<usize>>() {
            writeln!(
                out,
                "as disk files (--disk): {disk} bytes, {} of that",
                percent(disk, bytes)
            )?;
        }
        if !self.rigs.is_empty() {
            let rigs: usize = self.rigs.iter().map(RigReport::bytes).sum();
            let header = ["rig", "joints", "tracks", "constants", "bytes", "clips"];
            writeln!(
                out,
                "\n{}",
                table(header, 1, self.rigs.iter().map(RigReport::cells)).trim_fmt()
            )?;
            writeln!(
                out,
                "\nwith rigs: {} bytes, {} of the raw floats",
                bytes + rigs,
                percent(bytes + rigs, raw)
            )?;
        }
        let mean = |number: fn(&ClipReport) -> Option<f64>| {
            Some(
                self.clips.iter().map(number).sum::<Option<f64>>()?
                    / self.clips.len().max(1) as f64,
            )
        };
        let cold =
            (mean(|clip| clip.cold_2_5_mb_ns_per_joint), mean(|clip| clip.cold_64_mb_ns_per_joint));
        if let (Some(near), Some(far)) = cold {
            let random =
                format!("random clips: {near:.1} ns a joint from 2.5 MB, {far:.1} ns from 64 MB");
            write_text(out, "", &random)?;
        }
        LeftOutReport::write_table(&self.left_out, out)?;
        if !self.left_out.is_empty() && !self.notes.is_empty() {
            writeln!(out)?;
        }
        self.notes.iter().try_for_each(|note| write_text(out, "", note))
    }
}
