//! Tests of streams of several kinds of entities: they are recorded, read back, and refused if they
//! are invalid.

use std::io::Cursor;

use kinepack::{EncodeError, EntityId, Pack, Schema, Snapshot, Tick};
use kinepack_capture::{Capture, CaptureError, RecordError, Recorder, component_names};

use crate::driver::{self, file, kinds_json, kinds_message};
use crate::files::{Ship, Sink, read_all, ship};

#[derive(Clone, Debug, PartialEq, Pack)]
struct Torpedo {
    #[pack(spawn)]
    launcher: u16,
    #[pack(range = -512.0..=512.0, precision = 0.5)]
    depth: f32,
}

fn schema() -> Schema {
    Schema::builder().kind::<Ship>("ship").kind::<Torpedo>("torpedo").build().unwrap()
}

fn torpedo(tick: u32, id: u32) -> Torpedo {
    Torpedo { launcher: (id * 7) as u16, depth: (tick + id) as f32 * 0.5 }
}

/// Returns the ids of a frame: even ids of ships and odd ids of torpedoes, both sometimes missing.
fn ids(tick: u32) -> (Vec<u32>, Vec<u32>) {
    ((0..tick % 5).map(|n| 2 * (n + tick)).collect(), (0..tick % 3).map(|n| 2 * n + 1).collect())
}

fn world(tick: u32) -> Snapshot {
    let mut world = Snapshot::new(&schema(), Tick(tick));
    let (ships, torpedoes) = ids(tick);
    ships.iter().for_each(|id| world.push(EntityId(*id), &ship(tick, *id)).unwrap());
    torpedoes.iter().for_each(|id| world.push(EntityId(*id), &torpedo(tick, *id)).unwrap());
    world
}

/// Records two streams of the same states: one before quantization, pushed in turns, and one after
/// it.
fn record(ticks: u32) -> Vec<u8> {
    let sink = Sink::default();
    let mut recorder = Recorder::to_writer("kinds", sink.clone()).unwrap();
    let raw = recorder.stream_of_kinds("raw", &schema(), 60.0).unwrap();
    let lanes = recorder.stream_of_lanes("lanes", &schema(), 60.0).unwrap();
    for tick in 0..ticks {
        let (ships, torpedoes) = ids(tick);
        let mut frame = recorder.frame(&raw, Tick(tick)).unwrap();
        for n in 0..ships.len().max(torpedoes.len()) {
            if let Some(id) = torpedoes.get(n) {
                frame.push(EntityId(*id), &torpedo(tick, *id)).unwrap();
            }
            if let Some(id) = ships.get(n) {
                frame.push(EntityId(*id), &ship(tick, *id)).unwrap();
            }
        }
        frame.finish().unwrap();
        recorder.record_snapshot(&lanes, &world(tick)).unwrap();
    }
    recorder.finish().unwrap();
    sink.bytes()
}

#[test]
fn kinds_read_back_before_and_after_quantization() {
    let mut capture = Capture::from_reader("kinds", Cursor::new(record(60))).unwrap();
    for tick in 0..60 {
        let expected = world(tick);
        for stream in 0..2 {
            let (index, frame) = capture.next_frame().unwrap().unwrap();
            assert_eq!((index, frame.tick()), (stream, Tick(tick)));
            let (ships, torpedoes) = ids(tick);
            assert!(frame.ids_of(0).iter().map(|id| id.0).eq(ships.iter().copied()));
            assert!(frame.ids_of(1).iter().map(|id| id.0).eq(torpedoes.iter().copied()));
            assert_eq!((frame.ids_of(2), frame.ids()), (&[][..], expected.ids()));
            let mut snapshot = Snapshot::new(frame.stream().schema(), frame.tick());
            assert_eq!(frame.push_into(&mut snapshot).unwrap(), 0);
            assert!(snapshot == expected);
            let rows: Vec<_> = frame.components().collect();
            for ((id, row), torpedo_id) in rows[ships.len()..].iter().zip(&torpedoes) {
                let Torpedo { launcher, depth } = torpedo(tick, *torpedo_id);
                assert_eq!((id.0, &row[..]), (*torpedo_id, &[launcher.into(), depth.into()][..]));
            }
        }
    }
    assert!(capture.next_frame().unwrap().is_none() && capture.damage().is_empty());
    for stream in capture.streams() {
        assert_eq!(stream.schema(), &schema());
        assert!(stream.schema().fields().iter().any(|field| field.is_spawn));
        assert_eq!(component_names(stream.schema_of(1)), ["launcher", "depth"]);
    }
}

#[test]
fn a_file_of_kinds_that_ends_early_is_read_to_there() {
    let whole = record(12);
    let (frames, damage) = read_all(&whole);
    assert_eq!((frames.len(), damage), (24, None));
    for end in 8..whole.len() {
        let (part, damage) = read_all(&whole[..end]);
        assert!(part == frames[..part.len()] && damage.is_some(), "at {end}");
        driver::read(&whole[..end]);
    }
}

#[test]
fn invalid_frames_of_kinds_are_refused_and_the_recording_continues() {
    #[derive(Pack)]
    struct Buoy {
        lit: bool,
    }
    let sink = Sink::default();
    let mut recorder = Recorder::to_writer("kinds", sink.clone()).unwrap();
    let stream = recorder.stream_of_kinds("raw", &schema(), 60.0).unwrap();
    let mut frame = recorder.frame(&stream, Tick(4)).unwrap();
    frame.push(EntityId(7), &ship(4, 7)).unwrap();
    let refused = frame.push(EntityId(7), &ship(4, 7));
    assert!(matches!(refused, Err(RecordError::IdsNotIncreasing { id: 7, .. })));
    let refused = frame.push(EntityId(8), &Buoy { lit: true });
    let Err(RecordError::BadState { source: EncodeError::TypeMismatch { .. }, .. }) = refused
    else {
        panic!("{refused:?}")
    };
    frame.push(EntityId(7), &torpedo(4, 7)).unwrap();
    assert!(matches!(frame.finish(), Err(RecordError::SharedId { id: 7, .. })));
    // A dropped frame is not recorded, so its tick can be recorded later.
    let mut frame = recorder.frame(&stream, Tick(4)).unwrap();
    frame.push(EntityId(1), &ship(4, 1)).unwrap();
    drop(frame);
    let mut frame = recorder.frame(&stream, Tick(4)).unwrap();
    frame.push(EntityId(2), &torpedo(4, 2)).unwrap();
    frame.finish().unwrap();
    assert!(matches!(
        recorder.frame(&stream, Tick(4)),
        Err(RecordError::TicksNotIncreasing { last: 4, .. })
    ));
    assert_eq!(recorder.finish().unwrap().entities, 1);
    assert_eq!(read_all(&sink.bytes()), (vec![(0, 4, 1)], None));
}

#[test]
fn messages_of_kinds_are_checked() {
    let read = |message: &[u8]| {
        let bytes = file("kinepack-lanes", kinds_json().as_bytes(), &[message]);
        read_all(&bytes)
    };
    let valid = kinds_message();
    // The file has no end record, which is reported as damage after the frame.
    assert_eq!(read(&valid).0, [(0, 0, 6)]);
    let with = |at: usize, byte: u8| {
        let mut message = valid.clone();
        message[at] = byte;
        read(&message)
    };
    for (at, byte, reason) in [
        (6, 5, "two kinds"),  // a lamp has the id of the wall
        (15, 9, "two kinds"), // the wall has the id of a box
        (5, 9, "not above"),  // lamps
        (9, 2, "above"),      // a flag of 2
        (10, 2, ""),          // more walls than ids
    ] {
        let (frames, damage) = with(at, byte);
        assert!(frames.is_empty(), "byte {at} as {byte}");
        let damage = damage.unwrap();
        assert!(damage.contains(reason), "byte {at} as {byte}: {damage}");
    }
    assert!(read(&valid[..valid.len() - 1]).0.is_empty(), "too short");
    assert!(read(&[&valid[..], &[0]].concat()).0.is_empty(), "too long");
}

#[test]
fn a_document_of_kinds_must_be_consistent() {
    let streams = |json: &str| {
        let bytes = file("kinepack-lanes", json.as_bytes(), &[&kinds_message()]);
        read_all(&bytes).0.len()
    };
    let json = kinds_json();
    assert_eq!(streams(&json), 1);
    for (part, other) in [
        (r#""version":2"#, r#""version":1"#),
        (r#""version":2"#, r#""version":3"#),
        (r#""wall","fields":0"#, r#""wall","fields":1"#),
        (r#""box","fields":2"#, r#""box","fields":1"#),
        (r#""box""#, r#""lamp""#),
        (r#""box""#, r#""""#),
        (r#","spawn":true"#, ""),
        (r#""box""#, r#""crate""#),
    ] {
        assert!(json.contains(part));
        assert_eq!(streams(&json.replace(part, other)), 0, "{part} as {other}");
    }
}

#[test]
fn a_snapshot_of_another_schema_is_refused() {
    let mut capture = Capture::from_reader("kinds", Cursor::new(record(3))).unwrap();
    capture.next_frame().unwrap();
    capture.next_frame().unwrap();
    let (_, frame) = capture.next_frame().unwrap().unwrap();
    let mut other = Snapshot::new(&Schema::of::<Ship>(), Tick(1));
    assert!(matches!(frame.push_into(&mut other), Err(CaptureError::BadState { .. })));
}

#[test]
fn a_spawn_field_that_changes_is_refused_by_name() {
    let sink = Sink::default();
    let mut recorder = Recorder::to_writer("kinds", sink.clone()).unwrap();
    let kinds = recorder.stream_of_kinds("raw", &schema(), 60.0).unwrap();
    let lanes = recorder.stream_of_lanes("lanes", &schema(), 60.0).unwrap();
    let alone = recorder.stream::<Torpedo>("torpedoes", 60.0).unwrap();
    let torpedoes = |launchers: &[(u32, u16)]| -> Vec<(EntityId, Torpedo)> {
        let torpedo = |(id, launcher): &(u32, u16)| {
            (EntityId(*id), Torpedo { launcher: *launcher, depth: 1.0 })
        };
        launchers.iter().map(torpedo).collect()
    };
    // The third of these frames is refused, because torpedo 5 has another launcher.
    let frames = [
        torpedoes(&[(3, 7), (5, 8)]),
        torpedoes(&[(2, 1), (5, 8), (6, 2)]),
        torpedoes(&[(2, 1), (5, 9), (6, 2)]),
        torpedoes(&[(2, 1)]),
        // After a frame without torpedo 5, that id may belong to a new torpedo.
        torpedoes(&[(2, 1), (5, 9)]),
    ];
    for (tick, frame) in (0..).zip(&frames) {
        let mut world = Snapshot::new(&schema(), Tick(tick));
        let mut pushed = recorder.frame(&kinds, Tick(tick)).unwrap();
        pushed.push(EntityId(4), &ship(tick, 4)).unwrap();
        world.push(EntityId(4), &ship(tick, 4)).unwrap();
        for (id, torpedo) in frame {
            pushed.push(*id, torpedo).unwrap();
            world.push(*id, torpedo).unwrap();
        }
        let results = [
            (pushed.finish(), "torpedo.launcher"),
            (recorder.record_snapshot(&lanes, &world), "torpedo.launcher"),
            (recorder.record(&alone, Tick(tick), frame.clone()), "launcher"),
        ];
        for (result, name) in results {
            match result {
                Ok(()) => assert_ne!(tick, 2),
                Err(RecordError::SpawnChanged { tick: 2, id: 5, field, .. }) => {
                    assert_eq!(field, name);
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert_eq!(recorder.finish().unwrap().frames, 12);
    assert_eq!(read_all(&sink.bytes()).0.len(), 12);
}
