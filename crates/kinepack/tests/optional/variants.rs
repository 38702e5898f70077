//! Tests of enums with fields.

use kinepack::schema::{Field, FieldKind, Role, TimePrecision};
use kinepack::{Between, EncodeError, Pack, Schema};

use super::{
    ALWAYS, Gear, Halves, Meters, Summary, at, between, bits, error, expected, lanes, round_trip,
    summary, turn,
};

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
pub(super) enum Spell {
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
    #[pack(crate = crate::optional::variants::kine::reexport)]
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
