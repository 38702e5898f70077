//! Tests of the state between two states: every kind of field, both ends, and arbitrary lanes.

#![cfg(feature = "derive")]
mod hermite;

use core::f64::consts::TAU;

use allocation_counter::measure;
use hermite::thrown;
use kinepack::quantize::FloatLimits;
use kinepack::schema::{Field, FieldKind, PackWith};
use kinepack::{Between, EncodeError, EntityId, Pack, Schema, Snapshot, Tick};

use crate::support::Random;

/// Returns a point in time with a ratio but without seconds.
fn at(ratio: f32) -> Between {
    Between { ratio, seconds: 0.0 }
}

fn lanes<T: Pack>(state: &T) -> Vec<u32> {
    let mut lanes = vec![0; T::LANES];
    state.quantize(&mut lanes).unwrap();
    lanes
}

/// Interpolates between two states that were quantized and reconstructed.
fn between<T: Pack>(from: &T, to: &T, at: Between) -> T {
    T::interpolate(&lanes(from), &lanes(to), at)
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
enum Weapon {
    Sword,
    Bow,
    Staff,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Part {
    #[pack(range = -8.0..=8.0, precision = 0.5)]
    length: f32,
    on: bool,
}

/// Packs metres as whole decimetres.
#[derive(Clone, Debug, Default, PartialEq)]
struct Meters(f64);

struct Decimetres;

impl PackWith<Meters> for Decimetres {
    const LANES: usize = 1;

    fn fields(path: &str, fields: &mut Vec<Field>) {
        fields.push(Field::new(
            path,
            FieldKind::Floats(vec![FloatLimits::new(0.0, 100.0, 0.1).unwrap()]),
        ));
    }

    fn quantize(value: &Meters, lanes: &mut [u32]) -> Result<(), EncodeError> {
        lanes[0] = (value.0 * 10.0) as u32;
        Ok(())
    }

    fn reconstruct(lanes: &[u32]) -> Meters {
        Meters(f64::from(lanes[0]) / 10.0)
    }

    fn interpolate(from: &[u32], to: &[u32], at: Between) -> Meters {
        Meters(at.linear(Self::reconstruct(from).0, Self::reconstruct(to).0))
    }
}

/// A struct with a field of every kind.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Thing {
    #[pack(range = [-64.0..=64.0, 0.0..8.0], precision = 0.125)]
    place: [f32; 2],
    #[pack(velocity, range = -16.0..=16.0, precision = 0.125)]
    speed: [f32; 2],
    #[pack(range = 0.1..0.9, bits = 7)]
    fuel: f64,
    #[pack(range = 0.0..360.0, bits = 12, wrap)]
    yaw: f32,
    #[pack(rotation, bits = 9)]
    orientation: [f32; 4],
    raw: f32,
    raws: [f64; 2],
    #[pack(step)]
    frozen: f32,
    #[pack(step, range = 0.0..=1.0, bits = 4)]
    frozen_range: f32,
    #[pack(step, rotation, bits = 5)]
    frozen_rotation: [f64; 4],
    #[pack(max = 100, step)]
    teleports: u8,
    serial: u64,
    on: bool,
    weapon: Weapon,
    part: Part,
    parts: [Part; 2],
    #[pack(with = Decimetres)]
    height: Meters,
    #[pack(skip)]
    note: String,
}

fn things() -> [Thing; 2] {
    let part = |length, on| Part { length, on };
    let first = Thing {
        place: [-4.0, 2.0],
        speed: [1.0, 0.0],
        fuel: 0.1,
        yaw: 315.0,
        orientation: [0.0, 0.0, 0.0, 1.0],
        raw: 1.5,
        raws: [-1.0e300, 7.0],
        frozen: 1.0,
        frozen_range: 0.2,
        frozen_rotation: [1.0, 0.0, 0.0, 0.0],
        teleports: 1,
        serial: 1 << 40,
        on: false,
        weapon: Weapon::Sword,
        part: part(1.0, true),
        parts: [part(-1.0, false), part(8.0, true)],
        height: Meters(1.0),
        note: String::new(),
    };
    let second = Thing {
        place: [4.0, 6.0],
        yaw: 45.0,
        raw: 2.5,
        raws: [1.0e300, 7.0],
        frozen: 2.0,
        frozen_range: 0.8,
        frozen_rotation: [0.0, 1.0, 0.0, 0.0],
        teleports: 3,
        serial: 1 << 41,
        on: true,
        weapon: Weapon::Staff,
        part: part(2.0, false),
        parts: [part(1.0, true), part(8.0, true)],
        height: Meters(3.0),
        ..first.clone()
    };
    [first, second]
}

#[test]
fn every_kind_of_field() {
    let [first, second] = things();
    let quarter = between(&first, &second, at(0.25));
    assert_eq!((quarter.place, quarter.raw, quarter.raws), ([-2.0, 3.0], 1.75, [-0.5e300, 7.0]));
    assert_eq!(quarter.yaw, 337.5);
    assert_eq!(
        (quarter.part.length, quarter.parts[0].length, quarter.parts[1].length),
        (1.25, -0.5, 8.0)
    );
    assert_eq!(quarter.height, Meters(1.5));
    // All fields without a special rule keep the first value until the ratio reaches 1.
    let reached = Thing::reconstruct(&lanes(&first));
    let moving = Thing {
        place: quarter.place,
        yaw: quarter.yaw,
        raw: quarter.raw,
        raws: quarter.raws,
        part: Part { length: 1.25, ..reached.part },
        parts: [Part { length: -0.5, ..reached.parts[0].clone() }, reached.parts[1].clone()],
        height: Meters(1.5),
        ..reached
    };
    assert_eq!(quarter, moving);
    assert_eq!(between(&first, &second, at(0.999_999_94)).teleports, 1);
}

#[test]
fn a_ratio_without_a_moment_gives_the_nearer_end() {
    let [first, second] = things().map(|thing| lanes(&thing));
    for (ratio, end) in
        [(-1.0, &first), (f32::NEG_INFINITY, &first), (f32::NAN, &first), (f32::INFINITY, &second)]
    {
        assert_eq!(
            Thing::interpolate(&first, &second, at(ratio)),
            Thing::reconstruct(end),
            "{ratio}"
        );
    }
}

#[test]
fn any_lanes_and_ratios_give_values_within_limits_and_exact_ends() {
    let schema = Schema::of::<Thing>();
    let mut random = Random::new(7);
    for _ in 0..20_000 {
        let [from, mut to]: [Vec<u32>; 2] = core::array::from_fn(|_| {
            schema.lanes().iter().map(|lane| random.up_to(lane.max)).collect()
        });
        if random.one_in(8) {
            to.clone_from(&from);
        }
        let seconds = [0.1, 1.0e30, -1.0, f32::INFINITY, f32::NAN][random.below(5) as usize];
        let beyond = 1.0 + random.unit().abs() * 16.0;
        let ratios = [f32::MIN_POSITIVE, 1.0 - f32::EPSILON / 2.0, 1.0 + f32::EPSILON, f32::MAX];
        let ratio =
            [&[random.unit().abs(), beyond], &ratios[..]].concat()[random.below(6) as usize];
        let thing = Thing::interpolate(&from, &to, Between { ratio, seconds });
        assert!(
            (-64.0..=64.0).contains(&thing.place[0]) && (0.0..8.0).contains(&thing.place[1]),
            "{thing:?}"
        );
        assert!(thing.speed.iter().all(|speed| (-16.0..=16.0).contains(speed)), "{thing:?}");
        assert!((0.1..0.9).contains(&thing.fuel) && (0.0..360.0).contains(&thing.yaw), "{thing:?}");
        assert!(
            (0.0..=1.0).contains(&thing.frozen_range) && thing.part.length.abs() <= 8.0,
            "{thing:?}"
        );
        let length: f32 = thing.orientation.iter().map(|component| component * component).sum();
        assert!((length - 1.0).abs() < 1e-6, "{thing:?}");
        let (start, end) = (Thing::reconstruct(&from), Thing::reconstruct(&to));
        assert!(thing.raw.is_finite() || !start.raw.is_finite() || !end.raw.is_finite());
        // Compares lanes, because a NaN does not equal itself. If lanes are not exact, compares
        // values.
        for (ratio, reached) in [(0.0, &start), (1.0, &end)] {
            let thing = Thing::interpolate(&from, &to, Between { ratio, seconds });
            assert_eq!(lanes(&thing), lanes(reached));
            assert_eq!(
                (thing.place, thing.orientation, thing.yaw),
                (reached.place, reached.orientation, reached.yaw)
            );
        }
        if from == to {
            assert_eq!(
                (thing.fuel, thing.yaw, thing.orientation),
                (start.fuel, start.yaw, start.orientation)
            );
        }
    }
}

#[test]
fn beyond_the_second_state_motion_continues_straight() {
    let [first, second] = things();
    let beyond = between(&first, &second, at(1.25));
    assert_eq!((beyond.place, beyond.raw, beyond.raws), ([6.0, 7.0], 2.75, [1.5e300, 7.0]));
    assert_eq!((beyond.yaw, beyond.height), (67.5, Meters(3.5)));
    assert_eq!((beyond.part.length, beyond.parts[1].length), (2.25, 8.0));
    // The rest is that of the second state.
    assert_eq!((beyond.teleports, beyond.serial, beyond.on), (3, 1 << 41, true));
    assert_eq!((beyond.weapon, beyond.frozen), (Weapon::Staff, 2.0));
    // The velocity of the second state counts, and holds.
    let moving = Thing { speed: [-2.0, 4.0], ..second.clone() };
    let beyond = between(&first, &moving, Between { ratio: 3.0, seconds: 0.25 });
    assert_eq!((beyond.place, beyond.speed), ([3.0, 8.0 - 0.125], [-2.0, 4.0]));

    let turned = |degrees: f32| {
        let half = degrees.to_radians() / 2.0;
        Thing { orientation: [0.0, half.sin(), 0.0, half.cos()], ..first.clone() }
    };
    let beyond = between(&turned(10.0), &turned(20.0), at(4.0));
    let expected = turned(50.0).orientation;
    let dot: f32 = beyond.orientation.iter().zip(expected).map(|(a, b)| a * b).sum();
    assert!(dot > 0.999_9, "{:?}", beyond.orientation);
    assert_eq!(Between { ratio: 2.0, seconds: 0.5 }.within(), Between { ratio: 1.0, seconds: 0.5 });
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Raw {
    single: f32,
    double: f64,
}

#[test]
fn without_limits_huge_numbers_blend_and_infinities_step() {
    let low = Raw { single: f32::MIN, double: f64::MIN };
    let high = Raw { single: f32::MAX, double: f64::MAX };
    assert_eq!(between(&low, &high, at(0.5)), Raw { single: 0.0, double: 0.0 });
    let none = Raw { single: f32::NAN, double: f64::INFINITY };
    assert_eq!(between(&high, &none, at(0.5)), high);
    assert_eq!(between(&none, &high, at(0.5)).double, f64::INFINITY);
    let signalling = Raw { single: f32::from_bits(0x7f80_0001), double: -0.0 };
    assert_eq!(lanes(&between(&signalling, &high, at(0.0))), lanes(&signalling));
}

/// A struct with an angle in each form that rounds differently at its end.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Angles {
    #[pack(range = -core::f32::consts::PI..core::f32::consts::PI, bits = 16, wrap)]
    yaw: f32,
    #[pack(range = 0.0..360.0, precision = 0.1, wrap)]
    degrees: f64,
}

#[test]
fn angles_go_the_short_way_round_and_stay_in_their_range() {
    let angles = |degrees: f64| Angles { yaw: degrees.to_radians() as f32, degrees };
    for (from, to, turn) in
        [(350.0, 20.0, 30.0), (20.0, 350.0, -30.0), (10.0, 170.0, 160.0), (0.0, 180.0, 180.0)]
    {
        for step in 0..=64 {
            let ratio = step as f32 / 64.0;
            let there = between(&angles(from), &angles(to), at(ratio));
            let wanted = from + turn * f64::from(ratio);
            let off = |degrees: f64| ((degrees - wanted + 540.0).rem_euclid(360.0) - 180.0).abs();
            // At half a turn both ways are equally long, and the rounding of a code decides which
            // way is taken.
            assert!(off(there.degrees) < 1e-9, "{from} {to} {ratio} {there:?}");
            assert!(
                turn == 180.0 || off(f64::from(there.yaw).to_degrees()) < 0.01,
                "{from} {to} {ratio} {there:?}"
            );
            assert!((0.0..360.0).contains(&there.degrees));
        }
    }
    // The angle is so close to the end that `f32` rounds it to the end.
    let (before, after) = (Angles::reconstruct(&[u32::MAX, 3599]), Angles::reconstruct(&[0, 0]));
    let there = between(&before, &after, at(1.0 - f32::EPSILON));
    assert!(there.yaw == -core::f32::consts::PI && there.degrees > 359.99);
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Turn {
    #[pack(rotation, bits = 20)]
    q: [f64; 4],
}

/// Makes a turn about a skew axis.
fn turn(degrees: f64) -> Turn {
    let (sine, cosine) = (degrees.to_radians() / 2.0).sin_cos();
    Turn { q: [sine * 2.0 / 7.0, sine * 3.0 / 7.0, sine * -6.0 / 7.0, cosine] }
}

fn angle_deg(a: &Turn, b: &Turn) -> f64 {
    let sum =
        |sign: f64| a.q.iter().zip(&b.q).map(|(a, b)| (a + sign * b).powi(2)).sum::<f64>().sqrt();
    4.0 * (sum(1.0).min(sum(-1.0)) / 2.0).asin().to_degrees()
}

#[test]
fn rotations_take_the_shorter_turn_at_constant_speed() {
    // Different components are dropped along the turn, so the signs of the reconstructed
    // quaternions differ. The last two rotations are almost equal.
    for (from, to) in [
        (0.0, 90.0),
        (10.0, -150.0),
        (100.0, 250.0),
        (170.0, 349.0),
        (-300.0, 20.0),
        (30.0, 30.001),
    ] {
        let [first, second] = [turn(from), turn(to)].map(|turn| Turn::reconstruct(&lanes(&turn)));
        let total_deg = angle_deg(&first, &second);
        let shorter_deg = ((to - from + 180.0).rem_euclid(360.0) - 180.0).abs();
        assert!((total_deg - shorter_deg).abs() < 1e-3, "{from} {to} {total_deg}");
        for step in 0..=32 {
            let ratio = step as f32 / 32.0;
            let there = between(&first, &second, at(ratio));
            assert!((there.q.iter().map(|c| c * c).sum::<f64>() - 1.0).abs() < 1e-7);
            let shares = [angle_deg(&first, &there), angle_deg(&there, &second)]
                .map(|angle| angle / total_deg);
            let bound = 1e-5 / total_deg + 1e-9;
            assert!((shares[0] - f64::from(ratio)).abs() < bound, "{from} {to} {ratio} {shares:?}");
            assert!(
                (shares[1] - f64::from(1.0 - ratio)).abs() < bound,
                "{from} {to} {ratio} {shares:?}"
            );
        }
    }
    let [first, second] = [turn(20.0), turn(80.0)];
    let negative = Turn { q: second.q.map(|component| -component) };
    assert_eq!(between(&first, &second, at(0.3)), between(&first, &negative, at(0.3)));
}

#[derive(Clone, Debug, PartialEq)]
struct ByHand(u32);

impl Pack for ByHand {
    const LANES: usize = 1;

    fn fields(path: &str, fields: &mut Vec<Field>) {
        u32::fields(path, fields);
    }

    fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
        self.0.quantize(lanes)
    }

    fn reconstruct(lanes: &[u32]) -> Self {
        Self(lanes[0])
    }
}

#[test]
fn a_hand_written_type_steps() {
    assert_eq!(
        [0.0, 0.99, 1.0].map(|ratio| ByHand::interpolate(&[1], &[2], at(ratio)).0),
        [1, 1, 2]
    );
}

#[test]
fn snapshots_find_the_lanes() {
    fn check<T: Pack + PartialEq + core::fmt::Debug>([from, to]: [T; 2]) -> u64 {
        let schema = Schema::of::<T>();
        let mut snapshots = [Snapshot::new(&schema, Tick(0)), Snapshot::new(&schema, Tick(6))];
        snapshots[0].push(EntityId(5), &from).unwrap();
        snapshots[1].push(EntityId(1), &from).unwrap();
        snapshots[1].push(EntityId(5), &to).unwrap();
        let middle = Between { ratio: 0.5, seconds: 0.1 };
        let wanted = between(&from, &to, middle);
        let counted = measure(|| {
            let there: T = snapshots[0].interpolate_at_index(0, &snapshots[1], 1, middle).unwrap();
            assert_eq!(there, wanted);
        });
        let other = snapshots[0].interpolate::<ByHand>(EntityId(5), &snapshots[1], middle);
        let [expected_hash, hash] = [schema.hash(), Schema::of::<ByHand>().hash()];
        assert_eq!(other, Err(EncodeError::TypeMismatch { id: Some(5), expected_hash, hash }));
        let foreign = Snapshot::new(&Schema::of::<ByHand>(), Tick(0));
        let mismatch = EncodeError::SchemaMismatch {
            expected_hash: schema.hash(),
            hash: foreign.schema_hash(),
        };
        assert_eq!(
            snapshots[0].interpolate_at_index::<T>(0, &foreign, 0, middle),
            Err(mismatch.clone())
        );
        assert_eq!(snapshots[0].interpolate::<T>(EntityId(5), &foreign, middle), Err(mismatch));
        counted.count_total
    }
    assert_eq!(check([thrown(0.0), thrown(1.0)]), 0, "up to 64 lanes there is no allocation");
    assert_eq!(check([[0.0f32; 65], [1.0; 65]]), 2);
}

#[test]
fn a_full_turn_of_an_angle_is_no_turn() {
    let yaw = |yaw: f64| Angles { yaw: yaw as f32, degrees: 0.0 };
    assert_eq!(
        between(&yaw(1.0), &yaw(1.0 + TAU), at(0.5)).yaw,
        Angles::reconstruct(&lanes(&yaw(1.0))).yaw
    );
}
