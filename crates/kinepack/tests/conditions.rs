//! Tests of fields that may be absent: which schemas are refused, which states are valid, and that
//! absent fields take no bits. Also tests the frozen bytes of `spec/vectors/optional.txt`.
//! Generated schemas with such fields are in `generated/`, and a second decoder is in `reference/`.

use kinepack::quantize::IntegerLimits;
use kinepack::schema::{Condition, Field, FieldKind};
use kinepack::stream::{StreamBase, StreamCodec, StreamLevel};
use kinepack::{
    Between, Codec, Decoder, EncodeError, Encoder, EntityId, Level, Profile, Schema, SetupError,
    Snapshot, Tick, View,
};

use crate::support::{
    PACKETS, World, check_stored_schema, hex, packet_lines, schema, schema_lines,
};

fn number(max: i128) -> FieldKind {
    FieldKind::Integer(IntegerLimits::new(0, max, 1).unwrap())
}

fn only(selector: &str, values: std::ops::RangeInclusive<u32>, field: Field) -> Field {
    field.with_condition(Condition::new(selector, values))
}

#[test]
fn a_condition_must_name_an_earlier_flag_choice_or_integer() {
    let fuel = || Field::new("fuel", number(100));
    let made = |selector: FieldKind, values| {
        Schema::try_new(vec![Field::new("on", selector), only("on", values, fuel())])
    };
    for selector in [FieldKind::Bool, FieldKind::Choice { max: 3 }, number(7)] {
        assert!(made(selector, 1..=1).is_ok());
    }
    let refusal = Err(SetupError::BadCondition { field: 1 });
    let raw = FieldKind::Raw { lanes: 1 };
    for selector in [number(1 << 40), raw, FieldKind::Bytes { len: 1 }] {
        assert_eq!(made(selector, 1..=1), refusal);
    }
    #[expect(clippy::reversed_empty_ranges, reason = "it must be refused")]
    let empty = 2..=1;
    assert_eq!(made(FieldKind::Bool, empty), refusal);
    let later = vec![only("on", 1..=1, fuel()), Field::new("on", FieldKind::Bool)];
    assert_eq!(Schema::try_new(later), Err(SetupError::BadCondition { field: 0 }));
    let itself = vec![only("on", 1..=1, Field::new("on", FieldKind::Bool))];
    assert_eq!(Schema::try_new(itself), Err(SetupError::BadCondition { field: 0 }));
}

#[test]
#[should_panic(expected = "the condition of field 0 must name an earlier flag, choice or integer")]
fn a_schema_that_the_program_makes_panics_instead() {
    Schema::new(vec![only("on", 1..=1, Field::new("fuel", number(100)))]);
}

/// If two selectors have the same name, the later one counts.
#[test]
fn the_last_earlier_field_of_the_name_is_the_selector() {
    let on = || Field::new("on", FieldKind::Bool);
    let schema = Schema::new(vec![on(), on(), only("on", 1..=1, Field::new("a", number(9))), on()]);
    let field = &schema.fields()[2];
    assert!(field.is_present(&[0, 1, 0, 0]) && !field.is_present(&[1, 0, 0, 1]));
}

#[test]
fn a_field_is_absent_if_its_selector_is() {
    let schema = schema("optional");
    let tension = schema.fields().iter().find(|f| f.name == "weapon.Bow.tension").unwrap();
    let weapon = schema.fields().iter().find(|field| field.name == "weapon").unwrap();
    let mut lanes = vec![0; schema.lanes().len()];
    lanes[weapon.lanes().start] = 1;
    assert!(!weapon.is_present(&lanes) && !tension.is_present(&lanes));
    lanes[weapon.lanes().start - 1] = 1;
    assert!(weapon.is_present(&lanes) && tension.is_present(&lanes));
}

#[test]
fn lanes_of_absent_fields_are_refused_unless_they_are_zero() {
    let schema = schema("optional");
    let mut lanes: Vec<u32> = schema.lanes().iter().map(|lane| lane.max).collect();
    // The lanes describe a soldier without a weapon and with an empty path.
    let [weapon, len] = ["weapon?", "path.len"]
        .map(|name| schema.fields().iter().find(|field| field.name == name).unwrap().lanes().start);
    (lanes[weapon], lanes[len]) = (0, 0);
    let refused = |lane: usize, id| {
        Err(EncodeError::LaneOutOfRange { id, lane, value: schema.lanes()[lane].max })
    };
    let mut snapshot = Snapshot::new(&schema, Tick(0));
    assert_eq!(snapshot.push_lanes(EntityId(4), &lanes), refused(weapon + 1, Some(4)));
    assert!(snapshot.is_empty());
    let codec = StreamCodec::new(schema.clone(), StreamLevel::Packed).unwrap();
    assert_eq!(codec.check_lanes(&lanes), refused(weapon + 1, None));
    let mut packet = vec![7];
    let encoded = codec.encode(None, &lanes, &mut codec.nothing_learned(), &mut packet);
    assert_eq!((encoded, packet), (refused(weapon + 1, None), vec![7]));
    let base = StreamBase { lanes: &lanes, learned: &codec.nothing_learned(), lag: 1 };
    let mut room = vec![0; lanes.len()];
    assert!(codec.decode(Some(base), &mut room, &mut codec.nothing_learned(), &[0; 9]).is_err());

    schema.clear_absent(&mut lanes);
    assert_eq!(snapshot.push_lanes(EntityId(4), &lanes), Ok(()));
    assert_eq!(codec.check_lanes(&lanes), Ok(()));
}

/// One entity's option is set and cleared. The expected bits are counted by hand.
#[test]
fn an_option_that_appears_and_disappears_by_hand() {
    let fuel = only("fuel?", 1..=1, Field::new("fuel", number(100)));
    let schema = Schema::new(vec![Field::new("fuel?", FieldKind::Bool), fuel]);
    let state = |tick, lanes: [u32; 2]| {
        let mut snapshot = Snapshot::new(&schema, Tick(tick));
        snapshot.push_lanes(EntityId(0), &lanes).unwrap();
        View::from(snapshot)
    };
    let profile = Profile::untrained(&schema);
    let codec = Codec::new(schema.clone(), Level::PACKED, profile).unwrap();
    let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
    let mut bits = |before: &View, after: &View| {
        let mut packet = Vec::new();
        encoder.encode(before, after, &mut packet).unwrap();
        assert!(decoder.decode(before, &packet, after.tick).as_ref() == Ok(after));
        let size = encoder.size();
        (size.sets_bits, size.fields_bits.clone())
    };
    let [off, on] = [state(1, [0, 0]), state(2, [1, 80])];
    // One bit signals that the set of entities is the same. Two bits signal which entities changed,
    // and two more signal which of them changed the flag: each time `1`, and a bit for the entity.
    // The flag takes no further bits, because it has only one other value.
    const FLAG: u64 = 1 + 2 + 2;
    // If the fuel is present, two more bits signal which entities changed the fuel.
    let (sets, fields) = bits(&off, &on);
    assert_eq!((sets, fields[0]), (FLAG + 2, 0));
    assert!(fields[1] >= 7);
    assert_eq!(bits(&on, &off), (FLAG, vec![0, 0]));
}

#[test]
fn absent_fields_take_no_bits_at_levels_that_send_every_entity() {
    let fuel = only("fuel?", 1..=1, Field::new("fuel", number(100)));
    let schema = Schema::new(vec![Field::new("fuel?", FieldKind::Bool), fuel]);
    let codec = Codec::new(schema.clone(), Level::TABLE[0], Profile::untrained(&schema)).unwrap();
    let mut world = Snapshot::new(&schema, Tick(1));
    for id in 0..100 {
        world
            .push_lanes(EntityId(id), &[u32::from(id < 10), id.min(9) % 10 * u32::from(id < 10)])
            .unwrap();
    }
    let mut encoder = Encoder::new(&codec);
    encoder.encode(&View::empty(&schema), &world, &mut Vec::new()).unwrap();
    assert_eq!(encoder.size().fields_bits, [100, 10 * 7]);
}

#[test]
fn absent_fields_have_no_raw_words_and_step() {
    let fuel =
        FieldKind::Floats(vec![kinepack::quantize::FloatLimits::new(0.0, 100.0, 1.0).unwrap()]);
    let schema = Schema::new(vec![
        Field::new("fuel?", FieldKind::Bool),
        only("fuel?", 1..=1, Field::new("fuel", fuel)),
    ]);
    let mut lanes = [9, 9];
    let words = [0, 80.0_f64.to_bits()];
    assert_eq!(schema.quantize_raw(&words, &mut lanes), Ok(true));
    assert_eq!(lanes, [0, 0]);
    let mut raw = [9, 9];
    schema.reconstruct_raw(&lanes, &mut raw).unwrap();
    assert_eq!(raw, [0, 0]);

    let mut between = |from: [u32; 2], to: [u32; 2], ratio| {
        schema.interpolate_raw(&from, &to, Between { ratio, seconds: 1.0 }, &mut raw).unwrap();
        [raw[0] as f64, f64::from_bits(raw[1])]
    };
    assert_eq!(between([1, 10], [1, 20], 0.5), [1.0, 15.0]);
    assert_eq!(between([1, 10], [0, 0], 0.5), [1.0, 10.0]);
    assert_eq!(between([1, 10], [0, 0], 1.0), [0.0, 0.0]);
    assert_eq!(between([0, 0], [1, 20], 0.5), [0.0, 0.0]);
    assert_eq!(between([0, 0], [1, 20], 1.0), [1.0, 20.0]);
}

/// Makes the contents of `spec/vectors/optional.txt`.
fn vectors() -> String {
    let schema = schema("optional").with_time_precision(|_| None);
    check_stored_schema("optional", &schema);
    let profile = Profile::untrained(&schema);
    let mut lines = schema_lines(&schema, &profile);
    let mut world = World::new(&schema, 25, 9);
    let mut states = Vec::new();
    for _ in PACKETS {
        states.push(world.snapshot());
        world.step();
    }
    let mut records: Vec<u32> = Vec::new();
    for state in &states {
        lines += &format!("state {}\n", state.tick.0);
        for (index, id) in state.ids().iter().enumerate() {
            let lanes = (0..state.lane_count()).map(|lane| state.lane(lane)[index]);
            records.extend(lanes.clone());
            let lanes: Vec<String> = lanes.map(|value| value.to_string()).collect();
            lines += &format!("entity {} {}\n", id.0, lanes.join(" "));
        }
    }
    lines += &packet_lines(&schema, &profile, &states);
    for (name, level) in [("packed", StreamLevel::Packed), ("adaptive", StreamLevel::Adaptive)] {
        let codec = StreamCodec::new(schema.clone(), level).unwrap();
        let mut learned = codec.nothing_learned();
        let mut held: Option<Vec<u32>> = None;
        for (nth, record) in records.chunks(codec.lanes()).take(20).enumerate() {
            let base = held.as_ref().map(|lanes| StreamBase { lanes, learned: &learned, lag: 1 });
            let (mut after, mut packet) = (codec.nothing_learned(), Vec::new());
            codec.encode(base, record, &mut after, &mut packet).unwrap();
            let (mut room, mut received) = (record.to_vec(), codec.nothing_learned());
            codec.decode(base, &mut room, &mut received, &packet).unwrap();
            assert!(room == record && received == after);
            lines += &format!("stream {name} {nth}: {}\n", hex(&packet));
            (learned, held) = (after, Some(record.to_vec()));
        }
    }
    lines
}

#[test]
fn the_frozen_vectors_are_written_and_read() {
    const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/vectors/optional.txt");
    let lines = vectors();
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        std::fs::write(PATH, lines).unwrap();
        return;
    }
    let frozen = include_str!("../../../spec/vectors/optional.txt");
    assert!(lines == frozen, "the packets differ from spec/vectors/optional.txt");
}
