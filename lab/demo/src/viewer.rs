//! The receiving side of the program. It holds a receiver, the states that it shows, and their
//! statistics.

use std::time::Duration;

use command_kit::Distribution;
use kinepack_net::{
    Playback, Received, Receiver, ReceiverConfig, Refused, Sequence, datagram_sequence,
};

use crate::cube_stream::{CubeStream, Shown};
use crate::game_events::GameEvent;
use crate::session_error::SessionError;
use crate::truth::{ShownError, Truth};

/// A receiver that plays back the world.
pub struct Viewer {
    pub receiver: Receiver,
    stream: CubeStream,
    pub error: ShownError,
    pub states_shown: u64,
    pub snapshots: u64,
    pub left_out: u64,
    /// The ages of the newest states of objects that move.
    pub age_ms: Distribution,
    /// The sum of the playout delays of all shown states. The mean needs it.
    delay_ms: f64,
    /// The entities that the viewer shows now. Their tick is `shown_tick`.
    pub shown: Vec<Shown>,
    pub shown_tick: f64,
    /// The game events that were played since the previous frame.
    pub events: Vec<GameEvent>,
}

/// A new view that a datagram completed.
#[derive(Clone, Copy, Debug)]
pub struct NewView {
    pub sequence: Sequence,
    /// Whether the sender skipped some entities.
    pub left_out: bool,
}

impl Viewer {
    pub fn new(stream: &CubeStream) -> Result<Self, SessionError> {
        Ok(Self {
            receiver: Receiver::new(&stream.codec(), ReceiverConfig::at_hz(60))?
                .with_events(&GameEvent::kinds()?),
            stream: stream.clone(),
            error: ShownError::default(),
            states_shown: 0,
            snapshots: 0,
            left_out: 0,
            age_ms: Distribution::default(),
            delay_ms: 0.0,
            shown: Vec::new(),
            shown_tick: 0.0,
            events: Vec::new(),
        })
    }

    /// Takes a datagram. If the datagram completed a view, returns that view.
    pub fn handle(&mut self, now: Duration, datagram: &[u8]) -> Result<Option<NewView>, Refused> {
        match self.receiver.handle(now, datagram)? {
            Received::Snapshot { left_out, .. } => {
                self.snapshots += 1;
                self.left_out += u64::from(left_out);
                Ok(datagram_sequence(datagram).map(|sequence| NewView { sequence, left_out }))
            }
            _ => Ok(None),
        }
    }

    /// Computes a frame. If `truth` is known, also compares the frame with it. Returns false while
    /// there is nothing to show.
    pub fn show(&mut self, now: Duration, truth: Option<&Truth>) -> Result<bool, SessionError> {
        let delay_ms = self.receiver.playout_stats().delay.as_secs_f64() * 1e3;
        let Some(playback) = self.receiver.playback(now) else { return Ok(false) };
        self.shown.clear();
        self.events.clear();
        read_events(&playback, &mut self.events)?;
        self.shown_tick = playback.tick;
        let around = truth.and_then(|truth| truth.around(playback.tick));
        for sample in playback.samples() {
            let id = sample.id;
            let shown = self.stream.shown(&sample);
            let shown = shown.map_err(|error| SessionError::OutOfRange {
                object: id.0,
                reason: error.to_string(),
            })?;
            if let Some((before, after, ratio)) = around
                && let (Some(before), Some(after)) = (before.find(id), after.find(id))
            {
                self.error.add(&shown, before, after, ratio);
            }
            self.shown.push(shown);
        }
        // Playback yields the entities kind by kind.
        self.shown.sort_by_key(|shown| shown.id);
        self.states_shown += 1;
        self.delay_ms += delay_ms;
        Ok(true)
    }

    /// Advances playback by a frame that is not shown. Only takes the frame's events.
    pub fn pass(&mut self, now: Duration) -> Result<(), SessionError> {
        self.events.clear();
        match self.receiver.playback(now) {
            Some(playback) => read_events(&playback, &mut self.events),
            None => Ok(()),
        }
    }

    /// Records the age of each moving object's newest state. The sender is at tick `tick`.
    pub fn note_age(&mut self, tick: u32, truth: &Truth) {
        let (Some(newest), Some((states, ..))) =
            (self.receiver.newest(), truth.around(f64::from(tick)))
        else {
            return;
        };
        let Some((before, ..)) = truth.around(f64::from(tick) - 1.0) else { return };
        for (index, id) in newest.ids().iter().enumerate() {
            // Objects that were just added or removed have no state in both ticks.
            let (Some(before), Some(state)) = (before.find(*id), states.find(*id)) else {
                continue;
            };
            if before.position != state.position {
                let age_ticks = tick.saturating_sub(self.receiver.fresh(index).0);
                self.age_ms.add(f64::from(age_ticks) * 1e3 / f64::from(cubes::TICK_HZ));
            }
        }
    }

    /// Returns the mean playout delay of all shown states.
    pub fn mean_delay_ms(&self) -> f64 {
        self.delay_ms / self.states_shown.max(1) as f64
    }
}

/// Appends a frame's events.
fn read_events(playback: &Playback<'_>, events: &mut Vec<GameEvent>) -> Result<(), SessionError> {
    for event in playback.events() {
        events.extend(GameEvent::of(&event)?);
    }
    Ok(())
}
