//! The demo in the terminal.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use kinepack_net::HubConfig;

use super::display::Display;
use super::loopback::Loopback;
use super::{Arguments, Program, report};
use crate::demo::DemoError;
use crate::inputs::with_keys;
use crate::sender::due;
use crate::session::{Hands, Session};
use crate::session_report::SessionReport;

/// Ticks between two refreshes of the display.
const REFRESH_TICKS: u32 = 3;

pub(super) fn run(arguments: &Arguments) -> Result<SessionReport, DemoError> {
    let Program { world, name, ticks } = arguments.program()?;
    let mut session = Session::new(world, &arguments.send, with_keys(HubConfig::default()))?;
    session.hands = Hands::SentScript;
    session.outage = arguments.link.outage();
    session.add(&arguments.send, arguments.link.config()?, arguments.link.link_seed, true)?;
    let mut loopback = Loopback::new()?;
    let paced = io::stderr().is_terminal() && !arguments.fast;
    let display = Display::new(ticks);
    let begin = Instant::now();
    for tick in 1..=ticks {
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
    Ok(report(&session, ticks, &name, arguments.link.name(), arguments.send.name()))
}

fn wait(begin: Instant, until: Duration, paced: bool) {
    if paced {
        std::thread::sleep(until.saturating_sub(begin.elapsed()));
    }
}
