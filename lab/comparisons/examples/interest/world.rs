//! A square world in which walkers turn now and then.

use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};

use super::{Arguments, Outcome};

/// What is known of a walker.
#[derive(Pack, Clone, Copy)]
pub(crate) struct Walker {
    #[pack(range = -8192.0..8192.0, precision = 0.015625)]
    pub(crate) position: [f32; 2],
    #[pack(range = -512.0..512.0, precision = 0.015625)]
    pub(crate) height: f32,
    #[pack(range = 0.0..360.0, bits = 8, wrap)]
    pub(crate) heading_degrees: f32,
    #[pack(max = 100)]
    pub(crate) health: u8,
    pub(crate) action: u8,
}

/// A world in which walkers turn now and then.
pub(crate) struct World {
    pub(crate) walkers: Vec<Walker>,
    pub(crate) walking: usize,
    edge_m: f32,
    pub(crate) hz: u32,
    state: u64,
}

impl World {
    pub(crate) fn new(arguments: &Arguments) -> Self {
        let half = arguments.edge_m / 2.0;
        let mut world = Self {
            walkers: Vec::new(),
            walking: (arguments.entities as f32 * arguments.walking) as usize,
            edge_m: arguments.edge_m,
            hz: arguments.hz,
            state: 1,
        };
        for _ in 0..arguments.entities {
            let [x, y, heading] = [(); 3].map(|()| world.random());
            world.walkers.push(Walker {
                position: [(x * 2.0 - 1.0) * half, (y * 2.0 - 1.0) * half],
                height: 0.0,
                heading_degrees: heading * 360.0,
                health: 100,
                action: 0,
            });
        }
        world
    }

    /// A number from 0 to 1.
    fn random(&mut self) -> f32 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.state >> 40) as f32 / (1 << 24) as f32
    }

    pub(crate) fn step(&mut self) {
        let half = self.edge_m / 2.0;
        for index in 0..self.walking {
            let turn = self.random();
            let walker = &mut self.walkers[index];
            if turn < 0.02 {
                let turned = walker.heading_degrees + turn * 6_000.0 - 60.0;
                walker.heading_degrees = turned.rem_euclid(360.0);
                walker.action = walker.action.wrapping_add(1);
            }
            let (sin, cos) = walker.heading_degrees.to_radians().sin_cos();
            for (along, speed) in walker.position.iter_mut().zip([cos, sin]) {
                *along = (*along + speed * 5.0 / self.hz as f32).clamp(-half, half);
            }
            walker.height =
                (walker.position[0] / 40.0).sin() * (walker.position[1] / 40.0).cos() * 8.0;
        }
    }

    /// The state of the world, with walkers as states of the type `T`.
    pub(crate) fn snapshot<T: Pack + From<Walker>>(
        &self,
        schema: &Schema,
        tick: u32,
    ) -> Outcome<Snapshot> {
        let mut snapshot = Snapshot::new(schema, Tick(tick));
        snapshot.extend((0..).map(EntityId).zip(self.walkers.iter().copied().map(T::from)))?;
        Ok(snapshot)
    }
}
