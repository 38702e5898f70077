//! Corrects a prediction: takes authoritative states, and repeats the steps since.

use std::ops::Range;

use kinepack::{EncodeError, Pack, Tick};

use super::carry::{Differing, carry};
use super::config::{PredictError, Repair};
use super::predicted::{Own, Predicted};
use super::report::{Correction, Outcome};
use super::track::Track;

impl<S: Pack, I: Pack> Predicted<S, I> {
    /// Repeats the last steps of all entities, for a step that reads what has changed since: for
    /// example another `Predicted`, whose [`Correction::repeated_ticks`] are these. With
    /// [`Repair::Blend`] nothing is repeated.
    ///
    /// # Errors
    /// Returns [`PredictError::State`].
    pub fn repeat_last(
        &mut self,
        ticks: u32,
        step: impl FnMut(&mut [Own<S>], &I, Tick),
    ) -> Result<Correction, PredictError> {
        let Some((oldest, newest)) = self.ticks else { return Ok(Correction::default()) };
        self.remember();
        self.repeat(newest.saturating_sub(ticks).max(oldest), step)
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
            track if is_equal::<S>(track.row(tick), lanes, &mut self.rows[1]) => Outcome::Confirmed,
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
        outcome: Outcome,
        start: Option<u32>,
        step: impl FnMut(&mut [Own<S>], &I, Tick),
    ) -> Result<Correction, PredictError> {
        let Some(start) = start else { return Ok(Correction::of(outcome)) };
        let correction = self.repeat(start, step)?;
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
        mut step: impl FnMut(&mut [Own<S>], &I, Tick),
    ) -> Result<Correction, PredictError> {
        let Some((oldest, newest)) = self.ticks else { return Ok(Correction::default()) };
        for track in self.tracks.iter_mut().filter(|track| track.authority_tick == start) {
            track.obey_at(start);
        }
        let mut result = Ok(());
        if self.config.repair == Repair::Repeat {
            for tick in start..newest {
                result = result.and(self.advance(tick + 1, &mut step));
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
    pub(super) fn advance(
        &mut self,
        tick: u32,
        step: &mut impl FnMut(&mut [Own<S>], &I, Tick),
    ) -> Result<(), EncodeError> {
        let place = self.input_place(tick);
        let Self { tracks, states, stats, .. } = self;
        states.clear();
        let was_present = |track: &Track<S>| tick > 0 && track.is_present(tick - 1);
        let present = tracks.iter().filter(|track| was_present(track));
        states.extend(
            present.map(|track| Own { id: track.id, state: S::reconstruct(track.row(tick - 1)) }),
        );
        if !states.is_empty() {
            let input = I::reconstruct(&self.inputs[place]);
            step(states, &input, Tick(tick));
        }
        let mut result = Ok(());
        let mut states = states.iter();
        for track in tracks {
            if was_present(track)
                && let Some(Own { state, .. }) = states.next()
                && let Err(error) = state.quantize(track.row_mut(tick))
            {
                track.copy_row(tick - 1, tick);
                stats.unquantized += 1;
                result = result.and(Err(error));
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

    pub(super) fn input_place(&self, tick: u32) -> Range<usize> {
        let first = tick as usize % self.config.history_ticks as usize * I::LANES;
        first..first + I::LANES
    }
}

/// Whether a server whose rounded state has the lanes `row` sends the lanes `sent`. A rotation with
/// two components of almost the same size may get other codes when it is quantized once more.
fn is_equal<S: Pack>(row: &[u32], sent: &[u32], again: &mut [u32]) -> bool {
    row == sent || (S::reconstruct(row).quantize(again).is_ok() && again == sent)
}
