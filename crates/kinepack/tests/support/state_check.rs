//! State checks as `spec/CODEC.md`, section 18, defines them, written from that alone.

use kinepack::Snapshot;

/// The state check of a snapshot.
pub(crate) fn naive_check(snapshot: &Snapshot) -> u16 {
    let step = |sum: u64, value: u32| (sum ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let ids: Vec<u32> = snapshot.ids().iter().map(|id| id.0).collect();
    let lanes = (0..snapshot.lane_count()).map(|lane| snapshot.lane(lane).to_vec());
    let mut sums: [u64; 4] = [0, 1, 2, 3];
    for list in std::iter::once(ids).chain(lanes) {
        list.iter().zip((0..4).cycle()).for_each(|(value, sum)| sums[sum] = step(sums[sum], *value));
    }
    let all = step(step(0, snapshot.tick.0), snapshot.len() as u32);
    (sums.iter().fold(all, |all, sum| step(step(all, (sum >> 32) as u32), *sum as u32)) >> 48) as u16
}
