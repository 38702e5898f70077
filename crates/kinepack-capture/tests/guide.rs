//! Tests of the guide's games: their recordings read back, no value is clamped, and what the guide
//! leads to takes fewer bits than the first struct.

#![allow(clippy::duplicate_mod, reason = "each game is a separate program with common parts")]

use std::collections::VecDeque;
use std::error::Error;
use std::path::Path;

use kinepack::{Codec, Encoder, Level, Profile, Schema, Snapshot, View};
use kinepack_anim::measure::{ErrorOptions, pose_distance_cm};
use kinepack_capture::{Capture, RecordSummary};

#[path = "../examples/avatar/main.rs"]
#[expect(dead_code, reason = "the program around the game is not tested")]
mod avatar;
#[path = "../examples/drones/main.rs"]
#[expect(dead_code, reason = "the program around the game is not tested")]
mod drones;
#[path = "../examples/shooter/main.rs"]
#[expect(dead_code, reason = "the program around the game is not tested")]
mod shooter;

/// The result of a recording.
type Recorded = Result<RecordSummary, Box<dyn Error>>;

/// The number of frames from a baseline to the frame coded against it.
const LAG: usize = 6;

/// The contents of a stream that was read.
#[derive(Default)]
struct Read {
    frames: u32,
    fewest: usize,
    most: usize,
    /// The number of bytes of all packets, each frame coded against the one [`LAG`] before.
    bytes: usize,
    last: Option<Snapshot>,
}

/// Records `seconds` seconds, and reads the streams of the first struct and of the struct after the
/// analysis.
fn play(name: &str, seconds: u32, record: fn(&Path, u32) -> Recorded) -> [Read; 2] {
    let directory = tempfile::tempdir().unwrap();
    let [path, again] = ["game.mcap", "again.mcap"].map(|file| directory.path().join(file));
    let summary = record(&path, seconds).unwrap();
    record(&again, seconds).unwrap();
    assert!(
        std::fs::read(&path).unwrap() == std::fs::read(again).unwrap(),
        "a game plays the same on every run"
    );
    let read = [format!("{name}-first"), name.to_owned()].map(|stream| read(&path, &stream));
    assert_eq!(u64::from(read[0].frames + read[1].frames), summary.frames);
    let [first, after] = [read[0].bytes, read[1].bytes];
    assert!(
        3 * after < 2 * first,
        "the struct after the analysis takes at most two thirds: {after} and {first} bytes"
    );
    read
}

fn read(path: &Path, stream: &str) -> Read {
    let mut capture = Capture::open(path).unwrap();
    let (mut read, mut past) = (Read { fewest: usize::MAX, ..Read::default() }, VecDeque::new());
    let (mut codec, mut packet) = (None, Vec::new());
    while let Some((_, frame)) = capture.next_frame().unwrap() {
        if frame.stream().name() != stream {
            continue;
        }
        let schema = frame.stream().schema();
        let codec = codec.get_or_insert_with(|| packed(schema));
        let mut snapshot = Snapshot::new(schema, frame.tick());
        assert_eq!(
            frame.push_into(&mut snapshot).unwrap(),
            0,
            "{stream}: no value is out of range"
        );
        (read.frames, read.fewest) = (read.frames + 1, read.fewest.min(snapshot.len()));
        read.most = read.most.max(snapshot.len());
        past.push_back(View::from(snapshot.clone()));
        if past.len() > LAG {
            packet.clear();
            Encoder::new(codec).encode(&past.pop_front().unwrap(), &snapshot, &mut packet).unwrap();
            read.bytes += packet.len();
        }
        read.last = Some(snapshot);
    }
    assert!(capture.damage().is_empty());
    read
}

fn packed(schema: &Schema) -> Codec {
    Codec::new(schema.clone(), Level::PACKED, Profile::untrained(schema)).unwrap()
}

#[test]
fn the_shooter() {
    let [first, after] = play("things", 4, shooter::record);
    let fixed = (shooter::PLAYERS + shooter::PICKUPS) as usize;
    assert_eq!([first.frames, after.frames], [240; 2]);
    assert_eq!([first.fewest, first.most], [after.fewest, after.most]);
    assert!(after.fewest >= fixed, "players and pickups are always there");
    assert!(after.most > fixed, "somebody shoots");
    let last = after.last.unwrap();
    let of = |kind| {
        last.iter::<shooter::Thing>().unwrap().filter(|(_, thing)| thing.kind == kind).count()
    };
    let found = [of(shooter::Kind::Player), of(shooter::Kind::Pickup), of(shooter::Kind::Bullet)];
    assert_eq!(found, [shooter::PLAYERS as usize, shooter::PICKUPS as usize, last.len() - fixed]);
}

#[test]
fn the_drones() {
    let [first, after] = play("drones", 4, drones::record);
    let all = drones::DRONES as usize;
    assert_eq!([first.frames, after.frames], [120; 2]);
    assert_eq!([first.fewest, first.most, after.fewest, after.most], [all; 4]);
    let last = after.last.unwrap();
    let modes: Vec<_> =
        last.iter::<drones::Drone>().unwrap().map(|(_, drone)| drone.mode).collect();
    assert!(modes.contains(&drones::Mode::Charging) && modes.contains(&drones::Mode::Flying));
}

#[test]
fn the_avatars() {
    let [first, after] = play("avatars", 2, avatar::record);
    let all = avatar::AVATARS as usize;
    assert_eq!([first.frames, after.frames], [120; 2]);
    assert_eq!([first.fewest, first.most, after.fewest, after.most], [all; 4]);

    // The recorded bodies are as far off as the figure promises, and no farther.
    let (mut body, last) = (avatar::body().unwrap(), after.last.unwrap());
    let skeleton = avatar::skeleton::skeleton().unwrap();
    let mut world = avatar::world::World::new();
    (0..after.frames).for_each(|_| world.step());
    let mut shown = skeleton.bind_pose();
    let mut errors_cm = Vec::new();
    for (index, (id, pose)) in world.poses().enumerate() {
        assert_eq!(last.ids()[index], id);
        body.write((&last, index), &mut shown[..]);
        errors_cm.push(pose_distance_cm(&skeleton, &pose, &shown, &ErrorOptions::default()));
    }
    assert!(errors_cm.iter().all(|error_cm| *error_cm <= avatar::PRECISION_CM), "{errors_cm:?}");
    assert!(errors_cm.iter().any(|error_cm| *error_cm > 0.1 * avatar::PRECISION_CM));
}
