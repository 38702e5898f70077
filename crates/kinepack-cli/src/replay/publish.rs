//! `kinepack replay --publish`: broadcasts a capture to spectators, in real time.

use std::time::{Duration, Instant};

use command_kit::bodies::Bodies;
use command_kit::interrupt::Interrupt;
use command_kit::{OutputError, counted, progress, say};
use kinepack::{Codec, Level, Tick};

use super::{Arguments, ReplayError};
use crate::captured::{Captured, Snapshots, profile};

/// The longest sleep, after which an interrupt is noticed.
const NAP: Duration = Duration::from_millis(100);

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
    let tick_hz = rate_hz.round();
    if !(1.0..=f64::from(u16::MAX)).contains(&tick_hz) {
        return Err(ReplayError::NoBroadcastRate { rate_hz });
    }
    let tick_hz = tick_hz as u16;
    let mut next = snapshots.next_snapshot()?;
    let mut bodies = Bodies::new(codec.schema());
    let half_width_m = next.as_ref().map_or(0.0, |first| bodies.half_width_m(first));
    let outgoing = arguments.publish.begin(&codec, tick_hz, half_width_m)?;
    let Some(mut outgoing) = outgoing else { return Ok(()) };
    let bar = progress(snapshots.stream().frames);
    let (begin, mut frames) = (Instant::now(), 0_u64);
    let first = next.as_ref().map_or(Tick(0), |first| first.tick);
    while !interrupt.is_raised()
        && let Some(snapshot) = next
    {
        let due = Duration::from_secs_f64(f64::from(snapshot.tick.0 - first.0) / rate_hz);
        // In short naps, because ticks may be missing for hours.
        while begin.elapsed() < due && !interrupt.is_raised() {
            std::thread::sleep(due.saturating_sub(begin.elapsed()).min(NAP));
        }
        if let Some(news) = outgoing.write(&snapshot)? {
            bar.suspend(|| say(format!("kinepack: {news}")));
        }
        frames += 1;
        bar.inc(1);
        next = snapshots.next_snapshot()?;
    }
    bar.finish_and_clear();
    let ending = snapshots.end()?;
    outgoing.finish();
    say(format!("kinepack: {} published", counted(frames, "frame")));
    Ok(ending.result()?)
}
