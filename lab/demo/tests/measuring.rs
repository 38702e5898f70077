//! Tests `measure` on the built-in world at all levels. Its numbers must not change.

use kinepack::Level;
use serde_json::Value;

use crate::challenge::Files;
use crate::support::program::{all_names, check_width, json, level_names, refusal, run, stdout};
use crate::support::recorded::recorded;

/// The name of a file of floats, so `measure` can use all levels.
const WORLD: &str = "world.f32";

#[test]
fn measuring_the_built_in_world_prints_a_row_for_each_level() {
    let files = Files::new();
    let world = recorded(&files, WORLD, &["--seconds", "1", "--cubes", "100"]);
    let table = stdout(&["measure", &world]);
    let title: Vec<&str> = table.lines().take(2).collect();
    assert!(title[0].contains(WORLD), "{title:?}");
    assert!(
        title[1].starts_with("101 entities at 60 Hz, 54 frames, each against the one 6 before"),
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
    let files = Files::new();
    let world = recorded(&files, WORLD, &["--seconds", "1", "--cubes", "100"]);
    let document = json(&["measure", &world]);
    assert_eq!(document["lag"], 6);
    assert_eq!(document["frames"], 54);
    assert_eq!(document["file"], *world);
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
    let files = Files::new();
    let world = recorded(&files, WORLD, &["--seconds", "1"]);
    let document = json(&["measure", &world, "--level", "1,2,3,4,5,6"]);
    let max = |row: usize| document["levels"][row - 1]["bytes_per_frame"]["max"].as_u64().unwrap();
    let mean =
        |row: usize| document["levels"][row - 1]["bytes_per_frame"]["mean"].as_f64().unwrap();
    // A frame has 901 cubes of 321, 222, 159, 126 or 80 bits. One more bit signals that the set of
    // cubes is the same as in the baseline.
    for (row, bits) in [(1, 321), (2, 222), (3, 159), (5, 126), (6, 80)] {
        let bytes = (901 * bits + 1_u64).div_ceil(8);
        assert_eq!((max(row), mean(row)), (bytes, bytes as f64), "row {row}");
    }
    assert_eq!([1, 2, 3, 5, 6].map(max), [36_153, 25_003, 17_908, 14_191, 9_011]);
    // A cube at rest saves 32 of the 33 bits of its velocity. A moving cube takes one bit more.
    assert!(mean(4) < mean(3) && mean(4) > mean(5), "{}", mean(4));
    let kbps = document["levels"][0]["kbps_with_headers"].as_f64().unwrap();
    assert!((kbps - 17_368.8).abs() < 1e-6, "{kbps}");
}

#[test]
fn levels_are_selected_by_name_and_by_number() {
    let files = Files::new();
    let world = recorded(&files, WORLD, &["--seconds", "1", "--cubes", "20"]);
    let of = |levels: &[&str]| {
        let document = json(&[&["measure", &world], levels].concat());
        level_names(&document).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(of(&["--level", "packed"]), ["packed"]);
    assert_eq!(of(&["--level", "7"]), ["changed-bits"]);
    // Each level appears once, in the order of the table.
    assert_eq!(of(&["--level", "packed,9,at-rest"]), ["at-rest", "relative-indices", "packed"]);
    assert_eq!(
        of(&["--level", "12", "--level", "packed", "--level", "1"]),
        ["uncompressed", "packed"]
    );
}

#[test]
fn the_lag_decides_which_frames_have_a_baseline() {
    let files = Files::new();
    let world = recorded(&files, WORLD, &["--seconds", "1", "--cubes", "50"]);
    let measure = ["measure", &world, "--level", "packed", "--lag"];
    for (lag, frames) in [("1", 59), ("12", 48), ("59", 1)] {
        let document = json(&[&measure[..], &[lag]].concat());
        assert_eq!(document["lag"].to_string(), lag);
        assert_eq!(document["frames"], frames);
    }
    let five = recorded(&files, "five.f32", &["--seconds", "1", "--cubes", "5"]);
    let message = refusal(&["measure", &five, "--lag", "60"]);
    assert!(message.contains("60 frames are too few"), "{message}");
}

#[test]
fn every_profile_can_be_measured() {
    let files = Files::new();
    let world = recorded(&files, WORLD, &["--seconds", "1", "--cubes", "50"]);
    for profile in ["built-in", "article", "untrained"] {
        let measure = ["measure", &world, "--level", "9,10,11,12", "--profile", profile];
        assert_eq!(json(&measure)["levels"].as_array().unwrap().len(), 4, "{profile}");
    }
}

#[test]
fn a_time_precision_saves_bytes_and_reports_the_errors() {
    let files = Files::new();
    let world = recorded(&files, WORLD, &["--seconds", "3"]);
    let measure = ["measure", &world, "--level", "relative-indices,packed,adaptive,learning"];
    let [exact, coarse] =
        ["0", "2"].map(|ms| json(&[&measure[..], &["--time-precision-ms", ms]].concat()));
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
    let table = stdout(&[&measure[..], &["--time-precision-ms", "2"]].concat());
    assert!(table.contains("Errors of the values that are not exact"), "{table}");
    for ms in ["-1", "4.9", "nan", "x"] {
        let refused = run(&["measure", &world, &format!("--time-precision-ms={ms}")]);
        assert_eq!(
            (refused.code, refused.stderr.contains("--time-precision-ms")),
            (Some(2), true),
            "{}",
            refused.stderr
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_sizes() {
    let files = Files::new();
    let sizes = |seed: &str| {
        let options =
            ["--seconds", "2", "--cubes", "100", "--style", "push", "--seed", seed, "--force"];
        let world = recorded(&files, WORLD, &options);
        let document = json(&["measure", &world]);
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
fn the_table_fits_into_the_terminal() {
    let files = Files::new();
    let world = recorded(&files, WORLD, &["--seconds", "1", "--cubes", "20"]);
    check_width(&["measure", &world], &[&world]);
}

#[test]
fn the_player_s_cube_may_be_a_kind_of_its_own() {
    let files = Files::new();
    let world = recorded(&files, WORLD, &["--seconds", "1", "--cubes", "60"]);
    let measure = |more: &[&str]| {
        let few = ["measure", &world, "--level", "packed,adaptive"];
        let document = json(&[&few[..], more].concat());
        [0, 1].map(|level| document["levels"][level]["bytes_per_frame"]["mean"].as_f64().unwrap())
    };
    let (one, two) = (measure(&[]), measure(&["--kinds", "player"]));
    assert!(one.iter().zip(two).all(|(one, two)| two < 1.1 * one), "{one:?} {two:?}");
}
