//! Records a game as two streams, with a first struct and with the struct after the analysis.

use std::error::Error;
use std::path::Path;

use kinepack::{EntityId, Pack, Tick};
use kinepack_capture::{RecordSummary, Recorder};

/// An entity's id, and its state as both structs.
pub(crate) type State<First, After> = (EntityId, First, After);

/// Records the same seconds of a game as two streams, one for each struct: `NAME-first` and `NAME`.
pub(crate) fn record<First: Pack, After: Pack>(
    path: &Path,
    name: &str,
    rate_hz: u32,
    seconds: u32,
    mut next_frame: impl FnMut() -> Vec<State<First, After>>,
) -> Result<RecordSummary, Box<dyn Error>> {
    let mut recorder = Recorder::create(path)?;
    let first = recorder.stream::<First>(&format!("{name}-first"), rate_hz.into())?;
    let after = recorder.stream::<After>(name, rate_hz.into())?;
    for tick in 0..seconds * rate_hz {
        let states = next_frame();
        recorder.record(&first, Tick(tick), states.iter().map(|(id, state, _)| (*id, state)))?;
        recorder.record(&after, Tick(tick), states.iter().map(|(id, _, state)| (*id, state)))?;
    }
    Ok(recorder.finish()?)
}
