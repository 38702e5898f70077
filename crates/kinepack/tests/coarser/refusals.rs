//! Schemas, states and packets with coarser fields that are refused.

use kinepack::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use kinepack::schema::{Coarser, Condition, Field, FieldKind, TimePrecision};
use kinepack::values::{Column, ColumnsError, Number, Quantizer};
use kinepack::{
    Codec, DecodeError, Decoder, EncodeError, Encoder, EntityId, Level, Pack, Profile, Schema,
    SetupError, Snapshot, Tick, View,
};

fn up_to(most: i128) -> FieldKind {
    FieldKind::Integer(IntegerLimits::new(0, most, 1).unwrap())
}

fn axis() -> FloatLimits {
    FloatLimits::until(0.0, 64.0, 1.0 / 16.0).unwrap()
}

/// A type with two lanes: a coarseness, and a value that is not rounded to it.
#[derive(Clone, Debug)]
struct Rough(u32, u32);

impl Pack for Rough {
    const LANES: usize = 2;

    fn fields(_: &str, fields: &mut Vec<Field>) {
        let value = Field::new("value", FieldKind::Floats(vec![axis()]));
        fields.push(Field::new("coarseness", up_to(9)));
        fields.push(value.with_coarser(Coarser::new("coarseness", 4)));
    }

    fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
        lanes.copy_from_slice(&[self.0, self.1]);
        Ok(())
    }

    fn reconstruct(lanes: &[u32]) -> Self {
        Self(lanes[0], lanes[1])
    }
}

/// The states of a coarseness and a value that are possible, and some that are too fine.
const RIGHT: [[u32; 2]; 6] = [[0, 17], [1, 18], [3, 0], [4, 1008], [9, 48], [2, 1023]];
const TOO_FINE: [[u32; 2]; 5] = [[1, 17], [3, 12], [4, 8], [9, 1022], [9, 1]];

/// Makes a schema of two kinds. The second kind has the fields of [`Rough`].
fn two_kinds() -> Schema {
    let lamp = vec![Field::new("lit", FieldKind::Bool)];
    Schema::builder().kind_of_fields("lamp", lamp).kind::<Rough>("rough").build().unwrap()
}

#[test]
fn states_that_are_too_fine_are_refused() {
    let mut world = Snapshot::new(&two_kinds(), Tick(1));
    for (id, lanes) in (0..).map(EntityId).zip(RIGHT) {
        world.push_lanes_of(1, id, &lanes).unwrap();
    }
    let refused = |id, value| Err(EncodeError::LaneOutOfRange { id: Some(id), lane: 2, value });
    let before = world.clone();
    for [coarseness, value] in TOO_FINE {
        let state = Rough(coarseness, value);
        assert_eq!(world.push_lanes_of(1, EntityId(9), &[coarseness, value]), refused(9, value));
        assert_eq!(world.push(EntityId(9), &state), refused(9, value));
        assert_eq!(world.set(EntityId(3), &state), refused(3, value).map(|()| true));
        let mut many: Vec<_> = (10..90).map(|id| (EntityId(id), Rough(0, id))).collect();
        many[70].1 = state;
        assert_eq!(world.extend(many.clone()), refused(80, value));
        assert_eq!(world, before);
        many[70].1 = Rough(2, 20);
        let mut other = world.clone();
        other.extend(many).unwrap();
        assert_eq!(other.lane(2)[RIGHT.len() + 70], 20);
    }
}

#[test]
fn columns_of_numbers_that_are_too_fine_are_refused() {
    let schema = two_kinds();
    let quantizer = Quantizer::new(&schema);
    let extend = |world: &mut Snapshot, coarseness: [u8; 2], values: [f32; 2]| {
        let values: Vec<u8> = values.into_iter().flat_map(f32::to_ne_bytes).collect();
        let columns =
            [Column::new(&coarseness, 1, Number::U8), Column::new(&values, 4, Number::F32)];
        quantizer.extend(world, 1, &[EntityId(4), EntityId(7)], &columns)
    };
    let mut world = Snapshot::new(&schema, Tick(1));
    let error = EncodeError::LaneOutOfRange { id: Some(7), lane: 2, value: 20 };
    let refused = Err(ColumnsError::Entities(error));
    assert_eq!(extend(&mut world, [0, 3], [1.0625, 1.25]), refused);
    assert!(world.is_empty());
    extend(&mut world, [0, 3], [1.0625, 1.5]).unwrap();
    assert_eq!([world.lane(1), world.lane(2)], [[0, 3], [17, 24]]);
}

/// Makes the schema of [`Rough`] with and without the attribute, after a number that changes.
fn with_and_without() -> [Schema; 2] {
    let with = [vec![Field::new("number", up_to(1000))], Schema::of::<Rough>().fields().to_vec()];
    let mut without = with.concat();
    without[2].coarser = None;
    [Schema::new(with.concat()), Schema::new(without)]
}

/// Makes a world of one entity for each pair of a coarseness and a value.
fn world(schema: &Schema, tick: u32, states: &[[u32; 2]]) -> Snapshot {
    let mut world = Snapshot::new(schema, Tick(tick));
    for (id, [coarseness, value]) in (0..).map(EntityId).zip(states) {
        world.push_lanes(id, &[tick, *coarseness, *value]).unwrap();
    }
    world
}

/// A sender whose schema has the same lanes, but not the attribute, leads a receiver to values that
/// are too fine.
#[test]
fn packets_that_lead_to_values_that_are_too_fine_are_refused() {
    let [with, without] = with_and_without();
    assert_ne!(with.hash(), without.hash());
    for level in Level::TABLE {
        let [to, from] = [&with, &without]
            .map(|schema| Codec::new(schema.clone(), level, Profile::untrained(schema)).unwrap());
        let (mut encoder, mut decoder) = (Encoder::new(&from), Decoder::new(&to));
        let mut last = None;
        for [coarseness, value] in TOO_FINE {
            // The entity is added; or it is known, and its value stays while it becomes coarser.
            let known = [[0, 7], [0, value]];
            let baselines = [vec![], vec![known[0]], known.to_vec()];
            for (nth, states) in baselines.iter().enumerate() {
                let [base, held] =
                    [&without, &with].map(|schema| View::from(world(schema, 1, states)));
                // A known entity's value is sent as 0 steps, which are from a coarse value.
                if nth == 2 && matches!(level.row(), 10 | 11) {
                    continue;
                }
                let after = [[0, 20], [coarseness, value]];
                let mut packet = Vec::new();
                encoder.encode(&base, &world(&without, 2, &after), &mut packet).unwrap();
                let read = decoder.decode(&held, &packet, Tick(2));
                assert!(
                    matches!(read, Err(DecodeError::OutOfRange { .. })),
                    "level {}, baseline {nth}: {read:?}",
                    level.row()
                );
                last = Some(held);
            }
            // The refused packets changed nothing.
            let held = last.take().unwrap();
            let right = world(&with, 3, &[[0, 17], [4, 1008]]);
            let mut packet = Vec::new();
            let sent = Encoder::new(&to).encode(&held, &right, &mut packet).unwrap();
            assert!(decoder.decode(&held, &packet, Tick(3)).unwrap() == sent);
        }
    }
}

#[test]
fn impossible_fields_are_refused() {
    let made = |fields: Vec<Field>| Schema::try_new(fields).map(|_| ());
    let coarse = |kind, most| Field::new("it", kind).with_coarser(Coarser::new("c", most));
    let told = |kind| Field::new("c", kind);
    let rotation = || FieldKind::Rotation(SmallestThree::new(9).unwrap());
    let floats = || FieldKind::Floats(vec![axis(); 3]);
    for kind in [floats(), rotation(), FieldKind::Floats(Vec::new())] {
        for most in [1, 4, 31] {
            for told in [told(up_to(31)), told(up_to(0)), told(up_to(4))] {
                assert_eq!(made(vec![told, coarse(kind.clone(), most)]), Ok(()));
            }
        }
    }
    let refused = Err(SetupError::BadCoarseness { field: 1 });
    for most in [0, 32, 255] {
        assert_eq!(made(vec![told(up_to(4)), coarse(floats(), most)]), refused);
    }
    let wraps = FloatLimits::until(0.0, 360.0, 0.5).unwrap().wrapping();
    let exact = [
        FieldKind::Floats(vec![axis(), wraps]),
        up_to(100),
        FieldKind::Bool,
        FieldKind::Choice { max: 4 },
        FieldKind::Raw { lanes: 1 },
        FieldKind::Bytes { len: 2 },
    ];
    for kind in exact {
        assert_eq!(made(vec![told(up_to(4)), coarse(kind, 3)]), refused);
    }
    assert_eq!(made(vec![told(up_to(4)), coarse(floats(), 3).with_spawn()]), refused);
    assert_eq!(made(vec![told(up_to(4)).with_spawn(), coarse(floats(), 3)]), refused);
    let others =
        [up_to(32), up_to(1 << 40), FieldKind::Bool, FieldKind::Choice { max: 3 }, floats()];
    for kind in others {
        assert_eq!(made(vec![told(kind), coarse(floats(), 3)]), refused);
    }
    // The last earlier field of the name counts, even if only another one can be the coarseness.
    let named = |kind| vec![told(up_to(4)), told(kind), coarse(floats(), 3)];
    assert_eq!(made(named(up_to(4))), Ok(()));
    let refused = |field| Err(SetupError::BadCoarseness { field });
    assert_eq!(made(named(FieldKind::Bool)), refused(2));
    assert_eq!(made(vec![coarse(floats(), 3), told(up_to(4))]), refused(0));
    assert_eq!(made(vec![coarse(floats(), 3)]), refused(0));
    // A coarseness of another kind does not count.
    let kinds = Schema::builder()
        .kind_of_fields("first", vec![told(up_to(4))])
        .kind_of_fields("second", vec![Field::new("lit", FieldKind::Bool), coarse(floats(), 3)]);
    assert_eq!(kinds.build().map(|_| ()), refused(2));
    // What is present must not depend on how coarse something is.
    let condition = Condition::new(told(up_to(4)).name, 0..=0);
    let heat = Field::new("heat", FieldKind::Bool).with_condition(condition);
    assert_eq!(made(vec![told(up_to(4)), heat, coarse(floats(), 3)]), refused(1));
    assert_eq!(
        SetupError::BadCoarseness { field: 2 }.to_string(),
        "field 2 may be coarser, so it must be a rotation or numbers that do not wrap, allow 1 to \
         31 bits, and name an earlier integer of at most 31; or its condition names a coarseness, \
         which no condition may"
    );
}

#[test]
fn a_field_has_no_time_precision_if_it_may_be_coarser() {
    let field = Field::new("value", FieldKind::Floats(vec![axis()]));
    let field = field.with_time_precision(TimePrecision::new(2.0, 60.0));
    let both = field.clone().with_coarser(Coarser::new("c", 3));
    assert!(field.takes_time_precision() && !both.takes_time_precision());
    let codec = |field: Field, level| {
        let schema = Schema::new(vec![Field::new("c", up_to(3)), field]);
        Codec::new(schema.clone(), level, Profile::untrained(&schema)).map(|_| ())
    };
    for level in Level::TABLE {
        assert_eq!(codec(field.clone(), level), Ok(()));
        assert_eq!(codec(both.clone(), level), Err(SetupError::BadTimePrecision { field: 1 }));
    }
}
