//! A bot: sees what its client draws, walks about, takes the ferry and the teleporters, and shoots at
//! whom it sees.

use std::time::Duration;

use kinepack::Tick;

use crate::ArenaError;
use crate::client::{Client, Drawn, Wish};
use crate::map::{self, HALF_M, PADS, RIVER_HALF_M, TICK_HZ};
use crate::shot::follow;

/// A bot shoots at nobody who is farther away.
const SIGHT_M: f64 = 25.0;
/// It changes its mind after this time.
const PATIENCE: Duration = Duration::from_secs(8);
/// It aims beside the target by up to this much.
const SPREAD_M: f64 = 0.45;

#[derive(Clone, Copy, Debug)]
enum Goal {
    /// A place on the own bank.
    Spot([f64; 2]),
    /// The other bank, by ferry.
    Cross,
    /// The other bank, by teleporter.
    Pad,
}

/// A client that plays by itself.
#[derive(Debug)]
pub struct Bot {
    /// What it plays with.
    pub client: Client,
    random: fastrand::Rng,
    goal: Goal,
    until: Duration,
    /// Where it stands on the deck.
    berth: [f64; 2],
    spread: [f64; 2],
    spread_until: Duration,
}

impl Bot {
    /// A bot that plays with a client. The same seed and the same datagrams make the same moves.
    pub fn new(client: Client, seed: u64) -> Self {
        Self {
            client,
            random: fastrand::Rng::with_seed(seed),
            goal: Goal::Cross,
            until: Duration::ZERO,
            berth: [0.0; 2],
            spread: [0.0; 2],
            spread_until: Duration::ZERO,
        }
    }

    /// A frame: decides, and plays.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn frame(&mut self, now: Duration) -> Result<(), ArenaError> {
        let wish = self.decide(now);
        self.client.frame(now, &wish)
    }

    /// Where each frame ends: a time that differs, as on a screen.
    pub(crate) fn next_frame(&mut self, now: Duration) -> Duration {
        now + Duration::from_micros(self.random.u64(12_000..21_000))
    }

    fn within(&mut self, reach: f64) -> f64 {
        (2.0 * self.random.f64() - 1.0) * reach
    }

    fn decide(&mut self, now: Duration) -> Wish {
        let Some(mine) = self.client.mine().filter(|mine| mine.health > 0) else {
            self.until = Duration::ZERO;
            return Wish { aim: [1.0, 0.0], ..Wish::default() };
        };
        if now >= self.until {
            self.choose(now, mine.place);
        }
        let to = self.way(mine.place);
        let away = [0, 1].map(|axis| to[axis] - mine.place[axis]);
        let distance = map::length(away);
        let stick = match distance > 0.2 {
            true => away.map(|way| way / distance.max(1.0)),
            false => {
                if matches!(self.goal, Goal::Spot(_)) {
                    self.until = now;
                }
                [0.0; 2]
            }
        };
        match self.target(&mine) {
            Some(target) => {
                if now >= self.spread_until {
                    self.spread = [self.within(SPREAD_M), self.within(SPREAD_M)];
                    self.spread_until = now + Duration::from_millis(250);
                }
                let aim = [0, 1].map(|axis| target[axis] + self.spread[axis] - mine.place[axis]);
                Wish { stick, aim: unit(aim), fires: true }
            }
            None => Wish { stick, aim: unit(away), fires: false },
        }
    }

    fn choose(&mut self, now: Duration, place: [f64; 2]) {
        self.until = now + PATIENCE;
        self.berth = [self.within(1.8), self.within(1.8)];
        self.goal = match self.random.u32(0..10) {
            0..6 => {
                let x = RIVER_HALF_M + 1.0 + self.random.f64() * (HALF_M[0] - RIVER_HALF_M - 2.0);
                Goal::Spot([x.copysign(place[0]), self.within(HALF_M[1] - 1.0)])
            }
            6..9 => {
                self.until += PATIENCE * 2;
                Goal::Cross
            }
            _ => Goal::Pad,
        };
    }

    /// The next point on the way to the goal.
    fn way(&self, place: [f64; 2]) -> [f64; 2] {
        let is_aboard = self.client.me().is_some_and(|me| me.is_aboard);
        let tick = Tick(self.client.tick().max(0.0) as u32);
        let is_open = map::gates_are_open(tick) && map::gates_are_open(Tick(tick.0 + TICK_HZ / 2));
        let ferry = self.client.ferry();
        let dock = [(RIVER_HALF_M + 0.8).copysign(place[0]), 0.0];
        let berth = || map::point_in_world(&ferry, self.berth);
        match self.goal {
            // Whoever is on the ferry for another reason stays until it has landed.
            _ if is_aboard && !map::gates_are_open(tick) => berth(),
            Goal::Cross if is_aboard => [12.0f64.copysign(ferry.position[0]), 0.0],
            Goal::Spot(_) | Goal::Pad if is_aboard => dock,
            Goal::Spot(spot) => spot,
            Goal::Pad => PADS[usize::from(place[0] > 0.0)],
            Goal::Cross => {
                let is_here = ferry.position[0] * place[0] > 0.0 && is_open;
                let is_near = map::length([place[0] - dock[0], place[1]]) < 2.0;
                if is_here && is_near { berth() } else { dock }
            }
        }
    }

    /// The nearest player in sight.
    fn target(&self, mine: &Drawn) -> Option<[f64; 2]> {
        let alive = || self.client.others().iter().filter(|other| other.health > 0);
        let distance =
            |other: &Drawn| map::length([0, 1].map(|axis| other.place[axis] - mine.place[axis]));
        let nearest = alive().min_by(|one, other| distance(one).total_cmp(&distance(other)))?;
        let aim = [0, 1].map(|axis| nearest.place[axis] - mine.place[axis]);
        let targets = alive().map(|other| (other.id, other.place));
        let sees = follow(mine.place, aim, targets).0 == Some(nearest.id);
        (sees && distance(nearest) < SIGHT_M).then_some(nearest.place)
    }
}

fn unit(direction: [f64; 2]) -> [f64; 2] {
    let length = map::length(direction);
    if length > 0.0 { direction.map(|component| component / length) } else { [1.0, 0.0] }
}
