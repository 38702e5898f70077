//! Generated schemas, and worlds of entities with these schemas. At all levels, and against any
//! views that both sides may hold, snapshots come back lane for lane. Damaged packets are refused
//! or valid, and have no effect. Codecs of equal hash read each other's packets.
//!
//! The suite tries a few hundred schemas. A longer run takes a few minutes: `PROPTEST_CASES=5000
//! cargo test --release -p kinepack generated::`

pub(crate) mod schemas;

use std::cell::Cell;

use kinepack::quantize::{FloatLimits, FloatParts};
use kinepack::schema::{Field, FieldKind, Role};
use kinepack::stream::{StreamBase, StreamCodec, StreamLevel};
use kinepack::{
    Baselines, Codec, DecodeError, EntityId, Level, Profile, Schema, Snapshot, Tick, View,
};
use proptest::prelude::*;

use crate::coding::{Pair, adaptive_profile};
use crate::runner::for_all;
use crate::support::{Random, Walk, frames, profiles};

/// The parts of a test case besides its schema.
#[derive(Clone, Debug)]
struct World {
    seed: u64,
    entities: usize,
    level: Level,
    /// The index of one of [`profiles`]. The index after the last stands for a profile trained for
    /// levels that predict.
    profile: usize,
}

impl World {
    fn profile(&self, schema: &Schema) -> Profile {
        let profiles = profiles(schema);
        match profiles.get(self.profile) {
            Some((_, profile)) => profile.clone(),
            None => adaptive_profile(schema).unwrap_or_else(|| Profile::untrained(schema)),
        }
    }

    fn codec(&self, schema: &Schema) -> Codec {
        Codec::new(schema.clone(), self.level, self.profile(schema)).unwrap()
    }
}

fn worlds() -> impl Strategy<Value = World> {
    // Half of the cases use levels that predict, because these are the most complex.
    let levels = prop_oneof![0usize..12, 11usize..14];
    let profile = prop_oneof![8 => 0usize..4, 1 => Just(4)];
    (any::<u64>(), 0usize..14, levels, profile).prop_map(|(seed, entities, level, profile)| {
        let level = Level::TABLE[level];
        World { seed, entities, level, profile }
    })
}

/// Chooses some of the views that both sides hold: a baseline, most often with its learned state,
/// and older views.
fn chosen(held: &[View], random: &mut Random) -> Vec<View> {
    let mut next = random.below(held.len() as u64) as usize;
    let mut known = vec![held[next].clone()];
    while next > 0 && !random.one_in(3) {
        next = random.below(next as u64) as usize;
        known.push(held[next].clone());
    }
    known.truncate(1 + Baselines::OLDER);
    if random.one_in(4) {
        known[0] = known[0].clone().with_learned(None);
    }
    known
}

/// Sends a world, and passes each packet to `look` with the packet's baselines and view.
fn send(
    codec: &Codec,
    world: &World,
    mut look: impl FnMut(&mut Pair, &mut Random, &[View], &View, &[u8]),
) {
    const FRAMES: usize = 6;
    let mut pair = Pair::new(codec);
    let [mut choosing, mut random] = [world.seed, !world.seed].map(Random::new);
    let frames = frames(codec.schema(), world.seed, world.entities, FRAMES);
    let mut held = vec![View::from(frames[0].clone())];
    for snapshot in &frames[1..] {
        let known = chosen(&held, &mut choosing);
        let (packet, view) = pair.round_trip(&known, snapshot);
        look(&mut pair, &mut random, &known, &view, &packet);
        held.push(view);
    }
}

#[test]
fn generated_worlds_come_back_lane_for_lane() {
    for_all(250, (schemas::schemas(), worlds()), |(schema, world)| {
        let codec = world.codec(&schema);
        send(&codec, &world, |pair, random, known, view, packet| {
            // An encoder keeps only scratch memory, so a new encoder writes the same packet.
            assert!((packet.to_vec(), view.clone()) == Pair::new(&codec).encode(known, view));
            pair.part(known, view, random.up_to(2));
        });
    });
}

#[test]
fn damaged_packets_of_generated_worlds_are_refused_or_valid() {
    for_all(120, (schemas::schemas(), worlds()), |(schema, world)| {
        send(&world.codec(&schema), &world, |pair, random, known, view, packet| {
            for round in 0..12 {
                let damaged = random.damaged(packet, round);
                pair.decode_and_return(known, &damaged, view.tick);
            }
            let decoded = pair.decode(known, packet, view.tick);
            assert!(decoded.as_ref() == Ok(view), "the decoder's state has changed");
        });
    });
}

#[test]
fn any_bytes_with_a_state_check_are_an_error_or_a_view_that_has_it() {
    let wrong = Cell::new(0);
    for_all(120, (schemas::schemas(), worlds()), |(schema, world)| {
        send(&world.codec(&schema), &world, |pair, random, known, view, packet| {
            let packet = [packet, &view.check().to_le_bytes()].concat();
            for round in 0..12 {
                let damaged = random.damaged(&packet, round);
                let decoded = pair.decode_checked(known, &damaged, view.tick);
                wrong.set(
                    wrong.get()
                        + usize::from(matches!(decoded, Err(DecodeError::WrongState { .. }))),
                );
            }
            let decoded = pair.decode_checked(known, &packet, view.tick);
            assert!(decoded.as_ref() == Ok(view), "the decoder's state has changed");
        });
    });
    assert!(wrong.get() > 500, "{wrong:?}");
}

/// A setting of a codec that a program could change on one side only.
#[derive(Clone, Copy, Debug)]
enum Change {
    Level(Level),
    Profile(usize),
    Name,
    Role(Role),
    VelocityOf(usize),
    NoTimePrecision,
    TimePrecision(f64),
    MaxStep(f64),
    Kind(usize),
    NoCondition,
    Values(u32, u32),
    Parts(#[allow(dead_code, reason = "a failure shows it")] &'static str, ChangeOfParts),
}

type ChangeOfParts = fn(&mut FloatParts);

fn changes() -> impl Strategy<Value = Change> {
    let parts: [(&str, ChangeOfParts); 6] = [
        ("single", |parts| parts.single = !parts.single),
        ("highest", |parts| parts.highest = parts.max + parts.step / 2.0),
        ("smaller max_code", |parts| parts.max_code = parts.max_code.saturating_sub(1)),
        ("larger max_code", |parts| parts.max_code = parts.max_code.saturating_add(1)),
        ("step", |parts| parts.step = parts.step.next_up()),
        ("wraps", |parts| parts.wraps = !parts.wraps),
    ];
    let roles = [
        Role::Plain,
        Role::Velocity,
        Role::Body,
        Role::Touched,
        Role::Mover,
        Role::Clock,
        Role::Cut,
        Role::Frame,
    ];
    prop_oneof![
        2 => (0..Level::TABLE.len()).prop_map(|row| Change::Level(Level::TABLE[row])),
        2 => (0usize..5).prop_map(Change::Profile),
        1 => Just(Change::Name),
        1 => proptest::sample::select(roles.to_vec()).prop_map(Change::Role),
        2 => any::<usize>().prop_map(Change::VelocityOf),
        2 => Just(Change::NoTimePrecision),
        2 => (0.0f64..1.0).prop_map(Change::TimePrecision),
        2 => (-20i32..40).prop_map(|exponent| Change::MaxStep(f64::from(exponent).exp2())),
        1 => any::<usize>().prop_map(Change::Kind),
        1 => Just(Change::NoCondition),
        1 => (0u32..4, 0u32..4).prop_map(|(start, end)| Change::Values(start, end)),
        5 => proptest::sample::select(parts.to_vec()).prop_map(|(name, change)| Change::Parts(name, change)),
    ]
}

/// Returns the schema with one field changed, if a codec can have that field.
fn changed(schema: &Schema, change: Change, at: usize) -> Schema {
    let mut fields: Vec<Field> = schema.fields().to_vec();
    if fields.is_empty() {
        return schema.clone();
    }
    let at = at % fields.len();
    let others = fields.clone();
    let field = &mut fields[at];
    match change {
        Change::Level(_) | Change::Profile(_) => {}
        Change::Name => field.name.push('x'),
        Change::Role(role) => field.role = role,
        Change::VelocityOf(other) => {
            field.velocity_of = Some(others[other % others.len()].name.clone());
        }
        Change::NoTimePrecision => field.time_precision = None,
        Change::TimePrecision(share) => {
            if let Some(precision) = &mut field.time_precision {
                precision.time_precision_ms *= 0.5 + share / 2.0;
            }
        }
        Change::MaxStep(step) => {
            field.time_precision =
                field.time_precision.map(|precision| precision.with_max_step(step));
        }
        Change::NoCondition => field.condition = None,
        Change::Values(start, end) => {
            if let Some(condition) = &mut field.condition {
                condition.values = start..=end;
            }
        }
        Change::Kind(other) => field.kind = others[other % others.len()].kind.clone(),
        Change::Parts(_, change) => {
            if let FieldKind::Floats(axes) = &mut field.kind {
                for axis in axes {
                    let mut parts = axis.parts();
                    change(&mut parts);
                    *axis = FloatLimits::from_parts(parts).unwrap_or(*axis);
                }
            }
        }
    }
    let Ok(changed) = Schema::try_new(fields) else { return schema.clone() };
    let is_possible =
        Codec::new(changed.clone(), Level::PACKED, Profile::untrained(&changed)).is_ok();
    if is_possible { changed } else { schema.clone() }
}

#[test]
fn codecs_of_equal_hash_read_each_other() {
    let [equal, other] = [Cell::new(0), Cell::new(0)];
    for_all(
        400,
        (schemas::schemas(), worlds(), changes(), any::<usize>()),
        |(schema, world, change, at)| {
            let codec = world.codec(&schema);
            let schema = changed(&schema, change, at);
            let mut reading = world.clone();
            match change {
                Change::Level(level) => reading.level = level,
                Change::Profile(profile) => reading.profile = profile,
                _ => {}
            }
            // A profile belongs to one schema. So the reader's profile is trained again if the hash
            // changed; otherwise it is the writer's.
            let profile = reading.profile(codec.schema());
            let profile = if schema.hash() == codec.schema().hash() {
                profile
            } else {
                reading.profile(&schema)
            };
            let reader = Codec::new(schema, reading.level, profile).unwrap();
            if reader.hash() != codec.hash() {
                other.set(other.get() + 1);
                return;
            }
            equal.set(equal.get() + 1);
            let mut reader = Pair::new(&reader);
            send(&codec, &world, |_, _, known, view, packet| {
                let decoded = reader.decode(known, packet, view.tick);
                assert!(decoded.as_ref() == Ok(view), "{change:?}: decoded to something else");
                assert!(reader.round_trip(known, view) == (packet.to_vec(), view.clone()));
            });
        },
    );
    assert!(
        equal.get() > 60 && other.get() > 60,
        "{equal:?} pairs of equal hash, {other:?} of others"
    );
}

/// Found by the test above. At level 4, a velocity at rest takes one bit if its range has a zero.
/// Limits that accept numbers beyond their largest value have the same hash as those that do not.
#[test]
fn the_zero_of_a_velocity_is_within_the_limits_that_the_hash_covers() {
    let schema = |highest: f64| {
        let limits = FloatLimits::new(-21.0, -1.0, 10.0).unwrap();
        let limits = FloatLimits::from_parts(FloatParts { highest, ..limits.parts() }).unwrap();
        let speed = Field::new("speed", FieldKind::Floats(vec![limits]));
        Schema::new(vec![speed.with_role(Role::Velocity)])
    };
    let [exact, beyond] = [-1.0, 4.0].map(schema);
    assert_eq!(exact.hash(), beyond.hash());
    let size = |schema: &Schema| {
        let codec =
            Codec::new(schema.clone(), Level::TABLE[3], Profile::untrained(schema)).unwrap();
        let mut world = Snapshot::new(schema, Tick(1));
        (0..64).for_each(|id| world.push_lanes(EntityId(id), &[2]).unwrap());
        Pair::new(&codec).encode(&[View::empty(schema)], &View::from(world)).0.len()
    };
    assert_eq!(size(&exact), size(&beyond));
}

#[test]
fn streams_of_generated_schemas_come_back_lane_for_lane() {
    let inputs = (schemas::schemas(), any::<u64>(), any::<bool>(), changes(), any::<usize>());
    for_all(400, inputs, |(schema, seed, is_adaptive, change, at)| {
        if schema.lanes().is_empty() {
            return;
        }
        let level = if is_adaptive { StreamLevel::Adaptive } else { StreamLevel::Packed };
        let codec = StreamCodec::new(schema.clone(), level).unwrap();
        let reader = StreamCodec::new(changed(&schema, change, at), level).ok();
        let reader =
            reader.filter(|reader| reader.hash() == codec.hash()).unwrap_or_else(|| codec.clone());
        let (mut walk, mut random) = (Walk::new(&schema, seed), Random::new(seed));
        let mut held: Option<(Vec<u32>, _, _)> = None;
        for _ in 0..6 {
            let count = 1 + random.up_to(2) as usize;
            let records = walk.records(count);
            let lag = 1 + random.up_to(300) as u16;
            let [base, read_base] = [0, 1].map(|side| {
                let base = held.as_ref();
                base.map(|(lanes, sent, read)| StreamBase {
                    lanes,
                    learned: [sent, read][side],
                    lag,
                })
            });
            let [mut sent, mut read, mut other] = [0; 3].map(|_| codec.nothing_learned());
            let mut packet = Vec::new();
            codec.encode(base, &records, &mut sent, &mut packet).unwrap();
            let mut room = vec![0; records.len()];
            for round in 0..6 {
                let damaged = random.damaged(&packet, round);
                if reader.decode(read_base, &mut room, &mut other, &damaged).is_ok() {
                    assert_eq!(codec.check_lanes(&room), Ok(()));
                }
            }
            assert_eq!(reader.decode(read_base, &mut room, &mut read, &packet), Ok(()));
            assert_eq!(room, records);
            assert!(sent == read, "both sides learned the same");
            let last = records[records.len() - codec.lanes()..].to_vec();
            if random.one_in(4) { held = None } else { held = Some((last, sent, read)) }
        }
    });
}
