//! The motion of two worlds. It is recorded in advance, so that the measurements do not include
//! physics.

use std::f32::consts::TAU;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_transform::components::Transform;
use cubes::{Config, ConfigError, Script, Style, World as Cubes};

pub(crate) const TICK_HZ: u32 = cubes::TICK_HZ;

/// The transforms of all cubes in each tick.
#[derive(Resource, Clone)]
pub(crate) struct Recording {
    pub(crate) ticks: Arc<Vec<Vec<Transform>>>,
    next: usize,
}

/// A component with the number of a cube in the recording.
pub(crate) trait Numbered: Component {
    fn new(number: u32) -> Self;

    fn number(&self) -> u32;
}

impl Recording {
    /// Returns a recording of a player's cube that rolls through 900 others, on rapier3d. Most
    /// cubes rest most of the time.
    pub(crate) fn cubes(ticks: u32, seed: u64) -> Result<Self, ConfigError> {
        let mut cubes = Cubes::new(&Config { cubes: 900 })?;
        let mut script = Script::new(Style::Typical, seed);
        let record = |_| {
            let input = script.next_input(&cubes);
            cubes.step(input);
            let transform = |(_, body): (u32, cubes::Body)| {
                Transform::from_translation(body.position.into())
                    .with_rotation(Quat::from_array(body.orientation))
            };
            cubes.bodies().map(transform).collect()
        };
        Ok(Self { ticks: Arc::new((0..ticks).map(record).collect()), next: 0 })
    }

    /// Returns a recording of 901 drones that fly on different curves all the time, at up to 20
    /// m/s, and bank into them.
    pub(crate) fn drones(ticks: u32, seed: u64) -> Self {
        let drone = |number: u64, seconds: f32| {
            // The curve has three frequencies and three phases, spread evenly by the golden ratio.
            let part = |axis: u64| {
                let spread = ((number * 3 + axis) as f32 + 1_000.0 * seed as f32) * 0.618_034;
                (0.2 + 0.3 * spread.fract(), TAU * (7.0 * spread).fract())
            };
            let at = |seconds: f32| {
                let parts = [0, 1, 2].map(part);
                let wave = parts.map(|(frequency, phase)| (frequency * seconds + phase).sin());
                Vec3::from_array(wave) * Vec3::new(60.0, 60.0, 10.0)
            };
            let [before, now, after] = [-0.05, 0.0, 0.05].map(|step| at(seconds + step));
            let forward = (after - before).normalize_or(Vec3::X);
            let up = (Vec3::Z * 9.81 + (after + before - 2.0 * now) / 0.05f32.powi(2)).normalize();
            Transform::from_translation(now).looking_to(forward, up)
        };
        let record = |tick| {
            let seconds = tick as f32 / TICK_HZ as f32;
            (0..901).map(|number| drone(number, seconds)).collect()
        };
        Self { ticks: Arc::new((0..ticks).map(record).collect()), next: 0 }
    }

    /// Returns the share of cubes that move in a tick, on average.
    pub(crate) fn moving_ratio(&self) -> f64 {
        let pairs = self.ticks.windows(2);
        let moving = pairs.map(|pair| pair[0].iter().zip(&pair[1]).filter(|(a, b)| a != b).count());
        moving.sum::<usize>() as f64 / (self.ticks.len() * self.ticks[0].len()) as f64
    }
}

pub(crate) fn spawn_cubes<C: Numbered>(mut commands: Commands, recording: Res<Recording>) {
    for (number, transform) in recording.ticks[0].iter().enumerate() {
        commands.spawn((C::new(number as u32), *transform));
    }
}

/// Plays the recording. Leaves cubes that rest unchanged.
pub(crate) fn move_cubes<C: Numbered>(
    mut cubes: Query<(&C, &mut Transform)>,
    mut recording: ResMut<Recording>,
) {
    let Recording { ticks, next } = &mut *recording;
    let Some(transforms) = ticks.get(*next) else { return };
    for (cube, mut transform) in &mut cubes {
        transform.set_if_neq(transforms[cube.number() as usize]);
    }
    *next += 1;
}
