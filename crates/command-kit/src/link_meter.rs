//! Measures how much of a link's capacity is used, and how long its queue is: over all time, and in
//! slots.

use std::time::Duration;

use kinepack_net::{HEADER_BYTES, Link, LinkStats, LinkTrace};
use serde::Serialize;

use crate::Distribution;

/// The length of a slot while there are few.
const SLOT_MS: u64 = 100;
/// The maximum number of slots. If more time passes, slots become twice as long.
const MOST_SLOTS: usize = 1_200;

/// Counts what passes through a link in one direction, in virtual time from 0 on.
#[derive(Clone, Debug)]
pub struct LinkMeter {
    trace: Option<LinkTrace>,
    slots: Vec<Counts>,
    slot_ms: u64,
    /// How long each datagram waited for those before it.
    waits_ms: Distribution,
    lost: u64,
    dropped: u64,
}

/// The counts of a slot. Bytes include headers.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent_bytes: u64,
    arrived_bytes: u64,
    /// The longest queue.
    queueing_ms: f64,
    lost: u64,
    dropped: u64,
    budget_bytes_per_s: Option<u32>,
}

/// The use of a link over a run. Rates include headers.
#[derive(Clone, Debug, Serialize)]
pub struct LinkUse {
    /// The mean rate that the link can carry. The value is `None` if it has no limit.
    pub offered_kbps: Option<f64>,
    /// The share of what the link can carry that datagrams took.
    pub used_ratio: Option<f64>,
    /// How long datagrams wait for those before them.
    pub queueing_ms: Waits,
    /// The number of datagrams for which the queue had no room.
    pub dropped: u64,
    /// The number of datagrams that the link lost for other reasons.
    pub lost: u64,
    /// The length of a slot of `series`.
    pub slot_ms: u64,
    /// The complete slots, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Slot>,
}

/// The waits of a run's datagrams, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Waits {
    pub mean: f64,
    pub p95: f64,
    pub max: f64,
}

/// What happened in a slot.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Slot {
    /// The beginning of the slot.
    pub at_ms: u64,
    /// The rate that the link can carry. The value is `None` if it has no limit.
    pub offered_kbps: Option<f64>,
    /// The rate that was sent, with what was then lost or dropped.
    pub sent_kbps: f64,
    pub arrived_kbps: f64,
    /// The longest time that the queue takes to empty.
    pub queueing_ms: f64,
    pub lost: u64,
    pub dropped: u64,
    /// The receiver's budget at the end of the slot. The value is `None` if it has no budget.
    pub budget_kbps: Option<f64>,
}

impl LinkMeter {
    /// Begins at time 0, for a link that follows `trace` from then on, or its bandwidth.
    pub fn new(trace: Option<LinkTrace>) -> Self {
        Self {
            trace,
            slots: Vec::new(),
            slot_ms: SLOT_MS,
            waits_ms: Distribution::default(),
            lost: 0,
            dropped: 0,
        }
    }

    /// Sends a datagram over the link, and counts it. During an outage, the datagram is lost
    /// before the link.
    pub fn send(&mut self, link: &mut Link, now: Duration, datagram: &[u8], is_outage: bool) {
        let wait_ms = link.queueing(now).as_secs_f64() * 1e3;
        let before = *link.stats();
        if !is_outage {
            link.send(now, datagram);
        }
        let LinkStats { lost, too_large, queue_dropped, .. } = *link.stats();
        let dropped = queue_dropped.count - before.queue_dropped.count;
        let lost = lost.count - before.lost.count + too_large.count - before.too_large.count
            + u64::from(is_outage);
        if dropped == 0 && !is_outage {
            self.waits_ms.add(wait_ms);
        }
        self.dropped += dropped;
        self.lost += lost;
        let slot = self.slot(now);
        slot.sent_bytes += with_header(datagram.len());
        slot.queueing_ms = slot.queueing_ms.max(wait_ms);
        slot.dropped += dropped;
        slot.lost += lost;
    }

    /// Counts a datagram that arrived.
    pub fn arrived(&mut self, now: Duration, datagram: &[u8]) {
        self.slot(now).arrived_bytes += with_header(datagram.len());
    }

    /// Notes the queue, and the budget of the receiver in bytes per second. Call it at each tick,
    /// because the queue also matters while nothing is sent.
    pub fn tick(&mut self, link: &Link, now: Duration, budget_bytes_per_s: Option<u32>) {
        let wait_ms = link.queueing(now).as_secs_f64() * 1e3;
        let slot = self.slot(now);
        slot.queueing_ms = slot.queueing_ms.max(wait_ms);
        slot.budget_bytes_per_s = budget_bytes_per_s;
    }

    /// The slot of a moment. Slots do not include their beginning, but their end.
    fn slot(&mut self, now: Duration) -> &mut Counts {
        let index_at = |slot_ms: u64| {
            now.as_nanos().saturating_sub(1) / Duration::from_millis(slot_ms).as_nanos()
        };
        while index_at(self.slot_ms) >= MOST_SLOTS as u128 {
            self.slots = self.slots.chunks(2).map(Counts::of_pair).collect();
            self.slot_ms *= 2;
        }
        let index = index_at(self.slot_ms) as usize;
        if index >= self.slots.len() {
            // A budget lasts until it changes.
            let budget_bytes_per_s = self.slots.last().and_then(|last| last.budget_bytes_per_s);
            self.slots.resize(index + 1, Counts { budget_bytes_per_s, ..Counts::default() });
        }
        &mut self.slots[index]
    }

    /// Returns the use of the link until `end`.
    pub fn finish(&self, link: &Link, end: Duration) -> LinkUse {
        let LinkStats { delivered, lost, duplicated, .. } = *link.stats();
        // Copies did not pass the bottleneck.
        let count = (delivered.count + lost.count).saturating_sub(duplicated.count);
        let bytes = (delivered.bytes + lost.bytes).saturating_sub(duplicated.bytes);
        let passed_bytes = bytes + count * u64::from(HEADER_BYTES);
        let offered_bytes = self.offered_bytes(link, Duration::ZERO, end);
        let complete = (end.as_millis() / u128::from(self.slot_ms)).max(1) as usize;
        let slots = self.slots.iter().take(complete).enumerate();
        LinkUse {
            offered_kbps: offered_bytes.map(|bytes| kbps(bytes, end)),
            used_ratio: offered_bytes
                .filter(|bytes| *bytes > 0.0)
                .map(|offered| (passed_bytes as f64 / offered).min(1.0)),
            queueing_ms: Waits {
                mean: self.waits_ms.mean(),
                p95: self.waits_ms.percentile(0.95),
                max: self.waits_ms.percentile(1.0),
            },
            dropped: self.dropped,
            lost: self.lost,
            slot_ms: self.slot_ms,
            series: slots.map(|(index, counts)| self.of_slot(link, index, counts)).collect(),
        }
    }

    fn of_slot(&self, link: &Link, index: usize, counts: &Counts) -> Slot {
        let at_ms = self.slot_ms * index as u64;
        let length = Duration::from_millis(self.slot_ms);
        let begin = Duration::from_millis(at_ms);
        let rate = |bytes: u64| kbps(bytes as f64, length);
        Slot {
            at_ms,
            offered_kbps: self
                .offered_bytes(link, begin, begin + length)
                .map(|bytes| kbps(bytes, length)),
            sent_kbps: rate(counts.sent_bytes),
            arrived_kbps: rate(counts.arrived_bytes),
            queueing_ms: rounded(counts.queueing_ms),
            lost: counts.lost,
            dropped: counts.dropped,
            budget_kbps: counts.budget_bytes_per_s.map(|bytes| f64::from(bytes) * 8.0 / 1e3),
        }
    }

    /// Returns the bytes that the link can carry in a time.
    fn offered_bytes(&self, link: &Link, begin: Duration, end: Duration) -> Option<f64> {
        let constant = |bps: u32| f64::from(bps) / 8.0 * (end - begin).as_secs_f64();
        match &self.trace {
            Some(trace) => Some((trace.bytes_until(end) - trace.bytes_until(begin)) as f64),
            None => link.config().bandwidth_bps.map(constant),
        }
    }
}

impl Counts {
    /// Joins slots that follow each other.
    fn of_pair(pair: &[Self]) -> Self {
        pair.iter().fold(Self::default(), |sum, slot| Self {
            sent_bytes: sum.sent_bytes + slot.sent_bytes,
            arrived_bytes: sum.arrived_bytes + slot.arrived_bytes,
            queueing_ms: sum.queueing_ms.max(slot.queueing_ms),
            lost: sum.lost + slot.lost,
            dropped: sum.dropped + slot.dropped,
            budget_bytes_per_s: slot.budget_bytes_per_s,
        })
    }
}

impl LinkUse {
    /// The heading of [`cells`](Self::cells).
    pub const HEADER: [&str; 6] =
        ["link kbit/s", "used", "queueing ms: mean", "\t95 %", "\tlargest", "dropped"];

    /// Returns the cells of a table.
    pub fn cells(&self) -> [String; 6] {
        let Waits { mean, p95, max } = self.queueing_ms;
        let known = |cell: Option<String>| cell.unwrap_or_else(|| "–".to_owned());
        [
            known(self.offered_kbps.map(|kbps| format!("{kbps:.0}"))),
            known(self.used_ratio.map(|ratio| format!("{:.1} %", 100.0 * ratio))),
            format!("{mean:.1}"),
            format!("{p95:.1}"),
            format!("{max:.1}"),
            self.dropped.to_string(),
        ]
    }

    /// Says that the link hardly limits what is sent, if that is so. `kbps` is the rate that was
    /// sent.
    pub fn note_of_room(&self, kbps: f64) -> Option<String> {
        let offered_kbps = self.offered_kbps.filter(|offered| kbps < 0.5 * offered)?;
        (self.dropped == 0).then(|| {
            format!(
                "what is sent takes {kbps:.0} kbit/s, and the link carries {offered_kbps:.0} on \
                 average: most of the time the link is not the limit"
            )
        })
    }
}

fn with_header(datagram_bytes: usize) -> u64 {
    datagram_bytes as u64 + u64::from(HEADER_BYTES)
}

fn kbps(bytes: f64, span: Duration) -> f64 {
    rounded(bytes * 8.0 / 1e3 / span.as_secs_f64().max(1e-9))
}

/// Rounds to thousandths, because a series with all digits is hard to read.
fn rounded(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use kinepack_net::LinkConfig;

    use super::*;

    /// Sends a datagram of 972 bytes every 10 ms, and returns the use after `seconds`.
    fn used(trace: Option<&str>, config: LinkConfig, seconds: u32) -> LinkUse {
        let trace: Option<LinkTrace> = trace.map(|text| text.parse().unwrap());
        let mut link = Link::new(config, 1).unwrap();
        link.follow(Duration::ZERO, trace.clone());
        let mut meter = LinkMeter::new(trace);
        for step in 1..=seconds * 100 {
            let now = Duration::from_millis(10) * step;
            while let Some(at) = link.next_due().filter(|at| *at <= now) {
                let datagram = link.poll(at).unwrap();
                meter.arrived(at, &datagram);
            }
            meter.tick(&link, now, (step > 50).then_some(125_000));
            let is_outage = (101..=110).contains(&step);
            meter.send(&mut link, now, &[0; 972], is_outage);
        }
        meter.finish(&link, Duration::from_secs(seconds.into()))
    }

    #[test]
    fn a_slow_trace_is_used_up_and_its_queue_overflows() {
        // 1,500 bytes every 20 ms are 600 kbit/s, and 800 are sent.
        let config = LinkConfig { queue_bytes: 15_000, ..LinkConfig::PERFECT };
        let used = used(Some("20\n"), config, 4);
        assert_eq!((used.offered_kbps, used.slot_ms, used.series.len()), (Some(600.0), 100, 40));
        assert!(used.used_ratio.is_some_and(|ratio| ratio > 0.9), "{used:?}");
        assert!(used.dropped > 30 && used.lost == 10, "{used:?}");
        let Waits { mean, p95, max } = used.queueing_ms;
        assert!(0.0 < mean && mean < p95 && p95 <= max && max <= 200.0, "{used:?}");
        let [first, outage, last] = [0, 10, 39].map(|index| used.series[index]);
        assert_eq!((first.at_ms, first.offered_kbps, first.sent_kbps), (0, Some(600.0), 800.0));
        assert_eq!((first.budget_kbps, last.budget_kbps), (None, Some(1_000.0)));
        assert_eq!((outage.lost, outage.dropped, first.lost), (10, 0, 0));
        assert!((500.0..=700.0).contains(&last.arrived_kbps) && last.at_ms == 3_900, "{last:?}");
        let sum: u64 = used.series.iter().map(|slot| slot.dropped).sum();
        assert_eq!(sum, used.dropped);
        assert_eq!(used.note_of_room(800.0), None);
    }

    #[test]
    fn a_fast_link_is_hardly_used_and_a_long_run_has_longer_slots() {
        let config = LinkConfig { bandwidth_bps: Some(8_000_000), ..LinkConfig::PERFECT };
        let used = used(None, config, 301);
        assert_eq!((used.slot_ms, used.series.len()), (400, 752));
        assert_eq!((used.offered_kbps, used.dropped), (Some(8_000.0), 0));
        assert!(used.used_ratio.is_some_and(|ratio| (0.09..0.11).contains(&ratio)), "{used:?}");
        assert_eq!(used.queueing_ms.max, 0.0);
        assert!((used.series[500].sent_kbps - 800.0).abs() < 0.1, "{:?}", used.series[500]);
        assert!(used.note_of_room(800.0).unwrap().contains("800 kbit/s"));
        assert!(used.cells()[1].ends_with(" %") && used.cells()[0] == "8000");
    }
}
