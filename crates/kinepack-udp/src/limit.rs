//! Limits rates with a leaky bucket in one number, and a small table of buckets for unknown
//! addresses.
//!
//! The bucket is the "generic cell rate algorithm" of ATM (ITU-T I.371, annex A). It stores the
//! time at which the bucket will be empty, instead of a level and the time of the last drop.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// A limit on the rate of events.
///
/// ```
/// use kinepack_udp::{RateLimit, ServerOptions};
///
/// // A client sends an input and an acknowledgement 60 times per second. The limit is twice that.
/// let per_client = RateLimit { per_second: 240, burst: 60 };
/// let options = ServerOptions { per_client, ..ServerOptions::new(1) };
/// assert_eq!(options.per_client.burst, 60);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// The number of events per second.
    pub per_second: u32,
    /// How many events are allowed together after a pause.
    pub burst: u32,
}

/// The state of one rate limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bucket {
    empty_at_us: u64,
}

impl Bucket {
    /// Counts an event if it is within `limit`, and returns whether it was.
    pub fn take(&mut self, limit: RateLimit, now_us: u64) -> bool {
        let one_us = 1_000_000 / u64::from(limit.per_second.max(1));
        let empty_at_us = self.empty_at_us.max(now_us) + one_us;
        let within = empty_at_us - now_us <= one_us * u64::from(limit.burst);
        if within {
            self.empty_at_us = empty_at_us;
        }
        within
    }
}

/// Buckets for any number of addresses in bounded memory.
///
/// Two addresses that share a slot reset each other's bucket. An attacker with many addresses gains
/// no more from such resets than from using more addresses. So a second limit must cover all
/// addresses together.
#[derive(Debug)]
pub struct Sources {
    slots: Vec<(u64, Bucket)>,
    hasher: RandomState,
}

impl Default for Sources {
    fn default() -> Self {
        Self { slots: vec![(0, Bucket::default()); Self::SLOTS], hasher: RandomState::new() }
    }
}

impl Sources {
    const SLOTS: usize = 1024;

    /// Counts an event from `address` if it is within `limit`, and returns whether it was.
    pub fn take(&mut self, address: SocketAddr, limit: RateLimit, now_us: u64) -> bool {
        let hash = self.hasher.hash_one(address);
        let slot = &mut self.slots[hash as usize % Self::SLOTS];
        if slot.0 != hash {
            *slot = (hash, Bucket::default());
        }
        slot.1.take(limit, now_us)
    }
}

/// The part of an address that limits count as one source. For IPv6 it is the first 64 bits,
/// because a host that has one address of such a network usually has all of them. An IPv4 address
/// in the form of IPv6 counts as that IPv4 address.
pub fn source(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        version_4 => version_4,
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
    fn a_network_of_version_6_is_one_source() {
        let of = |text: &str| source(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::7"), of("2001:db8:1:2:ffff:ffff:ffff:ffff"));
        assert_ne!(of("2001:db8:1:2::7"), of("2001:db8:1:3::7"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }

    #[test]
    fn sources_are_apart_and_bounded() {
        let mut sources = Sources::default();
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
