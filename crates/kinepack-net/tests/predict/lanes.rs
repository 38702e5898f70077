//! A prediction of lanes equals one of a type bit for bit, if the type's numbers are `f64`.

use kinepack::{EntityId, Pack, Schema, Tick};
use kinepack_net::{
    Outcome, Own, OwnLanes, PredictConfig, PredictError, Predicted, PredictedLanes, Repair,
};

use crate::support::Random;

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
enum Gait {
    Idle,
    Rides {
        #[pack(range = -8.0..8.0, precision = 1.0 / 128.0)]
        height: f64,
    },
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Rider {
    #[pack(range = -64.0..64.0, precision = 1.0 / 512.0, clamp)]
    place: [f64; 2],
    #[pack(velocity, range = -64.0..64.0, precision = 1.0 / 256.0, clamp)]
    velocity: [f64; 2],
    #[pack(range = 0.0..360.0, bits = 12, wrap)]
    yaw_deg: f64,
    #[pack(rotation, bits = 12)]
    tilt: [f64; 4],
    gait: Gait,
    #[pack(range = 0.0..=1.0, bits = 8, clamp)]
    breath: Option<f64>,
    #[pack(max = 100)]
    health: u8,
    #[pack(cut)]
    teleports: u8,
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Push {
    #[pack(range = -1.0..=1.0, bits = 8)]
    stick: [f64; 2],
    rides: bool,
}

fn step(riders: &mut [Own<Rider>], input: &Push, tick: Tick) {
    for Own { id, state } in riders {
        for axis in 0..2 {
            state.velocity[axis] += input.stick[axis] - state.velocity[axis] * 0.1;
            state.place[axis] += state.velocity[axis] / 60.0;
        }
        state.yaw_deg = (state.yaw_deg + input.stick[0] * 9.0 + f64::from(id.0)).rem_euclid(360.0);
        let [x, y, z, w] = state.tilt;
        state.tilt = [x + 0.01 * w, y, z - 0.02 * x, w];
        state.gait = match state.gait {
            Gait::Rides { height } if input.rides => Gait::Rides { height: height * 0.9 + 0.3 },
            _ if input.rides => Gait::Rides { height: 1.0 },
            _ => Gait::Idle,
        };
        state.breath = (!tick.0.is_multiple_of(5)).then(|| f64::from(tick.0 % 7) / 7.0);
        state.health = state.health.saturating_sub(u8::from(tick.0.is_multiple_of(9)));
    }
}

/// The same step on lanes.
fn lane_step(own: &mut OwnLanes<'_>, input: &[u32], tick: Tick) {
    let state = |index: usize| {
        let (id, state) = (own.ids()[index], Rider::reconstruct(own.lanes(index)));
        Own { id, state }
    };
    let mut riders: Vec<Own<Rider>> = (0..own.ids().len()).map(state).collect();
    step(&mut riders, &Push::reconstruct(input), tick);
    for (index, rider) in riders.iter().enumerate() {
        rider.state.quantize(own.lanes_mut(index)).unwrap();
    }
}

fn lanes_of(state: &impl Pack) -> Vec<u32> {
    fn lanes<T: Pack>(state: &T) -> Vec<u32> {
        let mut lanes = vec![0; T::LANES];
        state.quantize(&mut lanes).unwrap();
        lanes
    }
    lanes(state)
}

fn rider(random: &mut Random) -> Rider {
    Rider {
        place: [0; 2].map(|_| f64::from(random.unit()) * 2.0),
        velocity: [0; 2].map(|_| f64::from(random.unit()) * 4.0),
        yaw_deg: f64::from(random.unit() + 1.0) * 179.0,
        tilt: [0; 4].map(|_| f64::from(random.unit()) + 1.5),
        gait: if random.chance(2) { Gait::Rides { height: 3.0 } } else { Gait::Idle },
        breath: random.chance(2).then_some(0.5),
        health: random.below(101) as u8,
        teleports: u8::from(random.chance(6)),
    }
}

/// Makes random calls to both, and compares all results. Returns how many corrections faded.
fn run(seed: u64, repair: Repair) -> u32 {
    let (mut random, schema) = (Random::new(seed), Schema::of::<Rider>());
    let config = PredictConfig { repair, history_ticks: 24, ..PredictConfig::at_hz(60) };
    let mut typed = Predicted::<Rider, Push>::new(&schema, config).unwrap();
    let mut raw = PredictedLanes::new(&schema, 0, &Schema::of::<Push>(), config).unwrap();
    let (mut faded, mut at) = (0, 1_000.0);
    for id in [3, 1].map(EntityId) {
        let state = rider(&mut random);
        typed.add(id, Tick(1_000), &state, step).unwrap();
        raw.add(id, Tick(1_000), &lanes_of(&state), lane_step).unwrap();
    }
    for tick in 1_001..1_200 {
        let stick = [0; 2].map(|_| f64::from(random.unit()));
        let input = Push { stick, rides: random.chance(2) };
        typed.push(Tick(tick), &input, step).unwrap();
        raw.push(Tick(tick), &lanes_of(&input), lane_step).unwrap();
        if random.chance(3) {
            let id = EntityId(1 + 2 * random.below(2) as u32);
            let known = Tick(tick - random.below(12) as u32);
            let mut state = typed.state_at(id, known).unwrap_or_else(|| rider(&mut random));
            if random.chance(2) {
                let other = rider(&mut random);
                (state.yaw_deg, state.tilt) = (other.yaw_deg, other.tilt);
                state.place = [0, 1].map(|axis| state.place[axis] + other.place[axis] / 4.0);
                (state.gait, state.breath) = (other.gait, other.breath);
                state.teleports = other.teleports;
            }
            let of_type = typed.correct(id, known, &state, step).unwrap();
            let of_lanes = raw.correct(id, known, &lanes_of(&state), lane_step).unwrap();
            assert_eq!(of_type, of_lanes);
            faded += u32::from(of_type.outcome == Outcome::Corrected && !of_type.is_snapped);
        }
        at = f64::from(tick)
            - f64::from(random.unit().abs()).max(f64::from(tick) - at - 1.0).min(1.0);
        for id in [1, 3].map(EntityId) {
            let state = typed.shown(id, at).unwrap();
            let mut expected = vec![0; Rider::LANES];
            state.store_raw(&mut expected).unwrap();
            assert_eq!(raw.shown(id, at).unwrap(), expected, "{state:?} at {at}");
            let known = raw.lanes_at(id, Tick(tick)).map(Rider::reconstruct);
            assert_eq!(known, typed.state(id));
        }
    }
    assert_eq!(typed.stats(), raw.stats());
    faded
}

#[test]
fn lanes_and_types_give_the_same_bits() {
    for repair in [Repair::Repeat, Repair::Blend] {
        let faded: u32 = (0..6).map(|seed| run(seed, repair)).sum();
        assert!(faded > 60, "{faded} corrections faded");
    }
}

#[test]
fn wrong_lanes_and_kinds_are_refused_and_change_nothing() {
    let (schema, inputs) = (Schema::of::<Rider>(), Schema::of::<Push>());
    let config = PredictConfig::at_hz(60);
    let no_kind = PredictedLanes::new(&schema, 1, &inputs, config);
    assert!(matches!(no_kind, Err(PredictError::NoSuchKind { kind: 1 })));
    let mut raw = PredictedLanes::new(&schema, 0, &inputs, config).unwrap();
    let lanes = lanes_of(&rider(&mut Random::new(1)));
    let id = EntityId(1);
    let short = raw.add(id, Tick(5), &lanes[1..], lane_step);
    assert!(matches!(short, Err(PredictError::State(_))) && raw.newest().is_none());
    raw.add(id, Tick(5), &lanes, lane_step).unwrap();
    assert!(matches!(
        raw.add(id, Tick(5), &lanes, lane_step),
        Err(PredictError::AlreadyAdded { .. })
    ));
    assert!(matches!(raw.push(Tick(6), &[0], lane_step), Err(PredictError::Input(_))));
    assert!(matches!(raw.push(Tick(5), &[0; 3], lane_step), Err(PredictError::NotAfter { .. })));
    assert_eq!((raw.newest(), raw.stats().inputs), (Some(Tick(5)), 0));
    let refused =
        raw.push(Tick(6), &lanes_of(&Push { stick: [0.0; 2], rides: true }), |own, _, _| {
            own.lanes_mut(0)[0] += 1;
            own.refuse(0, kinepack::EncodeError::LaneCount { expected_lanes: 0, lanes: 1 });
        });
    assert!(matches!(refused, Err(PredictError::State(_))));
    assert_eq!(raw.lanes_at(id, Tick(6)), Some(&lanes[..]), "it keeps its state");
    assert_eq!(raw.stats().unquantized, 1);
    assert!(raw.remove(id) && !raw.remove(id));
}
