//! `kinepack replay`: a capture through the endpoints and a simulated link, under virtual time.

mod run;
mod sweep;
mod truth;

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use command_kit::output::Force;
use command_kit::table::{table, write_json};
use command_kit::{
    Failure, LinkOptions, LinkOptionsError, OutputError, SentLevel, print, progress, report_page,
};
use kinepack::{Codec, Schema, SetupError};
use kinepack_net::NetError;
use run::{Run, RunReport, Setup};
use serde::Serialize;
use sweep::{Links, Sweep};
use truth::{Moment, Truth};

use crate::captured::{CaptureArguments, Captured, CapturedError, profile, profile_name};
use crate::ladder::{Parameters, ProfileError, TooShort};

/// Frames that are read ahead of what is sent.
const AHEAD: usize = 16;

/// Send a capture through the endpoints and a simulated link, much faster than in real time:
/// kbit/s, delay, errors, stalls.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A capture: .mcap as a game, `kinepack record` or `kinepack convert` wrote it; or .bin or
    /// .f32 of the data compression challenge, or one of them as .zst.
    file: PathBuf,
    /// The stream; the first where there are several and none is named.
    #[arg(long, value_name = "NAME")]
    stream: Option<String>,
    /// Levels by name or number.
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', default_value = "packed,adaptive", value_parser = SentLevel::named)]
    level: Vec<SentLevel>,
    /// The parameters of the levels from 9 on: built-in, article, untrained, or files that
    /// `kinepack train` wrote; several are compared.
    #[arg(long, value_delimiter = ',', default_value = "built-in")]
    profile: Vec<Parameters>,
    /// Curves over the loss in percent and the round trip in milliseconds, each with the rest of
    /// the link as it is: loss=0..20,rtt=20..300.
    #[arg(long, value_name = "loss=A..B,rtt=A..B")]
    sweep: Option<Sweep>,
    #[command(flatten)]
    capture: CaptureArguments,
    #[command(flatten, next_help_heading = "Link")]
    link: LinkOptions,
    /// Write the report as one HTML file with charts, too, which needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
}

/// What came of all runs.
#[derive(Serialize)]
struct Report {
    file: String,
    stream: String,
    link: String,
    frames: u32,
    rate_hz: f64,
    /// How much faster than in real time all runs together were.
    #[serde(skip)]
    speed: f64,
    runs: Vec<RunReport>,
    over_loss: Vec<RunReport>,
    over_round_trip: Vec<RunReport>,
}

/// Why a capture cannot be replayed, or did not arrive as it was sent.
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
    Codec(SetupError),
    /// The schema cannot interpolate a state.
    #[error("entity {entity}: {reason}")]
    Interpolation { entity: u32, reason: String },
    /// A defect of this program.
    #[error("{wrong_lanes} lanes did not arrive as they were sent: please report this")]
    Drifted { wrong_lanes: u64 },
}

impl Failure for ReplayError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Output(error) => error.exit_code(),
            Self::Interpolation { .. } | Self::Drifted { .. } => 1,
            _ => 2,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), ReplayError> {
    let [html] = arguments.force.targets([arguments.html.as_deref()])?;
    let report = replay(arguments)?;
    if let Some(html) = &html {
        report_page::write(
            html,
            "A capture over a bad network",
            include_str!("web/replay.js"),
            &report,
        )?;
    }
    print(|out| if arguments.json { write_json(&report, out) } else { report.write_table(out) })?;
    let all = report.runs.iter().chain(&report.over_loss).chain(&report.over_round_trip);
    let wrong_lanes = all.map(|run| run.wrong_lanes).sum();
    if wrong_lanes > 0 { Err(ReplayError::Drifted { wrong_lanes }) } else { Ok(()) }
}

fn replay(arguments: &Arguments) -> Result<Report, ReplayError> {
    let mut captured = Captured::open(&arguments.file, arguments.capture.limits())?;
    let wanted = captured.find(arguments.stream.as_deref())?;
    let stream = captured.streams()[wanted].clone();
    let schema = Arc::new(stream.schema);
    let mut codecs = Vec::new();
    for parameters in &arguments.profile {
        let profile = profile(parameters, &schema)?;
        for level in &arguments.level {
            let codec = Codec::new((*schema).clone(), level.row(), profile.clone());
            let name = profile_name(parameters, &schema);
            codecs.push((codec.map_err(ReplayError::Codec)?, name));
        }
    }
    let link = arguments.link.config()?;
    let runs_over = |links: Links| {
        let mut runs = Vec::new();
        for (link, link_name) in links {
            for (codec, profile) in &codecs {
                let setup = Setup {
                    schema: &schema,
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
    let (runs, frames) = play(&mut captured, wanted, &schema, runs)?;
    if frames < 2 {
        return Err(TooShort { frames, lag: 1 }.into());
    }
    let played = Duration::from_secs_f64(f64::from(frames) / stream.rate_hz) * count;
    let mut runs: Vec<RunReport> = runs.into_iter().map(|run| run.finish(frames)).collect();
    let over_round_trip = runs.split_off(first_over_round_trip);
    let over_loss = runs.split_off(first_over_loss);
    Ok(Report {
        file: arguments.file.display().to_string(),
        stream: stream.name,
        link: arguments.link.name(),
        frames,
        rate_hz: stream.rate_hz,
        speed: played.as_secs_f64() / begin.elapsed().as_secs_f64().max(1e-9),
        runs,
        over_loss,
        over_round_trip,
    })
}

/// Sends the frames of a stream through all runs, which share the processor's cores; gives them
/// back with the number of frames.
fn play(
    captured: &mut Captured,
    wanted: usize,
    schema: &Schema,
    runs: Vec<Run>,
) -> Result<(Vec<Run>, u32), ReplayError> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(runs.len());
    let mut groups: Vec<Vec<(usize, Run)>> = (0..threads).map(|_| Vec::new()).collect();
    for (index, run) in runs.into_iter().enumerate() {
        groups[index % threads].push((index, run));
    }
    let bar = progress(captured.streams()[wanted].frames);
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
            while let Some(frame) = captured.next_frame()? {
                if frame.stream != wanted {
                    continue;
                }
                let failed = |reason: String| CapturedError::BadFrame {
                    path: path.clone(),
                    tick: frame.tick.0,
                    reason,
                };
                let moment = Moment::next(last.as_deref(), schema, frame.ids, frame.columns);
                let moment = Arc::new(moment.map_err(|error| failed(error.to_string()))?);
                last = Some(Arc::clone(&moment));
                // A group that ended early says why.
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

impl Report {
    fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { file, stream, link, frames, rate_hz, speed, .. } = self;
        writeln!(
            out,
            "{file}: {stream}\n{frames} frames at {rate_hz} Hz, {link}; {speed:.0} times as fast as in real time"
        )?;
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
            let header: Vec<String> =
                header
                    .into_iter()
                    .chain(recovery)
                    .map(str::to_owned)
                    .chain(fields.iter().flat_map(|field| {
                        [format!("{} off: half", field.field), "99 %".to_owned()]
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
        let errors = self.errors.iter().flat_map(|field| [field.error.p50, field.error.p99]);
        let recovery = self.recovery_ms.map_or("–".to_owned(), |ms| format!("{ms:.0}"));
        first
            .into_iter()
            .chain(has_recovery.then_some(recovery))
            .chain(errors.map(|error| format!("{error:.4}")))
            .collect()
    }
}
