//! `kinepack-lab publish`: broadcasts a capture to spectators, in real time.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use command_kit::bodies::Bodies;
use command_kit::interrupt::{Interrupt, Interrupted};
use command_kit::{Failure, OutputError, announce, progress};
use kinepack::{Codec, Level, SetupError, Snapshot};
use kinepack_cli::captured::{
    CaptureArguments, Captured, CapturedError, Snapshots, StreamArguments, profile,
};
use kinepack_cli::ladder::{Parameters, ProfileError};
use kinepack_cli::steps::StepArguments;

use crate::broadcast::{BroadcastError, Outgoing, PublishOptions, REST_FOLLOWS};

/// The longest sleep between two checks for a signal.
const NAP: Duration = Duration::from_millis(100);

/// Publish a capture to spectators in real time, through a relay (built with `--features
/// broadcast`).
///
/// `watch` shows it. For the built-in world, use `serve --publish URL`. Ctrl-C ends it early, also
/// while --delay still holds back the last seconds.
#[derive(Args)]
#[command(mut_arg("publish", |argument| argument
    .required(true)
    .help("The relay, which speaks Media over QUIC, as moq-relay does. The last part of the path \
           is the broadcast's name; a token follows as ?jwt=TOKEN")))]
pub struct Arguments {
    /// A capture (.mcap), a replay (.kpz), or a file of the 2015 physics data compression challenge
    /// (.bin or .f32, plain or as .zst).
    file: PathBuf,
    #[command(flatten)]
    stream: StreamArguments,
    /// The profile: a file that `tune` or `train` wrote, `untrained`, `built-in` or `article`.
    /// `built-in` is trained for the cubes of the challenge files; for other data it is untrained.
    #[arg(long, default_value = "built-in")]
    profile: Parameters,
    #[command(flatten)]
    steps: StepArguments,
    #[command(flatten)]
    capture: CaptureArguments,
    #[command(flatten, next_help_heading = "Spectators")]
    publish: PublishOptions,
    /// Seconds to wait for the relay before the capture begins.
    #[arg(long, help_heading = "Spectators", default_value_t = 10, value_name = "SECONDS", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    time_out: u64,
}

/// The reason why a capture cannot be published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    #[error(transparent)]
    Captured(#[from] CapturedError),
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    Codec(#[from] SetupError),
    #[error(transparent)]
    Broadcast(#[from] BroadcastError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("a broadcast has 1 to 65535 ticks a second, and the capture {rate_hz}")]
    NoBroadcastRate { rate_hz: f64 },
    #[error("{}: it has no frames", path.display())]
    NoFrames { path: PathBuf },
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl Failure for PublishError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Captured(error) => error.exit_code(),
            Self::Broadcast(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Interrupted(error) => error.exit_code(),
            Self::Profile(_)
            | Self::Codec(_)
            | Self::NoBroadcastRate { .. }
            | Self::NoFrames { .. } => 2,
        }
    }
}

pub fn run(arguments: &Arguments) -> Result<(), PublishError> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let captured = Captured::open(&arguments.file, arguments.capture.limits())?;
    let (stream, max_error) = (&arguments.stream, &arguments.steps.max_error);
    let parameters = std::slice::from_ref(&arguments.profile);
    let mut snapshots = Snapshots::new(captured, stream, max_error, parameters)?;
    let schema = snapshots.schema().clone();
    let profile = profile(&arguments.profile, &schema)?;
    let codec = Codec::new(schema, Level::LEARNING, profile)?;
    let rate_hz = snapshots.stream().rate_hz;
    let tick_hz = rate_hz.round();
    if !(1.0..=f64::from(u16::MAX)).contains(&tick_hz) {
        return Err(PublishError::NoBroadcastRate { rate_hz });
    }
    let tick_hz = tick_hz as u16;
    let Some(first) = snapshots.next_snapshot()? else {
        // If the file is damaged, this line returns the damage as the reason.
        snapshots.end()?.result()?;
        return Err(PublishError::NoFrames { path: arguments.file.clone() });
    };
    let half_width_m = Bodies::new(codec.schema()).half_width_m(&first);
    let outgoing = arguments.publish.begin(&codec, tick_hz, half_width_m)?;
    // `outgoing` is always `Some`, because the option is required.
    let Some(mut outgoing) = outgoing else { return Ok(()) };
    outgoing.wait_for_relay(Duration::from_secs(arguments.time_out), &interrupt)?;
    let played = play(&mut snapshots, first, rate_hz, &mut outgoing, &interrupt);
    if outgoing.holds_back(&interrupt) {
        match &played {
            Ok(_) => announce(REST_FOLLOWS),
            Err(error) => announce(format_args!("{error}; what --delay holds back is still sent")),
        }
    }
    // Even if the capture is damaged, the frames that are held back are sent to the spectators.
    let published = outgoing.finish(&interrupt);
    if let Ok(published) = &published {
        announce(published.line());
    }
    let is_whole = played?;
    let published = published?;
    published.check()?;
    let ending = snapshots.end()?;
    if !is_whole || published.cut > 0 {
        let (done, all) = (published.frames, snapshots.stream().frames);
        return Err(Interrupted::after_frames(done, all, "the rest was not published").into());
    }
    Ok(ending.result()?)
}

/// Publishes the snapshots at the capture's pace. Returns false if a signal arrived before the last
/// snapshot.
fn play(
    snapshots: &mut Snapshots,
    first: Snapshot,
    rate_hz: f64,
    outgoing: &mut Outgoing,
    interrupt: &Interrupt,
) -> Result<bool, PublishError> {
    let bar = progress(snapshots.stream().frames);
    let begin = Instant::now();
    let (first_tick, mut next) = (first.tick, Some(first));
    while let Some(snapshot) = next {
        let due = Duration::from_secs_f64(f64::from(snapshot.tick.0 - first_tick.0) / rate_hz);
        // The thread sleeps in short naps, because ticks may be missing for hours.
        while begin.elapsed() < due && !interrupt.is_raised() {
            std::thread::sleep(due.saturating_sub(begin.elapsed()).min(NAP));
        }
        if interrupt.is_raised() {
            bar.finish_and_clear();
            return Ok(false);
        }
        if let Some(notice) = outgoing.write(&snapshot)? {
            bar.suspend(|| announce(notice));
        }
        bar.inc(1);
        next = snapshots.next_snapshot()?;
    }
    bar.finish_and_clear();
    Ok(true)
}
