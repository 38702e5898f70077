//! Runs the battery (`support/battery.rs`) over every decoder of snapshots and values: each decoder
//! returns the encoded values, or an error without effect, and never panics. `rle.rs` and
//! `magnitude.rs` run the battery over their own decoders.

use kinepack::bits::{BitReader, BitSink, BitWriter, bits_for};
use kinepack::quantize::{FloatLimits, IntegerLimits};
use kinepack::schema::{Field, FieldKind};
use kinepack::value::{
    Difference, read_difference, read_if_changed, write_difference, write_if_changed,
};
use kinepack::{
    Baselines, Codec, DecodeError, DecodeLimits, Decoder, EncodeError, Encoder, EntityId, Level,
    Profile, Schema, Snapshot, Tick, View,
};

use crate::support::{
    DECODED, Ends, Subject, battery, battery_of, frames, profiles, schema, schemas, views,
};

/// Makes the codecs of one schema, each with a name. Levels without a set of changes ignore most of
/// the profile, so one profile is enough.
fn codecs(schema_name: &str) -> Vec<(String, Codec)> {
    let schema = schema(schema_name);
    let profiles = profiles(&schema);
    let mut codecs = Vec::new();
    for level in Level::TABLE {
        for (name, profile) in profiles.iter().take(if level.row() < 7 { 1 } else { 4 }) {
            let name = format!("{schema_name}, {} ({}), {name} profile", level.row(), level.row());
            codecs.push((name, Codec::new(schema.clone(), level, profile.clone()).unwrap()));
        }
    }
    codecs
}

fn snapshots_survive(schema_name: &str) {
    for (seed, (name, codec)) in codecs(schema_name).iter().enumerate() {
        let mut subject = Subject::new(codec);
        // Wide entities have many bits, so two of them have enough bits to flip.
        let entities = if schema_name == "wide" { 2 } else { 3 };
        let frames = views(frames(codec.schema(), seed as u64 % 5, entities, 4));
        let last = frames.len() - 1;
        // The cases are the first snapshot, a usual one, and one without entities.
        for (known, snapshot) in
            [(&[0][..], 1), (&[last - 1, last - 2], last), (&[last, last - 2], 0)]
        {
            let baselines = Baselines::new(known.iter().map(|view| &frames[*view])).unwrap();
            let (valid, expected) = subject.encode(baselines, &frames[snapshot]);
            let ends = if codec.level().adaptive() { Ends::OtherDecisions } else { Ends::Reported };
            battery_of(name, &valid, ends, |bytes| {
                let decoded = subject.decode_and_return(baselines, bytes)?;
                assert!(
                    bytes != valid || decoded == expected,
                    "{name}: it differs from the encoded value"
                );
                Ok(())
            });
        }
    }
}

#[test]
fn snapshots_of_cubes_survive() {
    snapshots_survive("cube");
}

#[test]
fn snapshots_of_wide_entities_survive() {
    snapshots_survive("wide");
}

#[test]
fn snapshots_of_the_narrowest_and_widest_fields_survive() {
    snapshots_survive("corners");
}

#[test]
fn snapshots_of_coarser_values_survive() {
    snapshots_survive("moving");
}

#[test]
fn snapshots_of_one_flag_and_without_fields_survive() {
    snapshots_survive("flag");
    snapshots_survive("empty");
}

#[test]
fn snapshots_of_opaque_bytes_survive() {
    snapshots_survive("calls");
}

#[test]
fn snapshots_of_optional_fields_survive() {
    snapshots_survive("optional");
}

/// Whatever a packet holds, either its state check matches the view, or the decoder refuses it.
#[test]
fn snapshots_with_a_state_check_survive() {
    for schema_name in ["cube", "corners", "moving", "flag"] {
        for (seed, (name, codec)) in codecs(schema_name).iter().enumerate() {
            let mut subject = Subject::new(codec);
            let frames = views(frames(codec.schema(), seed as u64 % 5, 3, 4));
            let baselines = Baselines::new([&frames[2], &frames[1]]).unwrap();
            let (packet, view) = subject.encode(baselines, &frames[3]);
            let valid = [&packet[..], &view.check().to_le_bytes()].concat();
            battery_of(name, &valid, Ends::OtherData, |bytes| {
                let decoded = subject.decode_checked(baselines, bytes)?;
                assert!(
                    bytes != valid || decoded == view,
                    "{name}: it differs from the encoded value"
                );
                Ok(())
            });
        }
    }
}

#[test]
fn snapshots_come_back_lane_for_lane() {
    for schema_name in schemas()
        .into_iter()
        .map(|(name, _)| name)
        .chain(["calls", "optional", "coarser", "breaks", "kinds"])
    {
        for (seed, (_, codec)) in codecs(schema_name).iter().enumerate() {
            let mut subject = Subject::new(codec);
            let frames = views(frames(codec.schema(), seed as u64, 20, 5));
            for (baseline, snapshot) in
                [(0, 1), (1, 2), (2, 3), (3, 4), (4, 4), (4, 0), (0, 0), (3, 1)]
            {
                subject.round_trip(&frames[baseline], &frames[snapshot]);
            }
        }
    }
}

#[test]
fn the_same_snapshots_give_the_same_bytes_from_a_new_and_a_used_encoder() {
    for schema_name in
        schemas().into_iter().map(|(name, _)| name).chain(["coarser", "breaks", "kinds"])
    {
        for (name, codec) in codecs(schema_name) {
            let frames = views(frames(codec.schema(), 8, 10, 5));
            let mut used = Subject::new(&codec);
            for pair in frames.windows(2) {
                let (packet, view) = used.encode(&pair[0], &pair[1]);
                assert!(
                    (packet, view) == Subject::new(&codec).encode(&pair[0], &pair[1]),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn packets_above_the_entity_limit_are_refused() {
    for schema_name in
        schemas().into_iter().map(|(name, _)| name).chain(["coarser", "breaks", "kinds"])
    {
        for (name, codec) in codecs(schema_name) {
            let frames = views(frames(codec.schema(), 4, 9, 3));
            let [few, many] = [&frames[0], &frames[2]];
            let count = many.len();
            let mut unlimited = Subject::new(&codec);
            let [added, same] = [few, many].map(|baseline| unlimited.encode(baseline, many).0);
            let below = DecodeLimits { max_entities: count as u32 - 1 };
            let mut refusing = Subject::with_limits(&codec, below);
            for (baseline, packet) in [(few, &added), (many, &same)] {
                let refusal =
                    DecodeError::TooManyEntities { count: count as u64, limit: below.max_entities };
                assert_eq!(refusing.decode(baseline, packet), Err(refusal), "{name}");
            }
            let mut accepting =
                Subject::with_limits(&codec, DecodeLimits { max_entities: count as u32 });
            accepting.decode(few, &added).unwrap();
            accepting.decode(many, &same).unwrap();
            let (removed, _) = unlimited.encode(many, few);
            assert!(
                refusing.decode(many, &removed).is_ok(),
                "{name}: a large baseline that everyone leaves"
            );
        }
    }
}

#[test]
fn snapshots_of_another_schema_are_refused() {
    let [cube, wide] = [schema("cube"), schema("wide")];
    let codec = Codec::new(cube.clone(), Level::PACKED, Profile::untrained(&cube)).unwrap();
    let [own, other] = [&cube, &wide].map(View::empty);
    let [expected_hash, hash] = [cube.hash(), wide.hash()];

    let mut packet = vec![7];
    let refusal = EncodeError::SchemaMismatch { expected_hash, hash };
    let mut encoder = Encoder::new(&codec);
    assert_eq!(encoder.encode(&own, &other, &mut packet).err(), Some(refusal.clone()));
    assert_eq!(encoder.encode(&other, &own, &mut packet).err(), Some(refusal));
    assert_eq!(packet, [7], "a refused snapshot leaves no bytes");
    encoder.encode(&own, &own, &mut packet).unwrap();

    let refusal = DecodeError::SchemaMismatch { expected_hash, hash };
    let mut decoder = Decoder::new(&codec);
    assert_eq!(decoder.decode(&other, &packet[1..], DECODED), Err(refusal));
    // The decoder cannot reuse the memory of a view of another schema.
    decoder.recycle(other);
    assert!(decoder.decode(&own, &packet[1..], own.tick).unwrap() == own);
}

#[test]
fn ids_from_both_ends_and_all_ids_of_a_full_run_come_back() {
    let schema = schema("flag");
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let mut subject = Subject::new(&codec);
    let snapshot_of = |ids: &mut dyn Iterator<Item = u32>| {
        let mut snapshot = Snapshot::new(&schema, Tick(1));
        ids.for_each(|id| snapshot.push_lanes(EntityId(id), &[id & 1]).unwrap());
        View::from(snapshot)
    };
    let snapshots = [
        snapshot_of(&mut [].into_iter()),
        snapshot_of(&mut [0].into_iter()),
        snapshot_of(&mut [u32::MAX].into_iter()),
        snapshot_of(&mut [0, u32::MAX].into_iter()),
        snapshot_of(&mut [u32::MAX - 1, u32::MAX].into_iter()),
        snapshot_of(&mut (0..300)),
        snapshot_of(&mut (u32::MAX - 299..=u32::MAX)),
    ];
    for baseline in &snapshots {
        for snapshot in &snapshots {
            subject.round_trip(baseline, snapshot);
        }
    }
}

/// A choice that is known to differ is coded by its number among the other alternatives. The number
/// after the last alternative is invalid.
#[test]
fn the_choice_after_the_last_is_refused() {
    for max in [5, 13, u32::MAX] {
        let schema = Schema::new(vec![Field::new("choice", FieldKind::Choice { max })]);
        let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
        let choice = |value| {
            let mut snapshot = Snapshot::new(&schema, Tick(1));
            snapshot.push_lanes(EntityId(1), &[value]).unwrap();
            View::from(snapshot)
        };
        let mut subject = Subject::new(&codec);
        for (before, after) in [(0, max), (max, max - 1), (max, 0), (max / 2, max)] {
            subject.round_trip(&choice(before), &choice(after));
        }
        for before in [0, 3] {
            let mut packet = Vec::new();
            let mut encoder = Encoder::new(&codec);
            encoder.encode(&choice(before), &choice(max), &mut packet).unwrap();
            let size = encoder.size();
            // The last alternative has the number `max` - 1, which is even. Setting its lowest bit
            // gives the next number.
            assert_eq!(size.fields_bits, [u64::from(bits_for(u64::from(max)))]);
            packet[size.sets_bits as usize / 8] ^= 1 << (size.sets_bits % 8);
            let refusal = subject.decode(&choice(before), &packet);
            assert!(
                matches!(refusal, Err(DecodeError::OutOfRange { .. })),
                "choices to {max}: {refusal:?}"
            );
        }
    }
}

#[test]
fn values_against_a_baseline_survive() {
    let length = FloatLimits::new(-100.0, 100.0, 0.1).unwrap();
    let angle = FloatLimits::until(0.0, 360.0, 0.5).unwrap().wrapping();
    let point = FloatLimits::new(2.5, 2.5, 1.0).unwrap();
    let count = IntegerLimits::new(i128::from(i64::MIN), i128::from(i64::MAX), 1).unwrap();
    let tens = IntegerLimits::new(-5, 1000, 10).unwrap();
    let near = Difference::from_steps(-5, 6).unwrap();

    let mut valid = Vec::new();
    let mut writer = BitWriter::append(&mut valid);
    write_if_changed(&mut writer, &length, 1.0, 50.0).unwrap();
    write_difference(&mut writer, &length, &near, 99.9, 100.0).unwrap();
    write_difference(&mut writer, &length, &near, -100.0, 100.0).unwrap();
    write_if_changed(&mut writer, &angle, 10.0, 10.1).unwrap();
    write_difference(&mut writer, &angle, &near, 359.5, 1.0).unwrap();
    write_if_changed(&mut writer, &point, 2.5, 2.5).unwrap();
    write_difference(&mut writer, &count, &near, 0, -5).unwrap();
    write_difference(&mut writer, &count, &near, i128::from(i64::MAX), i128::from(i64::MIN))
        .unwrap();
    write_if_changed(&mut writer, &tens, 0, 999).unwrap();
    writer.finish().unwrap();

    let is_length =
        |value: Option<f32>| value.is_none_or(|value| (-100.0..=100.0).contains(&value));
    let is_angle = |value: Option<f32>| value.is_none_or(|value| (0.0..360.0).contains(&value));
    battery("values", &valid, |bytes| {
        let mut reader = BitReader::new(bytes);
        let lengths = [
            read_if_changed(&mut reader, &length)?,
            read_difference(&mut reader, &length, &near, 99.9)?,
            read_difference(&mut reader, &length, &near, -100.0)?,
        ];
        let angles = [
            read_if_changed(&mut reader, &angle)?,
            read_difference(&mut reader, &angle, &near, 359.5)?,
        ];
        let still = read_if_changed(&mut reader, &point)?;
        let counts = [
            read_difference(&mut reader, &count, &near, 0)?,
            read_difference(&mut reader, &count, &near, i128::from(i64::MAX))?,
        ];
        let ten = read_if_changed(&mut reader, &tens)?;
        reader.finish()?;
        assert!(lengths.into_iter().all(is_length) && angles.into_iter().all(is_angle));
        assert!(still.is_none_or(|value| value == 2.5));
        assert!(counts.into_iter().flatten().all(|value| i64::try_from(value).is_ok()));
        assert!(ten.is_none_or(|value| (-5..=1000).contains(&value)));
        if bytes == valid {
            assert_eq!(lengths, [Some(50.0), Some(100.0), Some(100.0)]);
            assert_eq!((angles, still), ([None, Some(1.0)], None));
            assert_eq!((counts, ten), ([Some(-5), Some(i128::from(i64::MIN))], Some(995)));
        }
        Ok(())
    });
}

#[test]
fn codes_survive() {
    let floats = [
        FloatLimits::new(-100.0, 100.0, 0.1).unwrap(),
        FloatLimits::with_bits(0.0, 1.0, 32).unwrap(),
        FloatLimits::new(3.0, 3.0, 0.5).unwrap(),
        FloatLimits::until(0.0, 360.0, 0.1).unwrap().wrapping(),
    ];
    let integers = [
        IntegerLimits::new(-20, 100, 1).unwrap(),
        IntegerLimits::new(0, i128::from(u64::MAX), 1).unwrap(),
        IntegerLimits::new(0, i128::from(u64::MAX), 1_000_000_007).unwrap(),
    ];
    let mut valid = Vec::new();
    let mut writer = BitWriter::append(&mut valid);
    for limits in &floats {
        [0, limits.max_code() / 2, limits.max_code()]
            .iter()
            .for_each(|code| limits.write_code(&mut writer, *code));
    }
    for limits in &integers {
        [0, limits.max_code() / 2, limits.max_code()]
            .iter()
            .for_each(|code| limits.write_code(&mut writer, *code));
    }
    writer.finish().unwrap();
    battery("codes", &valid, |bytes| {
        let mut reader = BitReader::new(bytes);
        for limits in &floats {
            for expected in [0, limits.max_code() / 2, limits.max_code()] {
                let code = limits.read_code(&mut reader)?;
                assert!(code <= limits.max_code() && (bytes != valid || code == expected));
            }
        }
        for limits in &integers {
            for expected in [0, limits.max_code() / 2, limits.max_code()] {
                let code = limits.read_code(&mut reader)?;
                assert!(code <= limits.max_code() && (bytes != valid || code == expected));
            }
        }
        reader.finish()
    });
}

#[test]
fn bits_survive() {
    let mut valid = Vec::new();
    let mut writer = BitWriter::append(&mut valid);
    (0..=64).for_each(|bits| writer.write(0x5555_5555_5555_5555, bits));
    writer.write_bool(true);
    writer.align();
    writer.write(0x1234, 16);
    writer.finish().unwrap();
    battery("bits", &valid, |bytes| {
        let mut reader = BitReader::new(bytes);
        for bits in 0..=64 {
            let peeked = reader.peek(bits.min(56));
            let value = reader.read(bits)?;
            assert!(bits > 56 || value == peeked);
            assert!(bits == 64 || value >> bits == 0);
        }
        let flag = reader.read_bool()?;
        reader.align()?;
        let last = reader.read(16)?;
        reader.finish()?;
        assert!(bytes != valid || (flag && last == 0x1234));
        Ok(())
    });
}

#[test]
fn padding_that_is_not_zero_is_refused() {
    // An arithmetic code has no padding: its end is read as a fraction, and the bits after the end
    // belong to that fraction.
    for (name, codec) in codecs("cube").into_iter().filter(|(_, codec)| !codec.level().adaptive()) {
        let frames = views(frames(codec.schema(), 21, 3, 4));
        let mut subject = Subject::new(&codec);
        for pair in frames.windows(2) {
            let (mut packet, mut encoder) = (Vec::new(), Encoder::new(&codec));
            encoder.encode(&pair[0], &pair[1], &mut packet).unwrap();
            let size = encoder.size();
            let used_bits = (size.sets_bits + size.fields_bits.iter().sum::<u64>()) as usize;
            for bit in used_bits..8 * packet.len() {
                packet[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(subject.decode(&pair[0], &packet), Err(DecodeError::Padding), "{name}");
                packet[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}
