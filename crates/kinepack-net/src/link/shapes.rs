//! Generated traces that resemble links whose capacity changes.
//!
//! Each is a list of stretches, which have a length and a rate. The list is made with integers from
//! a fixed seed.

use super::LinkTrace;
use super::random::Random;

/// The bits of an opportunity, times the milliseconds of a second. A rate in bits per second,
/// summed over milliseconds, makes an opportunity each time that the sum grows by this number.
const OPPORTUNITY: u64 = 1_500 * 8 * 1_000;

/// A time of one rate.
#[derive(Clone, Copy)]
struct Stretch {
    ms: u32,
    bps: u32,
}

impl LinkTrace {
    /// The names of the generated traces.
    pub const NAMES: [&str; 4] = ["step", "cell-edge", "train", "crowded-wifi"];

    /// Generates a trace by name. It has the same opportunities on every platform and in every
    /// version, at most 40,000.
    ///
    /// - `step`: 30 s with 2.1 Mbit/s on average. 4 Mbit/s, then 256 kbit/s, then 2 Mbit/s, for 10 s
    ///   each.
    /// - `cell-edge`: 60 s with 1.0 Mbit/s. Every 200 ms a new rate from 128 kbit/s to 2 Mbit/s, at
    ///   most a third above or a quarter below the last. About every 10 s, nothing for 0.2 to 0.8 s.
    /// - `train`: 120 s with 3.9 Mbit/s. Every 500 ms a new rate from 0.5 to 8 Mbit/s. About every
    ///   15 s the cell changes, with nothing for 0.1 to 0.4 s. Three tunnels of 2 to 6 s with nothing.
    /// - `crowded-wifi`: 60 s with 3.5 Mbit/s. 24 Mbit/s for 2 to 8 ms, then nothing for 5 to 45 ms
    ///   while others send, by turns. About every 8 s a crowd for 1 to 2 s, with pauses of 50 to
    ///   200 ms.
    ///
    /// ```
    /// use kinepack_net::LinkTrace;
    ///
    /// let means = LinkTrace::NAMES.map(|name| LinkTrace::named(name).map(|trace| trace.mean_bps()));
    /// assert_eq!(means[0], Some(2_085_600));
    /// assert_eq!(LinkTrace::named("tin cans"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        let stretches = match name {
            "step" => [4_000_000, 256_000, 2_000_000].map(|bps| Stretch { ms: 10_000, bps }).into(),
            "cell-edge" => cell_edge(Random::new(1)),
            "train" => train(Random::new(1)),
            "crowded-wifi" => crowded_wifi(Random::new(3)),
            _ => return None,
        };
        Some(of_stretches(&stretches))
    }
}

/// Makes the trace of stretches. The last one has a rate above 0.
fn of_stretches(stretches: &[Stretch]) -> LinkTrace {
    let total: u64 = stretches.iter().map(|part| u64::from(part.ms) * u64::from(part.bps)).sum();
    // The sum begins where it ends after the last millisecond with a whole opportunity. So the
    // trace has exactly the length of its stretches.
    let mut sum = (OPPORTUNITY - total % OPPORTUNITY) % OPPORTUNITY;
    let (mut now_ms, mut times) = (0, Vec::new());
    for part in stretches {
        for _ in 0..part.ms {
            now_ms += 1;
            sum += u64::from(part.bps);
            while sum >= OPPORTUNITY {
                sum -= OPPORTUNITY;
                times.push(now_ms);
            }
        }
    }
    LinkTrace::of_times(times)
}

/// Changes a rate at random, within limits: at most a third more or a quarter less.
fn wander(random: &mut Random, bps: u32, [least, most]: [u32; 2]) -> u32 {
    let twelfths = random.between(9, 16);
    (bps / 12 * twelfths).clamp(least, most)
}

fn cell_edge(mut random: Random) -> Vec<Stretch> {
    let (mut stretches, mut bps) = (Vec::new(), 800_000);
    for _ in 0..300 {
        bps = wander(&mut random, bps, [128_000, 2_000_000]);
        stretches.push(Stretch { ms: 200, bps });
        // The last stretch has a rate, because a trace ends with an opportunity.
        if random.between(1, 50) == 1 {
            outage_before_last(&mut stretches, random.between(200, 800));
        }
    }
    cut_to(stretches, 60_000)
}

fn train(mut random: Random) -> Vec<Stretch> {
    let (mut stretches, mut bps) = (Vec::new(), 4_000_000);
    for half_second in 1..=240 {
        bps = wander(&mut random, bps, [500_000, 8_000_000]);
        stretches.push(Stretch { ms: 500, bps });
        if half_second % 30 == 0 {
            outage_before_last(&mut stretches, random.between(100, 400));
        }
        if [50, 105, 170].contains(&half_second) {
            outage_before_last(&mut stretches, random.between(2_000, 6_000));
        }
    }
    cut_to(stretches, 120_000)
}

fn crowded_wifi(mut random: Random) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let (mut at_ms, mut crowd_end_ms) = (0, 0);
    while at_ms < 60_000 {
        // A turn takes about 30 ms, so a crowd begins about every 8 s.
        if at_ms >= crowd_end_ms && random.between(1, 270) == 1 {
            crowd_end_ms = at_ms + random.between(1_000, 2_000);
        }
        let [least, most] = if at_ms < crowd_end_ms { [50, 200] } else { [5, 45] };
        let (waits_ms, sends_ms) = (random.between(least, most), random.between(2, 8));
        stretches.push(Stretch { ms: waits_ms, bps: 0 });
        stretches.push(Stretch { ms: sends_ms, bps: 24_000_000 });
        at_ms += waits_ms + sends_ms;
    }
    cut_to(stretches, 60_000)
}

/// Puts a time without opportunities before the last stretch.
fn outage_before_last(stretches: &mut Vec<Stretch>, ms: u32) {
    let last = stretches.len().saturating_sub(1);
    stretches.insert(last, Stretch { ms, bps: 0 });
}

/// Cuts stretches to a length. The last millisecond has a rate above 0.
fn cut_to(mut stretches: Vec<Stretch>, length_ms: u32) -> Vec<Stretch> {
    let mut left_ms = length_ms;
    for part in &mut stretches {
        part.ms = part.ms.min(left_ms);
        left_ms -= part.ms;
    }
    stretches.retain(|part| part.ms > 0);
    if let Some(last) = stretches.last_mut() {
        last.bps = last.bps.max(1_000_000);
    }
    stretches
}
