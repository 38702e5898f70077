//! Prints the measurements.

use std::io;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::Arguments;
use crate::process::{Child, Relay, processor_time};
use crate::viewers::{Crowd, median};

/// The values of all counters at one moment.
pub struct Measured {
    relays: Vec<Duration>,
    publisher: Duration,
    viewers: Duration,
    bytes: u64,
    count: u64,
}

impl Measured {
    pub fn now(relays: &[Relay], publisher: &impl Child, crowd: &Crowd) -> io::Result<Self> {
        Ok(Self {
            relays: relays.iter().map(Child::processor_time).collect::<io::Result<_>>()?,
            publisher: publisher.processor_time()?,
            viewers: processor_time(std::process::id())?,
            bytes: crowd.received_bytes(),
            count: crowd.count(),
        })
    }
}

pub fn print(
    arguments: &Arguments,
    before: &Measured,
    after: &Measured,
    time: Duration,
    crowd: &Crowd,
) {
    let seconds = time.as_secs_f64();
    let viewers = f64::from(arguments.viewers).max(1.0);
    let share = |before: Duration, after: Duration| {
        after.saturating_sub(before).as_secs_f64() / seconds * 100.0
    };
    println!("{} viewers of {} for {seconds:.0} s", arguments.viewers, arguments.tier);
    let kbps = (after.bytes - before.bytes) as f64 * 8e-3 / seconds / viewers;
    println!("a viewer receives {kbps:.1} kbit/s, with the headers of IP, UDP, QUIC and MoQ");
    println!(
        "objects and states compared: {}; wrong: {}",
        after.count - before.count,
        crowd.wrong()
    );
    for (nth, (before, after)) in before.relays.iter().zip(&after.relays).enumerate() {
        let percent = share(*before, *after);
        println!(
            "relay {}: {percent:.1} % of a core, {:.0} µs a second for each viewer",
            nth + 1,
            percent * 1e4 / viewers
        );
    }
    println!(
        "publisher: {:.0} µs a tick in the median to encode and pass on, {:.1} % of a core with the \
         simulation",
        crowd.publishing_us(),
        share(before.publisher, after.publisher)
    );
    println!("all viewers: {:.1} % of a core", share(before.viewers, after.viewers));
    for tier in crate::TIERS {
        let delays_us: Vec<u64> = crowd
            .played
            .iter()
            .filter(|(name, _)| *name == tier)
            .flat_map(|(_, seen)| {
                seen.delays_us.lock().unwrap_or_else(PoisonError::into_inner).clone()
            })
            .collect();
        if !delays_us.is_empty() {
            let ms = median(delays_us) as f64 / 1e3;
            let states: u64 = crowd
                .played
                .iter()
                .filter(|(name, _)| *name == tier)
                .map(|(_, seen)| seen.count.load(Relaxed))
                .sum();
            println!(
                "{tier}: from tick to view {ms:.0} ms in the median; {states} states compared"
            );
        }
    }
    if arguments.kill {
        let times = crowd.back();
        let all = crowd.received.len() + crowd.played.len();
        let at = |share: f64| {
            let place = (times.len().saturating_sub(1) as f64 * share) as usize;
            times.get(place).map_or(0.0, Duration::as_secs_f64)
        };
        println!(
            "{} of {all} viewers receive again: the first {:.1} s after the relay, half of them \
             {:.1} s, 99 % {:.1} s, the last {:.1} s",
            times.len(),
            at(0.0),
            at(0.5),
            at(0.99),
            at(1.0)
        );
    }
}
