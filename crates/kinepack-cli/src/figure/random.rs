//! Random numbers: of sessions, and of what a sender must return.

use std::hash::{BuildHasher, RandomState};

/// Returns another number in each call and each run of the program, which is not 0. It need not be
/// secret.
pub(super) fn session() -> u32 {
    number() as u32 | 1
}

/// Returns a number that outsiders cannot guess.
pub(super) fn number() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
