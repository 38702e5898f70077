//! Runs the driver of the fuzz target `anm` over its stored corpus, and over every prefix of each
//! file.
//!
//! `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack-anm corpus` writes the corpus again.

use kinepack_anim::Channel;
use kinepack_anim::keyed::Parametrization;
use kinepack_anm::{Anm, AnmHead, AnmTrack};

use crate::random::Random;
use crate::support::{file_of, head};
use crate::{corpora, driver};

/// Returns a track with random codes.
fn track(random: &mut Random, joint: u16, channel: Channel, keys: u16) -> AnmTrack {
    let mut value = || [(); 3].map(|()| random.below(1 << 16) as u16);
    let last = keys.saturating_sub(1).max(1);
    let keys =
        (0..keys).map(|n| ((u32::from(n) * 65_535 / u32::from(last)) as u16, value())).collect();
    AnmTrack { joint, channel, keys }
}

/// Files with both parametrizations, with and without caches, with one key and with many, with
/// missing tracks, and with wrong counts and offsets.
fn files() -> Vec<Vec<u8>> {
    let mut random = Random(7);
    let mut file = |parametrization, joints: u16, keys: u16, caches| {
        let places = (0..joints).flat_map(|joint| Channel::ALL.map(|channel| (joint, channel)));
        let places = places.filter(|(joint, channel)| (joint + *channel as u16) % 4 < 3);
        let tracks: Vec<_> =
            places.map(|(joint, channel)| track(&mut random, joint, channel, keys)).collect();
        let head = AnmHead { version: 1 + u32::from(joints) % 3, ..head(parametrization, 1.5) };
        file_of(head, joints, &tracks).with_jump_caches(caches).unwrap()
    };
    let times = file(Parametrization::Times, 2, 5, 2);
    let mut files: Vec<_> = [
        file(Parametrization::Uniform, 4, 7, 0),
        file(Parametrization::Uniform, 1, 1, 1),
        file(Parametrization::Times, 3, 3, 8),
        file(Parametrization::Times, 0, 1, 0),
    ]
    .iter()
    .map(Anm::to_bytes)
    .collect();
    files.push(times.to_bytes());
    // Each of these files has one wrong word: a jump cache that refers to a key of another track, a
    // count of 1,000 keys, or an offset that makes two blocks overlap.
    let caches_at = 128 + 10 * times.keys().len();
    for (at, word) in [(caches_at + 24, 0x0003_0001_u32), (28, 1000), (116, 120)] {
        let mut bytes = times.to_bytes();
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        files.push(bytes);
    }
    files
}

#[test]
fn the_stored_corpus_is_up_to_date() {
    corpora::compare("anm", &files());
}

#[test]
fn stored_files_and_their_prefixes_are_played_or_refused() {
    corpora::drive_beginnings("anm", driver::anm);
}
