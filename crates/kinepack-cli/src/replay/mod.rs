//! `kinepack replay`: sends a capture through the endpoints and a simulated link, in virtual time.

mod report;
mod run;
mod sweep;
mod ticks;
mod truth;

use std::iter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

use clap::Args;
use command_kit::interrupt::{Interrupt, Interrupted};
use command_kit::output::Force;
use command_kit::table::write_json;
use command_kit::{
    Failure, LinkOptions, LinkOptionsError, OutputError, SentLevel, TraceError, TraceOptions,
    budget_name, parse_budget, print, progress, report_page,
};
use kinepack::{Codec, Schema, SetupError, Tick};
use kinepack_capture::analysis::frames_per_s;
use kinepack_net::{Budget, LinkConfig, NetError, ReceiverOptions};
use report::{Report, about, notes};
use run::{Run, RunReport, Schemas, Setup};
use sweep::{Links, Sweep};
use ticks::SentTicks;
use truth::{Moment, Refusal, Truth};

use crate::captured::{
    CaptureArguments, Captured, CapturedError, Ending, StreamArguments, profile, profile_name,
};
use crate::ladder::{Parameters, ProfileError, Shortage, TooShort};
use crate::steps::{StepArguments, Steps};

/// The maximum number of frames that are read before they are sent.
const AHEAD: usize = 16;

/// Send a capture over a simulated network, and measure bandwidth, delay, errors and stalls.
///
/// The capture goes through the real endpoints and a simulated link, much faster than real time.
/// `measure` reports the codec's sizes without a network.
#[derive(Args)]
pub struct Arguments {
    /// A capture (.mcap), a replay (.kpz), or a file of the 2015 physics data compression challenge
    /// (.bin or .f32, plain or as .zst).
    file: PathBuf,
    #[command(flatten)]
    stream: StreamArguments,
    /// Levels by name or number. Only levels that can be sent over a network are possible.
    #[arg(
        long,
        value_name = "LEVEL",
        value_delimiter = ',',
        default_value = "packed,adaptive",
        value_parser = SentLevel::named
    )]
    level: Vec<SentLevel>,
    /// The profile, which levels 9 to 14 (relative-indices to learning) use: a file that `tune` or
    /// `train` wrote, untrained, built-in or article; several are compared. `built-in` is trained
    /// for the cubes of the challenge files; for other data it is untrained. `article` uses the
    /// word lengths of the article "Snapshot Compression".
    #[arg(long, value_delimiter = ',', default_value = "built-in")]
    profile: Vec<Parameters>,
    #[command(flatten)]
    steps: StepArguments,
    /// Also measure over a range of loss in percent, and of round trips in milliseconds. The rest
    /// of the link stays the same. For example loss=0..20,rtt=20..300.
    #[arg(long, value_name = "loss=A..B,rtt=A..B")]
    sweep: Option<Sweep>,
    #[command(flatten)]
    capture: CaptureArguments,
    /// Also write the report as an HTML file with charts. The file needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
    /// The most that is sent to the receiver, in bytes a second with headers, or auto: what the link
    /// carries. What has no room waits: the entities that were sent least recently are sent first.
    #[arg(
        long,
        value_name = "BYTES|auto",
        allow_negative_numbers = true,
        value_parser = parse_budget
    )]
    budget: Option<Budget>,
    #[command(flatten, next_help_heading = "Link")]
    link: LinkOptions,
    #[command(flatten, next_help_heading = "Link")]
    trace: TraceOptions,
}

impl Arguments {
    fn setup(&self, schemas: Arc<Schemas>, ticks: SentTicks) -> Result<Setup, ReplayError> {
        Ok(Setup {
            schemas,
            ticks,
            link_seed: self.link.link_seed,
            outage: self.link.outage(),
            trace: self.trace.trace()?,
            receiver: ReceiverOptions {
                budget: self.budget.unwrap_or_default(),
                ..ReceiverOptions::default()
            },
            is_link_reported: self.limits_link(),
        })
    }

    /// Returns whether an option limits what the link carries, so that its use is of interest.
    fn limits_link(&self) -> bool {
        let Self { budget, link, trace, .. } = self;
        link.limits_rate() || trace.link_trace.is_some() || budget.is_some()
    }

    /// Returns the options of the link and of what is sent over it, as text.
    fn link_name(&self) -> String {
        let budget = self.budget.map(|budget| format!(" --budget {}", budget_name(budget)));
        format!("{}{}{}", self.link.name(), self.trace.name(), budget.unwrap_or_default())
    }
}

/// The reason why a capture cannot be replayed, or why the receiver's states are wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    #[error(transparent)]
    Captured(#[from] CapturedError),
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    TooShort(#[from] TooShort),
    #[error(transparent)]
    Link(#[from] LinkOptionsError),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Net(#[from] NetError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    #[error(transparent)]
    Codec(SetupError),
    #[error("from tick {first} to tick {tick} are more ticks than can be sent")]
    TooLong { first: u32, tick: u32 },
    /// The capture is shorter than a round trip, so nothing could arrive in time.
    #[error(
        "the capture lasts {lasts_ms:.3} ms, and a round trip over the link {round_trip_ms:.3} ms: \
         nothing arrives in that time; record longer, or check the ticks a second ({rate_hz})"
    )]
    TooBrief { lasts_ms: f64, round_trip_ms: f64, rate_hz: f64 },
    /// The schema cannot interpolate a state.
    #[error("entity {entity}: {reason}")]
    Interpolation { entity: u32, reason: String },
    /// Received states differ from the sent ones, which is a bug in this program.
    #[error("{wrong_lanes} received lanes differ from the sent ones: please report this")]
    Drifted { wrong_lanes: u64 },
}

impl Failure for ReplayError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Captured(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Interrupted(error) => error.exit_code(),
            Self::Interpolation { .. } | Self::Drifted { .. } => 1,
            _ => 2,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), ReplayError> {
    let profiles = arguments.profile.iter().filter_map(Parameters::file);
    let inputs = iter::once(arguments.file.as_path()).chain(profiles).chain(arguments.trace.file());
    let [html] = arguments.force.reading(inputs).targets([arguments.html.as_deref()])?;
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let (report, all, ending) = replay(arguments, &interrupt)?;
    if let Some(html) = &html {
        report_page::write(
            html,
            "A capture over a bad network",
            include_str!("web/replay.js"),
            &report,
        )?;
    }
    print(|out| if arguments.json { write_json(&report, out) } else { report.write_table(out) })?;
    let runs = report.runs.iter().chain(&report.over_loss).chain(&report.over_round_trip);
    let wrong_lanes = runs.map(|run| run.wrong_lanes).sum();
    if wrong_lanes > 0 {
        return Err(ReplayError::Drifted { wrong_lanes });
    }
    if interrupt.is_raised() {
        let (done, then) = (report.frames, "the table is of these");
        return Err(Interrupted::after_frames(done, all, then).into());
    }
    Ok(ending.result()?)
}

/// Replays a capture. Returns the report, the number of frames of the whole stream, and whether the
/// file was read completely.
fn replay(
    arguments: &Arguments,
    interrupt: &Interrupt,
) -> Result<(Report, Option<u64>, Ending), ReplayError> {
    let mut captured = Captured::open(&arguments.file, arguments.capture.limits())?;
    let wanted =
        captured.find(&arguments.stream, &arguments.steps.max_error, &arguments.profile)?;
    let stream = captured.streams()[wanted].clone();
    let mut steps = captured.steps(wanted, &arguments.steps.max_error)?;
    let kinds = stream.of_kinds.into_iter().zip(&steps.of_kinds);
    let kinds = kinds.map(|(stream, sent)| [stream, sent.clone()]).collect();
    let schemas = Arc::new(Schemas { stream: stream.schema, kinds });
    let codecs = codecs(arguments, &steps.schema, &stream.name)?;
    let link = arguments.link.config()?;
    let ticks = SentTicks::new(stream.rate_hz);
    let setup = arguments.setup(schemas, ticks)?;
    let runs_over = |links: Links| -> Result<Vec<Run>, ReplayError> {
        let of_link = |(link, name): &(LinkConfig, String)| {
            let run = |(codec, profile): &(Codec, String)| {
                Run::new(&setup, (codec, profile), (*link, name))
            };
            codecs.iter().map(run).collect::<Vec<_>>()
        };
        links.iter().flat_map(of_link).collect()
    };
    let (over_loss, over_round_trip) =
        arguments.sweep.as_ref().map(|sweep| sweep.links(&link)).unwrap_or_default();
    let mut runs = runs_over(vec![(link, arguments.link_name())])?;
    let first_over_loss = runs.len();
    runs.append(&mut runs_over(over_loss)?);
    let first_over_round_trip = runs.len();
    runs.append(&mut runs_over(over_round_trip)?);
    let count = runs.len() as u32;
    let begin = Instant::now();
    let (runs, Played { frames, last, ending }) =
        play(&mut captured, wanted, &mut steps, (runs, ticks), interrupt)?;
    check_count(&arguments.file, frames, stream.frames, interrupt)?;
    let seconds = f64::from(last.0) / ticks.rate_hz;
    let played = seconds * f64::from(count);
    let mut runs: Vec<RunReport> = runs.into_iter().map(|run| run.finish(last)).collect();
    let round_trip_ms = 2e3 * link.latency.as_secs_f64();
    if runs.iter().all(|run| run.received == 0) && 1e3 * seconds <= round_trip_ms {
        let (lasts_ms, rate_hz) = (1e3 * seconds, stream.rate_hz);
        return Err(ReplayError::TooBrief { lasts_ms, round_trip_ms, rate_hz });
    }
    let frames_per_s =
        frames_per_s(ticks.rate_hz, frames, Some((Tick(1), last))).min(stream.rate_hz);
    // A series for each point of a curve would be too much to read.
    runs.iter_mut().skip(first_over_loss).for_each(RunReport::omit_series);
    let over_round_trip = runs.split_off(first_over_round_trip);
    let over_loss = runs.split_off(first_over_loss);
    let report = Report {
        file: arguments.file.display().to_string(),
        stream: stream.name,
        link: arguments.link_name(),
        link_about: about(&link, setup.trace.as_ref()),
        frames,
        rate_hz: stream.rate_hz,
        frames_per_s,
        notes: notes(&runs, frames_per_s),
        speed: played / begin.elapsed().as_secs_f64().max(1e-9),
        runs,
        over_loss,
        over_round_trip,
    };
    Ok((report, stream.frames, ending))
}

/// Returns the codecs of all profiles and levels, with the names of their profiles.
fn codecs(
    arguments: &Arguments,
    schema: &Schema,
    stream: &str,
) -> Result<Vec<(Codec, String)>, ReplayError> {
    let mut codecs = Vec::new();
    for parameters in &arguments.profile {
        let profile = profile(parameters, schema).map_err(|failure| failure.of_stream(stream))?;
        for level in &arguments.level {
            let codec = Codec::new(schema.clone(), level.row(), profile.clone());
            let name = profile_name(parameters, schema);
            codecs.push((codec.map_err(ReplayError::Codec)?, name));
        }
    }
    Ok(codecs)
}

/// Refuses too few frames for a report. `all` is the number of frames of the whole stream.
fn check_count(
    file: &Path,
    frames: u64,
    all: Option<u64>,
    interrupt: &Interrupt,
) -> Result<(), ReplayError> {
    if frames >= 2 {
        return Ok(());
    }
    if interrupt.is_raised() {
        let nothing = "they are too few for a report";
        return Err(Interrupted::after_frames(frames, all, nothing).into());
    }
    Err(Shortage::for_baselines(frames as u32, 1).of(file.display()).into())
}

/// The progress of the runs when playing ended.
struct Played {
    frames: u64,
    /// The tick of the last frame that was sent.
    last: Tick,
    ending: Ending,
}

/// Sends the frames of a stream through all runs, which share the processor's cores. Returns the
/// runs and their progress, because a signal may end them early.
fn play(
    captured: &mut Captured,
    wanted: usize,
    steps: &mut Steps,
    (runs, ticks): (Vec<Run>, SentTicks),
    interrupt: &Interrupt,
) -> Result<(Vec<Run>, Played), ReplayError> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(runs.len());
    let mut groups: Vec<Vec<(usize, Run)>> = (0..threads).map(|_| Vec::new()).collect();
    for (index, run) in runs.into_iter().enumerate() {
        groups[index % threads].push((index, run));
    }
    let bar = progress(captured.streams()[wanted].frames);
    let stream = captured.streams()[wanted].clone();
    let path = captured.path().to_owned();
    thread::scope(|scope| {
        let mut senders = Vec::new();
        let mut handles = Vec::new();
        for group in groups {
            let (sender, moments) = mpsc::sync_channel(AHEAD);
            senders.push(sender);
            handles.push(scope.spawn(move || play_group(group, &moments)));
        }
        let mut last: Option<Arc<Moment>> = None;
        let (mut first, mut frames) = (None, 0);
        let mut read = || -> Result<(), ReplayError> {
            while !interrupt.is_raised() {
                let Some(frame) = captured.next_frame()? else { break };
                if frame.stream != wanted {
                    continue;
                }
                let first = *first.get_or_insert(frame.tick);
                let Some(tick) = ticks.of(first, frame.tick) else {
                    return Err(ReplayError::TooLong { tick: frame.tick.0, first: first.0 });
                };
                let (ids, columns) = (&frame.ids, frame.columns);
                let moment = Moment::next(tick, last.as_deref(), &stream, steps, ids, columns);
                let moment = Arc::new(moment.map_err(|Refusal { entity, raw, error }| {
                    frame.refused(&path, &stream, entity, &raw, &error)
                })?);
                frames += 1;
                last = Some(Arc::clone(&moment));
                // If a group ended early, its thread returns the reason.
                if senders.iter().any(|sender| sender.send(Arc::clone(&moment)).is_err()) {
                    break;
                }
                bar.inc(1);
            }
            Ok(())
        };
        let read = read();
        drop(senders);
        let mut runs = Vec::new();
        for handle in handles {
            runs.append(
                &mut handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?,
            );
        }
        read?;
        bar.finish_and_clear();
        let ending = captured.end(Some(wanted), frames)?;
        runs.sort_by_key(|(index, _)| *index);
        let last = last.map_or(Tick(0), |last| last.snapshot.tick);
        let played = Played { frames, last, ending };
        Ok((runs.into_iter().map(|(_, run)| run).collect(), played))
    })
}

/// Sends the frames through the runs of one group.
fn play_group(
    mut group: Vec<(usize, Run)>,
    moments: &mpsc::Receiver<Arc<Moment>>,
) -> Result<Vec<(usize, Run)>, ReplayError> {
    let mut truth = Truth::default();
    for moment in moments {
        truth.push(Arc::clone(&moment));
        for (_, run) in &mut group {
            run.frame(&moment.snapshot, &truth)?;
        }
    }
    Ok(group)
}
