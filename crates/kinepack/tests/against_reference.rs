//! Compares the crate's decoder with the one in `reference/`, which was written from
//! `spec/CODEC.md` alone: on the frozen vectors, on random snapshots, and on damaged packets. Both
//! must refuse a packet, or decode it to the same snapshot.

#[path = "against_reference/schemas.rs"]
mod schemas;
#[path = "against_reference/worlds.rs"]
mod worlds;

use std::collections::BTreeSet;

use kinepack::profile::{Class, Context, FieldCode, GapCode, LaneWidth};
use kinepack::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use kinepack::schema::{Coarser, Condition, Field, FieldKind, LaneArithmetic, Role, TimePrecision};
use kinepack::training::Trainer;
use kinepack::{
    Baselines, Codec, DecodeError, DecodeLimits, Decoder, Encoder, EntityId, Level, Profile,
    Schema, Snapshot, Tick, View,
};

use self::schemas::{field, schemas};
use crate::reference::{
    self, Axis, Differences, Entities, Gaps, Kind, Reader, Reference, Refused, Time, Width, Words,
    bits_for,
};

/// The generator of random numbers that `spec/vectors/README.md` defines.
struct Numbers(u64);

impl Numbers {
    fn up_to(&mut self, max: i128) -> i128 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i128::from(self.0 >> 32) % (max + 1)
    }

    fn one_in(&mut self, chances: i128) -> bool {
        self.up_to(chances - 1) == 0
    }
}

/// Makes the schema of the vectors.
fn vectors_schema() -> Vec<reference::Field> {
    let axis = Axis::until(-256.0, 256.0, 1.0 / 512.0);
    vec![
        field("position", Kind::Floats(vec![axis, axis, Axis::until(0.0, 32.0, 1.0 / 512.0)])),
        field("orientation", Kind::Rotation { bits: 9 }),
        field("interacting", Kind::Bool),
        field("heading", Kind::Floats(vec![Axis::until(0.0, 360.0, 0.5).cyclic()])),
        field("weapon", Kind::Choice { max: 4 }),
        field("clock", Kind::Integer { min: 0, max: 1 << 40, step: 1 }),
    ]
}

/// Converts a field to the crate's type.
fn field_of_the_crate(field: &reference::Field) -> Field {
    let limits = |axis: &Axis| {
        // `FloatLimits::new(min, max)` would be wrong, because a period needs the end.
        let limits = FloatLimits::until(axis.min, axis.max + axis.step, axis.step).unwrap();
        if axis.cyclic { limits.wrapping() } else { limits }
    };
    let kind = match &field.kind {
        Kind::Floats(axes) => FieldKind::Floats(axes.iter().map(limits).collect()),
        Kind::Integer { min, max, step } => {
            FieldKind::Integer(IntegerLimits::new(*min, *max, *step).unwrap())
        }
        Kind::Rotation { bits } => {
            FieldKind::Rotation(SmallestThree::new(u32::from(*bits)).unwrap())
        }
        Kind::Bool => FieldKind::Bool,
        Kind::Choice { max } => FieldKind::Choice { max: *max },
        Kind::Raw { lanes } => FieldKind::Raw { lanes: *lanes },
        Kind::Bytes { len } => FieldKind::Bytes { len: *len },
    };
    let of_the_crate = Field::new(field.name, kind).with_role(match field.role {
        0 => Role::Plain,
        reference::CUT => Role::Cut,
        reference::FRAME => Role::Frame,
        _ => Role::Velocity,
    });
    let of_the_crate = match field.condition {
        Some((selector, first, last)) => {
            of_the_crate.with_condition(Condition::new(selector, first..=last))
        }
        None => of_the_crate,
    };
    let of_the_crate = match field.coarser {
        Some((coarseness, most)) => of_the_crate.with_coarser(Coarser::new(coarseness, most)),
        None => of_the_crate,
    };
    let of_the_crate = match field.frame {
        Some(frame) => of_the_crate.with_frame(frame),
        None => of_the_crate,
    };
    let of_the_crate = if field.spawn { of_the_crate.with_spawn() } else { of_the_crate };
    match field.time {
        Some(Time { ms, ticks_per_s, max_step }) => of_the_crate
            .with_time_precision(TimePrecision { time_precision_ms: ms, ticks_per_s, max_step }),
        None => of_the_crate,
    }
}

/// Converts a schema to the crate's type.
fn of_the_crate(schema: &[reference::Field]) -> Schema {
    let made = Schema::new(schema.iter().map(field_of_the_crate).collect());
    assert_eq!(made.hash(), reference::hash(schema));
    let lanes: Vec<reference::Lane> = schema.iter().flat_map(reference::Field::lanes).collect();
    assert_eq!(made.lanes().len(), lanes.len());
    for (made, lane) in made.lanes().iter().zip(lanes) {
        let differences = match made.arithmetic {
            LaneArithmetic::Linear => Differences::Linear,
            LaneArithmetic::Cyclic => Differences::Cyclic,
            LaneArithmetic::Category => Differences::None,
        };
        assert_eq!((i128::from(made.max), differences), (lane.max, lane.differences));
    }
    made
}

/// Converts a profile to the reference's type.
fn of_the_reference(profile: &Profile) -> reference::Profile {
    let words = |lengths: &Vec<u8>| {
        Words::of_lengths(&lengths.iter().map(|bits| usize::from(*bits)).collect::<Vec<_>>())
    };
    let gaps = |code: &GapCode| Gaps {
        widths: code.widths_bits.iter().map(|bits| usize::from(*bits)).collect(),
        words: words(&code.lengths_bits),
    };
    let width = |width: &LaneWidth| Width {
        bits: usize::from(width.bits),
        beyond: usize::from(width.beyond_bits),
    };
    let class = |class: &Class| {
        let reference = match class.reference {
            kinepack::profile::Reference::Baseline => Reference::Baseline,
            kinepack::profile::Reference::Turned => Reference::Turned,
            kinepack::profile::Reference::Carried => Reference::Carried,
        };
        (reference, class.lanes.iter().map(width).collect())
    };
    let field = |code: &FieldCode| reference::FieldCode {
        context: match code.context {
            Context::None => reference::Context::None,
            Context::Previous => reference::Context::Previous,
            Context::Field(field) => reference::Context::Field(field),
        },
        classes: code.classes.iter().map(class).collect(),
        words: code.lengths_bits.iter().map(words).collect(),
    };
    reference::Profile {
        entities: gaps(&profile.entities),
        flags: gaps(&profile.flags),
        fields: profile.fields.iter().map(field).collect(),
    }
}

fn snapshot(schema: &Schema, entities: &Entities) -> Snapshot {
    let mut snapshot = Snapshot::new(schema, Tick(0));
    for (id, lanes) in entities {
        let lanes: Vec<u32> = lanes.iter().map(|lane| u32::try_from(*lane).unwrap()).collect();
        snapshot.push_lanes(EntityId(*id), &lanes).unwrap();
    }
    snapshot
}

fn entities(snapshot: &Snapshot) -> Entities {
    let lanes = |index| {
        (0..snapshot.lane_count()).map(|lane| i128::from(snapshot.lane(lane)[index])).collect()
    };
    snapshot.ids().iter().enumerate().map(|(index, id)| (id.0, lanes(index))).collect()
}

fn maxima(schema: &[reference::Field]) -> Vec<i128> {
    schema.iter().flat_map(reference::Field::lanes).map(|lane| lane.max).collect()
}

#[test]
fn the_reference_reads_the_frozen_vectors() {
    let schema = vectors_schema();
    let hash = include_str!("../../../spec/vectors/schema_hash.txt").trim();
    assert_eq!(format!("{:016x}", reference::hash(&schema)), hash);
    let mut numbers = Numbers(1);
    let (mut baseline, mut expected) = (Entities::new(), Entities::new());
    for n in 0..40 {
        let mut lanes: Vec<i128> =
            maxima(&schema).into_iter().map(|max| numbers.up_to(max)).collect();
        if n % 13 != 5 {
            baseline.insert(3 * n, lanes.clone());
        }
        if numbers.up_to(3) > 0 {
            for (lane, max) in lanes.iter_mut().zip(maxima(&schema)) {
                match numbers.up_to(5) {
                    0 => *lane = numbers.up_to(max),
                    1 | 2 => *lane = (*lane + numbers.up_to(20)).min(max),
                    3 => *lane = (*lane - numbers.up_to(300)).max(0),
                    _ => {}
                }
            }
        }
        if n % 11 != 7 {
            expected.insert(3 * n, lanes);
        }
    }
    let profiles = reference::parse_profiles(include_str!("../../../spec/vectors/profiles.txt"));
    let packets = include_str!("../../../spec/vectors/packets.txt");
    let mut levels = BTreeSet::new();
    for line in packets.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let [level, profile, hex] = line.split_whitespace().collect::<Vec<_>>().try_into().unwrap();
        let packet: Vec<u8> = (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect();
        let level = level.parse().unwrap();
        let reader = Reader {
            schema: &schema,
            profile: &profiles[profile],
            level,
            max_entities: 1000,
            older: None,
        };
        assert!(
            reader.decode(&baseline, &packet) == Ok(expected.clone()),
            "level {level}, {profile}"
        );
        levels.insert(level);
    }
    assert_eq!(levels, (1..=12).collect());
}

/// The codes of 0 in the lanes of the velocities that have such a code, so that some entities are
/// at rest.
const ZERO_CODES: [i128; 2] = [1024, 270];

/// Moves an entity's value in one lane by a difference of any magnitude.
fn moved(numbers: &mut Numbers, lane: &reference::Lane, value: i128) -> i128 {
    let codes = lane.max + 1;
    let magnitude = numbers.up_to(bits_for(lane.max) as i128);
    let mut steps = numbers.up_to((1 << magnitude) - 1);
    match numbers.up_to(20) {
        0 => return numbers.up_to(lane.max),
        1 => return ZERO_CODES[numbers.up_to(1) as usize].min(lane.max),
        2 => steps = codes / 2,
        3 => steps = (codes + 1) / 2,
        4 => steps = 1 << magnitude,
        5 => steps = 1,
        _ => {}
    }
    let steps = if numbers.one_in(2) { steps } else { -steps };
    if lane.differences == Differences::Linear {
        (value + steps).clamp(0, lane.max)
    } else {
        (value + steps).rem_euclid(codes)
    }
}

/// Makes a random baseline and a snapshot after it.
fn pair(numbers: &mut Numbers, schema: &[reference::Field]) -> [Entities; 2] {
    let lanes: Vec<reference::Lane> = schema.iter().flat_map(reference::Field::lanes).collect();
    let count = numbers.up_to(MAX_ENTITIES as i128);
    // All entities, none, or one in a few are added, removed or changed.
    let chance = |numbers: &mut Numbers| [1, 2, 4, 20, 1 << 30][numbers.up_to(4) as usize];
    let [added, removed, still] = [chance(numbers) + 1, chance(numbers) + 1, chance(numbers)];
    let lane_still = [1, 2, 5][numbers.up_to(2) as usize] + 1;
    let common: Vec<i128> =
        lanes.iter().map(|lane| moved(numbers, lane, lane.max / 2) - lane.max / 2).collect();
    let (mut baseline, mut snapshot) = (Entities::new(), Entities::new());
    let mut id = 0_u32;
    for index in 0..count {
        let mut values: Vec<i128> = lanes.iter().map(|lane| numbers.up_to(lane.max)).collect();
        if !numbers.one_in(added) {
            baseline.insert(id, values.clone());
        }
        if !numbers.one_in(still) {
            let together = numbers.one_in(2);
            for ((lane, value), common) in lanes.iter().zip(&mut values).zip(&common) {
                if numbers.one_in(lane_still) {
                    continue;
                }
                *value = if together { *value + common } else { moved(numbers, lane, *value) };
                *value = (*value).clamp(0, lane.max);
            }
        }
        if !numbers.one_in(removed) {
            snapshot.insert(id, values);
        }
        let apart = if numbers.one_in(6) { numbers.up_to(1 << 20) as u32 } else { 0 };
        id = id.saturating_add(1 + apart);
        if index + 2 == count && numbers.one_in(4) {
            id = u32::MAX;
        }
    }
    for values in baseline.values_mut().chain(snapshot.values_mut()) {
        reference::clear_absent(schema, values);
        reference::round_coarse(schema, values);
    }
    [baseline, snapshot]
}

/// Makes a possible earlier state of the baseline. Between the two, some entities were added, and
/// each of the others moved or rested.
fn before(numbers: &mut Numbers, schema: &[reference::Field], baseline: &Entities) -> Entities {
    let lanes: Vec<reference::Lane> = schema.iter().flat_map(reference::Field::lanes).collect();
    let mut older = baseline.clone();
    older.retain(|_, _| !numbers.one_in(6));
    for values in older.values_mut() {
        let is_still = numbers.one_in(5);
        for (lane, value) in lanes.iter().zip(values) {
            if !is_still && numbers.one_in(3) {
                *value = moved(numbers, lane, *value);
            }
        }
    }
    for values in older.values_mut() {
        reference::clear_absent(schema, values);
        reference::round_coarse(schema, values);
    }
    older
}

/// Makes a profile with properties that no other profile has. It has classes of 0 and of 32 bits, a
/// class that exceeds the previous one in several lanes, a context state for every class, and a gap
/// code with a single class.
fn odd_profile(schema: &Schema) -> Profile {
    let mut profile = Profile::untrained(schema);
    let mut earlier = None;
    for (index, code) in profile.fields.iter_mut().enumerate() {
        // The following fields belong to another kind.
        if schema.kinds().iter().any(|kind| kind.fields().start == index) {
            earlier = None;
        }
        let Some(first) = code.classes.first() else { continue };
        let (lanes, other) = (first.lanes.len(), code.classes[1].reference);
        let class = |reference, bits, beyond_bits| Class {
            reference,
            lanes: (0..lanes)
                .map(
                    |lane| if lane == 0 { LaneWidth { bits, beyond_bits } } else { first.lanes[0] },
                )
                .collect(),
        };
        let even = |reference, bits| Class {
            reference,
            lanes: vec![LaneWidth { bits, beyond_bits: 0 }; lanes],
        };
        code.classes = vec![
            even(other, 0),
            class(kinepack::profile::Reference::Baseline, 1, 1),
            class(other, 8, 3),
            even(kinepack::profile::Reference::Baseline, 32),
        ];
        code.context = earlier.map_or(Context::Previous, Context::Field);
        code.lengths_bits = vec![
            vec![1, 2, 3, 4, 4],
            vec![4, 4, 3, 2, 1],
            vec![3, 3, 2, 2, 2],
            vec![2, 2, 2, 3, 3],
            vec![8, 8, 7, 6, 6],
            vec![1, 3, 3, 3, 3],
        ];
        code.lengths_bits[4] = vec![2, 2, 3, 3, 2];
        earlier = Some(index);
    }
    profile.entities = GapCode { widths_bits: Vec::new(), lengths_bits: vec![0] };
    profile.flags = GapCode { widths_bits: vec![0, 1], lengths_bits: vec![2, 1, 2] };
    profile
}

const MAX_ENTITIES: usize = 40;
const PAIRS: usize = 24;

/// Makes a profile of every sort, one of them trained on pairs of snapshots.
fn profiles(schema: &Schema, pairs: &[[Entities; 2]]) -> [Profile; 5] {
    let mut trainer = Trainer::new(schema.clone(), Profile::magnitudes(schema)).unwrap();
    for [baseline, new] in pairs {
        trainer.observe(&snapshot(schema, baseline), &[], &snapshot(schema, new)).unwrap();
    }
    [
        Profile::untrained(schema),
        Profile::article(schema),
        Profile::magnitudes(schema),
        trainer.finish(),
        odd_profile(schema),
    ]
}

/// Fails unless both decoders refuse a packet, or decode it to the same entities.
fn assert_alike(
    name: &str,
    by_crate: &Result<Entities, DecodeError>,
    by_reference: &Result<Entities, Refused>,
) {
    match (by_crate, by_reference) {
        (Ok(by_crate), Ok(by_reference)) => {
            assert!(by_crate == by_reference, "not the same: {name}");
        }
        (Err(_), Err(_)) => {}
        (Ok(_), Err(why)) => panic!("only the reference refuses it ({why:?}): {name}"),
        (Err(why), Ok(_)) => panic!("only the crate refuses it ({why:?}): {name}"),
    }
}

/// Returns the beginning of a packet, and the packet with a flipped bit: in the sets, and anywhere.
fn damaged(numbers: &mut Numbers, packet: &[u8]) -> Vec<Vec<u8>> {
    let mut damaged = vec![packet[..numbers.up_to(packet.len() as i128 - 1) as usize].to_vec()];
    for end in [3, 3, packet.len(), packet.len()] {
        let bit = numbers.up_to(8 * end.min(packet.len()) as i128 - 1) as usize;
        let mut packet = packet.to_vec();
        packet[bit / 8] ^= 1 << (bit % 8);
        damaged.push(packet);
    }
    damaged
}

#[test]
fn both_decoders_agree() {
    let mut numbers = Numbers(2);
    let (mut packets, mut refused, mut taken, mut coarse) = (0, 0, 0, 0);
    for fields in schemas() {
        let schema = of_the_crate(&fields);
        let pairs: Vec<[Entities; 2]> =
            (0..PAIRS * 5).map(|_| pair(&mut numbers, &fields)).collect();
        for (nth, profile) in profiles(&schema, &pairs[..10]).into_iter().enumerate() {
            let of_the_reference = of_the_reference(&profile);
            for level in Level::TABLE.into_iter().filter(|level| !level.adaptive()) {
                let codec = Codec::new(schema.clone(), level, profile.clone()).unwrap();
                let limits = DecodeLimits { max_entities: MAX_ENTITIES as u32 };
                let (mut encoder, mut decoder) =
                    (Encoder::new(&codec), Decoder::with_limits(&codec, limits));
                for (index, [baseline, new]) in pairs[nth * PAIRS..][..PAIRS].iter().enumerate() {
                    // Some pairs are skipped at some levels to save time. The first levels use less
                    // of the profile.
                    if !(usize::from(level.row()) + index).is_multiple_of(if level.row() < 7 {
                        6
                    } else {
                        3
                    }) {
                        continue;
                    }
                    let name = format!(
                        "{}, profile {nth}, level {}, pair {index}",
                        fields[0].name,
                        level.row()
                    );
                    let mut held = snapshot(&schema, baseline);
                    held.tick.0 = 1 + numbers.up_to(5) as u32;
                    let older = before(&mut numbers, &fields, baseline);
                    let reader = Reader {
                        schema: &fields,
                        profile: &of_the_reference,
                        level: level.row(),
                        max_entities: MAX_ENTITIES,
                        older: (codec.has_precision() && !numbers.one_in(9))
                            .then_some((&older, held.tick.0)),
                    };
                    let views = [held, snapshot(&schema, &older)].map(View::from);
                    let baselines =
                        Baselines::new(&views[..1 + usize::from(reader.older.is_some())]).unwrap();
                    let mut packet = Vec::new();
                    let new =
                        encoder.encode(baselines, &snapshot(&schema, new), &mut packet).unwrap();
                    coarse += usize::from(codec.has_precision());
                    let mut both = |packet: &[u8]| {
                        let by_crate = decoder
                            .decode(baselines, packet, Tick(0))
                            .map(|decoded| entities(&decoded));
                        let by_reference = reader.decode(baseline, packet);
                        assert_alike(&format!("{name}: {packet:02x?}"), &by_crate, &by_reference);
                        by_reference.is_ok()
                    };
                    both(&packet);
                    assert!(
                        reader.decode(baseline, &packet) == Ok(entities(&new)),
                        "{name}: the encoder wrote another"
                    );
                    packets += 1;
                    for packet in &damaged(&mut numbers, &packet) {
                        if both(packet) { taken += 1 } else { refused += 1 }
                    }
                }
            }
        }
    }
    // Both decoders refuse some of the damaged packets, and accept others.
    assert!(
        coarse > 100 && packets > 1000 && taken > 1000 && refused > 2000,
        "{packets}, {taken}, {refused}"
    );
}
