//! Computes state checks, written from section 18 of `spec/CODEC.md` alone.

use kinepack::Snapshot;

/// Computes the state check of a snapshot.
pub(crate) fn naive_check(snapshot: &Snapshot) -> u16 {
    let step = |sum: u64, first: u32, second: u32| {
        (sum ^ (u64::from(first) + (u64::from(second) << 32)))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(32)
    };
    let ids: Vec<u32> = snapshot.ids().iter().map(|id| id.0).collect();
    let lanes = (0..snapshot.lane_count()).map(|lane| snapshot.lane(lane).to_vec());
    let mut sums: [u64; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
    for mut list in std::iter::once(ids).chain(lanes) {
        list.resize(list.len().next_multiple_of(16), 0);
        list.chunks(2)
            .zip((0..8).cycle())
            .for_each(|(pair, sum)| sums[sum] = step(sums[sum], pair[0], pair[1]));
    }
    let all = step(0, snapshot.tick.0, snapshot.len() as u32);
    (sums.iter().fold(all, |all, sum| step(all, *sum as u32, (sum >> 32) as u32)) >> 16) as u16
}
