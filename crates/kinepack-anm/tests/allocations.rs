//! Playing files allocates nothing, and reading a file takes memory in proportion to its length.
//! These tests are a program of their own, because `allocation-counter` replaces the allocator of
//! its program.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "../../kinepack-anim/tests/random/mod.rs"]
mod random;
#[allow(dead_code, reason = "the other program uses all of it")]
mod support;

use allocation_counter::measure;
use kinepack_anim::Transform;
use kinepack_anim::keyed::Parametrization;
use kinepack_anm::{Anm, AnmPlayer};

use crate::support::{file_of, head, smooth_tracks};

#[test]
fn sampling_allocates_nothing() {
    for caches in [0, 4] {
        let anm = file_of(head(Parametrization::Times, 2.0), 6, &smooth_tracks(2, 6, 30));
        let anm = anm.with_jump_caches(caches).unwrap();
        let mut player = AnmPlayer::new(&anm);
        let mut pose = [Transform::IDENTITY; 6];
        let info = measure(|| {
            for time_s in [0.0, 0.1, 0.2, 1.9, 0.3, 2.0, 0.0] {
                player.sample(time_s, &mut pose);
            }
        });
        assert_eq!(info.count_total, 0);
    }
}

#[test]
fn reading_takes_a_small_multiple_of_the_length_whatever_the_counts() {
    let anm = file_of(head(Parametrization::Times, 2.0), 9, &smooth_tracks(2, 9, 30))
        .with_jump_caches(5)
        .unwrap();
    let bytes = anm.to_bytes();
    let most = 5 * bytes.len() as u64;
    assert!(measure(|| drop(Anm::from_bytes(&bytes))).bytes_total < most);
    for at in [24, 28, 32] {
        for word in [16_384, 100_000, i32::MAX as u32, u32::MAX] {
            let mut lying = bytes.clone();
            lying[at..at + 4].copy_from_slice(&u32::to_le_bytes(word));
            let info = measure(|| assert!(Anm::from_bytes(&lying).is_err()));
            assert!(info.bytes_total < most, "{at} {word}: {}", info.bytes_total);
        }
    }
}
