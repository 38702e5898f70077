//! Steps that fail, give states that cannot be sent, or use their own prediction; and bad arguments.

use std::ptr::{null, null_mut};

use kinepack_c::KpStatus;
use kinepack_c::columns::{KpColumn, KpTarget};
use kinepack_c::predict::{
    KpPredictConfig, KpPrediction, kp_predict_config_at_hz, kp_prediction_free, kp_prediction_new,
    kp_prediction_push, kp_prediction_remove,
};
use kinepack_c::predict_correct::{kp_prediction_correct_from, kp_prediction_repeat_last};
use kinepack_c::predict_read::kp_prediction_newest;
use kinepack_c::predict_step::KpStep;
use kinepack_c::receiver::KpReceiver;
use kinepack_c::status::kp_error_text;

use super::game::{Game, Input, Twist, Walker, config, input, ok, rest, schema_of};
use super::no_correction;

fn error_text() -> String {
    let mut text = vec![0u8; 200];
    // SAFETY: the text has its capacity.
    let length = unsafe { kp_error_text(text.as_mut_ptr().cast(), text.len()) };
    String::from_utf8_lossy(&text[..length.min(199)]).into_owned()
}

/// A prediction of two walkers, up to tick 110.
fn game() -> Game {
    let game = Game::new(&config());
    for id in [9, 7] {
        ok(game.add(id, 100, &rest()));
    }
    (101..=110).for_each(|tick| ok(game.push(tick, &input(tick))));
    game
}

fn newest(game: &Game) -> u32 {
    let mut tick = 0;
    // SAFETY: `tick` is a live value.
    ok(unsafe { kp_prediction_newest(game.prediction, &raw mut tick) });
    tick
}

#[test]
fn a_state_that_is_no_number_keeps_the_one_before() {
    let game = game();
    let before = [7, 9].map(|id| game.state(id, 110).unwrap());
    game.set_twist(Twist::NotANumber);
    assert_eq!(game.push(111, &input(111)), KpStatus::Step);
    assert!(error_text().contains("entity 7 at tick 111: place"), "{}", error_text());
    assert_eq!((newest(&game), game.stats().unquantized), (111, 1));
    assert_eq!(game.state(7, 111), Ok(before[0]), "it keeps its state");
    assert_ne!(game.state(9, 111), Ok(before[1]), "the other one is stepped");
    game.set_twist(Twist::None);
    ok(game.push(112, &input(112)));
    assert_ne!(game.state(7, 112), Ok(before[0]));
}

#[test]
fn a_step_that_fails_leaves_a_consistent_prediction() {
    let (game, other) = (game(), game());
    let before = game.state(7, 110).unwrap();
    game.set_twist(Twist::Fails);
    let (steps, _) = game.steps();
    // Four ticks are due, but the step is not called again.
    assert_eq!(game.push(114, &input(114)), KpStatus::Step);
    assert_eq!(error_text(), "the step of tick 111 returned 7");
    assert_eq!(game.steps().0, steps + 1);
    for tick in 111..=114 {
        assert_eq!(game.state(7, tick), Ok(before));
    }
    assert_eq!(newest(&game), 114);
    // A correction repeats the steps, and repairs it.
    game.set_twist(Twist::None);
    ok(other.push(114, &input(114)));
    let mut out = no_correction();
    let server = Walker { health: 1, ..other.state(7, 111).unwrap() };
    ok(game.correct(7, 111, &server, &mut out));
    ok(game.correct(9, 111, &other.state(9, 111).unwrap(), &mut out));
    ok(other.correct(7, 111, &server, &mut out));
    for id in [7, 9] {
        assert_eq!(game.state(id, 114), other.state(id, 114));
    }
    game.set_twist(Twist::Fails);
    out = no_correction();
    assert_eq!(game.correct(7, 112, &rest(), &mut out), KpStatus::Step);
    assert_eq!(out.outcome, -1, "it is not written");
    assert!(game.shown(7, 113.5).is_ok());
}

#[test]
fn a_step_that_uses_its_own_prediction_gets_errors() {
    let game = game();
    game.set_twist(Twist::CallsBack);
    ok(game.push(111, &input(111)));
    let (_, statuses) = game.steps();
    assert_eq!(statuses.len(), 11);
    assert!(statuses.iter().all(|status| *status == KpStatus::Argument), "{statuses:?}");
    let mut out = no_correction();
    ok(game.correct(7, 105, &Walker { health: 3, ..rest() }, &mut out));
    assert_eq!((newest(&game), out.repeated_ticks), (111, 6));
    game.set_twist(Twist::None);
    let prediction = game.prediction;
    drop(game);
    assert_eq!(kp_prediction_remove(prediction, 7), KpStatus::Handle);
}

#[test]
fn other_threads_wait_for_a_step() {
    let game = game();
    game.set_twist(Twist::CallsBack);
    let prediction = game.prediction;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..200 {
                let mut tick = 0;
                // SAFETY: `tick` is a live value.
                ok(unsafe { kp_prediction_newest(prediction, &raw mut tick) });
                assert!(tick >= 110);
            }
        });
        (111..200).for_each(|tick| ok(game.push(tick, &input(tick))));
    });
    assert!(game.steps().1.iter().all(|status| *status == KpStatus::Argument));
}

#[test]
fn ticks_and_entities_are_checked() {
    let game = game();
    let mut out = no_correction();
    for tick in [0, 109, 110] {
        assert_eq!(game.push(tick, &input(1)), KpStatus::Argument);
    }
    assert_eq!(game.push(111, &Input { stick: [f64::NAN, 0.0], runs: false }), KpStatus::Value);
    assert_eq!(game.add(7, 105, &rest()), KpStatus::Argument);
    assert_eq!(game.correct(8, 105, &rest(), &mut out), KpStatus::Nothing);
    let nan = Walker { place: [f64::NAN; 2], ..rest() };
    assert_eq!(game.correct(7, 105, &nan, &mut out), KpStatus::Value);
    assert_eq!(
        (game.shown(8, 105.0), game.state(7, 111)),
        (Err(KpStatus::Nothing), Err(KpStatus::Nothing))
    );
    assert!(game.shown(7, f64::NAN).is_ok() && game.shown(7, -1e300).is_ok());
    assert_eq!((newest(&game), game.stats().inputs, out.outcome), (110, 10, -1));
    ok(game.add(3, 200, &rest()));
    // The step has room for three.
    assert_eq!(game.add(4, 100, &rest()), KpStatus::Argument);
    ok(kp_prediction_remove(game.prediction, 3));
    assert_eq!(kp_prediction_remove(game.prediction, 3), KpStatus::Nothing);
    ok(game.push(u32::MAX, &input(1)));
    assert_eq!(game.push(u32::MAX, &input(1)), KpStatus::Argument);
    assert_eq!(game.stats().restarts, 1);
}

#[test]
fn steps_are_checked_before_anything_changes() {
    let game = game();
    let good = game.step();
    // SAFETY: the arrays of the step are live.
    let (mut targets, mut columns) =
        unsafe { (*good.targets.cast::<[KpTarget; 5]>(), *good.columns.cast::<[KpColumn; 5]>()) };
    targets[3].number = 0; // `health` is an integer
    columns[0].data = null();
    let bad = [
        (KpStatus::Pointer, KpStep { step: None, ..good }),
        (KpStatus::Argument, KpStep { capacity: 1, ..good }),
        (KpStatus::Pointer, KpStep { targets: null(), ..good }),
        (KpStatus::Pointer, KpStep { columns: null(), ..good }),
        (KpStatus::Argument, KpStep { fields: 4, ..good }),
        (KpStatus::Pointer, KpStep { input_targets: null(), ..good }),
        (KpStatus::Argument, KpStep { input_fields: 1, ..good }),
        (KpStatus::Argument, KpStep { input_fields: 0, ..good }),
        (KpStatus::Pointer, KpStep { ids: std::ptr::without_provenance_mut(2), ..good }),
        (KpStatus::Argument, KpStep { targets: targets.as_ptr(), ..good }),
        (KpStatus::Pointer, KpStep { columns: columns.as_ptr(), ..good }),
    ];
    let (steps, _) = game.steps();
    for (nth, (expected, step)) in bad.iter().enumerate() {
        // SAFETY: the pointers of the step are null, misaligned or live with their counts.
        let status = unsafe { kp_prediction_repeat_last(game.prediction, 5, step, null_mut()) };
        assert_eq!(status, *expected, "step {nth}: {}", error_text());
    }
    // SAFETY: all other pointers are null, and the step's memory is live.
    unsafe {
        let prediction = game.prediction;
        assert_eq!(kp_prediction_repeat_last(prediction, 5, null(), null_mut()), KpStatus::Pointer);
        assert_eq!(kp_prediction_push(prediction, 111, null(), 2, &good), KpStatus::Pointer);
        let none = KpReceiver { id: 0 };
        let status = kp_prediction_correct_from(prediction, none, &good, null_mut());
        assert_eq!(status, KpStatus::Handle);
        ok(kp_prediction_repeat_last(
            prediction,
            5,
            &KpStep { ids: null_mut(), ..good },
            null_mut(),
        ));
    }
    assert_eq!((newest(&game), game.steps().0), (110, steps + 5));
}

#[test]
fn settings_are_checked() {
    let new = |config: *const KpPredictConfig, kind: u32| {
        let mut prediction = KpPrediction { id: 0 };
        let (schema, inputs) = (schema_of::<Walker>(), schema_of::<Input>());
        // SAFETY: `config` is null or live, and so is `prediction`.
        let status =
            unsafe { kp_prediction_new(schema, kind, inputs, config, &raw mut prediction) };
        assert_eq!(status == KpStatus::Ok, prediction.id != 0);
        status
    };
    let good = config();
    let bad = [
        KpPredictConfig { tick_hz: 0, ..good },
        KpPredictConfig { history_ticks: 1, ..good },
        KpPredictConfig { history_ticks: 2_000, ..good },
        KpPredictConfig { repair: 2, ..good },
        KpPredictConfig { snap_distance: f64::NAN, ..good },
    ];
    for config in &bad {
        assert_eq!(new(config, 0), KpStatus::Argument);
    }
    assert_eq!(new(&raw const good, 1), KpStatus::Argument);
    assert_eq!(new(null(), 0), KpStatus::Pointer);
    assert_eq!(new(&raw const good, 0), KpStatus::Ok);
    assert_eq!((good.history_ticks, good.position_fade_ms, good.rest_ticks), (60, 1_000, 30));
    // SAFETY: null is refused.
    assert_eq!(unsafe { kp_predict_config_at_hz(60, null_mut()) }, KpStatus::Pointer);
    for wrong in [0, 5, u64::MAX] {
        assert_eq!(kp_prediction_free(KpPrediction { id: wrong }), KpStatus::Handle);
    }
}
