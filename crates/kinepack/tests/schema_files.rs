//! Tests of schemas as bytes. See `spec/CODEC.md`, section 5.8.

use kinepack::hash::Fnv1a;
use kinepack::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use kinepack::schema::{Condition, Field, FieldKind, Role, TimePrecision};
use kinepack::{Schema, SetupError};

use crate::support::{check_stored_schema, from_hex, schema, schemas};

const VECTORS: &str = include_str!("../../../spec/vectors/schemas.txt");

/// Makes a schema with everything that a field can have.
fn everything() -> Schema {
    let height = FloatLimits::new(-1.5, 32.0, 0.125).unwrap();
    let moves = TimePrecision::new(2.0, 60.0);
    let fields = vec![
        Field::new("kind", FieldKind::Choice { max: 3 }).with_spawn(),
        Field::new("place", FieldKind::Floats(vec![height; 2]))
            .with_role(Role::Body)
            .with_time_precision(moves.with_max_step(0.5)),
        Field::new("turn", FieldKind::Rotation(SmallestThree::new(9).unwrap()))
            .with_role(Role::Body)
            .with_time_precision(moves),
        Field::new("speed", FieldKind::Floats(vec![height]))
            .with_role(Role::Velocity)
            .with_velocity_of("place"),
        Field::new("money", FieldKind::Integer(IntegerLimits::new(-7, 1 << 40, 3).unwrap()))
            .with_condition(Condition::new("kind", 1..=2)),
        Field::new("blob", FieldKind::Bytes { len: 5 }),
        Field::new("raw", FieldKind::Raw { lanes: 2 }).with_role(Role::Clock),
        Field::new("lit", FieldKind::Bool).with_role(Role::Touched),
    ];
    let other = vec![Field::new("größe", FieldKind::Choice { max: u32::MAX })];
    Schema::builder()
        .kind_of_fields("thing", fields)
        .kind_of_fields("other", other)
        .build()
        .unwrap()
}

fn all() -> Vec<(&'static str, Schema)> {
    let mut all = schemas();
    all.extend(["kinds", "coarser", "breaks"].map(|name| (name, schema(name))));
    all.push(("everything", everything()));
    all
}

/// Appends the correct checksum to a file.
fn closed(body: &[u8]) -> Vec<u8> {
    let mut hash = Fnv1a::new();
    hash.add(body);
    [body, &hash.finish().to_le_bytes()].concat()
}

#[test]
fn a_schema_comes_back_with_all_that_it_has() {
    for (name, schema) in all() {
        let bytes = schema.to_bytes();
        let read = Schema::from_bytes(&bytes).unwrap();
        assert_eq!((read.fields(), read.lanes()), (schema.fields(), schema.lanes()), "{name}");
        assert_eq!((read.hash(), read.to_bytes()), (schema.hash(), bytes), "{name}");
        let names = |schema: &Schema| -> Vec<String> {
            schema.kinds().iter().map(|kind| kind.name().to_owned()).collect()
        };
        assert_eq!(names(&read), names(&schema));
    }
}

#[test]
fn frozen_schemas_are_read_and_written() {
    // Compares only two schemas, because the tests of the other vectors check their own.
    for (name, schema) in [("cube", schema("cube")), ("everything", everything())] {
        check_stored_schema(name, &schema);
    }
    for line in VECTORS.lines().skip(1) {
        Schema::from_bytes(&from_hex(line.split_once(' ').unwrap().1)).unwrap();
    }
}

#[test]
fn other_bytes_are_refused() {
    for (name, schema) in all() {
        let bytes = schema.to_bytes();
        for end in 0..bytes.len() {
            assert!(Schema::from_bytes(&bytes[..end]).is_err(), "{name}");
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert!(Schema::from_bytes(&damaged).is_err(), "{name}, byte {at}");
            }
        }
        // A changed file with a corrected checksum is refused, or its schema differs only in its
        // precision.
        let body = &bytes[..bytes.len() - 8];
        for at in 0..body.len() {
            for value in [0, 1, 0x7F, 0x80, 0xFF] {
                let mut forged = body.to_vec();
                forged[at] = value;
                if let Ok(read) = Schema::from_bytes(&closed(&forged)) {
                    assert_eq!(read.hash(), schema.hash(), "{name}, byte {at}");
                }
            }
            let longer = [&body[..at], &[0], &body[at..]].concat();
            if let Ok(read) = Schema::from_bytes(&closed(&longer)) {
                assert_eq!(read.hash(), schema.hash(), "{name}, byte {at}");
            }
        }
        assert_eq!(
            Schema::from_bytes(&closed(&[body, &[0]].concat())).err(),
            Some(SetupError::BadSchemaFile)
        );
    }
    let wide = |fields: usize| {
        let raw = |nth: usize| Field::new(format!("{nth}"), FieldKind::Raw { lanes: 128 });
        Schema::new((0..fields).map(raw).collect()).to_bytes()
    };
    assert_eq!(Schema::from_bytes(&wide(32)).unwrap().lanes().len(), 4096);
    assert_eq!(Schema::from_bytes(&wide(33)).err(), Some(SetupError::BadSchemaFile));
    let mut later = everything().to_bytes();
    later[4] = 2;
    let expected = SetupError::SchemaVersion { version: 2, newest: 1 };
    assert_eq!(Schema::from_bytes(&later).err(), Some(expected));
}

/// Makes a file of one kind without a name, with these fields.
fn file_of(fields: &[&[u8]]) -> Vec<u8> {
    let mut body = [&b"KSCH"[..], &[1], &[0; 8], &[1, 0]].concat();
    let mut count = fields.len();
    while count >= 0x80 {
        body.push(count as u8 | 0x80);
        count >>= 7;
    }
    body.push(count as u8);
    body.extend(fields.concat());
    closed(&body)
}

#[test]
fn fields_and_their_conditions_take_memory_in_proportion() {
    // These fields have no lanes: no name, no role, no flags, and 0 bytes.
    let empty = file_of(&[&[0, 0, 0, 6, 0][..]; 100_000]);
    // These are bools, each present only under a condition on the previous one.
    let mut bools = vec![&[1, b'a', 0, 2, 3, 1, b'a', 1, 1][..]; 4_096];
    bools[0] = &[1, b'a', 0, 0, 3];
    let chain = file_of(&bools);
    for (file, expected) in
        [(empty, SetupError::BadSchemaFile), (chain, SetupError::BadCondition { field: 65 })]
    {
        let memory = allocation_counter::measure(|| {
            assert_eq!(Schema::from_bytes(&file).err(), Some(expected));
        });
        assert!(memory.bytes_max < 8 << 20, "{} bytes", memory.bytes_max);
    }
    let chained = Field::new("a", FieldKind::Bool).with_condition(Condition::new("a", 1..=1));
    let bools = |count: usize| {
        let first = Field::new("a", FieldKind::Bool);
        Schema::try_new([vec![first], vec![chained.clone(); count - 1]].concat())
    };
    assert!(bools(65).is_ok());
    assert_eq!(bools(66).err(), Some(SetupError::BadCondition { field: 65 }));
}
