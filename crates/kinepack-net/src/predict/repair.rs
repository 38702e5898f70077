//! Corrects a prediction: takes authoritative states, and repeats the steps since.

use kinepack::{EncodeError, Tick};

use super::carry::{Differing, carry};
use super::config::{PredictError, Repair};
use super::engine::{Engine, Steps, Taken};
use super::report::{Correction, Outcome};
use super::track::Track;
use crate::model::Model;

impl<S, M: Model<S>> Engine<S, M> {
    /// Repeats the last steps of all entities.
    ///
    /// # Errors
    /// Returns [`PredictError::State`] after it has done everything else.
    pub(super) fn repeat_last(
        &mut self,
        ticks: u32,
        steps: &mut impl Steps,
    ) -> Result<Correction, PredictError> {
        let Some((oldest, newest)) = self.ticks else { return Ok(Correction::default()) };
        self.remember();
        self.repeat(newest.saturating_sub(ticks).max(oldest), steps)
    }

    /// Takes an authoritative state. `start` is the first tick from which others are to be
    /// repeated. Returns what the state did, and from which tick on to repeat then.
    pub(super) fn take(
        &mut self,
        index: usize,
        tick: u32,
        lanes: &[u32],
        start: Option<u32>,
    ) -> (Outcome, Option<u32>) {
        let Some((oldest, newest)) = self.ticks else { return (Outcome::Stale, start) };
        if tick <= self.tracks[index].known_tick {
            return (Outcome::Stale, start);
        }
        self.tracks[index].known_tick = tick;
        let outcome = match &self.tracks[index] {
            _ if tick > newest => Outcome::Ahead,
            track if tick < oldest.max(track.since) => Outcome::TooOld,
            track if is_equal(&self.rules.model, track.row(tick), lanes, &mut self.rows[1]) => {
                Outcome::Confirmed
            }
            _ => Outcome::Corrected,
        };
        let count = match outcome {
            Outcome::Ahead => &mut self.stats.ahead,
            Outcome::TooOld => &mut self.stats.too_old,
            Outcome::Confirmed => &mut self.stats.confirmed,
            _ => &mut self.stats.corrected,
        };
        *count += 1;
        if outcome == Outcome::Corrected && start.is_none() {
            self.remember();
        }
        let track = &mut self.tracks[index];
        if outcome == Outcome::Corrected && self.config.repair == Repair::Blend {
            let [_, predicted, before] = &mut self.rows;
            predicted.copy_from_slice(track.row(tick));
            let of = Differing { authority: lanes, predicted };
            for at in tick..=newest {
                carry(&self.rules.schema, of, track.row_mut(at), before);
            }
            track.row_mut(tick).copy_from_slice(lanes);
        }
        match outcome {
            Outcome::TooOld => {}
            Outcome::Confirmed => track.agree(tick),
            _ => track.take(tick, lanes),
        }
        let is_corrected = outcome == Outcome::Corrected;
        let from = is_corrected.then(|| start.map_or(tick, |start| start.min(tick)));
        (outcome, from.or(start))
    }

    /// Repairs the prediction from the tick `start` on, if there is one.
    pub(super) fn repair(
        &mut self,
        Taken { outcome, start }: Taken,
        steps: &mut impl Steps,
    ) -> Result<Correction, PredictError> {
        let (Some(start), Some((oldest, newest))) = (start, self.ticks) else {
            return Ok(Correction::of(outcome));
        };
        // The caller may have changed the history since it took the states.
        let start = start.clamp(oldest, newest);
        let correction = self.repeat(start, steps)?;
        Ok(Correction { outcome, ..correction })
    }

    /// Remembers the path of each entity, which is shown until now.
    pub(super) fn remember(&mut self) {
        let Some((oldest, newest)) = self.ticks else { return };
        for track in self.tracks.iter_mut().filter(|track| track.is_present(newest)) {
            track.remember(oldest, newest);
        }
    }

    /// Repeats the steps after the tick `start`, unless they are blended. The shown paths continue.
    pub(super) fn repeat(
        &mut self,
        start: u32,
        steps: &mut impl Steps,
    ) -> Result<Correction, PredictError> {
        let Some((oldest, newest)) = self.ticks else { return Ok(Correction::default()) };
        for track in self.tracks.iter_mut().filter(|track| track.authority_tick == start) {
            track.obey_at(start);
        }
        let mut result = Ok(());
        if self.config.repair == Repair::Repeat {
            for tick in start..newest {
                result = result.and(self.advance(tick + 1, steps));
            }
        }
        let repeated_ticks = newest - start;
        self.stats.repeated_ticks += u64::from(repeated_ticks);
        let mut correction = Correction { repeated_ticks, ..Correction::default() };
        for track in self.tracks.iter_mut().filter(|track| track.is_present(newest)) {
            let continued = track.continue_path((oldest, newest), &self.rules, &mut self.rows[1]);
            let (changed, is_snapped) = continued.map_err(PredictError::State)?;
            correction.distance = correction.distance.max(changed.length);
            correction.turn_rad = correction.turn_rad.max(changed.turn_rad);
            correction.is_snapped |= is_snapped;
            self.stats.snapped += u64::from(is_snapped);
        }
        result.map(|()| correction).map_err(PredictError::State)
    }

    /// Steps from the tick before `tick` to it.
    pub(super) fn advance(&mut self, tick: u32, steps: &mut impl Steps) -> Result<(), EncodeError> {
        let place = self.input_place(tick);
        let Self { tracks, inputs, stats, .. } = self;
        let was_present = |track: &Track<S>| tick > 0 && track.is_present(tick - 1);
        steps.begin();
        for track in tracks.iter().filter(|track| was_present(track)) {
            steps.take(track.id, track.row(tick - 1));
        }
        steps.step(&inputs[place], Tick(tick));
        let (mut result, mut index) = (Ok(()), 0);
        for track in tracks {
            if was_present(track) {
                if let Err(error) = steps.give(index, track.row_mut(tick)) {
                    track.copy_row(tick - 1, tick);
                    stats.unquantized += 1;
                    result = result.and(Err(error));
                }
                index += 1;
            }
            if track.authority_tick == tick {
                track.obey_at(tick);
            }
        }
        result
    }

    /// Begins a history at the tick `at`, after a gap that is too long to step through.
    pub(super) fn begin_anew(&mut self, at: u32) {
        self.stats.restarts += 1;
        let Some((_, newest)) = self.ticks.replace((at, at)) else { return };
        for track in &mut self.tracks {
            if track.is_present(newest) {
                track.copy_row(newest, at);
                track.since = at;
            }
            if (newest + 1..=at).contains(&track.authority_tick) {
                track.obey_at(at);
                track.since = at;
            }
        }
    }
}

/// Whether a server whose rounded state has the lanes `row` sends the lanes `sent`. A rotation with
/// two components of almost the same size may get other codes when it is quantized once more.
fn is_equal<S>(model: &impl Model<S>, row: &[u32], sent: &[u32], again: &mut [u32]) -> bool {
    row == sent || (model.quantize(&model.reconstruct(row), again).is_ok() && again == sent)
}
