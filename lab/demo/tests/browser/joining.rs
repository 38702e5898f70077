//! Tests the page of `serve --web`. The page joins through WebTransport or a WebSocket, and decodes
//! by itself. Each integer that it decodes equals the integer that the server sent.
//!
//! `KINEPACK_SOAK_SECONDS=600` watches for that long instead of 4 seconds, and `-- --nocapture`
//! shows the numbers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use fantoccini::key::Key;
use kinepack::{EntityId, Snapshot, Tick};
use kinepack_replay::ReplayReader;
use serde_json::Value;

use super::driver::Browser;
use super::layout::TOO_WIDE;
use crate::support::running::Running;

/// Starts `serve --web` at free ports. Returns it with the page's address.
fn serve(options: &[&str]) -> (Running, SocketAddr) {
    let base = ["serve", "--insecure", "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0"];
    let mut server = Running::start(&[&base, options].concat(), None);
    let line = server.until("browsers join at");
    let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
    (server, address.unwrap().parse().unwrap())
}

/// Compares a state of the page with those that the server recorded. The page gives, for each kind,
/// the number of its entities, their ids, each one's newest received tick, and each lane in turn.
/// Returns how many lanes differ.
fn wrong_lanes_of(state: &[u32], sent: &BTreeMap<u32, Snapshot>, kinds: usize) -> usize {
    let (mut rest, mut wrong) = (state, 0);
    let mut take = |count: usize| {
        let (taken, after) = rest.split_at(count);
        rest = after;
        taken
    };
    for kind in 0..kinds {
        let count = take(1)[0] as usize;
        let (ids, ticks) = (take(count), take(count));
        let any = sent.values().next().unwrap();
        for lane in any.lanes_of(kind) {
            for ((id, tick), value) in ids.iter().zip(ticks).zip(take(count)) {
                let frame = &sent[tick];
                let row = frame.position_of(kind, EntityId(*id)).unwrap();
                let row = row - frame.of_kind(kind).start;
                wrong += usize::from(frame.lane(lane)[row] != *value);
            }
        }
    }
    assert!(rest.is_empty());
    wrong
}

/// Collects states of the page for a while, by tick.
fn collect(browser: &Browser, time: Duration, states: &mut BTreeMap<u32, Vec<u32>>) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        if let Value::Array(list) = browser.eval("kinepack.lanes()") {
            let numbers: Vec<u32> =
                list.iter().map(|number| number.as_u64().unwrap() as u32).collect();
            states.insert(numbers[0], numbers[1..].to_vec());
        }
        thread::sleep(Duration::from_millis(40));
    }
}

/// Compares the states with those that the server recorded. Returns how many there are, and how many
/// lanes differ.
fn wrong_lanes(recording: &Path, states: &BTreeMap<u32, Vec<u32>>) -> (usize, usize) {
    let mut replay = ReplayReader::open(recording).unwrap();
    let kinds = replay.schema().kinds().len();
    let (first, last) = replay.ticks().unwrap().unwrap();
    let frames = (first.0..=last.0)
        .filter_map(|tick| Some((tick, (*replay.frame_at(Tick(tick)).unwrap()?).clone())));
    let sent: BTreeMap<u32, Snapshot> = frames.collect();
    (states.len(), states.values().map(|state| wrong_lanes_of(state, &sent, kinds)).sum())
}

fn joins_without_a_wrong_lane(transport: &str, level: &str) {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("served.kpz");
    let record = ["--level", level, "--record", recording.to_str().unwrap()];
    let (mut server, address) = serve(&record);
    let browser = Browser::start();
    browser.resize(1280, 900);
    browser.open(address, &format!("?transport={transport}&loss=5"));
    server.until(&format!("joined at {level}"));
    browser.wait("kinepack.bodies() > 900");
    let mut states = BTreeMap::new();
    let seconds = std::env::var("KINEPACK_SOAK_SECONDS").map_or(4, |text| text.parse().unwrap());
    // The page watches until all rings and buffers are full.
    collect(&browser, Duration::from_secs(seconds.min(60) / 2), &mut states);
    let memory_bytes = browser.number("kinepack.stats().memory_bytes");
    collect(&browser, Duration::from_secs(seconds - seconds.min(60) / 2), &mut states);
    let grown_bytes = browser.number("kinepack.stats().memory_bytes") - memory_bytes;
    println!("{transport} at {level}: {}", browser.eval("JSON.stringify(kinepack.stats())"));
    println!("memory: {memory_bytes} bytes, then {grown_bytes} more");
    assert_eq!(browser.text("kinepack.transport()"), transport);
    browser.wait_above("kinepack.stats().lostRatio", 0.01);
    assert_eq!(browser.number("kinepack.stats().mismatches"), 0.0);
    // The page only watches until a key is held.
    browser.hold(Key::Right);
    server.until("plays; players: 1");
    browser.let_go();
    collect(&browser, Duration::from_secs(2), &mut states);
    browser.wait("Number(document.getElementById('kbps').textContent) > 1");
    assert_eq!(browser.eval(TOO_WIDE), Value::Array(Vec::new()));
    assert_eq!(browser.console(), [""; 0]);
    // A closed page frees its place.
    browser.run(async |client| client.goto("about:blank").await);
    server.until("left; receivers: 0");
    let run = server.interrupt();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let (compared, wrong) = wrong_lanes(&recording, &states);
    assert!(compared > 20, "only {compared} states");
    println!("{compared} states compared, {wrong} lanes wrong");
    assert_eq!(wrong, 0, "in {compared} states");
}

#[test]
fn a_page_joins_by_webtransport() {
    joins_without_a_wrong_lane("webtransport", "adaptive");
}

#[test]
fn a_page_joins_by_a_websocket() {
    joins_without_a_wrong_lane("websocket", "packed");
}

#[test]
fn with_rings_a_page_sees_what_is_near_its_own_cube_and_follows_it() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("served.kpz");
    // The first player, which rests, is on the other side of the grid.
    let options = ["--rings", "6,12:4", "--style", "rest", "--record", recording.to_str().unwrap()];
    let (mut server, address) = serve(&options);
    let browser = Browser::start();
    browser.open(address, "");
    browser.wait("kinepack.bodies() > 900");
    assert_eq!(browser.number("kinepack.followed()"), 0.0);
    browser.wait("kinepack.cameraTarget()[1] < -0.1");
    browser.hold(Key::Right);
    server.until("plays; players: 1");
    browser.wait("kinepack.followed() === 65536");
    browser.wait("kinepack.bodies() < 600");
    browser.wait("kinepack.cameraTarget()[1] > 0.1");
    let mut states = BTreeMap::new();
    collect(&browser, Duration::from_secs(2), &mut states);
    browser.let_go();
    assert_eq!(browser.console(), [""; 0]);
    let run = server.interrupt();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let (compared, wrong) = wrong_lanes(&recording, &states);
    assert!(compared > 10, "only {compared} states");
    assert_eq!(wrong, 0, "in {compared} states");
}

#[test]
fn a_page_says_what_is_wrong_and_comes_back() {
    let (server, address) = serve(&[]);
    let browser = Browser::without_webgl();
    browser.open(address, "");
    browser.wait("document.querySelector('#banner p').textContent.includes('WebGL2')");
    browser.wait("Number(document.getElementById('kbps').textContent) > 1");
    server.kill();
    browser.wait_for_state("lost");
    browser.wait("document.querySelector('#banner p').textContent.includes('Trying again')");
    let web = address.to_string();
    let again = ["serve", "--insecure", "--listen", "127.0.0.1:0", "--web", &web];
    let _again = Running::start(&again, None);
    browser.wait_for_state("live");
}
