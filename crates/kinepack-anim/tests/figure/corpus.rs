//! Runs the driver of the fuzz target `figure` over its stored corpus, and over every prefix of
//! each file. `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack-anim figure::corpus` writes the
//! corpus again.

use crate::corpora;
use crate::drivers::figure as driver;
use crate::random::Random;

/// Returns files that begin with the numbers of a quiet scene, so that most skeletons and options
/// are possible. Noise follows.
fn files() -> Vec<Vec<u8>> {
    let mut random = Random(17);
    let mut file = |bytes: u32, near: u32, wide: u32| -> Vec<u8> {
        (0..bytes)
            .map(|_| match random.below(near) {
                0 => random.below(256),
                _ => 127 + random.below(wide),
            } as u8)
            .collect()
    };
    let mut files = vec![vec![0, 131, 151, 0, 127, 127, 127, 0x40, 3]];
    files.extend((0..8).map(|_| file(240, 4, 32)));
    files.extend((0..4).map(|_| file(300, 1, 2)));
    // A joint that plays one of two clips, from another time, backwards, and at half the weight.
    let plays = [3, 2, 147, 119, 131];
    let clips = [0, 131, 151, 0, 127, 127, 127, 0x50, 1, 2].into_iter();
    files.push(clips.chain(plays).chain(plays).chain(plays).collect());
    files
}

#[test]
fn the_stored_corpus_is_up_to_date() {
    corpora::compare("figure", &files());
}

#[test]
fn the_driver_survives_every_beginning_of_the_corpus() {
    corpora::drive_beginnings("figure", driver::figure);
}

#[test]
fn the_driver_survives_noise() {
    let mut random = Random(18);
    for _ in 0..3000 {
        let data: Vec<u8> = (0..random.below(200)).map(|_| random.below(256) as u8).collect();
        driver::figure(&data);
    }
}
