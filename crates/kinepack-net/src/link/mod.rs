//! Simulates a bad link: datagrams arrive late, twice, in a different order, or not at all.
//!
//! One `Link` simulates one direction, so a connection needs two links with different seeds. Links
//! connect endpoints in tests, demos and measurements, under the caller's clock. A datagram passes
//! these stages: the path's MTU → the queue before the bottleneck ([`LinkConfig::bandwidth_bps`] or
//! a [`LinkTrace`]) → loss → duplication → latency, jitter and reordering. So a lost datagram has
//! already used the bottleneck's bandwidth, as on a radio link.
//!
//! The same seed and the same calls give the same result on every platform: each mechanism has its
//! own random generator and decides with integers. Sources: Gilbert (1960) and Elliott (1963) for
//! loss in bursts, RFC 4737 for the definition of reordering. The settings correspond to those of
//! Linux's `netem`. Cost: one allocation for each datagram, O(log n) for n in flight.

mod bottleneck;
mod config;
mod delay;
mod loss;
mod presets;
mod random;
mod shapes;
mod stats;
mod trace;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use bottleneck::Bottleneck;
pub use config::{HEADER_BYTES, LinkConfig, LinkError, Loss};
use delay::DelayLine;
use loss::LossChain;
pub use presets::{LinkPreset, PRESETS};
use random::Random;
pub use stats::{LinkStats, Tally};
pub use trace::{LinkTrace, LinkTraceError};

/// One direction of a simulated network.
///
/// `now` is the time since any fixed moment. If it goes backwards, the link's time stands still.
///
/// Memory: the bytes of the datagrams in flight. With a capped bandwidth, these are at most
/// `queue_bytes` plus the bytes that the link carries during its greatest delay. Without a cap,
/// they are delay × send rate. If all datagrams are duplicated, both numbers double.
///
/// ```
/// use std::time::Duration;
/// use kinepack_net::{Link, LinkConfig};
///
/// let config = LinkConfig { latency: Duration::from_millis(40), ..LinkConfig::PERFECT };
/// let mut link = Link::new(config, 1)?;
/// link.send(Duration::from_millis(0), b"hello");
/// assert_eq!(link.poll(Duration::from_millis(39)), None);
/// assert_eq!(link.next_due(), Some(Duration::from_millis(40)));
/// assert_eq!(link.poll(Duration::from_millis(40)).as_deref(), Some(&b"hello"[..]));
/// # Ok::<(), kinepack_net::LinkError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Link {
    config: LinkConfig,
    bottleneck: Bottleneck,
    losses: LossChain,
    duplicates: Random,
    delays: DelayLine,
    /// The datagrams in flight. The one that is due first is on top.
    in_flight: BinaryHeap<Reverse<InFlight>>,
    /// The number of datagrams and copies that have departed.
    departed: u64,
    /// The highest number of a delivered datagram; 0 before the first. Datagrams sent later have
    /// higher numbers.
    newest_delivered: u64,
    /// The latest `now` of any call.
    now: Duration,
    stats: LinkStats,
}

impl Link {
    /// An idle link.
    ///
    /// # Errors
    /// Returns the error of [`LinkConfig::validate`].
    pub fn new(config: LinkConfig, seed: u64) -> Result<Self, LinkError> {
        config.validate()?;
        // Each mechanism has its own generator. For example, duplication does not change which
        // datagrams are lost.
        let mut seeds = Random::new(seed);
        Ok(Self {
            config,
            bottleneck: Bottleneck::default(),
            losses: LossChain::new(seeds.split()),
            duplicates: seeds.split(),
            delays: DelayLine::new(seeds.split(), seeds.split()),
            in_flight: BinaryHeap::new(),
            departed: 0,
            newest_delivered: 0,
            now: Duration::ZERO,
            stats: LinkStats::default(),
        })
    }

    /// The link's configuration.
    pub fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// Changes the settings for datagrams sent from now on. Datagrams in flight keep their due
    /// time, and later datagrams do not overtake them by jitter alone.
    ///
    /// # Errors
    /// Returns the error of [`LinkConfig::validate`]; then the link is unchanged.
    pub fn reconfigure(&mut self, config: LinkConfig) -> Result<(), LinkError> {
        config.validate()?;
        self.config = config;
        Ok(())
    }

    /// Has the link follow a trace that begins at `now`, instead of
    /// [`LinkConfig::bandwidth_bps`]. [`LinkConfig::queue_bytes`] bounds the queue as before. With
    /// `None`, the link returns to its configuration. Datagrams in flight keep their due time, and
    /// later datagrams wait for them.
    ///
    /// ```
    /// use std::time::Duration;
    /// use kinepack_net::{Link, LinkConfig};
    ///
    /// let mut link = Link::new(LinkConfig::PERFECT, 1)?;
    /// link.follow(Duration::ZERO, Some("20\n60\n".parse()?));
    /// link.send(Duration::ZERO, &[0; 1000]);
    /// link.send(Duration::ZERO, &[0; 1000]); // departs with the opportunity at 60 ms
    /// assert_eq!(link.next_due(), Some(Duration::from_millis(20)));
    /// assert_eq!(link.queueing(Duration::from_millis(10)), Duration::from_millis(50));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn follow(&mut self, now: Duration, trace: Option<LinkTrace>) {
        self.now = self.now.max(now);
        self.bottleneck.follow(self.now, trace);
    }

    /// How long a datagram sent at `now` would wait for those before it, until the bottleneck has
    /// sent the last of them. 0 if nothing waits. The wait for an opportunity of a trace while
    /// nothing waits does not count, just as the datagram's own transmission.
    pub fn queueing(&self, now: Duration) -> Duration {
        self.bottleneck.queueing(self.now.max(now))
    }

    /// Sends a copy of `datagram`, which may be empty.
    pub fn send(&mut self, now: Duration, datagram: &[u8]) {
        self.now = self.now.max(now);
        self.stats.sent.add(datagram.len());
        let packet_bytes = datagram.len() as u64 + u64::from(HEADER_BYTES);
        if packet_bytes > u64::from(self.config.mtu_bytes) {
            self.stats.too_large.add(datagram.len());
            return;
        }
        let Some(departure) = self.bottleneck.pass(&self.config, self.now, packet_bytes) else {
            self.stats.queue_dropped.add(datagram.len());
            return;
        };
        if self.losses.takes(&self.config.loss) {
            self.stats.lost.add(datagram.len());
            return;
        }
        self.depart(departure, false, datagram.to_vec());
        if self.duplicates.chance(self.config.duplicate_ratio) {
            self.stats.duplicated.add(datagram.len());
            self.depart(departure, true, datagram.to_vec());
        }
    }

    /// The next datagram that is due by `now`, ordered by due time and then by when it was sent.
    /// Call this method until it returns `None`.
    pub fn poll(&mut self, now: Duration) -> Option<Vec<u8>> {
        self.now = self.now.max(now);
        if self.next_due()? > self.now {
            return None;
        }
        let Reverse(arrived) = self.in_flight.pop()?;
        self.stats.delivered.add(arrived.datagram.len());
        if arrived.number < self.newest_delivered && !arrived.is_copy {
            self.stats.reordered.add(arrived.datagram.len());
        }
        self.newest_delivered = self.newest_delivered.max(arrived.number);
        Some(arrived.datagram)
    }

    /// When the next datagram is due, which may be in the past. `None` if no datagram is in flight.
    pub fn next_due(&self) -> Option<Duration> {
        self.in_flight.peek().map(|Reverse(next)| next.due)
    }

    /// The number of datagrams in flight, including copies.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Counters of what happened to the datagrams.
    pub fn stats(&self) -> &LinkStats {
        &self.stats
    }

    fn depart(&mut self, departure: Duration, is_copy: bool, datagram: Vec<u8>) {
        self.departed += 1;
        let due = self.delays.due(&self.config, departure);
        self.in_flight.push(Reverse(InFlight { due, number: self.departed, is_copy, datagram }));
    }
}

/// A datagram in flight. The derived order is the order of delivery. The first two fields decide
/// the order, because numbers are unique.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InFlight {
    due: Duration,
    number: u64,
    is_copy: bool,
    datagram: Vec<u8>,
}
