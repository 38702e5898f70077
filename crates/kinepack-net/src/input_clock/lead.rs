//! Computes the lead that inputs need to arrive in time.
//!
//! Each report says how early an input arrived. With the lead that the input had, this gives the
//! lead that it would have needed. Some reports are samples: a quantile of their needs is enough if
//! many inputs are a little late. Samples are too few for rare delays, so the other reports name
//! the least early of 16 inputs each.
//!
//! The inputs just after a late one were late too, if each packet repeats the input before its own:
//! they arrived no earlier than the late one, and each was due only one tick later. So an input
//! that is late by 3.5 ticks stands for at least 4 late inputs.

use super::InputClockConfig;
use crate::sorted_window::SortedWindow;
use crate::stream::TIMED_RECORDS;

#[derive(Clone, Debug)]
pub(super) struct LeadEstimator {
    late_ratio: f64,
    margin_ns: i64,
    window_ns: i64,
    tick_ns: i64,
    /// When the first report arrived.
    began_ns: Option<i64>,
    /// The lead that the inputs of samples needed.
    samples: SortedWindow,
    /// The lead that the least early inputs needed.
    worst: SortedWindow,
    /// The needed lead. It is kept when the window runs empty.
    needed_ns: Option<i64>,
}

impl LeadEstimator {
    pub(super) fn new(config: &InputClockConfig) -> Self {
        Self {
            late_ratio: 1.0 - f64::from(config.in_time_ratio),
            margin_ns: config.margin.as_nanos() as i64,
            window_ns: config.window.as_nanos() as i64,
            tick_ns: 1_000_000_000 / i64::from(config.tick_hz),
            began_ns: None,
            samples: SortedWindow::default(),
            worst: SortedWindow::default(),
            needed_ns: None,
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.start_again();
        self.needed_ns = None;
    }

    /// Forgets the reports, because the network has changed, but keeps the needed lead until the
    /// next one. As at the beginning, no input may be late for now.
    pub(super) fn start_again(&mut self) {
        self.began_ns = None;
        self.samples.clear();
        self.worst.clear();
    }

    /// The lead that enough inputs need; `None` before the first report.
    pub(super) fn needed_ns(&self) -> Option<i64> {
        self.needed_ns
    }

    /// Takes the report that an input with the lead `lead_ns` arrived early by `early_ns`. The
    /// input is a sample, or the least early of 16.
    pub(super) fn observe(&mut self, now_ns: i64, lead_ns: i64, early_ns: i64, is_sample: bool) {
        let began_ns = *self.began_ns.get_or_insert(now_ns);
        let need_ns = lead_ns.saturating_sub(early_ns).saturating_add(self.margin_ns);
        let since_ns = now_ns.saturating_sub(self.window_ns);
        let window = if is_sample { &mut self.samples } else { &mut self.worst };
        window.insert(now_ns, need_ns);
        self.samples.expire(since_ns);
        self.worst.expire(since_ns);
        let inputs = now_ns.saturating_sub(began_ns).min(self.window_ns) / self.tick_ns;
        let most_late = (inputs as f64 * self.late_ratio).round() as i64;
        self.needed_ns = self.for_samples().max(self.for_worst(most_late));
    }

    /// The shortest lead with which enough of the samples would have been in time.
    fn for_samples(&self) -> Option<i64> {
        let needs = self.samples.sorted();
        let most_late = (needs.len() as f64 * self.late_ratio).round() as usize;
        needs.get(needs.len().checked_sub(1 + most_late)?).copied()
    }

    /// The shortest lead with which at most `most_late` of the inputs would have been late, if only
    /// those were late that must have been.
    fn for_worst(&self, most_late: i64) -> Option<i64> {
        let needs = self.worst.sorted();
        let longest_ns = *needs.last()?;
        let tick_ns = self.tick_ns;
        // Each report stands for at least one late input, so no more reports than this count.
        let worst = needs.iter().rev().take(most_late.saturating_add(1) as usize);
        let late = |lead_ns: i64| -> i64 {
            let of = |need_ns: &i64| {
                let ticks = (need_ns - lead_ns).max(0) as u64;
                ticks.div_ceil(tick_ns as u64).min(TIMED_RECORDS.into()) as i64
            };
            worst.clone().map(of).sum()
        };
        // The count changes only at whole ticks before a report's need.
        let leads = worst.clone().flat_map(|need_ns| {
            (0..=most_late.min(TIMED_RECORDS.into())).map(move |ticks| need_ns - ticks * tick_ns)
        });
        Some(leads.filter(|lead_ns| late(*lead_ns) <= most_late).min().unwrap_or(longest_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK_NS: i64 = 1_000_000_000 / 60;

    fn after(seconds: i64, needs_ticks: &[f64]) -> i64 {
        let config = InputClockConfig { in_time_ratio: 0.995, ..InputClockConfig::at_hz(60) };
        let mut lead = LeadEstimator::new(&config);
        let early_ns = config.margin.as_nanos() as i64;
        lead.observe(0, 0, early_ns, false);
        for needed in needs_ticks {
            let needed_ns = (needed * TICK_NS as f64) as i64;
            lead.observe(seconds * 1_000_000_000, needed_ns, early_ns, false);
        }
        lead.needed_ns().unwrap() * 16 / TICK_NS
    }

    #[test]
    fn each_late_input_counts_with_those_that_it_held_up() {
        // In a second, no input may be late; in ten, three.
        assert_eq!(after(1, &[2.5, 1.0]), 40);
        assert_eq!(after(10, &[2.5, 1.0, 0.5]), 8);
        assert_eq!(after(10, &[9.0, 1.0, 0.5]), 6 * 16);
        assert_eq!(after(10, &[9.0, 8.5, 0.5]), 7 * 16 + 8);
        assert_eq!(after(10, &[5.0, 5.0, 5.0, 5.0]), 5 * 16);
    }

    #[test]
    fn many_inputs_that_are_a_little_late_are_seen_in_samples() {
        let config = InputClockConfig { in_time_ratio: 0.9, ..InputClockConfig::at_hz(60) };
        let mut lead = LeadEstimator::new(&config);
        let early_ns = config.margin.as_nanos() as i64;
        for index in 0..100 {
            lead.observe(index * 50_000_000, index % 20, early_ns, true);
            lead.observe(index * 50_000_000, 5, early_ns, false);
        }
        assert_eq!(lead.needed_ns(), Some(17));
    }
}
