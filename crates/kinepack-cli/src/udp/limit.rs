//! Limits of rates: a leaky bucket in one number, and a small table of them for addresses that
//! nobody vouches for.
//!
//! The bucket is the "generic cell rate algorithm" of ATM (ITU-T I.371, annex A): instead of a
//! level and the time of the last drop, it keeps the time at which it will have run empty.

use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;

/// How often something may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RateLimit {
    pub(crate) per_second: u32,
    /// How many may come at once after a silence.
    pub(crate) burst: u32,
}

/// One thing whose rate is limited.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bucket {
    empty_at_us: u64,
}

impl Bucket {
    /// Counts one in if it is within `limit`.
    pub(super) fn take(&mut self, limit: RateLimit, now_us: u64) -> bool {
        let one_us = 1_000_000 / u64::from(limit.per_second.max(1));
        let empty_at_us = self.empty_at_us.max(now_us) + one_us;
        let within = empty_at_us - now_us <= one_us * u64::from(limit.burst);
        if within {
            self.empty_at_us = empty_at_us;
        }
        within
    }
}

/// Buckets for addresses without number, in bounded memory: two addresses of one slot take it from
/// each other, and so begin anew. An attacker with many addresses gains that way what it could send
/// from more of them anyhow, so a limit on all of them together must stand beside this.
pub(super) struct Sources {
    slots: Vec<(u64, Bucket)>,
    hasher: RandomState,
}

impl Sources {
    const SLOTS: usize = 1024;

    pub(super) fn new() -> Self {
        Self { slots: vec![(0, Bucket::default()); Self::SLOTS], hasher: RandomState::new() }
    }

    /// Counts one of `address` in if it is within `limit`.
    pub(super) fn take(&mut self, address: SocketAddr, limit: RateLimit, now_us: u64) -> bool {
        let hash = self.hasher.hash_one(address);
        let slot = &mut self.slots[hash as usize % Self::SLOTS];
        if slot.0 != hash {
            *slot = (hash, Bucket::default());
        }
        slot.1.take(limit, now_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: RateLimit = RateLimit { per_second: 100, burst: 20 };

    #[test]
    fn a_burst_then_the_rate() {
        let mut bucket = Bucket::default();
        let at_once = (0..1000).filter(|_| bucket.take(LIMIT, 5_000_000)).count();
        assert_eq!(at_once, 20);
        let later = (0..100_000).filter(|step| bucket.take(LIMIT, 5_000_000 + step * 100)).count();
        assert!((999..=1001).contains(&later), "{later} in ten seconds");
        assert!((0..20).all(|_| bucket.take(LIMIT, 60_000_000)), "a silence fills it again");
    }

    #[test]
    fn sources_are_apart_and_bounded() {
        let mut sources = Sources::new();
        let address = |port| SocketAddr::from(([10, 0, 0, 1], port));
        let first = (0..100).filter(|_| sources.take(address(1), LIMIT, 0)).count();
        let second = (0..100).filter(|_| sources.take(address(2), LIMIT, 0)).count();
        assert_eq!((first, second), (20, 20));
        for port in 0..u16::MAX {
            sources.take(address(port), LIMIT, 0);
        }
        assert_eq!(sources.slots.len(), Sources::SLOTS);
    }
}
