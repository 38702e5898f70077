//! Tests the server of `watch`: the page, the replay as JSON, worlds as binary messages, and
//! refusals.

use serde_json::Value;

use super::http::{get, request};
use super::serving::assert_files_are_protected;
use crate::support::replay::{BODIES, TICKS, replay};
use crate::support::running::Running;

#[test]
fn the_page_has_the_replay_its_worlds_and_its_sizes() {
    let (_folder, file) = replay();
    let (_watch, address) = Running::watch(&file);
    assert_files_are_protected(address);
    let described = get(address, "/replay");
    assert_eq!((described.status, described.header("content-type")), (200, "application/json"));
    let described: Value = serde_json::from_str(&described.body).unwrap();
    assert_eq!(described["ticks"], serde_json::json!([1, TICKS]));
    assert_eq!((&described["bodies"], &described["is_complete"]), (&BODIES.into(), &true.into()));
    assert_eq!(described["markers"], serde_json::json!([[100, "goal"]]));
    // `bytes` is the size of the whole file, which `info` reports too.
    assert_eq!(described["bytes"], std::fs::metadata(&file).unwrap().len());
    let groups = described["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 3);

    let mut last = Vec::new();
    for tick in ["1", "60.5", "150", "1e9", "-5"] {
        let world = get(address, &format!("/world/{tick}"));
        assert_eq!((world.status, world.header("content-type")), (200, "application/octet-stream"));
        let words: Vec<u32> = world
            .bytes
            .chunks(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(words.len(), 5 + 8 * BODIES);
        assert_eq!((words[0], words[2]), (1, BODIES as u32));
        let shown = f64::from_le_bytes(world.bytes[12..20].try_into().unwrap());
        let asked: f64 = tick.parse().unwrap();
        assert_eq!(shown, asked.clamp(1.0, f64::from(TICKS)));
        assert_ne!(words[5..], last, "{tick}");
        last = words[5..].to_vec();
    }

    let sizes: Value = serde_json::from_str(&get(address, "/frames/1").body).unwrap();
    let sizes = sizes.as_array().unwrap();
    assert_eq!(sizes[0][0], groups[1][0]);
    let sum: u64 = sizes.iter().map(|frame| frame[1].as_u64().unwrap()).sum();
    assert!(sum < groups[1][1].as_u64().unwrap());
}

#[test]
fn other_requests_are_refused() {
    let (_folder, file) = replay();
    let (_watch, address) = Running::watch(&file);
    assert_eq!(get(address, "/frames/3").status, 404);
    assert_eq!(get(address, "/world/x").status, 400);
    assert_eq!(get(address, "/frames/-1").status, 400);
    assert_eq!(get(address, "/socket").status, 404);
    for path in ["/replay", "/world/3", "/frames/0"] {
        assert_eq!(request(address, "GET", path, "evil.example").status, 403, "{path}");
        assert_eq!(request(address, "POST", path, &address.to_string()).status, 405, "{path}");
    }
}
