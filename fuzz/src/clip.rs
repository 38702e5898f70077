//! The driver of the target `clip`. The first byte selects the meaning of the rest. The rest may be
//! a clip, a skeleton, an exchange file, a block clip with a corrected hash, or a rig. It may also
//! be a rig and a clip of that rig, both with corrected hashes.

use std::sync::Arc;

use kinepack::hash::Fnv1a;
use kinepack_anim::{
    AnyClip, Clip, JointMask, Rig, Sampler, Skeleton, SoaPose, Transform, exchange,
};

/// The times to play, as shares of the clip. They go forwards, backwards, and beyond both ends.
const SHARES: [f64; 17] = [
    0.0,
    0.01,
    0.1,
    0.11,
    0.5,
    0.9,
    1.0,
    0.6,
    0.05,
    f64::NAN,
    2.0,
    -1.0,
    0.3,
    0.999,
    f64::INFINITY,
    f64::NEG_INFINITY,
    1.0 - f64::EPSILON,
];

/// Refuses the bytes, or accepts them. An accepted clip, skeleton or rig must be usable, and
/// writing it again must succeed.
pub fn clip(data: &[u8]) {
    let Some((selector, bytes)) = data.split_first() else { return };
    match selector % 8 {
        0 => play(bytes),
        1 => {
            if let Ok(skeleton) = Skeleton::from_bytes(bytes) {
                assert!(skeleton.to_bytes() == bytes);
            }
        }
        2 => {
            if let Ok(raw) = exchange::read("", bytes) {
                let mut written = Vec::new();
                exchange::write(&raw, &mut written).unwrap();
                assert_eq!(written.len(), bytes.len());
                assert!(exchange::read("", &written).is_ok());
            }
        }
        3 => play(&sealed(bytes, 4)),
        4 => drop(rig(bytes)),
        _ => of_rig(bytes),
    }
}

/// Corrects the hash of `hash_bytes` bytes at the end of a block clip or a rig. The fuzzer then
/// reaches the code after the check of the hash.
pub fn sealed(bytes: &[u8], hash_bytes: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let Some(end) = bytes.len().checked_sub(hash_bytes) {
        let mut hash = Fnv1a::new();
        hash.add(&bytes[..end]);
        bytes[end..].copy_from_slice(&hash.finish().to_le_bytes()[..hash_bytes]);
    }
    bytes
}

/// Reads a rig, and checks that it can be written again.
fn rig(bytes: &[u8]) -> Option<Rig> {
    let rig = Rig::from_bytes(bytes).ok()?;
    assert!(rig.to_bytes() == bytes);
    Some(rig)
}

/// Reads a rig and a clip of that rig. The first byte is the length of the rig in units of eight
/// bytes, and the clip follows the rig.
fn of_rig(bytes: &[u8]) {
    let Some((eights, bytes)) = bytes.split_first() else { return };
    let (rig_bytes, clip) = bytes.split_at(bytes.len().min(8 * usize::from(*eights)));
    let Some(rig) = rig(&sealed(rig_bytes, 8)) else { return };
    let mut clip = clip.to_vec();
    if let Some(end) = clip.len().checked_sub(12) {
        clip[end..end + 8].copy_from_slice(&rig.hash().to_le_bytes());
    }
    play_clip(&sealed(&clip, 4), Some(&Arc::new(rig)));
}

/// Plays a clip. All values must be finite, rotations must have length 1, and the poses must not
/// depend on earlier playback.
pub fn play(bytes: &[u8]) {
    play_clip(bytes, None);
}

/// Works like [`play`], for a clip that may need a rig.
pub fn play_clip(bytes: &[u8], rig: Option<&Arc<Rig>>) {
    let clip = rig.map_or_else(|| AnyClip::from_bytes(bytes), |rig| AnyClip::with_rig(bytes, rig));
    let Ok(clip) = clip else { return };
    assert!(clip.as_bytes() == bytes);
    assert_eq!(clip.bytes_by_part().iter().map(|(_, bytes)| bytes).sum::<usize>(), bytes.len());
    let bind = vec![Transform::IDENTITY; clip.joints()];
    let mut player = clip.player_with_bind_pose(&bind).unwrap();
    let (mut pose, mut again) = (bind.clone(), bind.clone());
    for share in SHARES {
        let position = share * (clip.samples() - 1) as f64;
        player.sample_at(position, &mut pose);
        clip.player_with_bind_pose(&bind).unwrap().sample_at(position, &mut again);
        for (transform, again) in pose.iter().zip(&again) {
            assert!(transform.is_valid(), "{transform:?}");
            let dot = |other: &Transform| {
                transform.rotation.iter().zip(other.rotation).map(|(a, b)| a * b).sum::<f32>()
            };
            assert!((dot(transform) - 1.0).abs() < 1e-3, "{transform:?}");
            let sign = dot(again).signum();
            assert_eq!(transform.rotation, again.rotation.map(|c| c * sign));
            assert_eq!((transform.translation, transform.scale), (again.translation, again.scale));
        }
    }
    player.sample(f32::MAX, &mut pose);
    if let Some(block) = clip.as_block() {
        ways(block, &bind);
    }
}

/// Checks that a block clip plays the same through all APIs.
fn ways(clip: &Clip, bind: &[Transform]) {
    let sampler = Sampler::with_bind_pose(clip.clone(), bind).unwrap();
    let (mut pose, mut soa) = (bind.to_vec(), SoaPose::new(clip.joints()));
    let mut some = bind.to_vec();
    let mask = JointMask::new(clip.joints(), |joint| joint % 2 == 0);
    let mut curves = vec![f32::NAN; clip.curves()];
    sampler.curves_at(0.0, &mut curves);
    sampler.sample_with_curves_at(0.0, &mut pose, &mut curves);
    assert!(curves.iter().all(|value| value.is_finite()));
    assert_eq!(clip.curve_names().count(), clip.curves());
    let last_s = clip.markers().last().map_or(0.0, |marker| marker.time_s);
    assert!(last_s <= clip.duration_s());
    for time_s in [
        0.0,
        0.4 * clip.duration_s(),
        clip.duration_s(),
        f32::NAN,
        -1.0,
        f32::MIN_POSITIVE,
        f32::INFINITY,
    ] {
        sampler.sample(time_s, &mut pose);
        sampler.write(time_s, &mut soa);
        sampler.sample_joints(time_s, &mask, &mut some);
        for (joint, transform) in pose.iter().enumerate() {
            assert_eq!(transform.rotation, soa.rotations.each_ref().map(|numbers| numbers[joint]));
            assert_eq!(
                transform.translation,
                soa.translations.each_ref().map(|numbers| numbers[joint])
            );
            assert_eq!(transform.scale, soa.scales.each_ref().map(|numbers| numbers[joint]));
            assert!(!mask.contains(joint) || some[joint] == *transform);
        }
        for joint in [0, clip.joints() / 2, clip.joints() - 1] {
            assert_eq!(sampler.joint(time_s, joint), pose[joint]);
        }
    }
}
