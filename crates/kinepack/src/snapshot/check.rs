//! The state check: 16 bits by which two sides find that they do not hold the same.
//! `spec/CODEC.md`, section 18.

use super::store::Snapshot;

/// How many sums there are, so that a processor can work on them side by side.
const SUMS: usize = 4;
/// What each step multiplies by: 2⁶⁴ divided by the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

fn step(sum: u64, value: u32) -> u64 {
    (sum ^ u64::from(value)).wrapping_mul(FACTOR)
}

/// Adds a list, from its beginning to the sums in turn.
fn add(sums: &mut [u64; SUMS], list: impl ExactSizeIterator<Item = u32>) {
    let mut list = list;
    let mut left = list.len();
    while left >= SUMS {
        *sums = sums.map(|sum| step(sum, list.next().unwrap_or_default()));
        left -= SUMS;
    }
    for (sum, value) in sums.iter_mut().zip(list) {
        *sum = step(*sum, value);
    }
}

impl Snapshot {
    pub(super) fn state_check(&self) -> u16 {
        let mut sums = [0, 1, 2, 3];
        add(&mut sums, self.ids.iter().map(|id| id.0));
        for column in &self.columns {
            add(&mut sums, column.iter().copied());
        }
        let mut all = step(step(0, self.tick.0), self.ids.len() as u32);
        for sum in sums {
            all = step(step(all, (sum >> 32) as u32), sum as u32);
        }
        (all >> 48) as u16
    }
}
