//! A small game for the tests: balls that fly, rest, are added and removed, with hits and goals as
//! events.

#![allow(dead_code, clippy::unwrap_used)]

use std::io::Cursor;
use std::time::Duration;

use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::EventKinds;
use kinepack_replay::{ReplayOptions, ReplayReader, ReplayWriter};

#[derive(Pack, Debug, PartialEq)]
pub(crate) struct Ball {
    #[pack(range = -64.0..64.0, precision = 0.01)]
    pub(crate) position: [f32; 3],
    pub(crate) lit: bool,
}

#[derive(Pack, Debug, PartialEq)]
pub(crate) struct Hit {
    #[pack(max = 100)]
    pub(crate) damage: u8,
}

#[derive(Pack, Debug, PartialEq)]
pub(crate) struct Goal {
    #[pack(max = 1)]
    pub(crate) team: u8,
}

pub(crate) const RATE_HZ: f64 = 60.0;

fn codec_of(schema: Schema, level: Level) -> Codec {
    let profile = Profile::untrained(&schema);
    Codec::new(schema, level, profile).unwrap()
}

pub(crate) fn codec(level: Level) -> Codec {
    codec_of(Schema::of::<Ball>(), level)
}

pub(crate) fn events() -> EventKinds {
    let kinds = Schema::builder().kind::<Hit>("hit").kind::<Goal>("goal").build().unwrap();
    EventKinds::new(&codec_of(kinds, Level::ADAPTIVE))
}

/// Returns options for groups of half a second, with events. Every second group is a key group.
pub(crate) fn options() -> ReplayOptions {
    ReplayOptions {
        group: Duration::from_millis(500),
        key_every: 2,
        events: Some(events()),
        ..ReplayOptions::at_hz(RATE_HZ)
    }
}

/// Returns the world at a tick.
pub(crate) fn world(tick: u32) -> Snapshot {
    let mut world = Snapshot::new(&Schema::of::<Ball>(), Tick(tick));
    let time = tick as f32 / 60.0;
    for id in 0..6 {
        // The sixth ball exists only in odd seconds.
        if id == 5 && (tick / 60).is_multiple_of(2) {
            continue;
        }
        let phase = time * (1.0 + id as f32);
        let position = match id {
            0 => [3.0, 4.0, 0.5],
            _ => [40.0 * phase.sin(), 40.0 * phase.cos(), (3.0 * time) % 20.0],
        };
        let ball = Ball { position, lit: (tick / 30 + id).is_multiple_of(4) };
        world.push(EntityId(id), &ball).unwrap();
    }
    world
}

/// Returns the ticks of a match; three of every hundred are missing.
pub(crate) fn ticks(count: u32) -> impl Iterator<Item = u32> {
    (1_000..1_000 + count).filter(|tick| tick % 100 >= 3)
}

/// Returns the damage of the hit at a tick, if there is one.
pub(crate) fn hit(tick: u32) -> Option<u8> {
    tick.is_multiple_of(7).then_some((tick % 100) as u8)
}

/// Makes a replay of `count` ticks.
pub(crate) fn replay(level: Level, count: u32) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = ReplayWriter::to_writer(&mut file, &codec(level), &options()).unwrap();
    writer.note("map", "harbour").unwrap();
    for tick in ticks(count) {
        if let Some(damage) = hit(tick) {
            writer.emit(&Goal { team: 1 }).unwrap();
            writer.emit(&Hit { damage }).unwrap();
        }
        if tick % 200 == 50 {
            writer.mark(Tick(tick), &format!("moment {tick}")).unwrap();
        }
        writer.write(&world(tick)).unwrap();
    }
    let summary = writer.finish().unwrap();
    assert_eq!(summary.frames, ticks(count).count() as u64);
    assert_eq!(summary.bytes, file.len() as u64);
    file
}

pub(crate) fn open(file: &[u8]) -> ReplayReader {
    ReplayReader::from_reader(Cursor::new(file.to_vec())).unwrap()
}

/// Returns the ticks of all frames that can be read, in order.
pub(crate) fn frames(replay: &mut ReplayReader) -> Vec<u32> {
    let mut found = Vec::new();
    let mut next = replay.ticks().unwrap().map(|(first, _)| first);
    while let Some(tick) = next {
        assert_eq!(*replay.frame_at(tick).unwrap().unwrap(), world(tick.0), "tick {}", tick.0);
        found.push(tick.0);
        next = replay.frame_after(tick).unwrap().map(|frame| frame.tick);
    }
    found
}
