//! A swarm of drones in `f64` coordinates: they charge, take off, fly from place to place in the
//! wind, hover to look, and come back. Records a minute as two streams, with the first struct and
//! with the one after `kinepack analyze`: `cargo run --release -p kinepack-capture --example drones
//! -- drones.mcap`.

mod common;
#[path = "common/quaternion.rs"]
mod quaternion;

use std::error::Error;
use std::path::Path;

use common::Random;
use kinepack::{EntityId, Pack};
use kinepack_capture::{RecordError, RecordSummary};

const RATE_HZ: u32 = 30;
const TICK_S: f64 = 1.0 / RATE_HZ as f64;
pub(crate) const DRONES: u32 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Pack)]
pub(crate) enum Mode {
    Charging,
    Flying,
    Hovering,
    Returning,
}

/// Generous limits, as in a first version.
#[derive(Clone, Debug, Pack)]
pub(crate) struct FirstDrone {
    #[pack(range = -20_000.0..=20_000.0, precision = 0.001)]
    // metres from the base: east, north, up
    position: [f64; 3],
    #[pack(range = -100.0..=100.0, precision = 0.001, velocity = position)] // metres a second
    velocity: [f64; 3],
    #[pack(rotation, bits = 12)]
    rotation: [f32; 4],
    battery: f32, // 0 to 1
    mode: Mode,
}

/// The struct after `analyze`.
#[derive(Clone, Debug, Pack)]
pub(crate) struct Drone {
    #[pack(range = [-4000.0..=4000.0, -4000.0..=4000.0, 0.0..=250.0], precision = 0.01)]
    // metres from the base: east, north, up
    position: [f64; 3],
    #[pack(rotation, bits = 9)]
    rotation: [f32; 4],
    #[pack(range = 0.0..=1.0, precision = 0.01)]
    battery: f32,
    pub(crate) mode: Mode,
}

/// A drone, with state that the final struct does not have.
struct Pilot {
    drone: Drone,
    velocity: [f64; 3],
    wind: [f64; 3],
    pad: [f64; 3],
    goal: [f64; 3],
    yaw: f64,
    wait_s: f64,
}

pub(crate) struct World {
    random: Random,
    pilots: Vec<Pilot>,
}

impl Pilot {
    /// A drone on its pad, in rows of eight.
    fn new(id: u32, random: &mut Random) -> Self {
        let pad = [6.0 * f64::from(id % 8), 6.0 * f64::from(id / 8), 0.0];
        let battery = random.within(0.3, 1.0);
        let drone =
            Drone { position: pad, rotation: [0.0, 0.0, 0.0, 1.0], battery, mode: Mode::Charging };
        let wait_s = random.within(0.0, 60.0).into();
        Self { drone, velocity: [0.0; 3], wind: [0.0; 3], pad, goal: pad, yaw: 0.0, wait_s }
    }

    fn step(&mut self, random: &mut Random) {
        let Drone { position, rotation, battery, mode } = &mut self.drone;
        self.wait_s = (self.wait_s - TICK_S).max(0.0);
        let is_there = position.iter().zip(self.goal).all(|(at, goal)| (goal - at).abs() < 0.5);
        match mode {
            Mode::Charging => {
                *battery = (*battery + 0.0005).min(1.0);
                if self.wait_s > 0.0 {
                    return;
                }
                *mode = Mode::Hovering;
                self.goal[2] = random.within(20.0, 120.0).into();
            }
            Mode::Hovering if self.wait_s == 0.0 && is_there => {
                *mode = if *battery < 0.3 { Mode::Returning } else { Mode::Flying };
                let place = [0, 1].map(|_| f64::from(random.within(-2500.0, 2500.0)));
                let [x, y] =
                    if *mode == Mode::Returning { [self.pad[0], self.pad[1]] } else { place };
                self.goal = [x, y, self.goal[2]];
            }
            Mode::Flying if is_there => {
                (*mode, self.wait_s) = (Mode::Hovering, random.within(4.0, 12.0).into());
            }
            Mode::Returning if is_there && self.goal == self.pad => {
                (*mode, self.wait_s, self.velocity) = (Mode::Charging, 120.0, [0.0; 3]);
                *rotation = [0.0, 0.0, 0.0, 1.0];
                return;
            }
            Mode::Returning if is_there => self.goal = self.pad,
            _ => {}
        }
        *battery = (*battery - 0.000_02).max(0.0);
        // The controller wants a speed that falls with the distance. The motors accelerate by up to
        // 4 m/s² to reach it.
        let away: [f64; 3] = std::array::from_fn(|axis| self.goal[axis] - position[axis]);
        let length = away.iter().map(|part| part * part).sum::<f64>().sqrt();
        let speed = (0.6 * length).min(14.0);
        let mut thrust = [0.0, 0.0, 9.81];
        for axis in 0..3 {
            let wanted = away[axis] / length.max(0.01) * speed;
            let acceleration = (1.8 * (wanted - self.velocity[axis])).clamp(-4.0, 4.0);
            self.wind[axis] +=
                TICK_S * (f64::from(random.within(-6.0, 6.0)) - 0.4 * self.wind[axis]);
            self.velocity[axis] += (acceleration + self.wind[axis]) * TICK_S;
            position[axis] += self.velocity[axis] * TICK_S;
            thrust[axis] += acceleration;
        }
        position[2] = position[2].max(0.0);
        // The nose turns to the direction of flight, at most half a turn in four seconds. The drone
        // leans to accelerate.
        if length > 5.0 {
            let turn = (away[1].atan2(away[0]) - self.yaw + std::f64::consts::PI)
                .rem_euclid(std::f64::consts::TAU)
                - std::f64::consts::PI;
            self.yaw += turn.clamp(-0.8, 0.8) * TICK_S;
        }
        let lean = thrust[0].hypot(thrust[1]);
        let axis =
            if lean > 1e-9 { [-thrust[1] / lean, thrust[0] / lean, 0.0] } else { [1.0, 0.0, 0.0] };
        let lean = quaternion::around(axis.map(|part| part as f32), lean.atan2(thrust[2]) as f32);
        *rotation = quaternion::product(lean, quaternion::around([0.0, 0.0, 1.0], self.yaw as f32));
    }
}

impl World {
    /// A swarm of which half has been in the air for a while.
    pub(crate) fn new() -> Self {
        let mut random = Random::new(11);
        let mut pilots: Vec<_> = (0..DRONES).map(|id| Pilot::new(id, &mut random)).collect();
        for _ in 0..180 * RATE_HZ {
            pilots.iter_mut().step_by(2).for_each(|pilot| pilot.step(&mut random));
        }
        Self { random, pilots }
    }

    pub(crate) fn step(&mut self) {
        self.pilots.iter_mut().for_each(|pilot| pilot.step(&mut self.random));
    }

    /// The drones, in the order of the ids.
    pub(crate) fn states(&self) -> impl Iterator<Item = common::State<FirstDrone, Drone>> {
        (0..).zip(&self.pilots).map(|(id, pilot)| {
            let Drone { position, rotation, battery, mode } = pilot.drone;
            let first = FirstDrone { position, velocity: pilot.velocity, rotation, battery, mode };
            (EntityId(id), first, pilot.drone.clone())
        })
    }
}

/// Records `seconds` seconds.
pub(crate) fn record(path: &Path, seconds: u32) -> Result<RecordSummary, RecordError> {
    let mut world = World::new();
    common::record(path, "drones", RATE_HZ, seconds, || {
        world.step();
        world.states().collect()
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    common::run(record)
}
