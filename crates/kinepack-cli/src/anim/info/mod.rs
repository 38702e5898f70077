//! `kinepack anim info`: where the bytes of a clip go, and where its errors are.

mod block;
mod database;
mod keyed;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use block::BlockReport;
use clap::Args;
use command_kit::table::{percent, table, write_json, write_text};
use command_kit::{counted, print};
use database::DatabaseList;
use keyed::KeyedReport;
use kinepack_anim::measure::{ErrorReport, Errors, measure};
use kinepack_anim::{AnyClip, RawClip, Skeleton};
use serde::Serialize;

use super::compiled::{self, Compiled, SkeletonArguments};
use super::import_options::ImportArguments;
use super::joints::joint_name;
use super::scheme::SchemeArguments;
use super::skipped::Skipped;
use super::sources::{self, BuiltFiles};
use super::travel::Travel;
use super::{databases, file_types};
use crate::anim::error::AnimError;

/// Show where the bytes of clips go, and which joints have the largest errors. Lists the clips of a
/// database.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Compressed clips, .kpa, .kpd, or FILE.kpb#CLIP of a database. Databases, .kpb. Or
    /// animations, which are compressed first: .glb, .gltf, .vrm, .vrma, .bvh, .bvh.zst, .clip
    /// or, with the feature fbx, .fbx.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// For a compressed clip: the .clip file with its raw samples, to measure errors.
    #[arg(long, value_name = "FILE.clip")]
    raw: Option<PathBuf>,
    #[command(flatten)]
    skeleton: SkeletonArguments,
    #[command(flatten)]
    scheme: SchemeArguments,
    #[command(flatten)]
    import: ImportArguments,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

/// The maximum number of tracks or joints in a list.
const LISTED: usize = 10;

#[derive(Default, Serialize)]
struct Report {
    clips: Vec<ClipReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    databases: Vec<DatabaseList>,
    notes: Vec<String>,
    /// The bad parts of the input. The command exits with 1 if the list is not empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<String>,
}

#[derive(Serialize)]
struct ClipReport {
    name: String,
    joints: usize,
    samples: usize,
    rate_hz: f32,
    seconds: f32,
    raw_bytes: usize,
    bytes: usize,
    parts: Vec<(&'static str, usize)>,
    /// Whether the clip travels, and the joint that carries the motion.
    #[serde(skip_serializing_if = "Option::is_none")]
    root_motion: Option<Travel>,
    #[serde(flatten)]
    scheme: SchemeReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<ErrorsReport>,
}

/// The part of the report that only clips of one scheme have.
#[derive(Serialize)]
#[serde(untagged)]
enum SchemeReport {
    Block(BlockReport),
    Keyed(KeyedReport),
}

#[derive(Serialize)]
struct ErrorsReport {
    all: ErrorRow,
    between: ErrorRow,
    foot_slide_cm: f64,
    slide_joint: Option<String>,
    /// The joints with the largest errors.
    worst: Vec<(String, ErrorRow)>,
    /// The curves with the largest errors.
    curves: Vec<(String, f64)>,
}

#[derive(Clone, Copy, Serialize)]
struct ErrorRow {
    max_cm: f64,
    p99_cm: f64,
    mean_cm: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), AnimError> {
    let mut skipped = Skipped::default();
    let (compiled, animations) = file_types::split(&arguments.files, &mut skipped);
    let mut report = Report::default();
    let raw = arguments
        .raw
        .clone()
        .map(|raw| sources::read_some(&[raw], &arguments.import))
        .transpose()?;
    if let Some(raw) = &raw {
        arguments.scheme.check(raw.sources.iter().map(|source| &source.raw))?;
    }
    for path in compiled {
        let read = match database_list(&path) {
            Ok(Some(list)) => {
                report.databases.push(list);
                continue;
            }
            Ok(None) => compiled::read(&path, &arguments.skeleton),
            Err(failure) => Err(failure),
        };
        let Compiled { name, clip, skeleton, rig } = match read {
            Ok(read) => read,
            Err(failure) => {
                skipped.add(failure);
                continue;
            }
        };
        let raw = raw.as_ref().and_then(|raw| raw.sources.first()).map(|source| &source.raw);
        if raw.is_some_and(|raw| (raw.joints(), raw.samples()) != (clip.joints(), clip.samples())) {
            return Err(AnimError::BadClip {
                path,
                reason: "the raw clip has another number of joints or samples".to_owned(),
            });
        }
        let errors = raw.map(|raw| measure(raw, &clip, &arguments.scheme.error(raw)));
        if raw.is_none() {
            report.notes.push(format!(
                "{}: errors need the raw samples: `anim raw FILE DIR`, then \
                 `--raw DIR/{name}.clip`",
                path.display()
            ));
        }
        report.clips.push(ClipReport::new(&name, &skeleton, (&clip, rig), errors.as_ref()));
    }
    let BuiltFiles { sources, built, notes, skipped: of_animations } =
        sources::read_and_build(&animations, &arguments.import, &arguments.scheme)?;
    skipped.append(of_animations);
    report.clips.extend(sources.iter().zip(&built).map(|(source, built)| {
        let raw: &RawClip = &source.raw;
        ClipReport::new(
            raw.name(),
            raw.skeleton(),
            (&built.built.clip, None),
            Some(&built.built.errors),
        )
    }));
    if report.clips.is_empty() && report.databases.is_empty() {
        return skipped.refuse();
    }
    report.notes.extend(notes);
    report.skipped = skipped.lines();
    print(|out| if arguments.json { write_json(&report, out) } else { report.write(out) })?;
    skipped.finish()
}

/// Returns the list of a database's clips, or `None` unless the file is a database and the argument
/// names no clip of it.
fn database_list(path: &Path) -> Result<Option<DatabaseList>, AnimError> {
    let (_, clip) = file_types::of_database(path);
    if clip.is_some() || !file_types::ends_in(path, &[file_types::DATABASE]) {
        return Ok(None);
    }
    let database = databases::open(path, compiled::read_bytes(path)?)?;
    Ok(Some(DatabaseList::new(path, &database)))
}

impl ClipReport {
    /// Returns the report of a clip. It may include the name of the rig's file.
    fn new(
        name: &str,
        skeleton: &Skeleton,
        (clip, rig): (&AnyClip, Option<String>),
        errors: Option<&ErrorReport>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            joints: clip.joints(),
            samples: clip.samples(),
            rate_hz: clip.rate_hz(),
            seconds: clip.duration_s(),
            raw_bytes: clip.joints() * clip.samples() * kinepack_anim::Transform::BYTES,
            bytes: clip.as_bytes().len(),
            parts: clip.bytes_by_part(),
            root_motion: Travel::of_clip(clip, skeleton),
            scheme: SchemeReport::new(skeleton, clip, rig),
            errors: errors.map(|errors| ErrorsReport::new(errors, skeleton, clip)),
        }
    }
}

impl SchemeReport {
    fn new(skeleton: &Skeleton, clip: &AnyClip, rig: Option<String>) -> Self {
        match clip {
            AnyClip::Block(clip) => Self::Block(BlockReport::new(skeleton, clip, rig)),
            AnyClip::Keyed(clip) => Self::Keyed(KeyedReport::new(skeleton, clip)),
        }
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Block(report) => report.write(out),
            Self::Keyed(report) => report.write(out),
        }
    }
}

impl ErrorsReport {
    fn new(errors: &ErrorReport, skeleton: &Skeleton, clip: &AnyClip) -> Self {
        let names = clip.curve_names().map(str::to_owned);
        let mut curves: Vec<(String, f64)> = names.zip(errors.curves.iter().copied()).collect();
        curves.sort_by(|one, other| other.1.total_cmp(&one.1));
        curves.truncate(LISTED);
        let joint_name = |joint| joint_name(skeleton, joint);
        let mut worst: Vec<_> = errors
            .joints
            .iter()
            .enumerate()
            .map(|(joint, errors)| (joint_name(joint), ErrorRow::from(errors)))
            .collect();
        worst.sort_by(|a, b| b.1.max_cm.total_cmp(&a.1.max_cm));
        worst.truncate(LISTED);
        Self {
            all: ErrorRow::from(&errors.all),
            between: ErrorRow::from(&errors.between),
            foot_slide_cm: errors.foot_slide_cm,
            slide_joint: errors.slide_joint.map(joint_name),
            worst,
            curves,
        }
    }
}

impl From<&Errors> for ErrorRow {
    fn from(errors: &Errors) -> Self {
        Self { max_cm: errors.max_cm, p99_cm: errors.p99_cm, mean_cm: errors.mean_cm }
    }
}

impl ErrorRow {
    fn cells(self, name: &str) -> [String; 4] {
        [
            name.to_owned(),
            format!("{:.4}", self.max_cm),
            format!("{:.4}", self.p99_cm),
            format!("{:.4}", self.mean_cm),
        ]
    }
}

impl Report {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for (index, clip) in self.clips.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            clip.write(out)?;
        }
        for (index, database) in self.databases.iter().enumerate() {
            if index > 0 || !self.clips.is_empty() {
                writeln!(out)?;
            }
            database.write(out)?;
        }
        self.notes.iter().try_for_each(|note| write_text(out, "", note))
    }
}

impl ClipReport {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "{}: {}, {} at {} Hz ({:.2} s)",
            self.name,
            counted(self.joints, "joint"),
            counted(self.samples, "sample"),
            self.rate_hz,
            self.seconds,
        )?;
        let share = percent(self.bytes, self.raw_bytes);
        writeln!(out, "{} bytes, {share} of the raw floats", self.bytes)?;
        if let Some(travel) = &self.root_motion {
            write_text(out, "", &travel.text())?;
        }
        let parts = self.parts.iter().map(|(part, bytes)| {
            [(*part).to_owned(), bytes.to_string(), percent(*bytes, self.bytes)]
        });
        writeln!(out, "\n{}", table(["part", "bytes", ""], 1, parts).trim_fmt())?;
        self.scheme.write(out)?;
        if let Some(errors) = &self.errors {
            let all = [errors.all.cells("all joints"), errors.between.cells("between the samples")];
            let worst = errors.worst.iter().map(|(joint, errors)| errors.cells(joint));
            writeln!(
                out,
                "\n{}",
                table(["error in cm", "max", "p99", "mean"], 1, all.into_iter().chain(worst))
                    .trim_fmt()
            )?;
            if !errors.curves.is_empty() {
                let curves = errors.curves.iter();
                let curves = curves.map(|(name, error)| [name.clone(), format!("{error:.5}")]);
                writeln!(out, "\n{}", table(["curve", "max error"], 1, curves).trim_fmt())?;
            }
            let joint = errors
                .slide_joint
                .as_deref()
                .map(|joint| format!(", by {joint}"))
                .unwrap_or_default();
            writeln!(out, "\nfoot slide: {:.4} cm{joint}", errors.foot_slide_cm)?;
        }
        Ok(())
    }
}
