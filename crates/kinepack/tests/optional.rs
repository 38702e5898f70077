//! Parts of a state that may be absent: `Option`, enums with fields, lists, and texts; and tuples
//! and durations in them.

#![cfg(all(feature = "derive", feature = "arrayvec"))]
// The derived code must pass the lints of strict crates.
#![deny(unused, unused_qualifications, trivial_numeric_casts, non_local_definitions)]
#![allow(clippy::unwrap_used)]

mod runner;

use core::fmt::Debug;
use core::ops::RangeInclusive;
use core::time::Duration;

use kinepack::quantize::SmallestThree;
use kinepack::schema::{Condition, Field, FieldKind, Lane, PackWith, Role, TimePrecision};
use kinepack::{
    ArrayString, ArrayVec, Between, BytesUpTo, Codec, Decoder, EncodeError, Encoder, EntityId,
    Level, Pack, Profile, Schema, Snapshot, Tick, View,
};
use proptest::prelude::*;
use runner::for_all;

/// A place with a ratio but no time.
fn at(ratio: f32) -> Between {
    Between { ratio, seconds: 0.0 }
}

/// The lanes of a state, which a snapshot accepts, and which equal those of its raw words.
fn lanes<T: Pack>(state: &T) -> Vec<u32> {
    let schema = Schema::of::<T>();
    let mut lanes = vec![7; T::LANES];
    state.quantize(&mut lanes).unwrap();
    let mut snapshot = Snapshot::new(&schema, Tick(1));
    snapshot.push(EntityId(3), state).unwrap();
    let (mut raw, mut again) = (vec![7; T::LANES], vec![7; T::LANES]);
    state.store_raw(&mut raw).unwrap();
    schema.quantize_raw(&raw, &mut again).unwrap();
    assert_eq!(again, lanes, "raw words");
    lanes
}

/// The state on the other side.
fn round_trip<T: Pack>(state: &T) -> T {
    let codes = lanes(state);
    let back = T::reconstruct(&codes);
    assert_eq!(lanes(&back), codes, "a reconstructed state has the same lanes");
    back
}

fn error<T: Pack>(state: &T) -> EncodeError {
    state.quantize(&mut vec![0; T::LANES]).unwrap_err()
}

fn between<T: Pack>(from: &T, to: &T, ratio: f32) -> T {
    T::interpolate(&lanes(from), &lanes(to), at(ratio))
}

/// The name of each field, and its condition.
type Summary = Vec<(String, Option<(String, RangeInclusive<u32>)>)>;

fn summary<T: Pack>() -> Summary {
    let schema = Schema::of::<T>();
    assert_eq!(schema.lanes().len(), T::LANES, "the constant and the schema agree");
    let condition = |Condition { selector, values }| (selector, values);
    let line = |field: &Field| (field.name.clone(), field.condition.clone().map(condition));
    schema.fields().iter().map(line).collect()
}

/// The fields that are always present by name; the others with their selector and its values.
fn expected(lines: &[(&str, &str, RangeInclusive<u32>)]) -> Summary {
    let condition = |selector: &str, values: &RangeInclusive<u32>| {
        (!selector.is_empty()).then(|| (selector.to_string(), values.clone()))
    };
    lines
        .iter()
        .map(|(name, selector, values)| (name.to_string(), condition(selector, values)))
        .collect()
}

fn bits<T: Pack>() -> Vec<u32> {
    Schema::of::<T>().lanes().iter().map(Lane::bits).collect()
}

/// The rotation as 9 bits a component hold it.
fn turn(xyzw: [f32; 4]) -> [f32; 4] {
    let rotation = SmallestThree::new(9).unwrap();
    rotation.reconstruct(rotation.quantize(xyzw).unwrap())
}

const ALWAYS: RangeInclusive<u32> = 0..=0;

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
enum Gear {
    Reverse,
    Forward,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Place {
    #[pack(range = -8.0..=8.0, precision = 0.5)]
    height: f32,
    gear: Gear,
}

/// Half metres, as a type that is not `Pack`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Meters(f32);

struct Halves;

impl PackWith<Meters> for Halves {
    const LANES: usize = 1;

    fn fields(path: &str, fields: &mut Vec<Field>) {
        fields.push(Field::new(path, FieldKind::Choice { max: 20 }));
    }

    fn quantize(value: &Meters, lanes: &mut [u32]) -> Result<(), EncodeError> {
        if !(0.0..=10.0).contains(&value.0) {
            let value = value.0.into();
            return Err(EncodeError::OutOfRange { id: None, field: "", value });
        }
        lanes[0] = (value.0 * 2.0).round() as u32;
        Ok(())
    }

    fn reconstruct(lanes: &[u32]) -> Meters {
        Meters(lanes[0] as f32 / 2.0)
    }

    fn interpolate(from: &[u32], to: &[u32], at: Between) -> Meters {
        Meters(at.linear(f64::from(from[0]) / 2.0, f64::from(to[0]) / 2.0) as f32)
    }
}

#[derive(Pack, Clone, Debug, Default, PartialEq)]
#[pack(ticks_per_s = 60)]
struct Options {
    plain: Option<u16>,
    #[pack(max = 8)]
    ammo: Option<u8>,
    #[pack(range = -8.0..8.0, precision = 0.25, time_precision_ms = 2)]
    #[allow(unused_qualifications)]
    target: core::option::Option<[f32; 3]>,
    #[pack(rotation, bits = 9)]
    aim: Option<[f32; 4]>,
    #[pack(step, range = 0.0..=1.0, bits = 8)]
    charge: Option<f64>,
    #[pack(step)]
    heat: Option<f32>,
    #[pack(with = Halves)]
    size: Option<Meters>,
    #[pack(with = BytesUpTo<2>)]
    data: Option<Vec<u8>>,
    place: Option<Place>,
    twice: Option<Option<bool>>,
    #[pack(skip)]
    cache: Option<String>,
    #[pack(range = 0.0..360.0, precision = 1.0, wrap)]
    yaw: Option<f32>,
    cooldown: f32,
}

fn options() -> Options {
    Options {
        plain: Some(65535),
        ammo: Some(8),
        target: Some([-8.0, 0.25, 7.75]),
        aim: Some(turn([0.0, 0.0, 0.0, 1.0])),
        charge: Some(1.0),
        heat: Some(-0.5),
        size: Some(Meters(2.5)),
        data: Some(vec![1, 2]),
        place: Some(Place { height: 1.5, gear: Gear::Forward }),
        twice: Some(Some(true)),
        cache: None,
        yaw: Some(350.0),
        cooldown: 1.0,
    }
}

#[test]
fn an_option_is_a_flag_and_the_fields_in_it() {
    #[rustfmt::skip]
    assert_eq!(summary::<Options>(), expected(&[
        ("plain?", "", ALWAYS), ("plain", "plain?", 1..=1),
        ("ammo?", "", ALWAYS), ("ammo", "ammo?", 1..=1),
        ("target?", "", ALWAYS), ("target", "target?", 1..=1),
        ("aim?", "", ALWAYS), ("aim", "aim?", 1..=1),
        ("charge?", "", ALWAYS), ("charge", "charge?", 1..=1),
        ("heat?", "", ALWAYS), ("heat", "heat?", 1..=1),
        ("size?", "", ALWAYS), ("size", "size?", 1..=1),
        ("data?", "", ALWAYS), ("data.len", "data?", 1..=1), ("data", "data?", 1..=1),
        ("place?", "", ALWAYS), ("place.height", "place?", 1..=1), ("place.gear", "place?", 1..=1),
        ("twice?", "", ALWAYS), ("twice?", "twice?", 1..=1), ("twice", "twice?", 1..=1),
        ("yaw?", "", ALWAYS), ("yaw", "yaw?", 1..=1),
        ("cooldown", "", ALWAYS),
    ]));
    #[rustfmt::skip]
    assert_eq!(bits::<Options>(), [
        1, 16, 1, 4, 1, 6, 6, 6, 1, 2, 9, 9, 9, 1, 8, 1, 32, 1, 5, 1, 2, 8, 8, 1, 6, 1, 1, 1, 1, 1, 9, 32,
    ]);
    let schema = Schema::of::<Options>();
    assert_eq!(schema.fields()[0].kind, FieldKind::Bool);
    assert_eq!(schema.fields()[5].time_precision, Some(TimePrecision::new(2.0, 60.0)));
    assert_eq!(bits::<Option<[u8; 2]>>(), [1, 8, 8]);
    assert_eq!(
        summary::<Option<[u8; 2]>>(),
        expected(&[("?", "", ALWAYS), ("[0]", "?", 1..=1), ("[1]", "?", 1..=1)])
    );
}

#[test]
fn options_round_trip() {
    assert_eq!(round_trip(&options()), options());
    let none = Options { cooldown: 2.0, ..Options::default() };
    assert_eq!(round_trip(&none), none);
    let (last, before) = lanes(&none).split_last().map(|(a, b)| (*a, b.to_vec())).unwrap();
    assert_eq!((last, before), (2.0f32.to_bits(), vec![0; Options::LANES - 1]));
    for twice in [None, Some(None), Some(Some(false)), Some(Some(true))] {
        assert_eq!(round_trip(&Options { twice, ..none.clone() }).twice, twice);
    }
    let mut raw = vec![7; Options::LANES];
    none.store_raw(&mut raw).unwrap();
    assert_eq!(raw[..Options::LANES - 1], [0; Options::LANES - 1]);
    assert!(Options::reconstruct(&[u32::MAX; Options::LANES]).ammo == Some(8));
}

#[test]
fn errors_in_an_option_name_the_field() {
    let out = |field, value| EncodeError::OutOfRange { id: None, field, value };
    assert_eq!(error(&Options { ammo: Some(9), ..options() }), out("ammo", 9.0));
    assert_eq!(error(&Options { target: Some([9.0; 3]), ..options() }), out("target", 9.0));
    assert_eq!(error(&Options { size: Some(Meters(11.0)), ..options() }), out("size", 11.0));
    let place = Place { height: 9.0, gear: Gear::Reverse };
    assert_eq!(error(&Options { place: Some(place), ..options() }), out("height", 9.0));
    let aim = Options { aim: Some([0.0; 4]), ..options() };
    assert_eq!(error(&aim), EncodeError::NotANumber { id: None, field: "aim" });
}

#[test]
fn options_that_both_ends_have_are_interpolated_and_others_step() {
    let from = options();
    let to = Options {
        plain: Some(1),
        ammo: Some(0),
        target: Some([-4.0, 0.25, 3.75]),
        aim: Some(turn([0.0, 0.0, 1.0, 0.0])),
        charge: Some(0.0),
        heat: Some(0.5),
        size: Some(Meters(4.5)),
        data: Some(vec![]),
        place: Some(Place { height: 3.5, gear: Gear::Reverse }),
        twice: Some(None),
        cache: None,
        yaw: Some(10.0),
        cooldown: 3.0,
    };
    let half = between(&from, &to, 0.5);
    assert_eq!((half.plain, half.ammo), (from.plain, from.ammo), "integers step");
    assert_eq!(half.target, Some([-6.0, 0.25, 5.75]));
    let aim = half.aim.unwrap();
    assert!((aim[2].abs() - 0.5f32.sqrt()).abs() < 0.003 && (aim[2] - aim[3]).abs() < 0.003);
    assert_eq!((half.charge, half.heat), (from.charge, from.heat), "marked `step`");
    assert_eq!((half.size, half.data), (Some(Meters(3.5)), from.data.clone()));
    assert_eq!(half.place, Some(Place { height: 2.5, gear: Gear::Forward }));
    assert_eq!((half.twice, half.yaw, half.cooldown), (from.twice, Some(0.0), 2.0));
    assert_eq!((between(&from, &to, 0.0), between(&from, &to, 1.0)), (from.clone(), to.clone()));

    let none = Options { cooldown: 3.0, ..Options::default() };
    for ratio in [0.0, 0.25, 0.75] {
        let cooldown = 1.0 + 2.0 * ratio;
        assert_eq!(between(&from, &none, ratio), Options { cooldown, ..from.clone() });
        let cooldown = 3.0 - 2.0 * ratio;
        assert_eq!(between(&none, &from, ratio), Options { cooldown, ..none.clone() });
    }
    assert_eq!(between(&none, &from, 1.0), from);
    assert_eq!(between(&from, &none, 1.0), none);
}

#[derive(Pack, Clone, Debug, PartialEq)]
#[pack(ticks_per_s = 60.0)]
enum Weapon {
    None,
    Bow {
        #[pack(range = 0.0..=1.0, precision = 0.125)]
        tension: f32,
        #[pack(max = 30)]
        arrows: Option<u8>,
    },
    Rocket(
        #[pack(range = -64.0..64.0, precision = 0.5, time_precision_ms = 2.0)] [f32; 3],
        #[pack(velocity = 0, range = -32.0..32.0, precision = 0.5)] [f32; 3],
        #[pack(skip)] u8,
    ),
    Staff {
        r#type: Gear,
        #[pack(rotation, bits = 9)]
        aim: [f32; 4],
        #[pack(with = Halves)]
        length: Meters,
        #[pack(step)]
        glow: f32,
        inner: Spell,
    },
    Net(),
}

#[derive(Pack, Clone, Debug, PartialEq)]
enum Spell {
    Fire(u8),
    Ice,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Soldier {
    weapon: Weapon,
    health: u8,
}

fn weapons() -> [Weapon; 6] {
    let staff = |inner| Weapon::Staff {
        r#type: Gear::Forward,
        aim: turn([0.0, 0.0, 0.0, 1.0]),
        length: Meters(1.5),
        glow: 0.1,
        inner,
    };
    [
        Weapon::None,
        Weapon::Bow { tension: 0.875, arrows: Some(30) },
        Weapon::Rocket([-64.0, 0.5, 1.0], [1.0, 2.0, -32.0], 0),
        staff(Spell::Fire(200)),
        staff(Spell::Ice),
        Weapon::Net(),
    ]
}

#[test]
fn an_enum_is_a_choice_and_the_fields_of_each_variant() {
    #[rustfmt::skip]
    assert_eq!(summary::<Soldier>(), expected(&[
        ("weapon", "", ALWAYS),
        ("weapon.Bow.tension", "weapon", 1..=1),
        ("weapon.Bow.arrows?", "weapon", 1..=1), ("weapon.Bow.arrows", "weapon.Bow.arrows?", 1..=1),
        ("weapon.Rocket.0", "weapon", 2..=2), ("weapon.Rocket.1", "weapon", 2..=2),
        ("weapon.Staff.type", "weapon", 3..=3), ("weapon.Staff.aim", "weapon", 3..=3),
        ("weapon.Staff.length", "weapon", 3..=3), ("weapon.Staff.glow", "weapon", 3..=3),
        ("weapon.Staff.inner", "weapon", 3..=3),
        ("weapon.Staff.inner.Fire.0", "weapon.Staff.inner", 0..=0),
        ("health", "", ALWAYS),
    ]));
    assert_eq!(Weapon::LANES, 1 + 3 + 6 + (1 + 4 + 1 + 1 + 2));
    let schema = Schema::of::<Soldier>();
    assert_eq!(schema.fields()[0].kind, FieldKind::Choice { max: 4 });
    assert_eq!(schema.fields()[4].time_precision, Some(TimePrecision::new(2.0, 60.0)));
    assert_eq!(schema.fields()[5].role, Role::Velocity);
    assert_eq!(schema.fields()[5].velocity_of.as_deref(), Some("weapon.Rocket.0"));
    assert_eq!(
        summary::<Spell>(),
        expected(&[("", "", ALWAYS), ("Fire.0", "", ALWAYS)])
            .into_iter()
            .zip([None, Some((String::new(), 0..=0))])
            .map(|((name, _), condition)| (name, condition))
            .collect::<Summary>()
    );
}

#[test]
fn each_variant_round_trips_and_the_lanes_of_the_others_are_zero() {
    for weapon in weapons() {
        assert_eq!(round_trip(&weapon), weapon);
        let soldier = Soldier { weapon, health: 9 };
        assert_eq!(round_trip(&soldier), soldier);
    }
    let bow = lanes(&weapons()[1]);
    assert_eq!(bow[..4], [1, 7, 1, 30]);
    assert_eq!(bow[4..], [0; Weapon::LANES - 4]);
    assert_eq!(lanes(&Weapon::Net())[1..], [0; Weapon::LANES - 1]);
    let Weapon::Rocket(place, _, fuse) = round_trip(&Weapon::Rocket([0.0; 3], [0.0; 3], 9)) else {
        panic!("another variant");
    };
    assert_eq!((place, fuse), ([0.0; 3], 0), "skipped fields are the default");
}

#[test]
fn a_tag_above_the_last_variant_counts_as_the_last() {
    assert_eq!(Weapon::reconstruct(&[5; Weapon::LANES]), Weapon::Net());
    let any = [u32::MAX; Weapon::LANES];
    assert_eq!(Weapon::reconstruct(&any), Weapon::Net());
    assert_eq!(Weapon::interpolate(&any, &[4; Weapon::LANES], at(0.5)), Weapon::Net());
    assert_eq!(Spell::reconstruct(&[2, 0]), Spell::Ice);
}

#[test]
fn errors_in_a_variant_name_the_variant() {
    let bow = Weapon::Bow { tension: 1.5, arrows: None };
    let refused = EncodeError::OutOfRange { id: None, field: "Bow.tension", value: 1.5 };
    assert_eq!(error(&bow), refused);
    assert_eq!(error(&Soldier { weapon: bow, health: 1 }), refused);
    let far = Weapon::Rocket([99.0; 3], [0.0; 3], 0);
    let refused = EncodeError::OutOfRange { id: None, field: "Rocket.0", value: 99.0 };
    assert_eq!(error(&far), refused);
}

#[test]
fn equal_variants_are_interpolated_and_different_ones_step() {
    let bow = |tension, arrows| Weapon::Bow { tension, arrows };
    let half = between(&bow(0.25, Some(3)), &bow(0.75, None), 0.5);
    assert_eq!(half, bow(0.5, Some(3)));

    let rocket = |x, climb| Weapon::Rocket([x, 0.0, 0.0], [4.0, climb, 0.0], 0);
    let ends = [rocket(0.0, 4.0), rocket(4.0, -4.0)].map(|weapon| lanes(&weapon));
    let there = Weapon::interpolate(&ends[0], &ends[1], Between { ratio: 0.25, seconds: 1.0 });
    assert_eq!(there, Weapon::Rocket([1.0, 0.75, 0.0], [4.0, 2.0, 0.0], 0), "a curve");

    let weapons = weapons();
    for (from, to) in weapons.iter().zip(&weapons[1..]) {
        for ratio in [0.0, 0.5] {
            assert_eq!(&between(from, to, ratio), from);
        }
        assert_eq!(&between(from, to, 1.0), to);
    }
}

#[test]
fn a_fieldless_enum_keeps_its_schema() {
    assert_eq!(summary::<Gear>(), [(String::new(), None)]);
    assert_eq!(Schema::of::<Gear>().fields()[0].kind, FieldKind::Choice { max: 1 });
    let field = Field::new("", FieldKind::Choice { max: 1 });
    assert_eq!(Schema::of::<Gear>().hash(), Schema::new(vec![field]).hash());
}

#[derive(Pack, Clone, Debug, PartialEq)]
enum Generic<T, const N: usize>
where
    T: Clone,
{
    One(T),
    Many {
        parts: [T; N],
        #[pack(range = 0..=N)]
        count: u8,
        #[pack(skip)]
        cache: Option<T>,
    },
    #[allow(dead_code)]
    Limited(#[pack(range = Self::LOW..=1.0, bits = 3)] f64),
}

impl<T: Clone, const N: usize> Generic<T, N> {
    const LOW: f64 = 0.0;
}

mod kine {
    pub(crate) mod reexport {
        pub(crate) use kinepack::*;
    }
}

#[test]
fn generic_enums_and_enums_with_another_path() {
    type Both = Generic<Spell, 2>;
    assert_eq!(Both::LANES, 1 + 2 + (4 + 1) + 1);
    let one = Both::One(Spell::Fire(3));
    assert_eq!(round_trip(&one), one);
    let parts = [Spell::Ice, Spell::Fire(1)];
    let many = Both::Many { parts, count: 2, cache: None };
    assert_eq!(round_trip(&many), many);
    assert_eq!(
        summary::<Both>()[2].1,
        Some(("One.0".to_string(), 0..=0)),
        "an enum in an enum keeps its own selector"
    );

    #[derive(kinepack::Pack, Debug, PartialEq)]
    #[pack(crate = crate::kine::reexport)]
    enum Only {
        One(#[pack(max = 3)] u8),
    }
    assert_eq!((bits::<Only>(), round_trip(&Only::One(2))), (vec![0, 2], Only::One(2)));

    #[derive(Pack, Debug, PartialEq)]
    enum Skipped {
        A(#[pack(skip)] u8),
        B,
    }
    assert_eq!((Skipped::LANES, round_trip(&Skipped::A(9))), (1, Skipped::A(0)));
    assert_eq!(round_trip(&Skipped::B), Skipped::B);
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Bag {
    items: ArrayVec<Option<Spell>, 3>,
    name: ArrayString<10>,
    last: u8,
}

#[test]
fn a_list_is_a_length_and_elements_that_depend_on_it() {
    #[rustfmt::skip]
    assert_eq!(summary::<Bag>(), expected(&[
        ("items.len", "", ALWAYS),
        ("items[0]?", "items.len", 1..=3), ("items[0]", "items[0]?", 1..=1), ("items[0].Fire.0", "items[0]", 0..=0),
        ("items[1]?", "items.len", 2..=3), ("items[1]", "items[1]?", 1..=1), ("items[1].Fire.0", "items[1]", 0..=0),
        ("items[2]?", "items.len", 3..=3), ("items[2]", "items[2]?", 1..=1), ("items[2].Fire.0", "items[2]", 0..=0),
        ("name.len", "", ALWAYS),
        ("name[0]", "name.len", 1..=10), ("name[4]", "name.len", 5..=10), ("name[8]", "name.len", 9..=10),
        ("last", "", ALWAYS),
    ]));
    let schema = Schema::of::<Bag>();
    assert_eq!(schema.fields()[12].kind, FieldKind::Bytes { len: 4 });
    assert_eq!(schema.fields()[13].kind, FieldKind::Bytes { len: 2 });
    assert_eq!(bits::<Bag>()[..5], [2, 1, 1, 8, 1]);
    let bag = |items: &[Option<Spell>], name: &str| Bag {
        items: items.iter().cloned().collect(),
        name: ArrayString::from(name).unwrap(),
        last: 9,
    };
    for len in 0..=3 {
        let items = [Some(Spell::Fire(1)), None, Some(Spell::Ice)];
        for name in ["", "a", "abcd", "héé", "äöüßé", "0123456789"] {
            let bag = bag(&items[..len], name);
            assert_eq!(round_trip(&bag), bag);
        }
    }
    #[rustfmt::skip]
    assert_eq!(lanes(&bag(&[Some(Spell::Fire(8))], "é")), [
        1, 1, 0, 8, 0, 0, 0, 0, 0, 0, 2, 0xC3, 0xA9, 0, 0, 0, 0, 0, 0, 0, 0, 9,
    ]);
    // Elements without lanes.
    #[derive(Pack, Clone, Debug, PartialEq)]
    struct Unit;
    assert_eq!(bits::<ArrayVec<Unit, 3>>(), [2]);
    let units: ArrayVec<Unit, 3> = [Unit, Unit].into_iter().collect();
    assert_eq!(round_trip(&units), units);
}

#[test]
fn elements_that_both_lists_have_are_interpolated() {
    type List = ArrayVec<f32, 4>;
    let list = |values: &[f32]| List::try_from(values).unwrap();
    let (short, long) = (list(&[0.0, 4.0]), list(&[1.0, 2.0, 3.0]));
    assert_eq!(between(&short, &long, 0.5), list(&[0.5, 3.0]));
    assert_eq!(between(&long, &short, 0.5), list(&[0.5, 3.0, 3.0]));
    assert_eq!(between(&short, &long, 1.0), long);
    assert_eq!(between(&long, &short, 1.0), short);
    assert_eq!(between(&list(&[]), &long, 0.9), list(&[]));
    let any = List::reconstruct(&[u32::MAX; List::LANES]);
    assert_eq!(any.len(), 4, "a length above the capacity counts as the capacity");
    assert_eq!(List::interpolate(&[u32::MAX; 5], &[0; 5], at(0.5)).len(), 4);
}

#[test]
fn any_lanes_give_a_text() {
    type Text = ArrayString<6>;
    let text = |lanes: [u32; 7]| Text::reconstruct(&lanes).to_string();
    assert_eq!(text([2, 0x68, 0x69, 0, 0, 0, 0]), "hi");
    assert_eq!(text([1, 0x68, 0x69, 0, 0, 0, 0]), "h");
    assert_eq!(text([99, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66]), "abcdef");
    assert_eq!(
        text([6, 0x61, 0xC3, 0xA9, 0xE2, 0x82, 0x62]),
        "aé",
        "the first invalid byte ends it"
    );
    assert_eq!(text([2, 0x61, 0xC3, 0xA9, 0, 0, 0]), "a", "a character that the length cuts");
    assert_eq!(text([u32::MAX; 7]), "");
    assert_eq!(between(&Text::from("abc").unwrap(), &Text::new(), 0.9).as_str(), "abc");
    assert_eq!(between(&Text::from("abc").unwrap(), &Text::new(), 1.0).as_str(), "");
    for_all(2000, proptest::collection::vec(0u32..300, 7), |lanes| {
        let text = Text::reconstruct(&lanes);
        let bytes: Vec<u8> =
            lanes[1..].iter().take(lanes[0] as usize).map(|lane| *lane as u8).collect();
        assert!(bytes.starts_with(text.as_bytes()));
        let rest = &bytes[text.len()..];
        let next = (1..=rest.len().min(4)).find(|len| core::str::from_utf8(&rest[..*len]).is_ok());
        assert_eq!(next, None, "the text ends before a character: {bytes:?}");
        assert_eq!(round_trip(&text), text);
    });
    for_all(2000, "\\PC{0,6}", |string| {
        let Ok(text) = Text::from(&string) else { return };
        assert_eq!(round_trip(&text), text);
    });
}

#[test]
fn long_lists_and_texts_have_lengths_of_more_bits() {
    assert_eq!(bits::<ArrayVec<bool, 300>>()[0], 9);
    assert_eq!(<ArrayString<1000> as Pack>::LANES, 1001);
    let long = ArrayString::<1000>::from(&"é".repeat(500)).unwrap();
    assert_eq!(round_trip(&long), long);
}

#[test]
fn tuples_are_coded_part_by_part() {
    type Pair = (u8, (bool, Option<f32>));
    #[rustfmt::skip]
    assert_eq!(summary::<Pair>(), expected(&[
        ("0", "", ALWAYS), ("1.0", "", ALWAYS), ("1.1?", "", ALWAYS), ("1.1", "1.1?", 1..=1),
    ]));
    assert_eq!(round_trip(&(3, (true, Some(0.1)))), (3, (true, Some(0.1))));
    assert_eq!(between(&(0.0f32, 1u8), &(1.0, 2), 0.5), (0.5, 1));
    let eight = (1u8, 2u16, 3u32, 4u64, 5i8, 6i16, 7i32, 8i64);
    assert_eq!(round_trip(&eight), eight);
    assert_eq!(round_trip(&(0.5f64,)), (0.5,));

    #[derive(Pack, Clone, Debug, PartialEq)]
    struct Pairs {
        pairs: [(u8, bool); 2],
        best: Option<(u8, Gear)>,
    }
    let pairs = Pairs { pairs: [(1, true), (2, false)], best: Some((3, Gear::Forward)) };
    assert_eq!(round_trip(&pairs), pairs);
    assert_eq!(summary::<Pairs>()[1].0, "pairs[0].1");
    assert_eq!(summary::<Pairs>()[6], ("best.1".into(), Some(("best?".into(), 1..=1))));
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Timer {
    #[pack(range = 0.0..=10.0, precision = 0.001)]
    left: Duration,
    exact: Duration,
    #[pack(range = 0..=60, precision = 1, clamp)]
    limit: Option<Duration>,
}

#[test]
fn durations_are_seconds_within_limits_and_nanoseconds_without() {
    assert_eq!(bits::<Timer>(), [14, 32, 32, 1, 6]);
    let timer = Timer {
        left: Duration::from_millis(2500),
        exact: Duration::from_nanos(u64::MAX),
        limit: Some(Duration::from_secs(7)),
    };
    assert_eq!(round_trip(&timer), timer);
    let mut raw = [0; Timer::LANES];
    timer.store_raw(&mut raw).unwrap();
    assert_eq!(raw, [2.5f64.to_bits(), u64::MAX, 0, 1, 7.0f64.to_bits()]);
    let clamped = Timer { limit: Some(Duration::MAX), ..timer.clone() };
    assert_eq!(round_trip(&clamped).limit, Some(Duration::from_secs(60)));
    let out = |field, value| EncodeError::OutOfRange { id: None, field, value };
    let late = Timer { left: Duration::from_secs(11), ..timer.clone() };
    assert_eq!(error(&late), out("left", 11.0));
    let too_long = Duration::from_nanos(u64::MAX) + Duration::from_nanos(1);
    let error_of = |exact| error(&Timer { exact, ..timer.clone() });
    assert_eq!(error_of(too_long), out("exact", too_long.as_secs_f64()));
    assert_eq!(error_of(Duration::MAX), out("exact", Duration::MAX.as_secs_f64()));
    assert_eq!(error(&too_long), out("", too_long.as_secs_f64()));
    assert!(too_long.store_raw(&mut [0; 2]).is_err());
}

#[test]
fn durations_are_interpolated_on_a_line() {
    let [short, long] = [Duration::from_nanos(3), Duration::from_nanos(u64::MAX)];
    assert_eq!(between(&short, &Duration::from_nanos(7), 0.5), Duration::from_nanos(5));
    assert_eq!(between(&Duration::from_nanos(7), &short, 0.25), Duration::from_nanos(6));
    assert_eq!((between(&short, &long, 0.0), between(&short, &long, 1.0)), (short, long));
    let near = Duration::from_nanos(u64::MAX - 4);
    assert_eq!(between(&long, &near, 0.5), Duration::from_nanos(u64::MAX - 2));
    for_all(2000, (any::<u64>(), any::<u64>(), 0.0f32..=1.0), |(from, to, ratio)| {
        let [first, second] = [from, to].map(Duration::from_nanos);
        let value = between(&first, &second, ratio);
        assert!(first.min(second) <= value && value <= first.max(second));
        let expected = from as f64 * (1.0 - f64::from(ratio)) + to as f64 * f64::from(ratio);
        assert!((value.as_nanos() as f64 - expected).abs() < 1e6);
    });
}

#[test]
fn no_components_make_a_panic_of_a_duration() {
    use kinepack::schema::Components;
    let of = |seconds| Duration::from_components([seconds]);
    for zero in [-1.0, -0.0, 0.0, f64::NAN, f64::NEG_INFINITY, -f64::MIN_POSITIVE] {
        assert_eq!(of(zero), Duration::ZERO);
    }
    assert_eq!((of(1e300), of(f64::INFINITY)), (Duration::MAX, Duration::MAX));
    assert_eq!(of(1.5), Duration::from_millis(1500));
}

/// Everything in everything.
#[derive(Pack, Clone, Debug, PartialEq)]
enum Deep {
    Idle,
    Busy { queue: ArrayVec<Task, 2>, by: Option<ArrayString<3>> },
}

#[derive(Pack, Clone, Debug, PartialEq)]
enum Task {
    Move(Option<(i8, i8)>),
    Wait(#[pack(range = 0.0..=1.0, bits = 4)] Option<f32>),
    Stop,
}

fn task() -> impl Strategy<Value = Task> {
    prop_oneof![
        any::<Option<(i8, i8)>>().prop_map(Task::Move),
        proptest::option::of(0u8..16)
            .prop_map(|value| Task::Wait(value.map(|value| f32::from(value) / 15.0))),
        Just(Task::Stop),
    ]
}

fn deep() -> impl Strategy<Value = Deep> {
    let queue = proptest::collection::vec(task(), 0..=2);
    let busy = (queue, proptest::option::of("[a-z]{0,3}")).prop_map(|(queue, by)| Deep::Busy {
        queue: queue.into_iter().collect(),
        by: by.map(|by| ArrayString::from(&by).unwrap()),
    });
    prop_oneof![1 => Just(Deep::Idle), 4 => busy]
}

#[test]
fn optional_parts_nest() {
    for_all(3000, (deep(), deep(), 0.0f32..1.0), |(from, to, ratio)| {
        assert_eq!(round_trip(&from), from);
        assert_eq!(between(&from, &to, 0.0), from);
        assert_eq!(between(&from, &to, 1.0), to);
        lanes(&between(&from, &to, ratio));
    });
    for_all(1000, proptest::collection::vec(any::<u32>(), Deep::LANES), |codes| {
        // Any lanes give a state that a snapshot accepts.
        lanes(&Deep::reconstruct(&codes));
    });
}

#[test]
fn packets_carry_optional_parts() {
    let schema = Schema::of::<Deep>();
    for level in [Level::PACKED, Level::ADAPTIVE] {
        let codec = Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap();
        let world = || proptest::collection::vec(deep(), 1..6);
        for_all(200, proptest::collection::vec(world(), 3), |worlds| {
            let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
            let mut held = View::empty(&schema);
            for (tick, states) in (1..).map(Tick).zip(worlds) {
                let mut world = Snapshot::new(&schema, tick);
                for (id, state) in (0..).map(EntityId).zip(&states) {
                    world.push(id, state).unwrap();
                }
                let mut packet = Vec::new();
                let sent = encoder.encode(&held, &world, &mut packet).unwrap();
                held = decoder.decode(&held, &packet, tick).unwrap();
                assert_eq!(held, sent);
                let received: Vec<Deep> = held.iter().unwrap().map(|(_, state)| state).collect();
                assert_eq!(received, states);
            }
        });
    }
}
