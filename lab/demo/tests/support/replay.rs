//! Makes a short replay of moving boxes, for the tests of its page.

use std::path::PathBuf;

use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_replay::{ReplayOptions, ReplayWriter};
use tempfile::TempDir;

pub(crate) const TICKS: u32 = 180;
pub(crate) const BODIES: usize = 24;

#[derive(Pack)]
struct Crate {
    #[pack(range = -16.0..16.0, precision = 0.01)]
    position: [f32; 3],
    #[pack(rotation, bits = 9)]
    rotation: [f32; 4],
}

/// Returns a replay of boxes on a circle. It is three seconds long, and has a marker at tick 100.
pub(crate) fn replay() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("crates.kpz");
    let schema = Schema::of::<Crate>();
    let codec = Codec::new(schema.clone(), Level::LEARNING, Profile::untrained(&schema)).unwrap();
    let mut writer = ReplayWriter::create(&path, &codec, &ReplayOptions::at_hz(60.0)).unwrap();
    writer.mark(Tick(100), "goal").unwrap();
    let mut world = Snapshot::new(&schema, Tick(0));
    for tick in 1..=TICKS {
        world.clear(Tick(tick));
        for id in 0..BODIES as u32 {
            let turn = 0.023 * tick as f32 + 0.4 * id as f32;
            let position = [10.0 * turn.sin(), 10.0 * turn.cos(), 1.0];
            let rotation = [0.0, 0.0, (turn / 2.0).sin(), (turn / 2.0).cos()];
            world.push(EntityId(id), &Crate { position, rotation }).unwrap();
        }
        writer.write(&world).unwrap();
    }
    writer.finish().unwrap();
    (folder, path)
}
