//! Simulates a crowd of objects that walk about on a plane. It is used if a world is too large, or
//! a run too long, for the physics engine.

use cube_data::cube::Measured;
use kinepack::EntityId;

use crate::states::States;

/// Half of the plane's width.
const HALF_M: f32 = 200.0;
const TICK_S: f32 = 1.0 / cubes::TICK_HZ as f32;
/// The height of every object, above the floor at 0.
const HEIGHT_M: f32 = 1.0;

/// A crowd of walking and resting objects.
pub struct Crowd {
    walkers: Vec<Walker>,
    resting: Vec<Measured>,
    random: u64,
}

struct Walker {
    position: [f32; 2],
    heading_rad: f32,
    turn_rad_per_s: f32,
    speed_m_per_s: f32,
}

impl Crowd {
    pub fn new(objects: u32, moving: u32, seed: u64) -> Self {
        let mut crowd = Self {
            walkers: Vec::new(),
            resting: Vec::new(),
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        };
        for object in 0..objects {
            let place = [crowd.unit() * HALF_M, crowd.unit() * HALF_M];
            // Walkers are spread evenly over the ids.
            let walks = u64::from(object) * u64::from(moving) / u64::from(objects)
                != u64::from(object + 1) * u64::from(moving) / u64::from(objects);
            let heading_rad = crowd.unit() * std::f32::consts::PI;
            let speed_m_per_s = if walks { 1.5 + crowd.unit() } else { 0.0 };
            crowd.walkers.push(Walker {
                position: place,
                heading_rad,
                turn_rad_per_s: 0.0,
                speed_m_per_s,
            });
        }
        crowd.resting = crowd.walkers.iter().map(Walker::state).collect();
        crowd
    }

    pub fn len(&self) -> usize {
        self.walkers.len()
    }

    /// Writes the current state into `states`, then steps the crowd.
    pub fn next_frame(&mut self, states: &mut States) {
        for index in 0..self.walkers.len() {
            let id = EntityId(index as u32);
            if self.walkers[index].speed_m_per_s == 0.0 {
                states.push(id, self.resting[index]);
                continue;
            }
            states.push(id, self.walkers[index].state());
            // Walkers change direction from time to time.
            if self.unit() > 0.96 {
                self.walkers[index].turn_rad_per_s = self.unit() * 2.0;
            }
            self.walkers[index].step();
        }
    }

    /// Returns a random number from −1 to 1 (xorshift64*).
    fn unit(&mut self) -> f32 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        let high = self.random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40;
        high as f32 / (1u64 << 23) as f32 - 1.0
    }
}

impl Walker {
    fn step(&mut self) {
        self.heading_rad += self.turn_rad_per_s * TICK_S;
        let step = [self.heading_rad.cos(), self.heading_rad.sin()]
            .map(|axis| axis * self.speed_m_per_s * TICK_S);
        for (axis, step) in self.position.iter_mut().zip(step) {
            // A walker at the edge turns around.
            if (*axis + step).abs() > HALF_M {
                self.heading_rad += std::f32::consts::PI;
                return;
            }
            *axis += step;
        }
    }

    fn state(&self) -> Measured {
        let half = self.heading_rad / 2.0;
        let velocity = [self.heading_rad.cos(), self.heading_rad.sin(), 0.0]
            .map(|axis| axis * self.speed_m_per_s);
        Measured {
            position: [self.position[0], self.position[1], HEIGHT_M],
            orientation: [0.0, 0.0, half.sin(), half.cos()],
            velocity,
            interacting: self.speed_m_per_s != 0.0,
        }
    }
}
