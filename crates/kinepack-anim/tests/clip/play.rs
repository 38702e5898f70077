//! A cursor plays a clip as `spec/ANIM.md` specifies, to the last bit, for times in any order.

use kinepack_anim::Transform;
use kinepack_anim::keyed::quantize::rotation_from_48;
use kinepack_anim::keyed::{Cursor, KeyedClip, Parametrization, RotationBits};
use kinepack_anim::offline::{BuildOptions, KeyedOptions, Scheme, build};

use super::naive::{Naive, NaiveTrack};
use super::write::{Parts, any_track, end_of, parts_of};
use crate::clip_support::{assert_same, assert_sane, pose_floats, position, smooth_clip};
use crate::random::Random;

/// Plays forwards at 60 Hz, backwards, at random times, with huge steps, and at times that are not
/// finite, all with the same cursor.
pub(crate) fn compare(clip: &KeyedClip, bind: &[Transform], steps: usize, context: &str) {
    let naive = Naive::read(clip.as_bytes());
    let floats = pose_floats(bind);
    let last = f64::from(naive.samples - 1);
    let mut cursor = Cursor::with_bind_pose(clip.clone(), bind).unwrap();
    let mut pose = bind.to_vec();
    let mut random = Random(9);
    let mut positions: Vec<f64> = Vec::new();
    let step = (f64::from(naive.rate_hz) / 60.0).max(last / steps as f64);
    positions.extend((0..=steps).map(|index| index as f64 * step));
    positions.extend((0..=steps).rev().map(|index| index as f64 * step / 3.0));
    positions
        .extend((0..steps).map(|_| last * f64::from(random.below(1 << 30)) / f64::from(1 << 30)));
    positions.extend((0..=9).flat_map(|step| [last * f64::from(step) / 9.0, 0.0]));
    positions.extend([
        -1.0,
        last / 2.0,
        last + 7.0,
        f64::NAN,
        1e300,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        last,
    ]);
    // Positions are at every key and just before it, and between all samples of a short clip.
    let ticks = f64::from(naive.ticks_per_sample());
    let keys = naive.tracks.iter().flat_map(|track| track.keys.iter().take(40));
    positions.extend(
        keys.flat_map(|(tick, _)| [f64::from(*tick) / ticks, (f64::from(*tick) - 0.25) / ticks]),
    );
    for position in positions {
        cursor.sample_at(position, &mut pose);
        assert_sane(&pose, context);
        assert_same(&pose, &naive.pose(position, &floats), &format!("{context} at {position}"));
    }
    for time_s in [0.31_f32, -3.0, 0.1, f32::NAN, f32::MAX, 0.0] {
        cursor.sample(time_s, &mut pose);
        let position = position(time_s, naive.rate_hz);
        assert_same(&pose, &naive.pose(position, &floats), &format!("{context} at {time_s} s"));
    }
}

/// Compares `clip` as [`compare`] does. Also checks that the bytes equal those of these tests'
/// writer.
fn compare_written(clip: &KeyedClip, bind: &[Transform], steps: usize, context: &str) {
    compare(clip, bind, steps, context);
    let bytes = clip.as_bytes();
    let mut again = parts_of(&Naive::read(bytes), bytes).to_bytes();
    // The writer of these tests does not compute the hash.
    again[24..32].copy_from_slice(&bytes[24..32]);
    assert!(again == bytes, "{context}: other bytes than the spec's");
}

#[test]
fn clips_of_each_scheme_are_played_as_the_spec_says() {
    let by_name = |name, scheme| (name, BuildOptions { scheme, ..BuildOptions::default() });
    let mut schemes = vec![
        by_name("fine rows", Scheme::Quantized(RotationBits::Bits48)),
        by_name("coarse rows", Scheme::Quantized(RotationBits::Bits32)),
        by_name("article", Scheme::Keyed(KeyedOptions::plain())),
    ];
    for parametrization in Parametrization::ALL {
        let keys = KeyedOptions { parametrization, ..KeyedOptions::default() };
        schemes.push(by_name(parametrization.name(), Scheme::Keyed(keys)));
    }
    let mut kinds = [0; 4];
    for seed in 0..4 {
        let raw = smooth_clip(seed, [5, 1, 9, 3][seed as usize], [61, 33, 90, 2][seed as usize]);
        for (name, options) in &schemes {
            let built = build(&raw, options).unwrap();
            let clip = built.clip.as_keyed().unwrap();
            let naive = Naive::read(clip.as_bytes());
            kinds[2] += naive.tracks.len();
            kinds[1] += naive.constants.len();
            kinds[3] += clip.row_tracks().len();
            assert_eq!(clip.header().skeleton, raw.skeleton().hash());
            compare_written(clip, &raw.skeleton().bind_pose(), 200, &format!("{name} {seed}"));
        }
    }
    assert!(kinds[1..].iter().all(|count| *count > 5), "{kinds:?}");
}

#[test]
fn tracks_of_random_codes_are_played_as_the_spec_says() {
    let mut random = Random(1);
    for parametrization in 0..4 {
        for slices in [1, 2, 3, 7, 40] {
            let samples = [2, 5, 31, 700, 65_536][slices as usize % 5];
            let places = (0..4).flat_map(|joint| [0, 1, 2].map(|channel| (joint, channel)));
            let tracks = places.filter(|(joint, channel)| joint % 2 == 0 || *channel == 0);
            let tracks = tracks
                .map(|(joint, channel)| any_track(&mut random, joint, channel, samples, 30))
                .collect();
            let parts = Parts::keyed(parametrization, slices, samples, tracks);
            let clip = KeyedClip::from_bytes(parts.to_bytes()).unwrap();
            let context =
                format!("parametrization {parametrization}, {slices} slices, {samples} samples");
            compare(&clip, &[Transform::IDENTITY; 4][..clip.joints()], 150, &context);
        }
    }
}

#[test]
fn long_clips_have_slices_and_wide_places() {
    let mut random = Random(4);
    for (joints, most, samples, slices) in [(3, 6000, 60_000, 20), (9, 20_000, 65_536, 1024)] {
        let mut tracks: Vec<_> =
            (0..joints).map(|joint| any_track(&mut random, joint, 0, samples, most)).collect();
        tracks.push(any_track(&mut random, joints, 1, samples, 3));
        let parts = Parts::keyed(1, slices, samples, tracks);
        let clip = KeyedClip::from_bytes(parts.to_bytes()).unwrap();
        assert_eq!(clip.key_count() > 65_536, joints == 9);
        compare(&clip, &vec![Transform::IDENTITY; joints + 1], 40, &format!("{joints} joints"));
    }
}

/// Clips of 65,535, 65,536 and 65,537 keys. Only the last clip needs indices of four bytes.
#[test]
fn places_become_wide_after_65536_keys() {
    for keys in [65_535_u32, 65_536, 65_537] {
        let long = |joint, keys: u32| {
            let ticks = (0..keys).map(|key| if key + 1 == keys { 65_535 } else { key as u16 });
            NaiveTrack { joint, channel: 1, keys: ticks.map(|tick| (tick, [tick, 7, 9])).collect() }
        };
        let parts = Parts::keyed(0, 5, 65_536, vec![long(0, 40_000), long(1, keys - 40_000)]);
        let bytes = parts.to_bytes();
        let places = bytes.len() - (32 + 2 + 24 + 10 * keys as usize);
        assert_eq!(places, 4 * 2 * 4 * if keys > 65_536 { 4 } else { 2 });
        compare(
            &KeyedClip::from_bytes(bytes).unwrap(),
            &[Transform::IDENTITY; 2],
            10,
            &format!("{keys} keys"),
        );
    }
}

/// A noisy clip with enough keys that the builder makes slices.
#[test]
fn a_built_clip_has_slices() {
    let mut random = Random(3);
    let smooth = smooth_clip(2, 4, 2500);
    let samples = smooth.poses().flatten().map(|transform| {
        let noise = [(); 3].map(|()| random.between(-0.5, 0.5));
        Transform {
            translation: [0, 1, 2].map(|axis| transform.translation[axis] + noise[axis]),
            ..*transform
        }
    });
    let raw =
        kinepack_anim::RawClip::new("noise", smooth.skeleton().clone(), 60.0, samples.collect())
            .unwrap();
    let options = KeyedOptions { rows: false, removal_passes: 0, ..KeyedOptions::default() };
    let options = BuildOptions {
        precision_cm: 0.2,
        scheme: Scheme::Keyed(options),
        ..BuildOptions::default()
    };
    let built = build(&raw, &options).unwrap();
    let clip = built.clip.as_keyed().unwrap();
    assert!(clip.header().slices > 3, "{} keys", clip.key_count());
    compare_written(clip, &raw.skeleton().bind_pose(), 300, "noise");
}

/// There are more slices than ticks, so some slices begin at the same tick as the previous one. The
/// number of ticks between two samples is not whole.
#[test]
fn playback_never_starts_from_a_slice_after_the_time() {
    let mut random = Random(8);
    for (samples, slices) in
        [(40_000, 65_535), (32_769, 65_535), (2, 65_535), (65_536, 65_534), (50_000, 49_998)]
    {
        let track = any_track(&mut random, 0, 1, samples, 3000);
        let clip = KeyedClip::from_bytes(Parts::keyed(1, slices, samples, vec![track]).to_bytes())
            .unwrap();
        let naive = Naive::read(clip.as_bytes());
        let mut cursor = Cursor::with_bind_pose(clip.clone(), &[Transform::IDENTITY]).unwrap();
        let mut pose = [Transform::IDENTITY];
        let bind = pose_floats(&pose);
        for _ in 0..400 {
            let tick = f64::from(random.below(u32::from(end_of(samples))))
                + [0.0, 0.01, 0.4, 0.99][random.below(4) as usize];
            let position = tick / f64::from(naive.ticks_per_sample());
            cursor.sample_at(f64::from(samples), &mut pose);
            cursor.sample_at(position, &mut pose);
            assert_same(&pose, &naive.pose(position, &bind), &format!("{slices} slices at {tick}"));
        }
    }
}

#[test]
fn a_cursor_shows_each_key_at_its_position() {
    let mut random = Random(11);
    for samples in [2, 31, 700, 65_536] {
        let track = any_track(&mut random, 0, 1, samples, 30);
        let bytes = Parts::keyed(1, 1, samples, vec![track]).to_bytes();
        let clip = KeyedClip::from_bytes(bytes).unwrap();
        let mut cursor = Cursor::with_bind_pose(clip.clone(), &[Transform::IDENTITY]).unwrap();
        let mut pose = [Transform::IDENTITY];
        let mut last = 0.0;
        for key in (0..clip.key_count()).map(|index| clip.key(index)) {
            last = clip.key_position(&key);
            cursor.sample_at(last, &mut pose);
            for (played, stored) in pose[0].translation.iter().zip(clip.value(&key)) {
                assert!((played - stored).abs() < 1e-4, "{key:?} of {samples} samples: {played}");
            }
        }
        assert_eq!(last, f64::from(samples - 1));
    }
}

/// Two keys are exactly at right angles. In the first case, they follow a key whose sign was
/// changed. In the second, they are at the beginning of a slice.
#[test]
fn keys_at_right_angles_play_the_same_from_any_time() {
    let [turned, from, to] = right_angles();
    let end = end_of(6);
    let keys = [turned, from, to, turned, to, from];
    let ticks = [0, 13_107, 26_214, 39_321, 52_428, end];
    let track = NaiveTrack { joint: 0, channel: 0, keys: ticks.into_iter().zip(keys).collect() };
    for parametrization in 0..4 {
        let parts = Parts::keyed(parametrization, 30, 6, vec![track.clone()]);
        let clip = KeyedClip::from_bytes(parts.to_bytes()).unwrap();
        compare(&clip, &[Transform::IDENTITY], 100, "right angles");
    }
}

/// Three rotations. The second has a negative dot product with the first, and a dot product of
/// exactly zero with the third.
fn right_angles() -> [[u16; 3]; 3] {
    let pack = |dropped: u64, [a, b, c]: [u64; 3]| {
        let bits = dropped << 45 | a << 30 | b << 15 | c;
        [bits as u16, (bits >> 16) as u16, (bits >> 32) as u16]
    };
    let dot = |p: [u16; 3], q: [u16; 3]| {
        let (p, q) = (rotation_from_48(p), rotation_from_48(q));
        (p[0] * q[0] + p[1] * q[1]) + (p[2] * q[2] + p[3] * q[3])
    };
    let mut random = Random(5);
    for _ in 0..1_000_000 {
        let [x, y, z] = [(); 3].map(|()| u64::from(7000 + random.below(18_000)));
        // These are the quaternions (x, y, z, w) and (w, z, -y, -x).
        let (from, to) = (pack(3, [x, y, z]), pack(0, [z, 32_767 - y, 32_767 - x]));
        let turned = pack(0, [y, z, x]);
        if dot(from, to) == 0.0 && dot(turned, from) < 0.0 {
            return [turned, from, to];
        }
    }
    panic!("none found");
}
