//! Random inputs and states: a prediction equals one that remembers everything and computes it
//! anew.

use std::collections::BTreeMap;

use kinepack::{EntityId, Pack, Schema, Tick};
use kinepack_net::{Outcome, Own, PredictConfig, PredictError, Predicted};

use super::{Input, Walker, config, step};
use crate::support::Random;

const HISTORY_TICKS: u32 = 24;

/// A prediction without rings and lanes.
#[derive(Default)]
struct Naive {
    ticks: Option<(u32, u32)>,
    inputs: BTreeMap<u32, Input>,
    states: BTreeMap<(u32, EntityId), Walker>,
    /// The newest authoritative states.
    authority: BTreeMap<EntityId, (u32, Walker)>,
    /// The tick of each entity's newest authoritative state, even if that was too old.
    known_ticks: BTreeMap<EntityId, u32>,
}

impl Naive {
    fn advance(&mut self, tick: u32) {
        let input = self.inputs[&tick];
        let mut own: Vec<Own<Walker>> = Vec::new();
        for id in self.authority.keys() {
            let state = tick.checked_sub(1).and_then(|before| self.states.get(&(before, *id)));
            own.extend(state.map(|state| Own { id: *id, state: *state }));
        }
        if !own.is_empty() {
            step(&mut own, &input, Tick(tick));
        }
        for Own { id, state } in own {
            self.states.insert((tick, id), state.rounded().unwrap());
        }
        for (id, (of, state)) in &self.authority {
            if *of == tick {
                self.states.insert((tick, *id), *state);
            }
        }
    }

    fn forget_before(&mut self, oldest: u32) {
        self.states.retain(|(tick, _), _| *tick >= oldest);
    }

    fn push(&mut self, tick: u32, input: Input) -> bool {
        let (mut oldest, newest) = self.ticks.unwrap_or((tick, tick.saturating_sub(1)));
        if self.ticks.is_some() && tick <= newest {
            return false;
        }
        let mut next = if self.ticks.is_some() { newest + 1 } else { tick };
        if tick - next >= HISTORY_TICKS {
            (oldest, next) = (tick - 1, tick);
            for (id, (of, state)) in &self.authority {
                let last = self.states.get(&(newest, *id)).copied();
                let last = if (newest + 1..tick).contains(of) { Some(*state) } else { last };
                if let Some(last) = last {
                    self.states.insert((tick - 1, *id), last);
                }
            }
        }
        let last = self.inputs.get(&newest).copied().filter(|_| self.ticks.is_some());
        for at in next..=tick {
            let filled = last.filter(|_| at < tick).unwrap_or(input);
            self.inputs.insert(at, filled);
            self.forget_before(oldest);
            oldest = oldest.max(at.saturating_sub(HISTORY_TICKS - 1));
            self.ticks = Some((oldest, at));
            self.advance(at);
        }
        self.forget_before(oldest);
        true
    }

    fn add(&mut self, id: EntityId, tick: u32, state: Walker) {
        let (oldest, newest) = *self.ticks.get_or_insert((tick, tick));
        self.authority.insert(id, (tick, state));
        self.known_ticks.insert(id, tick);
        if tick < oldest {
            self.states.insert((newest, id), state);
        } else if tick <= newest {
            self.states.insert((tick, id), state);
            (tick + 1..=newest).for_each(|tick| self.advance(tick));
        }
    }

    fn correct(&mut self, id: EntityId, tick: u32, state: Walker) -> Outcome {
        let (_, newest) = self.ticks.unwrap();
        if tick <= self.known_ticks[&id] {
            return Outcome::Stale;
        }
        self.known_ticks.insert(id, tick);
        let known = self.states.get(&(tick, id)).copied();
        if tick <= newest && known.is_none() {
            return Outcome::TooOld;
        }
        self.authority.insert(id, (tick, state));
        match known {
            None => Outcome::Ahead,
            Some(known) if known == state => Outcome::Confirmed,
            Some(_) => {
                self.states.insert((tick, id), state);
                (tick + 1..=newest).for_each(|tick| self.advance(tick));
                Outcome::Corrected
            }
        }
    }
}

/// Compares both after each of `count` random calls.
fn run(seed: u64, count: u32) -> BTreeMap<Outcome, u32> {
    let mut random = Random::new(seed);
    let config = PredictConfig { history_ticks: HISTORY_TICKS, ..config() };
    let mut predicted = Predicted::<Walker, Input>::new(&Schema::of::<Walker>(), config).unwrap();
    let (mut naive, mut outcomes) = (Naive::default(), BTreeMap::new());
    let mut newest = 1_000;
    for _ in 0..count {
        let id = EntityId(random.below(4) as u32);
        let (oldest, end) = naive.ticks.unwrap_or((newest, newest));
        let near = oldest.saturating_sub(3) + random.below(u64::from(end - oldest) + 8) as u32;
        let walker = |random: &mut Random| {
            let tilt = [0; 4].map(|_| random.unit() + 1.5);
            let place = [0; 2].map(|_| random.unit() * 8.0);
            let velocity = [0; 2].map(|_| random.unit() * 4.0);
            let teleports = u8::from(random.chance(5));
            let yaw_deg = (random.unit() + 1.0) * 179.0;
            Walker { place, velocity, yaw_deg, tilt, teleports }.rounded().unwrap()
        };
        match random.below(10) {
            0 if naive.authority.len() < 3 && !naive.authority.contains_key(&id) => {
                let state = walker(&mut random);
                predicted.add(id, Tick(near), &state, step).unwrap();
                naive.add(id, near, state.rounded().unwrap());
            }
            1 if random.chance(6) => {
                assert_eq!(predicted.remove(id), naive.authority.remove(&id).is_some());
                naive.states.retain(|(_, other), _| *other != id);
            }
            2..=5 => {
                let gap = match random.below(40) {
                    0 => 20 + random.below(12) as u32,
                    1..=3 => random.below(4) as u32,
                    _ => 1,
                };
                let stick = [random.unit(), random.unit()];
                let input = Input { stick, turn_deg: random.unit() * 8.0 }.rounded().unwrap();
                let tick = naive.ticks.map_or(newest, |(_, newest)| newest) + gap;
                let pushed = predicted.push(Tick(tick), &input, step);
                match naive.push(tick, input) {
                    true => pushed.unwrap(),
                    false => assert!(matches!(pushed, Err(PredictError::NotAfter { .. }))),
                }
            }
            6..=8 if naive.authority.contains_key(&id) => {
                let known = naive.states.get(&(near, id)).copied().filter(|_| random.chance(2));
                let state = known.unwrap_or_else(|| walker(&mut random).rounded().unwrap());
                let correction = predicted.correct(id, Tick(near), &state, step).unwrap();
                assert_eq!(correction.outcome, naive.correct(id, near, state));
                *outcomes.entry(correction.outcome).or_default() += 1;
            }
            _ => {
                let at = f64::from(near) + f64::from(random.unit());
                if let Some(shown) = predicted.shown(id, at) {
                    assert!(shown.place.iter().chain(&shown.tilt).all(|number| number.is_finite()));
                    assert!((0.0..360.0).contains(&shown.yaw_deg));
                }
            }
        }
        newest = naive.ticks.map_or(newest, |(_, newest)| newest);
        assert_eq!(predicted.newest().map(|tick| tick.0), naive.ticks.map(|(_, newest)| newest));
        for id in (0..4).map(EntityId) {
            for tick in newest.saturating_sub(HISTORY_TICKS + 1)..=newest {
                let expected = naive.states.get(&(tick, id)).copied();
                assert_eq!(predicted.state_at(id, Tick(tick)), expected, "{id:?} at {tick}");
            }
        }
    }
    outcomes
}

#[test]
fn random_calls_give_what_a_naive_prediction_gives() {
    let mut all = BTreeMap::new();
    for seed in 0..12 {
        for (outcome, count) in run(seed, 600) {
            *all.entry(outcome).or_insert(0) += count;
        }
    }
    assert!(all.len() == 5 && all.values().all(|count| *count > 20), "{all:?}");
}
