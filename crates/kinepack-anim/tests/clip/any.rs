//! `AnyClip` reports and plays the same as the clip that it contains.

use kinepack_anim::keyed::{Cursor, KeyedClip};
use kinepack_anim::offline::{BuildOptions, KeyedOptions, Scheme, build};
use kinepack_anim::{AnyClip, ClipError, PlayError, RawClip, Skeleton};

use crate::clip_support::{assert_same, pose_floats, smooth_clip};

fn keyed_clip(raw: &RawClip) -> KeyedClip {
    let scheme = Scheme::Keyed(KeyedOptions::default());
    let built = build(raw, &BuildOptions { scheme, ..BuildOptions::default() }).unwrap();
    KeyedClip::clone(built.clip.as_keyed().unwrap())
}

#[test]
fn a_clip_is_read_by_its_scheme() {
    let raw = smooth_clip(2, 9, 90);
    let keyed = keyed_clip(&raw);
    let any = AnyClip::from_bytes(keyed.as_bytes()).unwrap();
    assert!(any.as_bytes() == keyed.as_bytes() && any.as_keyed().is_some());
    assert_eq!(
        (any.joints(), any.samples(), any.rate_hz()),
        (raw.joints(), raw.samples(), raw.rate_hz())
    );
    assert_eq!(
        (any.duration_s(), any.skeleton_hash()),
        (keyed.duration_s(), raw.skeleton().hash())
    );
    assert_eq!(any.bytes_by_part(), keyed.bytes_by_part());
    let bind = raw.skeleton().bind_pose();
    let (mut player, mut cursor) = (
        any.player_with_bind_pose(&bind).unwrap(),
        Cursor::with_bind_pose(keyed.clone(), &bind).unwrap(),
    );
    let (mut pose, mut expected) = (bind.clone(), bind.clone());
    for position in [0.0, 3.5, 80.0, 12.25, 1e9, f64::NAN] {
        player.sample_at(position, &mut pose);
        cursor.sample_at(position, &mut expected);
        assert_same(&pose, &pose_floats(&expected), &position.to_string());
        player.sample(position as f32 / 60.0, &mut pose);
        cursor.sample(position as f32 / 60.0, &mut expected);
        assert_same(&pose, &pose_floats(&expected), &position.to_string());
    }
}

#[test]
fn bad_clips_are_refused_for_the_same_reason() {
    let good = keyed_clip(&smooth_clip(0, 5, 61)).as_bytes().to_vec();
    for end in [0, 3, 4, 31, good.len() - 1] {
        assert_eq!(
            AnyClip::from_bytes(&good[..end]).err(),
            KeyedClip::from_bytes(&good[..end]).err(),
            "{end}"
        );
    }
    assert_eq!(AnyClip::from_bytes(b"KPAX").unwrap_err(), ClipError::NoClip);
}

#[test]
fn a_player_owns_its_clip() {
    fn is_static<T: Send + Sync + 'static>(player: T) -> T {
        player
    }
    let raw = smooth_clip(7, 5, 30);
    let file: Vec<u8> = keyed_clip(&raw).as_bytes().to_vec();
    let block = build(&raw, &BuildOptions::default()).unwrap().clip;
    let mut pose = raw.skeleton().bind_pose();
    for clip in [AnyClip::from_bytes(&file).unwrap(), block] {
        let mut player = is_static(clip.player(raw.skeleton()).unwrap());
        drop(clip);
        player.sample(0.5, &mut pose);
    }
}

#[test]
fn a_clip_of_another_skeleton_is_refused() {
    let raw = smooth_clip(7, 5, 30);
    let skeleton = raw.skeleton();
    let mut joints = skeleton.joints().to_vec();
    joints[2].bind.translation[1] += 0.5;
    let moved = Skeleton::new(joints.clone()).unwrap();
    joints.pop();
    let shorter = Skeleton::new(joints).unwrap();
    for clip in [keyed_clip(&raw).into(), build(&raw, &BuildOptions::default()).unwrap().clip] {
        let hashes = PlayError::OtherSkeleton { clip: skeleton.hash(), skeleton: moved.hash() };
        assert_eq!(clip.player(&moved).unwrap_err(), hashes);
        let counts = PlayError::OtherJoints { clip: 5, skeleton: 4 };
        assert_eq!(clip.player(&shorter).unwrap_err(), counts);
        assert_eq!(clip.player_with_bind_pose(&shorter.bind_pose()).unwrap_err(), counts);
        assert!(clip.player_with_bind_pose(&moved.bind_pose()).is_ok());
    }
}
