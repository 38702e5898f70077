//! Tests of `Option`, with attributes and without.

use kinepack::schema::{FieldKind, TimePrecision};
use kinepack::{BytesUpTo, EncodeError, Pack, Schema};

use super::{
    ALWAYS, Gear, Halves, Meters, Place, between, bits, error, expected, lanes, round_trip,
    summary, turn,
};

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
