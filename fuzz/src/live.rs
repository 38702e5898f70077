//! The drivers of the targets `vmc` and `face_csv`, which take any bytes as packets of a tracker
//! and as a recording of a face.

use std::time::Duration;

use kinepack_anim::Transform;
use kinepack_anim::live::{ARKIT_SHAPES, BONES, FaceClip, HEAD_AND_EYES, VmcBody, VmcReceiver};

/// Receives packets. Each begins with its length as `u16` and the milliseconds since the last one.
pub fn vmc(mut data: &[u8]) {
    let mut receiver = VmcReceiver::default();
    let mut now = Duration::ZERO;
    let mut body = None;
    let (mut pose, mut curves) = (Vec::new(), Vec::new());
    while let [low, high, milliseconds, rest @ ..] = data {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (packet, rest) = rest.split_at(length);
        data = rest;
        now += Duration::from_millis(u64::from(*milliseconds));
        receiver.poll(now);
        let (frame, stats) = (receiver.frame().clone(), receiver.stats());
        match receiver.handle(now, packet) {
            Ok(_) => assert_eq!(receiver.stats().packets, stats.packets + 1),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert_eq!(receiver.stats().refused, stats.refused + 1);
                assert!(*receiver.frame() == frame, "a refused packet changed the frame");
            }
        }
        let frame = receiver.frame();
        assert!(frame.curves.len() <= 256);
        for bone in frame.bones.iter().flatten() {
            assert!(bone.rotation.iter().chain(&bone.position_m).all(|c| c.is_finite()));
        }
        if body.is_none() {
            body = VmcBody::from_frame(frame).ok();
        }
        let Some(body) = &body else { continue };
        body.pose(frame, &mut pose, &mut curves);
        assert!(pose.len() <= BONES.len() && pose.len() == body.skeleton().len());
        let is_large = frame.bones.iter().flatten().chain([&frame.root]).any(|bone| {
            bone.rotation.iter().chain(&bone.position_m).any(|number| number.abs() > 1e6)
        });
        // Numbers near the largest ones may overflow. The figure refuses such poses.
        assert!(is_large || pose.iter().all(Transform::is_valid));
        assert!(curves.iter().all(|value| (0.0..=1.0).contains(value)));
    }
}

/// Reads a recording of a face, and plays it.
pub fn face_csv(data: &[u8]) {
    let face = match FaceClip::read(data) {
        Ok(face) => face,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let names = face.curve_names();
    assert!(!names.is_empty() && names.len() <= ARKIT_SHAPES.len() + HEAD_AND_EYES.len());
    assert!(face.frames() > 0 && face.duration_s() >= 0.0);
    let mut values = Vec::new();
    for time_s in [-1.0, 0.0, 0.3, face.duration_s() / 2.0, face.duration_s(), 1e9] {
        for loops in [false, true] {
            let plays = face.sample(time_s, loops, &mut values);
            assert!(plays == (loops || time_s < face.duration_s()));
            assert_eq!(values.len(), names.len());
            for (name, value) in names.iter().zip(&values) {
                let limit = if HEAD_AND_EYES.contains(name) { 3.2 } else { 1.0 };
                assert!(value.abs() <= limit, "{name}: {value}");
            }
        }
    }
}
