//! A window of the last few seconds of numbers, kept sorted.

use std::collections::VecDeque;

/// The maximum number of samples in a window: more than arrive in ten seconds at 60 Hz. A full
/// window forgets its oldest sample early, so that a fast sender costs no more time or memory.
const MAX_SAMPLES: usize = 1024;

/// A sliding window with its order statistics.
///
/// Cost of an insertion: two binary searches and two moves within 8 KiB. Reading the order
/// statistics costs nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct SortedWindow {
    /// The time and value of each sample, oldest first.
    samples: VecDeque<(i64, i64)>,
    /// The same values, smallest first.
    sorted: Vec<i64>,
}

impl SortedWindow {
    /// Adds a value that arrived at `now_ns`.
    pub(crate) fn insert(&mut self, now_ns: i64, value: i64) {
        if self.samples.len() == MAX_SAMPLES {
            self.forget_oldest();
        }
        self.samples.push_back((now_ns, value));
        let index = self.sorted.partition_point(|other| *other < value);
        self.sorted.insert(index, value);
    }

    /// Forgets values that arrived before `since_ns`.
    pub(crate) fn expire(&mut self, since_ns: i64) {
        while self.samples.front().is_some_and(|(arrived_ns, _)| *arrived_ns < since_ns) {
            self.forget_oldest();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.samples.clear();
        self.sorted.clear();
    }

    /// The values, smallest first.
    pub(crate) fn sorted(&self) -> &[i64] {
        &self.sorted
    }

    fn forget_oldest(&mut self) {
        if let Some((_, value)) = self.samples.pop_front() {
            let index = self.sorted.partition_point(|other| *other < value);
            self.sorted.remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_sorted() {
        let mut window = SortedWindow::default();
        let values: Vec<i64> = (0..3000).map(|index| (index * 7919 % 257) - 100).collect();
        for (now, value) in values.iter().enumerate() {
            window.insert(now as i64, *value);
            window.expire(now as i64 - 99);
            let mut expected = values[now.saturating_sub(99)..=now].to_vec();
            expected.sort_unstable();
            assert_eq!(window.sorted(), expected);
        }
        window.expire(i64::MAX);
        assert!(window.sorted().is_empty());
    }

    #[test]
    fn the_window_is_bounded() {
        let mut window = SortedWindow::default();
        (0..5000).for_each(|value| window.insert(0, value));
        assert_eq!(window.sorted().len(), MAX_SAMPLES);
        assert_eq!(window.sorted()[0], 5000 - MAX_SAMPLES as i64);
    }
}
