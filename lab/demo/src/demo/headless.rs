//! Runs the demo in the terminal.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use command_kit::OutputError;
use command_kit::interrupt::Interrupt;
use kinepack_net::HubConfig;

use super::display::Display;
use super::loopback::Loopback;
use super::{Arguments, Program, report};
use crate::demo::DemoError;
use crate::inputs::with_keys;
use crate::recording::Recording;
use crate::sender::due;
use crate::session::{Controller, Session};
use crate::session_error::SessionError;
use crate::session_report::SessionReport;

/// The number of ticks between two updates of the display.
const REFRESH_TICKS: u32 = 3;

/// Runs the demo and returns the report. Also returns [`SessionError::Interrupted`] if a signal
/// ended the run early.
pub(super) fn run(
    arguments: &Arguments,
) -> Result<(SessionReport, Result<(), SessionError>), DemoError> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let Program { world, name, ticks, ending } = arguments.program()?;
    let mut session = Session::new(world, &arguments.send, with_keys(HubConfig::default()))?;
    let Arguments { recording, send, capture, .. } = arguments;
    session.sender.recording = recording.begin(&send.stream, &name, capture)?;
    session.controller = Controller::SentScript;
    session.outage = arguments.link.outage();
    session.add(&arguments.send, arguments.link.config()?, arguments.link.link_seed, true)?;
    let mut loopback = Loopback::new()?;
    let paced = io::stderr().is_terminal() && !arguments.fast;
    let display = Display::new(ticks);
    let begin = Instant::now();
    let mut done_ticks = 0;
    for tick in (1..=ticks).take_while(|_| !interrupt.is_raised()) {
        // Datagrams that are due before the tick arrive at their own times.
        while let Some(arrival) = session.next_arrival().filter(|at| *at <= due(tick)) {
            wait(begin, arrival, paced);
            session.deliver(arrival, &mut loopback)?;
        }
        wait(begin, due(tick), paced);
        session.tick(due(tick), &mut loopback)?;
        if tick % REFRESH_TICKS == 0 {
            display.show(tick, &session);
        }
        done_ticks = tick;
    }
    display.finish();
    session.sender.recording.take().map_or(Ok(()), Recording::finish)?;
    let report = report(&session, done_ticks, &name, arguments.link.name(), arguments.send.name());
    let is_interrupted = done_ticks < ticks;
    let ending = ending.map_err(SessionError::from);
    let interrupted = || SessionError::interrupted_at(done_ticks);
    Ok((report, if is_interrupted { Err(interrupted()) } else { ending }))
}

fn wait(begin: Instant, until: Duration, paced: bool) {
    if paced {
        std::thread::sleep(until.saturating_sub(begin.elapsed()));
    }
}
