//! Tests the commands for replay files (`pack`, `unpack`, `info`, `cut`), and the recording of
//! replays.

use std::fs;

use kinepack::{EntityId, Tick};
use kinepack_capture::Recorder;
use kinepack_replay::{ReplayOptions, ReplayWriter};
use serde_json::Value;

use crate::challenge::{Files, OBJECTS, good_bin, good_f32, state, zst};
use crate::support::drone::Drone;
use crate::support::program::{json, refusal, run, see_that_a_failure_changes_nothing, stdout};

/// Runs a command that prints the names of the written files on standard error.
fn done(arguments: &[&str]) -> String {
    let run = run(arguments);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{arguments:?}: {}", run.stderr);
    run.stderr
}

/// Packs a file. Returns the name of the replay, and the report.
fn pack(files: &Files, name: &str, bytes: &[u8], options: &[&str]) -> (String, Value) {
    let capture = files.write(name, bytes);
    let replay = files.path(&format!("{name}.kpz")).to_str().unwrap().to_owned();
    let arguments = [&["pack", capture.to_str().unwrap(), &replay][..], options].concat();
    let report = json(&arguments);
    (replay, report)
}

#[test]
fn a_challenge_file_comes_back_byte_for_byte() {
    let files = Files::new();
    let capture = good_bin(20);
    let back = files.path("back.bin");
    let back = back.to_str().unwrap();
    for (name, bytes) in [("run.bin", capture.clone()), ("run.bin.zst", zst(&capture))] {
        for level in ["packed", "adaptive", "learning"] {
            let (replay, report) =
                pack(&files, name, &bytes, &["--level", level, "--group", "0.1", "--force"]);
            assert_eq!((&report["frames"], &report["groups"]), (&20.into(), &4.into()));
            assert!(report["bytes"].as_u64().unwrap() * 2 < capture.len() as u64);
            done(&["unpack", &replay, back, "--force"]);
            assert!(fs::read(back).unwrap() == capture, "{name}, {level}");
        }
    }
}

#[test]
fn every_command_reads_a_replay_as_a_capture() {
    let files = Files::new();
    let (replay, _) = pack(&files, "run.f32", &good_f32(30, 20), &[]);
    let mcap = files.path("run.mcap").to_str().unwrap().to_owned();
    done(&["unpack", &replay, &mcap]);
    let of = |file: &str| {
        let measured = json(&["measure", file, "--level", "packed,learning", "--lag", "1"]);
        measured["levels"][1]["bytes_per_frame"].clone()
    };
    assert_eq!(of(&replay), of(&mcap));
    let csv = |file: &str, name: &str| {
        let table = files.path(name).to_str().unwrap().to_owned();
        done(&["convert", file, &table]);
        fs::read_to_string(table).unwrap()
    };
    assert_eq!(csv(&replay, "a.csv"), csv(&mcap, "b.csv"));
    // The inputs are a packed capture, and a replay that is packed again.
    let (again, _) = pack(&files, "run.mcap.zst", &zst(&fs::read(&mcap).unwrap()), &[]);
    assert_eq!(csv(&again, "c.csv"), csv(&mcap, "d.csv"));
    let twice = files.path("twice.kpz").to_str().unwrap().to_owned();
    stdout(&["pack", &replay, &twice]);
    assert_eq!(fs::read(twice).unwrap(), fs::read(&replay).unwrap());
}

#[test]
fn ticks_kinds_and_notes_of_a_game_s_own_capture_are_kept() {
    let files = Files::new();
    let capture = files.path("drones.mcap");
    let mut recorder = Recorder::create(&capture).unwrap();
    let drones = recorder.stream::<Drone>("drones", 50.0).unwrap();
    // The ticks begin at 1,000, and some are missing.
    let ticks: Vec<u32> = (1_000..1_200).filter(|tick| tick % 10 > 2).collect();
    for tick in &ticks {
        let drone = Drone { position: [0.1 * *tick as f32, 7.0, 30.0], battery: 90 };
        recorder.record(&drones, Tick(*tick), [(EntityId(7), drone)]).unwrap();
    }
    recorder.finish().unwrap();
    let replay = files.path("drones.kpz").to_str().unwrap().to_owned();
    let capture = capture.to_str().unwrap();
    let text = stdout(&["pack", capture, &replay, "--note", "map=harbour", "--group", "1"]);
    assert!(text.contains("140 frames in 4 groups"), "{text}");

    let info = json(&["info", &replay, "--verify"]);
    assert_eq!((&info["name"], &info["rate_hz"]), (&"drones".into(), &50.0.into()));
    assert_eq!((&info["first_tick"], &info["last_tick"]), (&1_003.into(), &1_199.into()));
    assert_eq!((&info["frames"], &info["is_complete"]), (&140.into(), &true.into()));
    assert_eq!((&info["info"]["map"], &info["level"]), (&"harbour".into(), &"learning".into()));
    let text = stdout(&["info", &replay]);
    assert!(text.contains("harbour") && text.contains("0:03.9, ticks 1003 to 1199"), "{text}");

    // The part has half a second, and begins between two frames.
    let part = files.path("part.kpz").to_str().unwrap().to_owned();
    done(&["cut", &replay, &part, "--from", "0:01", "--to", "1.5"]);
    let info = json(&["info", &part, "--verify"]);
    assert_eq!((&info["first_tick"], &info["last_tick"]), (&1_053.into(), &1_078.into()));
    assert_eq!(info["frames"], ticks.iter().filter(|tick| (1_053..=1_078).contains(*tick)).count());
    assert_eq!(info["info"]["map"], "harbour");

    let refused = refusal(&["cut", &replay, &part, "--force", "--from", "@goal"]);
    assert!(refused.contains("no marker \"goal\": the replay has none"), "{refused}");
    for (from, to, says) in
        [("9", "8", "--from: the last frame"), ("1", "0.5", "--to: it is before --from")]
    {
        let arguments = ["cut", &replay, &part, "--force", "--from", from, "--to", to];
        see_that_a_failure_changes_nothing(part.as_ref(), &arguments, 2);
        let refused = refusal(&arguments);
        assert!(refused.contains(says), "{refused}");
    }
}

#[test]
fn names_of_a_file_do_not_control_the_terminal() {
    let files = Files::new();
    let title = "\u{1b}]0;title\u{7}\u{9b}2J";
    let (note, mark) = (format!("{title}\u{202e}"), format!("goal{title}\r\nforged  1 byte"));
    let path = files.path("names.kpz");
    let codec = drone_codec();
    let name = format!("world{title}\nforged");
    let options = ReplayOptions { name: name.clone(), ..ReplayOptions::at_hz(60.0) };
    let mut replay = ReplayWriter::create(&path, &codec, &options).unwrap();
    replay.write(&kinepack::Snapshot::new(codec.schema(), Tick(7))).unwrap();
    replay.note("map", &note).unwrap();
    replay.mark(Tick(7), &mark).unwrap();
    replay.finish().unwrap();
    let path = path.to_str().unwrap();

    let text = stdout(&["info", path]);
    let is_control = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
    assert!(!text.contains(is_control), "{text:?}");
    assert!(!text.lines().any(|line| line.starts_with("forged")), "{text}");
    assert!(text.contains("goal\\u001b]0;title\\u0007\\u009b2J\\u000d\\u000aforged"), "{text}");
    let info = json(&["info", path]);
    assert_eq!((&info["name"], &info["info"]["map"]), (&name.into(), &note.into()));
    assert_eq!(info["markers"][0]["name"], mark);
    // The errors quote names and arguments.
    let refused = run(&["info", path, "other\u{1b}[2J"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("other\\u001b[2J"), "{:?}", refused.stderr);
    let refused = refusal(&["cut", path, "part.kpz", "--from", "@other"]);
    assert!(!refused.contains(is_control), "{refused:?}");
}

#[test]
fn transforms_are_what_other_tools_expect() {
    let files = Files::new();
    let (replay, _) = pack(&files, "run.bin", &good_bin(8), &[]);
    let out = files.path("tf.mcap").to_str().unwrap().to_owned();
    done(&["unpack", &replay, &out, "--transforms"]);
    let file = fs::read(&out).unwrap();
    let messages: Vec<_> = mcap::MessageStream::new(&file).unwrap().map(Result::unwrap).collect();
    assert_eq!(messages.len(), 8);
    for (tick, message) in messages.iter().enumerate() {
        let schema = message.channel.schema.as_ref().unwrap();
        assert_eq!(schema.name, "foxglove.FrameTransforms");
        assert_eq!((&*schema.encoding, &*message.channel.message_encoding), ("jsonschema", "json"));
        let schema: Value = serde_json::from_slice(&schema.data).unwrap();
        assert_eq!(schema["properties"]["transforms"]["type"], "array");
        let value: Value = serde_json::from_slice(&message.data).unwrap();
        let transforms = value["transforms"].as_array().unwrap();
        assert_eq!(transforms.len(), OBJECTS);
        let nanoseconds = (tick as f64 * 1e9 / 60.0).round() as u64;
        for (object, transform) in transforms.iter().enumerate() {
            let state = state(tick, object);
            assert_eq!(transform["child_frame_id"], format!("cubes/{object}"));
            assert_eq!(transform["timestamp"]["nsec"], nanoseconds);
            for (axis, name) in ["x", "y", "z"].iter().enumerate() {
                let shown = transform["translation"][name].as_f64().unwrap();
                assert!((shown - f64::from(state.position[axis])).abs() < 0.002);
            }
            let rotation = &transform["rotation"];
            let number = |name: &str| rotation[name].as_f64().unwrap();
            let length: f64 = ["x", "y", "z", "w"].iter().map(|name| number(name).powi(2)).sum();
            assert!((length - 1.0).abs() < 1e-6);
        }
    }
}

#[test]
fn damage_is_named_and_the_rest_is_there() {
    let files = Files::new();
    let (replay, _) = pack(&files, "run.bin", &good_bin(24), &["--group", "0.1"]);
    let mut bytes = fs::read(&replay).unwrap();
    let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
    // The first chunk has the channels. The third group is damaged.
    let third = &summary.chunk_indexes[3];
    bytes[(third.chunk_start_offset + third.chunk_length / 2) as usize] ^= 1;
    let damaged = files.write("damaged.kpz", &bytes).to_str().unwrap().to_owned();
    let result = run(&["info", &damaged, "--verify", "--json"]);
    assert_eq!(result.code, Some(1));
    assert!(result.stderr.contains("damaged in 1 place"), "{}", result.stderr);
    let info: Value = serde_json::from_str(&result.stdout).unwrap();
    assert_eq!(info["frames"], 24 - 6);
    assert!(info["damage"][0].as_str().unwrap().contains("the group of tick 12"));
    let table = files.path("rest.csv").to_str().unwrap().to_owned();
    let unpacked = run(&["unpack", &damaged, &table]);
    assert_eq!(unpacked.code, Some(1));
    assert!(unpacked.stderr.contains("18 frames"), "{}", unpacked.stderr);

    // The file is cut off, as if its writer had been killed.
    bytes.truncate(third.chunk_start_offset as usize + 100);
    let cut_off = files.write("cut.kpz", &bytes).to_str().unwrap().to_owned();
    let info = json(&["info", &cut_off]);
    assert_eq!((&info["is_complete"], &info["last_tick"]), (&false.into(), &11.into()));
    // Every command reports that frames are missing.
    for out in ["cut.csv", "cut.bin", "cut.mcap"] {
        let out = files.path(out).to_str().unwrap().to_owned();
        let unpacked = run(&["unpack", &cut_off, &out]);
        assert_eq!(unpacked.code, Some(1), "{out}: {}", unpacked.stderr);
        assert!(unpacked.stderr.contains("12 frames"), "{}", unpacked.stderr);
    }
    let part = files.path("part.kpz").to_str().unwrap().to_owned();
    assert_eq!(run(&["cut", &cut_off, &part]).code, Some(1));
    assert_eq!(run(&["pack", &cut_off, &part, "--force"]).code, Some(1));
    assert_eq!(run(&["measure", &cut_off, "--lag", "2"]).code, Some(1));
    // The part up to 0.1 s is complete.
    assert_eq!(run(&["cut", &cut_off, &part, "--force", "--to", "0.1"]).code, Some(0));
}

#[test]
fn a_replay_is_packed_again_with_notes_and_markers() {
    let files = Files::new();
    let (replay, _) =
        pack(&files, "run.bin", &good_bin(24), &["--note", "map=a", "--note", "by=b"]);
    let again = files.path("again.kpz").to_str().unwrap().to_owned();
    let mut marked =
        ReplayWriter::create(&again, &drone_codec(), &ReplayOptions::at_hz(60.0)).unwrap();
    marked.write(&kinepack::Snapshot::new(drone_codec().schema(), Tick(0))).unwrap();
    marked.write(&kinepack::Snapshot::new(drone_codec().schema(), Tick(u32::MAX))).unwrap();
    marked.mark(Tick(0), "goal").unwrap();
    marked.finish().unwrap();
    // The replay is packed in place, so the report has the size of the old file.
    let before = fs::metadata(&again).unwrap().len();
    let report = json(&["pack", &again, &again, "--force", "--level", "packed"]);
    assert_eq!(report["captured_bytes"], before);
    let info = json(&["info", &again, "--verify"]);
    assert_eq!((&info["markers"][0]["name"], &info["frames"]), (&"goal".into(), &2.into()));
    // The duration covers all ticks from 0 to `u32::MAX`.
    assert!(info["seconds"].as_f64().unwrap() > 7e7, "{info}");

    json(&["pack", &replay, &again, "--force", "--note", "map=c"]);
    let info = json(&["info", &again]);
    assert_eq!((&info["info"]["map"], &info["info"]["by"]), (&"c".into(), &"b".into()));
}

fn drone_codec() -> kinepack::Codec {
    let schema = kinepack::Schema::of::<Drone>();
    let profile = kinepack::Profile::untrained(&schema);
    kinepack::Codec::new(schema, kinepack::Level::PACKED, profile).unwrap()
}

#[test]
fn what_cannot_be_done_is_refused_with_advice() {
    let files = Files::new();
    let (replay, _) = pack(&files, "run.bin", &good_bin(8), &[]);
    let out = |name: &str| files.path(name).to_str().unwrap().to_owned();
    for (arguments, part) in [
        (vec!["unpack", &replay, &out("x.txt")], ".mcap, .bin or .csv"),
        (vec!["unpack", &replay, &out("x.csv"), "--transforms"], ".mcap"),
        (vec!["unpack", &replay, &out("x.bin"), "--kind", "a"], ".csv"),
        (vec!["unpack", &replay, &out("x.csv"), "--kind", "a"], "no kind \"a\""),
        (vec!["info", &out("run.bin")], "MCAP"),
        (vec!["info", &out("nothing.kpz")], "No such file"),
        (vec!["pack", &out("run.bin"), &replay], "--force"),
        (vec!["pack", &out("run.bin"), &out("y.kpz"), "--level", "none"], "no such level"),
        (
            vec!["pack", &out("run.bin"), &out("y.kpz"), "--note", "k=1", "--note", "k=2"],
            "--note k: it is given twice",
        ),
        (vec!["cut", &replay, &out("z.kpz"), "--from", "1:99"], "moment"),
        (
            vec!["cut", &replay, &out("z.kpz"), "--from", "5"],
            "--from: the last frame is 0.117 s after the first",
        ),
    ] {
        let run = run(&arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(part), "{arguments:?}: {}", run.stderr);
    }
    // A capture is not a replay, and the message names the command that makes a replay from it.
    let mcap = out("run.mcap");
    done(&["unpack", &replay, &mcap]);
    assert!(refusal(&["info", &mcap]).contains("`kinepack pack`"));
    // This replay does not have the cubes of a challenge file.
    let (floats, _) = pack(&files, "few.f32", &good_f32(8, 20), &[]);
    assert!(refusal(&["unpack", &floats, &out("few.bin")]).contains("20 entities"));
}
