//! Tests of `#[derive(Pack)]`: every attribute on every kind of field, the resulting lanes, and the
//! schema's hash.

#![cfg(feature = "derive")]
// The derived code must pass the lints of strict crates.
#![deny(missing_docs, unused, unused_qualifications, trivial_numeric_casts, non_local_definitions)]

mod schemas;
mod with;

use core::f32::consts::{PI, TAU};

use kinepack::schema::{Field, FieldKind, Lane, LaneArithmetic, Role};
use kinepack::{EncodeError, EntityId, Pack, Schema, Snapshot, Tick};

use crate::states::{error, lanes, round_trip};

/// The cube of the article "Snapshot Compression", with additional fields.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Cube {
    #[pack(range = [-256.0..256.0, -256.0..256.0, 0.0..32.0], precision = 1.0 / 512.0)]
    position: [f32; 3],
    #[pack(rotation, bits = 9)]
    orientation: [f32; 4],
    #[pack(velocity, range = -32.0..32.0, precision = 1.0 / 32.0)]
    linear_velocity: [f32; 3],
    interacting: bool,
}

const CUBE: Cube = Cube {
    position: [1.2345, -200.0071, 0.5003],
    orientation: [0.0, 0.6, 0.0, -0.8],
    linear_velocity: [-31.99, 0.0, 7.77],
    interacting: true,
};

fn names<T: Pack>() -> Vec<String> {
    Schema::of::<T>().fields().iter().map(|field| field.name.clone()).collect()
}

fn bits<T: Pack>() -> Vec<u32> {
    let schema = Schema::of::<T>();
    assert_eq!(schema.lanes().len(), T::LANES, "the constant and the schema agree");
    schema.lanes().iter().map(Lane::bits).collect()
}

#[test]
fn the_cube_of_the_article() {
    assert_eq!(Cube::LANES, 11);
    assert_eq!(bits::<Cube>(), [18, 18, 14, 2, 9, 9, 9, 11, 11, 11, 1]);
    assert_eq!(Schema::of::<Cube>().bits_per_entity(), 50 + 29 + 33 + 1);
    assert_eq!(names::<Cube>(), ["position", "orientation", "linear_velocity", "interacting"]);
    let schema = Schema::of::<Cube>();
    let roles: Vec<Role> = schema.fields().iter().map(|field| field.role).collect();
    assert_eq!(roles, [Role::Plain, Role::Plain, Role::Velocity, Role::Plain]);
    let ranges: Vec<_> = schema.fields().iter().map(Field::lanes).collect();
    assert_eq!(ranges, [0..3, 3..7, 7..10, 10..11]);

    let codes = lanes(&CUBE);
    assert_eq!(
        codes[..3],
        [(257.2345f64 * 512.0).round() as u32, (55.9929f64 * 512.0).round() as u32, 256]
    );
    assert_eq!((codes[3], codes[10]), (3, 1));
    assert_eq!(codes[7..10], [0, 1024, 1273]);

    let back = round_trip(&CUBE);
    for axis in 0..3 {
        assert!((back.position[axis] - CUBE.position[axis]).abs() <= 0.5 / 512.0 + 1e-5);
        assert!(
            (back.linear_velocity[axis] - CUBE.linear_velocity[axis]).abs() <= 0.5 / 32.0 + 1e-5
        );
    }
    // A quaternion and its negative are the same rotation.
    assert!((back.orientation[1] + 0.6).abs() < 0.002 && (back.orientation[3] - 0.8).abs() < 0.002);
    assert!(back.interacting);
}

#[test]
fn errors_name_the_field() {
    let out = Cube { position: [0.0, 0.0, 32.5], ..CUBE };
    assert_eq!(error(&out), EncodeError::OutOfRange { id: None, field: "position", value: 32.5 });
    let below = Cube { linear_velocity: [-32.5, 0.0, 0.0], ..CUBE };
    assert_eq!(
        error(&below),
        EncodeError::OutOfRange { id: None, field: "linear_velocity", value: -32.5 }
    );
    let not_a_number = Cube { position: [f32::NAN, 0.0, 0.0], ..CUBE };
    assert_eq!(error(&not_a_number), EncodeError::NotANumber { id: None, field: "position" });
    let no_direction = Cube { orientation: [0.0; 4], ..CUBE };
    assert_eq!(error(&no_direction), EncodeError::NotANumber { id: None, field: "orientation" });
}

#[test]
fn errors_of_a_snapshot_name_the_entity() {
    let mut snapshot = Snapshot::new(&Schema::of::<Cube>(), Tick(1));
    let out = Cube { position: [0.0, 0.0, 32.5], ..CUBE };
    let refused = snapshot.push(EntityId(6), &out).unwrap_err();
    assert_eq!(refused, EncodeError::OutOfRange { id: Some(6), field: "position", value: 32.5 });
    assert_eq!(refused.to_string(), "entity 6, field `position`: 32.5 is outside of its limits");
    let not_a_number = Cube { position: [f32::NAN, 0.0, 0.0], ..CUBE };
    let refused = snapshot.push(EntityId(6), &not_a_number).unwrap_err();
    assert_eq!(refused.to_string(), "entity 6, field `position` is not a number");
    assert!(snapshot.is_empty());
}

#[test]
fn longer_slices_of_lanes_are_taken_and_the_rest_is_unchanged() {
    let mut codes = [7; 20];
    CUBE.quantize(&mut codes).unwrap();
    assert_eq!((&codes[..11], &codes[11..]), (&lanes(&CUBE)[..], &[7; 9][..]));
    assert_eq!(Cube::reconstruct(&codes), Cube::reconstruct(&codes[..11]));
}

#[test]
fn any_values_of_the_lanes_give_a_state() {
    let state = Cube::reconstruct(&[u32::MAX; 11]);
    assert_eq!(state.position, [256.0 - 1.0 / 512.0, 256.0 - 1.0 / 512.0, 32.0 - 1.0 / 512.0]);
    assert!(state.interacting);
    let numbers = Numbers::reconstruct(&[u32::MAX; Numbers::LANES]);
    assert_eq!((numbers.single, numbers.health, numbers.level), (1.0, 100, 5));
}

const WORLD: f32 = 256.0;
const HEALTH: u8 = 100;

#[derive(Pack, Clone, Debug, PartialEq)]
struct Numbers {
    #[pack(range = -1.0..=1.0, precision = 0.01)]
    single: f32,
    #[pack(range = -(WORLD * 2.0)..=WORLD * 2.0, bits = 24)]
    double: f64,
    #[pack(range = -1..1, bits = 4, clamp)]
    stick: [f32; 2],
    #[pack(range = 0.0..10.0, precision = [0.5, 0.25])]
    steps: [f64; 2],
    #[pack(range = [0.0..=1.0, -1.0..1.0], precision = [0.5, 0.25])]
    both: [f64; 2],
    #[pack(range = -20..=HEALTH)]
    health: i16,
    #[pack(range = -5..6, clamp)]
    level: i8,
    #[pack(max = 1000)]
    ammo: u16,
    #[pack(max = 100, precision = 10, clamp)]
    percent: u8,
    #[pack(range = 0..=1000, bits = 5)]
    coarse: u32,
    #[pack(bits = 5)]
    small: u32,
    #[pack(bits = 5)]
    signed: i32,
    #[pack(bits = 40)]
    wide: u64,
    #[pack(range = i64::MIN..=i64::MAX)]
    widest: i64,
}

const NUMBERS: Numbers = Numbers {
    single: -0.504,
    double: 511.9,
    stick: [-3.0, 0.3],
    steps: [3.3, 3.3],
    both: [0.4, -0.4],
    health: -20,
    level: 9,
    ammo: 1000,
    percent: 44,
    coarse: 999,
    small: 31,
    signed: -16,
    wide: 0xff_1234_5678,
    widest: -1,
};

#[test]
fn numbers() {
    #[rustfmt::skip]
    assert_eq!(bits::<Numbers>(), [8, 24, 4, 4, 5, 6, 2, 3, 7, 4, 10, 4, 5, 5, 5, 32, 8, 32, 32]);
    let back = round_trip(&NUMBERS);
    assert_eq!(back.single, -0.5);
    assert!((back.double - NUMBERS.double).abs() <= 512.0 / f64::from((1 << 24) - 1));
    assert_eq!(back.stick, [-1.0, 0.25]);
    assert_eq!(back.steps, [3.5, 3.25]);
    assert_eq!(back.both, [0.5, -0.5]);
    assert_eq!((back.health, back.level, back.ammo, back.percent), (-20, 5, 1000, 40));
    assert_eq!(back.coarse, 990, "32 codes over 1000 are 33 apart");
    assert_eq!((back.small, back.signed, back.wide, back.widest), (31, -16, 0xff_1234_5678, -1));

    assert_eq!(
        error(&Numbers { single: 1.01, ..NUMBERS }),
        EncodeError::OutOfRange { id: None, field: "single", value: f64::from(1.01f32) }
    );
    for (state, field, value) in [
        (Numbers { health: 101, ..NUMBERS }, "health", 101.0),
        (Numbers { ammo: 1001, ..NUMBERS }, "ammo", 1001.0),
        (Numbers { small: 32, ..NUMBERS }, "small", 32.0),
        (Numbers { signed: 16, ..NUMBERS }, "signed", 16.0),
        (Numbers { steps: [0.0, 9.9], ..NUMBERS }, "steps", 9.9),
    ] {
        assert_eq!(error(&state), EncodeError::OutOfRange { id: None, field, value });
    }
    let last = Numbers { steps: [0.0, 9.8], ..NUMBERS };
    assert_eq!(
        round_trip(&last).steps,
        [0.0, 9.75],
        "within half a step of the last one before the end"
    );
    assert_eq!(
        error(&Numbers { stick: [f32::NAN, 0.0], ..NUMBERS }),
        EncodeError::NotANumber { id: None, field: "stick" }
    );
}

#[test]
fn clamped_values_take_the_nearest_end() {
    let back =
        round_trip(&Numbers { stick: [f32::INFINITY, -9.0], level: -128, percent: 255, ..NUMBERS });
    assert_eq!((back.stick, back.level, back.percent), ([0.875, -1.0], -5, 100));
}

#[test]
fn values_between_steps_come_back_within_half_a_step() {
    for index in 0..2000 {
        let single = -1.0 + index as f32 * 0.001;
        let back = round_trip(&Numbers { single, ..NUMBERS });
        assert!((f64::from(back.single) - f64::from(single)).abs() <= 0.005 + 1e-7, "{single}");
    }
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Plain {
    a: f32,
    b: f64,
    c: [f32; 3],
    d: bool,
    e: u8,
    f: i8,
    g: u64,
    h: i64,
    i: [u16; 2],
    r#type: i32,
}

#[test]
fn without_attributes_everything_is_kept() {
    assert_eq!(bits::<Plain>(), [32, 32, 32, 32, 32, 32, 1, 8, 8, 32, 32, 32, 32, 16, 16, 32]);
    assert_eq!(names::<Plain>(), ["a", "b", "c", "d", "e", "f", "g", "h", "i[0]", "i[1]", "type"]);
    let state = Plain {
        a: -0.0,
        b: f64::MIN_POSITIVE,
        c: [1.0, f32::INFINITY, 3.0],
        d: true,
        e: 200,
        f: -128,
        g: u64::MAX - 1,
        h: i64::MIN + 1,
        i: [1, 65535],
        r#type: -7,
    };
    assert_eq!(round_trip(&state), state);
    assert_eq!(round_trip(&state).a.to_bits(), (-0.0f32).to_bits());
    // A 64-bit integer takes two lanes, the lower half first.
    let codes = lanes(&state);
    assert_eq!(codes[9..11], [u32::MAX - 1, u32::MAX]);
    assert_eq!(codes[11..13], [1, 0]);
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
enum Weapon {
    Sword = 10,
    Bow = 20,
    Staff = -1,
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
enum Only {
    One,
}

#[test]
fn enums_are_numbered_in_order() {
    assert_eq!(Schema::of::<Weapon>().fields()[0].kind, FieldKind::Choice { max: 2 });
    assert_eq!(Schema::of::<Weapon>().lanes()[0].arithmetic, LaneArithmetic::Category);
    for (code, weapon) in [Weapon::Sword, Weapon::Bow, Weapon::Staff].into_iter().enumerate() {
        assert_eq!(lanes(&weapon), [code as u32]);
        assert_eq!(round_trip(&weapon), weapon);
    }
    assert_eq!(Weapon::reconstruct(&[3]), Weapon::Staff);
    assert_eq!(Weapon::reconstruct(&[u32::MAX]), Weapon::Staff);
    assert_eq!((bits::<Only>(), round_trip(&Only::One)), (vec![0], Only::One));
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Hull {
    #[pack(range = 0.0..=8.0, precision = 0.125)]
    position: [f32; 2],
    weapon: Weapon,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Ship {
    id: u8,
    hull: Hull,
    turrets: [Hull; 2],
}

#[test]
fn nested_structs_and_arrays_of_them() {
    let hull = Hull { position: [1.5, 8.0], weapon: Weapon::Bow };
    let ship = Ship {
        id: 9,
        turrets: [hull.clone(), Hull { weapon: Weapon::Staff, ..hull.clone() }],
        hull,
    };
    assert_eq!(round_trip(&ship), ship);
    assert_eq!(lanes(&ship), [9, 12, 64, 1, 12, 64, 1, 12, 64, 2]);
    #[rustfmt::skip]
    assert_eq!(names::<Ship>(), [
        "id", "hull.position", "hull.weapon",
        "turrets[0].position", "turrets[0].weapon", "turrets[1].position", "turrets[1].weapon",
    ]);
    let far = Ship { hull: Hull { position: [9.0, 0.0], ..ship.hull.clone() }, ..ship };
    assert_eq!(error(&far), EncodeError::OutOfRange { id: None, field: "position", value: 9.0 });
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Pair(#[pack(range = 0.0..=1.0, bits = 8)] f32, Weapon);

#[derive(Pack, Clone, Debug, PartialEq)]
struct Unit;

#[derive(Pack, Clone, Debug, PartialEq)]
struct Empty {
    unit: Unit,
    pairs: [Pair; 0],
}

#[test]
fn tuple_structs_and_empty_structs() {
    assert_eq!(names::<Pair>(), ["0", "1"]);
    assert_eq!(round_trip(&Pair(1.0, Weapon::Bow)), Pair(1.0, Weapon::Bow));
    assert_eq!(
        error(&Pair(2.0, Weapon::Bow)),
        EncodeError::OutOfRange { id: None, field: "0", value: 2.0 }
    );
    assert_eq!((Unit::LANES, names::<Unit>(), round_trip(&Unit)), (0, vec![], Unit));
    assert_eq!(round_trip(&Empty { unit: Unit, pairs: [] }), Empty { unit: Unit, pairs: [] });
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Angles {
    #[pack(range = -PI..PI, bits = 10, wrap)]
    yaw: f32,
    #[pack(range = 0.0..360.0, precision = 0.1, wrap)]
    degrees: [f64; 2],
}

#[test]
fn angles_wrap() {
    assert_eq!(bits::<Angles>(), [10, 12, 12]);
    assert!(
        Schema::of::<Angles>().lanes().iter().all(|lane| lane.arithmetic == LaneArithmetic::Cyclic)
    );
    assert_eq!(lanes(&Angles { yaw: PI, degrees: [360.0, -0.1] }), [0, 0, 3599]);
    assert_eq!(lanes(&Angles { yaw: TAU, degrees: [719.9, 0.06] }), [512, 3599, 1]);
    let back = round_trip(&Angles { yaw: 100.0 * TAU + 1.0, degrees: [359.93, 359.97] });
    assert!((back.yaw - 1.0).abs() < PI / 1024.0 + 1e-4);
    assert!((back.degrees[0] - 359.9).abs() < 1e-9 && back.degrees[1] == 0.0);
    let infinite = Angles { yaw: f32::INFINITY, degrees: [0.0; 2] };
    assert_eq!(error(&infinite), EncodeError::NotANumber { id: None, field: "yaw" });
}

#[derive(Pack)]
struct Stamped {
    #[pack(range = -100.0..100.0, precision = 0.5)]
    place: [f64; 3],
    #[pack(clock)]
    ticks: u64,
    #[pack(clock, bits = 12)]
    short: u16,
    #[pack(range = -8.0..8.0, precision = 0.5, velocity = place)]
    speed: [f64; 3],
    #[pack(clock, range = 0.0..60.0, precision = 0.01, wrap)]
    seconds: f32,
    nested: Sent,
    // The time stamp is closer to the velocity than the other field, but a velocity never applies
    // to a time stamp.
    #[pack(range = -8.0..8.0, precision = 0.5)]
    height: f32,
    #[pack(clock, range = 0.0..60.0, precision = 0.01)]
    late: f32,
    #[pack(range = -8.0..8.0, precision = 0.5, velocity)]
    climb: f32,
}

#[derive(Pack)]
struct Sent {
    #[pack(clock, max = 100, clamp)]
    time: u32,
    #[pack(range = -8.0..8.0, precision = 0.5)]
    height: f32,
    #[pack(range = -8.0..8.0, precision = 0.5, velocity = height)]
    climb: f32,
}

#[test]
fn clocks_have_their_role_and_velocities_name_their_field() {
    let schema = Schema::of::<Stamped>();
    let summary = |field: &Field| (field.name.clone(), field.role, field.velocity_of.clone());
    let summary: Vec<_> = schema.fields().iter().map(summary).collect();
    let summary: Vec<_> =
        summary.iter().map(|(name, role, of)| (name.as_str(), *role, of.as_deref())).collect();
    use Role::{Clock, Plain, Velocity};
    #[rustfmt::skip]
    assert_eq!(summary, [
        ("place", Plain, None), ("ticks", Clock, None), ("short", Clock, None), ("speed", Velocity, Some("place")),
        ("seconds", Clock, None), ("nested.time", Clock, None), ("nested.height", Plain, None),
        ("nested.climb", Velocity, Some("nested.height")), ("height", Plain, None), ("late", Clock, None),
        ("climb", Velocity, Some("height")),
    ]);
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Generic<T, V, const N: usize>
where
    V: Clone,
{
    part: T,
    #[pack(range = -(N as f32)..N as f32, precision = 0.5)]
    vector: V,
    parts: [T; N],
    #[pack(skip)]
    cache: Option<T>,
    #[pack(range = 0..=N, clamp)]
    count: u8,
    #[pack(range = Self::LOW..=1.0, bits = 3)]
    numbers: [f64; N],
}

impl<T, V: Clone, const N: usize> Generic<T, V, N> {
    const LOW: f64 = 0.0;
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Holder<T> {
    inner: Inner<T>,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Inner<T>(T);

#[test]
fn generic_structs() {
    type Both = Generic<Weapon, [f32; 2], 3>;
    assert_eq!(bits::<Both>(), [2, 4, 4, 2, 2, 2, 2, 3, 3, 3]);
    assert_eq!(bits::<Generic<bool, f64, 1>>(), [1, 2, 1, 1, 3]);
    let state = Both {
        part: Weapon::Bow,
        vector: [-3.0, 2.5],
        parts: [Weapon::Staff; 3],
        cache: None,
        count: 2,
        numbers: [0.0, 1.0, 0.0],
    };
    assert_eq!(round_trip(&state), state);
    let far = Both { vector: [0.0, 3.0], ..state };
    assert_eq!(error(&far), EncodeError::OutOfRange { id: None, field: "vector", value: 3.0 });
    assert_eq!(names::<Holder<Pair>>(), ["inner.0.0", "inner.0.1"]);
    assert_eq!(round_trip(&Holder { inner: Inner(-4i64) }), Holder { inner: Inner(-4) });
}

/// Puts the attributes of a struct in invisible parentheses, as `macro_rules!` passes them on.
macro_rules! body {
    ($name:ident, $range:expr, $precision:expr, $integer:ty) => {
        #[derive(Pack)]
        struct $name {
            #[pack(range = $range, precision = $precision)]
            position: [f32; 3],
            #[pack(range = 0..=7)]
            count: $integer,
        }
    };
}

body!(Made, -1.0..=1.0, 0.5, u64);

mod kine {
    pub(crate) mod reexport {
        pub(crate) use kinepack::*;
    }
}

#[test]
fn derived_in_macros_functions_and_under_another_name() {
    assert_eq!(bits::<Made>(), [3, 3, 3, 3]);
    assert_eq!(round_trip(&Made { position: [0.5; 3], count: 7 }).count, 7);

    #[derive(kinepack::Pack)]
    #[pack(crate = crate::derive::kine::reexport)]
    struct Local {
        #[pack(range = -(LIMIT)..=LIMIT, precision = 1.0)]
        x: f32,
        #[pack(rotation)]
        #[pack(bits = 2)]
        q: [f64; 4],
    }
    const LIMIT: f64 = 2.0;
    assert_eq!(bits::<Local>(), [3, 2, 2, 2, 2]);
    let local = round_trip(&Local { x: -2.0, q: [0.0, 0.0, 1.0, 0.0] });
    assert!(local.x == -2.0 && local.q[2] > 0.8);
}

/// The derive adds no warnings for items with or without docs, and for deprecated items.
/// `missing_docs` checks public items only.
pub mod warnings {
    use kinepack::Pack;

    /// A public struct with docs.
    #[derive(Pack)]
    pub struct Public {
        /// A deprecated field.
        #[deprecated]
        #[pack(range = 0.0..=1.0, bits = 4)]
        pub old: f32,
    }

    /// A public enum with docs.
    #[derive(Pack)]
    pub enum Choice {
        /// A deprecated variant.
        #[deprecated]
        Old,
        /// A variant that is not deprecated.
        New,
    }

    #[derive(Pack)]
    struct Private<T>(T);

    /// A struct with a private part.
    #[derive(Pack)]
    pub struct Generic<T: Counted> {
        part: Private<T>,
        #[pack(range = 0..=T::COUNT)]
        count: u8,
    }

    impl<T: Counted> Generic<T> {
        /// Uses the private part, so that it is not dead code.
        pub fn count(&self) -> (u8, &T) {
            (self.count, &self.part.0)
        }
    }

    /// A bound in the type parameters of the derived type.
    pub trait Counted {
        /// A number.
        const COUNT: u8;
    }

    /// A module in which the names of the prelude have other meanings.
    #[allow(dead_code, non_camel_case_types)]
    pub mod shadowed {
        struct Result;
        struct Ok;
        struct Err;
        struct Vec;
        struct Default;
        struct Field;
        mod core {}
        mod std {}

        /// A public struct with docs.
        #[derive(kinepack::Pack)]
        pub struct Public {
            /// A field named `new`.
            #[pack(range = 0.0..=1.0, bits = 4)]
            pub new: f32,
            /// A field named `none`.
            #[pack(skip)]
            pub none: u8,
        }
    }
}
