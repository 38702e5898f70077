//! Counts what happened to datagrams.

/// A number of datagrams, and their bytes without headers. [`LinkStats`] has an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of datagrams.
    pub count: u64,
    /// The sum of the datagrams' lengths.
    pub bytes: u64,
}

impl Tally {
    pub(super) fn add(&mut self, len_bytes: usize) {
        self.count += 1;
        self.bytes += len_bytes as u64;
    }
}

/// Counters of a [`Link`](super::Link).
///
/// Invariant, in counts and in bytes: `sent` + `duplicated` = `delivered` + `lost` +
/// `queue_dropped` + `too_large` + datagrams in flight.
///
/// ```
/// use std::time::Duration;
/// use kinepack_net::{Link, LinkConfig, Loss, Tally};
///
/// let loss = Loss::Independent { ratio: 0.25 };
/// let mut link = Link::new(LinkConfig { loss, ..LinkConfig::PERFECT }, 1)?;
/// for _ in 0..1_000 {
///     link.send(Duration::ZERO, &[0; 50]);
///     while link.poll(Duration::ZERO).is_some() {}
/// }
/// let stats = link.stats();
/// assert_eq!(stats.sent, Tally { count: 1_000, bytes: 50_000 });
/// assert_eq!(stats.delivered.count + stats.lost.count, 1_000);
/// assert!((200..300).contains(&stats.lost.count));
/// # Ok::<(), kinepack_net::LinkError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Datagrams passed to the link.
    pub sent: Tally,
    /// Datagrams delivered, including copies.
    pub delivered: Tally,
    /// Datagrams lost by [`LinkConfig::loss`](super::LinkConfig::loss).
    pub lost: Tally,
    /// Copies that the link made of datagrams.
    pub duplicated: Tally,
    /// Datagrams delivered after one that was sent later (RFC 4737). Copies do not count.
    pub reordered: Tally,
    /// Datagrams dropped because the queue of the bottleneck was full.
    pub queue_dropped: Tally,
    /// Datagrams that were larger than the path carries.
    pub too_large: Tally,
}
