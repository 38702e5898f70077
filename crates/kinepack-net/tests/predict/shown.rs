//! What a prediction shows: the path stays continuous at corrections, except at cuts.

use std::time::Duration;

use kinepack::{EntityId, Pack, Schema, Tick};
use kinepack_net::{Own, PredictConfig, Predicted};

use super::{ID, Input, Walker, config, input, predicted, rest, step};

/// A shown path: the states in `frames` frames a tick, with a push by `push` metres in each 20th
/// tick that the client learns of 8 ticks later. Returns the places, and the largest change of what
/// is shown at the moment of a correction.
fn path(config: PredictConfig, frames: u32, push: [f32; 2]) -> (Vec<[f64; 2]>, f64) {
    let mut predicted = predicted(config, 108);
    let mut server = [Own { id: ID, state: rest() }];
    let (mut places, mut step_m) = (Vec::new(), 0.0_f64);
    let place = |state: Walker| state.place.map(f64::from);
    for tick in 101..300 {
        step(&mut server, &input(tick).rounded().unwrap(), Tick(tick));
        if tick % 20 == 0 {
            server[0].state.velocity[0] += push[0];
            server[0].state.place[1] += push[1];
        }
        server[0].state = server[0].state.rounded().unwrap();
        let newest = tick + 8;
        predicted.push(Tick(newest), &input(newest), step).unwrap();
        for frame in 1..=frames {
            let at = f64::from(newest - 1) + f64::from(frame) / f64::from(frames);
            if frame == frames / 2 {
                let at = at - 0.5 / f64::from(frames);
                let before = place(predicted.shown(ID, at).unwrap());
                predicted.correct(ID, Tick(tick), &server[0].state, step).unwrap();
                let after = place(predicted.shown(ID, at).unwrap());
                let by = (0..2).map(|axis| (after[axis] - before[axis]).powi(2)).sum::<f64>();
                step_m = step_m.max(by.sqrt());
            }
            places.push(place(predicted.shown(ID, at).unwrap()));
        }
    }
    assert_eq!(predicted.stats().corrected, 9);
    (places, step_m)
}

#[test]
fn corrections_are_no_steps_and_no_kinks() {
    let (places, step_m) = path(config(), 32, [2.0, 0.0]);
    assert!(step_m < 1e-4, "{step_m} m at a correction");
    // The velocity is continuous: it changes by what the accelerations of the walk and of the
    // spring allow in a 32nd of a tick, not by the push of 2 m/s.
    let per_s = 60.0 * 32.0;
    let velocity: Vec<f64> =
        places.windows(2).map(|pair| (pair[1][0] - pair[0][0]) * per_s).collect();
    let kink = velocity.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f64::max);
    assert!(kink < 0.2, "{kink} m/s");
    let snaps = PredictConfig { position_fade: Duration::ZERO, ..config() };
    assert!(path(snaps, 32, [2.0, 0.0]).1 > 0.1);
}

#[test]
fn frames_of_any_length_give_the_same_path() {
    let often = path(config(), 32, [1.0, 0.3]).0;
    let seldom = path(config(), 4, [1.0, 0.3]).0;
    // The path continues from another moment, at most a quarter of a tick apart.
    for (nth, place) in seldom.iter().enumerate() {
        let other = often[8 * nth + 7];
        let off = (0..2).map(|axis| (place[axis] - other[axis]).abs()).fold(0.0, f64::max);
        assert!(off < 0.01, "{off} m in frame {nth}");
    }
}

#[test]
fn an_offset_fades_away() {
    let mut predicted = predicted(config(), 110);
    predicted.shown(ID, 110.0).unwrap();
    let pushed = Walker { place: [1.0, 0.0], ..predicted.state_at(ID, Tick(105)).unwrap() };
    predicted.correct(ID, Tick(105), &pushed, step).unwrap();
    let mut last = f32::MAX;
    for tick in 111..=230 {
        predicted.push(Tick(tick), &input(tick), step).unwrap();
        let shown = predicted.shown(ID, f64::from(tick)).unwrap();
        let off = (shown.place[0] - predicted.state(ID).unwrap().place[0]).abs();
        assert!(off <= last + 1e-4, "{off} m after {last} m");
        last = off;
        if tick == 110 + 60 {
            assert!((0.02..0.08).contains(&off), "{off} m after the fade's second");
        }
    }
    assert!(last < 0.001, "{last} m");
}

#[test]
fn angles_fade_the_short_way_round_and_rotations_stay_units() {
    let mut predicted = predicted(config(), 110);
    let before = predicted.shown(ID, 109.5).unwrap();
    let known = predicted.state_at(ID, Tick(105)).unwrap();
    // 20 degrees, across the end of the range.
    let half_rad = 0.2_f32;
    let turned = Walker {
        yaw_deg: (known.yaw_deg - 20.0).rem_euclid(360.0),
        tilt: [0.0, half_rad.sin(), 0.0, half_rad.cos()],
        ..known
    };
    predicted.correct(ID, Tick(105), &turned, step).unwrap();
    let after = predicted.shown(ID, 109.5).unwrap();
    let turn = |a: f32, b: f32| (a - b + 540.0).rem_euclid(360.0) - 180.0;
    assert!(turn(after.yaw_deg, before.yaw_deg).abs() < 0.01);
    let dot: f32 = after.tilt.iter().zip(before.tilt).map(|(a, b)| a * b).sum();
    assert!(dot.abs() > 0.999_99, "{dot}");
    let mut last = 20.0_f32;
    for tick in 111..150 {
        predicted.push(Tick(tick), &input(tick), step).unwrap();
        let (shown, state) =
            (predicted.shown(ID, tick.into()).unwrap(), predicted.state(ID).unwrap());
        let off = turn(shown.yaw_deg, state.yaw_deg);
        assert!((-0.1..=last + 0.1).contains(&off), "{off} degrees after {last}");
        assert!((0.0..360.0).contains(&shown.yaw_deg));
        last = off;
        let length: f32 = shown.tilt.iter().map(|component| component * component).sum();
        assert!((length - 1.0).abs() < 1e-5);
    }
    assert!(last < 0.5);
}

#[test]
fn nothing_fades_after_a_cut() {
    let mut predicted = predicted(config(), 110);
    predicted.shown(ID, 109.5).unwrap();
    // A push first, so that there is an offset.
    let known = predicted.state_at(ID, Tick(104)).unwrap();
    let pushed = Walker { place: [known.place[0] + 0.5, 0.0], ..known };
    assert!(!predicted.correct(ID, Tick(104), &pushed, step).unwrap().is_snapped);
    assert_ne!(predicted.shown(ID, 110.0), predicted.state(ID));
    let leapt = Walker { place: [1.0, 2.0], teleports: 1, ..rest() };
    assert!(predicted.correct(ID, Tick(105), &leapt, step).unwrap().is_snapped);
    assert_eq!(predicted.shown(ID, 110.0), predicted.state(ID));
    assert_eq!(predicted.stats().snapped, 1);

    // A jump that the client predicts ends the offset too, and nothing is shown between the places.
    let pushed = Walker { place: [1.5, 2.5], teleports: 1, ..rest() };
    predicted.correct(ID, Tick(106), &pushed, step).unwrap();
    assert_ne!(predicted.shown(ID, 110.0), predicted.state(ID));
    let leap = |walkers: &mut [Own<Walker>], _: &Input, _: Tick| {
        walkers[0].state = Walker { place: [300.0; 2], teleports: 2, ..rest() };
    };
    let last = predicted.shown(ID, 110.0).unwrap();
    predicted.push(Tick(111), &input(111), leap).unwrap();
    let near = predicted.shown(ID, 110.9).unwrap();
    assert!((near.place[0] - last.place[0]).abs() < 0.5, "{near:?}");
    assert_eq!(predicted.shown(ID, 111.0), predicted.state(ID));
    predicted.push(Tick(112), &input(112), step).unwrap();
    assert_eq!(predicted.shown(ID, 112.0), predicted.state(ID));
}

#[test]
fn far_corrections_are_shown_at_once() {
    let mut predicted = predicted(config(), 110);
    predicted.shown(ID, 109.5).unwrap();
    let far = Walker { place: [40.0, 0.0], ..rest() };
    let correction = predicted.correct(ID, Tick(105), &far, step).unwrap();
    assert!(correction.is_snapped && correction.distance > 39.0, "{correction:?}");
    assert_eq!(predicted.shown(ID, 110.0), predicted.state(ID));
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Sailor {
    #[pack(frame = ship, range = -512.0..512.0, precision = 1.0 / 512.0)]
    place: [f32; 3],
    ship: Option<EntityId>,
}

#[test]
fn nothing_fades_from_one_frame_to_another() {
    let mut predicted = Predicted::<Sailor, Input>::new(&Schema::of::<Sailor>(), config()).unwrap();
    let walk = |own: &mut [Own<Sailor>], _: &Input, _| own[0].state.place[0] += 0.1;
    let ashore = Sailor { place: [2.0; 3], ship: None };
    predicted.add(ID, Tick(100), &ashore, walk).unwrap();
    (101..=110).for_each(|tick| predicted.push(Tick(tick), &input(tick), walk).unwrap());
    predicted.shown(ID, 109.5).unwrap();
    let on_board = Sailor { place: [1.0; 3], ship: Some(EntityId(1)) };
    let correction = predicted.correct(ID, Tick(105), &on_board, walk).unwrap();
    assert!(correction.is_snapped, "{correction:?}");
    assert_eq!(predicted.shown(ID, 110.0), predicted.state(ID));
    let pushed = Sailor { place: [1.5; 3], ..on_board };
    let correction = predicted.correct(ID, Tick(106), &pushed, walk).unwrap();
    assert!(!correction.is_snapped, "{correction:?}");
    assert_ne!(predicted.shown(ID, 110.0), predicted.state(ID), "relative to the same ship");
}

/// A server that does not round: corrections are small, happen all the time, and are not seen.
#[test]
fn a_server_that_does_not_round_causes_no_visible_steps() {
    let mut predicted = predicted(config(), 108);
    let mut server = [Own { id: ID, state: rest() }];
    let (mut largest, mut step_m) = (0.0_f64, 0.0_f32);
    for tick in 101..400 {
        step(&mut server, &input(tick).rounded().unwrap(), Tick(tick));
        let newest = tick + 8;
        predicted.push(Tick(newest), &input(newest), step).unwrap();
        let at = f64::from(newest) - 0.4;
        let before = predicted.shown(ID, at).unwrap();
        let sent = server[0].state.rounded().unwrap();
        let correction = predicted.correct(ID, Tick(tick), &sent, step).unwrap();
        let after = predicted.shown(ID, at).unwrap();
        largest = largest.max(correction.distance);
        step_m = step_m.max((after.place[0] - before.place[0]).abs());
        step_m = step_m.max((after.place[1] - before.place[1]).abs());
    }
    assert!(predicted.stats().corrected > 100 && predicted.stats().snapped == 0);
    assert!(largest < 0.01 && step_m < 1e-5, "{largest} m, steps of {step_m} m");
}
