//! Players name their clip, and masks list their joints.

use std::sync::Arc;

use kinepack_anim::offline::{BuildOptions, KeyedOptions, Scheme, build};
use kinepack_anim::{JointMask, RawClip};

use super::made::{at, skeleton};

#[test]
fn players_of_both_schemes_name_their_clip() {
    let skeleton = Arc::new(skeleton(&[("root", None, at(0.0, 0.0, 0.0))]));
    let samples = (0..31).map(|sample| at(sample as f32, 0.0, 0.0)).collect();
    let raw = RawClip::new("slide", Arc::clone(&skeleton), 30.0, samples).unwrap();
    for scheme in [Scheme::default(), Scheme::Keyed(KeyedOptions::default())] {
        let options = BuildOptions { scheme, ..BuildOptions::default() };
        let clip = build(&raw, &options).unwrap().clip;
        let player = clip.player(&skeleton).unwrap();
        assert_eq!(player.clip().as_bytes().as_ptr(), clip.as_bytes().as_ptr());
        assert_eq!(player.info(), clip.info());
        assert_eq!(player.info().duration_s(), 1.0);
    }
}

#[test]
fn a_mask_lists_its_joints() {
    for joints in [0, 1, 63, 64, 65, 130] {
        let every_third = JointMask::new(joints, |joint| joint % 3 == 1);
        let expected: Vec<usize> = (0..joints).filter(|joint| joint % 3 == 1).collect();
        assert_eq!(every_third.joints().collect::<Vec<_>>(), expected);
    }
}
