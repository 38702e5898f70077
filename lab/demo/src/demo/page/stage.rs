//! Runs the worlds in real time on one thread. It applies the pages' orders, runs ticks, and
//! publishes worlds and statuses.
//!
//! The session has its own time. This time stops while the session is paused, and runs slower than
//! real time on a slow machine.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use command_kit::interrupt::Interrupt;
use cubes::Input;

use super::board::{Board, Order};
use super::look::look;
use super::protocol::Status;
use super::settings::Checked;
use super::watchers::Watchers;
use super::world::WorldMessage;
use crate::demo::loopback::Loopback;
use crate::demo::{DemoError, report};
use crate::recording::Recording;
use crate::sender::due;
use crate::session::{Controller, Session};
use crate::session_error::SessionError;
use crate::session_report::SessionReport;
use crate::world::Played;

/// The time between two statuses.
const STATUS_EVERY: Duration = Duration::from_millis(100);
/// If the world lags by more than this, it slows down instead of catching up.
const MAX_LAG: Duration = Duration::from_millis(250);
/// After this time without a key, the script plays instead of the person.
const IDLE_TICKS: u32 = 3 * cubes::TICK_HZ;

/// Creates the world in its initial state.
pub(super) type NewWorld = Box<dyn Fn() -> Result<Played, DemoError>>;

/// The session with its worlds and pages, which runs on one thread.
pub(super) struct Stage {
    session: Session,
    /// Creates the world in its initial state.
    new_world: NewWorld,
    loopback: Loopback,
    /// The world's name in a report.
    world: String,
    checked: Checked,
    /// Whether the link has changed during this connection, so that the report covers several
    /// links.
    link_changed: bool,
    is_paused: bool,
    /// Ticks to run while paused, because the user asked for single steps.
    steps: u32,
    person_input: PersonInput,
    speed: Speed,
    watchers: Watchers,
    worlds: u32,
}

/// The keys that a person holds, and the time for which the person has held none.
#[derive(Debug, Default)]
struct PersonInput {
    held: Input,
    /// The number of ticks for which the person has held no key. The value is `None` while the
    /// script plays.
    idle_ticks: Option<u32>,
}

/// Measures the speed of the world.
#[derive(Debug)]
struct Speed {
    since: Instant,
    ticks: u32,
    ratio: f64,
}

impl Stage {
    pub(super) fn new(
        session: Session,
        new_world: NewWorld,
        world: String,
        checked: Checked,
    ) -> Result<Self, DemoError> {
        let mut stage = Self {
            watchers: Watchers::default(),
            session,
            new_world,
            loopback: Loopback::new()?,
            world,
            checked,
            link_changed: false,
            is_paused: false,
            steps: 0,
            person_input: PersonInput::default(),
            speed: Speed { since: Instant::now(), ticks: 0, ratio: 1.0 },
            worlds: 0,
        };
        stage.prepare_viewer()?;
        Ok(stage)
    }

    /// Runs for `ticks` ticks, or until an interrupt.
    pub(super) fn run(
        &mut self,
        board: &Board,
        orders: &Receiver<Order>,
        interrupt: &Interrupt,
        ticks: Option<u32>,
    ) -> Result<(), DemoError> {
        let period = due(1);
        let mut next_tick = Instant::now() + period;
        let mut next_status = Instant::now();
        while !interrupt.is_raised() && ticks.is_none_or(|ticks| self.tick() < ticks) {
            let is_held = self.is_paused && self.steps == 0;
            let next = if is_held { next_status } else { next_tick.min(next_status) };
            if let Ok(order) = orders.recv_timeout(next.saturating_duration_since(Instant::now())) {
                if !matches!(order, Order::Keys(_) | Order::Answers { .. }) {
                    // The world is published at once, so that the page sees the effect.
                    next_status = Instant::now();
                }
                self.apply(order)?;
                continue;
            }
            let now = Instant::now();
            if !is_held && now >= next_tick {
                self.step(board)?;
                next_tick += period;
                if now > next_tick + MAX_LAG {
                    next_tick = now;
                }
            } else if is_held {
                next_tick = now;
            }
            if now >= next_status {
                next_status = now + STATUS_EVERY;
                self.speed.update(now, is_held);
                self.publish(board, is_held);
            }
        }
        Ok(())
    }

    fn apply(&mut self, order: Order) -> Result<(), DemoError> {
        match order {
            Order::Settings(checked) => self.set(*checked)?,
            Order::Pause(pause) => {
                self.is_paused = pause;
                self.steps = 0;
            }
            Order::Step(ticks) => self.steps = if self.is_paused { ticks } else { 0 },
            Order::Restart => self.restart()?,
            Order::Keys(held) => self.person_input.hold(held),
            Order::Answers { page, message } => {
                self.watchers.answer(&mut self.session, page, &message);
            }
        }
        Ok(())
    }

    fn set(&mut self, checked: Checked) -> Result<(), DemoError> {
        let seed = checked.link.link_seed;
        if checked.send.stream != self.checked.send.stream {
            self.session.reconnect(&checked.send, checked.link_config, seed)?;
            self.watchers.reconnected(&checked);
            self.link_changed = false;
        } else {
            self.session.sender.offer(&checked.send).map_err(SessionError::from)?;
            for peer in &mut self.session.peers {
                peer.set_link(checked.link_config).map_err(SessionError::from)?;
            }
            self.link_changed |= checked.link_config != self.checked.link_config;
        }
        self.checked = checked;
        self.prepare_viewer()
    }

    /// Restarts the world and the connection. Datagrams of the old world are lost, and all counts
    /// except the tick start from 0. If the session is paused, the method runs one tick, so that
    /// the pages show the new world.
    fn restart(&mut self) -> Result<(), DemoError> {
        self.session.sender.world = (self.new_world)()?;
        if let Some(recording) = &mut self.session.sender.recording {
            recording.mark("restart")?;
        }
        let Checked { send, link_config, link, .. } = &self.checked;
        self.session.reconnect(send, *link_config, link.link_seed)?;
        self.watchers.reconnected(&self.checked);
        self.link_changed = false;
        self.steps = u32::from(self.is_paused);
        self.prepare_viewer()
    }

    /// Completes the recording, if there is one.
    pub(super) fn finish_recording(&mut self) -> Result<(), DemoError> {
        Ok(self.session.sender.recording.take().map_or(Ok(()), Recording::finish)?)
    }

    /// Applies the settings to the viewer, which may be new.
    fn prepare_viewer(&mut self) -> Result<(), DemoError> {
        let [least, most] = self.checked.playout_delays;
        if let Some(viewer) = self.session.peers[0].viewer_mut() {
            viewer.receiver.set_playout_delays(least, most).map_err(SessionError::from)?;
        }
        Ok(())
    }

    /// Runs one tick.
    fn step(&mut self, board: &Board) -> Result<(), DemoError> {
        let tick = self.tick() + 1;
        self.speed.ticks += 1;
        self.steps = self.steps.saturating_sub(1);
        let person = self
            .person_input
            .next()
            .filter(|_| matches!(self.session.sender.world, Played::Cubes(_)));
        self.session.controller = person.map_or(Controller::Script, Controller::Person);
        self.watchers.update(board, &mut self.session, &self.checked)?;
        self.session.run_until(due(tick), &mut self.loopback)?;
        self.watchers.bring(board, &mut self.session, &self.checked);
        self.publish_world(board);
        Ok(())
    }

    fn publish_world(&mut self, board: &Board) {
        if board.pages() == 0 {
            return;
        }
        self.worlds = self.worlds.wrapping_add(1);
        let bodies = self.session.sender.states().measured();
        let message = WorldMessage::new(self.worlds, self.tick().into(), bodies);
        board.world.send_replace(message);
    }

    fn publish(&mut self, board: &Board, is_held: bool) {
        if board.pages() == 0 {
            return;
        }
        if is_held {
            // This call is for pages that opened during the pause.
            self.publish_world(board);
        }
        let state = &self.session.sender.snapshot;
        let looks =
            board.looked_at().into_iter().filter_map(|body| Some((body, look(state, body)?)));
        let looks = looks.collect();
        board.status.send_replace(Arc::new(Status { looks, ..self.status() }));
    }

    /// Returns the current status, without the bodies that pages display in detail.
    pub(super) fn status(&self) -> Status {
        Status {
            settings: self.checked.settings.clone(),
            paused: self.is_paused,
            tick: self.tick(),
            plays: self.plays(),
            speed_ratio: self.speed.ratio,
            report: self.report(),
            looks: std::collections::BTreeMap::new(),
        }
    }

    fn tick(&self) -> u32 {
        self.session.sender.tick()
    }

    fn plays(&self) -> &'static str {
        match (&self.session.sender.world, self.person_input.idle_ticks) {
            (Played::Captured(..), _) => "capture",
            (_, Some(_)) => "person",
            (_, None) => "script",
        }
    }

    /// Returns the report of the connection until now.
    pub(super) fn report(&self) -> SessionReport {
        let mut link = self.checked.link.name();
        if self.link_changed {
            link.push_str(" (changed while it ran)");
        }
        report(&self.session, self.tick(), &self.world, link, self.checked.send.name())
    }
}

impl PersonInput {
    fn hold(&mut self, held: Input) {
        self.held = held;
        if held != Input::default() {
            self.idle_ticks = Some(0);
        }
    }

    /// Returns the person's keys for the next tick, or `None` if the script plays.
    fn next(&mut self) -> Option<Input> {
        let idle_ticks = self.idle_ticks.as_mut()?;
        *idle_ticks = if self.held == Input::default() { *idle_ticks + 1 } else { 0 };
        if *idle_ticks > IDLE_TICKS {
            self.idle_ticks = None;
            return None;
        }
        Some(self.held)
    }
}

impl Speed {
    /// Updates the ratio once per second. Paused time does not count.
    fn update(&mut self, now: Instant, is_held: bool) {
        let elapsed = now.saturating_duration_since(self.since);
        if is_held {
            (self.since, self.ticks) = (now, 0);
        } else if elapsed >= Duration::from_secs(1) {
            self.ratio =
                f64::from(self.ticks) / (elapsed.as_secs_f64() * f64::from(cubes::TICK_HZ));
            (self.since, self.ticks) = (now, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_plays_until_a_while_after_the_last_key() {
        let mut person = PersonInput::default();
        assert_eq!(person.next(), None);
        person.hold(Input::default());
        assert_eq!(person.next(), None, "releasing no key does not count as playing");
        let held = Input { left: true, ..Input::default() };
        person.hold(held);
        assert!((0..1000).all(|_| person.next() == Some(held)));
        person.hold(Input::default());
        assert!((0..IDLE_TICKS).all(|_| person.next() == Some(Input::default())));
        assert_eq!(person.next(), None);
    }
}
