//! The simulation of the game: players, bullets and pickups.

use std::collections::BTreeMap;
use std::f32::consts::{PI, TAU};

use super::common::Random;
use super::{Kind, PICKUPS, PLAYERS, RATE_HZ, Thing};

const TICK_S: f32 = 1.0 / RATE_HZ as f32;
/// Half the arena's width in each direction, in metres.
const ARENA_M: f32 = 60.0;
const SIGHT_M: f32 = 16.0;

/// A thing in the arena, with the part of its state that is not sent.
struct Being {
    thing: Thing,
    velocity: [f32; 2],
    goal: [f32; 2],
    /// The time until the thing walks on or comes back.
    wait_s: f32,
    /// The time until a player can shoot again, or until a bullet disappears.
    busy_s: f32,
}

pub(crate) struct World {
    random: Random,
    players: Vec<Being>,
    pickups: Vec<Being>,
    bullets: BTreeMap<u32, Being>,
    shots: u32,
}

impl Being {
    fn new(kind: Kind, random: &mut Random) -> Self {
        let mut place = || [(); 2].map(|()| random.within(-ARENA_M, ARENA_M));
        let (health, ammunition) = if kind == Kind::Player { (100, 30) } else { (0, 0) };
        let thing =
            Thing { kind, position: place(), yaw: 0.0, health, ammunition, is_reloading: false };
        Self { thing, velocity: [0.0; 2], goal: place(), wait_s: 0.0, busy_s: 0.0 }
    }

    /// Moves a player by one tick. Returns the bullet that the player shoots, if there is one.
    fn play(&mut self, enemy: Option<[f32; 2]>, random: &mut Random) -> Option<Self> {
        (self.wait_s, self.busy_s) =
            ((self.wait_s - TICK_S).max(0.0), (self.busy_s - TICK_S).max(0.0));
        if self.thing.health == 0 {
            if self.wait_s == 0.0 {
                *self = Self::new(Kind::Player, random);
            }
            return None;
        }
        let away = distance(self.thing.position, self.goal);
        if away < 1.0 {
            self.goal = [(); 2].map(|()| random.within(-ARENA_M, ARENA_M));
            self.wait_s = random.within(-2.0, 4.0).max(0.0);
        }
        let speed = if self.wait_s > 0.0 { 0.0 } else { enemy.map_or(6.0, |_| 3.0) };
        for axis in 0..2 {
            let wanted = (self.goal[axis] - self.thing.position[axis]) / away.max(0.01) * speed;
            self.velocity[axis] +=
                (wanted - self.velocity[axis]).clamp(-30.0 * TICK_S, 30.0 * TICK_S);
            self.thing.position[axis] += self.velocity[axis] * TICK_S;
        }
        let [x, y] = enemy.unwrap_or(self.goal);
        let wanted = (y - self.thing.position[1]).atan2(x - self.thing.position[0]);
        let turn = (wanted - self.thing.yaw + PI).rem_euclid(TAU) - PI;
        // A player corrects only visible errors: two degrees or more.
        if turn.abs() > 0.035 {
            self.thing.yaw =
                (self.thing.yaw + (9.0 * turn).clamp(-7.0, 7.0) * TICK_S).rem_euclid(TAU);
        }
        if self.busy_s > 0.0 {
            return None;
        }
        if self.thing.ammunition == 0 {
            (self.busy_s, self.thing.is_reloading, self.thing.ammunition) = (1.6, true, 30);
            return None;
        }
        self.thing.is_reloading = false;
        enemy.filter(|_| turn.abs() < 0.1)?;
        (self.busy_s, self.thing.ammunition) =
            (random.within(0.12, 0.4), self.thing.ammunition - 1);
        let (sin, cos) = (self.thing.yaw + random.within(-0.06, 0.06)).sin_cos();
        let mut bullet = Self::new(Kind::Bullet, random);
        (bullet.thing.yaw, bullet.velocity, bullet.busy_s) =
            (self.thing.yaw, [40.0 * cos, 40.0 * sin], 0.5);
        bullet.thing.position =
            [self.thing.position[0] + 0.6 * cos, self.thing.position[1] + 0.6 * sin];
        Some(bullet)
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let mut random = Random::new(7);
        let players = (0..PLAYERS).map(|_| Being::new(Kind::Player, &mut random)).collect();
        let pickups = (0..PICKUPS).map(|_| Being::new(Kind::Pickup, &mut random)).collect();
        Self { random, players, pickups, bullets: BTreeMap::new(), shots: 0 }
    }

    pub(crate) fn step(&mut self) {
        let seen: Vec<_> = self
            .players
            .iter()
            .map(|player| (player.thing.position, player.thing.health > 0))
            .collect();
        for (index, player) in self.players.iter_mut().enumerate() {
            let from = player.thing.position;
            let enemies = seen
                .iter()
                .enumerate()
                .filter(|(other, (_, lives))| *lives && (index + other) % 2 == 1);
            let enemies = enemies
                .map(|(_, (position, _))| *position)
                .filter(|at| distance(*at, from) < SIGHT_M);
            let nearest = enemies.min_by(|a, b| distance(*a, from).total_cmp(&distance(*b, from)));
            if let Some(bullet) = player.play(nearest, &mut self.random) {
                // The number of a bullet is reused after a thousand shots, when no receiver has the
                // old bullet any more.
                self.bullets.insert(1000 + self.shots % 1000, bullet);
                self.shots += 1;
            }
        }
        let players = &mut self.players;
        self.bullets.retain(|_, bullet| {
            let Being { thing, velocity, busy_s, .. } = bullet;
            thing
                .position
                .iter_mut()
                .zip(velocity)
                .for_each(|(position, speed)| *position += *speed * TICK_S);
            *busy_s -= TICK_S;
            let at = thing.position;
            let is_hit = |player: &&mut Being| {
                player.thing.health > 0 && distance(player.thing.position, at) < 0.5
            };
            let hit = players.iter_mut().find(is_hit);
            if let Some(Being { thing, wait_s, velocity, .. }) = hit {
                thing.health = thing.health.saturating_sub(12);
                if thing.health == 0 {
                    (*wait_s, *velocity) = (3.0, [0.0; 2]);
                }
                return false;
            }
            *busy_s > 0.0 && at.iter().all(|coordinate| coordinate.abs() < ARENA_M + 3.0)
        });
        for pickup in &mut self.pickups {
            pickup.wait_s -= TICK_S;
            let is_near = |player: &&mut Being| {
                player.thing.health > 0
                    && distance(player.thing.position, pickup.thing.position) < 1.5
            };
            if let Some(player) =
                self.players.iter_mut().filter(|_| pickup.wait_s <= 0.0).find(is_near)
            {
                (player.thing.health, pickup.wait_s) = ((player.thing.health + 25).min(100), 10.0);
            }
            pickup.thing.ammunition = u32::from(pickup.wait_s <= 0.0);
        }
    }

    /// Returns the things and their velocities, in the order of the ids.
    pub(crate) fn things(&self) -> impl Iterator<Item = (u32, &Thing, [f32; 2])> {
        let fixed = (0..).zip(self.players.iter().chain(&self.pickups));
        let bullets = self.bullets.iter().map(|(id, being)| (*id, being));
        fixed.chain(bullets).map(|(id, being)| (id, &being.thing, being.velocity))
    }
}

fn distance(a: [f32; 2], b: [f32; 2]) -> f32 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}
