//! Tests root motion. Deltas compose, also over loops and backwards, and they restore exactly the
//! motion that was removed from the pose.

use kinepack_anim::pose::{Axis, Passed, Playhead, RootJoint, RootMotion, Turn};
use kinepack_anim::{Skeleton, Transform};

use super::made::{assert_near, at, product, skeleton, unit};
use crate::random::Random;

const DURATION_S: f32 = 1.5;

/// Returns a root that walks along a curve. It turns about y, tilts, bobs, and does not begin at
/// the origin.
fn root(time_s: f32) -> Transform {
    let yaw = [0.0, (0.3 + 0.4 * time_s).sin(), 0.0, (0.3 + 0.4 * time_s).cos()];
    let tilt = unit([0.1 * (4.0 * time_s).sin(), 0.0, 0.05, 1.0]);
    Transform {
        rotation: product(yaw, tilt),
        translation: [
            20.0 + 90.0 * time_s * (0.5 * time_s).cos(),
            95.0 + 3.0 * (8.0 * time_s).sin(),
            70.0 * time_s - 5.0,
        ],
        scale: [1.0, 1.1, 1.0],
    }
}

fn choices() -> Vec<RootMotion> {
    let ground = RootMotion::on_ground(Axis::Y);
    let none = RootMotion { translation: [false; 3], turn: Turn::Keep, ..ground };
    vec![
        ground,
        ground.relative_to(root(0.0)),
        RootMotion::on_ground(Axis::Z),
        RootMotion::whole(),
        RootMotion::whole().relative_to(at(5.0, 6.0, 7.0)),
        RootMotion { turn: Turn::Keep, ..ground },
        RootMotion { translation: [false, false, true], ..ground },
        none,
    ]
}

fn looped(from_s: f64, to_s: f64) -> Passed {
    Passed::looped(DURATION_S, from_s, to_s)
}

#[test]
fn deltas_compose() {
    let mut random = Random(1);
    for motion in choices() {
        for _ in 0..200 {
            let [a, b, c] = [0; 3].map(|_| f64::from(random.between(-8.0, 8.0)));
            let delta = |from_s, to_s| motion.delta(root, &looped(from_s, to_s));
            let parts = RootMotion::moved(&delta(a, b), &delta(b, c));
            assert_near(&[parts], &[delta(a, c)], 1e-4);
            // Playing forwards and then backwards over the same time gives no motion.
            let back = RootMotion::moved(&delta(a, c), &delta(c, a));
            assert_near(&[back], &[Transform::IDENTITY], 1e-4);
        }
    }
}

#[test]
fn whole_rounds_are_rounds_one_after_the_other() {
    for motion in choices() {
        let round = motion.between(root, 0.0, DURATION_S);
        let mut expected = Transform::IDENTITY;
        for rounds in 1..20 {
            expected = RootMotion::moved(&expected, &round);
            let to_s = f64::from(rounds) * f64::from(DURATION_S);
            assert_near(&[motion.delta(root, &looped(0.0, to_s))], &[expected], 1e-4);
        }
    }
}

#[test]
fn a_pose_without_its_motion_stands_at_the_character() {
    // The character's transform times the root that remains in the pose is the clip's root.
    for motion in choices() {
        let (from, to) = (root(0.2), root(1.1));
        let delta = motion.between(root, 0.2, 1.1);
        let character = RootMotion::moved(&motion.frame(&from), &delta);
        let left = without(&motion, &to);
        assert_eq!(left.scale, to.scale);
        // Placing the pose at the character reverses the removal of the frame.
        let back = RootMotion::moved(&character, &Transform { scale: [1.0; 3], ..left });
        assert_near(&[Transform { scale: to.scale, ..back }], &[to], 1e-5);
    }
}

/// Returns the root that remains in the pose after its motion was removed.
fn without(motion: &RootMotion, root: &Transform) -> Transform {
    let mut left = *root;
    motion.remove(&mut left);
    left
}

#[test]
fn what_is_taken_out_once_is_not_taken_out_again() {
    for motion in [Axis::X, Axis::Y, Axis::Z].map(RootMotion::on_ground) {
        let left = without(&motion, &root(1.1));
        assert_near(&[motion.frame(&left)], &[Transform::IDENTITY], 1e-6);
        assert_near(&[without(&motion, &left)], &[left], 1e-5);
    }
}

#[test]
fn a_reference_keeps_the_first_pose() {
    let motion = RootMotion::on_ground(Axis::Y).relative_to(root(0.0));
    let mut first = root(0.0);
    motion.remove(&mut first);
    assert_near(&[first], &[root(0.0)], 1e-5);
}

#[test]
fn only_the_chosen_parts_move() {
    let delta = RootMotion::on_ground(Axis::Y).between(root, 0.0, 1.0);
    assert!(delta.translation[1] == 0.0 && delta.rotation[0] == 0.0 && delta.rotation[2] == 0.0);
    assert!(delta.rotation[1] > 0.3 && delta.translation[2] != 0.0);
    assert_eq!(delta.scale, [1.0; 3]);
    // The hips still bob and tilt in the pose.
    let mut left = root(1.0);
    RootMotion::on_ground(Axis::Y).remove(&mut left);
    assert_eq!(left.translation[1], root(1.0).translation[1]);
    assert!(left.translation[0].abs() < 1e-4 && left.translation[2].abs() < 1e-4);
    assert!(left.rotation[1].abs() < 1e-6 && left.rotation[0].abs() > 1e-3);

    let still = RootMotion { translation: [false; 3], turn: Turn::Keep, ..RootMotion::whole() };
    assert_eq!(still.between(root, 0.0, 1.0), Transform::IDENTITY);
}

#[test]
fn half_turns_without_a_yaw_are_no_turn() {
    let roll = Transform { rotation: [1.0, 0.0, 0.0, 0.0], ..Transform::IDENTITY };
    assert_eq!(RootMotion::on_ground(Axis::Y).frame(&roll), Transform::IDENTITY);
}

#[test]
fn a_character_that_walks_for_long_stays_on_its_curve() {
    let motion = RootMotion::on_ground(Axis::Y);
    let mut playhead = Playhead::looped(DURATION_S);
    let mut character = motion.frame(&root(0.0));
    let mut time_s = 0.0;
    for _ in 0..3000 {
        character = RootMotion::moved(&character, &motion.delta(root, &playhead.advance(0.016)));
        time_s += f64::from(0.016_f32);
    }
    let whole = motion.delta(root, &looped(0.0, time_s));
    assert_near(&[character], &[RootMotion::moved(&motion.frame(&root(0.0)), &whole)], 2e-3);
    let square: f32 = character.rotation.iter().map(|c| c * c).sum();
    assert!((square - 1.0).abs() < 1e-6);
}

#[test]
fn many_rounds_cost_no_more_than_two() {
    let mut calls = 0;
    let counted = |time_s| {
        calls += 1;
        root(time_s)
    };
    let passed = Passed { from_s: 0.1, to_s: 0.2, wraps: i64::MAX, duration_s: DURATION_S };
    let delta = RootMotion::on_ground(Axis::Y).delta(counted, &passed);
    assert!(calls <= 6 && delta.rotation.iter().all(|c| c.is_finite()));
}

/// Returns a figure below a static joint with Z upwards and half the size. It has hips with three
/// joints on them, and a hand.
fn figure() -> Skeleton {
    let quarter = std::f32::consts::FRAC_1_SQRT_2;
    let scene = Transform { rotation: [-quarter, 0.0, 0.0, quarter], ..at(7.0, 0.0, 0.0) };
    let scene = Transform { scale: [0.5; 3], ..scene };
    skeleton(&[
        ("scene", None, scene),
        ("target", Some(0), at(0.0, 0.0, 0.0)),
        ("hips", Some(0), at(0.0, 0.0, 190.0)),
        ("chest", Some(2), at(0.0, 0.0, 90.0)),
        ("head", Some(3), at(0.0, 0.0, 60.0)),
        ("hand", Some(3), at(90.0, 0.0, 0.0)),
    ])
}

/// Returns the figure's bind pose, with the hips and the hand moved by these offsets.
fn posed(skeleton: &Skeleton, hips: [f32; 3], hand: f32) -> impl FnMut(&mut [Transform]) + use<> {
    let bind = skeleton.bind_pose();
    move |pose: &mut [Transform]| {
        pose.copy_from_slice(&bind);
        (0..3).for_each(|axis| pose[2].translation[axis] += hips[axis]);
        pose[5].translation[2] += hand;
    }
}

#[test]
fn the_joint_that_carries_a_clip_is_found_below_static_ones() {
    let skeleton = figure();
    let motion = RootMotion::on_ground(Axis::Y);
    let find = |hips: fn(f32) -> [f32; 3], hand: f32| {
        RootJoint::find(&skeleton, &motion, 2.0, |time_s, pose| {
            posed(&skeleton, hips(time_s), hand * time_s)(pose);
        })
    };
    // In the space of the scene, y points backwards, and a unit is half a centimetre. The root
    // moves by 120 units per second.
    let walk = find(|time_s| [0.0, -120.0 * time_s, 0.0], 0.0);
    assert_eq!((walk.joint(), walk.travels()), (2, true));
    assert!((walk.way_cm() - 120.0).abs() < 1e-3, "{}", walk.way_cm());
    // A lap that ends where it begins travels too.
    let lap = find(|time_s| [(3.2 * time_s).sin() * 100.0, 0.0, 0.0], 0.0);
    assert_eq!((lap.joint(), lap.travels()), (2, true));
    // Hips that only turn swing the joints above them, but carry no motion.
    let bow = RootJoint::find(&skeleton, &motion, 1.0, |time_s, pose| {
        posed(&skeleton, [0.0; 3], 0.0)(pose);
        let half = 0.7 * time_s;
        pose[2].rotation = [half.sin(), 0.0, 0.0, half.cos()];
    });
    assert!(!bow.travels() && bow.way_cm() < 1e-3, "{bow:?}");
    // A jump on the spot does not travel. Neither do swaying hips, even if a hand ends elsewhere.
    for still in [
        find(|time_s| [0.0, 0.0, 100.0 * time_s], 0.0),
        find(|time_s| [4.0 * time_s, 0.0, 0.0], 80.0),
    ] {
        assert!(!still.travels(), "{still:?}");
    }
    // If the root travels, the hips only sway above it.
    let rooted = RootJoint::find(&skeleton, &motion, 1.0, |time_s, pose| {
        posed(&skeleton, [0.0, 10.0 * time_s, 0.0], 0.0)(pose);
        pose[0].translation[2] += 100.0 * time_s;
    });
    assert_eq!((rooted.joint(), rooted.travels()), (0, true));
    let empty = Skeleton::new(Vec::new()).unwrap();
    assert_eq!(RootJoint::find(&empty, &motion, 1.0, |_, _| ()).joint(), 0);
}

#[test]
fn the_motion_of_a_joint_below_others_is_in_the_models_space() {
    let skeleton = figure();
    let motion = RootMotion::on_ground(Axis::Y);
    let sample = |time_s: f32, pose: &mut [Transform]| {
        posed(&skeleton, [20.0, -120.0 * time_s, 0.0], 0.0)(pose);
        let half = 0.2 * time_s;
        pose[2].rotation = [0.0, 0.0, half.sin(), half.cos()];
    };
    let root = RootJoint::find(&skeleton, &motion, 2.0, sample);
    let local = |time_s: f32| {
        let mut pose = skeleton.bind_pose();
        sample(time_s, &mut pose);
        root.in_model(&pose[root.joint()])
    };
    // The turn about the scene's z is one about the model's y.
    let delta = motion.delta(local, &Passed::new(2.0, 0.0, 1.0));
    assert!((delta.translation[2] - 60.0).abs() < 1e-3, "{delta:?}");
    assert!((delta.rotation[1] - 0.2_f32.sin()).abs() < 1e-5, "{delta:?}");
    // A character that moves by the deltas, and plays poses without motion, ends where the clip
    // ends.
    let mut character = motion.frame(&local(0.0));
    let mut playhead = Playhead::new(2.0);
    for _ in 0..8 {
        character = RootMotion::moved(&character, &motion.delta(local, &playhead.advance(0.25)));
        let (mut pose, mut whole) = (skeleton.bind_pose(), skeleton.bind_pose());
        sample(playhead.time_s(), &mut whole);
        pose.copy_from_slice(&whole);
        root.remove(&motion, &mut pose);
        pose[0] = RootMotion::moved(&character, &pose[0]);
        let (mut model, mut expected) = (skeleton.bind_pose(), skeleton.bind_pose());
        skeleton.model_pose(&pose, &mut model);
        skeleton.model_pose(&whole, &mut expected);
        assert_near(&model, &expected, 1e-3);
    }
}
