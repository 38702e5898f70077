//! Tests of prediction: what it takes, what it repeats, and what it shows.

mod exact;
mod lanes;
mod naive;
mod shown;

use std::time::Duration;

use allocation_counter::measure;
use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::{EncodeError, EntityId, Pack, Schema, Tick};
use kinepack_net::{
    Outcome, Own, PredictConfig, PredictError, Predicted, Repair, StreamConfig, StreamReceiver,
    StreamSender,
};

/// A walker whom others push. Walkers that are close push each other.
#[derive(Pack, Clone, Copy, Debug, PartialEq)]
pub(crate) struct Walker {
    #[pack(range = -512.0..512.0, precision = 1.0 / 512.0)]
    pub(crate) place: [f32; 2],
    #[pack(velocity, range = -64.0..64.0, precision = 1.0 / 256.0, clamp)]
    pub(crate) velocity: [f32; 2],
    #[pack(range = 0.0..360.0, bits = 12, wrap)]
    pub(crate) yaw_deg: f32,
    #[pack(rotation, bits = 12)]
    pub(crate) tilt: [f32; 4],
    #[pack(cut)]
    pub(crate) teleports: u8,
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
pub(crate) struct Input {
    #[pack(range = -1.0..=1.0, bits = 8)]
    pub(crate) stick: [f32; 2],
    #[pack(range = -8.0..=8.0, bits = 8)]
    pub(crate) turn_deg: f32,
}

pub(crate) const ID: EntityId = EntityId(7);
const OTHER: EntityId = EntityId(9);

/// A walker at rest, rounded: a rotation of no turn has no code.
pub(crate) fn rest() -> Walker {
    let tilt = [0.0, 0.0, 0.0, 1.0];
    let walker = Walker { place: [0.0; 2], velocity: [0.0; 2], yaw_deg: 0.0, tilt, teleports: 0 };
    walker.rounded().unwrap()
}

/// A step that depends on all states, the input and the tick.
pub(crate) fn step(walkers: &mut [Own<Walker>], input: &Input, tick: Tick) {
    let middle: f32 =
        walkers.iter().map(|own| own.state.place[0]).sum::<f32>() / walkers.len() as f32;
    for Own { state, .. } in walkers {
        for axis in 0..2 {
            state.velocity[axis] += input.stick[axis] * 0.5 - state.velocity[axis] * 0.1;
            state.place[axis] += state.velocity[axis] / 60.0;
        }
        state.place[0] += (state.place[0] - middle).clamp(-1.0, 1.0) / 64.0;
        state.yaw_deg += input.turn_deg + (tick.0 % 3) as f32;
        let [x, y, z, w] = state.tilt;
        state.tilt = [x + 0.01 * w, y, z, w];
        state.place = state.place.map(|at| at.clamp(-500.0, 500.0));
    }
}

pub(crate) fn input(tick: u32) -> Input {
    let phase = (tick % 40) as f32 / 20.0 - 1.0;
    Input { stick: [phase, 1.0 - phase.abs()], turn_deg: phase * 4.0 }
}

/// What a server has that steps with the inputs, from [`rest`] at `from` to `to`. It rounds.
fn server(from: u32, to: u32) -> Walker {
    let mut own = [Own { id: ID, state: rest() }];
    for tick in from + 1..=to {
        step(&mut own, &input(tick).rounded().unwrap(), Tick(tick));
        own[0].state = own[0].state.rounded().unwrap();
    }
    own[0].state
}

pub(crate) fn config() -> PredictConfig {
    PredictConfig::at_hz(60)
}

/// A prediction of one entity, whose first state is [`rest`] at tick 100, up to a tick.
pub(crate) fn predicted(config: PredictConfig, to: u32) -> Predicted<Walker, Input> {
    let mut predicted = Predicted::new(&Schema::of::<Walker>(), config).unwrap();
    predicted.add(ID, Tick(100), &rest(), step).unwrap();
    (101..=to).for_each(|tick| predicted.push(Tick(tick), &input(tick), step).unwrap());
    predicted
}

#[test]
fn equal_steps_need_no_corrections() {
    let mut predicted = predicted(config(), 108);
    for tick in 109..400 {
        predicted.push(Tick(tick), &input(tick), step).unwrap();
        let correction = predicted.correct(ID, Tick(tick - 8), &server(100, tick - 8), step);
        assert_eq!(correction.unwrap().outcome, Outcome::Confirmed);
        assert_eq!(predicted.state(ID), Some(server(100, tick)));
    }
    let stats = predicted.stats();
    assert_eq!((stats.inputs, stats.confirmed, stats.corrected), (299, 291, 0));
    assert_eq!(stats.repeated_ticks, 0);
}

#[test]
fn a_step_gets_the_input_that_the_server_reads() {
    let codec = StreamCodec::of::<Input>(StreamLevel::Adaptive).unwrap();
    let mut sender = StreamSender::new(&codec, StreamConfig::at_hz(60)).unwrap();
    let mut receiver = StreamReceiver::new(&codec, StreamConfig::at_hz(60)).unwrap();
    let mut predicted = predicted(config(), 100);
    for tick in (101..160).map(Tick) {
        let pushed = Input { turn_deg: 0.123_4 * (tick.0 % 7) as f32, ..input(tick.0) };
        let mut used = None;
        predicted.push(tick, &pushed, |_, input, _| used = Some(*input)).unwrap();
        sender.push_for_tick(tick, &pushed).unwrap();
        let now = Duration::from_secs(1) * tick.0 / 60;
        receiver.handle(now, sender.poll_transmit().unwrap()).unwrap();
        assert_eq!(receiver.read_for_tick::<Input>(now, tick).unwrap(), used);
        assert_ne!(used, None);
    }
}

#[test]
fn states_are_stale_confirmed_ahead_too_old_or_corrections() {
    let mut predicted = predicted(PredictConfig { history_ticks: 16, ..config() }, 130);
    let mut outcome =
        |tick, state: &Walker| predicted.correct(ID, Tick(tick), state, step).unwrap().outcome;
    let pushed = Walker { place: [3.0, 4.0], ..server(100, 120) };
    assert_eq!(outcome(114, &server(100, 114)), Outcome::TooOld);
    assert_eq!(outcome(114, &server(100, 114)), Outcome::Stale, "counted once");
    assert_eq!(outcome(115, &server(100, 115)), Outcome::Confirmed);
    assert_eq!(outcome(115, &pushed), Outcome::Stale);
    assert_eq!(outcome(120, &pushed), Outcome::Corrected);
    assert_eq!(outcome(119, &server(100, 119)), Outcome::Stale);
    assert_eq!(outcome(132, &rest()), Outcome::Ahead);
    assert_eq!(outcome(131, &rest()), Outcome::Stale);
    let unknown = predicted.correct(OTHER, Tick(131), &rest(), step);
    assert_eq!(unknown, Err(PredictError::UnknownEntity { id: OTHER }));
    predicted.push(Tick(131), &input(131), step).unwrap();
    assert_ne!(predicted.state(ID), Some(rest()));
    predicted.push(Tick(132), &input(132), step).unwrap();
    assert_eq!(predicted.state(ID), Some(rest()), "the state that was ahead");
    let stats = predicted.stats();
    assert_eq!([stats.too_old, stats.confirmed, stats.ahead, stats.corrected], [1; 4]);
}

#[test]
fn inputs_come_in_order_and_gaps_are_filled() {
    let mut predicted = predicted(PredictConfig { history_ticks: 16, ..config() }, 110);
    for tick in [100, 110] {
        let refused = predicted.push(Tick(tick), &input(1), step);
        let newest = Tick(110);
        assert_eq!(refused, Err(PredictError::NotAfter { tick: Tick(tick), newest }));
    }
    let wrong = Input { stick: [f32::NAN; 2], ..input(111) };
    let refused = predicted.push(Tick(111), &wrong, step);
    assert!(matches!(refused, Err(PredictError::Input(EncodeError::NotANumber { .. }))));
    assert_eq!(predicted.newest(), Some(Tick(110)));

    // Ticks 111 to 113 are stepped with the input for tick 110.
    predicted.push(Tick(114), &input(114), step).unwrap();
    let mut own = [Own { id: ID, state: server(100, 110) }];
    for (tick, of) in [(111, 110), (112, 110), (113, 110), (114, 114)] {
        step(&mut own, &input(of).rounded().unwrap(), Tick(tick));
        own[0].state = own[0].state.rounded().unwrap();
    }
    assert_eq!(predicted.state(ID), Some(own[0].state));
    assert_eq!((predicted.stats().filled_ticks, predicted.stats().restarts), (3, 0));

    // After a long gap, the entity has not moved.
    predicted.push(Tick(1_000), &input(1_000), step).unwrap();
    assert_eq!(predicted.state_at(ID, Tick(999)), Some(own[0].state));
    assert_eq!(predicted.state_at(ID, Tick(998)), None);
    assert_eq!((predicted.stats().filled_ticks, predicted.stats().restarts), (3, 1));
    let state = predicted.state(ID).unwrap();
    assert_eq!(
        predicted.correct(ID, Tick(1_000), &state, step).unwrap().outcome,
        Outcome::Confirmed
    );
}

#[test]
fn entities_are_added_in_the_past_the_present_and_the_future() {
    let mut predicted = predicted(config(), 120);
    assert_eq!(
        predicted.add(ID, Tick(120), &rest(), step),
        Err(PredictError::AlreadyAdded { id: ID })
    );
    predicted.add(OTHER, Tick(110), &rest(), step).unwrap();
    assert_eq!(predicted.state_at(OTHER, Tick(110)), Some(rest()));
    assert_eq!(predicted.state_at(OTHER, Tick(109)), None);
    assert_eq!(predicted.state_at(ID, Tick(110)), Some(server(100, 110)));
    assert_ne!(predicted.state(ID), Some(server(100, 120)), "the other one pushes it");
    assert!(predicted.remove(OTHER) && !predicted.remove(OTHER));

    predicted.add(EntityId(1), Tick(123), &rest(), step).unwrap();
    for tick in 121..=123 {
        assert_eq!(predicted.state(EntityId(1)), None);
        assert_eq!(predicted.shown(EntityId(1), f64::from(tick)), None);
        predicted.push(Tick(tick), &input(tick), step).unwrap();
    }
    assert_eq!(predicted.state(EntityId(1)), Some(rest()));
    predicted.add(EntityId(2), Tick(3), &rest(), step).unwrap();
    assert_eq!(predicted.state(EntityId(2)), Some(rest()), "too old, so it begins now");
    assert_eq!(predicted.state_at(EntityId(2), Tick(122)), None);
    assert!(predicted.ids().eq([1, 2, 7].map(EntityId)));
    predicted.clear();
    assert_eq!((predicted.newest(), predicted.ids().len()), (None, 0));
    predicted.add(ID, Tick(5), &rest(), step).unwrap();
    assert_eq!(predicted.newest(), Some(Tick(5)));
}

#[test]
fn a_state_that_cannot_be_sent_is_reported_and_the_rest_is_done() {
    let mut predicted = predicted(config(), 110);
    predicted.add(OTHER, Tick(110), &rest(), step).unwrap();
    let breaks = |walkers: &mut [Own<Walker>], input: &Input, tick: Tick| {
        step(walkers, input, tick);
        if tick == Tick(111) {
            walkers[0].state.place[1] = f32::NAN;
        }
    };
    let before = predicted.state(ID);
    let error = predicted.push(Tick(111), &input(111), breaks);
    assert!(matches!(error, Err(PredictError::State(EncodeError::NotANumber { .. }))), "{error:?}");
    assert_eq!(predicted.state(ID), before);
    assert_ne!(predicted.state(OTHER), Some(rest()));
    predicted.push(Tick(112), &input(112), breaks).unwrap();
    assert_eq!(predicted.stats().unquantized, 1);
    let pushed = Walker { place: [5.0; 2], ..rest() };
    let error = predicted.correct(OTHER, Tick(110), &rest(), breaks);
    assert_eq!(error.unwrap().outcome, Outcome::Stale);
    let error = predicted.correct(OTHER, Tick(111), &pushed, breaks);
    assert_eq!(error.unwrap().outcome, Outcome::Corrected, "it repeats from 112 on");
    assert_eq!(predicted.state_at(OTHER, Tick(111)), Some(pushed.rounded().unwrap()));
}

#[test]
fn settings_and_types_are_checked() {
    let refused = |config: PredictConfig| config.validate().unwrap_err();
    let at = |tick_hz| PredictConfig { tick_hz, ..config() };
    assert_eq!(refused(at(0)), PredictError::BadRate { tick_hz: 0 });
    assert_eq!(refused(at(10_001)), PredictError::BadRate { tick_hz: 10_001 });
    for ticks in [0, 1, 1_025] {
        let config = PredictConfig { history_ticks: ticks, ..config() };
        assert_eq!(refused(config), PredictError::BadHistory { ticks });
    }
    for snap_distance in [-1.0, f64::NAN] {
        let config = PredictConfig { snap_distance, ..config() };
        assert!(matches!(refused(config), PredictError::BadSnapDistance { .. }));
    }
    for tick_hz in [1, 60, 10_000] {
        assert_eq!(PredictConfig::at_hz(tick_hz).validate(), Ok(()));
    }
    let refused = Predicted::<Input, Input>::new(&Schema::of::<Walker>(), config());
    assert!(matches!(refused, Err(PredictError::State(EncodeError::TypeMismatch { .. }))));
}

#[test]
fn a_blended_correction_shifts_the_states_since() {
    let config = PredictConfig { repair: Repair::Blend, ..config() };
    let mut predicted = predicted(config, 110);
    let [at_106, before] = [106, 110].map(|tick| predicted.state_at(ID, Tick(tick)).unwrap());
    let authority = Walker {
        place: [at_106.place[0] + 1.0, at_106.place[1] - 0.5],
        yaw_deg: (at_106.yaw_deg + 90.0) % 360.0,
        ..at_106
    };
    let no_step = |_: &mut [Own<Walker>], _: &Input, _| panic!("nothing is repeated");
    let correction = predicted.correct(ID, Tick(106), &authority, no_step).unwrap();
    assert_eq!((correction.outcome, correction.repeated_ticks), (Outcome::Corrected, 4));
    assert!((correction.distance - 1.25_f64.sqrt()).abs() < 0.01, "{correction:?}");
    assert!((correction.turn_rad - 90_f64.to_radians()).abs() < 0.01, "{correction:?}");
    let after = predicted.state(ID).unwrap();
    assert_eq!(after.place, [before.place[0] + 1.0, before.place[1] - 0.5]);
    assert_eq!((after.velocity, after.tilt), (before.velocity, before.tilt));
    assert!(((after.yaw_deg - before.yaw_deg).rem_euclid(360.0) - 90.0).abs() < 0.1);
    let shown = predicted.state_at(ID, Tick(107)).unwrap();
    assert_eq!(
        predicted.correct(ID, Tick(107), &shown, no_step).unwrap().outcome,
        Outcome::Confirmed
    );

    // A turn of the authority turns the states since.
    let half = 0.5_f32.sqrt();
    let at_108 = predicted.state_at(ID, Tick(108)).unwrap();
    let turned = Walker { tilt: [0.0, 0.0, half, half], ..at_108 };
    let correction = predicted.correct(ID, Tick(108), &turned, no_step).unwrap();
    assert!(correction.turn_rad > 1.5 && correction.distance == 0.0, "{correction:?}");
}

#[test]
fn nothing_allocates_in_steady_state() {
    for repair in [Repair::Repeat, Repair::Blend] {
        let mut predicted = predicted(PredictConfig { repair, ..config() }, 110);
        predicted.add(OTHER, Tick(110), &rest(), step).unwrap();
        let counted = measure(|| {
            for tick in 111..1_000 {
                predicted.push(Tick(tick), &input(tick), step).unwrap();
                let mut state = predicted.state_at(OTHER, Tick(tick - 1)).unwrap();
                state.place[0] = (tick % 7) as f32;
                predicted.correct(OTHER, Tick(tick - 1), &state, step).unwrap();
                predicted.correct(ID, Tick(tick - 5), &rest(), step).unwrap();
                predicted.shown(ID, f64::from(tick) - 0.3).unwrap();
            }
        });
        assert_eq!(counted.count_total, 0, "{counted:?}");
        assert!(predicted.stats().corrected > 800);
    }
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Car {
    #[pack(range = -512.0..512.0, precision = 1.0 / 512.0)]
    along: f32,
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Driver {
    #[pack(range = -512.0..512.0, precision = 1.0 / 512.0)]
    along: f32,
}

/// Two kinds: the driver's step reads the car at the tick, also while it is repeated.
#[test]
fn a_prediction_may_read_another_one_of_another_kind() {
    let schema = Schema::builder().kind::<Car>("car").kind::<Driver>("driver").build().unwrap();
    let mut car = Predicted::<Car, Input>::new(&schema, config()).unwrap();
    let mut driver = Predicted::<Driver, Input>::new(&schema, config()).unwrap();
    let drive = |cars: &mut [Own<Car>], input: &Input, _| cars[0].state.along += input.stick[1];
    let ride = |car: &Predicted<Car, Input>, drivers: &mut [Own<Driver>], tick| {
        drivers[0].state.along = car.state_at(ID, tick).map_or(0.0, |car| car.along) + 0.5;
    };
    car.add(ID, Tick(100), &Car { along: 0.0 }, drive).unwrap();
    driver.add(OTHER, Tick(100), &Driver { along: 0.5 }, |_, _, _| ()).unwrap();
    for tick in 101..=110 {
        car.push(Tick(tick), &input(tick), drive).unwrap();
        driver.push(Tick(tick), &input(tick), |own, _, tick| ride(&car, own, tick)).unwrap();
    }
    let before = driver.state(OTHER).unwrap();
    let at = car.state_at(ID, Tick(104)).unwrap().along;
    let correction = car.correct(ID, Tick(104), &Car { along: at + 2.0 }, drive).unwrap();
    let ticks = correction.repeated_ticks;
    driver.repeat_last(ticks, |own, _, tick| ride(&car, own, tick)).unwrap();
    assert_eq!(driver.state(OTHER), Some(Driver { along: before.along + 2.0 }));
    assert_eq!(driver.state(OTHER).unwrap().along, car.state(ID).unwrap().along + 0.5);
    assert_eq!(driver.state_at(OTHER, Tick(104)), Some(Driver { along: at + 0.5 }));
}

#[test]
fn fades_of_zero_show_corrections_at_once() {
    let (position_fade, rotation_fade) = (Duration::ZERO, Duration::ZERO);
    let mut predicted = predicted(PredictConfig { position_fade, rotation_fade, ..config() }, 110);
    predicted.shown(ID, 109.5).unwrap();
    let pushed = Walker { place: [3.0; 2], yaw_deg: 90.0, ..rest() };
    predicted.correct(ID, Tick(105), &pushed, step).unwrap();
    assert_eq!(predicted.shown(ID, 110.0), predicted.state(ID));
}
