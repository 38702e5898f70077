//! `kinepack anim export`: a compressed clip as a file that other programs play.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use kinepack_anim::anm::{Anm, AnmPlayer};
use kinepack_anim::measure::{ErrorOptions, pose_distance_cm};
use kinepack_anim::{Clip, Cursor, Skeleton};
use serde::Serialize;

use super::compiled::{self, SkeletonArguments};
use crate::failure::Failure;
use crate::report::print;
use crate::table::write_json;

/// Write a compressed clip as an r3d2canm file, the article's format, and tell how far that is off the clip.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The clip, as `anim build` wrote it.
    clip: PathBuf,
    /// Where to put the file.
    out: PathBuf,
    /// Places at which players can begin, for 24 or 48 bytes a joint each. With one they can go back to the start; without, some cannot.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    jump_caches: u32,
    #[command(flatten)]
    skeleton: SkeletonArguments,
    /// Tell what was written as JSON.
    #[arg(long)]
    json: bool,
}

/// What was written.
#[derive(Serialize)]
struct Report {
    file: String,
    joints: usize,
    keys: usize,
    bytes: usize,
    jump_caches: u32,
    /// From the clip's own playback, at the sample times, in object space.
    max_difference_cm: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (clip, skeleton) = compiled::read(&arguments.clip, &arguments.skeleton)?;
    let bad = |reason: String| Failure::BadClip { path: arguments.clip.clone(), reason };
    let anm = Anm::from_clip(&clip, &skeleton, arguments.jump_caches).map_err(|error| bad(error.to_string()))?;
    let (out, bytes) = (&arguments.out, anm.to_bytes());
    fs::write(out, &bytes).map_err(|error| Failure::ClipFile { path: out.clone(), error })?;
    let report = Report {
        file: out.display().to_string(),
        joints: anm.joints().len(),
        keys: anm.keys().len(),
        bytes: bytes.len(),
        jump_caches: anm.jump_cache_count(),
        max_difference_cm: max_difference_cm(&clip, &skeleton, &anm),
    };
    print(|out| if arguments.json { write_json(&report, out) } else { report.write_line(out) })
}

fn max_difference_cm(clip: &Clip, skeleton: &Skeleton, anm: &Anm) -> f64 {
    let (mut ours, mut theirs) = (skeleton.bind_pose(), skeleton.bind_pose());
    let (mut cursor, mut player) = (Cursor::new(clip, &ours), AnmPlayer::new(anm));
    let distances = (0..clip.samples()).map(|sample| {
        cursor.sample_at(sample as f64, &mut ours);
        player.sample(sample as f32 / clip.rate_hz(), &mut theirs);
        pose_distance_cm(skeleton, &ours, &theirs, &ErrorOptions::default())
    });
    distances.fold(0.0, f64::max)
}

impl Report {
    fn write_line(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { file, joints, keys, bytes, jump_caches, max_difference_cm } = self;
        let caches = if *jump_caches == 1 { "1 jump cache".to_owned() } else { format!("{jump_caches} jump caches") };
        writeln!(
            out,
            "{file}: {joints} joints, {keys} keys, {bytes} bytes, {caches}; at most {max_difference_cm:.4} cm off the clip"
        )
    }
}
