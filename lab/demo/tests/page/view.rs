//! Tests the server of `anim view`: the page, clips as JSON, poses and tracks as floats, and
//! refusals.

use std::net::SocketAddr;

use serde_json::Value;

use super::http::{get, request};
use super::serving::assert_files_are_protected;
use crate::support::figure::{self, JOINTS, RATE_HZ, SAMPLES};
use crate::support::running::{Running, number};

const TIMES: usize = 2 * SAMPLES - 1;

fn json(address: SocketAddr, path: &str) -> Value {
    let answer = get(address, path);
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"), "{path}");
    serde_json::from_str(&answer.body).unwrap()
}

/// Returns the four numbers at the beginning of an answer, and the floats after them.
fn floats(address: SocketAddr, path: &str) -> ([usize; 4], Vec<f32>) {
    let answer = get(address, path);
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, "application/octet-stream"),
        "{path}"
    );
    let words: Vec<[u8; 4]> = answer.bytes.chunks(4).map(|word| word.try_into().unwrap()).collect();
    let head = std::array::from_fn(|index| u32::from_le_bytes(words[index]) as usize);
    (head, words[4..].iter().map(|word| f32::from_le_bytes(*word)).collect())
}

#[test]
fn the_page_is_served_like_that_of_the_demo() {
    let (_folder, files) = figure::files();
    let (_view, address) = Running::view(&files);
    assert_files_are_protected(address);
    for path in ["/clips", "/clips/0", "/clips/0/poses", "/clips/0/tracks/1/rotation", "/clips/7"] {
        let answer = get(address, path);
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert!(answer.header("content-security-policy").contains("default-src 'none'"), "{path}");
        assert_eq!(request(address, "GET", path, "evil.example").status, 403, "{path}");
        assert_eq!(request(address, "POST", path, &address.to_string()).status, 405, "{path}");
    }
}

#[test]
fn clips_of_blocks_are_described() {
    assert_clips_are_described("block");
}

#[test]
fn clips_of_keys_are_described() {
    assert_clips_are_described("keyed");
}

fn assert_clips_are_described(scheme: &str) {
    let (_folder, files) = figure::files();
    let (_view, address) = Running::view_of(scheme, &files);
    let list = json(address, "/clips");
    let names: Vec<_> =
        list.as_array().unwrap().iter().map(|line| line["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["stroll", "hurry"]);
    for (index, line) in list.as_array().unwrap().iter().enumerate() {
        let clip = json(address, &format!("/clips/{index}"));
        for (key, value) in line.as_object().unwrap() {
            assert_eq!(&clip[key], value, "{key}");
        }
        assert_eq!(
            (number(line, "joint_count"), number(line, "samples")),
            (JOINTS as f64, SAMPLES as f64)
        );
        assert_eq!(number(line, "rate_hz"), f64::from(RATE_HZ));
        assert!(
            (number(line, "ratio") - number(line, "raw_bytes") / number(line, "bytes")).abs()
                < 1e-9
        );
        assert!(number(line, "max_cm") <= number(line, "precision_cm"));

        let parts = clip["parts"].as_array().unwrap();
        assert_eq!(
            parts.iter().map(|part| number(part, "bytes")).sum::<f64>(),
            number(line, "bytes")
        );
        let joints = clip["joints"].as_array().unwrap();
        assert_eq!(joints.len(), JOINTS);
        let mut keys = 0.0;
        for (at, joint) in joints.iter().enumerate() {
            assert!(
                joint["parent"].as_u64().map_or(at == 0, |parent| parent < at as u64),
                "{joint}"
            );
            assert!(number(&joint["errors"], "max_cm") <= number(line, "max_cm"));
            let channels: Vec<_> =
                joint["tracks"].as_array().unwrap().iter().map(|track| &track["channel"]).collect();
            assert_eq!(channels, ["rotation", "translation", "scale"]);
            for track in joint["tracks"].as_array().unwrap() {
                assert_eq!(number(track, "keys") > 0.0, track["kind"] == "keys", "{track}");
                assert_eq!(
                    track["bytes"].as_u64().is_some(),
                    track["kind"] == "animated",
                    "{track}"
                );
                keys += number(track, "keys");
            }
        }
        assert_eq!(keys, number(&clip, "keys"));
        assert_eq!((keys > 0.0, clip["blocks"].is_null()), (scheme == "keyed", scheme == "keyed"));
        let has_samples = |blocks: &Value| [8.0, 16.0, 32.0].contains(&number(blocks, "samples"));
        assert!(scheme == "keyed" || has_samples(&clip["blocks"]), "{clip}");
        // The hips move up and down, and keep the scale of the bind pose.
        assert!(
            joints[0]["tracks"][1]["kind"] != "default"
                && joints[0]["tracks"][2]["kind"] == "default"
        );
    }
}

#[test]
fn poses_are_served_at_the_samples_and_between_them() {
    let (_folder, files) = figure::files();
    let (_view, address) = Running::view(&files);
    let clip = json(address, "/clips/1");
    let (head, floats) = floats(address, "/clips/1/poses");
    assert_eq!(head, [TIMES, JOINTS, 1, 0]);
    assert_eq!(floats.len(), TIMES * JOINTS * 7);
    let (raw, rest) = floats.split_at(TIMES * JOINTS * 3);
    let (played, errors) = rest.split_at(TIMES * JOINTS * 3);
    // The hips begin at the figure's position. The head is always above them.
    assert_eq!(raw[..3], [0.0, 95.0, 0.0]);
    let pose =
        |positions: &[f32], time: usize, joint: usize| positions[(time * JOINTS + joint) * 3 + 1];
    assert!((0..TIMES).all(|time| pose(raw, time, 3) > pose(raw, time, 0) + 60.0));
    let largest = |times: &mut dyn Iterator<Item = usize>| {
        times.flat_map(|time| &errors[time * JOINTS..][..JOINTS]).copied().fold(0.0, f32::max)
    };
    let close = |error: f32, told: f64| (f64::from(error) - told).abs() < 1e-6;
    assert!(close(largest(&mut (0..TIMES).step_by(2)), number(&clip["errors"], "max_cm")));
    assert!(close(largest(&mut (1..TIMES).step_by(2)), number(&clip["between"], "max_cm")));
    // The error of a joint itself is at most a little larger than the error at a distance from the
    // joint.
    for (index, (raw, played)) in raw.chunks(3).zip(played.chunks(3)).enumerate() {
        let apart = raw.iter().zip(played).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt();
        assert!(apart <= errors[index] * 2.0 + 1e-4, "{index}: {apart}, {}", errors[index]);
    }
}

#[test]
fn a_keyed_track_is_served_with_its_keys() {
    assert!(assert_tracks_are_served("keyed") > 0);
}

#[test]
fn a_block_track_is_served_without_keys() {
    assert_eq!(assert_tracks_are_served("block"), 0);
}

/// Asserts that the program serves tracks. Returns their number of keys.
fn assert_tracks_are_served(scheme: &str) -> usize {
    let (_folder, files) = figure::files();
    let (_view, address) = Running::view_of(scheme, &files);
    let clip = json(address, "/clips/0");
    let mut keyed = 0;
    for (joint, channel, size) in [
        (0, "translation", 3),
        (1, "rotation", 4),
        (10, "rotation", 4),
        (12, "scale", 3),
        (14, "translation", 3),
    ] {
        let (head, floats) = floats(address, &format!("/clips/0/tracks/{joint}/{channel}"));
        let at =
            ["rotation", "translation", "scale"].iter().position(|name| *name == channel).unwrap();
        let keys = number(&clip["joints"][joint]["tracks"][at], "keys") as usize;
        assert_eq!(head, [TIMES, size, 1, keys], "{joint} {channel}");
        assert_eq!(floats.len(), 2 * TIMES * size + keys * (1 + size));
        let (raw, rest) = floats.split_at(TIMES * size);
        let (played, rest) = rest.split_at(TIMES * size);
        let (times_s, values) = rest.split_at(keys);
        let far = |a: &[f32], b: &[f32]| a.iter().zip(b).any(|(a, b)| (a - b).abs() > 0.3);
        assert!(!far(raw, played), "{joint} {channel}");
        assert!(times_s.is_sorted());
        for (time_s, value) in times_s.iter().zip(values.chunks(size)) {
            let time = (time_s * 2.0 * RATE_HZ).round() as usize;
            let there = &played[time * size..][..size];
            let close = there.iter().zip(value).all(|(a, b)| (a - b).abs() < 1e-3);
            assert!(close, "{joint} {channel} at {time_s} s: {value:?}, {there:?}");
        }
        keyed += keys;
    }
    keyed
}

#[test]
fn unknown_clips_and_tracks_are_refused() {
    let (_folder, files) = figure::files();
    let (_view, address) = Running::view(&files);
    for (path, wanted) in [
        ("/clips/2", 404),
        ("/clips/2/poses", 404),
        ("/clips/2/tracks/0/rotation", 404),
        ("/clips/0/tracks/15/rotation", 404),
        ("/clips/0/tracks/0/colour", 404),
        ("/clips/0/tracks/0", 404),
        ("/clips/0/more", 404),
        ("/clips/-1", 400),
        ("/clips/first", 400),
        ("/clips/0/tracks/hips/rotation", 400),
        ("/clips/99999999999999999999/poses", 400),
        ("/socket", 404),
        ("/worlds/worlds.js", 404),
    ] {
        assert_eq!(get(address, path).status, wanted, "{path}");
    }
}

#[test]
fn an_interrupt_is_not_a_failure() {
    let (_folder, files) = figure::files();
    let (view, _) = Running::view(&files);
    let run = view.interrupt();
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{}", run.stderr);
}
