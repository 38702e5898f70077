//! `kinepack cut`: writes a part of a replay as a new replay.

use std::io::{BufWriter, ErrorKind};
use std::path::PathBuf;

use clap::Args;
use command_kit::output::Force;
use command_kit::{counted, say};
use kinepack::Tick;
use kinepack_replay::ReplayError;

use super::moment::{HELP, Moment};
use super::{KpzError, open, read_error, write_error};
use crate::captured::Ending;

/// Cut a part out of a replay.
///
/// A moment is a time from the beginning, as `info` shows it, or a marker. This cuts ten seconds
/// around a marker: `kinepack cut match.kpz goal.kpz --from @goal-7 --to @goal+3`.
#[derive(Args)]
pub struct Arguments {
    /// The replay.
    file: PathBuf,
    /// The replay to write.
    out: PathBuf,
    /// The first moment [default: the beginning]
    #[arg(long, value_name = "MOMENT", help = format!("The first moment: {HELP} [default: the beginning]"))]
    from: Option<Moment>,
    /// The last moment [default: the end]
    #[arg(long, value_name = "MOMENT", help = "The last moment [default: the end]")]
    to: Option<Moment>,
    #[command(flatten)]
    force: Force,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), KpzError> {
    let Arguments { file, out, from, to, force } = arguments;
    let target = force.reading([file]).target(out)?;
    let mut replay = open(file)?;
    let failed = |error| read_error(file, error);
    let ticks = replay.ticks().map_err(failed)?;
    let (first, last) = ticks.unwrap_or_default();
    let tick = |option, moment: &Option<Moment>, otherwise: Tick| match moment {
        Some(moment) => moment
            .tick(first.0, replay.rate_hz(), replay.markers())
            .map_err(|reason| KpzError::Moment { option, reason }),
        None => Ok(otherwise.0.into()),
    };
    let (begin, end) = (tick("from", from, first)?, tick("to", to, last)?);
    // The casts saturate, so a large moment becomes the largest tick.
    let (begin_tick, end_tick) = (Tick(begin.ceil() as u32), Tick(end.floor() as u32));
    if ticks.is_some() && begin_tick > last {
        let length = f64::from(last.0 - first.0) / replay.rate_hz();
        let reason = format!("the last frame is {length:.3} s after the first");
        return Err(KpzError::Moment { option: "from", reason });
    }
    if from.is_some() && to.is_some() && begin > end {
        let reason = "it is before --from".to_owned();
        return Err(KpzError::Moment { option: "to", reason });
    }
    let output = target.create()?;
    let written = replay.cut(begin_tick, end_tick, BufWriter::new(output.file()?));
    let summary = written.map_err(|error| match error {
        ReplayError::Io(error) if is_of_writing(error.kind()) => write_error(out, error),
        error => read_error(file, error),
    })?;
    if end_tick >= last {
        replay.check_end().map_err(failed)?;
    }
    let read = Ending::of_places(file, replay.damage(), (0, None), summary.frames)?;
    output.commit()?;
    say(format_args!(
        "{}: {} in {}",
        out.display(),
        counted(summary.frames, "frame"),
        counted(summary.bytes, "byte")
    ));
    Ok(read.result()?)
}

/// Returns true for an error that reading a file cannot have.
fn is_of_writing(kind: ErrorKind) -> bool {
    use ErrorKind::{BrokenPipe, FileTooLarge, QuotaExceeded, StorageFull};
    matches!(kind, StorageFull | QuotaExceeded | FileTooLarge | BrokenPipe)
}
