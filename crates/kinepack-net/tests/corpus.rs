//! Runs the drivers of the network's fuzz targets over their stored corpora, and over mutations of
//! them.
//!
//! Run `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack-net corpus::` to rewrite the corpora.

use std::fs;
use std::path::PathBuf;

use crate::net;
use crate::net_rewind;
use crate::net_stream;
use crate::support::Random;

/// The number of mutations of each stored file. Sessions take longest, so their files get a third
/// of this number.
const MUTATIONS: usize = 40;

type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 7] = [
    ("net_receiver", net::net_receiver),
    ("net_hub", net::net_hub),
    ("net_session", net::net_session),
    ("link", net::link),
    ("playout", net::playout),
    ("net_stream", net_stream::net_stream),
    ("net_rewind", net_rewind::net_rewind),
];

fn directory(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

/// Runs a driver over the stored files of a target, in the order of their names, and over mutations
/// of each file.
fn run(target: &str) {
    let (_, driver) = TARGETS.into_iter().find(|(name, _)| *name == target).unwrap();
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory(target)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no corpus for {target}");
    let mut random = Random::new(paths.len() as u64);
    let mutations = if target == "net_session" { MUTATIONS / 3 } else { MUTATIONS };
    for path in paths {
        let data = fs::read(&path).unwrap();
        driver(&data);
        for _ in 0..mutations {
            driver(&mutated(&data, &mut random));
        }
    }
}

/// Changes a few bytes of `data`, and removes or duplicates pieces.
fn mutated(data: &[u8], random: &mut Random) -> Vec<u8> {
    let mut data = data.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(data.len() as u64 + 1) as usize;
        let piece = at..data.len().min(at + 1 + random.below(8) as usize);
        match random.below(5) {
            0 => drop(data.drain(piece)),
            1 => data.extend_from_within(piece),
            2 if at < data.len() => data[at] = random.next() as u8,
            _ if at < data.len() => data[at] ^= 1 << random.below(8),
            _ => data.push(random.next() as u8),
        }
    }
    data
}

#[test]
fn receivers_accept_or_refuse_any_datagram() {
    run("net_receiver");
}

#[test]
fn hubs_accept_or_refuse_any_answer() {
    run("net_hub");
}

#[test]
fn sessions_stay_exact_and_come_to_rest() {
    run("net_session");
}

#[test]
fn streams_hand_on_what_was_pushed() {
    run("net_stream");
}

#[test]
fn hubs_find_what_was_drawn_and_take_any_stamp() {
    run("net_rewind");
}

#[test]
fn links_lose_but_never_invent() {
    run("link");
}

#[test]
fn playout_only_moves_forward() {
    run("playout");
}

#[test]
fn the_corpora_suit_their_drivers() {
    let mut random = Random::new(2026);
    for (target, _) in TARGETS {
        for (index, len) in [60, 200, 200, 600, 600, 1500].into_iter().enumerate() {
            let data: Vec<u8> = (0..len).map(|_| random.next() as u8).collect();
            // Random first bytes usually make settings that are refused: always for links, and half
            // of the time for playouts.
            let data = match target {
                "link" => {
                    [&[0, 40, 0, 20, 0, 90, 1, 30, 30][..], &[[0; 4], [0xFF; 4]].concat(), &data]
                        .concat()
                }
                "playout" => [&[3, 0, 244, 1, 247, 25, 208, 7, 30][..], &data].concat(),
                _ => data,
            };
            check(target, index, &data);
        }
    }
}

/// Compares a stored file with its expected content, or writes the file. Files found by fuzzing may
/// be in the same folder.
fn check(target: &str, index: usize, data: &[u8]) {
    let path = directory(target).join(format!("{index:02}"));
    if std::env::var_os("KINEPACK_WRITE_CORPUS").is_some() {
        fs::create_dir_all(directory(target)).unwrap();
        fs::write(&path, data).unwrap();
    }
    assert!(fs::read(&path).unwrap() == data, "{} is out of date", path.display());
}
