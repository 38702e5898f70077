//! Measures how long the work of a tick takes, in wall-clock time and in processor time of its
//! thread.
//!
//! If other programs use the same processors, wall-clock time includes their time. Processor time
//! does not.

use std::time::{Duration, Instant};

use command_kit::Distribution;
use serde::Serialize;

/// The time that a piece of work took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    wall: Duration,
    /// The processor time. The value is `None` if the system does not report it.
    cpu: Option<Duration>,
}

/// Measures the time since it was started.
pub(super) struct Watch {
    wall: Instant,
    cpu: Option<Duration>,
}

/// The times of many pieces of work of one kind.
#[derive(Default)]
pub(super) struct Spans {
    wall: Times,
    cpu: Times,
}

/// Statistics of many times.
#[derive(Default)]
struct Times {
    total: Duration,
    count: u32,
    /// The distribution of the times in milliseconds.
    distribution: Distribution,
}

/// Times in a report, in microseconds. Percentiles are accurate to 1 %.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct TimesUs {
    pub(super) mean: f64,
    pub(super) p50: f64,
    pub(super) p99: f64,
    pub(super) max: f64,
}

impl Watch {
    pub(super) fn start() -> Self {
        Self { wall: Instant::now(), cpu: thread_time() }
    }

    pub(super) fn elapsed(&self) -> Span {
        let cpu = self.cpu.and_then(|start| Some(thread_time()?.saturating_sub(start)));
        Span { wall: self.wall.elapsed(), cpu }
    }
}

#[cfg(unix)]
fn thread_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.try_into().ok()
}

#[cfg(not(unix))]
fn thread_time() -> Option<Duration> {
    None
}

impl Span {
    pub(super) fn add(&mut self, other: Self) {
        self.wall += other.wall;
        self.cpu = other.cpu.map(|cpu| self.cpu.unwrap_or_default() + cpu);
    }
}

impl Spans {
    pub(super) fn add(&mut self, span: Span) {
        self.wall.add(span.wall);
        if let Some(cpu) = span.cpu {
            self.cpu.add(cpu);
        }
    }

    pub(super) fn count(&self) -> u32 {
        self.wall.count
    }

    pub(super) fn wall_us(&self) -> TimesUs {
        self.wall.summary_us()
    }

    pub(super) fn cpu_us(&self) -> Option<TimesUs> {
        (self.cpu.count > 0).then(|| self.cpu.summary_us())
    }
}

impl Times {
    fn add(&mut self, time: Duration) {
        self.total += time;
        self.count += 1;
        self.distribution.add(time.as_secs_f64() * 1e3);
    }

    fn summary_us(&self) -> TimesUs {
        let summary = self.distribution.summary();
        TimesUs {
            mean: self.total.as_secs_f64() * 1e6 / f64::from(self.count.max(1)),
            p50: summary.p50 * 1e3,
            p99: summary.p99 * 1e3,
            max: summary.max * 1e3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_both_times_and_waiting_only_wall_clock_time() {
        let watch = Watch::start();
        std::thread::sleep(Duration::from_millis(20));
        let waited = watch.elapsed();
        assert!(waited.wall >= Duration::from_millis(20));
        assert!(waited.cpu.is_none_or(|cpu| cpu < Duration::from_millis(15)), "{waited:?}");
        let mut spans = Spans::default();
        spans.add(waited);
        spans.add(Span { wall: Duration::from_millis(40), cpu: None });
        let times = spans.wall_us();
        assert!(times.mean >= 30_000.0 && times.max >= 40_000.0, "{times:?}");
    }
}
