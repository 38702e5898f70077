//! The simulation of the swarm: each drone chooses a goal, and flies there.

use super::common::Random;
use super::{DRONES, Drone, Mode, RATE_HZ, quaternion};

const TICK_S: f64 = 1.0 / RATE_HZ as f64;

/// A drone, with the part of its state that is not sent.
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
    /// Makes a drone on its pad; the pads are in rows of eight.
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
        // The controller requests a speed that falls with the distance. The motors accelerate by up
        // to 4 m/s² to reach that speed.
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
        // The nose turns to the direction of flight, by at most half a turn in four seconds. The
        // drone leans to accelerate.
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
    /// Makes a swarm. Half of the drones have already been in the air for a while.
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

    /// Returns the drones and their velocities, in the order of the ids.
    pub(crate) fn drones(&self) -> impl Iterator<Item = (&Drone, [f64; 3])> {
        self.pilots.iter().map(|pilot| (&pilot.drone, pilot.velocity))
    }
}
