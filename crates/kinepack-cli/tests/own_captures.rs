//! Tests captures with a user's own schemas: their numbers as CSV, the choice of a stream, and the
//! notes that reports add to a number.

use kinepack::{EntityId, Pack, Profile, Schema, Tick};
use kinepack_capture::Recorder;

use crate::challenge::{Files, good_f32};
use crate::support::drone::Drone;
use crate::support::program::{json, refusal, run, stdout};

#[derive(Pack)]
struct Gate {
    is_open: bool,
    #[pack(range = 0.0..=1.0, precision = 0.25)]
    height: f64,
}

/// Returns a file with two streams: drones that circle, and gates.
fn two_streams(files: &Files) -> String {
    let capture = files.path("two.mcap");
    let mut recorder = Recorder::create(&capture).unwrap();
    let drones = recorder.stream::<Drone>("drones", 30.0).unwrap();
    let gates = recorder.stream::<Gate>("gates", f64::from(1.0 / (1.0 / 60.0_f32))).unwrap();
    for tick in 0..200 {
        let turn = |drone: u32| tick as f32 * 0.03 * (0.5 + 0.1 * drone as f32);
        let states = (0..20).map(|drone| {
            let position = [20.0 * turn(drone).cos(), 20.0 * turn(drone).sin(), drone as f32];
            (EntityId(drone), Drone { position, battery: 50 })
        });
        recorder.record(&drones, Tick(tick), states).unwrap();
        let gate = Gate { is_open: tick % 40 < 20, height: f64::from(tick) / 200.0 };
        recorder.record(&gates, Tick(tick), [(EntityId(2), &gate), (EntityId(9), &gate)]).unwrap();
    }
    recorder.finish().unwrap();
    capture.to_str().unwrap().to_owned()
}

#[test]
fn a_capture_converts_to_csv_with_the_recorded_numbers() {
    let files = Files::new();
    let (capture, csv) = (&*two_streams(&files), files.path("gates.csv"));
    let csv_name = csv.to_str().unwrap();
    let converted = run(&["convert", capture, csv_name, "--stream", "gates"]);
    assert_eq!(converted.code, Some(0), "{}", converted.stderr);
    let text = std::fs::read_to_string(&csv).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..3], ["tick,id,is_open,height", "0,2,1,0", "0,9,1,0"]);
    // The numbers are not quantized: the step is 0.25.
    assert_eq!((lines[46], lines.len()), ("22,9,0,0.11", 401));

    let converted = run(&["convert", capture, csv_name, "--force"]);
    assert_eq!(converted.code, Some(0), "{}", converted.stderr);
    assert!(converted.stderr.contains("stream drones, of drones, gates"), "{}", converted.stderr);
    let text = std::fs::read_to_string(&csv).unwrap();
    assert!(text.starts_with("tick,id,position.x,position.y,position.z,battery\n0,0,20,0,0,50\n"));

    let message = refusal(&["convert", capture, files.path("a.f32").to_str().unwrap()]);
    assert!(message.contains("any capture can become a .csv"), "{message}");
    let message = refusal(&["convert", capture, files.path("a.txt").to_str().unwrap()]);
    assert!(message.contains("in .csv for the numbers"), "{message}");
    // Challenge files have numbers too.
    let challenge = files.write("run.f32", &good_f32(3, 30));
    let converted = run(&["convert", challenge.to_str().unwrap(), csv_name, "--force"]);
    assert_eq!(converted.code, Some(0), "{}", converted.stderr);
    let text = std::fs::read_to_string(&csv).unwrap();
    assert!(text.starts_with("tick,id,position.x,position.y,position.z,orientation.x,"), "{text}");
    assert_eq!(text.lines().last().map(|line| line.split(',').count()), Some(2 + 3 + 4 + 1));
}

#[test]
fn the_stream_that_fits_the_options_is_taken() {
    let files = Files::new();
    let (capture, profile) = (&*two_streams(&files), files.path("gates.profile"));
    let profile = profile.to_str().unwrap();
    std::fs::write(profile, Profile::untrained(&Schema::of::<Gate>()).to_bytes()).unwrap();
    let replayed = run(&["replay", capture, "--profile", profile, "--json"]);
    assert_eq!(replayed.code, Some(0), "{}", replayed.stderr);
    assert!(replayed.stderr.contains("stream gates, of drones, gates"), "{}", replayed.stderr);
    assert!(replayed.stdout.contains("\"stream\": \"gates\""), "{}", replayed.stdout);
    let refused = refusal(&["replay", capture, "--profile", profile, "--stream", "drones"]);
    assert!(refused.contains("than that of stream drones; --stream takes another"), "{refused}");
    let refused = refusal(&["replay", capture, "--profile", "no.profile", "--stream", "drones"]);
    assert!(refused.contains("`kinepack tune` or `kinepack train`"), "{refused}");
    let tuned = run(&["tune", capture, "--passes", "1", "--lag", "3", "--max-error", "height=0.2"]);
    assert_eq!(tuned.code, Some(0), "{}", tuned.stderr);
    let chosen = tuned.stderr.matches("stream gates, of drones, gates").count();
    assert_eq!(chosen, 1, "{}", tuned.stderr);
}

#[test]
fn a_replay_states_the_link_and_the_largest_errors() {
    let files = Files::new();
    let capture = &*two_streams(&files);
    let text = stdout(&["replay", capture, "--stream", "gates", "--link", "terrible"]);
    for part in ["200 frames at 60 Hz", "round trip 280 ms, up to 100 ms of jitter", "largest"] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn an_analysis_states_what_belongs_to_a_proposal() {
    let files = Files::new();
    let (capture, profile) = (&*two_streams(&files), files.path("drones.profile"));
    let profile = profile.to_str().unwrap();
    let text = stdout(&["analyze", capture, "--stream", "drones"]);
    for part in [
        "#[pack(ticks_per_s = 30.0)]",
        "a profile trained on this capture saves more",
        "given previous, if the size of the difference before it is known",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    let tuned = run(&["tune", capture, "--passes", "1", "--lag", "3", "--out", profile]);
    assert_eq!(tuned.code, Some(0), "{}", tuned.stderr);
    let text = stdout(&["analyze", capture, "--stream", "drones", "--profile", profile]);
    assert!(!text.contains("a profile trained on this capture"), "{text}");
}

#[derive(Pack)]
struct Turret {
    #[pack(rotation, bits = 14)]
    rotation: [f32; 4],
}

#[test]
fn tune_gives_rotations_the_bits_that_the_documents_state() {
    let files = Files::new();
    let capture = files.path("turrets.mcap");
    let mut recorder = Recorder::create(&capture).unwrap();
    let stream = recorder.stream::<Turret>("turrets", 60.0).unwrap();
    for tick in 0..100 {
        // The rotations have four nearly equal components, where the error is largest.
        let off = 0.001 * tick as f32;
        let turret = Turret { rotation: [0.5 + off, 0.5, 0.5 - off, 0.5] };
        recorder.record(&stream, Tick(tick), [(EntityId(1), turret)]).unwrap();
    }
    recorder.finish().unwrap();
    let capture = capture.to_str().unwrap();
    for (error, bits) in [("0.56", 9), ("0.28", 10), ("0.14", 11), ("0.07", 12), ("0.5", 10)] {
        let wanted = format!("rotation={error}");
        let tuned = json(&["tune", capture, "--passes", "1", "--lag", "3", "--max-error", &wanted]);
        let step = &tuned["steps"][0];
        assert_eq!(step["attribute"], format!("bits = {bits}"), "{error}");
        assert!(step["error"]["max"].as_f64().unwrap() <= error.parse().unwrap(), "{step}");
    }
}
