//! Makes the inputs that `spec/vectors/README.md` defines: the states of `packets.txt`, and the
//! stream of `stream.txt`.

use kinepack::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use kinepack::schema::{Field, FieldKind, Role};
use kinepack::training::Trainer;
use kinepack::{
    Baselines, Codec, Decoder, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View,
};

use super::hex;

const SCHEMAS: &str = include_str!("../../../../spec/vectors/schemas.txt");

/// Checks that `schemas.txt` has `schema` under the name `name`.
pub(crate) fn check_stored_schema(name: &str, schema: &Schema) {
    let line = format!("{name} {}", hex(&schema.to_bytes()));
    assert!(
        SCHEMAS.lines().any(|stored| stored == line),
        "not in spec/vectors/schemas.txt: {line}"
    );
}

/// The generator of the vectors' numbers.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn up_to(&mut self, max: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 32) % (u64::from(max) + 1)) as u32
    }
}

/// Makes the schema of `packets.txt` and `groups.txt`.
pub(crate) fn packets_schema() -> Schema {
    let axis = FloatLimits::until(-256.0, 256.0, 1.0 / 512.0).unwrap();
    let height = FloatLimits::until(0.0, 32.0, 1.0 / 512.0).unwrap();
    let heading = FloatLimits::until(0.0, 360.0, 0.5).unwrap().wrapping();
    Schema::new(vec![
        Field::new("position", FieldKind::Floats(vec![axis, axis, height])),
        Field::new("orientation", FieldKind::Rotation(SmallestThree::new(9).unwrap())),
        Field::new("interacting", FieldKind::Bool),
        Field::new("heading", FieldKind::Floats(vec![heading])),
        Field::new("weapon", FieldKind::Choice { max: 4 }),
        Field::new("clock", FieldKind::Integer(IntegerLimits::new(0, 1 << 40, 1).unwrap())),
    ])
}

/// Makes the baseline and the snapshot of `packets.txt` and `groups.txt`.
pub(crate) fn packets_states(schema: &Schema) -> [Snapshot; 2] {
    let mut numbers = Numbers(1);
    let mut baseline = Snapshot::new(schema, Tick(1));
    let mut snapshot = Snapshot::new(schema, Tick(7));
    for id in 0..40 {
        let mut lanes: Vec<u32> =
            schema.lanes().iter().map(|lane| numbers.up_to(lane.max)).collect();
        if id % 13 != 5 {
            baseline.push_lanes(EntityId(3 * id), &lanes).unwrap();
        }
        if numbers.up_to(3) > 0 {
            for (lane, value) in schema.lanes().iter().zip(&mut lanes) {
                match numbers.up_to(5) {
                    0 => *value = numbers.up_to(lane.max),
                    1 | 2 => *value = value.saturating_add(numbers.up_to(20)).min(lane.max),
                    3 => *value = value.saturating_sub(numbers.up_to(300)),
                    _ => {}
                }
            }
        }
        if id % 11 != 7 {
            snapshot.push_lanes(EntityId(3 * id), &lanes).unwrap();
        }
    }
    [baseline, snapshot]
}

/// Makes the profiles of `packets.txt` and `groups.txt`.
pub(crate) fn packets_profiles(schema: &Schema) -> [(&'static str, Profile); 4] {
    let mut trainer = Trainer::new(schema.clone(), Profile::magnitudes(schema)).unwrap();
    let [baseline, snapshot] = packets_states(schema);
    trainer.observe(&baseline, &[], &snapshot).unwrap();
    [
        ("trained", trainer.finish()),
        ("untrained", Profile::untrained(schema)),
        ("article", Profile::article(schema)),
        ("magnitudes", Profile::magnitudes(schema)),
    ]
}

pub(crate) fn stream_schema() -> Schema {
    let axis = FloatLimits::until(-1000.0, 1000.0, 1.0 / 128.0).unwrap();
    let angle = FloatLimits::until_with_bits(0.0, 360.0, 16).unwrap().wrapping();
    let time = IntegerLimits::new(0, 1 << 40, 1).unwrap();
    Schema::new(vec![
        Field::new("place", FieldKind::Floats(vec![axis; 3])),
        Field::new("speed", FieldKind::Floats(vec![axis; 3]))
            .with_role(Role::Velocity)
            .with_velocity_of("place"),
        Field::new("view", FieldKind::Floats(vec![angle; 2])),
        Field::new("head", FieldKind::Rotation(SmallestThree::new(9).unwrap())),
        Field::new("time", FieldKind::Integer(time)).with_role(Role::Clock),
        Field::new("mode", FieldKind::Choice { max: 4 }),
        Field::new("flag", FieldKind::Bool),
        Field::new("serial", FieldKind::Raw { lanes: 1 }),
        Field::new("call", FieldKind::Bytes { len: 70 }),
    ])
}

/// Makes `count` records of the stream.
pub(crate) fn stream_records(count: usize) -> Vec<Vec<u32>> {
    let schema = stream_schema();
    let maxima: Vec<u32> = schema.lanes().iter().map(|lane| lane.max).collect();
    let mut numbers = Numbers(1);
    let mut record: Vec<u32> = maxima.iter().map(|max| numbers.up_to(*max)).collect();
    let mut rates = vec![0; maxima.len()];
    let mut records = vec![record.clone()];
    for n in 1..count {
        let is_wild = numbers.up_to(30) == 0;
        let is_still = n / 32 % 3 == 1;
        for (lane, max) in maxima.iter().enumerate() {
            if is_wild {
                record[lane] = numbers.up_to(*max);
                continue;
            }
            let k = numbers.up_to(7);
            if k == 0 {
                rates[lane] = i64::from(numbers.up_to(60)) - 30;
            }
            // These lanes are a position, the time (whose upper half stays the same), and all bytes
            // except the first.
            let moves = match lane {
                0..3 => !is_still,
                12 => true,
                13 => false,
                18.. => k == 0 && numbers.up_to(3) == 0,
                _ if *max < 8 => k == 0,
                _ => !is_still && k < 7,
            };
            if !moves {
                continue;
            }
            let steps = match lane {
                0..3 => (i64::from(record[lane + 3]) - 128_000) >> 8,
                12 => 16 + i64::from(k / 7),
                _ => rates[lane],
            };
            record[lane] = (i64::from(record[lane]) + steps).rem_euclid(i64::from(*max) + 1) as u32;
        }
        records.push(record.clone());
    }
    records
}

/// A packet: the index of its first record, its number of records, and the index of the packet
/// whose last record is its base.
pub(crate) struct StreamPacket {
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) base: Option<usize>,
}

pub(crate) fn stream_packets() -> Vec<StreamPacket> {
    let mut first = 0;
    let packet = |p: usize| {
        let back = if p % 16 == 15 { 15 } else { 1 + p % 4 };
        let packet = StreamPacket {
            first,
            count: 1 + p % 3,
            base: p.checked_sub(back).filter(|_| !p.is_multiple_of(50)),
        };
        first += packet.count;
        packet
    };
    (0..160).map(packet).collect()
}

/// For each packet of `optional.txt` and `kinds.txt`, the indices of the views that it is coded
/// against.
pub(crate) const PACKETS: [&[usize]; 6] = [&[], &[0], &[1, 0], &[2, 1, 0], &[3, 1], &[4, 2, 0]];

/// Makes the lines of the schema and the profile in these two files.
pub(crate) fn schema_lines(schema: &Schema, profile: &Profile) -> String {
    format!("schema {:016x}\nprofile {}\n", schema.hash(), hex(&profile.to_plain_bytes()))
}

/// Makes the lines of the packets in these two files: one for each of `states` at each of six
/// levels.
pub(crate) fn packet_lines(schema: &Schema, profile: &Profile, states: &[Snapshot]) -> String {
    let mut lines = String::new();
    let empty = View::empty(schema);
    for level in [1, 7, 10, 12, 13, 14].map(|row| Level::from_row(row).unwrap()) {
        let codec = Codec::new(schema.clone(), level, profile.clone()).unwrap();
        let mut views: Vec<View> = Vec::new();
        for (state, known) in states.iter().zip(PACKETS) {
            let ticks: Vec<String> =
                known.iter().map(|view| views[*view].tick.0.to_string()).collect();
            let known: Vec<&View> = known.iter().map(|view| &views[*view]).collect();
            let known = if known.is_empty() { vec![&empty] } else { known };
            let baselines = Baselines::new(known).unwrap();
            let mut packet = Vec::new();
            let view = Encoder::new(&codec).encode(baselines, state, &mut packet).unwrap();
            let decoded = Decoder::new(&codec).decode(baselines, &packet, state.tick).unwrap();
            assert!(decoded == view && **view.snapshot() == *state);
            lines += &format!(
                "packet {} {} against {}: {}\n",
                level.row(),
                state.tick.0,
                ticks.join(" "),
                hex(&packet)
            );
            views.push(view);
        }
    }
    lines
}
