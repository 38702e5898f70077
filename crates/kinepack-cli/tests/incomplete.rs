//! Tests captures and replays that are damaged, wrong, or have missing ticks, and the messages and
//! exit codes of the commands.

use std::path::Path;

use kinepack::{EntityId, Tick};
use kinepack_capture::Recorder;
use serde_json::Value;

use crate::challenge::Files;
use crate::support::drone::Drone;
use crate::support::program::{json, refusal, run};

/// Records twenty drones that move evenly at the ticks `ticks`, with a chunk for each ten frames.
fn record(files: &Files, name: &str, rate_hz: f64, ticks: impl IntoIterator<Item = u32>) -> String {
    let path = files.path(name);
    let mut recorder = Recorder::create(&path).unwrap();
    let stream = recorder.stream::<Drone>("drones", rate_hz).unwrap();
    for (frame, tick) in ticks.into_iter().enumerate() {
        let drones = (0..20).map(|id| {
            let at = tick as f32 * (0.05 + 0.003 * id as f32);
            (EntityId(id), Drone { position: [at % 400.0, -0.5 * at % 300.0, 1.0], battery: 50 })
        });
        recorder.record(&stream, Tick(tick), drones).unwrap();
        if frame % 10 == 9 {
            recorder.flush().unwrap();
        }
    }
    recorder.finish().unwrap();
    path.to_str().unwrap().to_owned()
}

/// Returns the ranges of a file's chunks in bytes.
fn chunks(file: &[u8]) -> Vec<std::ops::Range<usize>> {
    let (mut at, mut chunks) = (8, Vec::new());
    while at + 9 < file.len() {
        let length = u64::from_le_bytes(file[at + 1..at + 9].try_into().unwrap()) as usize;
        if file[at] == 6 {
            chunks.push(at..at + 9 + length);
        }
        at += 9 + length;
    }
    chunks
}

/// Returns a copy of a file with one changed byte in the middle of the second chunk.
fn damaged(files: &Files, name: &str, file: &str) -> String {
    let mut bytes = std::fs::read(file).unwrap();
    let chunk = chunks(&bytes)[1].clone();
    bytes[(chunk.start + chunk.end) / 2] ^= 1;
    files.write(name, &bytes).to_str().unwrap().to_owned()
}

#[test]
fn a_command_that_lost_frames_finishes_its_work_and_ends_with_1() {
    let files = Files::new();
    let whole = record(&files, "whole.mcap", 30.0, 0..120);
    let file = damaged(&files, "damaged.mcap", &whole);
    let out = |name: &str| files.path(name).to_str().unwrap().to_owned();
    let [csv, kpz, profile] = ["a.csv", "a.kpz", "a.profile"].map(out);
    let quick = ["--passes", "1", "--lag", "3"];
    for arguments in [
        &["measure", &file, "--level", "packed"][..],
        &["analyze", &file],
        &["replay", &file, "--level", "packed"],
        &["tune", &file, quick[0], quick[1], quick[2], quick[3]],
        &["train", &file, "--passes", "1", "--out", &profile],
        &["convert", &file, &csv],
        &["pack", &file, &kpz],
    ] {
        let run = run(arguments);
        assert_eq!(run.code, Some(1), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains("damaged.mcap: damaged at byte "), "{}", run.stderr);
        let last = run.stderr.lines().last().unwrap();
        assert!(last.ends_with("10 frames were lost; all others were read"), "{last}");
    }
    let rows = std::fs::read_to_string(&csv).unwrap().lines().count();
    assert_eq!(rows, 1 + 110 * 20);
    assert_eq!(json(&["info", &kpz, "--verify"])["frames"], 110);
    assert!(Path::new(&profile).exists());
    let measured = run(&["measure", &file, "--level", "packed", "--json"]);
    let measured: Value = serde_json::from_str(&measured.stdout).unwrap();
    // The lag is 3 ticks, and after the gap each frame has a baseline at once.
    assert_eq!(measured["frames"], 107);
}

#[test]
fn a_file_of_which_no_frame_is_left_is_refused() {
    let files = Files::new();
    let whole = record(&files, "whole.mcap", 30.0, 0..10);
    let bytes = std::fs::read(whole).unwrap();
    let mut other = bytes;
    for chunk in chunks(&other) {
        let name = other[chunk.clone()].windows(4).position(|bytes| bytes == b"zstd").unwrap();
        other[chunk.start + name..chunk.start + name + 4].copy_from_slice(b"lzma");
    }
    let file = files.write("lzma.mcap", &other).to_str().unwrap().to_owned();
    let kpz = files.path("a.kpz").to_str().unwrap().to_owned();
    let csv = files.path("a.csv").to_str().unwrap().to_owned();
    for arguments in [
        &["measure", &file][..],
        &["convert", &file, &csv],
        &["pack", &file, &kpz],
        &["analyze", &file],
    ] {
        let refused = refusal(arguments);
        let reason = "a chunk is compressed by \"lzma\"; only zstd and lz4 can be read";
        assert!(refused.contains("lzma.mcap: no frame can be read: not supported"), "{refused}");
        assert!(refused.contains(reason), "{refused}");
    }
    assert!(!Path::new(&kpz).exists() && !Path::new(&csv).exists());
}

#[test]
fn a_damaged_replay_ends_with_1_too() {
    let files = Files::new();
    let whole = record(&files, "whole.mcap", 30.0, 0..300);
    let path = |name: &str| files.path(name).to_str().unwrap().to_owned();
    let kpz = path("whole.kpz");
    assert_eq!(run(&["pack", &whole, &kpz]).code, Some(0));
    let file = damaged(&files, "damaged.kpz", &kpz);
    for out in ["a.mcap", "a.csv"].map(path) {
        let unpacked = run(&["unpack", &file, &out]);
        assert_eq!(unpacked.code, Some(1), "{out}: {}", unpacked.stderr);
        assert!(unpacked.stderr.contains("all others were read"), "{}", unpacked.stderr);
        assert!(Path::new(&out).exists());
    }
    for arguments in [&["measure", &file, "--level", "packed"][..], &["info", &file, "--verify"]] {
        assert_eq!(run(arguments).code, Some(1), "{arguments:?}");
    }
}

/// Returns a capture with another schema document, in chunks that are not compressed.
fn with_schema(files: &Files, whole: &str, from: &str, to: &str) -> String {
    let whole = std::fs::read(whole).unwrap();
    let options = mcap::WriteOptions::new().compression(None);
    let mut writer = options.create(std::io::Cursor::new(Vec::new())).unwrap();
    for message in mcap::MessageStream::new(&whole).unwrap() {
        let message = message.unwrap();
        let schema = message.channel.schema.as_ref().unwrap();
        let json = std::str::from_utf8(&schema.data).unwrap();
        assert!(json.contains(from), "{from} in {json}");
        let json = json.replacen(from, to, 1);
        let schema = writer.add_schema(&schema.name, &schema.encoding, json.as_bytes()).unwrap();
        let mcap::Channel { topic, message_encoding, metadata, .. } = &*message.channel;
        let channel_id = writer.add_channel(schema, topic, message_encoding, metadata).unwrap();
        let header = mcap::records::MessageHeader {
            channel_id,
            sequence: message.sequence,
            log_time: message.log_time,
            publish_time: message.publish_time,
        };
        writer.write_to_known_channel(&header, &message.data).unwrap();
    }
    writer.finish().unwrap();
    let file = writer.into_inner().into_inner();
    files.write("changed.mcap", &file).to_str().unwrap().to_owned()
}

#[test]
fn a_mistake_in_a_schema_is_named_with_stream_field_and_reason() {
    let files = Files::new();
    let whole = record(&files, "whole.mcap", 30.0, 0..10);
    let hash = format!("{:016x}", kinepack::Schema::of::<Drone>().hash());
    let other_hash = "0123456789abcdef";
    for (from, to, reasons) in [
        (&*hash, other_hash, [&*format!("the hash {other_hash:?}"), &*format!("have {hash}")]),
        (
            "\"max_code\":99999",
            "\"max_code\":99998",
            ["field \"position\"", "axis 0: the largest code is 99998"],
        ),
        (
            "\"highest\":499.995",
            "\"highest\":599.995",
            ["field \"position\"", "highest is 599.995"],
        ),
        (
            "\"role\":\"plain\"",
            "\"role\":\"plane\"",
            ["field \"position\"", "unknown variant `plane`"],
        ),
    ] {
        let file = with_schema(&files, &whole, from, to);
        for arguments in [&["measure", &file][..], &["analyze", &file]] {
            let refused = refusal(arguments);
            assert!(refused.contains("changed.mcap: no frame can be read: "), "{refused}");
            assert!(refused.contains("stream \"drones\": "), "{refused}");
            for reason in reasons {
                assert!(refused.contains(reason), "{reason}: {refused}");
            }
        }
    }
}

#[test]
fn a_nan_is_named_alike_by_all_commands() {
    let files = Files::new();
    let path = files.path("nan.mcap");
    let mut recorder = Recorder::create(&path).unwrap();
    let stream = recorder.stream::<Drone>("drones", 30.0).unwrap();
    for tick in 0..60 {
        let drone = |id| {
            let x = if (tick, id) == (37, 5) { f32::NAN } else { tick as f32 };
            (EntityId(id), Drone { position: [0.0, x, 0.0], battery: 1 })
        };
        recorder.record(&stream, Tick(tick), (3..8).map(drone)).unwrap();
    }
    recorder.finish().unwrap();
    let file = path.to_str().unwrap();
    let out = |name: &str| files.path(name).to_str().unwrap().to_owned();
    let mut messages = Vec::new();
    for arguments in [
        &["measure", file, "--level", "packed"][..],
        &["analyze", file],
        &["replay", file],
        &["tune", file],
        &["train", file, "--out", &out("a.profile")],
        &["pack", file, &out("a.kpz")],
    ] {
        messages.push(refusal(arguments));
    }
    let expected =
        "stream \"drones\", tick 37, entity 5: field \"position\": the value is not a number";
    assert!(messages[0].contains(expected), "{}", messages[0]);
    assert!(messages.iter().all(|message| *message == messages[0]), "{messages:#?}");
    // A table shows the numbers exactly as they were recorded.
    assert_eq!(run(&["convert", file, &out("a.csv")]).code, Some(0));
}

/// Returns a text without its line breaks.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn level<'a>(report: &'a Value, name: &str) -> &'a Value {
    let levels = report["levels"].as_array().unwrap();
    levels.iter().find(|level| level["level"] == name).unwrap()
}

#[test]
fn missing_ticks_are_time_in_which_nothing_is_sent() {
    let files = Files::new();
    let even = record(&files, "even.mcap", 60.0, 0..200);
    // This capture has the same world and the same frames, but its ticks are half as long.
    let gaps = record(&files, "gaps.mcap", 120.0, (0..400).step_by(2));
    let of = |file: &str| json(&["measure", file, "--level", "packed,adaptive", "--lag", "12"]);
    let (even_report, gap_report) = (of(&even), of(&gaps));
    assert_eq!(
        (&even_report["frames_per_s"], &gap_report["frames_per_s"]),
        (&60.0.into(), &60.0.into())
    );
    for (report, frames) in [(&even_report, 188), (&gap_report, 194)] {
        assert_eq!(report["frames"], frames);
        let packed = level(report, "packed");
        let (bytes, kbps) = (&packed["bytes_per_frame"]["mean"], &packed["kbps_payload"]);
        let expected = bytes.as_f64().unwrap() * 8.0 * 60.0 / 1e3;
        assert!((kbps.as_f64().unwrap() - expected).abs() < 1e-9, "{packed}");
    }
    let text = words(&run(&["measure", &gaps, "--level", "packed"]).stdout);
    assert!(text.contains("60.0 a second (ticks at 120 Hz)"), "{text}");
    assert!(text.contains("against the newest one that is 12 ticks older or more"), "{text}");
    let analyzed = json(&["analyze", &gaps, "--lag", "12"]);
    let stream = &analyzed["streams"][0];
    assert_eq!((&stream["frames_per_s"], &stream["compared"]), (&60.0.into(), &194.into()));
    assert_eq!(
        level(stream, "packed")["bytes_per_frame"],
        level(&gap_report, "packed")["bytes_per_frame"]["mean"]
    );
    let replayed = json(&["replay", &gaps, "--level", "packed", "--link", "lan"]);
    assert_eq!(
        (&replayed["frames"], replayed["runs"][0]["received"].as_u64() > Some(190)),
        (&200.into(), true)
    );
    let frames_per_s = replayed["frames_per_s"].as_f64().unwrap();
    assert!((frames_per_s - 60.0).abs() < 1e-9, "{replayed}");
    assert!(replayed["runs"][0]["stalled_ratio"].as_f64().unwrap() < 0.05, "{replayed}");
}

#[test]
fn what_tune_promises_for_a_capture_with_gaps_its_profile_keeps() {
    let files = Files::new();
    // The distances between frames are one to four ticks.
    let ticks = (0..400_u32).scan(0, |tick, frame| {
        *tick += 1 + frame * frame % 7 % 4;
        Some(*tick)
    });
    let file = record(&files, "gaps.mcap", 30.0, ticks);
    let profile = files.path("gaps.profile").to_str().unwrap().to_owned();
    let tuned = json(&["tune", &file, "--passes", "2", "--out", &profile]);
    let part = |profile: &str, part: &str| tuned[profile][part]["adaptive"].as_f64().unwrap();
    let promised = part("tuned", "held_out") / part("built_in", "held_out");
    let from = tuned["training_frames"].to_string();
    let bytes = |profile: &str| {
        let report =
            json(&["measure", &file, "--level", "adaptive", "--from", &from, "--profile", profile]);
        level(&report, "adaptive")["bytes_per_frame"]["mean"].as_f64().unwrap()
    };
    let kept = bytes(&profile) / bytes("untrained");
    assert!(promised < 0.9, "{tuned}");
    assert!((kept - promised).abs() < 1e-6, "{kept} instead of {promised}");
}

#[test]
fn a_replay_of_tiny_or_huge_ticks_is_refused_or_explained() {
    let files = Files::new();
    let brief = record(&files, "brief.mcap", 1e6, 0..120);
    let refused = refusal(&["replay", &brief]);
    assert!(
        refused.contains("the capture lasts 0.120 ms, and a round trip over the link"),
        "{refused}"
    );
    let slow = record(&files, "slow.mcap", 0.1, 0..30);
    let report = json(&["replay", &slow, "--level", "packed"]);
    let note = report["notes"][0].as_str().unwrap();
    assert!(note.contains("frames are 10000 ms apart, and playback waits 500 ms"), "{note}");
    let received = report["runs"][0]["received"].as_u64().unwrap();
    assert!(received > 20, "{report}");
    assert!(words(&run(&["replay", &slow]).stdout).contains("which counts as stalled"));
    let usual = record(&files, "usual.mcap", 30.0, 0..60);
    assert!(json(&["replay", &usual])["notes"].is_null());
}
