//! Compares ozz-animation with block clips, on clips that `kinepack anim raw` wrote. See README.md.

#![feature(portable_simd)]

mod archive;
mod reduce;
mod timing;

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use kinepack_anim::measure::{ErrorOptions, Errors, pose_errors_cm};
use kinepack_anim::offline::{BuildOptions, build};
use kinepack_anim::{Clip, RawClip, Sampler, Transform, exchange};
use ozz_animation_rs::{Animation, Archive, SamplingContext, SamplingJobRef, SoaTransform};
use reduce::{METRE_CM, Tolerance};

type Outcome<T> = Result<T, Box<dyn Error>>;

const USAGE: &str = "\
measure-ozz [OPTIONS] FILE.clip...

Reduces clips as ozz-animation does with its default settings, plays them with ozz-animation-rs, and
compares them with block clips. `kinepack anim raw` writes the clips.

  --precision CM   our precision, beside ozz's own errors [default: 0.1]
  --tolerance MM   ozz's tolerance [default: 1]
  --distance CM    the distance from a joint at which ozz measures it [default: 10]
  --cold-mb MB     memory that clips take while cold poses are timed [default: 64]
  --csv FILE       also write ozz's figures as a table for `kinepack anim compare --peer`
  --no-times       leave the times out
";

struct Options {
    precision_cm: f64,
    tolerance: Tolerance,
    cold_bytes: usize,
    csv: Option<PathBuf>,
    times: bool,
    files: Vec<PathBuf>,
}

impl Options {
    fn parse(arguments: impl Iterator<Item = String>) -> Outcome<Option<Self>> {
        let mut options = Self {
            precision_cm: 0.1,
            tolerance: Tolerance::default(),
            cold_bytes: 64_000_000,
            csv: None,
            times: true,
            files: Vec::new(),
        };
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            let mut number = || -> Outcome<f64> {
                let given = arguments.next().and_then(|text| text.parse::<f64>().ok());
                let positive = given.filter(|number| *number > 0.0 && number.is_finite());
                Ok(positive.ok_or_else(|| format!("{argument} takes a positive number"))?)
            };
            match argument.as_str() {
                "--help" => return Ok(None),
                "--precision" => options.precision_cm = number()?,
                "--tolerance" => options.tolerance.error_m = number()? / 1e3,
                "--distance" => options.tolerance.distance_m = number()? / METRE_CM,
                "--cold-mb" => options.cold_bytes = (number()? * 1e6) as usize,
                "--csv" => options.csv = Some(arguments.next().ok_or("--csv takes a file")?.into()),
                "--no-times" => options.times = false,
                other if other.starts_with("--") => {
                    return Err(format!("there is no option {other}; see --help").into());
                }
                file => options.files.push(file.into()),
            }
        }
        if options.files.is_empty() {
            return Err("no files; see --help".into());
        }
        Ok(Some(options))
    }
}

fn main() {
    if let Err(error) = run() {
        eprintln!("measure-ozz: {error}");
        std::process::exit(1);
    }
}

fn run() -> Outcome<()> {
    let Some(options) = Options::parse(std::env::args().skip(1))? else {
        print!("{USAGE}");
        return Ok(());
    };
    let mut rows = [
        Row::new("ozz-animation"),
        Row::new("kinepack, each clip as far off as ozz"),
        Row::new(&format!("kinepack, {} cm", options.precision_cm)),
    ];
    let mut csv = String::from("file,clip,rate_hz,joints,samples,raw_bytes,ozz_bytes,");
    csv += "ozz_playing_bytes,ozz_max_error_cm,ozz_p99_error_cm";
    csv += if options.times {
        ",ozz_sample_ns_per_pose,ozz_jump_ns_per_pose,ozz_cold_ns_per_pose\n"
    } else {
        "\n"
    };
    let mut raw_bytes = 0;
    for file in &options.files {
        let in_file = |error: Box<dyn Error>| format!("{}: {error}", file.display());
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let raw = std::fs::read(file).map_err(Into::into);
        let raw = raw.and_then(|bytes| Ok(exchange::read(name, &bytes)?)).map_err(in_file)?;
        raw_bytes += raw.raw_bytes();
        let ozz = ozz(&raw, &options).map_err(in_file)?;
        let largest_cm = Errors::summarize(ozz.errors_cm.clone()).max_cm;
        add_line(&mut csv, &raw, &ozz);
        rows[0].add(&raw, ozz);
        for (row, precision_cm) in rows[1..].iter_mut().zip([largest_cm, options.precision_cm]) {
            row.add(&raw, kinepack(&raw, precision_cm, &options).map_err(in_file)?);
        }
    }
    println!("{} clips, {raw_bytes} bytes as floats\n", options.files.len());
    println!(
        "| | file, bytes | while it plays | second player, bytes a clip | max cm | p99 cm | \
         ns a joint, forwards | jumps | cold |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    rows.into_iter().for_each(Row::print);
    if let Some(path) = &options.csv {
        std::fs::write(path, csv).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// The measurements of one player on one clip.
struct Figures {
    bytes: usize,
    /// The memory that all players of the clip share, in bytes. The next field is the memory of one
    /// player.
    shared_bytes: usize,
    player_bytes: usize,
    errors_cm: Vec<f32>,
    /// The times per pose, see [`timing`].
    ns: Option<[f64; 3]>,
}

/// The sums of the measurements over all clips.
struct Row {
    name: String,
    clips: usize,
    bytes: usize,
    playing_bytes: usize,
    player_bytes: usize,
    errors_cm: Vec<f32>,
    /// The times per joint, summed over the clips.
    ns: Option<[f64; 3]>,
}

impl Row {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            clips: 0,
            bytes: 0,
            playing_bytes: 0,
            player_bytes: 0,
            errors_cm: Vec::new(),
            ns: None,
        }
    }

    fn add(&mut self, raw: &RawClip, figures: Figures) {
        self.clips += 1;
        self.bytes += figures.bytes;
        self.playing_bytes += figures.shared_bytes + figures.player_bytes;
        self.player_bytes += figures.player_bytes;
        self.errors_cm.extend(figures.errors_cm);
        if let Some(ns) = figures.ns {
            let sums = self.ns.get_or_insert_default();
            sums.iter_mut().zip(ns).for_each(|(sum, ns)| *sum += ns / raw.joints() as f64);
        }
    }

    fn print(self) {
        let Errors { max_cm, p99_cm, .. } = Errors::summarize(self.errors_cm);
        let a_player = self.player_bytes / self.clips;
        let times = self.ns.map_or_else(
            || " | | ".to_owned(),
            |sums| sums.map(|sum| format!("{:.1}", sum / self.clips as f64)).join(" | "),
        );
        println!(
            "| {} | {} | {} | {a_player} | {max_cm:.4} | {p99_cm:.4} | {times} |",
            self.name, self.bytes, self.playing_bytes
        );
    }
}

fn add_line(csv: &mut String, raw: &RawClip, figures: &Figures) {
    let Errors { max_cm, p99_cm, .. } = Errors::summarize(figures.errors_cm.clone());
    let Figures { bytes, shared_bytes, player_bytes, ns, .. } = figures;
    let _ = write!(
        csv,
        "{},,{},{},{},{},{bytes},{},{max_cm:.5},{p99_cm:.5}",
        raw.name(),
        raw.rate_hz(),
        raw.joints(),
        raw.samples(),
        raw.raw_bytes(),
        shared_bytes + player_bytes
    );
    let _ = ns.iter().flatten().try_for_each(|ns| write!(csv, ",{ns:.1}"));
    csv.push('\n');
}

/// Measures ozz's clip, which ozz-animation-rs plays.
fn ozz(raw: &RawClip, options: &Options) -> Outcome<Figures> {
    let joints = reduce::reduce(raw, options.tolerance);
    let file = archive::write(&joints, raw.rate_hz(), raw.samples())?;
    let animation = Animation::from_archive(&mut Archive::from_slice(&file)?)?;
    let mut context = SamplingContext::new(animation.num_tracks());
    let mut lanes = vec![SoaTransform::default(); animation.num_soa_tracks()];
    let mut pose = raw.skeleton().bind_pose();
    let mut errors_cm = Vec::new();
    for sample in 0..raw.samples() {
        let mut job = SamplingJobRef::default();
        job.set_animation(&animation);
        job.set_context(&mut context);
        job.set_output(&mut lanes[..]);
        job.set_ratio(sample as f32 / raw.rate_hz() / animation.duration());
        job.run()?;
        take_pose(&lanes, &mut pose);
        errors_cm.extend(errors(raw, sample, &pose));
    }
    // A player of ozz needs the context and the output. A player of kinepack needs a pose. The
    // measurement does not count these outputs.
    let player_bytes = context.size();
    let ns = options.times.then(|| timing::ozz(&file, &animation, options.cold_bytes));
    Ok(Figures {
        bytes: file.len(),
        shared_bytes: file.len(),
        player_bytes,
        errors_cm,
        ns: ns.transpose()?,
    })
}

/// Copies the joints' transforms out of groups of four joints.
fn take_pose(lanes: &[SoaTransform], pose: &mut [Transform]) {
    for (joint, transform) in pose.iter_mut().enumerate() {
        let SoaTransform { translation, rotation, scale } = &lanes[joint / 4];
        let at = joint % 4;
        let metres = [translation.x[at], translation.y[at], translation.z[at]];
        *transform = Transform {
            rotation: [rotation.x[at], rotation.y[at], rotation.z[at], rotation.w[at]],
            translation: metres.map(|m| (f64::from(m) * METRE_CM) as f32),
            scale: [scale.x[at], scale.y[at], scale.z[at]],
        };
    }
}

/// Measures kinepack's clip.
fn kinepack(raw: &RawClip, precision_cm: f64, options: &Options) -> Outcome<Figures> {
    // ozz holds some clips exactly, such as poses that never change. The limit keeps the precision
    // above zero for these clips.
    let precision_cm = precision_cm.max(1e-4);
    let built = build(raw, &BuildOptions { precision_cm, ..BuildOptions::default() })?;
    let clip = built.clip.as_block().ok_or("the default scheme is blocks")?;
    let bind = raw.skeleton().shared_bind_pose();
    let sampler = Sampler::with_bind_pose(Arc::clone(clip), &bind)?;
    let mut pose = raw.skeleton().bind_pose();
    let mut errors_cm = Vec::new();
    for sample in 0..raw.samples() {
        sampler.sample_at(sample as f64, &mut pose);
        errors_cm.extend(errors(raw, sample, &pose));
    }
    Ok(Figures {
        bytes: clip.as_bytes().len(),
        shared_bytes: Clip::memory_bytes(clip),
        player_bytes: size_of_val(&sampler),
        errors_cm,
        ns: options.times.then(|| timing::kinepack(clip, &bind, options.cold_bytes)),
    })
}

fn errors(raw: &RawClip, sample: usize, pose: &[Transform]) -> impl Iterator<Item = f32> {
    let errors = pose_errors_cm(raw.skeleton(), raw.pose(sample), pose, &ErrorOptions::default());
    errors.map(|error| error as f32)
}
