//! The program as users see it: exit codes, standard output and error, and numbers that must not
//! change.

use std::io::Read;
use std::process::Stdio;

use kinepack::Level;
use serde_json::Value;

use crate::challenge::{
    Files, Header, OBJECTS, bin, f32_file, good_bin, good_f32, record, states, zst,
};
use crate::support::program::{json, program, refusal, run, stdout};

/// The names of the levels of a document.
fn level_names(document: &Value) -> Vec<&str> {
    document["levels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|level| level["level"].as_str().unwrap())
        .collect()
}

fn all_names() -> Vec<&'static str> {
    Level::TABLE.into_iter().map(|level| level.name()).collect()
}

#[test]
fn measuring_the_built_in_world_prints_a_row_for_each_level() {
    let table = stdout(&["measure", "--seconds", "1", "--cubes", "100"]);
    let title: Vec<&str> = table.lines().take(2).collect();
    assert!(title[0].contains("--seconds 1 --seed 1 --cubes 100"), "{title:?}");
    assert!(
        title[1].starts_with("101 objects at 60 Hz, 54 frames, each against the one 6 before"),
        "{title:?}"
    );
    for level in Level::TABLE {
        let row = table
            .lines()
            .filter(|line| line.split_whitespace().nth(1) == Some(level.name()))
            .count();
        assert_eq!(row, 1, "{} in\n{table}", level.name());
    }
    assert_eq!(
        table.lines().count(),
        2 + 2 + 1 + Level::TABLE.len(),
        "title, header, separator, rows:\n{table}"
    );
    assert!(table.lines().all(|line| line == line.trim_end()), "{table}");
}

#[test]
fn the_json_document_has_its_keys_and_consistent_sums() {
    let document = json(&["measure", "--seconds", "1", "--cubes", "100"]);
    assert_eq!(document["lag"], 6);
    assert_eq!(document["frames"], 54);
    assert!(document["file"].as_str().unwrap().contains("--seed 1"));
    assert_eq!(level_names(&document), all_names());
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let has = |value: &Value, wanted: &[&str]| {
        let keys = keys(value);
        assert!(
            wanted.iter().all(|key| keys.iter().any(|there| there == key)),
            "{wanted:?} in {keys:?}"
        );
    };
    has(&document, &["file", "lag", "frames", "levels"]);
    for level in document["levels"].as_array().unwrap() {
        has(
            level,
            &[
                "level",
                "bytes_per_frame",
                "bits_per_frame",
                "encode_us_per_frame",
                "decode_us_per_frame",
            ],
        );
        // From row 7 on, the program times how long it takes to fill and to read a snapshot.
        if level["row"].as_u64().unwrap() > 6 {
            has(level, &["fill_us_per_frame", "read_us_per_frame"]);
        }
        assert_eq!(level["verified"], true);
        let bytes = &level["bytes_per_frame"];
        has(bytes, &["mean", "p50", "p95", "max"]);
        let number = |value: &Value| value.as_f64().unwrap();
        let [p50, p95, max] = ["p50", "p95", "max"].map(|key| number(&bytes[key]));
        assert!(p50 <= p95 && p95 <= max && number(&bytes["mean"]) <= max, "{bytes}");
        let bits: f64 = level["bits_per_frame"].as_object().unwrap().values().map(number).sum();
        let padding_bits = number(&bytes["mean"]) * 8.0 - bits;
        assert!((0.0..8.0).contains(&padding_bits), "{padding_bits} in {level}");
        assert!(
            number(&level["encode_us_per_frame"]) > 0.0
                && number(&level["decode_us_per_frame"]) > 0.0
        );
    }
}

#[test]
fn rows_1_to_6_of_the_built_in_world_have_the_sizes_of_the_article() {
    let document = json(&["measure", "--seconds", "1", "--level", "1,2,3,4,5,6"]);
    let max = |row: usize| document["levels"][row - 1]["bytes_per_frame"]["max"].as_u64().unwrap();
    let mean =
        |row: usize| document["levels"][row - 1]["bytes_per_frame"]["mean"].as_f64().unwrap();
    // 901 cubes of 321, 222, 159, 126 and 80 bits, and a bit that signals the same set of cubes as
    // in the baseline.
    for (row, bits) in [(1, 321), (2, 222), (3, 159), (5, 126), (6, 80)] {
        let bytes = (901 * bits + 1_u64).div_ceil(8);
        assert_eq!((max(row), mean(row)), (bytes, bytes as f64), "row {row}");
    }
    assert_eq!([1, 2, 3, 5, 6].map(max), [36_153, 25_003, 17_908, 14_191, 9_011]);
    // A cube at rest saves 32 of the 33 bits of its velocity; a moving cube takes one bit more.
    assert!(mean(4) < mean(3) && mean(4) > mean(5), "{}", mean(4));
    let kbps = document["levels"][0]["kbps_with_headers"].as_f64().unwrap();
    assert!((kbps - 17_368.8).abs() < 1e-6, "{kbps}");
}

#[test]
fn levels_are_selected_by_name_and_by_number() {
    let of = |levels: &[&str]| {
        let document = json(&[&["measure", "--seconds", "1", "--cubes", "20"], levels].concat());
        level_names(&document).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(of(&["--level", "packed"]), ["packed"]);
    assert_eq!(of(&["--level", "7"]), ["changed-bits"]);
    // In the order of the table, each once.
    assert_eq!(of(&["--level", "packed,9,at-rest"]), ["at-rest", "relative-indices", "packed"]);
    assert_eq!(
        of(&["--level", "12", "--level", "packed", "--level", "1"]),
        ["uncompressed", "packed"]
    );
}

#[test]
fn the_lag_decides_which_frames_have_a_baseline() {
    let world = ["measure", "--seconds", "1", "--cubes", "50", "--level", "packed", "--lag"];
    for (lag, frames) in [("1", 59), ("12", 48), ("59", 1)] {
        let document = json(&[&world[..], &[lag]].concat());
        assert_eq!(document["lag"].to_string(), lag);
        assert_eq!(document["frames"], frames);
    }
}

#[test]
fn every_profile_can_be_measured() {
    for profile in ["built-in", "article", "untrained"] {
        let world = [
            "measure",
            "--seconds",
            "1",
            "--cubes",
            "50",
            "--level",
            "9,10,11,12",
            "--profile",
            profile,
        ];
        assert_eq!(json(&world)["levels"].as_array().unwrap().len(), 4, "{profile}");
    }
}

#[test]
fn a_time_precision_saves_bytes_and_reports_the_errors() {
    let world =
        ["measure", "--seconds", "3", "--level", "relative-indices,packed,adaptive,learning"];
    let [exact, coarse] =
        ["0", "2"].map(|ms| json(&[&world[..], &["--time-precision-ms", ms]].concat()));
    for row in 0..4 {
        let [exact, coarse] = [&exact, &coarse].map(|document| &document["levels"][row]);
        assert!(exact.get("errors").is_none());
        let bytes = |level: &Value| level["bytes_per_frame"]["mean"].as_f64().unwrap();
        let Some(errors) = coarse.get("errors") else {
            // This level sends no differences, so the precision has no effect.
            assert_eq!((row, bytes(exact)), (0, bytes(coarse)));
            continue;
        };
        assert!(bytes(coarse) < 0.95 * bytes(exact), "{} of {}", bytes(coarse), bytes(exact));
        let largest_mm = errors["position_mm"]["max"].as_f64().unwrap();
        assert!((1.0..16.0 * 3f64.sqrt()).contains(&largest_mm), "{largest_mm} mm");
        assert!(
            errors["orientation_deg"]["max"]
                .as_f64()
                .is_some_and(|largest| (0.1..6.0).contains(&largest))
        );
    }
    let table = stdout(&[&world[..], &["--time-precision-ms", "2"]].concat());
    assert!(table.contains("Errors of the values that are not exact"), "{table}");
    for ms in ["-1", "4.9", "nan", "x"] {
        let refused = run(&["measure", &format!("--time-precision-ms={ms}")]);
        assert_eq!(
            (refused.code, refused.stderr.contains("--time-precision-ms")),
            (Some(2), true),
            "{}",
            refused.stderr
        );
    }
}

#[test]
fn a_profile_is_trained_on_captures_and_measured_with() {
    let files = Files::new();
    let capture = files.write("run.f32", &good_f32(40, 30));
    let profile = files.path("run.profile");
    let [capture, profile] = [&capture, &profile].map(|path| path.to_str().unwrap());
    let trained = run(&["train", capture, "--to", "30", "--passes", "2", "--out", profile]);
    assert_eq!((trained.code, trained.stdout.as_str()), (Some(0), ""), "{}", trained.stderr);
    assert!(
        trained.stderr.contains(profile) && trained.stderr.contains("trained on 30 frames"),
        "{}",
        trained.stderr
    );
    let document = json(&[
        "measure",
        capture,
        "--from",
        "30",
        "--level",
        "packed,adaptive",
        "--profile",
        profile,
    ]);
    assert_eq!(document["frames"], 10);
    let coarse = run(&[
        "train",
        capture,
        "--passes",
        "1",
        "--time-precision-ms",
        "2",
        "--out",
        profile,
        "--force",
    ]);
    assert_eq!(coarse.code, Some(0), "{}", coarse.stderr);
    assert_eq!(
        json(&["measure", capture, "--level", "learning", "--profile", profile])["frames"],
        34
    );
    let refused = refusal(&["measure", capture, "--profile", capture]);
    assert!(refused.contains("this is not a profile"), "{refused}");
    let refused = refusal(&["train", capture, "--to", "1", "--out", profile, "--force"]);
    assert!(refused.contains("too short"), "{refused}");
}

#[test]
fn the_demo_sends_a_capture() {
    let files = Files::new();
    let capture = files.write("run.f32", &good_f32(40, 30));
    let document = json(&[
        "demo",
        "--headless",
        "--fast",
        "--level",
        "adaptive",
        "--capture",
        capture.to_str().unwrap(),
    ]);
    assert_eq!(document["wrong_lanes"], 0);
    let recorded = files.path("world");
    let recorded = recorded.to_str().unwrap();
    assert_eq!(run(&["record", recorded, "--seconds", "1", "--cubes", "20"]).code, Some(0));
    let document = json(&["demo", "--headless", "--fast", "--velocities", "--capture", recorded]);
    assert_eq!(document["wrong_lanes"], 0);
    let sent = document["frames_sent"].as_u64().unwrap();
    assert!((50..=60).contains(&sent), "a second, without ticks at rest: {sent}");
    let quantized = files.write("run.bin", &good_bin(8));
    let refused = refusal(&["demo", "--capture", quantized.to_str().unwrap()]);
    assert!(refused.contains("use a .f32 file"), "{refused}");
}

#[test]
fn challenge_files_are_measured_at_the_levels_that_they_allow() {
    let files = Files::new();
    let [bin, f32] = [("run.bin", good_bin(8)), ("run.f32", good_f32(8, 40))];
    for (name, bytes) in [bin, f32] {
        let plain = files.write(name, &bytes);
        let packed = files.write(&format!("{name}.zst"), &zst(&bytes));
        let [plain, packed] = [&plain, &packed].map(|path| path.to_str().unwrap());
        let document = json(&["measure", plain]);
        let levels = if name == "run.bin" { &all_names()[5..] } else { &all_names()[..] };
        assert_eq!(level_names(&document), levels);
        assert_eq!(document["file"], *plain);
        assert_eq!(document["frames"], 2);
        let unpacked = json(&["measure", packed]);
        assert_eq!(level_names(&unpacked), levels);
        for (packed, plain) in unpacked["levels"]
            .as_array()
            .unwrap()
            .iter()
            .zip(document["levels"].as_array().unwrap())
        {
            assert_eq!(packed["bytes_per_frame"], plain["bytes_per_frame"]);
        }
    }
}

#[test]
fn bad_challenge_files_are_refused_in_one_line() {
    let files = Files::new();
    let run = good_bin(8);
    let frame = OBJECTS * 32;
    let mut high: Vec<Vec<_>> =
        states(8, OBJECTS).iter().map(|states| states.iter().map(record).collect()).collect();
    high[7][13][1] = 512;
    let mut far = states(8, 5);
    far[3][4].position[2] = -0.5;
    let mut lost = states(8, 5);
    lost[2][1].orientation = [0.0; 4];
    let bad = [
        ("cut.bin", run[..7 * frame + 9].to_vec(), "frame 7 has 9 of 28832 bytes"),
        ("odd.bin", [&run[..], &[0; 3]].concat(), "frame 8 has 3 of 28832 bytes"),
        ("empty.bin", Vec::new(), "holds no frame"),
        ("foreign.f32", run.clone(), "does not begin with CF32"),
        (
            "version.f32",
            f32_file(Header { version: 2, ..Header::new(5, 8) }, &states(8, 5)),
            "version is not 1",
        ),
        ("billions.f32", Header::new(4_000_000_000, 8).bytes(), "number of objects"),
        ("fewer.f32", f32_file(Header::new(5, 9), &states(8, 5)), "frame 8 has 0 of 265 bytes"),
        ("more.f32", f32_file(Header::new(5, 7), &states(8, 5)), "more data than the 7 frames"),
        ("run.txt", run.clone(), "must end in .bin"),
        ("foreign.bin.zst", run.clone(), "zstd data damaged"),
        ("cut.bin.zst", zst(&run)[..500].to_vec(), "zstd data damaged"),
        ("high.bin", bin(&high), "frame 7, object 13: first component 512 is out of range"),
        (
            "far.f32",
            f32_file(Header::new(5, 8), &far),
            "frame 3, object 4: field `position`: -0.5 is outside",
        ),
        ("lost.f32", f32_file(Header::new(5, 8), &lost), "frame 2, object 1: field `orientation`"),
        ("short.bin", good_bin(6), "6 frames are too few for a baseline 6 ticks back"),
    ];
    for (name, bytes, says) in bad {
        let path = files.write(name, &bytes);
        let path = path.to_str().unwrap();
        for arguments in [&["measure", path][..], &["measure", path, "--json"]] {
            let message = refusal(arguments);
            assert!(message.contains(says), "{message:?} does not say {says:?}");
            assert!(
                name == "short.bin" || message.contains(path),
                "{message:?} does not name the file"
            );
        }
    }
    let message = refusal(&["measure", files.path("missing.bin").to_str().unwrap()]);
    assert!(message.contains("missing.bin"), "{message}");
    let run = files.write("run.bin", &run);
    let message = refusal(&["measure", run.to_str().unwrap(), "--level", "packed,1"]);
    assert!(message.contains("level 1 (uncompressed) needs floats"), "{message}");
    let message = refusal(&["measure", "--seconds", "1", "--cubes", "5", "--lag", "60"]);
    assert!(message.contains("60 frames are too few"), "{message}");
    // What is too short for another reason than the lag.
    let run = files.write("longer.bin", &good_bin(40));
    let run = run.to_str().unwrap();
    let out = files.path("out.profile");
    let out = out.to_str().unwrap();
    let empty = files.path("empty.mcap");
    let mut recorder = kinepack_capture::Recorder::create(&empty).unwrap();
    recorder.stream::<bool>("lamps", 60.0).unwrap();
    recorder.finish().unwrap();
    let empty = empty.to_str().unwrap();
    for (arguments, says) in [
        (&["measure", run, "--from", "500"][..], "--from 500: it has 40 frames"),
        (
            &["tune", run, "--hold-out", "90"],
            "4 frames of 40 remain to train on with --hold-out 90",
        ),
        (
            &["train", run, "--out", out, "--from", "10", "--to", "5"],
            "no frame from 10 on and before 5",
        ),
        (&["train", run, "--out", out, "--from", "40"], "no frame from 40 on"),
        (&["measure", run, "--profile", "/dev/zero"], "this is not a profile"),
        // A shorter lag helps, and holding out less only if there is enough then.
        (
            &["tune", run, "--hold-out", "1", "--lag", "60"],
            "120 ticks back; give a shorter --lag\n",
        ),
        (&["tune", run, "--hold-out", "90"], "give a shorter --lag, or hold out less\n"),
        (&["measure", empty, "--from", "1"], "it has no frames\n"),
        (&["measure", "/dev/null"], "a pipe or a device can be read only once"),
        (&["analyze", empty], "it has no frames\n"),
        (&["tune", empty], "it has no frames\n"),
        (&["replay", empty], "it has no frames\n"),
    ] {
        let message = refusal(arguments);
        assert!(message.contains(says), "{message:?} does not say {says:?}");
    }
}

#[test]
fn bad_arguments_are_refused_with_the_allowed_values() {
    for level in ["loud", "15", ""] {
        let message = refusal(&["measure", "--level", level]);
        assert!(message.contains("1 uncompressed") && message.contains("12 packed"), "{message}");
    }
    let bad: [(&[&str], &str); 14] = [
        (&["measure", "--lag", "0"], "1..=600"),
        (&["measure", "--style", "loud"], "typical, push, pull, rest"),
        (&["measure", "run.bin", "--seed", "2"], "cannot be used with"),
        (&["measure", "--profile", "loud"], "untrained"),
        (&["demo", "--seconds", "0"], "1..=86400"),
        (&["demo", "--link", "loud"], "lan, cable, wifi, mobile, terrible"),
        (&["demo", "--loss", "101"], "'--loss <PERCENT>': give a number from 0 to 100 percent"),
        (&["demo", "--jitter-ms", "-1"], "give a number from 0 to 3600000 ms"),
        (&["demo", "--mtu", "3"], "28..=65535"),
        (&["simulate", "--outage", "8..5"], "8 is after 5"),
        (&["sweep", "--seconds", "-5"], "-5 is not in 1..=86400"),
        (&["demo", "--send-hz", "7"], "divide the world's 60"),
        (&["simulate", "--round-trips-ms", "9"], "10..200"),
        (&["loud"], "unrecognized subcommand"),
    ];
    for (arguments, says) in bad {
        let run = run(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(run.stderr.contains(says), "{:?} does not say {says:?}", run.stderr);
    }
}

#[test]
fn the_demo_ends_with_a_summary_and_no_wrong_lanes() {
    let text = stdout(&["demo", "--seconds", "2", "--cubes", "200", "--headless", "--fast"]);
    for what in [
        "--seconds 2 --seed 1 --cubes 200",
        "--link wifi",
        "with IP and UDP headers",
        "playout delay",
        "input: bits a packet",
    ] {
        assert!(text.contains(what), "{what} in\n{text}");
    }
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("lanes that arrived wrong") && last.ends_with(" 0"), "{last}");
}

#[test]
fn the_json_document_of_the_demo_has_its_keys() {
    let options =
        ["--link", "mobile", "--loss", "10", "--burst", "3", "--send-hz", "30", "--velocities"];
    let document =
        json(&[&["demo", "--seconds", "3", "--headless", "--fast"], &options[..]].concat());
    assert_eq!(document["wrong_lanes"], 0);
    for key in [
        "frames_sent",
        "states_shown",
        "kbps_payload",
        "kbps_total",
        "round_trip_ms",
        "playout_delay_ms",
    ] {
        assert!(document[key].as_f64().is_some_and(|value| value > 0.0), "{key} in {document}");
    }
    assert!(
        document["loss_ratio"].as_f64().is_some_and(|ratio| (0.01..0.3).contains(&ratio)),
        "{document}"
    );
    for key in ["shown_error_mm", "shown_error_deg"] {
        for part in ["p50", "p99", "max"] {
            assert!(document[key][part].is_number(), "{key}.{part} in {document}");
        }
    }
    assert_eq!(document["link"], "--link mobile --loss 10 --burst 3");
    let input = &document["input"];
    assert_eq!([&input["records"], &input["packets"], &input["wrong"]], [180, 180, 0], "{input:#}");
    let [mean, full] = ["mean", "full"].map(|of| input["bits_per_packet"][of].as_f64().unwrap());
    assert!(32.0 < mean && mean < full, "{input:#}");
    for key in ["kbps_payload", "kbps_with_headers", "received", "recovered"] {
        assert!(input[key].as_f64().is_some_and(|value| value > 0.0), "{key} in {input:#}");
    }
}

#[test]
fn playback_recovers_after_an_outage() {
    // After a short outage both sides still share a view. After a long one, a full state is sent
    // again.
    for (seconds, outage, blocks) in [("12", "2..9", 1), ("74", "2..70", 2)] {
        let options = [
            "--seconds",
            seconds,
            "--cubes",
            "300",
            "--level",
            "packed",
            "--fast",
            "--link",
            "cable",
            "--outage",
            outage,
        ];
        let document = json(&[&["demo", "--headless"], &options[..]].concat());
        assert_eq!(document["wrong_lanes"], 0);
        assert_eq!(document["blocks"], blocks, "{document}");
        let received = document["frames_received"].as_u64().unwrap();
        assert!((250..450).contains(&received), "about five seconds: {received}");
        let moves_mm = document["shown_error_mm"]["p50"].as_f64().unwrap();
        assert!(moves_mm < 3.0, "{document}");
    }
}

#[test]
fn a_simulation_counts_every_receiver_and_no_wrong_lanes() {
    let document =
        json(&["simulate", "--seconds", "2", "--receivers", "20", "--round-trips-ms", "10..200"]);
    assert_eq!(
        (&document["receivers"], &document["wrong_lanes"]),
        (&Value::from(20), &Value::from(0))
    );
    let crowd = ["--objects", "3000", "--moving", "1000", "--budget-kbps", "256"];
    let document = json(&[&["simulate", "--seconds", "3", "--loss", "5"], &crowd[..]].concat());
    assert_eq!(document["wrong_lanes"], 0);
    let kbps = document["first"]["kbps_total"].as_f64().unwrap();
    // A budget can save up a tenth of a second, and begins with that much.
    assert!((100.0..256.0 * 3.1 / 3.0).contains(&kbps), "the budget: {kbps}");
    assert!(
        document["first"]["frames_with_left_out"].as_u64().is_some_and(|count| count > 0),
        "{document}"
    );
}

#[test]
fn a_simulation_with_faults_heals_all_that_it_notices() {
    let crowd = ["simulate", "--seconds", "40", "--objects", "60", "--moving", "30"];
    let document =
        json(&[&crowd[..], &["--link", "cable", "--loss", "0", "--fault-every", "4"]].concat());
    let (first, faults) = (&document["first"], &document["first"]["faults"]);
    assert_eq!(
        (&document["wrong_lanes"], &faults["injected"]),
        (&Value::from(0), &Value::from(10))
    );
    assert!(faults["noticed"].as_u64().is_some_and(|count| count >= 8), "{faults}");
    for healed in ["healed", "healed_within_three_round_trips"] {
        assert_eq!(faults[healed], faults["noticed"], "{faults}");
    }
    assert_eq!(first["failed_checks"], faults["noticed"]);
    assert_eq!(faults["false_alarms"], 0);
}

#[test]
fn a_sweep_draws_its_curves() {
    let files = Files::new();
    let path = files.path("sweep.svg");
    let document =
        json(&["sweep", "--seconds", "1", "--cubes", "20", "--svg", path.to_str().unwrap()]);
    for key in ["over_loss", "over_round_trip"] {
        let points = document[key].as_array().unwrap();
        assert!(
            points.len() > 4 && points.iter().all(|point| point["wrong_lanes"] == 0),
            "{document}"
        );
    }
    assert!(std::fs::read_to_string(path).unwrap().starts_with("<svg"));
}

#[test]
fn the_same_seed_gives_the_same_sizes() {
    let sizes = |seed: &str| {
        let document = json(&[
            "measure",
            "--seconds",
            "2",
            "--cubes",
            "100",
            "--style",
            "push",
            "--seed",
            seed,
        ]);
        let levels = document["levels"].as_array().unwrap();
        levels
            .iter()
            .map(|level| {
                level["bytes_per_frame"].to_string() + &level["bits_per_frame"].to_string()
            })
            .collect()
    };
    let first: Vec<String> = sizes("3");
    assert_eq!(first, sizes("3"));
    assert_ne!(first, sizes("4"));
}

#[test]
fn a_closed_standard_output_is_not_a_failure() {
    for arguments in [&["measure", "--json"][..], &["measure"], &["demo", "--headless", "--fast"]] {
        let mut command = program();
        command.args(arguments).args(["--seconds", "1", "--cubes", "20"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_closed_standard_error_is_not_a_failure() {
    let files = Files::new();
    let capture = files.path("run.mcap");
    let capture = capture.to_str().unwrap();
    for (arguments, code) in [
        (&["record", capture, "--seconds", "1", "--cubes", "5"][..], 0),
        (&["measure", "missing.bin"], 2),
    ] {
        let mut command = program();
        let mut child =
            command.args(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stderr.take());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn help_and_version_are_there() {
    for (arguments, says) in [
        (&["--help"][..], "Commands:"),
        (&["--version"], "kinepack "),
        (&["demo", "--help"], "--fast"),
        (&["measure", "--help"], "Built-in world:"),
    ] {
        assert!(stdout(arguments).contains(says), "{arguments:?}");
    }
}
