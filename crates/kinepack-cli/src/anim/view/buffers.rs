//! Encodes motion as binary data for the page: a header of four little-endian `u32`, then `f32`.
//! Times are in half samples, so that the page also shows the poses between sample times. For a
//! long clip, only every second time is sent, or every fourth, and so on.

use kinepack_anim::measure::Follower;
use kinepack_anim::{Channel, Transform};

use super::Shown;

/// The approximate maximum number of floats in an answer.
const MAX_FLOATS: usize = 12 << 20;

/// The half samples from one time to the next, and the number of times. The last time is the last
/// sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Times {
    step: usize,
    count: usize,
}

impl Times {
    fn of(samples: usize, floats_a_time: usize) -> Self {
        let last = 2 * (samples - 1);
        let count = |step: usize| last.div_ceil(step) + 1;
        let mut step = 1;
        while step < last && count(step) * floats_a_time > MAX_FLOATS {
            step *= 2;
        }
        Self { step, count: count(step) }
    }
}

/// Encodes the poses of a clip. The header has the number of times, the number of joints, the half
/// samples per time, and 0. Three arrays follow, each by time, then by joint: positions in the raw
/// clip (three floats, in cm from the object's origin), positions in the compressed clip, and
/// errors (a float, in cm).
pub(super) fn poses(shown: &Shown) -> Vec<u8> {
    let joints = shown.raw.joints();
    let times = Times::of(shown.raw.samples(), 7 * joints);
    let mut follower = Follower::new(&shown.raw, &shown.clip, &shown.error);
    let [mut raw, mut clip] = [(); 2].map(|()| Vec::with_capacity(times.count * joints * 12));
    let mut errors = Vec::with_capacity(times.count * joints * 4);
    for time in 0..times.count {
        follower.go_to(time * times.step);
        follower.raw_positions_cm().flatten().for_each(|part| push(&mut raw, part as f32));
        follower.positions_cm().flatten().for_each(|part| push(&mut clip, part as f32));
        follower.errors_cm().for_each(|error| push(&mut errors, error as f32));
    }
    [head([times.count, joints, times.step, 0]), raw, clip, errors].concat()
}

/// Encodes the curve of a track. The header has the number of times, the floats per value, the half
/// samples per time, and the number of keys. The raw values by time follow, then the decoded values
/// by time, the keys' times in seconds, and the keys' values. A decoded rotation may be the
/// negative of the stored one, so that it is on the same side as the raw rotation.
pub(super) fn track(shown: &Shown, joint: usize, channel: Channel) -> Vec<u8> {
    let Shown { raw, clip, .. } = shown;
    let floats = channel.floats();
    let times = Times::of(raw.samples(), 2 * floats);
    let mut follower = Follower::new(raw, clip, &shown.error);
    let [mut before, mut after] = [(); 2].map(|()| Vec::with_capacity(times.count * floats * 4));
    for time in 0..times.count {
        follower.go_to(time * times.step);
        let wanted = value(&follower.raw_pose()[joint], channel);
        let decoded = beside(value(&follower.pose()[joint], channel), wanted, channel);
        wanted[..floats].iter().for_each(|part| push(&mut before, *part));
        decoded[..floats].iter().for_each(|part| push(&mut after, *part));
    }
    let [mut key_times, mut key_values] = [Vec::new(), Vec::new()];
    for (time_s, value) in keys(shown, joint, channel) {
        push(&mut key_times, time_s);
        value[..floats].iter().for_each(|part| push(&mut key_values, *part));
    }
    let keys = key_times.len() / 4;
    [head([times.count, floats, times.step, keys]), before, after, key_times, key_values].concat()
}

/// Returns the times in seconds and the values of a track's keys. A block clip has none.
fn keys(shown: &Shown, joint: usize, channel: Channel) -> Vec<(f32, [f32; 4])> {
    let Some(clip) = shown.clip.as_keyed() else { return Vec::new() };
    let raw = &shown.raw;
    let keys = (0..clip.key_count()).map(|index| clip.key(index));
    let keys = keys.filter(|key| usize::from(key.joint) == joint && key.channel == channel);
    let times_and_values = keys.map(|key| {
        let time_s = clip.key_time_s(&key);
        // Keys are at sample times.
        let sample = ((time_s * raw.rate_hz()).round() as usize).min(raw.samples() - 1);
        (time_s, beside(clip.value(&key), value(&raw.pose(sample)[joint], channel), channel))
    });
    times_and_values.collect()
}

fn head(numbers: [usize; 4]) -> Vec<u8> {
    numbers.iter().flat_map(|number| (*number as u32).to_le_bytes()).collect()
}

fn push(bytes: &mut Vec<u8>, float: f32) {
    bytes.extend_from_slice(&float.to_le_bytes());
}

fn value(transform: &Transform, channel: Channel) -> [f32; 4] {
    let pad = |[x, y, z]: [f32; 3]| [x, y, z, 0.0];
    match channel {
        Channel::Rotation => transform.rotation,
        Channel::Translation => pad(transform.translation),
        Channel::Scale => pad(transform.scale),
    }
}

/// Returns a rotation, or its negative if that is closer to `other`. Returns a vector unchanged.
fn beside(value: [f32; 4], other: [f32; 4], channel: Channel) -> [f32; 4] {
    let dot: f32 = value.iter().zip(other).map(|(a, b)| a * b).sum();
    if channel == Channel::Rotation && dot < 0.0 { value.map(|part| -part) } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_reach_from_the_first_sample_to_the_last() {
        assert_eq!(Times::of(1, 70), Times { step: 1, count: 1 });
        assert_eq!(Times::of(31, 70), Times { step: 1, count: 61 });
        for (samples, floats) in
            [(100_000, 700), (1 << 22, 7), (1 << 22, 7 << 14), (2, 7 << 14), (65_537, 14)]
        {
            let Times { step, count } = Times::of(samples, floats);
            let last = 2 * (samples - 1);
            assert!(
                (count - 1) * step >= last && (count - 2) * step < last,
                "{samples}, {floats}: {step}, {count}"
            );
            assert!(
                count <= 2 || count * floats <= MAX_FLOATS,
                "{samples}, {floats}: {step}, {count}"
            );
        }
    }
}
