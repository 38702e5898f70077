//! `kinepack anim export`: writes a compressed clip as a file that other programs play.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use command_kit::output::{Force, Target};
use command_kit::table::write_json;
use command_kit::{counted, print};
use kinepack_anim::measure::{ErrorOptions, pose_distance_cm};
use kinepack_anim::{AnyClip, AnyPlayer, MAX_SAMPLES, RawClip, Skeleton, export};
use kinepack_anm::{Anm, AnmPlayer};
use serde::Serialize;

use super::baked::with_curves;
use super::compiled::{self, Compiled, SkeletonArguments};
use crate::anim::error::AnimError;

/// Write a compressed clip as a file for other programs. The extension selects the format: .glb is
/// glTF with a key for each sample, which any viewer shows; .anm is r3d2canm, the format of League
/// of Legends.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A clip that `anim build` wrote, .kpa or .kpd, or one of a database: FILE.kpb#CLIP.
    clip: PathBuf,
    /// The file to write: NAME.glb or NAME.anm.
    out: PathBuf,
    #[command(flatten)]
    force: Force,
    /// .glb: samples per second. Default: the clip's own rate.
    #[arg(long, value_name = "HZ", value_parser = parse_rate)]
    rate: Option<f32>,
    /// .anm: the number of places at which players can start [default: 1]. Each place takes 24 or
    /// 48 bytes a joint. With 0, some players cannot go back to the start.
    #[arg(long, value_name = "COUNT")]
    jump_caches: Option<u32>,
    #[command(flatten)]
    skeleton: SkeletonArguments,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

fn parse_rate(text: &str) -> Result<f32, String> {
    let rate = text.parse().ok().filter(|rate: &f32| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| format!("{text} is not a positive rate"))
}

/// The report of an r3d2canm file.
#[derive(Serialize)]
struct AnmReport {
    file: String,
    joints: usize,
    keys: usize,
    bytes: usize,
    jump_caches: u32,
    /// The largest difference from the clip at the sample times, in object space, in cm.
    max_difference_cm: f64,
}

/// The report of a glTF file.
#[derive(Serialize)]
struct GltfReport {
    file: String,
    joints: usize,
    samples: usize,
    rate_hz: f32,
    curves: usize,
    markers: usize,
    bytes: usize,
}

/// The format of an exported file, selected by its name.
enum Form {
    Gltf,
    Anm,
}

impl Arguments {
    /// # Errors
    /// Fails if the file's extension is unknown, or an option is for the other format.
    fn form(&self) -> Result<Form, AnimError> {
        let ending = self.out.extension().map(OsStr::to_ascii_lowercase);
        let refused = match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("glb") if self.jump_caches.is_some() => "--jump-caches is for .anm files",
            Some("anm") if self.rate.is_some() => "--rate is for .glb files",
            Some("glb") => return Ok(Form::Gltf),
            Some("anm") => return Ok(Form::Anm),
            _ => "the name must end in .glb for glTF, or in .anm for League of Legends",
        };
        Err(AnimError::BadClip { path: self.out.clone(), reason: refused.to_owned() })
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), AnimError> {
    let form = arguments.form()?;
    let inputs = compiled::inputs(&arguments.clip, &arguments.skeleton);
    let target = arguments.force.reading(inputs).target(&arguments.out)?;
    let Compiled { name, clip, skeleton, .. } =
        compiled::read(&arguments.clip, &arguments.skeleton)?;
    match form {
        Form::Gltf => write_gltf(arguments, &target, (&name, &clip), skeleton),
        Form::Anm => write_anm(arguments, &target, &clip, &skeleton),
    }
}

fn write_anm(
    arguments: &Arguments,
    target: &Target,
    clip: &AnyClip,
    skeleton: &Skeleton,
) -> Result<(), AnimError> {
    let anm = match clip {
        AnyClip::Block(_) => {
            Err("this is a block clip, and an .anm file stores keys: build the clip with \
                 --scheme keyed, or write a .glb file"
                .to_owned())
        }
        AnyClip::Keyed(clip) => Anm::from_clip(clip, skeleton, arguments.jump_caches.unwrap_or(1))
            .map_err(|error| error.to_string()),
    };
    let anm = anm.map_err(|error| bad_clip(arguments, &error))?;
    let player = clip.player(skeleton);
    let player = player.map_err(|error| bad_clip(arguments, &error.to_string()))?;
    let bytes = anm.to_bytes();
    let report = AnmReport {
        file: write_file(target, &bytes)?,
        joints: anm.joints().len(),
        keys: anm.keys().len(),
        bytes: bytes.len(),
        jump_caches: anm.jump_cache_count(),
        max_difference_cm: max_difference_cm((clip, player), skeleton, &anm),
    };
    print(|out| if arguments.json { write_json(&report, out) } else { report.write_line(out) })?;
    Ok(())
}

fn write_gltf(
    arguments: &Arguments,
    target: &Target,
    (name, clip): (&str, &AnyClip),
    skeleton: Skeleton,
) -> Result<(), AnimError> {
    let rate_hz = arguments.rate.unwrap_or(clip.rate_hz());
    let step = f64::from(clip.rate_hz()) / f64::from(rate_hz);
    // The last sample is at the clip's end or after it. After the end, the clip's last pose is
    // held.
    let samples = ((clip.samples() - 1) as f64 / step - 1e-6).ceil().max(0.0) + 1.0;
    if samples > MAX_SAMPLES as f64 {
        return Err(bad_clip(
            arguments,
            &format!("{samples} samples at {rate_hz} Hz are too many"),
        ));
    }
    let mut pose = skeleton.bind_pose();
    let player = clip.player(&skeleton);
    let mut player = player.map_err(|error| bad_clip(arguments, &error.to_string()))?;
    let mut all = Vec::new();
    let last = (clip.samples() - 1) as f64;
    let positions = (0..samples as usize).map(|sample| (sample as f64 * step).min(last));
    for position in positions.clone() {
        player.sample_at(position, &mut pose);
        all.extend_from_slice(&pose);
    }
    let baked = RawClip::new(name, Arc::new(skeleton), rate_hz, all)
        .and_then(|baked| with_curves(baked, clip, positions))
        .map_err(|error| bad_clip(arguments, &error))?;
    let bytes = export::glb(&baked).map_err(|error| bad_clip(arguments, &error))?;
    let report = GltfReport {
        file: write_file(target, &bytes)?,
        joints: baked.joints(),
        samples: baked.samples(),
        rate_hz,
        curves: baked.curves().len(),
        markers: baked.markers().len(),
        bytes: bytes.len(),
    };
    print(|out| if arguments.json { write_json(&report, out) } else { report.write_line(out) })?;
    Ok(())
}

fn bad_clip(arguments: &Arguments, reason: &impl ToString) -> AnimError {
    AnimError::BadClip { path: arguments.clip.clone(), reason: reason.to_string() }
}

/// Writes the file, and returns its name.
fn write_file(target: &Target, bytes: &[u8]) -> Result<String, AnimError> {
    target.write(bytes)?;
    Ok(target.name().display().to_string())
}

fn max_difference_cm(
    (clip, mut our_player): (&AnyClip, AnyPlayer),
    skeleton: &Skeleton,
    anm: &Anm,
) -> f64 {
    let (mut ours, mut theirs) = (skeleton.bind_pose(), skeleton.bind_pose());
    let mut their_player = AnmPlayer::new(anm);
    let distances = (0..clip.samples()).map(|sample| {
        our_player.sample_at(sample as f64, &mut ours);
        their_player.sample(sample as f32 / clip.rate_hz(), &mut theirs);
        pose_distance_cm(skeleton, &ours, &theirs, &ErrorOptions::default())
    });
    distances.fold(0.0, f64::max)
}

impl AnmReport {
    fn write_line(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { file, joints, keys, bytes, jump_caches, max_difference_cm } = self;
        let (joints, keys) = (counted(*joints, "joint"), counted(*keys, "key"));
        let caches = counted(*jump_caches as usize, "jump cache");
        writeln!(out, "{file}: {joints}, {keys}, {bytes} bytes, {caches};")?;
        writeln!(out, "at most {max_difference_cm:.4} cm from the clip")
    }
}

impl GltfReport {
    fn write_line(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { file, joints, samples, rate_hz, bytes, .. } = self;
        let (joints, samples) = (counted(*joints, "joint"), counted(*samples, "sample"));
        writeln!(out, "{file}: {joints}, {samples} at {rate_hz} Hz, {bytes} bytes")?;
        if self.curves + self.markers > 0 {
            let (curves, markers) =
                (counted(self.curves, "curve"), counted(self.markers, "marker"));
            writeln!(out, "{curves}, {markers}")?;
        }
        Ok(())
    }
}
