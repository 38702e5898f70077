//! Tests that for any schema and any words, a recording reads back bit for bit.

use std::io::Cursor;

use kinepack::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use kinepack::schema::{Field, FieldKind, Role, SchemaBuilder, TimePrecision};
use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};
use kinepack_capture::{Capture, Recorder};
use proptest::prelude::*;

use crate::files::Sink;
use crate::runner::for_all;

fn axis() -> impl Strategy<Value = FloatLimits> {
    (-1e6f64..1e6, 1e-3f64..1e6, 1.0f64..1e6, 0u8..4).prop_filter_map(
        "impossible",
        |(min, width, steps, form)| {
            let (end, step) = (min + width, width / steps);
            let limits = match form {
                0 => FloatLimits::new(min, end, step),
                1 => FloatLimits::until(min, end, step),
                2 => FloatLimits::until_with_bits(min, end, 12).map(FloatLimits::wrapping),
                _ => FloatLimits::new(min, end, step).and_then(FloatLimits::for_f32),
            };
            limits.ok()
        },
    )
}

fn kind() -> impl Strategy<Value = FieldKind> {
    let integer = |(a, b, step): (i64, i64, u64)| {
        let (min, max) = (i128::from(a.min(b)), i128::from(a.max(b)));
        IntegerLimits::new(min, max, step).ok().map(FieldKind::Integer)
    };
    prop_oneof![
        proptest::collection::vec(axis(), 1..4).prop_map(FieldKind::Floats),
        (any::<i64>(), any::<i64>(), 1u64..9).prop_filter_map("impossible", integer),
        Just(FieldKind::Integer(IntegerLimits::new(0, u64::MAX.into(), 1).unwrap())),
        (2u32..=20).prop_map(|bits| FieldKind::Rotation(SmallestThree::new(bits).unwrap())),
        Just(FieldKind::Bool),
        any::<u32>().prop_map(|max| FieldKind::Choice { max }),
        (1u8..5).prop_map(|lanes| FieldKind::Raw { lanes }),
        (1u8..9).prop_map(|len| FieldKind::Bytes { len }),
    ]
}

fn schemas() -> impl Strategy<Value = Schema> {
    let role = prop::sample::select(vec![
        Role::Plain,
        Role::Velocity,
        Role::Body,
        Role::Touched,
        Role::Mover,
        Role::Clock,
        Role::Cut,
        Role::Frame,
    ]);
    let precision = (0.1f64..5.0, 1.0f64..128.0, proptest::option::of(1e-3f64..1.0))
        .prop_map(|(ms, hz, max_step)| TimePrecision { max_step, ..TimePrecision::new(ms, hz) });
    let field =
        (".{0,9}", kind(), role, proptest::option::of(".{0,9}"), proptest::option::of(precision));
    let field = field.prop_map(|(name, kind, role, velocity_of, precision)| {
        let mut field = Field::new(name, kind).with_role(role);
        field.velocity_of = velocity_of;
        field.time_precision = precision;
        field
    });
    let field = (field, any::<bool>())
        .prop_map(|(field, spawn)| if spawn { field.with_spawn() } else { field });
    let fields = proptest::collection::vec(field, 0..6);
    let fields = (fields, any::<bool>()).prop_map(|(mut fields, has_frame)| {
        if has_frame {
            let ids = FieldKind::Integer(IntegerLimits::new(0, 9, 1).unwrap());
            let turn = FieldKind::Rotation(SmallestThree::new(9).unwrap());
            fields.push(Field::new("id of the frame", ids).with_role(Role::Frame));
            fields.push(Field::new("turn", turn).with_frame("id of the frame"));
        }
        fields
    });
    let fields = fields.boxed();
    let kinds = proptest::collection::vec((".{1,9}", fields.clone()), 1..5);
    let of_kinds = kinds.prop_filter_map("two of one name", |kinds| {
        let add = |builder: SchemaBuilder, (name, fields): (String, Vec<Field>)| {
            builder.kind_of_fields(name, fields)
        };
        kinds.into_iter().fold(Schema::builder(), add).build().ok()
    });
    prop_oneof![fields.prop_map(Schema::new), of_kinds]
}

/// Makes frames: their ids, and a seed for the kinds and lanes.
fn frames() -> impl Strategy<Value = Vec<(std::collections::BTreeSet<u32>, u64)>> {
    proptest::collection::vec(
        (proptest::collection::btree_set(any::<u32>(), 0..20), any::<u64>()),
        0..5,
    )
}

#[test]
fn any_schema_and_its_snapshots_read_back() {
    for_all(200, (schemas(), 0.001f64..1e6, frames()), |(schema, rate_hz, frames)| {
        let sink = Sink::default();
        let mut recorder = Recorder::to_writer("any", sink.clone()).unwrap();
        let stream = recorder.stream_of_lanes("any", &schema, rate_hz).unwrap();
        let mut snapshots = Vec::new();
        for (tick, (ids, mut seed)) in (0..).zip(frames) {
            let mut snapshot = Snapshot::new(&schema, Tick(tick * 7));
            for id in ids {
                let kind = seed as usize % schema.kinds().len();
                let lane = |lane: &kinepack::schema::Lane| {
                    seed = seed
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    ((seed >> 32) % (u64::from(lane.max) + 1)) as u32 >> (seed % 30)
                };
                let lanes = &schema.lanes()[schema.kinds()[kind].lanes()];
                let lanes: Vec<u32> = lanes.iter().map(lane).collect();
                snapshot.push_lanes_of(kind, EntityId(id), &lanes).unwrap();
            }
            recorder.record_snapshot(&stream, &snapshot).unwrap();
            snapshots.push(snapshot);
        }
        recorder.finish().unwrap();
        let mut capture = Capture::from_reader("any", Cursor::new(sink.bytes())).unwrap();
        for expected in &snapshots {
            let (_, frame) = capture.next_frame().unwrap().unwrap();
            let mut snapshot = Snapshot::new(frame.stream().schema(), frame.tick());
            frame.push_into(&mut snapshot).unwrap();
            assert!(snapshot == *expected);
        }
        assert!(capture.next_frame().unwrap().is_none() && capture.damage().is_empty());
        let read = &capture.streams()[0];
        // Compares the whole schema, including the parts that its hash does not cover.
        assert_eq!((read.schema(), read.rate_hz()), (&schema, rate_hz));
    });
}

#[derive(Pack)]
struct Words {
    #[pack(range = -1.0..=1.0, precision = 0.1)]
    numbers: [f64; 3],
    #[pack(range = -1.0..=1.0, precision = 0.1)]
    singles: [f32; 2],
    signed: i64,
    unsigned: u64,
    plain: [f32; 2],
    small: i8,
}

/// Makes the bits of all sorts of numbers.
fn bits() -> impl Strategy<Value = u64> {
    let special =
        [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN, 1.0, f64::MIN_POSITIVE];
    prop_oneof![
        any::<u64>(),
        any::<f32>().prop_map(|number| f64::from(number).to_bits()),
        prop::sample::select(special.map(f64::to_bits).to_vec()),
        // The next values are NaNs with payloads.
        (1u64..1 << 52).prop_map(|payload| 0x7FF << 52 | payload),
        (0u64..300).prop_map(|small| small),
    ]
}

#[test]
fn any_words_read_back_bit_for_bit() {
    let rows = proptest::collection::vec(
        (proptest::array::uniform3(bits()), any::<[f32; 2]>(), bits(), any::<i8>()),
        0..30,
    );
    // Sometimes all rows are the same, or all values of a column.
    for_all(150, (rows, any::<bool>(), 0usize..3), |(rows, is_constant, fixed)| {
        let states: Vec<Words> = rows
            .iter()
            .map(|row| {
                let (mut numbers, singles, word, small) = if is_constant { rows[0] } else { *row };
                numbers[fixed] = rows[0].0[fixed];
                Words {
                    numbers: numbers.map(f64::from_bits),
                    singles,
                    signed: word as i64,
                    unsigned: numbers[0],
                    plain: [f32::from_bits(word as u32), -0.0],
                    small,
                }
            })
            .collect();
        let sink = Sink::default();
        let mut recorder = Recorder::to_writer("any", sink.clone()).unwrap();
        let stream = recorder.stream::<Words>("any", 60.0).unwrap();
        recorder.record(&stream, Tick(0), (0..).map(|id| EntityId(id * id)).zip(&states)).unwrap();
        recorder.finish().unwrap();
        let mut capture = Capture::from_reader("any", Cursor::new(sink.bytes())).unwrap();
        let (_, frame) = capture.next_frame().unwrap().unwrap();
        assert_eq!(frame.ids().len(), states.len());
        let mut words = [0; Words::LANES];
        for (index, state) in states.iter().enumerate() {
            state.store_raw(&mut words).unwrap();
            let read: Vec<u64> = frame.columns().iter().map(|column| column[index]).collect();
            assert_eq!(read, words);
            assert_eq!(read[..3], state.numbers.map(f64::to_bits));
        }
    });
}
