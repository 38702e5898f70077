//! `kinepack anim build`: compresses the clips of animation files and reports the error of each.

mod outputs;
mod report;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use command_kit::output::Force;
use command_kit::print;
use command_kit::table::write_json;
use kinepack_anim::RawClip;
use kinepack_anim::offline::Scheme;

use self::outputs::Outputs;
use self::report::{ClipReport, Report};
use crate::anim::base::{Base, BaseArguments};
use crate::anim::databases::DatabaseReport;
use crate::anim::error::AnimError;
use crate::anim::import_options::ImportArguments;
use crate::anim::joints::joint_name;
use crate::anim::left_out::LeftOutReport;
use crate::anim::markers::MarkerArguments;
use crate::anim::rigs::Rigs;
use crate::anim::scheme::{SchemeArguments, SchemeName};
use crate::anim::skipped::Skipped;
use crate::anim::sources::{self, BuiltClip, Source, Sources};

/// Compress every clip of animation files. Writes DIR/CLIP.kpa or .kpd for each clip,
/// DIR/ASSET-HASH.kps for each skeleton, and DIR/ASSET-HASH.kpr for each rig; or a single file with
/// all of it.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Animations: .glb, .gltf, .vrm, .vrma, .bvh, .bvh.zst, .clip or, with the feature
    /// fbx, .fbx.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The directory for the clips; created if it does not exist. Without it or --database, nothing
    /// is written.
    #[arg(long, value_name = "DIR", group = "output")]
    out: Option<PathBuf>,
    /// Write a clip database instead: one file that has all clips, their skeleton, their rig and an
    /// index. The clips must have the same skeleton.
    #[arg(long, value_name = "FILE.kpb", group = "output")]
    database: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Write disk files, CLIP.kpd, also within a database: entropy-coded block clips, which a game
    /// unpacks when it loads them.
    #[arg(long, requires = "output")]
    disk: bool,
    /// Let clips of one skeleton share a rig. Such clips are smaller, but cannot be read without
    /// the rig. A skeleton with a single clip gets no rig. If DIR already has a rig of the
    /// skeleton, that rig is used.
    #[arg(long)]
    rig: bool,
    /// How many clips to build at the same time [default: one a core]. The files are the same with
    /// any number.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Also measure how fast clips in cold memory play: random copies that take 2.5 MB together,
    /// and 64 MB.
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

impl Arguments {
    /// Returns the files that the command may write. They exclude the files that it reads.
    fn outputs(&self) -> command_kit::output::Outputs {
        let others = [self.base.file(), self.markers.file()];
        self.force.reading(self.files.iter().cloned().chain(others.into_iter().flatten()))
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), AnimError> {
    let scheme = &arguments.scheme;
    let of_block = [
        ("--disk", arguments.disk),
        ("--database", arguments.database.is_some()),
        ("--rig", arguments.rig),
        ("--base", arguments.base.is_given()),
    ];
    scheme.check_block(&of_block)?;
    let Inputs { mut sources, mut notes, left_out, mut skipped, base } = Inputs::read(arguments)?;
    let mut outputs = Outputs::new(arguments, &sources)?;
    let (results, rigs) = build(arguments, &sources, base.as_ref())?;
    let (is_built, built) = sources::split_built(results, &mut skipped);
    if built.is_empty() {
        return skipped.refuse();
    }
    sources::keep(&mut sources, &is_built);
    outputs.keep(&is_built);
    // Clips are packed even without `--disk`, because the report has the bytes on disk of all
    // clips.
    let pack = |built: &BuiltClip| {
        built.packed();
        Ok(())
    };
    sources::take_from_all_cores(&built, "packed", arguments.jobs, pack, |()| ())?;
    let database = outputs.write(arguments, &sources, &built, &rigs)?;
    notes.extend(
        sources.iter().zip(&built).filter_map(|(source, built)| too_far_off(source, built, scheme)),
    );
    let bar = sources::progress(sources.len() as u64, "measured");
    let clips = sources.iter().zip(&built).map(|(source, built)| {
        let is_additive = base.is_some();
        let report = ClipReport::new(source, built, scheme, arguments.cold, is_additive);
        bar.inc(1);
        report
    });
    let clips = clips.collect();
    bar.finish_and_clear();
    let within = database.as_ref().map(DatabaseReport::file);
    let rigs = rigs.reports(&built, within);
    let lines = skipped.lines();
    let report = Report { clips, rigs, database, left_out, notes, skipped: lines };
    print(|out| if arguments.json { write_json(&report, out) } else { report.write_table(out) })?;
    skipped.finish()
}

/// The clips and options of a build.
struct Inputs {
    /// All clips or, with a base, the difference of each clip from the base.
    sources: Vec<Source>,
    notes: Vec<String>,
    left_out: Vec<LeftOutReport>,
    skipped: Skipped,
    base: Option<Base>,
}

impl Inputs {
    fn read(arguments: &Arguments) -> Result<Self, AnimError> {
        let Arguments { files, import, scheme, .. } = arguments;
        let base = arguments.base.read(&import.options())?;
        let Sources { mut sources, mut notes, mut left_out, mut skipped } =
            sources::read_checked(files, import, scheme)?;
        arguments.markers.add_to(&mut sources)?;
        if !matches!(arguments.scheme.scheme(), SchemeName::Block) {
            let of_clip = |source: &Source| LeftOutReport::of_clip(&source.file, &source.raw);
            left_out.extend(sources.iter().flat_map(of_clip));
        }
        let Some((base, base_notes, base_skipped)) = base else {
            return Ok(Self { sources, notes, left_out, skipped, base: None });
        };
        skipped.append(base_skipped);
        let sources = base.differences(sources, &mut skipped);
        if sources.is_empty() {
            std::mem::take(&mut skipped).refuse()?;
        }
        for note in base_notes {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes.push(base.note());
        Ok(Self { sources, notes, left_out, skipped, base: Some(base) })
    }
}

/// A built clip, or the reason why it cannot be built.
type Built = Result<BuiltClip, AnimError>;

/// Builds all clips and the rigs that they share.
fn build(
    arguments: &Arguments,
    sources: &[Source],
    base: Option<&Base>,
) -> Result<(Vec<Built>, Rigs), AnimError> {
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
    Ok((sources::build_each(sources, options, "built", arguments.jobs)?, rigs))
}

/// Returns a note for a clip that does not keep its precision. Quantized clips get no note, because
/// they ignore the precision.
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
        "{}: {name} is {} cm off, and {} cm was asked for: {scheme} clips cannot be more precise",
        raw.name(),
        shown(off_cm),
        shown(asked_cm)
    ))
}

/// Formats a length with up to four decimals, or with an exponent if the length is too small for
/// four decimals.
fn shown(cm: f64) -> String {
    if cm < 1e-3 {
        return format!("{cm:.1e}");
    }
    format!("{cm:.4}").trim_end_matches('0').trim_end_matches('.').to_owned()
}
