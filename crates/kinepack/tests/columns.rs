//! Columns of numbers become the same lanes as the states in them, wherever in memory the columns
//! are.

use kinepack::schema::{Field, FieldKind};
use kinepack::values::{Column, ColumnsError, Number, Quantizer};
use kinepack::{EncodeError, EntityId, Pack, Schema, Snapshot, Tick};
use proptest::prelude::*;

#[derive(Clone, Pack)]
struct Ship {
    #[pack(range = [-64.0..64.0, -64.0..64.0, 0.0..16.0], precision = 0.01)]
    position: [f32; 3],
    #[pack(rotation, bits = 9)]
    rotation: [f32; 4],
    #[pack(range = -1e6..1e6, precision = 0.001)]
    distance: f64,
    #[pack(max = 100)]
    health: u8,
    serial: u64,
    drift: i16,
    lit: bool,
    #[pack(range = -8.0..8.0, precision = 0.5)]
    turret: Option<f32>,
    #[pack(range = -1.0..1.0, precision = 0.125)]
    pose: [f32; 6],
}

fn ship(seed: u32) -> Ship {
    let angle = seed as f32 * 0.37;
    let (sin, cos) = ((seed % 7) as f32 / 7.0, (seed % 5) as f32 / 5.0 + 0.1);
    Ship {
        position: [seed as f32 % 60.0, -(seed as f32 % 50.0), seed as f32 % 15.0],
        rotation: [sin, 0.25, -cos, 1.0 - angle % 1.0],
        distance: f64::from(seed) * -12.345_678,
        health: (seed % 101) as u8,
        serial: u64::MAX - u64::from(seed),
        drift: -(seed as i16),
        lit: seed % 3 == 1,
        turret: (!seed.is_multiple_of(4)).then_some((seed % 16) as f32 / 2.0 - 4.0),
        pose: [0.5, -0.5, (seed % 8) as f32 / 8.0, 0.0, -1.0, 0.875],
    }
}

/// The ships as an array of structs, with gaps between the fields, as a foreign program might hold
/// them.
struct Memory {
    bytes: Vec<u8>,
    /// The offset of each field, and the type of its numbers.
    fields: Vec<(usize, Number)>,
    stride: usize,
}

impl Memory {
    fn new(ships: &[Ship]) -> Self {
        let (mut bytes, mut fields, mut stride) = (Vec::new(), Vec::new(), 0);
        for ship in ships {
            let begin = bytes.len();
            fields.clear();
            let mut put = |number: Number, values: &[Vec<u8>]| {
                fields.push((bytes.len() - begin, number));
                values.iter().for_each(|value| bytes.extend(value));
                bytes.push(0xEE);
            };
            let floats = |values: &[f32]| -> Vec<Vec<u8>> {
                values.iter().map(|value| value.to_ne_bytes().to_vec()).collect()
            };
            put(Number::F32, &floats(&ship.position));
            put(Number::F32, &floats(&ship.rotation));
            put(Number::F64, &[ship.distance.to_ne_bytes().to_vec()]);
            put(Number::U8, &[vec![ship.health]]);
            put(Number::U64, &[ship.serial.to_ne_bytes().to_vec()]);
            put(Number::I16, &[ship.drift.to_ne_bytes().to_vec()]);
            put(Number::U8, &[vec![ship.lit.into()]]);
            put(Number::U8, &[vec![ship.turret.is_some().into()]]);
            // The quantizer does not read an absent field.
            put(Number::F32, &floats(&[ship.turret.unwrap_or(f32::NAN)]));
            put(Number::F32, &floats(&ship.pose));
            stride = bytes.len() - begin;
        }
        Self { bytes, fields, stride }
    }

    fn columns(&self) -> Vec<Column<'_>> {
        let column = |(begin, number): &(usize, Number)| {
            Column::new(&self.bytes[*begin..], self.stride, *number)
        };
        self.fields.iter().map(column).collect()
    }
}

fn ids(count: u32) -> Vec<EntityId> {
    (0..count).map(|nth| EntityId(3 * nth + 1)).collect()
}

#[test]
fn columns_become_the_lanes_of_the_structs() {
    let schema = Schema::of::<Ship>();
    let quantizer = Quantizer::new(&schema);
    for count in [1, 63, 64, 65, 300] {
        let ships: Vec<Ship> = (0..count).map(ship).collect();
        let ids = ids(count);
        let mut expected = Snapshot::new(&schema, Tick(5));
        expected.extend::<Ship>(ids.iter().copied().zip(&ships)).unwrap();
        let memory = Memory::new(&ships);
        let mut world = Snapshot::new(&schema, Tick(5));
        // The entities are added in two parts.
        let half = ids.len() / 2;
        quantizer.extend(&mut world, 0, &ids[..half], &memory.columns()).unwrap();
        let rest: Vec<Column<'_>> = memory
            .fields
            .iter()
            .map(|(begin, number)| {
                Column::new(&memory.bytes[half * memory.stride + begin..], memory.stride, *number)
            })
            .collect();
        quantizer.extend(&mut world, 0, &ids[half..], &rest).unwrap();
        assert!(world == expected, "{count}");
        let nothing = memory.fields.iter().map(|(_, number)| Column::new(&[], 0, *number));
        quantizer.extend(&mut world, 0, &[], &nothing.collect::<Vec<_>>()).unwrap();
        assert!(world == expected, "no entities");
    }
}

#[test]
fn refused_columns_change_nothing() {
    let schema = Schema::of::<Ship>();
    let quantizer = Quantizer::new(&schema);
    let mut ships: Vec<Ship> = (0..100).map(ship).collect();
    let mut world = Snapshot::new(&schema, Tick(5));
    world.extend::<Ship>([(EntityId(0), ship(7))]).unwrap();
    let before = world.clone();
    let mut refused = |ships: &[Ship], ids: &[EntityId], change: &dyn Fn(&mut Vec<Column<'_>>)| {
        let memory = Memory::new(ships);
        let mut columns = memory.columns();
        change(&mut columns);
        let error = quantizer.extend(&mut world, 0, ids, &columns).unwrap_err();
        assert!(world == before, "{error}");
        error
    };
    let ids = ids(100);
    let error = refused(&ships, &ids, &|columns| columns.truncate(9));
    assert_eq!(error, ColumnsError::Count { fields: 10, columns: 9 });
    let error = refused(&ships, &ids, &|columns| columns[0] = columns[3]);
    assert_eq!(error, ColumnsError::Number { field: 0, number: Number::U8 });
    let error = refused(&ships, &ids, &|columns| columns[3] = columns[0]);
    assert_eq!(error, ColumnsError::Number { field: 3, number: Number::F32 });
    let error = refused(&ships, &ids, &|columns| columns[6] = Column::new(&[1; 99], 1, Number::U8));
    assert_eq!(error, ColumnsError::Length { field: 6, needed_bytes: Some(100), bytes: 99 });
    let error = refused(&ships, &ids, &|columns| {
        columns[6] = Column::new(&[1], usize::MAX / 2, Number::U8);
    });
    assert_eq!(error, ColumnsError::Length { field: 6, needed_bytes: None, bytes: 1 });
    let error = refused(&ships, &ids[..2].iter().rev().copied().collect::<Vec<_>>(), &|_| {});
    assert_eq!(error, ColumnsError::Entities(EncodeError::IdsNotIncreasing { id: 1 }));

    ships[70].position[2] = 17.0;
    let error = refused(&ships, &ids, &|_| {});
    let out = EncodeError::OutOfRange { id: Some(211), field: "", value: 17.0 };
    assert_eq!(error, ColumnsError::Value { field: 0, error: out });
    assert_eq!(error.to_string(), "field 0: entity 211, the value 17 is outside of its limits");
    let mut clamped = ships.clone();
    clamped[70].position[2] = 15.99;
    let memory = Memory::new(&ships);
    let mut columns = memory.columns();
    columns[0] = columns[0].clamped();
    let [mut one, mut other] = [1, 2].map(|_| Snapshot::new(&schema, Tick(5)));
    quantizer.extend(&mut one, 0, &ids, &columns).unwrap();
    quantizer.extend(&mut other, 0, &ids, &Memory::new(&clamped).columns()).unwrap();
    assert!(one == other);

    let foreign = Schema::new(vec![Field::new("lit", FieldKind::Bool)]);
    let mut foreign = Snapshot::new(&foreign, Tick(0));
    let error = quantizer.extend(&mut foreign, 0, &ids, &columns).unwrap_err();
    assert!(matches!(error, ColumnsError::Entities(EncodeError::SchemaMismatch { .. })));
    let error = quantizer.extend(&mut one, 1, &ids, &columns).unwrap_err();
    let no_kind = EncodeError::NoSuchKind { kind: 1, kinds: 1 };
    assert_eq!(error, ColumnsError::Entities(no_kind));
}

proptest! {
    #[test]
    fn any_memory_is_refused_or_a_state(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        count in 0..4usize,
        places in prop::collection::vec((0..200usize, 0..64usize, 0..10usize, any::<bool>()), 10),
    ) {
        const NUMBERS: [Number; 10] = [
            Number::F32, Number::F64, Number::I8, Number::I16, Number::I32, Number::I64,
            Number::U8, Number::U16, Number::U32, Number::U64,
        ];
        let schema = Schema::of::<Ship>();
        let columns: Vec<Column<'_>> = places
            .iter()
            .map(|(begin, stride, number, clamps)| {
                let column = Column::new(&bytes[(*begin).min(bytes.len())..], *stride, NUMBERS[*number]);
                if *clamps { column.clamped() } else { column }
            })
            .collect();
        let mut world = Snapshot::new(&schema, Tick(0));
        let ids = ids(count as u32);
        match Quantizer::new(&schema).extend(&mut world, 0, &ids, &columns) {
            Ok(()) => {
                // The world's states can be read again, so all lanes are within their limits.
                let again = world.iter::<Ship>().unwrap().count();
                prop_assert_eq!(again, count);
            }
            Err(_) => prop_assert!(world.is_empty()),
        }
    }
}
