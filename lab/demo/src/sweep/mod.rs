//! `kinepack-lab sweep`: measures the cost of loss and of the round trip in bandwidth and in error,
//! as a table and as a picture.

mod plot;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use command_kit::interrupt::Interrupt;
use command_kit::output::Force;
use command_kit::table::table;
use command_kit::{Failure, LinkUse, OutputError, TraceError, TraceOptions, print};
use kinepack_net::{HubConfig, LinkConfig, LinkError, LinkTrace, Loss};
use serde::Serialize;

use crate::sender::{SendOptions, due};
use crate::session::{Direct, Session};
use crate::session_error::SessionError;
use crate::simulate::progress;
use crate::world::{WorldArguments, WorldError};

/// The round trips that are measured, in milliseconds, at a loss of [`LOSS_PERCENT`].
const ROUND_TRIPS_MS: [u32; 7] = [5, 25, 50, 100, 150, 200, 300];
/// The losses that are measured, in percent, at a round trip of [`ROUND_TRIP_MS`].
const LOSSES_PERCENT: [u32; 7] = [0, 1, 2, 5, 10, 20, 30];
const ROUND_TRIP_MS: u32 = 100;
const LOSS_PERCENT: u32 = 1;
/// The jitter of each direction, as on a wired connection.
const JITTER: Duration = Duration::from_millis(5);

/// Measure what loss and round trip cost, in bandwidth and in the error of the states that a
/// receiver shows.
///
/// Simulates the world once for each of 14 links. Ctrl-C stops the sweep and prints the points that
/// are complete.
#[derive(Args)]
pub struct Arguments {
    /// Also draw the curves into this file.
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Print the results as one JSON document instead of a table.
    #[arg(long)]
    json: bool,
    #[command(flatten, next_help_heading = "Built-in world")]
    world: WorldArguments,
    #[command(flatten, next_help_heading = "Sending")]
    send: SendOptions,
    #[command(flatten, next_help_heading = "Link")]
    trace: TraceOptions,
}

/// The result of one run.
#[derive(Clone, Debug, Serialize)]
struct Point {
    loss_percent: u32,
    round_trip_ms: u32,
    kbps_payload: f64,
    kbps_total: f64,
    playout_delay_ms: f64,
    shown_error_mm_p50: f64,
    shown_error_mm_p99: f64,
    wrong_lanes: u64,
    /// The use of the link, without what happened over time. The value is `None` if the links
    /// follow no trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    link_use: Option<LinkUse>,
}

#[derive(Serialize)]
struct Report {
    world: String,
    sending: String,
    over_loss: Vec<Point>,
    over_round_trip: Vec<Point>,
}

/// The reason why a sweep fails or ends early.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The sweep could not draw the picture.
    #[error("cannot draw into {}: {reason}", path.display())]
    Picture { path: PathBuf, reason: String },
}

impl Failure for SweepError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Session(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Trace(error) => error.exit_code(),
            Self::Picture { .. } => 2,
        }
    }
}

impl From<WorldError> for SweepError {
    fn from(error: WorldError) -> Self {
        Self::Session(error.into())
    }
}

impl From<LinkError> for SweepError {
    fn from(error: LinkError) -> Self {
        Self::Session(error.into())
    }
}

pub fn run(arguments: &Arguments) -> Result<(), SweepError> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let outputs = arguments.force.reading(arguments.trace.file());
    let [svg] = outputs.targets([arguments.svg.as_deref()])?;
    let trace = arguments.trace.trace()?;
    let runs = LOSSES_PERCENT.len() + ROUND_TRIPS_MS.len();
    let progress = progress(runs as u32 * arguments.world.frames());
    // After an interrupt, the current run gives no point, and the later runs do not begin.
    let points = |links: [(u32, u32); 7]| -> Result<Vec<Point>, SweepError> {
        links
            .into_iter()
            .map_while(|(loss_percent, round_trip_ms)| {
                let point =
                    measure(arguments, (loss_percent, round_trip_ms), trace.as_ref(), &interrupt);
                progress.inc(u64::from(arguments.world.frames()));
                point.transpose()
            })
            .collect()
    };
    let over_loss = points(LOSSES_PERCENT.map(|percent| (percent, ROUND_TRIP_MS)))?;
    let over_round_trip = points(ROUND_TRIPS_MS.map(|ms| (LOSS_PERCENT, ms)))?;
    progress.finish_and_clear();
    let report = Report {
        world: arguments.world.name(),
        sending: format!("{}{}", arguments.send.name(), arguments.trace.name()),
        over_loss,
        over_round_trip,
    };
    let done = report.points().count();
    if let Some(svg) = svg.as_ref().filter(|_| done == runs) {
        let picture = plot::draw(&report);
        let picture = picture
            .map_err(|reason| SweepError::Picture { path: svg.name().to_owned(), reason })?;
        svg.write(picture.as_bytes())?;
    }
    print(|out| if arguments.json { report.write_json(out) } else { report.write_table(out) })?;
    let wrong_lanes = report.points().map(|point| point.wrong_lanes).sum();
    if wrong_lanes > 0 {
        Err(SessionError::Drifted { wrong_lanes }.into())
    } else if done < runs {
        let picture = if svg.is_some() { ", before the picture was drawn" } else { "" };
        Err(SessionError::interrupted_after(&format!("{done} of {runs} points{picture}")).into())
    } else {
        Ok(())
    }
}

/// Measures one link. Returns `None` if the run was interrupted.
fn measure(
    arguments: &Arguments,
    (loss_percent, round_trip_ms): (u32, u32),
    trace: Option<&LinkTrace>,
    interrupt: &Interrupt,
) -> Result<Option<Point>, SweepError> {
    let link = LinkConfig {
        latency: Duration::from_millis(u64::from(round_trip_ms)) / 2,
        jitter: JITTER,
        loss: Loss::Independent { ratio: loss_percent as f32 / 100.0 },
        ..LinkConfig::PERFECT
    };
    let mut session = Session::new(arguments.world.play()?, &arguments.send, HubConfig::default())?;
    session.add(&arguments.send, link, 1, true)?;
    if let Some(trace) = trace {
        session.peers[0].follow(trace.clone());
        session.peers[0].measure_link(Some(trace.clone()));
    }
    for tick in 1..=arguments.world.frames() {
        if interrupt.is_raised() {
            return Ok(None);
        }
        session.run_until(due(tick), &mut Direct)?;
    }
    let report = session.peers[0].report(arguments.world.frames());
    Ok(Some(Point {
        loss_percent,
        round_trip_ms,
        kbps_payload: report.kbps_payload,
        kbps_total: report.kbps_total,
        playout_delay_ms: report.playout_delay_ms,
        shown_error_mm_p50: report.shown_error_mm.p50,
        shown_error_mm_p99: report.shown_error_mm.p99,
        wrong_lanes: report.wrong_lanes,
        link_use: session.peers[0]
            .link_use(due(arguments.world.frames()))
            .map(|link_use| LinkUse { series: Vec::new(), ..link_use }),
    }))
}

impl Report {
    fn points(&self) -> impl Iterator<Item = &Point> {
        self.over_loss.iter().chain(&self.over_round_trip)
    }

    fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { world, sending, .. } = self;
        writeln!(out, "{world}\n{sending}, jitter up to {} ms each way", JITTER.as_millis())?;
        let header = [
            "\nloss\n%",
            "round\ntrip\nms",
            "\npayload\nkbit/s",
            "with\nheaders\nkbit/s",
            "playout\ndelay\nms",
            "median\nerror\nmm",
            "99 %\nerror\nmm",
            "\nwrong\nlanes",
        ];
        let has_use = self.points().any(|point| point.link_use.is_some());
        let of_use = LinkUse::HEADER.into_iter().filter(|_| has_use);
        let rows = self.points().map(|point| {
            let first = [
                point.loss_percent.to_string(),
                point.round_trip_ms.to_string(),
                format!("{:.1}", point.kbps_payload),
                format!("{:.1}", point.kbps_total),
                format!("{:.0}", point.playout_delay_ms),
                format!("{:.2}", point.shown_error_mm_p50),
                format!("{:.1}", point.shown_error_mm_p99),
                point.wrong_lanes.to_string(),
            ];
            first.into_iter().chain(point.link_use.iter().flat_map(LinkUse::cells))
        });
        let header = header.into_iter().chain(of_use);
        writeln!(out, "{}", table(header, 0, rows).trim_fmt())
    }
}
