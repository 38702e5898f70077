//! Codes records at level `Adaptive`: predicts each part from the records that both sides hold, and
//! range codes the residuals. See `spec/CODEC.md`, section 17.3.

use core::hint::select_unpredictable;
use core::ops::Range;

use super::learned::{Fit, LaneState, PartState, SIZE_SETS, Shared, State};
use super::plan::{MAX_NUMBERS, Part, PartKind, Plan};
use crate::bits::bits_for;
use crate::entropy::{Coder, Counter, code_tree};
use crate::quantize::SmallestThree;
use crate::schema::Presence;

/// The maximum number of observations that the counters remember. Beyond this number, old
/// observations fade.
const LIMIT: u8 = 120;
/// The largest change that can be predicted, in steps.
const MAX_CHANGE: f64 = (1u64 << 33) as f64;
/// The largest size of a residual, in bits.
const MAX_SIZE: u32 = 32;

/// The error for a value outside of its lane's range, which no encoder writes.
pub(super) struct Outside;

/// The lanes of a record that is encoded or decoded.
pub(super) trait Record {
    /// The lanes of the record. In a decoder, a lane is valid only after `set` or `keep` was called
    /// for it.
    fn lanes(&self) -> &[u32];
    /// Stores a coded value in a decoder's record.
    fn set(&mut self, lane: usize, value: u32);
    /// Copies the lanes of an unchanged part from the base to a decoder's record.
    fn keep(&mut self, part: &Part, base: &[u32]);
    /// Returns the value that was coded, which is `given` in an encoder and `read` in a decoder.
    fn coded<T>(given: T, read: T) -> T;
}

/// The lanes of a record to encode.
pub(super) struct Given<'a>(pub(super) &'a [u32]);

impl Record for Given<'_> {
    #[inline]
    fn lanes(&self) -> &[u32] {
        self.0
    }

    #[inline]
    fn set(&mut self, _lane: usize, _value: u32) {}

    #[inline]
    fn keep(&mut self, _part: &Part, _base: &[u32]) {}

    #[inline]
    fn coded<T>(given: T, _read: T) -> T {
        given
    }
}

/// The lanes of a record to decode into.
pub(super) struct Read<'a>(pub(super) &'a mut [u32]);

impl Record for Read<'_> {
    #[inline]
    fn lanes(&self) -> &[u32] {
        self.0
    }

    #[inline]
    fn set(&mut self, lane: usize, value: u32) {
        self.0[lane] = value;
    }

    #[inline]
    fn keep(&mut self, part: &Part, base: &[u32]) {
        part.slice_mut(self.0).copy_from_slice(base);
    }

    #[inline]
    fn coded<T>(_given: T, read: T) -> T {
        read
    }
}

/// Codes one record against a base, if there is one. `learned` holds the learned state at the base,
/// and is updated to the state at the coded record.
pub(super) fn code<C: Coder, R: Record>(
    coder: &mut C,
    plan: &Plan,
    learned: &mut State,
    base: Option<&[u32]>,
    lag: u16,
    mut record: R,
) -> Result<(), Outside> {
    let Some(base) = base else {
        return plan.rules().fields().iter().try_for_each(|(lanes, conditions)| {
            if conditions.hold(|lane| record.lanes()[lane]) {
                code_full(coder, plan, lanes.clone(), &mut record)
            } else {
                lanes.clone().for_each(|lane| record.set(lane, 0));
                Ok(())
            }
        });
    };
    let lag = lag.max(1);
    let elapsed = f64::from(lag);
    let (per_elapsed, lag_size) = (1.0 / elapsed, size_of(u64::from(lag)));
    let State { parts, lanes, shared, .. } = learned;
    let rate_elapsed = 0.0;
    let mut coding =
        Coding { coder, plan, shared, base, record, elapsed, rate_elapsed, per_elapsed, lag_size };
    for (index, (part, state)) in plan.parts.iter().zip(parts).enumerate() {
        coding.code_part(part, state, part.slice_mut(lanes))?;
        if plan.clock == Some(index) {
            coding.take_time(part.first);
        }
    }
    Ok(())
}

/// Codes lanes without a base.
fn code_full<C: Coder>(
    coder: &mut C,
    plan: &Plan,
    mut lanes: Range<usize>,
    record: &mut impl Record,
) -> Result<(), Outside> {
    lanes.try_for_each(|index| {
        let lane = &plan.lanes[index];
        let value = coder.code_direct(record.lanes()[index], lane.bits());
        record.set(index, value);
        if value > lane.max { Err(Outside) } else { Ok(()) }
    })
}

/// The coding of one record against its base.
struct Coding<'a, C, R> {
    coder: &'a mut C,
    plan: &'a Plan,
    shared: &'a mut Shared,
    base: &'a [u32],
    record: R,
    /// The time since the base: in records, or in steps of the time stamp once the time stamp is
    /// coded.
    elapsed: f64,
    /// The time by which the rates of the current part are multiplied: `elapsed`, or 0 if the part
    /// did not change in the last record.
    rate_elapsed: f64,
    /// The inverse of `elapsed`.
    per_elapsed: f64,
    /// The amount that the lag adds to expected sizes, in 1/256 bit.
    lag_size: i32,
}

impl<C: Coder, R: Record> Coding<'_, C, R> {
    #[inline]
    fn code_part(
        &mut self,
        part: &Part,
        state: &mut PartState,
        lanes: &mut [LaneState],
    ) -> Result<(), Outside> {
        let base = part.slice(self.base);
        let record = self.record.lanes();
        let presence = part.conditions.presence(|lane| self.base[lane], |lane| record[lane]);
        if presence != Presence::Kept {
            lanes.iter_mut().for_each(|lane| lane.rate = 0.0);
            if presence == Presence::Added {
                return code_full(self.coder, self.plan, part.lanes(), &mut self.record);
            }
            part.lanes().for_each(|lane| self.record.set(lane, 0));
            return Ok(());
        }
        // Compares all lanes without a branch.
        let given = part.slice(record).iter().zip(base).fold(0, |any, (a, b)| any | (a ^ b)) != 0;
        let history = usize::from(state.history & 3);
        let is_changed = state.changed[history].code(self.coder, given, LIMIT);
        state.history = state.history << 1 | u8::from(is_changed);
        if !is_changed {
            self.record.keep(part, base);
            return Ok(());
        }
        // The rates of a part that did not change in the last record count as 0.
        self.rate_elapsed = select_unpredictable(history & 1 != 0, self.elapsed, 0.0);
        let mut fit = state.fit;
        fit.forget();
        match part.kind {
            // A choice adds no sample to the fit, so the fit does not change.
            PartKind::Choice => return self.code_choice(part.first),
            PartKind::Numbers => self.code_numbers(part, &mut fit, lanes)?,
            PartKind::Rotation(rotation) => {
                self.code_rotation(part.first, rotation, &mut fit, lanes)?;
            }
            PartKind::Bytes => self.code_bytes(part, &mut fit, lanes)?,
        }
        fit.solve();
        state.fit = fit;
        Ok(())
    }

    /// Counts time in steps of the time stamp from now on, if the time stamp has increased.
    fn take_time(&mut self, lane: usize) {
        let steps = self.plan.lanes[lane].difference(self.base[lane], self.record.lanes()[lane]);
        if steps > 0 {
            self.elapsed = steps as f64;
            self.per_elapsed = 1.0 / self.elapsed;
        }
    }

    /// Codes a value that differs from the value in the base.
    fn code_choice(&mut self, lane: usize) -> Result<(), Outside> {
        let (max, base) = (self.plan.lanes[lane].max, self.base[lane]);
        let value = self.code_other(self.record.lanes()[lane], base, max)?;
        self.record.set(lane, value);
        Ok(())
    }

    fn code_other(&mut self, given: u32, base: u32, max: u32) -> Result<u32, Outside> {
        let bits = bits_for(u64::from(max.saturating_sub(1)));
        let number = self.coder.code_direct(given.wrapping_sub(u32::from(given > base)), bits);
        number.checked_add(u32::from(number >= base)).filter(|value| *value <= max).ok_or(Outside)
    }

    fn code_numbers(
        &mut self,
        part: &Part,
        fit: &mut Fit,
        lanes: &mut [LaneState],
    ) -> Result<(), Outside> {
        // All predictions are made first, because the processor can then compute them in parallel.
        let mut predicted = [Predicted::default(); MAX_NUMBERS];
        for ((predicted, state), index) in predicted.iter_mut().zip(&*lanes).zip(part.lanes()) {
            let moved = part.velocity.map_or(0.0, |first| {
                let velocity = first + index - part.first;
                let speed = |value: u32| f64::from(value) - self.plan.zeros[velocity];
                (speed(self.base[velocity]) + speed(self.record.lanes()[velocity])) * self.elapsed
            });
            *predicted = self.predict(index, self.base[index], moved, fit, state);
        }
        for ((predicted, state), index) in predicted.iter().zip(lanes).zip(part.lanes()) {
            self.code_lane(index, *predicted, fit, state)?;
        }
        Ok(())
    }

    fn code_rotation(
        &mut self,
        first: usize,
        rotation: SmallestThree,
        fit: &mut Fit,
        lanes: &mut [LaneState],
    ) -> Result<(), Outside> {
        let base = [0, 1, 2, 3].map(|offset| self.base[first + offset]);
        let given = self.record.lanes()[first];
        let is_same = self.shared.same.code(self.coder, given == base[0], LIMIT);
        let mut dropped = base[0];
        if !is_same {
            dropped = self.code_other(given, base[0], 3)?;
            lanes[1..].iter_mut().for_each(|lane| lane.rate = 0.0);
        }
        self.record.set(first, dropped);
        let turned = rotation.turned(base, dropped);
        for ((index, base), state) in (first + 1..).zip(turned).zip(&mut lanes[1..]) {
            let predicted = self.predict(index, base, 0.0, fit, state);
            self.code_lane(index, predicted, fit, state)?;
        }
        Ok(())
    }

    fn code_bytes(
        &mut self,
        part: &Part,
        fit: &mut Fit,
        lanes: &mut [LaneState],
    ) -> Result<(), Outside> {
        let mut before = false;
        for ((index, state), base) in part.lanes().zip(lanes).zip(part.slice(self.base)) {
            // Loads both counters, so that neither load waits for the previous byte's decision.
            let [still, moving] = &mut self.shared.byte_changed[usize::from(state.history & 3)];
            let probability =
                select_unpredictable(before, moving.probability(), still.probability());
            let given = self.record.lanes()[index] != *base;
            let is_changed = self.coder.code(given, probability);
            select_unpredictable(before, moving, still).observe(is_changed, LIMIT);
            state.history = state.history << 1 | u8::from(is_changed);
            before = is_changed;
            if is_changed {
                let predicted = self.predict(index, *base, 0.0, fit, state);
                self.code_lane(index, predicted, fit, state)?;
            } else {
                self.record.set(index, *base);
                state.rate = 0.0;
            }
        }
        Ok(())
    }

    /// Predicts a number from its last motion and from `moved`, the motion according to its
    /// velocity.
    #[inline(always)]
    fn predict(
        &self,
        lane: usize,
        base: u32,
        moved: f64,
        fit: &Fit,
        state: &LaneState,
    ) -> Predicted {
        let features = [f64::from(state.rate) * self.rate_elapsed, moved];
        let change = fit.weights[0] * features[0] + fit.weights[1] * features[1];
        // The change is rounded to the nearest integer, halves up, with a precision of sixteenths.
        let ahead = ((change.clamp(-MAX_CHANGE, MAX_CHANGE) * 16.0) as i64 + 8) >> 4;
        Predicted { base, start: self.plan.lanes[lane].held_offset(base, ahead), features }
    }

    /// Codes a number against its prediction.
    #[inline(always)]
    fn code_lane(
        &mut self,
        lane: usize,
        predicted: Predicted,
        fit: &mut Fit,
        state: &mut LaneState,
    ) -> Result<(), Outside> {
        let (of, given) = (self.plan.lanes[lane], self.record.lanes()[lane]);
        let Predicted { base, start, features } = predicted;
        let expected_size = i32::from(state.size) + self.lag_size;
        let given_residual = of.difference(start, given);
        let read =
            code_residual(self.coder, &mut self.shared.sizes, given_residual, expected_size)?;
        let residual = R::coded(given_residual, read);
        let value = R::coded(Some(given), of.offset(start, residual)).ok_or(Outside)?;
        self.record.set(lane, value);

        let magnitude = residual.unsigned_abs();
        let bits = bits_for(magnitude);
        let size = size_of(2 * magnitude + 1) - self.lag_size;
        state.size += ((size - i32::from(state.size)) >> 1) as i16;
        let change = of.difference(base, value) as f64;
        fit.observe(features, change, TRUST[bits as usize]);
        state.rate = (change * self.per_elapsed) as f32;
        Ok(())
    }
}

/// The prediction of a number.
#[derive(Clone, Copy, Default)]
struct Predicted {
    base: u32,
    /// The predicted value.
    start: u32,
    /// The change that the last motion gives, and the change that the field's velocity gives.
    features: [f64; 2],
}

/// The weight that a change has in the fit, indexed by the number of bits of its residual.
const TRUST: [f64; MAX_SIZE as usize + 2] = {
    let mut trust = [1.0; MAX_SIZE as usize + 2];
    let mut bits = 1;
    while bits < trust.len() {
        trust[bits] = trust[bits - 1] / 2.0;
        bits += 1;
    }
    trust
};

/// Returns 256 · log₂ of `number`, linear between powers of two.
#[inline]
fn size_of(number: u64) -> i32 {
    let whole = number.ilog2();
    (whole as i32 * 256) + ((number << 8 >> whole) as i32 - 256)
}

/// Codes a residual. `expected_size` is in 1/256 bit.
#[inline]
fn code_residual<C: Coder>(
    coder: &mut C,
    sizes: &mut [[Counter; 8]; SIZE_SETS],
    given: i64,
    expected_size: i32,
) -> Result<i64, Outside> {
    let half_octave = ((expected_size + 64) >> 7).clamp(0, HALF_OCTAVES as i32);
    let (set, lowest) = SETS[half_octave as usize];
    let (set, lowest) = (usize::from(set), u32::from(lowest));
    let magnitude = given.unsigned_abs();
    let bits = bits_for(magnitude);
    let step = bits.saturating_sub(lowest).min(7);
    let mut size = lowest + code_tree(coder, &mut sizes[set], step, 3, LIMIT);
    if size == lowest + 7 {
        while size < MAX_SIZE && coder.code(bits > size, SURPRISE) {
            size += 1;
        }
    } else if size == lowest {
        while size > 0 && coder.code(bits < size, SURPRISE) {
            size -= 1;
        }
    }
    match size {
        0 => return Ok(0),
        1..=MAX_SIZE => {}
        _ => return Err(Outside),
    }
    // Codes the sign and the bits below the leading one.
    let rest = coder.code_direct((magnitude as u32) << 1 | u32::from(given < 0), size);
    let magnitude = i64::from(rest >> 1) | 1 << (size - 1);
    Ok(select_unpredictable(rest & 1 != 0, -magnitude, magnitude))
}

/// The largest expected size, in halves of a bit.
const HALF_OCTAVES: usize = 2 * MAX_SIZE as usize;

/// For each expected size, the set of counters and the smallest size that the set codes.
const SETS: [(u8, u8); HALF_OCTAVES + 1] = {
    let mut sets = [(0, 0); HALF_OCTAVES + 1];
    let mut half_octave = 0;
    while half_octave < sets.len() {
        sets[half_octave] = match half_octave.checked_sub(SIZE_SETS - 2) {
            None => (half_octave as u8, 0),
            Some(beyond) => ((SIZE_SETS - 2 + beyond % 2) as u8, (beyond / 2 + 2) as u8),
        };
        half_octave += 1;
    }
    sets
};

/// The probability that a residual outside of the 8 counted sizes is larger, or smaller, by one
/// more bit.
const SURPRISE: u16 = 1 << 14;
