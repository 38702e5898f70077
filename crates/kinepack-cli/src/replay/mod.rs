//! `kinepack replay`: sends a capture through the endpoints and a simulated link, in virtual time;
//! or publishes it to spectators, in real time.

#[cfg(feature = "demo")]
mod publish;
mod run;
mod sweep;
mod truth;

use std::io::{self, Write};
use std::path::PathBuf;
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
use kinepack::{Codec, SetupError};
use kinepack_capture::analysis::shown_rate;
use kinepack_net::{LinkConfig, NetError};
use run::{Run, RunReport, Schemas, Setup};
use serde::Serialize;
use sweep::{Links, Sweep};
use truth::{Moment, Truth};

use crate::captured::{
    CaptureArguments, Captured, CapturedError, StreamArguments, profile, profile_name,
};
use crate::ladder::{Parameters, ProfileError, TooShort};
use crate::steps::{StepArguments, Steps, StepsError};

/// The most frames that are read ahead of sending.
const AHEAD: usize = 16;

/// Send a capture over a simulated network, and measure bandwidth, delay, errors and stalls.
///
/// The capture goes through the real endpoints and a simulated link, much faster than real time.
/// With --publish it is broadcast to spectators in real time instead.
/// `measure` has the codec's sizes without a network.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A capture (.mcap), a replay (.kpz), or a file of the 2015 physics data compression challenge
    /// (.bin or .f32, plain or as .zst).
    file: PathBuf,
    #[command(flatten)]
    stream: StreamArguments,
    /// Levels by name or number: those that are sent over a network.
    #[arg(
        long,
        value_name = "LEVEL",
        value_delimiter = ',',
        default_value = "packed,adaptive",
        value_parser = SentLevel::named
    )]
    level: Vec<SentLevel>,
    /// The profile, which levels 9 to 14 (relative-indices to learning) use: a file that `tune` or
    /// `train` wrote, untrained, built-in or article;
    /// several are compared. Built-in is the profile trained for the cubes
    /// of the built-in world; for other data it is untrained. Article has the word lengths of the
    /// article "Snapshot Compression".
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
    #[cfg(feature = "demo")]
    #[command(flatten, next_help_heading = "Spectators")]
    publish: demo::broadcast::PublishOptions,
}

/// The results of all runs.
#[derive(Serialize)]
struct Report {
    file: String,
    stream: String,
    link: String,
    /// The link's numbers.
    link_about: String,
    frames: u32,
    rate_hz: f64,
    /// How many times as fast as real time all runs together were.
    #[serde(skip)]
    speed: f64,
    runs: Vec<RunReport>,
    over_loss: Vec<RunReport>,
    over_round_trip: Vec<RunReport>,
}

/// Why a capture cannot be replayed, or arrived with errors.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    #[error(transparent)]
    Captured(#[from] CapturedError),
    #[error(transparent)]
    Steps(#[from] StepsError),
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    TooShort(#[from] TooShort),
    #[error(transparent)]
    Link(#[from] LinkOptionsError),
    #[cfg(feature = "demo")]
    #[error(transparent)]
    Broadcast(#[from] demo::broadcast::BroadcastError),
    #[error(transparent)]
    Net(#[from] NetError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    #[error(transparent)]
    Codec(SetupError),
    /// The schema cannot interpolate a state.
    #[error("entity {entity}: {reason}")]
    Interpolation { entity: u32, reason: String },
    /// A defect of this program.
    #[error("{wrong_lanes} received lanes differ from the sent ones: please report this")]
    Drifted { wrong_lanes: u64 },
}

impl Failure for ReplayError {
    fn exit_code(&self) -> u8 {
        match self {
            #[cfg(feature = "demo")]
            Self::Broadcast(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Interrupted(error) => error.exit_code(),
            Self::Interpolation { .. } | Self::Drifted { .. } => 1,
            _ => 2,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), ReplayError> {
    #[cfg(feature = "demo")]
    if arguments.publish.publish.is_some() {
        return publish::run(arguments);
    }
    let [html] = arguments.force.targets([arguments.html.as_deref()])?;
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let (report, all) = replay(arguments, &interrupt)?;
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
        let (done, then) = (u64::from(report.frames), "the table is of these");
        return Err(Interrupted::after_frames(done, all, then).into());
    }
    Ok(())
}

/// The report, and the number of frames of the whole stream.
fn replay(
    arguments: &Arguments,
    interrupt: &Interrupt,
) -> Result<(Report, Option<u64>), ReplayError> {
    let mut captured = Captured::open(&arguments.file, arguments.capture.limits())?;
    let wanted =
        captured.find(&arguments.stream, &arguments.steps.max_error, &arguments.profile)?;
    let stream = captured.streams()[wanted].clone();
    let mut steps = Steps::new(&stream.schema, &arguments.steps.max_error)?;
    let kinds = stream.of_kinds.into_iter().zip(&steps.of_kinds);
    let kinds = kinds.map(|(stream, sent)| [stream, sent.clone()]).collect();
    let schemas = Arc::new(Schemas { stream: stream.schema, kinds });
    let schema = &steps.schema.clone();
    let mut codecs = Vec::new();
    for parameters in &arguments.profile {
        let profile =
            profile(parameters, schema).map_err(|failure| failure.of_stream(&stream.name))?;
        for level in &arguments.level {
            let codec = Codec::new(schema.clone(), level.row(), profile.clone());
            let name = profile_name(parameters, schema);
            codecs.push((codec.map_err(ReplayError::Codec)?, name));
        }
    }
    let link = arguments.link.config()?;
    let runs_over = |links: Links| {
        let mut runs = Vec::new();
        for (link, link_name) in links {
            for (codec, profile) in &codecs {
                let setup = Setup {
                    schemas: &schemas,
                    codec,
                    rate_hz: stream.rate_hz,
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
    let (runs, frames) = play(&mut captured, wanted, &mut steps, runs, interrupt)?;
    if frames < 2 && interrupt.is_raised() {
        let nothing = "they are too few for a report";
        return Err(Interrupted::after_frames(frames.into(), stream.frames, nothing).into());
    }
    if frames < 2 {
        return Err(TooShort { frames, lag: 1 }.into());
    }
    let played = Duration::from_secs_f64(f64::from(frames) / stream.rate_hz) * count;
    let mut runs: Vec<RunReport> = runs.into_iter().map(|run| run.finish(frames)).collect();
    let over_round_trip = runs.split_off(first_over_round_trip);
    let over_loss = runs.split_off(first_over_loss);
    let report = Report {
        file: arguments.file.display().to_string(),
        stream: stream.name,
        link: arguments.link.name(),
        link_about: about(&link),
        frames,
        rate_hz: stream.rate_hz,
        speed: played.as_secs_f64() / begin.elapsed().as_secs_f64().max(1e-9),
        runs,
        over_loss,
        over_round_trip,
    };
    Ok((report, stream.frames))
}

/// Sends the frames of a stream through all runs, which share the processor's cores. Returns the
/// runs and the number of frames, which a signal cuts short.
fn play(
    captured: &mut Captured,
    wanted: usize,
    steps: &mut Steps,
    runs: Vec<Run>,
    interrupt: &Interrupt,
) -> Result<(Vec<Run>, u32), ReplayError> {
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
        let mut read = || -> Result<(), ReplayError> {
            while !interrupt.is_raised() {
                let Some(frame) = captured.next_frame()? else { break };
                if frame.stream != wanted {
                    continue;
                }
                let failed = |reason: String| CapturedError::BadFrame {
                    path: path.clone(),
                    tick: frame.tick.0,
                    reason,
                };
                let moment =
                    Moment::next(last.as_deref(), &stream, steps, &frame.ids, frame.columns);
                let moment = Arc::new(moment.map_err(|error| failed(error.to_string()))?);
                last = Some(Arc::clone(&moment));
                // A group that ended early returns the reason.
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
        captured.warn_of_damage();
        runs.sort_by_key(|(index, _)| *index);
        let frames = last.map_or(0, |last| last.snapshot.tick.0);
        Ok((runs.into_iter().map(|(_, run)| run).collect(), frames))
    })
}

/// Sends the frames through some of the runs.
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

/// The numbers of a link that a replay depends on most.
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
        let Self { file, stream, link, link_about, frames, rate_hz, speed, .. } = self;
        writeln!(out, "{file}: {stream}")?;
        let title = format!(
            "{} at {} Hz, {link} ({link_about}); {speed:.0} times as fast as in real time",
            counted(frames, "frame"),
            shown_rate(*rate_hz)
        );
        write_text(out, "", &title)?;
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
