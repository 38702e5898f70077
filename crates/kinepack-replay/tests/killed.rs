//! Tests that a process that is killed while it writes loses at most its last group.

#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use kinepack::Level;
use kinepack_replay::{ReplayError, ReplayReader, ReplayWriter};

use crate::support::{codec, frames, options, world};

const PATH: &str = "KINEPACK_TEST_REPLAY";
const KILLS: u64 = 200;

/// This is not a test by itself, but the process that is killed. It writes as fast as it can, and
/// prints the ticks that it has passed to the writer.
#[test]
fn writer() {
    let Ok(path) = std::env::var(PATH) else { return };
    let mut writer = ReplayWriter::create(path, &codec(Level::PACKED), &options()).unwrap();
    for tick in 1.. {
        writer.write(&world(tick)).unwrap();
        println!("tick {tick}");
    }
}

/// Kills a writer process after a given time. Returns the last tick that the process reported as
/// written.
fn kill(path: &Path, after: Duration) -> u32 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::writer", "--nocapture"])
        .env(PATH, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    // The time is counted from the first tick on.
    while !line.contains("tick 1\n") {
        line.clear();
        output.read_line(&mut line).unwrap();
    }
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    let last = output
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("tick ").and_then(|tick| tick.parse::<u32>().ok()));
    last.last().unwrap_or(1)
}

#[test]
fn a_killed_writer_loses_at_most_its_last_group() {
    if std::env::var(PATH).is_ok() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("killed.kpz");
    let mut random = 1_u64;
    for _ in 0..KILLS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let last = kill(&path, Duration::from_micros(random >> 50));
        let found = match ReplayReader::open(&path) {
            Ok(mut replay) => {
                let found = frames(&mut replay);
                assert!(replay.damage().is_empty() && !replay.is_complete());
                found
            }
            Err(error) => {
                assert!(matches!(error, ReplayError::Empty), "{error}");
                Vec::new()
            }
        };
        // A group has 30 ticks, and one more tick may not have been reported yet.
        assert!(found.iter().copied().eq(1..=found.len() as u32));
        assert!(found.len() as u32 + 31 >= last, "{} of {last}", found.len());
    }
}
