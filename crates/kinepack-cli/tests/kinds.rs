//! Tests the commands on a capture with several kinds of entities.

use std::path::Path;

use kinepack::{EntityId, Pack, Schema, Tick};
use kinepack_capture::Recorder;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::program::{json, refusal, run, stdout};

const TICKS: u32 = 240;

#[derive(Pack)]
struct Player {
    #[pack(spawn, max = 3)]
    team: u8,
    #[pack(range = -64.0..64.0, precision = 1.0 / 256.0, clamp)] // metres
    position: [f32; 2],
    #[pack(rotation, bits = 11)]
    rotation: [f32; 4],
    shield: Option<u8>,
}

#[derive(Pack)]
struct Bullet {
    #[pack(range = -64.0..64.0, precision = 1.0 / 256.0, clamp)] // metres
    position: [f32; 2],
}

#[derive(Pack)]
struct Door {
    open: bool,
}

/// Four players on circles, who shoot a bullet every ten ticks, and a door.
fn record(path: &Path) {
    let schema = Schema::builder()
        .kind::<Player>("player")
        .kind::<Bullet>("bullet")
        .kind::<Door>("door")
        .build()
        .unwrap();
    let mut recorder = Recorder::create(path).unwrap();
    let stream = recorder.stream_of_kinds("arena", &schema, 60.0).unwrap();
    for tick in 0..TICKS {
        let place = |player: u32, tick: u32| {
            let (sin, cos) = (0.02 * tick as f32 + player as f32).sin_cos();
            [20.0 * cos + player as f32, 20.0 * sin]
        };
        let mut frame = recorder.frame(&stream, Tick(tick)).unwrap();
        for player in 0..4 {
            let (sin, cos) = (0.01 * tick as f32 + player as f32).sin_cos();
            let state = Player {
                team: player as u8,
                position: place(player, tick),
                rotation: [0.0, 0.0, sin, cos],
                shield: (tick / 50 % 2 == 0).then_some(tick as u8),
            };
            frame.push(EntityId(player), &state).unwrap();
        }
        // A bullet flies for 30 ticks.
        for shot in tick.saturating_sub(29).div_ceil(10)..=tick / 10 {
            let age = (tick - 10 * shot) as f32;
            let [x, y] = place(shot % 4, 10 * shot);
            frame.push(EntityId(100 + shot), &Bullet { position: [x + 0.5 * age, y] }).unwrap();
        }
        frame.push(EntityId(50), &Door { open: tick / 30 % 2 == 0 }).unwrap();
        frame.finish().unwrap();
    }
    recorder.finish().unwrap();
}

fn capture() -> (TempDir, String, String) {
    let directory = tempfile::tempdir().unwrap();
    let [capture, profile] =
        ["arena.mcap", "arena.profile"].map(|name| directory.path().join(name));
    record(&capture);
    let [capture, profile] = [capture, profile].map(|path| path.to_str().unwrap().to_owned());
    (directory, capture, profile)
}

fn number(document: &Value, pointer: &str) -> f64 {
    document.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}"))
}

#[test]
fn analyze_reports_each_kind() {
    let (directory, capture, _) = capture();
    let page = directory.path().join("arena.html");
    let document = json(&["analyze", &capture, "--html", page.to_str().unwrap()]);
    let stream = &document["streams"][0];
    let kinds = stream["kinds"].as_array().unwrap();
    let names: Vec<&str> = kinds.iter().map(|kind| kind["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["player", "bullet", "door"]);
    assert_eq!(number(&kinds[0], "/entities/0"), 4.0);
    assert_eq!(number(&kinds[1], "/entities/1"), 3.0);
    // A bullet is shot every ten frames, and counts as added for six frames, until the baseline
    // contains it.
    assert!((number(&kinds[1], "/added_per_frame") - 0.6).abs() < 0.05);
    assert_eq!(number(&kinds[2], "/bits_per_entity"), 1.0);
    let fields = stream["fields"].as_array().unwrap();
    let names: Vec<&str> = fields.iter().map(|field| field["name"].as_str().unwrap()).collect();
    assert_eq!(names[..3], ["player.team", "player.position", "player.rotation"]);
    assert_eq!(names[5..], ["bullet.position", "door.open"]);
    // The bits of each kind are the sum of the bits of its fields.
    let levels = stream["levels"].as_array().unwrap().len();
    for level in 0..levels {
        let sum = |parts: &[Value]| -> f64 {
            parts.iter().map(|part| number(part, &format!("/level_bits_per_frame/{level}"))).sum()
        };
        assert!((sum(kinds) - sum(fields)).abs() < 1e-6, "level {level}");
    }
    let text = stdout(&["analyze", &capture]);
    assert!(text.contains("Kinds of entities") && text.contains("of up to "), "{text}");
    assert!(std::fs::read_to_string(page).unwrap().contains("bullet.position"));
}

#[test]
fn a_profile_is_tuned_measured_and_replayed() {
    let (_directory, capture, profile) = capture();
    let tuned = json(&["tune", &capture, "--out", &profile, "--passes", "1"]);
    let [untuned, held_out] =
        ["/built_in/held_out/adaptive", "/tuned/held_out/adaptive"].map(|at| number(&tuned, at));
    assert!(held_out < untuned, "{tuned}");
    let levels = ["--level", "packed,adaptive,learning", "--profile", &profile];
    let measured = json(&[&["measure", &capture][..], &levels].concat());
    let rows = measured["levels"].as_array().unwrap();
    assert!(rows.len() == 3 && rows.iter().all(|row| row["verified"] == true), "{measured}");
    let replayed = json(&["replay", &capture, "--profile", &profile, "--link", "wifi"]);
    let runs = replayed["runs"].as_array().unwrap();
    assert!(!runs.is_empty());
    for run in runs {
        assert_eq!(number(run, "/wrong_lanes"), 0.0, "{run}");
        assert!(number(run, "/received") > 200.0, "{run}");
        let errors = run["errors"].as_array().unwrap();
        let names: Vec<&str> = errors.iter().map(|of| of["field"].as_str().unwrap()).collect();
        assert!(names.contains(&"bullet.position") && names.contains(&"player.rotation"));
    }
}

#[test]
fn a_profile_is_trained_with_coarser_steps_of_one_kind() {
    let (_directory, capture, profile) = capture();
    let steps = ["--max-error", "bullet.position=0.1"];
    let trained = ["train", &capture, "--out", &profile, "--passes", "1", "--snapshots", "50"];
    assert_eq!(run(&[&trained[..], &steps].concat()).code, Some(0));
    let with = ["measure", &capture, "--profile", &profile, "--level", "packed"];
    let refused = refusal(&with);
    assert!(refused.contains("another schema"), "{refused}");
    let measured = json(&[&with[..], &steps].concat());
    assert_eq!(measured["levels"][0]["verified"], true);
    let refused = refusal(&["measure", &capture, "--max-error", "position=0.1"]);
    assert!(refused.contains("no such field; there are player.team, "), "{refused}");
}

#[test]
fn numbers_of_each_kind_have_columns_of_their_own() {
    let (directory, capture, _) = capture();
    let csv = directory.path().join("arena.csv");
    assert_eq!(run(&["convert", &capture, csv.to_str().unwrap()]).code, Some(0));
    let csv = std::fs::read_to_string(csv).unwrap();
    let mut lines = csv.lines();
    let header = lines.next().unwrap();
    assert!(header.starts_with("tick,id,kind,player.team,player.position.x,"), "{header}");
    let columns = header.split(',').count();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == columns));
    let door = rows.iter().find(|row| row[2] == "door").unwrap();
    assert_eq!((door[0], door[1], *door.last().unwrap()), ("0", "50", "1"));
    assert!(door[3..columns - 1].iter().all(|cell| cell.is_empty()));
    assert_eq!(rows.iter().filter(|row| row[2] == "player").count(), 4 * TICKS as usize);
}

#[test]
fn kinds_of_cubes_are_for_cubes() {
    let (_directory, capture, _) = capture();
    let refused = refusal(&["measure", &capture, "--kinds", "player"]);
    assert!(refused.contains("--kinds is for cubes"), "{refused}");
}
