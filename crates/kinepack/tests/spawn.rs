//! Tests of spawn fields: they are sent when an entity appears, and never again.

#![cfg(all(feature = "training", feature = "derive"))]

use kinepack::codec::Difference;
use kinepack::schema::{Condition, Field, FieldKind, Role, TimePrecision};
use kinepack::training::Training;
use kinepack::{
    Codec, Decoder, Encoder, EntityId, Level, Pack, Profile, Schema, SetupError, Snapshot, Tick,
    View,
};

use crate::support::{Random, Subject, views};

#[derive(Pack, Clone, Debug, PartialEq)]
struct Skin {
    #[pack(max = 12)]
    colour: u8,
    hat: Option<u8>,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Player {
    #[pack(spawn, max = 3)]
    team: u8,
    #[pack(range = -64.0..64.0, precision = 1.0 / 64.0, clamp)]
    place: [f32; 2],
    #[pack(spawn)]
    skin: Skin,
    #[pack(spawn, max = 9)]
    maker: Option<u8>,
    #[pack(max = 100)]
    health: u8,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Door {
    open: bool,
}

fn schema() -> Schema {
    Schema::builder().kind::<Player>("player").kind::<Door>("door").build().unwrap()
}

fn player(random: &mut Random) -> Player {
    Player {
        team: random.below(4) as u8,
        place: [random.unit() * 60.0, random.unit() * 60.0],
        skin: Skin {
            colour: random.below(13) as u8,
            hat: random.one_in(2).then(|| random.word() as u8),
        },
        maker: random.one_in(2).then(|| random.below(10) as u8),
        health: 100,
    }
}

/// Makes snapshots of a world in which players are added and removed, and ids return with other
/// spawn fields.
fn run(seed: u64, frames: usize) -> Vec<Snapshot> {
    let (schema, mut random) = (schema(), Random::new(seed));
    let mut players: Vec<Option<Player>> = vec![None; 30];
    let frame = |frame: usize| {
        let mut snapshot = Snapshot::new(&schema, Tick(frame as u32));
        for (id, slot) in players.iter_mut().enumerate() {
            match random.below(40) {
                0 => *slot = None,
                1 => *slot = Some(player(&mut random)),
                _ => {}
            }
            if let Some(player) = slot {
                player.place[0] += random.unit();
                player.health -= u8::from(random.one_in(9) && player.health > 0);
                snapshot.push(EntityId(id as u32), player).unwrap();
            }
        }
        for id in 100..110 {
            snapshot.push(EntityId(id), &Door { open: random.one_in(9) }).unwrap();
        }
        snapshot
    };
    (0..frames).map(frame).collect()
}

#[test]
fn the_derive_marks_all_fields_of_a_part() {
    let schema = Schema::of::<Player>();
    let marked = schema.fields().iter().filter(|field| field.is_spawn);
    let marked: Vec<&str> = marked.map(|field| field.name.as_str()).collect();
    assert_eq!(marked, ["team", "skin.colour", "skin.hat?", "skin.hat", "maker?", "maker"]);
    let mut plain = schema.fields().to_vec();
    plain.iter_mut().for_each(|field| field.is_spawn = false);
    assert_ne!(Schema::new(plain).hash(), schema.hash());
}

/// Tries every level, with baselines in which an id belonged to another entity.
#[test]
fn any_world_comes_back_at_every_level() {
    let schema = schema();
    for (seed, level) in (1..).zip(Level::TABLE) {
        let frames = run(seed, 60);
        let views = views(frames.iter().cloned());
        let codec = Codec::new(schema.clone(), level, Profile::magnitudes(&schema)).unwrap();
        let mut subject = Subject::new(&codec);
        let mut returned = 0;
        for (frame, state) in frames.iter().enumerate().skip(2) {
            let lag = 1 + frame % 7;
            let base = &views[frame.saturating_sub(lag)];
            subject.round_trip(base, state);
            let older = [base, &views[frame.saturating_sub(2 * lag)]];
            if older[1].tick < older[0].tick {
                subject.round_trip(kinepack::Baselines::new(older).unwrap(), state);
            }
            let same = base.ids().iter().filter(|id| state.position(**id).is_some());
            returned += same.filter(|id| has_returned(base, state, **id)).count();
        }
        assert!(returned > 10, "{returned}");
    }
}

/// Returns whether an id belongs to another player now than in `base`.
fn has_returned(base: &Snapshot, now: &Snapshot, id: EntityId) -> bool {
    let of = |state: &Snapshot| state.get::<Player>(id).unwrap();
    of(base).zip(of(now)).is_some_and(|(base, now)| {
        (base.team, base.skin, base.maker) != (now.team, now.skin, now.maker)
    })
}

#[test]
fn a_trained_profile_works() {
    let schema = schema();
    let runs = [run(1, 150), run(2, 150)];
    let search = kinepack::training::ProfileSearch::default();
    let structure = search.run(&schema, &runs, |_| ()).unwrap();
    let training = Training { passes: 2, ..Training::new(structure, None) };
    let profile = training.run(&schema, &runs, |_| ()).unwrap();
    let frames = run(3, 60);
    let views = views(frames.iter().cloned());
    let mut sizes = [0, 0];
    for level in [Level::PACKED, Level::ADAPTIVE, Level::LEARNING] {
        for (size, profile) in sizes.iter_mut().zip([&profile, &Profile::magnitudes(&schema)]) {
            let codec = Codec::new(schema.clone(), level, profile.clone()).unwrap();
            let mut subject = Subject::new(&codec);
            for (base, state) in views.iter().zip(&frames[6..]) {
                *size += subject.round_trip(base, state).len();
            }
        }
    }
    assert!(sizes[0] < sizes[1], "{sizes:?}");
}

/// If both sides know an entity, its spawn fields take no bits: packets are as if the type did not
/// have these fields.
#[test]
fn known_entities_have_no_bits_for_spawn_fields() {
    #[derive(Pack)]
    struct Bare {
        #[pack(range = -64.0..64.0, precision = 1.0 / 64.0, clamp)]
        place: [f32; 2],
        #[pack(max = 100)]
        health: u8,
    }
    let bare_schema = Schema::of::<Bare>();
    let whole_schema = Schema::of::<Player>();
    let mut random = Random::new(7);
    let players: Vec<Player> = (0..40).map(|_| player(&mut random)).collect();
    let [bare, whole] = [&bare_schema, &whole_schema].map(|schema| Snapshot::new(schema, Tick(1)));
    let (mut bare, mut whole) = (vec![bare], vec![whole]);
    for tick in [1, 7] {
        bare.push(Snapshot::new(&bare_schema, Tick(tick)));
        whole.push(Snapshot::new(&whole_schema, Tick(tick)));
        for (id, player) in (0..).zip(&players) {
            let mut player = player.clone();
            if tick > 1 && random.one_in(2) {
                player.place[1] += random.unit();
                player.health -= random.below(3) as u8;
            }
            let Player { place, health, .. } = player;
            bare.last_mut().unwrap().push(EntityId(id), &Bare { place, health }).unwrap();
            whole.last_mut().unwrap().push(EntityId(id), &player).unwrap();
        }
    }
    for level in Level::TABLE.into_iter().skip(6) {
        let size = |schema: &Schema, states: &[Snapshot]| {
            let codec = Codec::new(schema.clone(), level, Profile::untrained(schema)).unwrap();
            let mut encoder = Encoder::new(&codec);
            let base = View::from(states[1].clone());
            encoder.encode(&base, &states[2], &mut Vec::new()).unwrap();
            encoder.size().sets_bits + encoder.size().fields_bits.iter().sum::<u64>()
        };
        let [bare, whole] = [size(&bare_schema, &bare), size(&whole_schema, &whole)];
        assert_eq!(bare, whole, "level {}", level.row());
    }
}

#[test]
fn another_spawn_field_is_another_entity() {
    let schema = schema();
    let mut random = Random::new(5);
    let first = player(&mut random);
    let second = Player { team: 3 - first.team, ..first.clone() };
    let state = |tick, player: &Player| {
        let mut state = Snapshot::new(&schema, Tick(tick));
        state.push(EntityId(4), player).unwrap();
        state.push(EntityId(9), &Door { open: true }).unwrap();
        state
    };
    let (before, after) = (state(1, &first), state(2, &second));
    assert!(!before.has_same_entities(&after) && before.has_same_entities(&before));
    assert_eq!(after.changed_spawn_lane(&before), Some((EntityId(4), 0)));
    assert_eq!(before.changed_spawn_lane(&before), None);
    let mut difference = Difference::default();
    difference.find(&before, &after);
    assert_eq!((&difference.removed[..], &difference.sent[..]), (&[EntityId(4)][..], &[0][..]));
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let chosen = kinepack::codec::Chosen::entities(&[0]);
    let base = View::from(before);
    let refused = Encoder::new(&codec).write(&base, &after, chosen, &mut Vec::new()).err();
    assert_eq!(refused, Some(kinepack::EncodeError::EntitiesDiffer));
}

/// A packet that removes and adds the same id is refused for a kind without spawn fields.
#[test]
fn only_kinds_with_spawn_fields_may_return_in_one_packet() {
    let with = |is_spawn| {
        let mut field = Field::new("team", FieldKind::Choice { max: 3 });
        field.is_spawn = is_spawn;
        Schema::new(vec![field, Field::new("lit", FieldKind::Bool)])
    };
    let state = |schema: &Schema, team| {
        let mut state = Snapshot::new(schema, Tick(1));
        state.push_lanes(EntityId(4), &[team, 1]).unwrap();
        state
    };
    let codec = |schema: Schema| {
        let profile = Profile::untrained(&schema);
        Codec::new(schema, Level::PACKED, profile).unwrap()
    };
    let (spawn, plain) = (with(true), with(false));
    let base = View::from(state(&spawn, 1));
    let mut packet = Vec::new();
    let sent =
        Encoder::new(&codec(spawn.clone())).encode(&base, &state(&spawn, 2), &mut packet).unwrap();
    let decoded = Decoder::new(&codec(spawn)).decode(&base, &packet, Tick(1)).unwrap();
    assert_eq!(decoded, sent);
    let base = View::from(state(&plain, 1));
    let refused = Decoder::new(&codec(plain)).decode(&base, &packet, Tick(1));
    assert!(matches!(refused, Err(kinepack::DecodeError::BadEntitySet { .. })), "{refused:?}");
}

#[test]
fn impossible_spawn_fields_are_refused() {
    let flag = || Field::new("flag", FieldKind::Bool);
    let value = Field::new("value", FieldKind::Raw { lanes: 1 });
    let value = value.with_condition(Condition::new("flag", 1..=1)).with_spawn();
    let refused = Schema::try_new(vec![flag(), value.clone()]);
    assert_eq!(refused, Err(SetupError::BadCondition { field: 1 }));
    let schema = Schema::try_new(vec![flag().with_spawn(), value]).unwrap();
    let coarse = schema.with_time_precision(|_| Some(TimePrecision::new(20.0, 10.0)));
    let refused = Codec::new(coarse.clone(), Level::PACKED, Profile::untrained(&coarse)).err();
    assert_eq!(refused, Some(SetupError::BadTimePrecision { field: 0 }));
    let body = |is_spawn| {
        let limits = kinepack::quantize::FloatLimits::new(0.0, 8.0, 0.5).unwrap();
        let place = Field::new("place", FieldKind::Floats(vec![limits; 3])).with_role(Role::Body);
        let turn = kinepack::quantize::SmallestThree::new(9).unwrap();
        let mut turn = Field::new("turn", FieldKind::Rotation(turn)).with_role(Role::Body);
        turn.is_spawn = is_spawn;
        let schema = Schema::new(vec![place, turn]);
        kinepack::profile::Bodies::from_schema(&schema, 2, [1.0; 3], None)
    };
    assert!(body(false).is_some() && body(true).is_none());
}
