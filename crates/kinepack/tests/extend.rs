//! `Snapshot::extend` makes the snapshots that `push` makes, and refuses what `push` refuses.

use core::time::Duration;

use kinepack::schema::{Field, FieldKind, PackWith};
use kinepack::{EncodeError, EntityId, Pack, Schema, Snapshot, Tick};
use proptest::collection::vec;
use proptest::prelude::*;

/// A struct with every kind of field that a struct can have.
#[derive(Clone, Debug, PartialEq, Pack)]
struct Everything {
    #[pack(range = [-256.0..256.0, -256.0..256.0, 0.0..32.0], precision = 1.0 / 512.0)]
    position: [f32; 3],
    #[pack(range = -9.0..=9.0, bits = 7, clamp)]
    velocity: [f64; 2],
    #[pack(range = 0.0..360.0, precision = 1.0, wrap)]
    yaw_deg: f32,
    #[pack(range = -1.0..=1.0, bits = 5)]
    samples: [f32; 6],
    #[pack(rotation, bits = 9)]
    orientation: [f32; 4],
    #[pack(max = 100, clamp)]
    health: u8,
    #[pack(with = Halves)]
    count: u32,
    #[pack(range = 0.0..=8.0, precision = 0.5)]
    timer: Duration,
    raw: f32,
    part: Part,
    flags: [bool; 3],
    #[pack(skip)]
    name: u32,
}

#[derive(Clone, Debug, PartialEq, Pack)]
struct Part {
    #[pack(max = 9)]
    digit: u64,
    wide: u64,
}

/// Halves a number, which must be even.
struct Halves;

impl PackWith<u32> for Halves {
    const LANES: usize = 1;

    fn fields(path: &str, fields: &mut Vec<Field>) {
        fields.push(Field::new(path, FieldKind::Choice { max: 100 }));
    }

    fn quantize(value: &u32, lanes: &mut [u32]) -> Result<(), EncodeError> {
        lanes[0] = value / 2;
        match value % 2 {
            0 => Ok(()),
            _ => Err(EncodeError::OutOfRange { id: None, field: "", value: f64::from(*value) }),
        }
    }

    fn reconstruct(lanes: &[u32]) -> u32 {
        lanes[0] * 2
    }
}

/// A struct whose parts may be absent.
#[derive(Clone, Debug, PartialEq, Pack)]
struct Optional {
    #[pack(max = 9)]
    digit: Option<u8>,
    lit: bool,
}

fn state() -> impl Strategy<Value = Everything> {
    // The value is mostly inside the limits. Sometimes it is at an end, outside, or not a number.
    let axis = || {
        prop_oneof![
            60 => 0.0f32..31.0,
            1 => Just(31.999_999),
            1 => Just(0.5 / 512.0),
            1 => Just(-1e-9),
            1 => Just(32.0),
            1 => Just(f32::NAN),
        ]
    };
    let numbers = ([axis(), axis(), axis()], [-20.0..20.0, -20.0..20.0], -400.0f32..400.0);
    let others = (proptest::array::uniform4(-1.0f32..1.0), any::<u8>(), 0u32..100, 0u64..8000);
    let rest = (proptest::array::uniform6(-1.0f32..1.0), any::<[bool; 3]>(), any::<u64>());
    (numbers, others, rest).prop_map(|(numbers, others, rest)| Everything {
        position: numbers.0,
        velocity: numbers.1,
        yaw_deg: numbers.2,
        samples: rest.0,
        orientation: others.0,
        health: others.1,
        count: if others.2 == 99 { 99 } else { others.2 & !1 },
        timer: Duration::from_millis(others.3),
        raw: numbers.2,
        part: Part { digit: rest.2 % 10, wide: rest.2 },
        flags: rest.1,
        name: 0,
    })
}

/// Pushes the entities one by one.
fn push_all<T: Pack>(world: &mut Snapshot, entities: &[(EntityId, T)]) -> Result<(), EncodeError> {
    entities.iter().try_for_each(|(id, state)| world.push(*id, state))
}

/// Appends entities to two equal worlds in both ways, and checks that the results are the same.
/// Returns the resulting world.
fn check<T: Pack + Clone>(before: &Snapshot, entities: &[(EntityId, T)]) -> Snapshot {
    let (mut pushed, mut extended) = (before.clone(), before.clone());
    let expected = push_all(&mut pushed, entities);
    // The results are compared as text, because NaN is not equal to itself.
    let result = extended.extend::<T>(entities.iter().map(|(id, state)| (*id, state)));
    assert_eq!(format!("{result:?}"), format!("{expected:?}"));
    assert_eq!(extended, if expected.is_ok() { pushed } else { before.clone() });
    let mut owned = before.clone();
    let result = owned.extend(entities.iter().cloned());
    assert_eq!(format!("{result:?}"), format!("{expected:?}"));
    assert_eq!(owned, extended);
    extended
}

fn ids(count: usize) -> impl Iterator<Item = EntityId> {
    (0..count as u32).map(|id| EntityId(3 * id + 1))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn it_is_the_same_as_pushing(states in vec(state(), 0..200)) {
        let world = Snapshot::new(&Schema::of::<Everything>(), Tick(1));
        let entities: Vec<_> = ids(states.len()).zip(states).collect();
        let mut world = check(&world, &entities);
        // Appends the same entities without the refused ones.
        world.clear(Tick(2));
        let mut right = entities;
        right.retain(|(id, state)| Snapshot::new_like(&world).push(*id, state).is_ok());
        let world = check(&world, &right);
        prop_assert_eq!(world.len(), right.len());
    }
}

#[test]
fn kinds_are_extended_in_any_order() {
    let schema = Schema::builder().kind::<Optional>("optional").kind::<Part>("part");
    let world = Snapshot::new(&schema.build().unwrap(), Tick(1));
    let part = |digit| Part { digit, wide: digit << 40 };
    let parts: Vec<_> = ids(150).zip((0..150).map(|nth| part(nth % 10))).collect();
    let optional = |nth: u8| Optional {
        digit: nth.is_multiple_of(3).then_some(nth % 10),
        lit: nth.is_multiple_of(2),
    };
    let optionals: Vec<_> =
        ids(130).map(|id| EntityId(id.0 + 1)).zip((0..130).map(optional)).collect();
    let world = check(&world, &parts[..20]);
    let world = check(&world, &optionals[..99]);
    let world = check(&world, &parts[20..]);
    let world = check(&world, &optionals[99..]);
    assert_eq!([world.of_kind(0).len(), world.of_kind(1).len()], [130, 150]);
    // The last entity of a kind in the middle is refused, so the world stays as it was.
    let mut refused = vec![(EntityId(1000), Optional { digit: None, lit: true })];
    refused.push((EntityId(1001), Optional { digit: Some(10), lit: true }));
    assert_eq!(check(&world, &refused), world);
    refused[1] = (EntityId(1000), Optional { digit: None, lit: false });
    assert_eq!(check(&world, &refused), world);
    assert_eq!(check(&world, &[(EntityId(1), part(1))]), world, "an id below the last");
}

#[test]
fn other_types_are_refused() {
    let mut world = Snapshot::new(&Schema::of::<Part>(), Tick(1));
    let lamp = Optional { digit: None, lit: true };
    let refused = world.extend([(EntityId(7), lamp)]);
    assert!(matches!(refused, Err(EncodeError::TypeMismatch { id: Some(7), .. })));
    assert!(world.is_empty());
}

/// A type whose `Pack` may write a lane above the maximum that its field declares.
#[derive(Clone, Debug)]
struct Liar(u32);

impl Pack for Liar {
    const LANES: usize = 1;

    fn fields(path: &str, fields: &mut Vec<Field>) {
        fields.push(Field::new(path, FieldKind::Choice { max: 9 }));
    }

    fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
        lanes[0] = self.0;
        Ok(())
    }

    fn reconstruct(lanes: &[u32]) -> Self {
        Self(lanes[0])
    }
}

#[test]
fn lanes_above_their_maximum_are_refused() {
    let world = Snapshot::new(&Schema::of::<Liar>(), Tick(1));
    for wrong in [10, 1 << 31, u32::MAX] {
        let entities: Vec<_> = ids(70).zip((0..70).map(|nth| Liar(nth % 10))).collect();
        let mut wrong_one = entities.clone();
        wrong_one[66].1 = Liar(wrong);
        assert!(check(&world, &wrong_one).is_empty());
        assert_eq!(check(&world, &entities).len(), 70);
    }
}
