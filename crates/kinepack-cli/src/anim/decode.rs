//! `kinepack anim decode`: writes the samples of a compressed clip as plain floats.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use command_kit::output::Force;
use command_kit::table::write_text;
use command_kit::{counted, print};
use kinepack_anim::{AnyClip, Skeleton, exchange};

use super::compiled::{self, Compiled, SkeletonArguments};
use super::left_out::LeftOutReport;
use crate::anim::error::AnimError;

/// Play a compressed clip at its sample times, and write these samples as a .clip file.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A clip that `anim build` wrote, .kpa or .kpd, or a clip of a database: FILE.kpb#CLIP.
    clip: PathBuf,
    /// The .clip file to write.
    out: PathBuf,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    skeleton: SkeletonArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), AnimError> {
    let inputs = compiled::inputs(&arguments.clip, &arguments.skeleton);
    let target = arguments.force.reading(inputs).target(&arguments.out)?;
    let Compiled { clip, skeleton, .. } = compiled::read(&arguments.clip, &arguments.skeleton)?;
    let out = &arguments.out;
    let samples = samples(&clip, &skeleton)
        .map_err(|error| AnimError::ClipFile { path: out.clone(), error })?;
    target.write(&samples)?;
    let counts = [clip.curves(), clip.markers().count()];
    let left_out: Vec<_> = LeftOutReport::of_counts(&arguments.clip, "", counts).collect();
    let (joints, count) = (counted(skeleton.len(), "joint"), counted(clip.samples(), "sample"));
    print(|report| {
        writeln!(report, "{}: {joints}, {count} at {} Hz", out.display(), clip.rate_hz())?;
        left_out.iter().try_for_each(|part| write_text(report, "", &part.line()))
    })?;
    Ok(())
}

/// Returns the bytes of the `.clip` file.
fn samples(clip: &AnyClip, skeleton: &Skeleton) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    exchange::write_head(skeleton, clip.samples(), clip.rate_hz(), &mut out)?;
    let mut pose = skeleton.bind_pose();
    let mut player = clip.player(skeleton).map_err(io::Error::other)?;
    for sample in 0..clip.samples() {
        player.sample_at(sample as f64, &mut pose);
        exchange::write_pose(&pose, &mut out)?;
    }
    Ok(out)
}
