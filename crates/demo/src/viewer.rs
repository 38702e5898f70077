//! The receiving side of the program: a receiver, and what is to be said about what it shows.

use std::time::Duration;

use command_kit::Distribution;
use kinepack_net::{Received, Receiver, ReceiverConfig, Refused, Sequence, datagram_sequence};

use crate::cube_stream::{CubeStream, Shown};
use crate::session_error::SessionError;
use crate::truth::{ShownError, Truth};

/// A receiver that plays the world.
pub struct Viewer {
    pub receiver: Receiver,
    stream: CubeStream,
    pub error: ShownError,
    /// The same of late, for who takes it from time to time.
    pub recent_error: Option<ShownError>,
    pub states_shown: u64,
    pub snapshots: u64,
    pub left_out: u64,
    /// How old what is known of an object is that moves.
    pub age_ms: Distribution,
    /// Sum over the states shown, for the mean.
    delay_ms: f64,
    /// What is shown now, and of which tick that is.
    pub shown: Vec<Shown>,
    pub shown_tick: f64,
}

/// A view that a datagram brought.
#[derive(Clone, Copy, Debug)]
pub struct NewView {
    pub sequence: Sequence,
    /// The sender left something out.
    pub left_out: bool,
}

impl Viewer {
    pub fn new(stream: &CubeStream) -> Result<Self, SessionError> {
        Ok(Self {
            receiver: Receiver::new(&stream.codec(), ReceiverConfig::at_hz(60))?,
            stream: stream.clone(),
            error: ShownError::default(),
            recent_error: None,
            states_shown: 0,
            snapshots: 0,
            left_out: 0,
            age_ms: Distribution::default(),
            delay_ms: 0.0,
            shown: Vec::new(),
            shown_tick: 0.0,
        })
    }

    /// Takes a datagram; the view where one came of it.
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

    /// Draws a frame; where the truth is known, it is compared. False while there is nothing to
    /// show.
    pub fn show(&mut self, now: Duration, truth: Option<&Truth>) -> Result<bool, SessionError> {
        let delay_ms = self.receiver.playout_stats().delay.as_secs_f64() * 1e3;
        let Some(playback) = self.receiver.playback(now) else { return Ok(false) };
        self.shown.clear();
        self.shown_tick = playback.tick();
        let around = truth.and_then(|truth| truth.around(playback.tick()));
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
                if let Some(recent) = &mut self.recent_error {
                    recent.add(&shown, before, after, ratio);
                }
            }
            self.shown.push(shown);
        }
        self.states_shown += 1;
        self.delay_ms += delay_ms;
        Ok(true)
    }

    /// Notes how old what is known of each object is that moves, at a tick of the sender.
    pub fn note_age(&mut self, tick: u32, truth: &Truth) {
        let (Some(newest), Some((states, ..))) =
            (self.receiver.newest(), truth.around(f64::from(tick)))
        else {
            return;
        };
        let Some((before, ..)) = truth.around(f64::from(tick) - 1.0) else { return };
        for (index, id) in newest.ids().iter().enumerate() {
            // What has just come is not known for long, and of what has left nothing is to be
            // known.
            let (Some(before), Some(state)) = (before.find(*id), states.find(*id)) else {
                continue;
            };
            if before.position != state.position {
                let age_ticks = tick.saturating_sub(self.receiver.fresh(index).0);
                self.age_ms.add(f64::from(age_ticks) * 1e3 / f64::from(cubes::TICK_HZ));
            }
        }
    }

    /// Mean playout delay of what was shown.
    pub fn mean_delay_ms(&self) -> f64 {
        self.delay_ms / self.states_shown.max(1) as f64
    }
}
