//! Tests the frozen broadcast of `spec/vectors/crowd.txt`: version 2 stays readable, and publishers
//! still make the same bytes.

use std::fmt::Write as _;

use kinepack::{Level, Tick};
use kinepack_crowd::{Carried, Catalogue, Piece, Publisher, Track, Viewer, ViewerConfig};

use crate::support::{RIGHT, at, catalogue, is_right, show, world};

const TICKS: u32 = 70;

fn balls(tick: u32) -> u32 {
    // At this tick, the snapshot does not fit into one datagram.
    if tick == 45 { 300 } else { 5 }
}

const VECTORS: &str = include_str!("../../../spec/vectors/crowd.txt");

fn pieces() -> Vec<Piece> {
    let mut publisher = Publisher::starting_at(&catalogue(Level::PACKED), 1000);
    publisher.select(RIGHT, is_right).unwrap();
    let publish = |tick| publisher.publish(&world(tick, balls(tick))).unwrap().to_vec();
    (0..TICKS).flat_map(publish).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn text() -> String {
    let mut text = format!(
        "# A broadcast (CROWD.md) of 70 ticks at level packed: the catalogue, then the pieces: tier\n# \
         (keys of it: with k), group, the number of the object or - for a datagram, tick, and the \
         bytes.\n{}\n",
        hex(&catalogue(Level::PACKED).to_bytes())
    );
    for Piece { track, group, carried, tick, bytes } in pieces() {
        let keys = if matches!(track, Track::Keys(_)) { "k" } else { "" };
        let tier = track.tier();
        let number = match carried {
            Carried::Object(number) => number.to_string(),
            Carried::Datagram => "-".to_owned(),
        };
        writeln!(text, "{tier}{keys} {group} {number} {} {}", tick.0, hex(&bytes)).unwrap();
    }
    text
}

fn bytes(hex: &str) -> Vec<u8> {
    let pair = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(pair).collect()
}

fn piece(line: &str) -> Piece {
    let parts: Vec<&str> = line.split(' ').collect();
    let [tier, group, number, tick, digits] = parts[..] else { panic!("{line}") };
    let track = match tier.strip_suffix('k') {
        Some(tier) => Track::Keys(tier.parse().unwrap()),
        None => Track::Snapshots(tier.parse().unwrap()),
    };
    Piece {
        track,
        group: group.parse().unwrap(),
        carried: number.parse().map_or(Carried::Datagram, Carried::Object),
        tick: Tick(tick.parse().unwrap()),
        bytes: bytes(digits),
    }
}

#[test]
fn the_frozen_broadcast_is_read_and_written() {
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/vectors/crowd.txt");
        return std::fs::write(path, text()).unwrap();
    }
    let mut lines = VECTORS.lines().filter(|line| !line.starts_with('#'));
    let read = Catalogue::from_bytes(&bytes(lines.next().unwrap())).unwrap();
    assert_eq!(read.to_bytes(), catalogue(Level::PACKED).to_bytes());
    let stored: Vec<Piece> = lines.map(piece).collect();
    for tier in 0..read.tiers().len() {
        let mut viewer = Viewer::new(&read, ViewerConfig::at_hz(read.tick_hz().into())).unwrap();
        viewer.watch(tier).unwrap();
        let mut snapshots = 0;
        for piece in stored.iter().filter(|piece| piece.track.tier() == tier) {
            let Some(tick) = show(&mut viewer, at(piece.tick.0), piece).unwrap() else { continue };
            assert_eq!(tick, piece.tick);
            snapshots += 1;
            // The viewer does not show the first snapshot before the second one has arrived.
            if snapshots > 1 {
                let mut sent = world(tick.0, balls(tick.0));
                if tier == RIGHT {
                    let all = sent.clone();
                    let right: Vec<u32> = (0..all.len() as u32)
                        .filter(|index| is_right(&all, *index as usize))
                        .collect();
                    sent.clear(tick);
                    sent.gather(&all, &right).unwrap();
                }
                assert!(**viewer.newest().unwrap() == sent, "tier {tier}, {tick:?}");
            }
        }
        assert!(snapshots > 20, "tier {tier}: {snapshots}");
    }
    assert_eq!(stored, pieces());
    assert!(VECTORS == text());
}
