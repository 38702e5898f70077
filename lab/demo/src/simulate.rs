//! `kinepack-lab simulate`: runs a world, its receivers and their links in virtual time, as fast as
//! the machine can.

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use command_kit::interrupt::Interrupt;
use command_kit::table::write_rows;
use command_kit::{
    Distribution, Failure, LinkOptions, LinkOptionsError, OutputError, Summary, TraceError,
    TraceOptions, counted, parse_milliseconds, print,
};
use indicatif::{ProgressBar, ProgressStyle};
use kinepack_net::{HubConfig, LinkError};
use rayon::ThreadPoolBuildError;
use serde::Serialize;

use crate::crowd::Crowd;
use crate::sender::{SendOptions, due};
use crate::session::{Direct, Session};
use crate::session_error::SessionError;
use crate::session_report::{SessionReport, summary};
use crate::threads::Threads;
use crate::world::{Played, WorldArguments, WorldError};

/// If there are more receivers than this, datagrams arrive only at ticks, instead of at their own
/// times.
const MAX_EXACT_PEERS: usize = 16;

/// Simulate a world, its links and its receivers under virtual time, as fast as the machine can.
///
/// Prints bandwidth, errors and the hub's work, and checks that every state arrives as it was sent.
/// Ctrl-C stops the simulation and prints the results up to that tick.
#[derive(Args)]
pub struct Arguments {
    /// Print the results as one JSON document instead of a table.
    #[arg(long)]
    json: bool,
    #[command(flatten, next_help_heading = "Built-in world")]
    world: WorldArguments,
    /// Replace the cubes with this number of objects on a plane.
    #[arg(long, help_heading = "Crowd", conflicts_with_all = ["cubes", "style"], allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    objects: Option<u32>,
    /// How many of the objects walk about; the others rest.
    #[arg(
        long,
        help_heading = "Crowd",
        default_value_t = 100,
        requires = "objects",
        allow_negative_numbers = true
    )]
    moving: u32,
    #[command(flatten, next_help_heading = "Sending")]
    send: SendOptions,
    #[command(flatten, next_help_heading = "Link")]
    link: LinkOptions,
    #[command(flatten, next_help_heading = "Link")]
    trace: TraceOptions,
    /// Number of receivers.
    #[arg(long, help_heading = "Receivers", value_name = "COUNT", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    receivers: u32,
    /// How many receivers decode, compare and show what arrives. The others only acknowledge it.
    #[arg(
        long,
        help_heading = "Receivers",
        value_name = "COUNT",
        default_value_t = 4,
        allow_negative_numbers = true
    )]
    looked_at: u32,
    /// Round trips in milliseconds, of the first and the last receiver. The others are spaced
    /// evenly between these two.
    #[arg(long, help_heading = "Receivers", value_name = "FROM..TO", value_parser = parse_milliseconds, conflicts_with = "round_trip_ms")]
    round_trips_ms: Option<(f64, f64)>,
    /// How many threads the hub may use. They encode for different receivers at the same time.
    #[arg(long, help_heading = "Receivers", value_name = "COUNT", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(1..=64))]
    threads: u8,
    /// Corrupt the first receiver's state every SECONDS: add one to one lane. Its state checks
    /// should find that, and the hub should send the state again.
    #[arg(long, help_heading = "Receivers", value_name = "SECONDS", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    fault_every: Option<u32>,
}

#[derive(Serialize)]
struct Report {
    receivers: u32,
    ticks: u32,
    /// The time that the hub takes in a tick for all receivers together.
    hub_us_per_tick: Summary,
    hub_us_per_tick_mean: f64,
    hub_us_per_tick_and_receiver: f64,
    /// The number of snapshots that are encoded in each tick, for all receivers together.
    encoded_per_tick: f64,
    /// The age of a receiver's newest state of a moving object.
    age_ms: Summary,
    /// The memory of this process, after a tenth of the time and at the end. The value is `None` if
    /// the system does not report it.
    memory_mib: Option<(f64, f64)>,
    /// The number of lanes that differ from the sent ones, over all receivers that decode.
    wrong_lanes: u64,
    /// The report of the first receiver.
    first: SessionReport,
}

/// The reason why a simulation fails or ends early.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error("cannot start threads: {0}")]
    Threads(#[from] ThreadPoolBuildError),
}

impl From<LinkOptionsError> for SimulateError {
    fn from(error: LinkOptionsError) -> Self {
        Self::Session(error.into())
    }
}

impl Failure for SimulateError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Session(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Trace(error) => error.exit_code(),
            Self::Threads(_) => 1,
        }
    }
}

impl From<WorldError> for SimulateError {
    fn from(error: WorldError) -> Self {
        Self::Session(error.into())
    }
}

impl From<LinkError> for SimulateError {
    fn from(error: LinkError) -> Self {
        Self::Session(error.into())
    }
}

impl Arguments {
    /// Returns whether an option limits what the links carry, so that their use is of interest.
    fn limits_link(&self) -> bool {
        let Self { send, link, trace, .. } = self;
        link.limits_rate() || trace.link_trace.is_some() || send.budget.is_some()
    }
}

pub fn run(arguments: &Arguments) -> Result<(), SimulateError> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let trace = arguments.trace.trace()?;
    let world = match arguments.objects {
        Some(objects) => {
            Played::Crowd(Crowd::new(objects, arguments.moving.min(objects), arguments.world.seed))
        }
        None => arguments.world.play()?,
    };
    let mut session = Session::new(world, &arguments.send, HubConfig::default())?;
    session.sender.threads = Threads::new(arguments.threads)?;
    session.outage = arguments.link.outage();
    for receiver in 0..arguments.receivers {
        let mut link = arguments.link.config()?;
        if let Some((from, to)) = arguments.round_trips_ms {
            let share = f64::from(receiver) / f64::from(arguments.receivers.max(2) - 1);
            link.latency = Duration::from_secs_f64((from + (to - from) * share) / 2e3);
        }
        let seed = arguments.link.link_seed.wrapping_add(receiver.into());
        session.add(&arguments.send, link, seed, receiver < arguments.looked_at)?;
    }
    if let Some(trace) = &trace {
        session.peers.iter_mut().for_each(|peer| peer.follow(trace.clone()));
    }
    if arguments.limits_link() {
        session.peers[0].measure_link(trace);
    }
    let ticks = arguments.world.frames();
    let progress = progress(ticks);
    let exact = session.peers.len() <= MAX_EXACT_PEERS;
    let mut early_memory = None;
    let mut done_ticks = 0;
    for tick in (1..=ticks).take_while(|_| !interrupt.is_raised()) {
        if exact {
            session.run_until(due(tick), &mut Direct)?;
        } else {
            session.tick(due(tick), &mut Direct)?;
        }
        if arguments.fault_every.is_some_and(|seconds| tick % (seconds * cubes::TICK_HZ) == 0) {
            session.peers[0].inject_fault(due(tick));
        }
        if tick == ticks / 10 {
            early_memory = memory_mib();
        }
        if tick % 64 == 0 {
            progress.set_position(u64::from(tick));
        }
        done_ticks = tick;
    }
    progress.finish_and_clear();
    let report = Report::new(arguments, &session, done_ticks, early_memory);
    print(|out| if arguments.json { report.write_json(out) } else { report.write_table(out) })?;
    if report.wrong_lanes > 0 {
        Err(SessionError::Drifted { wrong_lanes: report.wrong_lanes }.into())
    } else if done_ticks < ticks {
        Err(SessionError::interrupted_at(done_ticks).into())
    } else {
        Ok(())
    }
}

pub fn progress(ticks: u32) -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} tick {pos} of {len}, {eta} left");
    ProgressBar::new(u64::from(ticks))
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

impl Report {
    fn new(
        arguments: &Arguments,
        session: &Session,
        ticks: u32,
        early_memory: Option<f64>,
    ) -> Self {
        let sends = f64::from(ticks / (cubes::TICK_HZ / arguments.send.send_hz)).max(1.0);
        let mean_us = session.hub_total.as_secs_f64() * 1e6 / sends;
        let mut age_ms = Distribution::default();
        for viewer in session.peers.iter().filter_map(|peer| peer.viewer()) {
            age_ms.merge(&viewer.age_ms);
        }
        let crowd = |objects: u32| {
            let Arguments { moving, world: WorldArguments { seed, .. }, .. } = arguments;
            let seconds = arguments.world.frames() / cubes::TICK_HZ;
            format!("crowd --objects {objects} --moving {moving} --seconds {seconds} --seed {seed}")
        };
        Self {
            receivers: arguments.receivers,
            ticks,
            hub_us_per_tick: session.hub_us.summary(),
            hub_us_per_tick_mean: mean_us,
            hub_us_per_tick_and_receiver: mean_us / f64::from(arguments.receivers),
            encoded_per_tick: session.encoded as f64 / sends,
            age_ms: age_ms.summary(),
            memory_mib: early_memory.zip(memory_mib()),
            wrong_lanes: session.peers.iter().map(|peer| peer.wrong_lanes).sum(),
            first: SessionReport {
                world: arguments.objects.map_or_else(|| arguments.world.name(), crowd),
                link: format!("{}{}", arguments.link.name(), arguments.trace.name()),
                link_use: session.peers[0].link_use(due(ticks)),
                sending: arguments.send.name(),
                ..session.peers[0].report(ticks)
            },
        }
    }

    fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        let hub = &self.hub_us_per_tick;
        self.first.write_table(out)?;
        writeln!(
            out,
            "\n{}, {}; the table above is the first receiver's",
            counted(self.receivers, "receiver"),
            counted(self.ticks, "tick"),
        )?;
        let mut rows = vec![
            ("hub, mean / p50 / p99 of a tick", {
                format!("{:.1} / {:.1} / {:.1} µs", self.hub_us_per_tick_mean, hub.p50, hub.p99)
            }),
            (
                "hub, mean of a tick and receiver",
                format!("{:.2} µs", self.hub_us_per_tick_and_receiver),
            ),
            ("snapshots encoded a tick", format!("{:.1}", self.encoded_per_tick)),
            ("age of movers, p50 / p99 / max", summary(&self.age_ms, 0, "ms")),
        ];
        rows.extend(self.memory_mib.map(|(early, end)| {
            ("memory at a tenth / at the end", format!("{early:.0} / {end:.0} MiB"))
        }));
        rows.push(("wrong lanes, all receivers", self.wrong_lanes.to_string()));
        write_rows(out, rows)
    }
}

/// Returns the resident memory of this process, or `None` if the system has no `/proc`.
fn memory_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}
