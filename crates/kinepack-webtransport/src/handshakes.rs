//! Limits the number of simultaneous handshakes: for all visitors together, and for each address.
//!
//! An address may hold a quarter of the free handshakes. The first address alone gets 51 of 256,
//! the next one 41, and so on, so more than 20 addresses are needed to hold all handshakes. The
//! idea comes from dynamic thresholds in network switches (Choudhury and Hahne, 1998).

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

/// An address may hold the number of free handshakes divided by this.
const PART: usize = 4;

/// The limits for handshakes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The maximum number of simultaneous handshakes.
    pub(crate) most: usize,
    /// The longest time from a visitor's first packet until the visitor has received the answer to
    /// its request.
    pub(crate) time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { most: 256, time: Duration::from_secs(5) }
    }
}

/// The current handshakes.
#[derive(Debug)]
pub(crate) struct Handshakes {
    most: usize,
    /// The number of handshakes of each address that has at least one.
    held: HashMap<IpAddr, usize>,
    count: usize,
}

impl Handshakes {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, held: HashMap::new(), count: 0 }
    }

    /// Whether both limits allow another handshake of a [source](kinepack_udp::source).
    pub(crate) fn has_room(&self, source: IpAddr) -> bool {
        let free = self.most - self.count;
        let held = self.held.get(&source).copied().unwrap_or_default();
        // Even the last free handshakes are open to the first visitor of an address.
        free > 0 && held < (free / PART).max(1)
    }

    /// Begins a handshake of a source that [has room](Self::has_room).
    pub(crate) fn begin(&mut self, source: IpAddr) {
        debug_assert!(self.has_room(source));
        *self.held.entry(source).or_default() += 1;
        self.count += 1;
    }

    /// Ends a handshake that a source [began](Self::begin).
    pub(crate) fn end(&mut self, source: IpAddr) {
        if let Some(held) = self.held.get_mut(&source) {
            *held -= 1;
            self.count -= 1;
            if *held == 0 {
                self.held.remove(&source);
            }
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 256;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn begun(handshakes: &mut Handshakes, last: u8) -> usize {
        let begin = |_: &usize| {
            let has_room = handshakes.has_room(address(last));
            if has_room {
                handshakes.begin(address(last));
            }
            has_room
        };
        (0..1_000).take_while(begin).count()
    }

    #[test]
    fn an_address_holds_a_share_and_another_one_still_gets_in() {
        let mut handshakes = Handshakes::new(MOST);
        assert_eq!(begun(&mut handshakes, 1), 51);
        assert_eq!(begun(&mut handshakes, 2), 41);
        for last in 3..=20 {
            assert!(begun(&mut handshakes, last) > 0, "{last}");
        }
        assert!(handshakes.count() < MOST, "20 addresses do not hold all");
        for _ in 0..51 {
            handshakes.end(address(1));
        }
        // A handshake that ends makes room, also for other addresses.
        assert!(begun(&mut handshakes, 21) > 5);
    }

    #[test]
    fn the_bound_holds_for_all_addresses_together() {
        let mut handshakes = Handshakes::new(MOST);
        let all: usize = (0..=255).map(|last| begun(&mut handshakes, last)).sum();
        assert_eq!((all, handshakes.count()), (MOST, MOST));
        let another = IpAddr::from([10, 0, 1, 1]);
        assert!(!handshakes.has_room(another));
        // Another address has no handshake to end.
        handshakes.end(another);
        assert_eq!(handshakes.count(), MOST);
        handshakes.end(address(0));
        assert!(handshakes.has_room(another));
    }
}
