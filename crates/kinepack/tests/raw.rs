//! Tests of state before quantization: raw words quantize to the same lanes as the state, and hold
//! the state exactly.

use kinepack::quantize::FloatLimits;
use kinepack::schema::{Field, FieldKind, PackWith, Role, Share};
use kinepack::{Between, Bytes, BytesUpTo, EncodeError, Pack, Schema, SetupError};

#[derive(Clone, Copy, Debug, PartialEq, Pack)]
enum Gear {
    Reverse,
    Neutral,
    Forward,
}

#[derive(Clone, Copy, Debug, PartialEq, Pack)]
struct Wheel {
    #[pack(range = 0.0..360.0, precision = 0.5, wrap)]
    angle: f32,
    flat: bool,
}

struct Decimetres;

fn decimetres() -> FloatLimits {
    FloatLimits::new(0.0, 100.0, 0.1).expect("limits")
}

impl PackWith<f64> for Decimetres {
    const LANES: usize = 1;

    fn fields(path: &str, fields: &mut Vec<Field>) {
        fields.push(Field::new(path, FieldKind::Floats(vec![decimetres()])));
    }

    fn quantize(value: &f64, lanes: &mut [u32]) -> Result<(), EncodeError> {
        lanes[0] = decimetres().quantize(*value)?;
        Ok(())
    }

    fn reconstruct(lanes: &[u32]) -> f64 {
        decimetres().reconstruct(lanes[0])
    }
}

#[derive(Clone, Debug, PartialEq, Pack)]
struct Car {
    #[pack(range = [-100.0..100.0, -100.0..=100.0, 0.0..32.0], precision = 0.01)]
    position: [f64; 3],
    #[pack(rotation, bits = 9)]
    orientation: [f32; 4],
    #[pack(range = -8.0..8.0, bits = 10, clamp)]
    speed: f32,
    wheels: [Wheel; 2],
    gear: Gear,
    #[pack(range = -20..=100)]
    health: i8,
    #[pack(range = 5..=1_000_000_000_000, clamp)]
    score: u64,
    id: u64,
    offset: i64,
    small: i16,
    heat: [f32; 2],
    time: f64,
    #[pack(with = Bytes)]
    key: [u8; 3],
    #[pack(with = BytesUpTo<4>)]
    name: Vec<u8>,
    #[pack(with = Decimetres)]
    height: f64,
    #[pack(skip)]
    mesh: u32,
}

fn car() -> Car {
    Car {
        position: [1.0 / 3.0, -99.999, 31.99],
        orientation: [0.1, -0.2, 0.3, 0.9],
        speed: 1.0 / 7.0,
        wheels: [Wheel { angle: 359.9, flat: false }, Wheel { angle: -1.0, flat: true }],
        gear: Gear::Forward,
        health: -3,
        score: 1 << 35,
        id: u64::MAX,
        offset: i64::MIN,
        small: -1234,
        heat: [f32::from_bits(0x7fc0_1234), -0.0],
        time: f64::from_bits(0xfff8_0000_dead_beef),
        key: [1, 0, 255],
        name: vec![7, 8],
        height: 12.34,
        mesh: 0,
    }
}

fn raw<T: Pack>(state: &T) -> Result<Vec<u64>, EncodeError> {
    let mut raw = vec![u64::MAX; T::LANES];
    state.store_raw(&mut raw).map(|()| raw)
}

fn raw_of<T: Pack>(state: &T) -> Vec<u64> {
    raw(state).expect("a state that has raw words")
}

fn lanes_of<T: Pack>(state: &T) -> Vec<u32> {
    let mut lanes = vec![0; T::LANES];
    state.quantize(&mut lanes).expect("a state within its limits");
    lanes
}

#[test]
fn raw_words_quantize_to_the_lanes_of_the_state() {
    let schema = Schema::of::<Car>();
    let mut lanes = vec![0; Car::LANES];
    assert_eq!(schema.quantize_raw(&raw_of(&car()), &mut lanes), Ok(true));
    assert_eq!(lanes, lanes_of(&car()));
}

#[test]
fn raw_words_hold_numbers_exactly() {
    let raw = raw_of(&car());
    let schema = Schema::of::<Car>();
    let of = |name: &str| {
        let field = schema.fields().iter().find(|field| field.name == name).unwrap();
        raw[field.lanes()].to_vec()
    };
    assert_eq!(of("position"), [1.0 / 3.0, -99.999, 31.99].map(f64::to_bits));
    assert_eq!(of("orientation"), [0.1_f32, -0.2, 0.3, 0.9].map(|c| f64::from(c).to_bits()));
    assert_eq!(of("health"), [-3_i64 as u64]);
    assert_eq!(of("score"), [1 << 35, 0]);
    assert_eq!((of("id"), of("offset")), (vec![u64::MAX, 0], vec![i64::MIN as u64, 0]));
    assert_eq!(of("small"), [-1234_i64 as u64]);
    assert_eq!(of("heat"), [0x7fc0_1234, 0x8000_0000]);
    assert_eq!(of("time"), [0xdead_beef, 0xfff8_0000]);
    assert_eq!((of("gear"), of("wheels[1].flat"), of("key")), (vec![2], vec![1], vec![1, 0, 255]));
    assert_eq!((of("name.len"), of("name")), (vec![2], vec![7, 8, 0, 0]));
    // If a type gives only its lanes, its raw words are reconstructed from them.
    assert_eq!(of("height"), [12.3_f64.to_bits()]);
}

#[test]
fn lanes_come_back_through_raw_words() {
    let schema = Schema::of::<Car>();
    let (lanes, mut raw, mut again) = (lanes_of(&car()), vec![0; Car::LANES], vec![0; Car::LANES]);
    schema.reconstruct_raw(&lanes, &mut raw).unwrap();
    assert_eq!(schema.quantize_raw(&raw, &mut again), Ok(true));
    assert_eq!(again, lanes);
}

#[test]
fn a_value_out_of_range_takes_the_nearest_end_and_is_reported() {
    let schema = Schema::of::<Car>();
    let quantized = |car: &Car| {
        let mut lanes = vec![0; Car::LANES];
        let is_within = schema.quantize_raw(&raw_of(car), &mut lanes).unwrap();
        (is_within, Car::reconstruct(&lanes))
    };
    let (is_within, car_far) = quantized(&Car { position: [0.0, 200.0, 0.0], ..car() });
    assert!(!is_within && car_far.position[1] == 100.0);
    // Quantizing the state itself clamps silently, but a reader of a capture must learn about
    // clamped values.
    let (is_within, fast) = quantized(&Car { speed: -9.0, ..car() });
    assert!(!is_within && fast.speed == -8.0);
    let (is_within, low) = quantized(&Car { score: 1, ..car() });
    assert!(!is_within && low.score == 5);
    let (is_within, low) = quantized(&Car { health: -21, ..car() });
    assert!(!is_within && low.health == -20);
    // These words are arbitrary.
    let mut raw = raw_of(&car());
    let gear = schema.fields().iter().position(|field| field.name == "gear").unwrap();
    raw[schema.fields()[gear].lanes().start] = 1 << 40;
    let mut lanes = vec![0; Car::LANES];
    assert_eq!(schema.quantize_raw(&raw, &mut lanes), Ok(false));
    assert_eq!(Car::reconstruct(&lanes).gear, Gear::Forward);
}

#[derive(Clone, Copy, Debug, PartialEq, Pack)]
struct Kite {
    #[pack(range = -100.0..100.0, precision = 0.01)]
    position: [f64; 3],
    #[pack(range = -64.0..64.0, precision = 0.01, velocity = position)]
    velocity: [f64; 3],
    #[pack(range = 0.0..360.0, precision = 0.5, wrap)]
    heading: f64,
    #[pack(rotation, bits = 12)]
    orientation: [f64; 4],
    knots: u8,
}

#[test]
fn interpolation_agrees_with_the_type() {
    let schema = Schema::of::<Kite>();
    let begin = Kite {
        position: [1.0, 2.0, 3.0],
        velocity: [10.0, 0.0, -4.0],
        heading: 350.0,
        orientation: [0.0, 0.0, 0.0, 1.0],
        knots: 3,
    };
    let end = Kite {
        position: [3.0, 2.0, 1.0],
        velocity: [-10.0, 5.0, 0.0],
        heading: 20.0,
        orientation: [0.6, 0.0, 0.0, 0.8],
        knots: 4,
    };
    let (from, to) = (lanes_of(&begin), lanes_of(&end));
    for ratio in [-1.0, 0.0, 0.25, 0.5, 0.99, 1.0, 2.0, f32::NAN] {
        for (from, to) in [(&from, &to), (&to, &from), (&from, &from)] {
            let at = Between { ratio, seconds: 0.5 };
            let mut raw = vec![0; Kite::LANES];
            schema.interpolate_raw(from, to, at, &mut raw).unwrap();
            let expected = raw_of(&Kite::interpolate(from, to, at));
            for (index, (found, expected)) in raw.iter().zip(&expected).enumerate() {
                let (number, wanted) = (f64::from_bits(*found), f64::from_bits(*expected));
                assert!(
                    found == expected || (number - wanted).abs() < 1e-12,
                    "word {index} at {ratio}: {number}, {wanted}"
                );
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Pack)]
enum Mount {
    None,
    Rope {
        #[pack(range = 0.0..32.0, precision = 0.25)]
        length: f64,
    },
    Rail(#[pack(range = 0.0..32.0, precision = 0.25)] f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Pack)]
struct Tethered {
    kite: Kite,
    mount: Mount,
    #[pack(range = -1.0..=1.0, bits = 8)]
    torn: Option<f64>,
}

/// A state that depends on the seed, with all variants.
fn tethered(seed: u32) -> Tethered {
    let number = |nth: u32| f64::from((seed + nth).wrapping_mul(2_654_435_761) >> 8) / 16_777_216.0;
    let signed = |nth: u32| number(nth) * 2.0 - 1.0;
    Tethered {
        kite: Kite {
            position: [1, 2, 3].map(|nth| signed(nth) * 99.0),
            velocity: [4, 5, 6].map(|nth| signed(nth) * 60.0),
            heading: number(7) * 359.0,
            orientation: [8, 9, 10, 11].map(signed),
            knots: seed as u8,
        },
        mount: match seed % 3 {
            0 => Mount::None,
            1 => Mount::Rope { length: number(12) * 30.0 },
            _ => Mount::Rail(number(13) * 30.0),
        },
        torn: seed.is_multiple_of(2).then(|| signed(14)),
    }
}

#[test]
fn displacement_gives_the_bits_of_the_type() {
    let schema = Schema::of::<Tethered>();
    let [mut moved, mut changed] = [0; 2];
    for seed in 0..600 {
        // Every fourth time, all states have the same parts.
        let seeds =
            if seed % 4 == 0 { [seed, seed + 6, seed + 12] } else { [seed, seed + 1, seed + 3] };
        let [mut now, from, to] = seeds.map(tethered);
        let [mut raw, raw_from, raw_to] = [now, from, to].map(|state| raw_of(&state));
        let ratio = f64::from(seed % 7) - 2.5;
        let share = Share { position_ratio: ratio, rotation_ratio: ratio / 2.0 };
        let before = now;
        now.displace(&from, &to, share);
        schema.displace_raw(&mut raw, &raw_from, &raw_to, share).unwrap();
        assert_eq!(raw, raw_of(&now), "seed {seed}: {before:?} to {now:?}");
        moved += u32::from(now.mount != before.mount);
        changed += u32::from(now.torn != before.torn);
    }
    assert!(moved > 50 && changed > 50, "{moved} and {changed} of the optional parts moved");
    let mut raw = raw_of(&tethered(0));
    let (short, state) = (raw[1..].to_vec(), raw.clone());
    assert!(schema.displace_raw(&mut raw, &state, &short, Share::WHOLE).is_err());
    assert_eq!(raw, state);
}

#[test]
fn values_without_lanes_are_refused() {
    let schema = Schema::of::<Car>();
    let mut lanes = vec![0; Car::LANES];
    let nan = raw_of(&Car { speed: f32::NAN, ..car() });
    assert!(matches!(schema.quantize_raw(&nan, &mut lanes), Err(EncodeError::NotANumber { .. })));
    let still = raw_of(&Car { orientation: [0.0; 4], ..car() });
    assert!(matches!(schema.quantize_raw(&still, &mut lanes), Err(EncodeError::NotANumber { .. })));
    assert!(raw(&Car { name: vec![0; 5], ..car() }).is_err());
    let raw = raw_of(&car());
    assert!(matches!(
        schema.quantize_raw(&raw[1..], &mut lanes),
        Err(EncodeError::LaneCount { .. })
    ));
    assert!(matches!(
        schema.quantize_raw(&raw, &mut lanes[1..]),
        Err(EncodeError::LaneCount { .. })
    ));
}

fn whole() -> FloatLimits {
    FloatLimits::new(0.0, 10.0, 1.0).expect("limits")
}

/// This type's `Pack` is written by hand, without `store_raw`.
struct ByHand(f32);

impl Pack for ByHand {
    const LANES: usize = 1;

    fn fields(path: &str, fields: &mut Vec<Field>) {
        let limits = whole();
        fields.push(Field::new(path, FieldKind::Floats(vec![limits])).with_role(Role::Plain));
    }

    fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
        lanes[0] = whole().quantize(self.0.into())?;
        Ok(())
    }

    fn reconstruct(lanes: &[u32]) -> Self {
        Self(lanes[0] as f32)
    }

    fn interpolate(from: &[u32], to: &[u32], at: Between) -> Self {
        Self::reconstruct(at.step(from, to))
    }
}

#[test]
fn a_type_that_gives_only_its_lanes_has_their_words() {
    assert_eq!(raw_of(&ByHand(3.4)), [3.0_f64.to_bits()]);
    assert!(raw(&ByHand(11.0)).is_err());
}

#[test]
fn limits_come_back_from_their_parts() {
    let limits = [
        FloatLimits::new(-1.0, 1.0, 0.3).unwrap(),
        FloatLimits::until(-256.0, 256.0, 1.0 / 512.0).unwrap().for_f32().unwrap(),
        FloatLimits::until_with_bits(0.0, 360.0, 16).unwrap().wrapping(),
        FloatLimits::with_bits(-32.0, 32.0, 32).unwrap(),
        FloatLimits::new(5.0, 5.0, 1.0).unwrap(),
        FloatLimits::new(-1e300, 1e300, 1e299).unwrap(),
    ];
    for limits in limits {
        assert_eq!(FloatLimits::from_parts(limits.parts()), Ok(limits));
    }
    let parts = limits[0].parts();
    for bad in [
        kinepack::quantize::FloatParts { step: 0.0, ..parts },
        kinepack::quantize::FloatParts { step: f64::NAN, ..parts },
        kinepack::quantize::FloatParts { max: -2.0, ..parts },
        kinepack::quantize::FloatParts { min: f64::NEG_INFINITY, ..parts },
        kinepack::quantize::FloatParts { highest: 2.0, ..parts },
        kinepack::quantize::FloatParts { max_code: 70, ..parts },
    ] {
        assert!(matches!(
            FloatLimits::from_parts(bad),
            Err(SetupError::EmptyRange | SetupError::BadPrecision | SetupError::PartsDiffer)
        ));
    }
}

/// A schema's hash covers only the range and the step, so limits with another largest code would
/// have the same hash.
#[test]
fn limits_whose_largest_code_does_not_follow_from_range_and_step_are_refused() {
    for limits in [
        FloatLimits::new(-1.0, 1.0, 0.3).unwrap(),
        FloatLimits::until(-256.0, 256.0, 1.0 / 512.0).unwrap(),
        FloatLimits::new(5.0, 5.0, 1.0).unwrap(),
    ] {
        let parts = limits.parts();
        for max_code in [parts.max_code + 1, parts.max_code.wrapping_sub(1)] {
            let other = kinepack::quantize::FloatParts { max_code, ..parts };
            assert_eq!(FloatLimits::from_parts(other), Err(SetupError::PartsDiffer), "{other:?}");
        }
    }
}
