//! Tests the frozen replay of `spec/vectors/replay.txt`: version 1 of the format stays readable,
//! and writers still make the same messages.
//!
//! `KINEPACK_WRITE_VECTORS=1 cargo test -p kinepack-replay vectors::` writes that file.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use kinepack::{Level, Tick};

use crate::support::{Goal, Hit, frames, hit, open, replay, ticks};

const COUNT: u32 = 100;

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/replay.txt")
}

/// Returns the hexadecimal digits of a file, in lines of 64 bytes, after a description.
fn text(file: &[u8]) -> String {
    let mut text = String::from(
        "# A replay file (REPLAY.md) as hexadecimal digits: 97 frames of up to 6 balls, ticks 1003 to \
         1099,\n# in groups of 30 ticks, every second a key group, with hits, goals, a marker and a \
         note.\n",
    );
    for line in file.chunks(64) {
        line.iter().for_each(|byte| write!(text, "{byte:02x}").unwrap());
        text.push('\n');
    }
    text
}

fn stored() -> Vec<u8> {
    let text = fs::read_to_string(path()).unwrap();
    let digits: String = text.lines().filter(|line| !line.starts_with('#')).collect();
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

/// Returns the channel, the tick and the data of each message.
fn messages(file: &[u8]) -> Vec<(String, u32, Vec<u8>)> {
    let messages = mcap::MessageStream::new(file).unwrap().map(Result::unwrap);
    messages.map(|of| (of.channel.topic.clone(), of.sequence, of.data.to_vec())).collect()
}

#[test]
fn the_frozen_replay_is_read_and_written() {
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() && !path().exists() {
        fs::write(path(), text(&replay(Level::PACKED, COUNT))).unwrap();
    }
    let file = stored();
    let mut stored = open(&file);
    assert!(frames(&mut stored).into_iter().eq(ticks(COUNT)));
    assert!(stored.is_complete() && stored.damage().is_empty());
    assert_eq!((stored.groups(), stored.rate_hz(), stored.name()), (4, 60.0, "world"));
    assert_eq!(stored.info()["map"], "harbour");
    assert_eq!((stored.markers()[0].tick, stored.markers().len()), (Tick(1_050), 1));
    let mut shown = Vec::new();
    for tick in ticks(COUNT) {
        let playback = stored.playback(tick.into()).unwrap().unwrap();
        for event in playback.events() {
            shown.extend(event.get::<Hit>().unwrap().map(|hit| (event.tick.0, hit.damage)));
            assert!(event.get::<Goal>().unwrap().is_none_or(|goal| goal.team == 1));
        }
    }
    let hits = ticks(COUNT).filter_map(|tick| Some((tick, hit(tick)?)));
    assert!(shown.into_iter().eq(hits));
    assert_eq!(messages(&file), messages(&replay(Level::PACKED, COUNT)));
}
