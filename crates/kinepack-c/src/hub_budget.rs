//! Budgets of a hub's receivers, which may follow the link, and the uplink that receivers divide.

use std::time::Duration;

use kinepack_net::{Budget, LinkLimit, LinkStatus, ReceiverId, ReceiverOptions};

use crate::KpStatus;
use crate::handles::lock;
use crate::hub::{HUBS, KpHub, unknown};
use crate::memory::{put, required, time};
use crate::status::{Failure, call};

/// How the limit of the bytes for a receiver is found.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpBudgetKind {
    /// There is no limit except `datagrams_per_tick` of the hub.
    Unlimited = 0,
    /// The limit does not change. In any `t` seconds, the receiver gets at most `t` times the
    /// budget, plus a burst: a tenth of a second of the budget, or a full datagram if that is more.
    Fixed = 1,
    /// The limit follows the link. It begins at 50,000 bytes per second. It falls when datagrams
    /// wait in a queue of the link, and grows while it holds changes back.
    Auto = 2,
}

/// How many bytes per second a receiver gets, including the transport's headers. If a change of the
/// world does not fit, the entities that matter most are sent, and the others follow later.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpBudget {
    /// The kind of the budget: a `KpBudgetKind`.
    pub kind: i32,
    /// The number of bytes per second, at least 256. For `KP_BUDGET_KIND_AUTO`, it is the largest
    /// limit. `KP_BUDGET_KIND_UNLIMITED` ignores it.
    pub bytes_per_s: u32,
}

/// What determines the bytes that a receiver gets.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpLinkLimit {
    /// Nothing: all changes are sent.
    Content = 0,
    /// The limit that the hub has tried so far. It grows while no datagrams wait in a queue.
    Probing = 1,
    /// The link: datagrams began to wait in its queue.
    Queue = 2,
    /// The link: it lost more datagrams than usual.
    Loss = 3,
    /// Another sender fills the link's queue, and both share the link.
    Competing = 4,
    /// The largest limit that was set.
    AtMost = 5,
    /// The limit of all receivers together.
    Uplink = 6,
}

/// What the hub knows of the link to a receiver. All bytes include the transport's headers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpLinkStatus {
    /// Not 0 if the receiver's budget follows the link. Otherwise, all other members are 0.
    pub follows_link: i32,
    /// What determines the bytes that are sent.
    pub limit: KpLinkLimit,
    /// The number of bytes that may be sent per second.
    pub bytes_per_s: u32,
    /// The number of bytes per second that were acknowledged in the last quarter of a second. It is
    /// 0 before enough acknowledgements.
    pub delivered_bytes_per_s: u32,
    /// How long datagrams wait in queues, in nanoseconds.
    pub queueing_delay_ns: u64,
    /// The shortest round trip of the last five to ten seconds, in nanoseconds. It is 0 before the
    /// first acknowledgement.
    pub shortest_round_trip_ns: u64,
    /// The number of bytes that were sent, and are neither acknowledged nor lost.
    pub in_flight_bytes: u64,
    /// The share of datagrams lost recently, from 0 to 1.
    pub lost_ratio: f64,
}

/// Sets how many bytes per second a receiver gets. Call it after `kp_hub_add`, or at any time while
/// the receiver plays. A larger budget has no immediate effect, because it only makes unused budget
/// accumulate faster.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_set_budget(
    hub: KpHub,
    receiver: u64,
    budget: *const KpBudget,
    now_ns: u64,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `budget` is readable until this call returns.
        let budget = budget_of(*unsafe { required(budget)? })?;
        let options = ReceiverOptions { budget, ..ReceiverOptions::default() };
        let hub = HUBS.get(hub.id)?;
        let set = lock(&hub).hub.set_options(ReceiverId(receiver), &options, time(now_ns));
        set.map_err(Failure::argument)
    })
}

/// Limits the bytes per second of all receivers together, including the transport's headers, for
/// example to the rate of a server's connection. `bytes_per_s` is at least 256, or 0 for no limit,
/// as at first. The receivers divide the limit equally. What one receiver does not need is left for
/// the others.
#[unsafe(no_mangle)]
pub extern "C" fn kp_hub_set_uplink(hub: KpHub, bytes_per_s: u32) -> KpStatus {
    call(|| {
        let bytes_per_s = Some(bytes_per_s).filter(|limit| *limit > 0);
        let set = lock(&*HUBS.get(hub.id)?).hub.set_uplink(bytes_per_s);
        set.map_err(Failure::argument)
    })
}

/// Writes what the hub knows of the link to a receiver, as of the last tick.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_link(
    hub: KpHub,
    receiver: u64,
    out: *mut KpLinkStatus,
) -> KpStatus {
    call(|| {
        let status = lock(&*HUBS.get(hub.id)?).hub.status(ReceiverId(receiver));
        let link = described(status.ok_or_else(|| unknown(receiver))?.link)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, link) }
    })
}

fn budget_of(budget: KpBudget) -> Result<Budget, Failure> {
    let KpBudget { kind, bytes_per_s } = budget;
    match kind {
        0 => Ok(Budget::Unlimited),
        1 => Ok(Budget::Fixed { bytes_per_s }),
        2 => Ok(Budget::Auto { at_most: bytes_per_s }),
        _ => Err(Failure::argument(format!(
            "no KpBudgetKind is {kind}; use 0 (unlimited), 1 (fixed) or 2 (auto)"
        ))),
    }
}

/// Describes a link to the caller. `None` for a budget that does not follow it.
fn described(link: Option<LinkStatus>) -> Result<KpLinkStatus, Failure> {
    let follows_link = link.is_some().into();
    let link = link.unwrap_or_default();
    Ok(KpLinkStatus {
        follows_link,
        limit: limit_of(link.limit)?,
        bytes_per_s: link.bytes_per_s,
        delivered_bytes_per_s: link.delivered_bytes_per_s.unwrap_or(0),
        queueing_delay_ns: nanoseconds(link.queueing_delay),
        shortest_round_trip_ns: link.shortest_round_trip.map_or(0, nanoseconds),
        in_flight_bytes: link.in_flight_bytes,
        lost_ratio: link.lost_ratio,
    })
}

fn limit_of(limit: LinkLimit) -> Result<KpLinkLimit, Failure> {
    Ok(match limit {
        LinkLimit::Content => KpLinkLimit::Content,
        LinkLimit::Probing => KpLinkLimit::Probing,
        LinkLimit::Queue => KpLinkLimit::Queue,
        LinkLimit::Loss => KpLinkLimit::Loss,
        LinkLimit::Competing => KpLinkLimit::Competing,
        LinkLimit::AtMost => KpLinkLimit::AtMost,
        LinkLimit::Uplink => KpLinkLimit::Uplink,
        // The library has a defect if it reports a limit that this interface lacks.
        other => return Err(Failure::new(KpStatus::Panic, format!("no KpLinkLimit is {other:?}"))),
    })
}

/// A duration for the caller. A duration of more than 584 years is shortened to that.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
