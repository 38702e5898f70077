//! Runs of the built-in world to train on.

use command_kit::interrupt::Interrupt;
use command_kit::progress;
use cube_data::cube::{self, Measured, Quantized};
use cubes::{Config, Style};
use demo::{Played, SessionError, States};
use indicatif::ProgressBar;
use kinepack::{EncodeError, EntityId, Snapshot, Tick};

/// A minute.
const WORLD_FRAMES: u32 = 60 * cubes::TICK_HZ;

/// The styles of the built-in world in which something moves.
pub(crate) const STYLES: [Style; 3] = [Style::Typical, Style::Push, Style::Pull];

/// All runs. After a signal, only the runs until then; the last one is cut off.
pub(super) fn runs(interrupt: &Interrupt) -> Result<Vec<Vec<Snapshot>>, SessionError> {
    let runs: Vec<(Style, u64)> =
        STYLES.into_iter().flat_map(|style| (1000..1004).map(move |seed| (style, seed))).collect();
    let bar = progress(Some(WORLD_FRAMES * runs.len() as u32));
    let runs = runs
        .into_iter()
        .map(|(style, seed)| run(style, seed, WORLD_FRAMES, &bar, interrupt))
        .collect();
    bar.finish_and_clear();
    runs
}

/// The first frames of the built-in world as they are sent, or those before a signal.
pub(crate) fn run(
    style: Style,
    seed: u64,
    frames: u32,
    bar: &ProgressBar,
    interrupt: &Interrupt,
) -> Result<Vec<Snapshot>, SessionError> {
    let mut played = Played::cubes(&Config::default(), style, seed)?;
    let mut states = States::default();
    let frame = |tick| {
        played.next_frame(&mut states);
        bar.inc(1);
        let out_of_range = |(object, error): (u32, EncodeError)| SessionError::OutOfRange {
            object,
            reason: error.to_string(),
        };
        quantized(states.measured(), tick).map_err(out_of_range)
    };
    (0..frames).take_while(|_| !interrupt.is_raised()).map(frame).collect()
}

/// A frame as it is sent, or the object that is out of range.
fn quantized(states: &[Measured], tick: u32) -> Result<Snapshot, (u32, EncodeError)> {
    let mut snapshot = Snapshot::new(&cube::schema(Quantized::Everything), Tick(tick));
    for (object, state) in (0..).zip(states) {
        let pushed = cube::push(&mut snapshot, Quantized::Everything, EntityId(object), *state);
        pushed.map_err(|error| (object, error))?;
    }
    Ok(snapshot)
}
