//! Tests the conversion between phases and times in both directions, across the ends of clips, and
//! between clips.

use kinepack_anim::pose::{SyncError, SyncTrack};

use crate::random::Random;

/// Returns the distance between two numbers on a circle of length `round`.
fn apart(a: f64, b: f64, round: f64) -> f64 {
    let apart = (a - b).rem_euclid(round);
    apart.min(round - apart)
}

fn any_track(random: &mut Random) -> SyncTrack {
    let duration_s = random.between(0.3, 3.0);
    let markers = 1 + random.below(5);
    let names = ["a", "b", "c", "d", "e"];
    let slot = duration_s / markers as f32;
    let list: Vec<(&str, f32)> = (0..markers)
        .map(|marker| (names[marker as usize], slot * (marker as f32 + random.between(0.0, 0.9))))
        .collect();
    SyncTrack::new(duration_s, &list).unwrap()
}

#[test]
fn a_time_has_the_phase_that_has_the_time() {
    let mut random = Random(1);
    for _ in 0..200 {
        let track = any_track(&mut random);
        let round = track.markers() as f64;
        for _ in 0..50 {
            let time_s = random.between(0.0, track.duration_s());
            let phase = track.phase_at(time_s);
            assert!((0.0..round).contains(&phase), "{phase}");
            let back = track.time_at(phase + round * f64::from(random.below(9)) - 4.0 * round);
            let off = apart(back.into(), time_s.into(), track.duration_s().into());
            assert!(off < 1e-5, "{off}: {track:?}");

            let phase = f64::from(random.between(-20.0, 20.0));
            let off = apart(track.phase_at(track.time_at(phase)), phase, round);
            assert!(off < 1e-4, "{off}: {track:?}");
        }
    }
}

#[test]
fn time_grows_at_the_rate_of_the_phase() {
    let mut random = Random(2);
    for _ in 0..100 {
        let track = any_track(&mut random);
        let phase = f64::from(random.between(-5.0, 5.0)).floor() + 0.3;
        let passed = track.passed(phase, phase + 0.4);
        let time_s = f64::from(passed.to_s) - f64::from(passed.from_s)
            + passed.wraps as f64 * f64::from(passed.duration_s);
        assert!((time_s * track.rate_at(phase) - 0.4).abs() < 1e-4, "{time_s}");
        // One round of phases is one round of the clip.
        let round = track.passed(phase, phase + track.markers() as f64);
        assert!(round.wraps == 1 && (round.from_s - round.to_s).abs() < 1e-6, "{round:?}");
        assert_eq!(track.passed(phase, phase - 3.0 * track.markers() as f64).wraps, -3);
    }
}

#[test]
fn feet_meet_whatever_the_order_of_the_markers() {
    let walk = SyncTrack::new(1.2, &[("left", 0.1), ("right", 0.7)]).unwrap();
    let run = SyncTrack::new(0.8, &[("right", 0.05), ("left", 0.45)]).unwrap();
    let run = run.aligned_to(&walk).unwrap();
    for (phase, walk_s, run_s) in [(0.0, 0.1, 0.45), (1.0, 0.7, 0.05), (7.0, 0.7, 0.05)] {
        assert!((walk.time_at(phase) - walk_s).abs() < 1e-6);
        assert!((run.time_at(phase) - run_s).abs() < 1e-6);
    }
    // These times are half-way between two markers in both clips.
    assert!((run.time_at(walk.phase_at(0.4)) - 0.65).abs() < 1e-6);
    assert!((run.time_at(walk.phase_at(1.0)) - 0.25).abs() < 1e-6);
}

#[test]
fn a_clip_of_two_double_steps_fits_one_of_one() {
    let walk = SyncTrack::new(1.0, &[("left", 0.0), ("right", 0.5)]).unwrap();
    let names = ["right", "left", "right", "left"];
    let long: Vec<_> = names.into_iter().zip([0.0, 0.6, 1.0, 1.6]).collect();
    let long = SyncTrack::new(2.0, &long).unwrap();
    let aligned = long.clone().aligned_to(&walk).unwrap();
    let times = [0.0, 1.0, 2.0, 3.0, 4.0].map(|phase| aligned.time_at(phase));
    assert_eq!(times, [0.6, 1.0, 1.6, 0.0, 0.6]);
    // The alignment also works in the other direction.
    let walk = walk.aligned_to(&long).unwrap();
    assert_eq!([0.0, 1.0, 2.0].map(|phase| walk.time_at(phase)), [0.5, 0.0, 0.5]);
}

#[test]
fn without_markers_phase_is_the_share_of_the_time() {
    let track = SyncTrack::plain(2.0).unwrap();
    assert_eq!(
        [0.0, 0.5, 1.5, 2.5, -0.5].map(|t| track.phase_at(t)),
        [0.0, 0.25, 0.75, 0.25, 0.75]
    );
    assert_eq!([0.0, 0.25, 1.0, -0.25].map(|phase| track.time_at(phase)), [0.0, 0.5, 0.0, 1.5]);
    assert_eq!(track.rate_at(0.3), 0.5);
}

#[test]
fn bad_markers_are_errors() {
    let refused =
        |duration_s, markers: &[(&str, f32)]| SyncTrack::new(duration_s, markers).unwrap_err();
    assert_eq!(refused(1.0, &[]), SyncError::NoMarkers);
    assert_eq!(refused(0.0, &[("a", 0.0)]), SyncError::BadDuration { duration_s: 0.0 });
    assert!(matches!(refused(f32::NAN, &[("a", 0.0)]), SyncError::BadDuration { .. }));
    for time_s in [-0.1, 1.0, 0.5, 0.4] {
        let error = refused(1.0, &[("a", 0.5), ("b", time_s)]);
        assert_eq!(error, SyncError::BadMarker { marker: 1, time_s });
    }
    assert!(matches!(refused(1.0, &[("a", f32::NAN)]), SyncError::BadMarker { .. }));
    let track = |names: &[&str]| {
        let markers: Vec<_> =
            names.iter().enumerate().map(|(index, name)| (*name, 0.1 * index as f32)).collect();
        SyncTrack::new(1.0, &markers).unwrap()
    };
    let leader = track(&["l", "r"]);
    for other in [&["l"][..], &["l", "l"], &["l", "r", "l"], &["l", "r", "r", "l"], &["x", "r"]] {
        assert_eq!(track(other).aligned_to(&leader), Err(SyncError::OtherMarkers), "{other:?}");
    }
    assert!(track(&["l", "r", "l", "r"]).aligned_to(&leader).is_ok());
}

#[test]
fn phases_that_are_no_numbers_are_the_first() {
    let track = SyncTrack::new(1.0, &[("a", 0.25), ("b", 0.5)]).unwrap();
    for phase in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(track.time_at(phase), 0.25);
    }
    assert_eq!(track.phase_at(f32::NAN), track.phase_at(0.0));
    for phase in [1e300, -1e300, 1e15] {
        assert!((0.0..=1.0).contains(&track.time_at(phase)));
        assert!(track.rate_at(phase) > 0.0);
    }
}
