//! `kinepack record`: a capture of the built-in world.

use std::path::PathBuf;

use clap::Args;
use kinepack::{EntityId, Tick};
use kinepack_capture::Recorder;
use kinepack_capture::cube::Cube;

use crate::failure::Failure;
use crate::measure::progress;
use crate::states::States;
use crate::world::WorldArguments;

/// Record the built-in world as a capture, as a game does with `kinepack_capture::Recorder`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Where to put the capture.
    #[arg(value_name = "FILE.mcap")]
    out: PathBuf,
    #[command(flatten, next_help_heading = "Built-in world")]
    world: WorldArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut world = arguments.world.play()?;
    let mut recorder = Recorder::create(&arguments.out)?;
    let stream = recorder.stream::<Cube>("cubes", f64::from(cubes::TICK_HZ))?;
    let bar = progress(Some(arguments.world.frames()));
    let mut states = States::default();
    let mut sent: Vec<(EntityId, Cube)> = Vec::new();
    for tick in 0..arguments.world.frames() {
        world.next_frame(&mut states);
        sent.clear();
        sent.extend(states.iter().map(|(id, state)| (id, Cube::from(*state))));
        recorder.record(&stream, Tick(tick), sent.iter().map(|(id, cube)| (*id, cube)))?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let summary = recorder.finish()?;
    eprintln!("{}: {} frames, {} bytes", arguments.out.display(), summary.frames, summary.bytes);
    Ok(())
}
