//! What became of the datagrams.

/// A number of datagrams, and the bytes that they hold, headers not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of datagrams.
    pub count: u64,
    /// Sum of their lengths.
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
/// `queue_dropped` + `too_large` + what is in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Given to the link.
    pub sent: Tally,
    /// Handed out, copies included.
    pub delivered: Tally,
    /// Taken by [`LinkConfig::loss`](super::LinkConfig::loss).
    pub lost: Tally,
    /// Copies made.
    pub duplicated: Tally,
    /// Delivered after one that was sent later (RFC 4737); copies are not counted.
    pub reordered: Tally,
    /// Refused by the full queue of the bottleneck.
    pub queue_dropped: Tally,
    /// Larger than the path takes.
    pub too_large: Tally,
}
