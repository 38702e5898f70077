//! Compares disk files of clips with gltfpack's files of the same animations: bytes and errors.
//!
//! `cargo run --release -p comparisons --example gltfpack -- *.glb`
//!
//! `npm install -g gltfpack` installs gltfpack. If it is not in the PATH, `--gltfpack FILE` names
//! it. A glTF file is packed as it is. A BVH file is first written as glTF, as `kinepack anim
//! export --gltf` does.
//!
//! - gltfpack runs with its default settings, with two exceptions. Named nodes stay (`-kn`), so
//!   that joints can be found again, and gltfpack resamples at the rate at which this program
//!   samples the file (`-af`). For glTF this is the default of 30 Hz. `-c` compresses, `-cc`
//!   compresses more, and `-cz` compresses most.
//! - Bytes are those of the compressed views that animated joints use. Meshes, textures, nodes and
//!   weights of morph targets are not counted, and our clips have no curves. The JSON that
//!   describes the animations has a column of its own. Our files contain the same description,
//!   except names.
//! - The column with zstd has the views and the JSON after `zstd -19`, because a web server is
//!   meant to compress gltfpack's files once more. zstd makes our files no smaller, so this column
//!   is empty for them.
//! - Our tools measure the errors in object space, 3 cm from each joint, at the sample times,
//!   against the original file. Our importer reads the file that gltfpack writes with `-ac`, which
//!   also has constant tracks. The counted bytes do not include constant tracks.
//! - Each setting is followed by our clips, built with the largest error that gltfpack has in the
//!   same clip.

#[path = "../../../../crates/kinepack-cli/src/anim/import_options.rs"]
mod import_options;
mod pack;

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Parser;
use command_kit::print;
use command_kit::table::{table, write_json, write_text};
use import_options::ImportArguments;
use kinepack_anim::import::{self, ImportOptions, Note};
use kinepack_anim::measure::{ErrorOptions, Errors, pose_errors_cm};
use kinepack_anim::offline::{BuildOptions, build};
use kinepack_anim::{RawClip, Skeleton, Transform, disk, export};
use pack::{Gltfpack, Packed};
use serde::Serialize;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The levels of compression.
const LEVELS: [&str; 3] = ["-c", "-cc", "-cz"];
/// The precisions of our clips, for comparison with gltfpack's.
const PRECISIONS_CM: [f64; 2] = [0.1, 0.01];
/// The smallest precision with which our clips are built, for clips in which gltfpack's error is
/// smaller.
const LEAST_PRECISION_CM: f64 = 1e-4;

/// Compare disk files of clips with gltfpack's files of the same animations.
#[derive(Parser)]
struct Arguments {
    /// Animations: .glb, .gltf, .bvh or .bvh.zst.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The program gltfpack.
    #[arg(long, value_name = "FILE", default_value = "gltfpack")]
    gltfpack: PathBuf,
    /// Also print a table for each file.
    #[arg(long)]
    by_file: bool,
    #[command(flatten)]
    import: ImportArguments,
    /// Print the report as JSON: rows for each file, and for all files.
    #[arg(long)]
    json: bool,
}

/// All results.
#[derive(Serialize)]
struct Report {
    gltfpack: String,
    files: Vec<FileReport>,
    all: Vec<Row>,
    clips: usize,
    raw_bytes: usize,
}

#[derive(Serialize)]
struct FileReport {
    file: String,
    clips: usize,
    raw_bytes: usize,
    rows: Vec<Row>,
}

/// The size and the errors of some clips by one coder.
#[derive(Clone, Serialize)]
struct Row {
    coder: String,
    bytes: usize,
    /// The size of the JSON that describes the animations, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    json_bytes: Option<usize>,
    /// The size of the bytes and the JSON, compressed together with zstd.
    #[serde(skip_serializing_if = "Option::is_none")]
    zstd_bytes: Option<usize>,
    max_error_cm: f64,
    p99_error_cm: f64,
    mean_error_cm: f64,
    /// The name of the clip with the largest error.
    worst: String,
    #[serde(skip)]
    errors_cm: Vec<f32>,
}

fn main() -> Outcome<()> {
    let arguments = Arguments::parse();
    let gltfpack = Gltfpack::find(&arguments.gltfpack)?;
    let mut files = Vec::new();
    for file in &arguments.files {
        let report = compare(&gltfpack, file, &arguments.import.options());
        files.push(report.map_err(|error| format!("{}: {error}", file.display()))?);
    }
    let report = Report {
        gltfpack: gltfpack.version().to_owned(),
        all: sum(&files),
        clips: files.iter().map(|file| file.clips).sum(),
        raw_bytes: files.iter().map(|file| file.raw_bytes).sum(),
        files,
    };
    print(|out| {
        if arguments.json {
            return write_json(&report, out);
        }
        for file in report.files.iter().filter(|_| arguments.by_file) {
            let clips = command_kit::counted(file.clips, "clip");
            writeln!(out, "{}: {clips}, {} bytes as floats\n", file.file, file.raw_bytes)?;
            writeln!(out, "{}\n", rows_table(&file.rows))?;
        }
        let clips = command_kit::counted(report.clips, "clip");
        let title = format!("{}; {clips}, {} bytes as floats", report.gltfpack, report.raw_bytes);
        write_text(out, "", &title)?;
        writeln!(out, "\n{}", rows_table(&report.all))
    })?;
    Ok(())
}

fn rows_table(rows: &[Row]) -> String {
    let optional = |bytes: Option<usize>| bytes.map_or_else(String::new, |bytes| bytes.to_string());
    let cells = rows.iter().map(|row| {
        [
            row.coder.clone(),
            row.bytes.to_string(),
            optional(row.json_bytes),
            optional(row.zstd_bytes),
            format!("{:.4}", row.max_error_cm),
            format!("{:.4}", row.p99_error_cm),
            format!("{:.4}", row.mean_error_cm),
        ]
    });
    let header = ["", "bytes", "JSON", "both, zstd -19", "max cm", "p99 cm", "mean cm"];
    table(header, 1, cells).trim_fmt()
}

/// Returns the sums over all files. Every file has the same rows.
fn sum(files: &[FileReport]) -> Vec<Row> {
    let Some((first, others)) = files.split_first() else { return Vec::new() };
    let mut all = first.rows.clone();
    for file in others {
        for (sum, row) in all.iter_mut().zip(&file.rows) {
            sum.bytes += row.bytes;
            let add = |one: Option<usize>, other: Option<usize>| Some(one? + other?);
            sum.json_bytes = add(sum.json_bytes, row.json_bytes);
            sum.zstd_bytes = add(sum.zstd_bytes, row.zstd_bytes);
            if row.max_error_cm > sum.max_error_cm {
                sum.worst.clone_from(&row.worst);
                sum.max_error_cm = row.max_error_cm;
            }
            sum.errors_cm.extend(&row.errors_cm);
        }
    }
    for row in &mut all {
        let Errors { p99_cm, mean_cm, .. } = Errors::summarize(std::mem::take(&mut row.errors_cm));
        (row.p99_error_cm, row.mean_error_cm) = (p99_cm, mean_cm);
    }
    all
}

/// Returns all rows for one file.
fn compare(gltfpack: &Gltfpack, file: &Path, options: &ImportOptions) -> Outcome<FileReport> {
    let import = import::read(file, options)?.complete()?;
    // The packed file is read with the unit of the original file.
    let is_cm = import.notes.iter().any(|note| matches!(note, Note::TakenAsCm { .. }));
    let raws: Vec<RawClip> = import
        .clips
        .into_iter()
        .map(|clip| clip.with_curves(Vec::new()))
        .collect::<Result<_, _>>()?;
    let first = raws.first().ok_or("no animation of joints or nodes")?;
    let exported = if is_gltf(file) { None } else { Some(export::glb(first)?) };
    let unit_cm = options.unit_cm.filter(|_| exported.is_none());
    let unit_cm = unit_cm.unwrap_or(if is_cm { 1.0 } else { 100.0 });
    let packed_options =
        ImportOptions { unit_cm: Some(unit_cm), rate_hz: Some(first.rate_hz()), ..options.clone() };

    let mut rows = Vec::new();
    for level in LEVELS {
        let packed = match &exported {
            Some(bytes) => gltfpack.pack_bytes(bytes, level, first.rate_hz())?,
            None => gltfpack.pack(file, level, first.rate_hz())?,
        };
        let (row, largest_cm) = their_row(level, &packed, &raws, &packed_options)?;
        rows.push(row);
        let coder = format!("kinepack, as far off as gltfpack {level}");
        rows.push(our_row(coder, &raws, &largest_cm)?);
    }
    for precision_cm in PRECISIONS_CM {
        let coder = format!("kinepack, {precision_cm} cm");
        rows.push(our_row(coder, &raws, &vec![precision_cm; raws.len()])?);
    }
    let raw_bytes = raws.iter().map(RawClip::raw_bytes).sum();
    Ok(FileReport { file: file.display().to_string(), clips: raws.len(), raw_bytes, rows })
}

fn is_gltf(file: &Path) -> bool {
    let ending = file.extension().unwrap_or_default().to_ascii_lowercase();
    ending == "glb" || ending == "gltf"
}

/// Returns the row of gltfpack, and its largest error in each clip.
fn their_row(
    level: &str,
    packed: &Packed,
    raws: &[RawClip],
    options: &ImportOptions,
) -> Outcome<(Row, Vec<f64>)> {
    let import = import::gltf::from_bytes(
        "packed.glb",
        &packed.with_constants,
        options,
        import::gltf::no_files,
    )?
    .complete()?;
    // The name of a clip begins with that of its file.
    let animation = |clip: &RawClip| {
        clip.name().split_once("__").map(|(_, animation)| animation.to_owned()).unwrap_or_default()
    };
    let mut errors_cm = Vec::new();
    let mut largest_cm = Vec::new();
    for (index, raw) in raws.iter().enumerate() {
        // An exported file has one animation, with the clip's whole name.
        let of_name = import.clips.iter().find(|clip| animation(clip) == animation(raw));
        let theirs = of_name.or(if raws.len() == 1 { import.clips.first() } else { None });
        let theirs = theirs.ok_or_else(|| format!("gltfpack left out {}", raws[index].name()))?;
        let of_clip = errors_of(raw, theirs)?;
        largest_cm.push(of_clip.iter().copied().fold(0.0, f32::max).into());
        errors_cm.extend(of_clip);
    }
    let json_bytes = packed.json.len();
    let both = [&packed.views[..], &packed.json].concat();
    let zstd_bytes = zstd::bulk::compress(&both, 19)?.len();
    let row = Row {
        json_bytes: Some(json_bytes),
        zstd_bytes: Some(zstd_bytes),
        ..Row::new(format!("gltfpack {level}"), packed.views.len(), raws, &largest_cm, errors_cm)
    };
    Ok((row, largest_cm))
}

/// Returns the error of each joint at each sample.
fn errors_of(raw: &RawClip, theirs: &RawClip) -> Outcome<Vec<f32>> {
    let joints = joints_in(raw.skeleton(), theirs.skeleton())?;
    let options = ErrorOptions::default();
    let mut errors = Vec::with_capacity(raw.joints() * raw.samples());
    for (sample, pose) in raw.poses().enumerate() {
        // gltfpack may round the duration up or down by a sample.
        let played = theirs.pose(sample.min(theirs.samples() - 1));
        let played: Vec<Transform> = joints.iter().map(|joint| played[*joint]).collect();
        let of_pose = pose_errors_cm(raw.skeleton(), pose, &played, &options);
        errors.extend(of_pose.map(|error| error as f32));
    }
    Ok(errors)
}

/// Returns the index of each joint in another skeleton, which must have the same joints under the
/// same parents.
fn joints_in(skeleton: &Skeleton, other: &Skeleton) -> Outcome<Vec<usize>> {
    let mut indices = Vec::with_capacity(skeleton.len());
    for joint in skeleton.joints() {
        let name = &joint.name;
        let index = other.find(name).ok_or_else(|| format!("gltfpack left out the node {name}"))?;
        let parent = joint.parent.map(|parent| indices[usize::from(parent)]);
        if other.parent(index) != parent {
            return Err(format!("gltfpack moved the node {name} to another parent").into());
        }
        indices.push(index);
    }
    Ok(indices)
}

/// Returns the row of our disk files, with a precision for each clip.
fn our_row(coder: String, raws: &[RawClip], precisions_cm: &[f64]) -> Outcome<Row> {
    let mut bytes = 0;
    let mut errors_cm = Vec::new();
    let mut largest_cm = Vec::new();
    for (raw, precision_cm) in raws.iter().zip(precisions_cm) {
        let precision_cm = precision_cm.max(LEAST_PRECISION_CM);
        let built = build(raw, &BuildOptions { precision_cm, ..BuildOptions::default() })?;
        let clip = built.clip.as_block().ok_or("the default scheme is blocks")?;
        let file = disk::pack(clip)?;
        if disk::unpack(&file)? != clip.as_bytes() {
            return Err(format!("{}: the disk file gives another clip", raw.name()).into());
        }
        bytes += file.len();
        largest_cm.push(built.errors.all.max_cm);
        let mut player = built.clip.player(raw.skeleton())?;
        let mut played = raw.skeleton().bind_pose();
        for (sample, pose) in raw.poses().enumerate() {
            player.sample_at(sample as f64, &mut played);
            let of_pose = pose_errors_cm(raw.skeleton(), pose, &played, &ErrorOptions::default());
            errors_cm.extend(of_pose.map(|error| error as f32));
        }
    }
    Ok(Row::new(coder, bytes, raws, &largest_cm, errors_cm))
}

impl Row {
    fn new(
        coder: String,
        bytes: usize,
        raws: &[RawClip],
        largest_cm: &[f64],
        errors_cm: Vec<f32>,
    ) -> Self {
        let Errors { max_cm, p99_cm, mean_cm } = Errors::summarize(errors_cm.clone());
        let worst = raws.iter().zip(largest_cm).max_by(|one, other| one.1.total_cmp(other.1));
        Self {
            coder,
            bytes,
            json_bytes: None,
            zstd_bytes: None,
            max_error_cm: max_cm,
            p99_error_cm: p99_cm,
            mean_error_cm: mean_cm,
            worst: worst.map(|(raw, _)| raw.name().to_owned()).unwrap_or_default(),
            errors_cm,
        }
    }
}
