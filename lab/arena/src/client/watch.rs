//! Watches the screen: how well it shows the own player and the others. For reports only.

use std::time::Duration;

use kinepack::Tick;

use super::{Client, Drawn};
use crate::map::{DECK_HALF_M, RIVER_HALF_M, ferry_at, length, point_on_deck};

/// A player is seldom faster than this: he walks at half of it, and a hit pushes him by a quarter.
const MOST_M_PER_S: f64 = 12.0;
/// Less is no leap.
const LEAP_M: f64 = 0.05;
/// A player this far from the banks and from the deck is not about to step on or off.
const BESIDE_M: f64 = 1.0;

/// A player who walks faster than this does not stop within a frame by himself.
const WALKS_M_PER_S: f64 = 3.0;

/// The last frame.
#[derive(Debug, Default)]
pub(super) struct Watched {
    mine: Option<(Duration, Drawn)>,
    at: Duration,
    /// The others, and whether they walked.
    others: Vec<(Drawn, bool)>,
}

impl Client {
    /// Measures the frame that is about to be drawn.
    pub(super) fn watch(&mut self, now: Duration) {
        let flies = |other: &&Drawn| {
            let beside = point_on_deck(&self.ferry, other.place).map(f64::abs);
            let is_far = beside.iter().any(|beside| *beside > DECK_HALF_M + BESIDE_M);
            let is_over_river = other.place[0].abs() < RIVER_HALF_M - BESIDE_M;
            other.health > 0 && !other.is_aboard && is_over_river && is_far
        };
        let in_flight = self.others.iter().filter(flies).count() as u64;
        self.screen.in_flight += in_flight;
        self.watch_others(now);
        let before = self.watched.mine.take();
        let (Some(mine), Some(me)) = (self.mine.filter(|mine| mine.health > 0), self.me()) else {
            return;
        };
        self.watched.mine = Some((now, mine));
        self.screen.frames += 1;
        let ferry = ferry_at(Tick(self.clock.tick() as u32));
        let true_place = me.in_world(&ferry);
        if mine.is_aboard && me.is_aboard {
            let berth = point_on_deck(&ferry, true_place);
            self.screen.aboard += 1;
            self.screen.slip_m += apart(point_on_deck(&self.ferry, mine.place), berth);
        } else if !mine.is_aboard && !me.is_aboard && mine.jumps == me.jumps {
            self.screen.behind_m += apart(mine.place, true_place);
        }
        let Some((then, before)) = before else { return };
        let most = MOST_M_PER_S * now.saturating_sub(then).as_secs_f64() + LEAP_M;
        let is_same = before.jumps == mine.jumps && before.is_aboard == mine.is_aboard;
        self.screen.leaps += u64::from(is_same && apart(before.place, mine.place) > most);
    }
}

impl Client {
    /// Counts those who walked in the last frame, and do not move in this one.
    fn watch_others(&mut self, now: Duration) {
        let Self { watched, others, screen, .. } = self;
        let seconds = now.saturating_sub(watched.at).as_secs_f64();
        for other in others.iter() {
            let known = watched.others.iter_mut().find(|(before, _)| before.id == other.id);
            let Some((before, walked)) = known else {
                watched.others.push((*other, false));
                continue;
            };
            let moved = apart(before.place, other.place);
            let is_same = before.jumps == other.jumps && before.health.min(other.health) > 0;
            screen.stops += u64::from(*walked && is_same && moved == 0.0);
            *walked = is_same && moved > WALKS_M_PER_S * seconds;
            *before = *other;
        }
        watched.others.retain(|(before, _)| others.iter().any(|other| other.id == before.id));
        watched.at = now;
    }
}

fn apart(one: [f64; 2], other: [f64; 2]) -> f64 {
    length([0, 1].map(|axis| one[axis] - other[axis]))
}
