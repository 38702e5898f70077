//! Inertial transitions begin with the position and velocity of the old motion, end on the new
//! motion, and do not overshoot.

use kinepack_anim::Transform;
use kinepack_anim::pose::{Frames, Inertia};

use super::made::{angle, assert_near, at, pose, product, small_rotation, transform};
use crate::random::Random;

const DT_S: f32 = 1.0 / 60.0;

/// Returns the lengths over one second of a translation that begins at `length` with the velocity
/// `velocity`.
fn decay(length: f32, velocity: f32, duration_s: f32) -> Vec<f32> {
    let (shown, before) = ([at(length, 0.0, 0.0)], [at(length - DT_S * velocity, 0.0, 0.0)]);
    let still = [Transform::IDENTITY];
    let mut inertia = Inertia::new();
    let frames = Frames { now: &shown, before: &before };
    inertia.start(frames, Frames::still(&still), DT_S, duration_s);
    (0..1000)
        .map(|_| {
            let mut pose = still;
            inertia.apply(&mut pose, 0.001);
            pose[0].translation[0]
        })
        .collect()
}

#[test]
fn a_decay_falls_to_zero_and_never_below() {
    for duration_s in [0.1, 0.25, 0.5] {
        for length in [0.01, 1.0, 30.0] {
            for speed in [2.0, 0.0, -0.5, -1.0, -2.0, -5.0, -20.0, -60.0, -1000.0] {
                let lengths = decay(length, speed * length / duration_s, duration_s);
                let mut last = length;
                for (step, own) in lengths.iter().enumerate() {
                    assert!(*own >= 0.0, "{own}");
                    assert!(*own <= last + 1e-6 * length, "{own} after {last}, {speed}");
                    if step as f32 * 0.001 > duration_s {
                        assert_eq!(*own, 0.0);
                    }
                    last = *own;
                }
                // The decay takes its whole duration, unless it begins too fast for that.
                let half = lengths[(500.0 * duration_s) as usize];
                assert!(speed < -5.0 || half > 0.02 * length, "{half} of {length}, {speed}");
            }
        }
    }
}

#[test]
fn a_decay_begins_with_the_velocity_of_the_difference() {
    for velocity in [0.0, -10.0, -40.0, -100.0] {
        let lengths = decay(10.0, velocity, 0.4);
        let begun = (lengths[0] - 10.0) / 0.001;
        assert!((begun - velocity).abs() < 1.5 + 0.02 * velocity.abs(), "{begun} {velocity}");
        // The velocity at the end of the decay is zero.
        assert!(lengths[395] < 1e-3, "{}", lengths[395]);
    }
    // A difference that grows begins at rest.
    assert!((decay(10.0, 50.0, 0.4)[0] - 10.0).abs() < 1e-3);
}

#[test]
fn a_fast_decay_lands_softly_before_its_time() {
    for velocity in [-100.0_f32, -200.0, -1000.0] {
        let lengths = decay(10.0, velocity, 0.6);
        let end_s = -50.0 / velocity;
        for (step, own) in lengths.iter().enumerate() {
            // The fastest decay without an overshoot is a power of the remaining time.
            let left = (1.0 - 0.001 * (step + 1) as f32 / end_s).max(0.0);
            assert!((own - 10.0 * left.powi(5)).abs() < 1e-3, "{own} at {step}, {velocity}");
        }
    }
}

#[test]
fn the_motions_meet_in_place_and_speed() {
    // Two motions have constant velocities. The shown motion has no jump in position, and no jump
    // in velocity along the difference.
    let old = |time_s: f32| [at(10.0 - 30.0 * time_s, 2.0, 0.0)];
    let new = |time_s: f32| [at(-6.0 + 12.0 * time_s, 2.0, 0.0)];
    let mut inertia = Inertia::new();
    let (shown, shown_before, meant, meant_before) = (old(0.0), old(-DT_S), new(0.0), new(-DT_S));
    inertia.start(
        Frames { now: &shown, before: &shown_before },
        Frames { now: &meant, before: &meant_before },
        DT_S,
        0.5,
    );
    let mut places = vec![old(-DT_S)[0].translation[0], old(0.0)[0].translation[0]];
    for frame in 1..=60 {
        let mut pose = new(DT_S * frame as f32);
        inertia.apply(&mut pose, DT_S);
        assert_eq!(pose[0].translation[1], 2.0);
        places.push(pose[0].translation[0]);
    }
    let speeds: Vec<f32> = places.windows(2).map(|pair| (pair[1] - pair[0]) / DT_S).collect();
    assert!((speeds[0] - -30.0).abs() < 1e-3 && (speeds[59] - 12.0).abs() < 1e-2);
    let jolt = speeds.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f32::max);
    // A jump in velocity would give 42.
    assert!(jolt < 8.0, "{jolt}");
}

#[test]
fn any_pose_is_left_without_a_jump_and_reached() {
    let mut random = Random(1);
    for _ in 0..100 {
        let (shown, new) = (pose(&mut random, 5), pose(&mut random, 5));
        let before: Vec<Transform> = shown
            .iter()
            .map(|own| {
                let near = transform(&mut random);
                Transform {
                    rotation: product(own.rotation, small_rotation(&mut random, 0.05)),
                    translation: [0, 1, 2]
                        .map(|axis| own.translation[axis] + 0.02 * near.translation[axis]),
                    scale: own.scale,
                }
            })
            .collect();
        let mut inertia = Inertia::new();
        let frames = Frames { now: &shown, before: &before };
        inertia.start(frames, Frames::still(&new), DT_S, 0.3);
        let mut first = new.clone();
        inertia.clone().apply(&mut first, 0.0);
        assert_near(&first, &shown, 1e-5);

        let away = |pose: &[Transform]| {
            pose.iter().zip(&new).map(|(a, b)| angle(a.rotation, b.rotation)).collect::<Vec<_>>()
        };
        let mut last = away(&shown);
        while !inertia.is_done() {
            let mut pose = new.clone();
            inertia.apply(&mut pose, 0.004);
            for (own, last) in away(&pose).into_iter().zip(&mut last) {
                assert!(own <= *last + 1e-4, "{own} after {last}");
                *last = own;
            }
        }
        let mut after = new.clone();
        inertia.apply(&mut after, 1.0);
        assert_eq!(after, new);
    }
}

#[test]
fn rotations_decay_as_their_angles_would() {
    // Measured as an angle, the decay differs from the decay of an angle by the documented amount.
    let share_of = |degrees: f64| {
        let half = degrees.to_radians() / 2.0;
        let turned = Transform {
            rotation: [0.0, 0.0, half.sin() as f32, half.cos() as f32],
            ..Transform::IDENTITY
        };
        let moved = at(1.0, 0.0, 0.0);
        let still = [Transform::IDENTITY];
        let mut inertia = Inertia::new();
        let shown = [Transform { translation: moved.translation, ..turned }];
        inertia.start(Frames::still(&shown), Frames::still(&still), DT_S, 1.0);
        let mut most = 0.0_f64;
        for _ in 0..100 {
            let mut pose = still;
            inertia.apply(&mut pose, 0.01);
            let turned = angle(pose[0].rotation, Transform::IDENTITY.rotation);
            most = most.max((turned / (2.0 * half) - f64::from(pose[0].translation[0])).abs());
        }
        most
    };
    assert!(share_of(45.0) < 0.01, "{}", share_of(45.0));
    assert!((0.01..0.0205).contains(&share_of(90.0)), "{}", share_of(90.0));
    assert!(share_of(179.0) < 0.1, "{}", share_of(179.0));
}

#[test]
fn useless_numbers_make_no_transition() {
    let (shown, new) = ([at(5.0, 0.0, 0.0)], [at(0.0, 0.0, 0.0)]);
    for duration_s in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let mut inertia = Inertia::new();
        inertia.start(Frames::still(&shown), Frames::still(&new), DT_S, duration_s);
        let mut pose = new;
        inertia.apply(&mut pose, DT_S);
        assert!(inertia.is_done() && pose == new);
    }
    for dt_s in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let mut inertia = Inertia::new();
        let frames = Frames { now: &shown, before: &new };
        inertia.start(frames, Frames::still(&new), dt_s, 0.5);
        let mut pose = new;
        inertia.apply(&mut pose, f32::NAN);
        assert_eq!(pose, shown);
    }
    // A joint with invalid numbers is left unchanged, and the other joints are not.
    let bad = Transform { rotation: [f32::NAN; 4], ..at(f32::INFINITY, 0.0, 0.0) };
    let mut inertia = Inertia::new();
    let (shown, new) = ([bad, shown[0]], [new[0], new[0]]);
    inertia.start(Frames::still(&shown), Frames::still(&new), DT_S, 0.5);
    let mut pose = new;
    inertia.apply(&mut pose, DT_S);
    assert!(pose[0] == new[0] && pose[1].translation[0] > 4.0);
    inertia.stop();
    let mut pose = new;
    inertia.apply(&mut pose, DT_S);
    assert_eq!(pose, new);
}

#[test]
fn the_far_side_of_a_turn_gives_no_false_speed() {
    // The rotation goes from 190 to 170 degrees in a frame. That is 20 degrees towards the new
    // motion, and not 340 degrees away from it.
    let turned = |degrees: f32| {
        let half = degrees.to_radians() / 2.0;
        [Transform { rotation: [half.sin(), 0.0, 0.0, half.cos()], ..Transform::IDENTITY }]
    };
    let (shown, before, new) = (turned(170.0), turned(190.0), turned(0.0));
    let mut inertia = Inertia::new();
    let frames = Frames { now: &shown, before: &before };
    inertia.start(frames, Frames::still(&new), DT_S, 0.5);
    let mut pose = new;
    inertia.apply(&mut pose, DT_S);
    let left = angle(pose[0].rotation, new[0].rotation).to_degrees();
    assert!((148.0..158.0).contains(&left), "{left}");
}
