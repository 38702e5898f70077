//! Tests of the receiver of VMC.

use std::time::Duration;

use kinepack_anim::live::{BONE_COUNT, BonePose, OscError, VmcReceiver};

use super::packets::{
    Argument, apply, blend, bone, bundle, message, ok, pose, string, t_pose, time,
};
use crate::random::Random;

const AT: Duration = Duration::ZERO;

fn moved(x: f32) -> BonePose {
    BonePose { position_m: [x, 0.0, 0.0], ..BonePose::IDENTITY }
}

/// Returns the positions of some bones in the newest frame.
fn seen<const N: usize>(receiver: &VmcReceiver, bones: [usize; N]) -> [Option<f32>; N] {
    bones.map(|bone| receiver.frame().bones[bone].map(|pose| pose.position_m[0]))
}

fn handle(receiver: &mut VmcReceiver, packet: &[u8]) -> bool {
    receiver.handle(AT, packet).unwrap()
}

#[test]
fn a_time_ends_the_first_frame_and_the_bones_end_later_ones() {
    let mut receiver = VmcReceiver::default();
    assert!(!handle(&mut receiver, &bundle(&[bone(0, &moved(1.0)), bone(1, &moved(2.0))])));
    assert_eq!(seen(&receiver, [0, 1]), [None; 2]);
    assert!(handle(&mut receiver, &time(0.5)));
    assert_eq!(seen(&receiver, [0, 1, 2]), [Some(1.0), Some(2.0), None]);
    assert_eq!(receiver.time_s(), Some(0.5));
    // A packet for each bone, as the slow sample sender of the protocol sends them.
    assert!(!handle(&mut receiver, &bone(0, &moved(3.0))));
    assert_eq!(seen(&receiver, [0, 1]), [Some(1.0), Some(2.0)], "half of a frame is not shown");
    assert!(handle(&mut receiver, &bone(1, &moved(4.0))), "without waiting for the time");
    assert_eq!(seen(&receiver, [0, 1]), [Some(3.0), Some(4.0)]);
    assert!(!handle(&mut receiver, &time(0.6)), "the frame has ended already");
    assert_eq!(receiver.stats().frames, 2);
}

#[test]
fn a_frame_may_begin_with_its_time_or_have_none() {
    for has_time in [true, false] {
        let mut receiver = VmcReceiver::default();
        for frame in 1..5 {
            let x = frame as f32;
            if has_time {
                handle(&mut receiver, &bundle(&[ok(1), time(x)]));
            }
            handle(&mut receiver, &bundle(&[bone(0, &moved(x)), bone(1, &moved(x))]));
            handle(&mut receiver, &bundle(&[bone(2, &moved(x))]));
            // Only after the first frame are all bones known.
            let expected = match frame {
                1 => [None; 3],
                _ => [Some(x); 3],
            };
            assert_eq!(seen(&receiver, [0, 1, 2]), expected, "{has_time}, {frame}");
        }
        assert_eq!(receiver.stats().frames, 4);
        assert_eq!(receiver.is_loaded(), has_time.then_some(true));
    }
}

#[test]
fn a_pause_ends_a_frame() {
    let mut receiver = VmcReceiver::default();
    let ms = Duration::from_millis;
    receiver.handle(ms(10), &bone(0, &moved(1.0))).unwrap();
    assert!(!receiver.poll(ms(12)));
    assert!(receiver.poll(ms(20)) && !receiver.poll(ms(40)));
    assert_eq!(seen(&receiver, [0]), [Some(1.0)]);
}

#[test]
fn bones_of_a_lost_packet_keep_their_pose_and_later_frames_are_whole() {
    let mut receiver = VmcReceiver::default();
    let halves = |x: f32| [bone(0, &moved(x)), bone(1, &moved(x))];
    for x in [1.0, 2.0] {
        for packet in halves(x) {
            handle(&mut receiver, &packet);
        }
    }
    assert_eq!(seen(&receiver, [0, 1]), [Some(2.0); 2]);
    handle(&mut receiver, &halves(3.0)[0]);
    let [first, second] = halves(4.0);
    assert!(handle(&mut receiver, &first), "the bone arrives again");
    assert_eq!(seen(&receiver, [0, 1]), [Some(3.0), Some(2.0)]);
    assert!(handle(&mut receiver, &second));
    assert_eq!(seen(&receiver, [0, 1]), [Some(4.0); 2]);
}

#[test]
fn blend_shapes_take_effect_together() {
    let mut receiver = VmcReceiver::default();
    let values = |receiver: &VmcReceiver| -> Vec<(String, f32)> {
        receiver.frame().curves.clone().into_iter().collect()
    };
    handle(&mut receiver, &bundle(&[blend("Joy", 0.5), blend("あ", 0.25)]));
    assert!(values(&receiver).is_empty());
    handle(&mut receiver, &apply());
    assert_eq!(values(&receiver), [("Joy".to_owned(), 0.5), ("あ".to_owned(), 0.25)]);
    // A message without types of arguments, as OSC allows for old senders.
    handle(&mut receiver, &blend("Joy", 1.0));
    handle(&mut receiver, &string("/VMC/Ext/Blend/Apply"));
    assert_eq!(values(&receiver)[0].1, 1.0);
}

#[test]
fn the_memory_is_bounded() {
    let mut receiver = VmcReceiver::default();
    for name in 0..1_000 {
        handle(&mut receiver, &bundle(&[blend(&name.to_string(), 1.0), apply()]));
    }
    handle(&mut receiver, &bundle(&[blend(&"n".repeat(129), 1.0), apply()]));
    assert_eq!(receiver.frame().curves.len(), 256);
    assert_eq!(receiver.stats().ignored, 744 + 1);
}

#[test]
fn arguments_may_have_other_types() {
    let mut receiver = VmcReceiver::default();
    let double = |value: f64| value.to_be_bytes();
    let (half, two) = (double(0.5), 2i64.to_be_bytes());
    let arguments = [
        Argument::Text("Hips"),
        Argument::Raw('d', &half),
        Argument::Raw('h', &two),
        Argument::Int(3),
        Argument::Int(0),
        Argument::Int(0),
        Argument::Int(0),
        Argument::Float(1.0),
        // Later versions of the protocol append arguments. All types of OSC can be skipped.
        Argument::Raw('b', &[0, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0]),
        Argument::Raw('t', &[0; 8]),
        Argument::Raw('T', &[]),
        Argument::Raw('[', &[]),
        Argument::Raw('c', &[0; 4]),
        Argument::Raw(']', &[]),
    ];
    handle(&mut receiver, &message("/VMC/Ext/Bone/Pos", &arguments));
    handle(&mut receiver, &ok(1));
    let hips = receiver.frame().bones[0].unwrap();
    assert_eq!(hips.position_m, [0.5, 2.0, 3.0]);
    assert_eq!(receiver.stats().ignored, 0);
}

#[test]
fn what_is_not_for_the_body_is_ignored() {
    let nan = BonePose { position_m: [f32::NAN, 0.0, 0.0], ..BonePose::IDENTITY };
    let zero = BonePose { rotation: [0.0; 4], ..BonePose::IDENTITY };
    let packets = [
        pose("/VMC/Ext/Hmd/Pos", "device", &BonePose::IDENTITY),
        pose("/VMC/Ext/Bone/Pos", "Tail", &BonePose::IDENTITY),
        bone(0, &nan),
        bone(0, &zero),
        message("/VMC/Ext/Bone/Pos", &[Argument::Text("Hips"), Argument::Float(1.0)]),
        message("/VMC/Ext/Bone/Pos", &[Argument::Float(1.0); 8]),
        blend("Joy", f32::INFINITY),
        time(f32::NAN),
        message("/VMC/Ext/Blend/Val", &[Argument::Raw('s', b"\xff\xff\0\0"), Argument::Float(1.0)]),
    ];
    let mut receiver = VmcReceiver::default();
    for (index, packet) in packets.iter().enumerate() {
        assert!(!handle(&mut receiver, packet), "{index}");
        assert_eq!(receiver.stats().ignored, index as u64 + 1);
    }
    assert!(!handle(&mut receiver, &apply()) && receiver.frame().curves.is_empty());
    assert_eq!(receiver.frame().bones, [None; BONE_COUNT]);
}

#[test]
fn a_malformed_packet_changes_nothing() {
    let good = bone(0, &moved(1.0));
    let mut cut = bundle(&[good.clone(), good.clone()]);
    cut.truncate(cut.len() - 4);
    let mut odd = bundle(std::slice::from_ref(&good));
    odd[19] = 3;
    let mut deep = good.clone();
    for _ in 0..9 {
        deep = bundle(&[deep]);
    }
    let unknown = message("/VMC/Ext/T", &[Argument::Raw('?', &[0; 4])]);
    for (packet, error) in [
        (Vec::new(), OscError::NotOsc),
        (b"noise".to_vec(), OscError::NotOsc),
        (b"/VMC".to_vec(), OscError::EndOfData),
        (b"#bundle\0\0\0\0".to_vec(), OscError::EndOfData),
        (cut, OscError::EndOfData),
        (odd, OscError::BadSize { bytes: 3 }),
        (deep, OscError::TooDeep),
        (string("/é"), OscError::BadText),
        (unknown.clone(), OscError::UnknownType { tag: '?' }),
        (bundle(&[good.clone(), unknown]), OscError::UnknownType { tag: '?' }),
    ] {
        let mut receiver = VmcReceiver::default();
        assert_eq!(receiver.handle(AT, &packet), Err(error), "{packet:?}");
        assert_eq!(receiver.stats().refused, 1);
        receiver.handle(AT, &time(1.0)).unwrap();
        assert_eq!(receiver.stats().frames, 0, "no bone of {packet:?} was taken");
    }
}

#[test]
fn bundles_may_be_nested() {
    let inner = bundle(&[bone(1, &moved(2.0)), bundle(&[bone(2, &moved(3.0))])]);
    let packet = bundle(&[bone(0, &moved(1.0)), inner, bundle(&[]), time(1.0)]);
    let mut receiver = VmcReceiver::default();
    assert!(handle(&mut receiver, &packet));
    assert_eq!(seen(&receiver, [0, 1, 2]), [Some(1.0), Some(2.0), Some(3.0)]);
}

#[test]
fn any_bytes_are_refused_or_taken_in_bounded_memory() {
    let all: Vec<Vec<u8>> = t_pose().iter().map(|(index, pose)| bone(*index, pose)).collect();
    let packets = [bundle(&all), bundle(&[ok(1), time(1.0), blend("Joy", 1.0), apply()])];
    let mut random = Random(61);
    let mut receiver = VmcReceiver::default();
    for round in 0..4_000 {
        let mut packet = packets[round % 2].clone();
        for _ in 0..1 + random.below(6) {
            let at = random.below(packet.len() as u32) as usize;
            packet[at] = random.below(256) as u8;
        }
        packet.truncate(random.below(2 * packet.len() as u32) as usize);
        let _ = receiver.handle(Duration::from_millis(round as u64), &packet);
        assert!(receiver.frame().curves.len() <= 256);
    }
    let stats = receiver.stats();
    assert_eq!(stats.packets + stats.refused, 4_000);
    assert!(stats.refused > 500 && stats.packets > 500, "{stats:?}");
}

#[test]
fn positions_that_are_not_finite_in_cm_are_ignored() {
    let mut receiver = VmcReceiver::default();
    assert!(handle(&mut receiver, &bundle(&[bone(0, &moved(1.0)), time(1.0)])));
    for x in [3.5e36, -3.5e36, f32::MAX, 1.1e6, f32::NAN, f32::INFINITY] {
        let ignored = receiver.stats().ignored;
        assert!(!handle(&mut receiver, &bone(0, &moved(x))));
        handle(&mut receiver, &pose("/VMC/Ext/Root/Pos", "root", &moved(x)));
        assert_eq!(receiver.stats().ignored, ignored + 2, "{x}");
    }
    assert_eq!(receiver.stats().refused, 0);
    assert_eq!(receiver.frame().root, BonePose::IDENTITY);
    assert!(handle(&mut receiver, &bone(0, &moved(1e6))));
    assert_eq!(seen(&receiver, [0]), [Some(1e6)]);
}
