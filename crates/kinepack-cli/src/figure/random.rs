//! Numbers that distinguish sessions. They need not be secret.

use std::hash::{BuildHasher, RandomState};

/// Returns another number in each call and each run of the program, which is not 0.
pub(super) fn session() -> u32 {
    RandomState::new().hash_one(std::process::id()) as u32 | 1
}
