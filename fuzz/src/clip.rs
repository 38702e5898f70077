//! The driver of the target `clip`: any bytes as a clip, a skeleton, or an exchange file, by the first byte.

use kinepack_anim::{AnyClip, Skeleton, Transform, exchange};

/// Shares of the clip, forward, back, and beyond both ends.
const SHARES: [f64; 14] = [0.0, 0.01, 0.1, 0.11, 0.5, 0.9, 1.0, 0.6, 0.05, f64::NAN, 2.0, -1.0, 0.3, 0.999];

/// Refuses what it is given or takes it, and then it can be used and written again.
pub fn clip(data: &[u8]) {
    let Some((selector, bytes)) = data.split_first() else { return };
    match selector % 3 {
        0 => play(bytes),
        1 => {
            if let Ok(skeleton) = Skeleton::from_bytes(bytes) {
                assert!(skeleton.to_bytes() == bytes);
            }
        }
        _ => {
            if let Ok(raw) = exchange::read("", bytes) {
                let mut written = Vec::new();
                exchange::write(&raw, &mut written).unwrap();
                assert_eq!(written.len(), bytes.len());
                assert!(exchange::read("", &written).is_ok());
            }
        }
    }
}

/// All that is played is finite, its rotations have length 1, and it does not depend on what was played before.
pub fn play(bytes: &[u8]) {
    let Ok(clip) = AnyClip::from_bytes(bytes) else { return };
    assert!(clip.as_bytes() == bytes);
    assert_eq!(clip.bytes_by_part().iter().map(|(_, bytes)| bytes).sum::<usize>(), bytes.len());
    let bind = vec![Transform::IDENTITY; clip.joints()];
    let mut player = clip.player(&bind);
    let (mut pose, mut again) = (bind.clone(), bind.clone());
    for share in SHARES {
        let position = share * (clip.samples() - 1) as f64;
        player.sample_at(position, &mut pose);
        clip.player(&bind).sample_at(position, &mut again);
        for (transform, again) in pose.iter().zip(&again) {
            assert!(transform.is_valid(), "{transform:?}");
            let dot =
                |other: &Transform| transform.rotation.iter().zip(other.rotation).map(|(a, b)| a * b).sum::<f32>();
            assert!((dot(transform) - 1.0).abs() < 1e-3, "{transform:?}");
            let sign = dot(again).signum();
            assert_eq!(transform.rotation, again.rotation.map(|c| c * sign));
            assert_eq!((transform.translation, transform.scale), (again.translation, again.scale));
        }
    }
    player.sample(f32::MAX, &mut pose);
}
