//! `kinepack demo`: the built-in world over a real socket through a bad link, and what arrives on the other side.

mod display;
mod loopback;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use display::Display;
use loopback::Loopback;

use crate::failure::Failure;
use crate::link_options::LinkOptions;
use crate::report::print;
use crate::sender::{SendOptions, due};
use crate::session::Session;
use crate::session_report::SessionReport;
use crate::world::{Played, WorldArguments, read_capture};

/// Ticks between two refreshes of the display.
const REFRESH_TICKS: u32 = 3;

/// Send a physics world over a real socket through a bad link, and show what arrives on the other side.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Send what was captured instead: a .f32 file of the data compression challenge, or one as .zst.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seconds", "seed", "style", "cubes"])]
    capture: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Built-in world")]
    world: WorldArguments,
    #[command(flatten, next_help_heading = "Sending")]
    send: SendOptions,
    #[command(flatten, next_help_heading = "Link")]
    link: LinkOptions,
    /// Do not wait for the world's clock.
    #[arg(long)]
    fast: bool,
    /// Print the summary as one JSON document.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (world, name, frames) = match &arguments.capture {
        None => (arguments.world.play()?, arguments.world.name(), arguments.world.frames()),
        Some(path) => {
            let frames = read_capture(path)?;
            let count = frames.len() as u32;
            (Played::Captured(frames.into_iter()), format!("--capture {}", path.display()), count)
        }
    };
    let mut session = Session::new(world, &arguments.send)?;
    session.outage = arguments.link.outage();
    session.add(&arguments.send, arguments.link.config()?, arguments.link.link_seed, true)?;
    let mut loopback = Loopback::new()?;
    let paced = io::stderr().is_terminal() && !arguments.fast;
    let display = Display::new(frames);
    let begin = Instant::now();
    for tick in 1..=frames {
        // What is due before the tick arrives at its own time.
        while let Some(arrival) = session.next_arrival().filter(|at| *at <= due(tick)) {
            wait(begin, arrival, paced);
            session.deliver(arrival, &mut loopback)?;
        }
        wait(begin, due(tick), paced);
        session.tick(due(tick), &mut loopback)?;
        if tick % REFRESH_TICKS == 0 {
            display.show(tick, &session);
        }
    }
    display.finish();
    let report = SessionReport {
        world: name,
        link: arguments.link.name(),
        sending: arguments.send.name(),
        ..session.peers[0].report(frames)
    };
    print(|out| if arguments.json { report.write_json(out) } else { report.write_table(out) })?;
    if report.wrong_lanes > 0 { Err(Failure::Drifted { wrong_lanes: report.wrong_lanes }) } else { Ok(()) }
}

fn wait(begin: Instant, until: Duration, paced: bool) {
    if paced {
        std::thread::sleep(until.saturating_sub(begin.elapsed()));
    }
}
