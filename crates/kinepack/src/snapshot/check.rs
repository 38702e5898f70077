//! The state check: 16 bits that show two sides whether their states differ. See `spec/CODEC.md`,
//! section 18.

use super::store::Snapshot;

/// The number of independent sums, which a processor computes in parallel.
const SUMS: usize = 8;
/// The multiplier of each step, which is 2⁶⁴ divided by the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

type Sums = [u64; SUMS];

/// Adds two values to a sum. The rotation moves the high bits down; without it, the top bits of two
/// values could cancel.
fn step(sum: u64, two_values: u64) -> u64 {
    (sum ^ two_values).wrapping_mul(FACTOR).rotate_left(32)
}

fn two(first: u32, second: u32) -> u64 {
    u64::from(first) | u64::from(second) << 32
}

fn add_block(sums: Sums, block: [u32; 2 * SUMS]) -> Sums {
    core::array::from_fn(|index| step(sums[index], two(block[2 * index], block[2 * index + 1])))
}

/// Adds a list to the sums, block by block. The last block is padded with zeros.
fn add(sums: Sums, mut list: impl ExactSizeIterator<Item = u32>) -> Sums {
    let blocks = list.len().div_ceil(2 * SUMS);
    (0..blocks).fold(sums, |sums, _| {
        add_block(sums, core::array::from_fn(|_| list.next().unwrap_or_default()))
    })
}

impl Snapshot {
    pub(super) fn state_check(&self) -> u16 {
        let mut sums = [0, 1, 2, 3, 4, 5, 6, 7];
        if self.entities.kinds() > 1 {
            sums = add(sums, self.entities.ranges().map(|range| range.len() as u32));
        }
        sums = add(sums, self.ids().iter().map(|id| id.0));
        for column in &self.columns {
            let (blocks, rest) = column.as_chunks();
            sums = blocks.iter().fold(sums, |sums, block| add_block(sums, *block));
            sums = add(sums, rest.iter().copied());
        }
        let all = sums.into_iter().fold(step(0, two(self.tick.0, self.len() as u32)), step);
        (all >> 16) as u16
    }
}
