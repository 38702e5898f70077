//! `kinepack replay`: sends a capture through the endpoints and a simulated link, in virtual time.

mod run;
mod sweep;
mod ticks;
mod truth;

use std::io::{self, Write};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use command_kit::interrupt::{Interrupt, Interrupted};
use command_kit::output::Force;
use command_kit::table::{table, write_json, write_text};
use command_kit::{
    Failure, LinkOptions, LinkOptionsError, OutputError, SentLevel, counted, print, progress,
    report_page,
};
use kinepack::{Codec, Schema, SetupError, Tick};
use kinepack_capture::analysis::frames_per_s;
use kinepack_net::{LinkConfig, NetError};
use run::{Run, RunReport, Schemas, Setup};
use serde::Serialize;
use sweep::{Links, Sweep};
use ticks::SentTicks;
use truth::{Moment, Refusal, Truth};

use crate::captured::{
    CaptureArguments, Captured, CapturedError, Ending, Pace, StreamArguments, profile, profile_name,
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
    #[command(flatten, next_help_heading = "Link")]
    link: LinkOptions,
}

/// The results of all runs.
#[derive(Serialize)]
struct Report {
    file: String,
    stream: String,
    link: String,
    /// The settings of the link, as text.
    link_about: String,
    frames: u64,
    /// Ticks per second.
    rate_hz: f64,
    /// Frames per second. The number is below `rate_hz` if some ticks have no frame.
    frames_per_s: f64,
    /// Explanations of numbers that look surprising.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The speed of all runs together, as a multiple of real time.
    #[serde(skip)]
    speed: f64,
    runs: Vec<RunReport>,
    over_loss: Vec<RunReport>,
    over_round_trip: Vec<RunReport>,
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
    let inputs = iter::once(arguments.file.as_path()).chain(profiles);
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
    let runs_over = |links: Links| {
        let mut runs = Vec::new();
        for (link, link_name) in links {
            for (codec, profile) in &codecs {
                let setup = Setup {
                    schemas: &schemas,
                    codec,
                    ticks,
                    profile,
                    link,
                    link_name: link_name.clone(),
                    link_seed: arguments.link.link_seed,
                    outage: arguments.link.outage(),
                };
                runs.push(Run::new(setup)?);
            }
        }
        Ok::<_, ReplayError>(runs)
    };
    let (over_loss, over_round_trip) =
        arguments.sweep.as_ref().map(|sweep| sweep.links(&link)).unwrap_or_default();
    let mut runs = runs_over(vec![(link, arguments.link.name())])?;
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
    let over_round_trip = runs.split_off(first_over_round_trip);
    let over_loss = runs.split_off(first_over_loss);
    let report = Report {
        file: arguments.file.display().to_string(),
        stream: stream.name,
        link: arguments.link.name(),
        link_about: about(&link),
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

/// Explains numbers that may look wrong.
fn notes(runs: &[RunReport], frames_per_s: f64) -> Vec<String> {
    let apart_ms = 1e3 / frames_per_s;
    let is_late = |run: &&RunReport| run.received > 0 && apart_ms > run.max_delay_ms;
    let note = |run: &RunReport| {
        format!(
            "frames are {apart_ms:.0} ms apart, and playback waits {:.0} ms for one at most: what is \
             shown stands still in between, which counts as stalled",
            run.max_delay_ms
        )
    };
    runs.iter().find(is_late).map(note).into_iter().collect()
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

/// Returns the settings of a link that affect a replay most, as text.
fn about(link: &LinkConfig) -> String {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    format!(
        "round trip {} ms, up to {} ms of jitter each way, {:.1} % lost",
        2.0 * ms(link.latency),
        ms(link.jitter),
        100.0 * link.loss.mean_ratio()
    )
}

impl Report {
    fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { file, stream, link, link_about, frames, speed, .. } = self;
        let pace = Pace { rate_hz: self.rate_hz, frames_per_s: self.frames_per_s };
        write_text(out, "", &format!("{file}: {stream}"))?;
        let title = format!(
            "{} at {pace}, {link} ({link_about}); {speed:.0} times as fast as in real time",
            counted(frames, "frame"),
        );
        write_text(out, "", &title)?;
        for note in &self.notes {
            write_text(out, "", note)?;
        }
        for (title, runs) in [
            ("", &self.runs),
            ("\nOver the loss, percent", &self.over_loss),
            ("\nOver the round trip, ms", &self.over_round_trip),
        ] {
            if runs.is_empty() {
                continue;
            }
            if !title.is_empty() {
                writeln!(out, "{title}")?;
            }
            let fields = self.runs.first().map(|run| run.errors.as_slice()).unwrap_or_default();
            let header = [
                "level",
                "profile",
                "loss %",
                "round trip ms",
                "kbit/s",
                "+headers",
                "delay ms",
                "stalled",
                "longest ms",
                "wrong lanes",
            ];
            let recovery =
                self.runs.iter().any(|run| run.recovery_ms.is_some()).then_some("recovered ms");
            let header: Vec<String> = header
                .into_iter()
                .chain(recovery)
                .map(str::to_owned)
                .chain(fields.iter().flat_map(|field| {
                    [
                        format!("{} off: half", field.field),
                        "\t99 %".to_owned(),
                        "\tlargest".to_owned(),
                    ]
                }))
                .collect();
            writeln!(
                out,
                "{}",
                table(header, 2, runs.iter().map(|run| run.cells(recovery.is_some()))).trim_fmt()
            )?;
        }
        Ok(())
    }
}

impl RunReport {
    fn cells(&self, has_recovery: bool) -> Vec<String> {
        let first = [
            self.level.clone(),
            self.profile.clone(),
            format!("{:.1}", self.loss_percent),
            format!("{:.0}", self.round_trip_ms),
            format!("{:.1}", self.kbps_payload),
            format!("{:.1}", self.kbps_total),
            format!("{:.0}", self.playout_delay_ms),
            format!("{:.2} %", 100.0 * self.stalled_ratio),
            format!("{:.0}", self.longest_stall_ms),
            self.wrong_lanes.to_string(),
        ];
        let errors = self
            .errors
            .iter()
            .flat_map(|field| [field.error.p50, field.error.p99, field.error.max]);
        let recovery = self.recovery_ms.map_or("–".to_owned(), |ms| format!("{ms:.0}"));
        first
            .into_iter()
            .chain(has_recovery.then_some(recovery))
            .chain(errors.map(|error| format!("{error:.4}")))
            .collect()
    }
}
