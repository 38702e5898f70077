//! `kinepack anim raw`: writes the samples of animations as plain floats, for other programs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use command_kit::output::{Batch, Force};
use command_kit::print;
use command_kit::table::{table, write_json, write_text};
use kinepack_anim::{RawClip, exchange};
use serde::Serialize;

use super::file_types::ANIMATIONS;
use super::import_options::ImportArguments;
use super::left_out::LeftOutReport;
use super::names::{Names, file_stem};
use super::skipped::Skipped;
use super::sources;
use crate::anim::error::AnimError;

/// Write every clip of animation files as OUT_DIR/CLIP.clip: ten floats for each joint and sample,
/// with lengths in cm.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Animations: .glb, .gltf, .vrm, .vrma, .bvh, .bvh.zst or, with the feature fbx,
    /// .fbx.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The directory for the clips; created if it does not exist.
    #[arg(required = true)]
    out_dir: PathBuf,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    import: ImportArguments,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

/// The report of the clips that were written.
#[derive(Default, Serialize)]
struct Report {
    clips: Vec<ClipReport>,
    notes: Vec<String>,
    /// The bad parts of the input. The command exits with 1 if the list is not empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<String>,
}

#[derive(Serialize)]
struct ClipReport {
    name: String,
    file: String,
    joints: usize,
    samples: usize,
    rate_hz: f32,
    raw_bytes: usize,
    #[serde(skip)]
    duration_s: f32,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), AnimError> {
    let options = arguments.import.options();
    options.validate()?;
    let out_dir = &arguments.out_dir;
    let outputs = arguments.force.reading(&arguments.files);
    let mut batch = Batch::in_directory(out_dir)?;
    let mut report = Report::default();
    let mut names = Names::default();
    let mut skipped = Skipped::default();
    let mut left_out = Vec::new();
    for file in &arguments.files {
        let import = match sources::read_file(file, ANIMATIONS, &options) {
            Ok(import) => import,
            Err(failure) => {
                skipped.add(failure);
                continue;
            }
        };
        skipped.extend(import.skipped.into_iter().map(Box::new).map(AnimError::Part));
        report.notes.extend(import.notes.iter().map(ToString::to_string));
        left_out.extend(LeftOutReport::of_file(file, &import.left_out));
        for clip in import.clips {
            let (clip, note) = names.take(clip, file);
            report.notes.extend(note);
            report.notes.extend(LeftOutReport::of_clip(file, &clip).map(|part| part.line()));
            let name = format!("{}.clip", file_stem(clip.name()));
            let target = outputs.target_in(out_dir, &name)?;
            let mut bytes = Vec::new();
            exchange::write(&clip, &mut bytes)
                .map_err(|error| AnimError::ClipFile { path: file.clone(), error })?;
            batch.write(&target, &bytes)?;
            report.clips.push(ClipReport::new(&clip, file));
        }
    }
    if report.clips.is_empty() {
        skipped.refuse()?;
        return sources::refuse_empty(&arguments.files, &left_out);
    }
    batch.commit()?;
    report.notes.extend(left_out.iter().map(LeftOutReport::line));
    report.skipped = skipped.lines();
    print(|out| if arguments.json { write_json(&report, out) } else { report.write_table(out) })?;
    skipped.finish()
}

impl ClipReport {
    fn new(clip: &RawClip, file: &Path) -> Self {
        Self {
            name: clip.name().to_owned(),
            file: file.display().to_string(),
            joints: clip.joints(),
            samples: clip.samples(),
            rate_hz: clip.rate_hz(),
            raw_bytes: clip.raw_bytes(),
            duration_s: clip.duration_s(),
        }
    }

    fn cells(&self) -> [String; 6] {
        [
            self.name.clone(),
            self.joints.to_string(),
            self.samples.to_string(),
            self.rate_hz.to_string(),
            format!("{:.2}", self.duration_s),
            self.raw_bytes.to_string(),
        ]
    }
}

impl Report {
    fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        let header = ["clip", "joints", "samples", "Hz", "seconds", "raw bytes"];
        let table = table(header, 1, self.clips.iter().map(ClipReport::cells));
        writeln!(out, "{}", table.trim_fmt())?;
        self.notes.iter().try_for_each(|note| write_text(out, "", note))
    }
}
