//! Tests the conversion of challenge files to capture files and back, bit for bit.

use std::fs;
use std::io::{Cursor, Read};
use std::path::PathBuf;

use cube_data::cube::{self, Cube, Quantized};
use cube_data::{
    CapturedStates, Challenge, ConvertError, Converted, F32Frames, Frame, capture_to_challenge,
    challenge_to_capture,
};
use kinepack::{EntityId, Schema, Snapshot, Tick};
use kinepack_capture::{Capture, Recorder};

use crate::common::{self, Files, Header, OBJECTS, good_bin, good_f32, states, zst};
use crate::files::{self, Ship, Sink, ship};

fn to_capture(name: &str, file: Vec<u8>) -> Result<Vec<u8>, ConvertError> {
    let sink = Sink::default();
    let mut recorder = Recorder::to_writer("converted", sink.clone()).unwrap();
    let mut challenge = Challenge::from_reader(name, Cursor::new(file)).unwrap();
    let converted = challenge_to_capture(&mut challenge, &mut recorder)?;
    let streams = if converted.is_quantized { 1 } else { 2 };
    assert_eq!(recorder.finish().unwrap().frames, u64::from(streams * converted.frames));
    Ok(sink.bytes())
}

fn back(capture: Vec<u8>) -> Result<(Converted, Vec<u8>), ConvertError> {
    let mut out = Cursor::new(Vec::new());
    let converted = capture_to_challenge(
        &mut Capture::from_reader("x", Cursor::new(capture)).unwrap(),
        &mut out,
    )?;
    Ok((converted, out.into_inner()))
}

#[test]
fn the_states_of_a_converted_file_are_those_of_the_file() {
    let files = Files::new();
    let states = states(5, 30);
    let floats = to_capture("a.f32", good_f32(5, 30)).unwrap();
    let read = CapturedStates::open(&files.write("floats", &floats)).unwrap();
    assert_eq!((read.frames, read.damage), (states, Vec::new()));
    let lanes = to_capture("a.bin", good_bin(2)).unwrap();
    assert!(CapturedStates::open(&files.write("lanes", &lanes)).unwrap().frames.is_empty());
}

#[test]
fn states_become_a_file_of_floats() {
    let states = states(5, 30);
    let mut frames = F32Frames::new(Cursor::new(Vec::new()), 30, 60).unwrap();
    states.iter().for_each(|states| frames.write(states).unwrap());
    assert_eq!(frames.write(&states[0][1..]).unwrap_err().to_string(), "29 entities instead of 30");
    let (file, count) = frames.finish().unwrap();
    let mut expected = good_f32(5, 30);
    // The angular velocities are lost, so they are zero in the expected file.
    expected[32..].chunks_exact_mut(53).for_each(|record| record[40..52].fill(0));
    assert!(count == 5 && file.into_inner() == expected);
}

#[test]
fn without_recorded_velocities_the_differences_between_frames_give_them() {
    let files = Files::new();
    let sink = Sink::default();
    let mut recorder = Recorder::to_writer("run", sink.clone()).unwrap();
    let stream = recorder.stream::<Cube>("cubes", 60.0).unwrap();
    for tick in 0..3 {
        let mut cube = Cube::from(states(1, 1)[0][0]);
        cube.position[0] = tick as f32;
        recorder.record(&stream, Tick(tick), [(EntityId(0), &cube)]).unwrap();
    }
    recorder.finish().unwrap();
    let read = CapturedStates::open(&files.write("run", &sink.bytes())).unwrap();
    let velocities: Vec<f32> = read.frames.iter().map(|frame| frame[0].velocity[0]).collect();
    assert_eq!(velocities, [0.0, 60.0, 60.0]);
}

#[test]
fn both_formats_convert_back_bit_for_bit() {
    let bin = good_bin(9);
    let converted = back(to_capture("a.bin", bin.clone()).unwrap()).unwrap();
    assert!(converted == (Converted { frames: 9, is_quantized: true }, bin.clone()));
    assert!(back(to_capture("a.bin.zst", zst(&bin)).unwrap()).unwrap().1 == bin);
    for objects in [1, 40, OBJECTS] {
        let mut floats = good_f32(7, objects);
        // Every bit pattern is a float, such as NaNs with payloads, infinities, -0.0 and small
        // numbers.
        let patterns =
            [0x7F80_0001_u32, 0xFFFF_FFFF, 0x7FC0_0123, 0xFF80_0000, 0x8000_0000, 1, 0x8000_0001];
        for (record, pattern) in floats[32..].chunks_exact_mut(53).zip(patterns.iter().cycle()) {
            for at in [0, 12, 24, 28, 48] {
                record[at..at + 4].copy_from_slice(&pattern.to_le_bytes());
            }
        }
        let converted = back(to_capture("a.f32", floats.clone()).unwrap()).unwrap();
        assert!(converted == (Converted { frames: 7, is_quantized: false }, floats));
    }
}

#[test]
fn a_capture_has_the_cubes_of_the_file() {
    let mut challenge = Challenge::from_reader("a.f32", Cursor::new(good_f32(3, 40))).unwrap();
    let capture = to_capture("a.f32", good_f32(3, 40)).unwrap();
    let mut capture = Capture::from_reader("x", Cursor::new(capture)).unwrap();
    let schema = cube::schema(Quantized::Everything);
    for tick in (0..3).map(Tick) {
        let Some(Frame::Floats(frame)) = challenge.next_frame().unwrap() else { panic!("floats") };
        assert!(frame.angular_velocities().all(|velocity| velocity == [0.125, -1.0, 3.0]));
        let (mut ours, mut theirs) = (Snapshot::new(&schema, tick), Snapshot::new(&schema, tick));
        for (id, state) in (0..).zip(frame.states()) {
            cube::push(&mut theirs, Quantized::Everything, EntityId(id), state).unwrap();
        }
        assert_eq!(capture.next_frame().unwrap().unwrap().1.push_into(&mut ours).unwrap(), 0);
        assert!(ours == theirs);
        let (index, velocities) = capture.next_frame().unwrap().unwrap();
        assert_eq!((index, velocities.stream().name()), (1, "cubes.velocity"));
        let angular: Vec<f32> =
            velocities.columns()[3..].iter().map(|c| f32::from_bits(c[0] as u32)).collect();
        assert_eq!(angular, [0.125, -1.0, 3.0]);
    }
}

#[test]
fn captures_of_other_things_are_refused() {
    let refusal = |capture: Vec<u8>| back(capture).unwrap_err().to_string();
    assert!(
        refusal(files::record_ships(3)).contains("no whole")
            || refusal(files::record_ships(3)).contains("whole frame")
    );
    let mut cut = to_capture("a.f32", good_f32(3, 40)).unwrap();
    cut.truncate(cut.len() / 2);
    assert!(refusal(cut).contains("the capture is damaged at byte"));

    let record = |ticks: &[u32], ids: u32, rate_hz: f64| {
        let sink = Sink::default();
        let mut recorder = Recorder::to_writer("x", sink.clone()).unwrap();
        let schema = cube::schema(Quantized::Everything);
        let cubes = recorder.stream_of_lanes("cubes", &schema, rate_hz).unwrap();
        for tick in ticks {
            let mut snapshot = Snapshot::new(&schema, Tick(*tick));
            (0..ids).for_each(|id| snapshot.push_lanes(EntityId(id), &[0; 8]).unwrap());
            recorder.record_snapshot(&cubes, &snapshot).unwrap();
        }
        recorder.finish().unwrap();
        sink.bytes()
    };
    assert_eq!(
        back(record(&[0, 1], 901, 60.0)).unwrap().0,
        Converted { frames: 2, is_quantized: true }
    );
    assert!(refusal(record(&[0, 2], 901, 60.0)).contains("tick 2: frame 1 should be here"));
    assert!(refusal(record(&[0], 900, 60.0)).contains("900 entities"));
    assert!(refusal(record(&[0], 901, 30.0)).contains("30 times a second"));

    let sink = Sink::default();
    let mut recorder = Recorder::to_writer("x", sink.clone()).unwrap();
    let ships = recorder.stream::<Ship>("cubes", 60.0).unwrap();
    recorder.record(&ships, Tick(0), [(EntityId(0), &ship(1, 1))]).unwrap();
    recorder.finish().unwrap();
    assert!(refusal(sink.bytes()).contains("stream \"cubes\" is of another type"));
    assert_ne!(Schema::of::<Ship>().hash(), cube::schema(Quantized::Everything).hash());

    // A file with fewer frames than its header declares is converted up to its end.
    let lying = common::f32_file(Header::new(2, 9), &states(3, 2));
    let error = to_capture("a.f32", lying).unwrap_err();
    assert!(matches!(error, ConvertError::Challenge(_)), "{error}");
}

/// Tests the beginnings of the article author's runs, if the files are next to the repository.
#[test]
fn shared_runs_convert_back_bit_for_bit() {
    for name in ["typical.bin.zst", "push.bin.zst", "typical.f32.zst"] {
        let path =
            PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/cubes"))
                .join(name);
        let Ok(packed) = fs::read(&path) else {
            eprintln!("skipped: {} does not exist", path.display());
            continue;
        };
        const FRAMES: u64 = 200;
        let name = name.trim_end_matches(".zst");
        let (head, record) = if name.ends_with("bin") { (0, 32) } else { (32, 53) };
        let mut plain = Vec::new();
        let mut unpacked = ruzstd::decoding::StreamingDecoder::new(&packed[..]).unwrap();
        unpacked.by_ref().take(head + FRAMES * 901 * record).read_to_end(&mut plain).unwrap();
        if head > 0 {
            plain[12..16].copy_from_slice(&(FRAMES as u32).to_le_bytes());
        }
        let capture = to_capture(name, plain.clone()).unwrap();
        assert!(
            capture.len() < plain.len() / 5,
            "{name}: {} bytes of {}",
            capture.len(),
            plain.len()
        );
        assert!(back(capture).unwrap().1 == plain, "{name}");
    }
}
