//! Tests of the frozen bytes of `spec/vectors/`. This version writes these bytes, and every later
//! version must read them.
//!
//! A line is `level profile packet`, for the snapshots that `spec/vectors/README.md` describes.
//! Lines may be added, but never changed. `KINEPACK_WRITE_VECTORS=1 cargo test -p kinepack
//! vectors::` prints the lines that this version would write.

use kinepack::group::{GroupReader, GroupWriter};
use kinepack::quantize::{FloatLimits, IntegerLimits};
use kinepack::schema::{Field, FieldKind};
use kinepack::stream::{StreamBase, StreamCodec, StreamLevel};
use kinepack::{Codec, Decoder, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View};

use crate::support::{
    check_stored_schema, from_hex, hex, naive_check, packets_profiles, packets_schema,
    packets_states, stream_packets, stream_records, stream_schema,
};

const PACKETS: &str = include_str!("../../../spec/vectors/packets.txt");

#[test]
fn every_vector_is_written_and_read() {
    let schema = packets_schema();
    check_stored_schema("packets", &schema);
    let [baseline, snapshot] = packets_states(&schema).map(View::from);
    let mut written = String::from("# level profile packet\n");
    for level in Level::TABLE.into_iter().filter(|level| !level.adaptive()) {
        for (name, profile) in packets_profiles(&schema) {
            let codec = Codec::new(schema.clone(), level, profile).unwrap();
            let mut packet = Vec::new();
            Encoder::new(&codec).encode(&baseline, &snapshot, &mut packet).unwrap();
            written += &format!("{} {name} {}\n", level.row(), hex(&packet));
        }
    }
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        println!("{written}");
    }
    assert!(written == PACKETS, "the packets differ from spec/vectors/packets.txt");
    for line in PACKETS.lines().filter(|line| !line.starts_with('#')) {
        let [level, name, packet] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let (_, profile) =
            packets_profiles(&schema).into_iter().find(|(known, _)| *known == name).unwrap();
        let codec =
            Codec::new(schema.clone(), Level::from_row(level.parse().unwrap()).unwrap(), profile)
                .unwrap();
        let decoded = Decoder::new(&codec).decode(&baseline, &from_hex(packet), Tick(7)).unwrap();
        assert_eq!(decoded, snapshot, "{line}");
    }
}

const GROUPS: &str = include_str!("../../../spec/vectors/groups.txt");

#[test]
fn every_group_is_written_and_read() {
    let schema = packets_schema();
    let [baseline, snapshot] = packets_states(&schema);
    let mut last = baseline.clone();
    last.tick = Tick(8);
    let run = [baseline, snapshot, last];
    let codecs = Level::TABLE
        .map(|level| Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap());
    let mut written = String::from("# level group\n");
    for codec in &codecs {
        let (mut writer, mut group) = (GroupWriter::new(codec), Vec::new());
        for world in &run {
            writer.write(world, &mut group).unwrap();
        }
        written += &format!("{} {}\n", codec.level().row(), hex(&group));
    }
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        println!("{written}");
    }
    assert!(written == GROUPS, "the groups differ from spec/vectors/groups.txt");
    for (codec, line) in codecs.iter().zip(GROUPS.lines().skip(1)) {
        let group = from_hex(line.split_once(' ').unwrap().1);
        let (mut reader, mut bytes) = (GroupReader::new(codec), &group[..]);
        for world in &run {
            assert_eq!(**reader.read(&mut bytes).unwrap().unwrap().snapshot(), *world, "{line}");
        }
        assert_eq!(reader.read(&mut bytes), Ok(None));
    }
}

/// Lists the profiles in the form of `spec/vectors/profiles.txt`.
fn listed_profiles(schema: &Schema) -> String {
    let mut listed = String::new();
    for (name, profile) in packets_profiles(schema) {
        for (gaps, code) in [("entities", &profile.entities), ("flags", &profile.flags)] {
            listed += &format!(
                "{name} {gaps} widths {:?} words {:?}\n",
                code.widths_bits, code.lengths_bits
            );
        }
        for (field, code) in schema.fields().iter().zip(&profile.fields) {
            listed += &format!("{name} {} {:?}\n", field.name, code.context);
            for class in &code.classes {
                let widths: Vec<String> = class
                    .lanes
                    .iter()
                    .map(|width| format!("{}/{}", width.bits, width.beyond_bits))
                    .collect();
                listed += &format!("  {:?} {}\n", class.reference, widths.join(" "));
            }
            let alike = code.lengths_bits.iter().all(|lengths| *lengths == code.lengths_bits[0]);
            for lengths_bits in
                &code.lengths_bits[..if alike { 1 } else { code.lengths_bits.len() }]
            {
                listed += &format!("  words {lengths_bits:?}\n");
            }
        }
    }
    listed
}

#[test]
fn the_profiles_of_the_vectors_equal_the_list() {
    let listed = listed_profiles(&packets_schema());
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        println!("{listed}");
    }
    assert!(listed == include_str!("../../../spec/vectors/profiles.txt"));
}

#[test]
fn an_entity_in_full_carries_the_next_one() {
    let axis = FloatLimits::until(0.0, 64.0, 1.0 / 16.0).unwrap();
    let schema = Schema::new(vec![Field::new("position", FieldKind::Floats(vec![axis; 3]))]);
    let snapshot = |states: [[u32; 3]; 3]| {
        let mut snapshot = Snapshot::new(&schema, Tick(0));
        (0..)
            .zip(states)
            .for_each(|(id, lanes)| snapshot.push_lanes(EntityId(id), &lanes).unwrap());
        snapshot
    };
    let baseline = View::from(snapshot([[500; 3]; 3]));
    let moved = snapshot([[500, 500, 505], [700, 500, 503], [700, 500, 503]]);
    let codec = Codec::new(schema.clone(), Level::TABLE[9], Profile::untrained(&schema)).unwrap();
    let mut packet = Vec::new();
    Encoder::new(&codec).encode(&baseline, &moved, &mut packet).unwrap();
    assert_eq!(hex(&packet), "6c08eb79a5ef3ea9");
    let decoded = Decoder::new(&codec).decode(&baseline, &packet, Tick(0)).unwrap();
    assert_eq!(**decoded.snapshot(), moved);
}

#[test]
fn the_schema_hash_equals_the_vectors_hash() {
    assert_eq!(
        format!("{:016x}", packets_schema().hash()),
        include_str!("../../../spec/vectors/schema_hash.txt").trim()
    );
}

const STREAM: &str = include_str!("../../../spec/vectors/stream.txt");

#[test]
fn every_packet_of_the_stream_is_written_and_read() {
    let (schema, packets) = (stream_schema(), stream_packets());
    check_stored_schema("stream", &schema);
    let records = stream_records(packets.iter().map(|packet| packet.count).sum());
    let mut written = String::from("# level hash; level packet base lag records bytes\n");
    for (name, level) in [("packed", StreamLevel::Packed), ("adaptive", StreamLevel::Adaptive)] {
        let codec = StreamCodec::new(schema.clone(), level).unwrap();
        written += &format!("{name} {:016x}\n", codec.hash());
        // The last record of each packet, with the learned state at that record.
        let mut held: Vec<(usize, _)> = Vec::new();
        for (number, packet) in packets.iter().enumerate() {
            let last = packet.first + packet.count - 1;
            let base = packet.base.map(|base| {
                let (last, learned) = &held[base];
                StreamBase { lanes: &records[*last], learned, lag: (packet.first - last) as u16 }
            });
            let lanes = records[packet.first..=last].concat();
            let (mut learned, mut bytes) = (codec.nothing_learned(), Vec::new());
            codec.encode(base, &lanes, &mut learned, &mut bytes).unwrap();
            let named = packet.base.map_or("-".into(), |base| base.to_string());
            let lag = base.map_or(0, |base| base.lag);
            written += &format!("{name} {number} {named} {lag} {} {}\n", packet.count, hex(&bytes));

            let (mut room, mut received) = (vec![0; lanes.len()], codec.nothing_learned());
            codec.decode(base, &mut room, &mut received, &bytes).unwrap();
            assert!(room == lanes && received == learned, "{name} {number}");
            held.push((last, learned));
        }
    }
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        println!("{written}");
    }
    assert!(written == STREAM, "the packets differ from spec/vectors/stream.txt");
}

const STATE_CHECKS: &str = include_str!("../../../spec/vectors/state_check.txt");

#[test]
fn the_state_checks_equal_the_vectors() {
    let limits = IntegerLimits::new(0, i128::from(u32::MAX), 1).unwrap();
    let schema = Schema::new(
        ["first", "second"].map(|name| Field::new(name, FieldKind::Integer(limits))).into(),
    );
    let mut written = String::new();
    for line in STATE_CHECKS.lines() {
        if line.starts_with('#') {
            written += &format!("{line}\n");
            continue;
        }
        // The check in the vectors is left out here, because this test writes it.
        let words: Vec<&str> = line.split(' ').collect();
        let mut snapshot = Snapshot::new(&schema, Tick(words[0].parse().unwrap()));
        for entity in &words[2..] {
            let (id, lanes) = entity.split_once(':').unwrap();
            let lanes: Vec<u32> = lanes.split(',').map(|lane| lane.parse().unwrap()).collect();
            snapshot.push_lanes(EntityId(id.parse().unwrap()), &lanes).unwrap();
        }
        let check = View::from(snapshot.clone()).check();
        assert_eq!(check, naive_check(&snapshot), "{line}");
        let entities: String = words[2..].iter().map(|entity| format!(" {entity}")).collect();
        written += &format!("{} {check:04x}{entities}\n", words[0]);
    }
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        println!("{written}");
    }
    assert!(written == STATE_CHECKS, "the checks differ from spec/vectors/state_check.txt");
    assert_eq!(written.lines().count(), 14);
}
