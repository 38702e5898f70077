//! Tests recordings of the built-in world, and what other commands do with them.

use std::fs;
use std::path::Path;

use cube_data::cube::{self, Measured, Quantized};
use cube_data::{Challenge, Frame};
use cubes::{Body, Config, Script, Style, World};
use kinepack::{EntityId, Snapshot, Tick};
use kinepack_capture::CaptureLimits;
use kinepack_cli::captured::{Captured, Snapshots, StreamArguments};

use crate::challenge::{Files, good_bin};
use crate::support::program::{json, refusal, run, stdout};
use crate::support::recorded::recorded;

#[test]
fn a_recording_is_analyzed_and_replayed() {
    let files = Files::new();
    let capture = files.path("world.mcap");
    let capture = capture.to_str().unwrap();
    let recorded = run(&["record", capture, "--seconds", "4", "--cubes", "60"]);
    assert_eq!((recorded.code, recorded.stdout.as_str()), (Some(0), ""), "{}", recorded.stderr);
    assert!(recorded.stderr.contains("240 frames"), "{}", recorded.stderr);
    let analyzed = json(&["analyze", capture]);
    assert_eq!(
        (&analyzed["streams"][0]["frames"], &analyzed["streams"][0]["entities"][1]),
        (&240.into(), &61.0.into())
    );
    let page = files.path("replay.html");
    let options =
        ["--level", "packed,adaptive", "--link", "mobile", "--sweep", "loss=0..20,rtt=20..200"];
    let arguments =
        [&["replay", capture, "--html", page.to_str().unwrap(), "--force"], &options[..]].concat();
    let replayed = json(&arguments);
    assert_eq!(replayed["frames"], 240);
    let count = |key: &str| replayed[key].as_array().unwrap().len();
    assert_eq!((count("runs"), count("over_loss"), count("over_round_trip")), (2, 14, 14));
    for run in replayed["runs"].as_array().unwrap() {
        let number = |key: &str| run[key].as_f64().unwrap();
        assert_eq!(run["wrong_lanes"], 0);
        assert!(
            number("kbps_payload") > 0.5 && number("kbps_total") > number("kbps_payload"),
            "{run}"
        );
        assert!(
            number("playout_delay_ms") > 10.0 && run["errors"][0]["field"] == "position",
            "{run}"
        );
        // The error consists of the error of quantization, and a small error of playback.
        assert!(run["errors"][0]["p50"].as_f64().unwrap() < 0.02, "{run}");
    }
    assert_eq!(json(&arguments), replayed, "a second run gives the same report");
    let cut_off = json(&["replay", capture, "--outage", "1..2"]);
    assert!(replayed["runs"][0]["recovery_ms"].is_null());
    let recovery_ms = cut_off["runs"][0]["recovery_ms"].as_f64().unwrap();
    assert!((0.0..1000.0).contains(&recovery_ms), "{recovery_ms}");
    assert!(stdout(&["replay", capture, "--outage", "1..2"]).contains("recovered ms"));
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.contains("over_round_trip") && html.trim_end().ends_with("</html>"));
    assert!(
        stdout(&["replay", capture, "--link", "lan"]).contains("times as fast as in real time")
    );
    let refused = refusal(&["replay", capture, "--stream", "ships"]);
    assert!(refused.contains("no such stream; there are cubes"), "{refused}");
    let refused = run(&["replay", capture, "--sweep", "loss=0..500"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("give percent from 0 to 100, such as 0..20"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_recording_with_the_ending_of_another_format_is_refused() {
    let files = Files::new();
    let floats = "the name must end in .mcap for a capture, or in .f32";
    for (name, says) in [
        ("a.f32.zst", floats),
        ("a.F32", floats),
        ("a.csv", "convert"),
        ("a.bin", "convert"),
        ("a.kpz", "pack"),
        ("a.mcapp", "must end in .mcap"),
    ] {
        let path = files.path(name);
        let refused = refusal(&["record", path.to_str().unwrap(), "--seconds", "1"]);
        assert!(refused.contains(says), "{refused}");
        assert!(!path.exists(), "{name}");
    }
}

#[test]
fn a_capture_that_is_cut_off_is_read_up_to_there_and_frames_were_lost() {
    let files = Files::new();
    let whole = files.path("whole.mcap");
    run(&["record", whole.to_str().unwrap(), "--seconds", "8", "--cubes", "300"]);
    let bytes = fs::read(&whole).unwrap();
    let cut = files.write("cut.mcap", &bytes[..bytes.len() * 3 / 4]);
    let cut = run(&["analyze", cut.to_str().unwrap(), "--json"]);
    assert_eq!(cut.code, Some(1), "{}", cut.stderr);
    assert!(cut.stderr.contains("cut.mcap: damaged at byte"), "{}", cut.stderr);
    assert!(
        cut.stderr.contains("cut.mcap: it is damaged: frames may be missing"),
        "{}",
        cut.stderr
    );
    let frames =
        serde_json::from_str::<serde_json::Value>(&cut.stdout).unwrap()["streams"][0]["frames"]
            .as_u64()
            .unwrap();
    assert!((10..480).contains(&frames), "{frames}");
    let foreign = files.write("foreign.mcap", &good_bin(3));
    let message = refusal(&["analyze", foreign.to_str().unwrap()]);
    assert!(message.contains("foreign.mcap"), "{message}");
}

#[test]
fn the_demo_records_what_it_sends() {
    let files = Files::new();
    let replay = files.path("demo.kpz").to_str().unwrap().to_owned();
    let options = ["--seconds", "3", "--cubes", "50", "--json"];
    let arguments = [&["demo", "--headless", "--record", &replay][..], &options].concat();
    let recorded = run(&arguments);
    assert_eq!(recorded.code, Some(0), "{}", recorded.stderr);
    assert!(recorded.stderr.contains("180 frames"), "{}", recorded.stderr);
    let info = json(&["info", &replay, "--verify"]);
    assert_eq!((&info["frames"], &info["first_tick"]), (&180.into(), &1.into()));
    assert_eq!(info["kinds"][0]["name"], "player");
    assert_eq!(info["event_kinds"][0]["name"], "joined");
    assert!(info["info"]["world"].as_str().unwrap().contains("--cubes 50"));
    assert!(run(&arguments).stderr.contains("--force"));
    // The command unpacks only one kind, as a table.
    let table = files.path("players.csv").to_str().unwrap().to_owned();
    let unpacked = run(&["unpack", &replay, &table, "--kind", "player"]);
    assert_eq!((unpacked.code, unpacked.stdout.as_str()), (Some(0), ""), "{}", unpacked.stderr);
    let table = fs::read_to_string(table).unwrap();
    assert!(table.starts_with("tick,id,position.x,"), "{table}");
    assert_eq!(table.lines().count(), 1 + 180);
}

/// Returns the first frames of the world, which the test computes without the program.
fn world(cubes: u32, style: Style, seed: u64, frames: u32) -> Vec<Vec<Measured>> {
    let mut world = World::new(&Config { cubes }).unwrap();
    let mut script = Script::new(style, seed);
    let mut frame = |_| {
        let bodies = world.bodies().map(|(_, body)| {
            let Body { position, orientation, velocity, interacting } = body;
            Measured { position, orientation, velocity, interacting }
        });
        let states: Vec<Measured> = bodies.collect();
        let input = script.next_input(&world);
        world.step(input);
        states
    };
    (0..frames).map(&mut frame).collect()
}

#[test]
fn both_formats_hold_the_states_of_the_world() {
    let files = Files::new();
    let options = ["--seconds", "2", "--cubes", "30", "--style", "push", "--seed", "1000"];
    let world = world(30, Style::Push, 1000, 120);
    let [capture, floats] =
        ["world.mcap", "world.f32"].map(|name| recorded(&files, name, &options));
    let (mut challenge, mut states) = (Challenge::open(&floats).unwrap(), Vec::new());
    while let Some(Frame::Floats(frame)) = challenge.next_frame().unwrap() {
        assert!(frame.angular_velocities().all(|velocity| velocity == [0.0; 3]));
        states.push(frame.states().collect::<Vec<Measured>>());
    }
    assert!(states == world, "the floats");
    // Commands train on this schema.
    let schema = cube::schema(Quantized::Everything);
    let quantized = |(tick, states): (u32, &Vec<Measured>)| {
        let mut snapshot = Snapshot::new(&schema, Tick(tick));
        for (object, state) in (0..).zip(states) {
            let id = EntityId(object);
            cube::push(&mut snapshot, Quantized::Everything, id, *state).unwrap();
        }
        snapshot
    };
    let quantized: Vec<Snapshot> = (0..).zip(&world).map(quantized).collect();
    for file in [&capture, &floats] {
        let captured = Captured::open(Path::new(file), CaptureLimits::default()).unwrap();
        let first = StreamArguments { stream: None };
        let mut snapshots = Snapshots::new(captured, &first, &[], &[]).unwrap();
        let next = || snapshots.next_snapshot().unwrap();
        assert!(std::iter::from_fn(next).eq(quantized.iter().cloned()), "{file}");
    }
}

#[test]
fn floats_are_of_the_world_s_cubes_alone() {
    let files = Files::new();
    let path = files.path("world.f32");
    let name = path.to_str().unwrap();
    for option in [["--from", "127.0.0.1:9"], ["--kinds", "player"]] {
        let refused = refusal(&[&["record", name], &option[..]].concat());
        assert!(refused.contains(&format!("{} needs a capture", option[0])), "{refused}");
        assert!(!path.exists());
    }
}
