//! Watches the screen: how well it shows the own player and the others. For reports only.

use std::time::Duration;

use kinepack::Tick;

use super::{Client, Drawn};
use crate::map::{ferry_at, is_river, length, point_on_deck};

/// A player is never faster than this, even if he is pushed several times at once.
const MOST_M_PER_S: f64 = 18.0;
/// Less is no leap.
const LEAP_M: f64 = 0.1;

/// The last frame.
#[derive(Debug, Default)]
pub(super) struct Watched {
    mine: Option<(Duration, Drawn)>,
}

impl Client {
    /// Measures the frame that is about to be drawn.
    pub(super) fn watch(&mut self, now: Duration) {
        let river = |other: &&Drawn| is_river(other.place) && !other.is_aboard && other.health > 0;
        self.screen.in_flight += self.others.iter().filter(river).count() as u64;
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

fn apart(one: [f64; 2], other: [f64; 2]) -> f64 {
    length([0, 1].map(|axis| one[axis] - other[axis]))
}
