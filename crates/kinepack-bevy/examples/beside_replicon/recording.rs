//! The motion of 901 cubes: a player's cube rolls through 900 others, on rapier3d. It is recorded
//! before, so that the measurements have no physics in them.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use bevy_math::Quat;
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
    pub(crate) fn new(ticks: usize) -> Result<Self, ConfigError> {
        let mut cubes = Cubes::new(&Config { cubes: 900 })?;
        let mut script = Script::new(Style::Typical, 1);
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

    /// The share of cubes that move in a tick, on average.
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

/// Plays the recording. Cubes that rest are not touched.
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
