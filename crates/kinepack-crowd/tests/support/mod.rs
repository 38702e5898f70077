//! A world of balls, in five tiers.

#![allow(dead_code, unreachable_pub, unused_imports, reason = "each test uses a part")]

mod pipe;

use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_crowd::{Carry, Catalogue, Tier};
pub use pipe::{Pipe, Random, TICK_HZ, at, show};

#[derive(Clone, Copy, Debug, PartialEq, Pack)]
pub struct Ball {
    #[pack(range = -64.0..64.0, precision = 0.01)]
    pub position: [f32; 3],
    pub lit: bool,
}

pub fn codec(level: Level) -> Codec {
    let schema = Schema::of::<Ball>();
    let profile = Profile::untrained(&schema);
    Codec::new(schema, level, profile).unwrap()
}

/// Returns the world at a tick. Balls move along squares, and some are removed and added again.
pub fn world(tick: u32, balls: u32) -> Snapshot {
    let mut world = Snapshot::new(&Schema::of::<Ball>(), Tick(tick));
    for id in 0..balls {
        let is_away = id % 7 == 3 && (tick / 40 + id).is_multiple_of(3);
        if is_away {
            continue;
        }
        // The ball moves back and forth, computed without functions that differ between platforms.
        let far = 1.0 + (id % 100) as f32 * 0.5;
        let swing = |ticks: u32| ((ticks % 400) as f32 / 100.0 - 2.0).abs() - 1.0;
        let ticks = if id % 4 == 0 { id } else { (1 + id % 5) * tick };
        let position = [far * swing(ticks), far * swing(ticks + 100), (tick % 30) as f32 * 0.1];
        world
            .push(EntityId(id), &Ball { position, lit: (tick / 9 + id).is_multiple_of(5) })
            .unwrap();
    }
    world
}

/// Makes the tiers: every snapshot in groups, every third one, the right half of the world,
/// snapshots in datagrams, and two snapshots in each object.
pub fn catalogue(level: Level) -> Catalogue {
    let codec = codec(level);
    let new = |name| Tier::new(name, &codec, 60);
    let full = new("full");
    let third = Tier { ticks_per_frame: 3, ..new("third") };
    let right = new("right");
    let fast = Tier { carry: Carry::Datagrams, ..Tier::new("fast", &codec, 30) };
    let pairs = Tier { frames_per_object: 2, ..new("pairs") };
    Catalogue::new(60, vec![full, third, right, fast, pairs]).unwrap()
}

pub const FULL: usize = 0;
pub const THIRD: usize = 1;
pub const RIGHT: usize = 2;
pub const FAST: usize = 3;
pub const PAIRS: usize = 4;

/// Returns whether a ball is on the right.
pub fn is_right(world: &Snapshot, index: usize) -> bool {
    world.get_at_index::<Ball>(index).unwrap().position[0] > 0.0
}
