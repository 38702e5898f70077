//! `kinepack replay --publish`: broadcasts a capture to spectators, in real time.

use std::time::{Duration, Instant};

use command_kit::bodies::Bodies;
use command_kit::interrupt::Interrupt;
use command_kit::{OutputError, counted, progress, say};
use kinepack::{Codec, Level};

use super::{Arguments, ReplayError};
use crate::captured::{Captured, Snapshots, profile};

pub(super) fn run(arguments: &Arguments) -> Result<(), ReplayError> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let captured = Captured::open(&arguments.file, arguments.capture.limits())?;
    let (stream, max_error) = (&arguments.stream, &arguments.steps.max_error);
    let mut snapshots = Snapshots::new(captured, stream, max_error, &arguments.profile)?;
    let schema = snapshots.schema().clone();
    // Several profiles are for comparisons; the first one publishes.
    let profile = profile(&arguments.profile[0], &schema)?;
    let codec = Codec::new(schema, Level::LEARNING, profile).map_err(ReplayError::Codec)?;
    let rate_hz = snapshots.stream().rate_hz;
    let tick_hz = rate_hz.round().clamp(1.0, u16::MAX.into()) as u16;
    let mut next = snapshots.next_snapshot()?;
    let mut bodies = Bodies::new(codec.schema());
    let half_width_m = next.as_ref().map_or(0.0, |first| bodies.half_width_m(first));
    let outgoing = arguments.publish.begin(&codec, tick_hz, half_width_m)?;
    let Some(mut outgoing) = outgoing else { return Ok(()) };
    let bar = progress(snapshots.stream().frames);
    let (begin, mut frames) = (Instant::now(), 0_u64);
    while !interrupt.is_raised()
        && let Some(mut snapshot) = next
    {
        snapshot.tick = snapshots.tick();
        let due = Duration::from_secs_f64(frames as f64 / rate_hz);
        std::thread::sleep(due.saturating_sub(begin.elapsed()));
        if let Some(news) = outgoing.write(&snapshot)? {
            bar.suspend(|| say(format!("kinepack: {news}")));
        }
        frames += 1;
        bar.inc(1);
        next = snapshots.next_snapshot()?;
    }
    bar.finish_and_clear();
    snapshots.warn();
    outgoing.finish();
    say(format!("kinepack: {} published", counted(frames, "frame")));
    Ok(())
}
