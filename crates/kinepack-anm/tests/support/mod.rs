//! Helpers that the tests of `r3d2canm` files share: seeded tracks, and a naive player that plays
//! each track alone.

use kinepack_anim::keyed::quantize::{VectorRange, rotation_48, rotation_from_48};
use kinepack_anim::keyed::spline::{Parametrization, blend, weights};
use kinepack_anim::{Channel, Transform};
use kinepack_anm::{Anm, AnmHead, AnmPlayer, AnmTrack, elf_hash, order};

use crate::random::Random;

pub(crate) const TRANSLATION: VectorRange =
    VectorRange { min: [-40.0, -3.0, 10.0], max: [25.0, 90.0, 10.5] };
pub(crate) const SCALE: VectorRange = VectorRange { min: [0.5; 3], max: [2.0, 1.5, 1.0] };

/// Increasing times from 0 to the end, or a single time.
fn times(random: &mut Random, most: u32) -> Vec<u16> {
    if random.below(6) == 0 {
        return vec![random.below(1 << 16) as u16];
    }
    let mut times: Vec<u16> =
        (0..random.below(most)).map(|_| random.below(1 << 16) as u16).collect();
    times.extend([0, u16::MAX]);
    times.sort_unstable();
    times.dedup();
    times
}

/// Returns a smooth value of a channel over time.
fn smooth_track(random: &mut Random, joint: u16, channel: Channel, most: u32) -> AnmTrack {
    let times = times(random, most);
    let waves: [[f32; 3]; 4] = [(); 4]
        .map(|()| [random.between(-1.0, 1.0), random.between(0.0, 9.0), random.between(0.0, 6.0)]);
    let wave = |axis: usize, time: f32| {
        let [size, turns, phase] = waves[axis];
        size * (turns * time + phase).sin()
    };
    let value = |time: u16| {
        let time = f32::from(time) / 65535.0;
        let [x, y, z, w] = [0, 1, 2, 3].map(|axis| wave(axis, time));
        let within =
            |range: &VectorRange| {
                let shares = [x, y, z].map(|share| (share + 1.0) / 2.0);
                range.quantize([0, 1, 2].map(|axis| {
                    range.min[axis] + shares[axis] * (range.max[axis] - range.min[axis])
                }))
            };
        match channel {
            Channel::Rotation => rotation_48([x, y, z, w + 1.5]),
            Channel::Translation => within(&TRANSLATION),
            Channel::Scale => within(&SCALE),
        }
    };
    AnmTrack { joint, channel, keys: times.into_iter().map(|time| (time, value(time))).collect() }
}

/// Tracks of most channels of some joints, in random order.
pub(crate) fn smooth_tracks(seed: u64, joints: u16, most: u32) -> Vec<AnmTrack> {
    let mut random = Random(seed);
    let mut tracks = Vec::new();
    for joint in 0..joints {
        for channel in Channel::ALL {
            if random.below(8) > 0 {
                let track = smooth_track(&mut random, joint, channel, most);
                tracks.insert(random.below(tracks.len() as u32 + 1) as usize, track);
            }
        }
    }
    tracks
}

pub(crate) fn head(parametrization: Parametrization, duration_s: f32) -> AnmHead {
    let flags = if parametrization == Parametrization::Times { AnmHead::TIMES } else { 0 };
    AnmHead { flags, ..AnmHead::new(duration_s, 30.0, TRANSLATION, SCALE) }
}

pub(crate) fn hashes(joints: u16) -> Vec<u32> {
    (0..joints).map(|joint| elf_hash(&format!("Joint_{joint}"))).collect()
}

pub(crate) fn file_of(head: AnmHead, joints: u16, tracks: &[AnmTrack]) -> Anm {
    Anm::new(head, hashes(joints), order(joints.into(), tracks).unwrap()).unwrap()
}

/// Returns the pose of a new player at a time.
pub(crate) fn pose_at(anm: &Anm, time_s: f32) -> Vec<Transform> {
    let mut pose = vec![Transform::IDENTITY; anm.joints().len()];
    AnmPlayer::new(anm).sample(time_s, &mut pose);
    pose
}

/// Returns the pose, computed from each track alone. A track's value depends on its two keys around
/// the time and their neighbours. The first and the last key count twice.
pub(crate) fn naive_pose(
    head: &AnmHead,
    joints: u16,
    tracks: &[AnmTrack],
    time_s: f32,
) -> Vec<Transform> {
    let time = head.key_time(time_s);
    let mut pose = vec![Transform::IDENTITY; joints.into()];
    for track in tracks {
        let transform = &mut pose[usize::from(track.joint)];
        match track.channel {
            Channel::Rotation => transform.rotation = naive_rotation(head, track, time),
            Channel::Translation => {
                transform.translation =
                    naive(head, track, time, |code| head.translation.reconstruct(code), |_| {});
            }
            Channel::Scale => {
                transform.scale =
                    naive(head, track, time, |code| head.scale.reconstruct(code), |_| {});
            }
        }
    }
    pose
}

fn naive_rotation(head: &AnmHead, track: &AnmTrack, time: u16) -> [f32; 4] {
    let dot = |a: [f32; 4], b: [f32; 4]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    let near = |values: &mut [[f32; 4]; 4]| {
        let first = values[0];
        for value in values.iter_mut().filter(|value| dot(**value, first) < 0.0) {
            *value = value.map(|c| -c);
        }
    };
    let sum = naive(head, track, time, rotation_from_48, near);
    if track.keys.len() == 1 { sum } else { sum.map(|c| c / dot(sum, sum).sqrt()) }
}

fn naive<const N: usize>(
    head: &AnmHead,
    track: &AnmTrack,
    time: u16,
    value: impl Fn([u16; 3]) -> [f32; N],
    prepare: impl Fn(&mut [[f32; N]; 4]),
) -> [f32; N] {
    let keys = &track.keys;
    if keys.len() == 1 {
        return value(keys[0].1);
    }
    // The index of the key before the time. At the end of the clip, this is the index of the last
    // key but one.
    let before = keys.partition_point(|(key_time, _)| *key_time <= time).min(keys.len() - 1) - 1;
    let four = [before.saturating_sub(1), before, before + 1, (before + 2).min(keys.len() - 1)]
        .map(|index| keys[index]);
    let times = four.map(|(time, _)| f32::from(time));
    let mut values = four.map(|(_, code)| value(code));
    prepare(&mut values);
    let share = (f32::from(time) - times[1]) / (times[2] - times[1]);
    blend(weights(share, head.parametrization().shares(times, &values)), &values)
}

/// Checks that two poses have the same bits.
pub(crate) fn assert_same(one: &[Transform], other: &[Transform], context: &str) {
    let bits = |pose: &[Transform]| -> Vec<u32> {
        let floats =
            pose.iter().flat_map(|t| t.rotation.into_iter().chain(t.translation).chain(t.scale));
        floats.map(f32::to_bits).collect()
    };
    assert!(bits(one) == bits(other), "{context}: {one:?} and {other:?}");
}
