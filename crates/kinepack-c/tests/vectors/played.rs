//! The script commands for clips and replays.

use std::fmt::Write as _;
use std::io::Cursor;

use kinepack::Tick;
use kinepack_replay::ReplayReader;

use super::hex::{from_hex, hex};
use super::network::described;
use super::script::lines;

pub(crate) fn write(script: &mut String) {
    for words in lines(vectors!("clip.txt")).filter(|words| words[0] == "skeleton") {
        writeln!(script, "{}", words.join(" ")).unwrap();
    }
    let clips = |file| lines(file).filter(|words| words[0] != "skeleton");
    write_clips(script, "keyed", clips(vectors!("clip.txt")), mixed_bind);
    write_clips(script, "block", clips(vectors!("clip_block.txt")), mixed_bind);
    write_clips(script, "rig", clips(vectors!("rig.txt")), plain_bind);
    for words in lines(vectors!("clip_disk.txt")) {
        writeln!(script, "clip disk_{} - {}", words[0], words[1]).unwrap();
    }
    for words in lines(vectors!("anm.txt")) {
        match words[..] {
            [name, file] => writeln!(script, "anm {name} {file}").unwrap(),
            [name, time_s, pose] => writeln!(script, "anm_pose {name} {time_s} {pose}").unwrap(),
            _ => panic!("{words:?}"),
        }
    }
    write_replay(script);
}

/// Files of clips, and the poses at some positions.
fn write_clips(
    script: &mut String,
    prefix: &str,
    lines: impl Iterator<Item = Vec<&'static str>>,
    bind: fn(usize) -> [f32; 10],
) {
    // The number of joints follows from the first pose.
    let mut is_new = false;
    for words in lines {
        let name = format!("{prefix}_{}", words[0]);
        let is_pose = words.len() == 3 && words[1].parse::<f64>().is_ok();
        match words[1..] {
            // The C interface samples joints only.
            ["curves", ..] => {}
            [position, pose] if is_pose => {
                if is_new {
                    let joints = pose.len() / 80;
                    let numbers = (0..joints).flat_map(bind);
                    let bind: String =
                        numbers.map(|number| format!("{:08x}", number.to_bits())).collect();
                    writeln!(script, "bind {name} {bind}").unwrap();
                    is_new = false;
                }
                writeln!(script, "pose {name} {position} {pose}").unwrap();
            }
            [clip] => {
                writeln!(script, "clip {name} - {clip}").unwrap();
                is_new = true;
            }
            [rig, clip, ref disk @ ..] => {
                writeln!(script, "rig {name} {rig}").unwrap();
                for file in disk {
                    writeln!(script, "clip {name}_disk {name} {file}").unwrap();
                }
                writeln!(script, "clip {name} {name} {clip}").unwrap();
                is_new = true;
            }
            _ => panic!("{words:?}"),
        }
    }
}

fn mixed_bind(joint: usize) -> [f32; 10] {
    [0.0, -0.6, 0.0, 0.8, joint as f32, -2.5, 0.0, 1.0, 1.0, 0.5]
}

fn plain_bind(_: usize) -> [f32; 10] {
    [0.0, 0.0, 0.0, 1.0, 1.0, -2.5, 0.0, 1.0, 1.0, 1.0]
}

/// `replay.txt`.
fn write_replay(script: &mut String) {
    let digits: String = lines(vectors!("replay.txt")).map(|words| words[0]).collect();
    let file = from_hex(&digits);
    let mut reader = write_info(script, "replay", &file);
    // The file of a writer that was killed.
    write_info(script, "killed", &file[..2 * file.len() / 3]);
    let (first, last) = reader.ticks().unwrap().unwrap();
    for tick in first.0..=last.0 {
        if let Some(frame) = reader.frame_at(Tick(tick)).unwrap() {
            writeln!(script, "frame replay {tick} {:016x}", frame.state_hash()).unwrap();
        }
        let playback = reader.playback(tick.into()).unwrap().unwrap();
        let events = described(playback.events());
        writeln!(script, "shows replay {tick} {events}").unwrap();
    }
}

/// The properties of a replay.
fn write_info(script: &mut String, name: &str, file: &[u8]) -> ReplayReader {
    let mut reader = ReplayReader::from_reader(Cursor::new(file.to_vec())).unwrap();
    let (first, last) = reader.ticks().unwrap().unwrap();
    let listed = |entries: Vec<String>| match entries[..] {
        [] => "-".into(),
        _ => entries.join(";"),
    };
    let markers = reader.markers().iter();
    let markers =
        listed(markers.map(|of| format!("{}:{}", of.tick.0, hex(of.name.as_bytes()))).collect());
    let notes = reader.info().iter();
    let text = |text: &String| hex(text.as_bytes());
    let notes = notes.map(|(key, value)| format!("{}:{}", text(key), text(value)));
    let notes = listed(notes.collect());
    let (rate_hz, is_complete) = (reader.rate_hz(), u8::from(reader.is_complete()));
    let file = hex(file);
    let (first, last) = (first.0, last.0);
    writeln!(
        script,
        "replay {name} {file} {rate_hz} {first} {last} {is_complete} {markers} {notes}"
    )
    .unwrap();
    reader
}
