//! A report about a link.

use std::time::Duration;

/// What limits the bytes that are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkLimit {
    /// Nothing: all that changes is sent.
    #[default]
    Content,
    /// The limit that the control has tried so far. It grows while nothing waits in a queue.
    Probing,
    /// The link: datagrams began to wait in its queue.
    Queue,
    /// The link: it lost more datagrams than usual.
    Loss,
    /// Another sender fills the queue of the link, and both share it.
    Competing,
    /// The largest limit that was set.
    AtMost,
    /// The limit of all receivers together: see [`Hub::set_uplink`](crate::Hub::set_uplink).
    Uplink,
}

/// The state of a link, as [`PeerStatus::link`](crate::PeerStatus::link) and
/// [`CongestionControl::status`](crate::CongestionControl::status) report it. All bytes include the
/// transport's headers.
///
/// ```
/// use std::time::Duration;
/// use kinepack_net::{CongestionControl, LinkLimit};
///
/// let link = CongestionControl::new(20_000).status(Duration::ZERO);
/// assert_eq!((link.bytes_per_s, link.limit), (20_000, LinkLimit::Content));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkStatus {
    /// The bytes that may be sent in a second, without the limit of all receivers together.
    pub bytes_per_s: u32,
    /// What determines the bytes that are sent.
    pub limit: LinkLimit,
    /// How long datagrams wait in queues, from the round trips of the last tenth of a second. Round
    /// trips are seen at ticks, so this is a number of ticks: at 60 ticks per second, 16 ms may be
    /// less than a millisecond.
    pub queueing_delay: Duration,
    /// The shortest round trip of the last five to ten seconds.
    pub shortest_round_trip: Option<Duration>,
    /// The bytes that were acknowledged in a second, of the last quarter of a second. `None` before
    /// enough acknowledgements.
    pub delivered_bytes_per_s: Option<u32>,
    /// The bytes that were sent, and are neither acknowledged nor lost.
    pub in_flight_bytes: u64,
    /// The share of datagrams lost, from 0 to 1, in the last span of about 240 of them.
    pub lost_ratio: f64,
}
