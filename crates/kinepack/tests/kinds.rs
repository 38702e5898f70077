//! Tests of schemas with several kinds of entities, and the frozen bytes of
//! `spec/vectors/kinds.txt`.

#![cfg(all(feature = "training", feature = "derive"))]

#[path = "kinds/newcomers.rs"]
mod newcomers;

use kinepack::codec::Difference;
use kinepack::profile::Bodies;
use kinepack::schema::{Field, FieldKind, MAX_KINDS, SchemaBuilder};
use kinepack::training::{ProfileSearch, Training};
use kinepack::{
    Baselines, Codec, DecodeError, Decoder, EncodeError, Encoder, EntityId, Level, Pack, Profile,
    Schema, SetupError, Snapshot, Tick, View,
};

use crate::support::{Random, Subject, check_stored_schema, packet_lines, schema_lines, views};

#[derive(Pack, Clone, Debug, PartialEq)]
struct Player {
    #[pack(body, range = -64.0..64.0, precision = 1.0 / 256.0, clamp)]
    position: [f32; 3],
    #[pack(body, rotation, bits = 9)]
    rotation: [f32; 4],
    #[pack(mover)]
    is_active: bool,
    #[pack(range = 0.0..360.0, precision = 0.5, wrap)]
    heading: f32,
    shield: Option<u8>,
    #[pack(spawn, max = 3)]
    team: u8,
}

/// The range and the step of its position differ from those of the player's position.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Crate {
    #[pack(body, range = -100.0..100.0, precision = 1.0 / 128.0, clamp)]
    position: [f32; 3],
    #[pack(body, rotation, bits = 10)]
    rotation: [f32; 4],
    #[pack(touched)]
    is_touched: bool,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Bullet {
    #[pack(range = -64.0..64.0, precision = 1.0 / 256.0, clamp)]
    position: [f32; 3],
    #[pack(velocity, range = -32.0..32.0, precision = 1.0 / 16.0, clamp)]
    velocity: [f32; 3],
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Door {
    open: bool,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Lamp {
    open: bool,
}

fn builder() -> SchemaBuilder {
    Schema::builder()
        .kind::<Player>("player")
        .kind::<Crate>("crate")
        .kind::<Bullet>("bullet")
        .kind::<Door>("door")
        .kind::<Lamp>("lamp")
}

fn schema() -> Schema {
    builder().build().unwrap()
}

#[derive(Clone, Debug)]
enum Thing {
    Player(Player),
    Crate(Crate),
    Bullet(Bullet),
    Door(Door),
    Lamp(Lamp),
}

fn any(random: &mut Random) -> Thing {
    let mut vector = |scale: f32| [0; 3].map(|_| random.unit() * scale);
    let (position, velocity, [a, b, c]) = (vector(50.0), vector(30.0), vector(1.0));
    let rotation = [a, b, c, 1.5];
    match random.below(5) {
        0 => Thing::Player(Player {
            position,
            rotation,
            is_active: random.one_in(2),
            heading: 90.0 + 80.0 * random.unit(),
            shield: random.one_in(2).then(|| random.below(200) as u8),
            team: random.below(4) as u8,
        }),
        1 => Thing::Crate(Crate { position, rotation, is_touched: random.one_in(2) }),
        2 => Thing::Bullet(Bullet { position, velocity }),
        3 => Thing::Door(Door { open: random.one_in(2) }),
        _ => Thing::Lamp(Lamp { open: random.one_in(2) }),
    }
}

/// Makes a run of a world in which things move, are added and removed, and become things of another
/// kind.
fn run(seed: u64, frames: usize) -> Vec<Snapshot> {
    let (schema, mut random) = (schema(), Random::new(seed));
    let mut things: Vec<Option<Thing>> =
        (0..60).map(|_| random.one_in(2).then(|| any(&mut random))).collect();
    let frame = |frame: usize| {
        let mut snapshot = Snapshot::new(&schema, Tick(frame as u32));
        for (id, slot) in (0..).map(EntityId).zip(&mut things) {
            match random.below(40) {
                0 => *slot = None,
                1 => *slot = Some(any(&mut random)),
                _ => {}
            }
            match slot {
                Some(Thing::Player(player)) => {
                    player.position[0] += 0.1 * random.unit();
                    player.heading = (player.heading + 1.0) % 360.0;
                    snapshot.push(id, player).unwrap();
                }
                Some(Thing::Crate(thing)) => {
                    thing.rotation[1] += 0.02;
                    thing.position[2] += 0.05 * random.unit();
                    snapshot.push(id, thing).unwrap();
                }
                Some(Thing::Bullet(bullet)) => {
                    let moved = bullet.position.iter_mut().zip(bullet.velocity);
                    moved.for_each(|(place, speed)| *place += speed / 60.0);
                    snapshot.push(id, bullet).unwrap();
                }
                Some(Thing::Door(door)) => snapshot.push(id, door).unwrap(),
                Some(Thing::Lamp(lamp)) => snapshot.push(id, lamp).unwrap(),
                None => {}
            }
        }
        snapshot
    };
    (0..frames).map(frame).collect()
}

fn bodies() -> Bodies {
    let mut bodies = Bodies::from_schema(&schema(), 2, [0.5; 3], Some(-64.0)).unwrap();
    bodies.kinds[0].mover = false;
    bodies
}

fn profiles() -> Vec<Profile> {
    let schema = schema();
    let runs = [run(1, 100), run(2, 100)];
    let structure = ProfileSearch::default().run(&schema, &runs, |_| ()).unwrap();
    let training = Training { passes: 2, ..Training::new(structure, Some(bodies())) };
    let trained = training.run(&schema, &runs, |_| ()).unwrap();
    vec![trained, Profile::untrained(&schema), Profile::magnitudes(&schema)]
}

#[test]
fn impossible_kinds_are_refused() {
    let fields = || vec![Field::new("lit", FieldKind::Bool)];
    let many = |count: usize| {
        (0..count).fold(Schema::builder(), |builder, nth| {
            builder.kind_of_fields(format!("kind {nth}"), fields())
        })
    };
    assert_eq!(many(0).build(), Err(SetupError::KindCount { kinds: 0 }));
    assert_eq!(many(MAX_KINDS + 1).build(), Err(SetupError::KindCount { kinds: MAX_KINDS + 1 }));
    assert_eq!(many(MAX_KINDS).build().unwrap().kinds().len(), MAX_KINDS);
    let bad = |builder: SchemaBuilder| builder.build().unwrap_err();
    let kind = |kind| SetupError::BadKind { kind };
    assert_eq!(bad(builder().kind_of_fields("", fields())), kind(5));
    assert_eq!(bad(builder().kind_of_fields("door", fields())), kind(5));
    assert_eq!(bad(builder().kind::<Door>("gate")), kind(5));
}

#[test]
fn names_and_order_are_in_the_hash() {
    let fields = || vec![Field::new("lit", FieldKind::Bool)];
    let of = |names: &[&str]| {
        let builder = names
            .iter()
            .fold(Schema::builder(), |builder, name| builder.kind_of_fields(*name, fields()));
        builder.build().unwrap().hash()
    };
    let all = [of(&["a", "b"]), of(&["b", "a"]), of(&["a", "c"]), of(&["a"]), of(&["ab"])];
    assert!((0..all.len()).all(|nth| !all[..nth].contains(&all[nth])));
    assert!(!all.contains(&Schema::new(fields()).hash()));
    // These bytes are listed in `spec/CODEC.md`, section 5.3.
    let bytes = [
        &u32::MAX.to_le_bytes()[..],
        &1u32.to_le_bytes(),
        b"a",
        &1u32.to_le_bytes(),
        &3u32.to_le_bytes(),
        b"lit",
        &[0, 3],
    ];
    let hash = bytes.concat().into_iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    assert_eq!(of(&["a"]), hash);
}

#[test]
fn the_type_says_which_kind_it_is() {
    let mut world = Snapshot::new(&schema(), Tick(0));
    // The kinds may be pushed in any order, and two of them have equal fields.
    world.push(EntityId(9), &Lamp { open: true }).unwrap();
    world.push(EntityId(4), &Door { open: false }).unwrap();
    world.push(EntityId(7), &Door { open: true }).unwrap();
    world.push(EntityId(2), &Bullet { position: [1.0; 3], velocity: [0.0; 3] }).unwrap();
    assert_eq!(world.ids(), [2, 4, 7, 9].map(EntityId));
    assert_eq!(world.iter::<Door>().unwrap().len(), 2);
    let lamps: Vec<_> = world.iter::<Lamp>().unwrap().collect();
    assert_eq!(lamps, [(EntityId(9), Lamp { open: true })]);
    assert_eq!(world.get::<Door>(EntityId(9)), Ok(None));
    assert_eq!(world.get_at_index::<Door>(3), Err(EncodeError::AnotherKind { id: 9 }));
    assert_eq!(world.position_of(3, EntityId(7)), Some(2));
    assert_eq!(world.kind_at(0), Some(2));
    let refused = world.push(EntityId(3), &Door { open: true });
    assert_eq!(refused, Err(EncodeError::IdsNotIncreasing { id: 3 }));
    let refused = world.push_lanes_of(5, EntityId(30), &[]);
    assert_eq!(refused, Err(EncodeError::NoSuchKind { kind: 5, kinds: 5 }));
    // Without the type, two kinds with equal fields cannot be distinguished.
    let names = Schema::builder()
        .kind_of_fields("door", Schema::of::<Door>().fields().to_vec())
        .kind_of_fields("lamp", Schema::of::<Door>().fields().to_vec())
        .kind_of_fields("bullet", Schema::of::<Bullet>().fields().to_vec());
    let mut world = Snapshot::new(&names.build().unwrap(), Tick(0));
    let refused = world.push(EntityId(1), &Door { open: true });
    assert!(matches!(refused, Err(EncodeError::TypeMismatch { id: Some(1), .. })));
    let bullet = Bullet { position: [1.0; 3], velocity: [0.0; 3] };
    world.push(EntityId(1), &bullet).unwrap();
    assert_eq!(world.get::<Bullet>(EntityId(1)), Ok(Some(bullet)));
}

#[test]
fn any_world_comes_back_at_every_level() {
    let (schema, frames) = (schema(), run(3, 50));
    let views = views(frames.iter().cloned());
    for profile in profiles() {
        let bytes = profile.to_bytes();
        assert_eq!(Profile::from_bytes(&bytes, &schema).as_ref(), Ok(&profile));
        for level in Level::TABLE {
            let codec = Codec::new(schema.clone(), level, profile.clone()).unwrap();
            let mut subject = Subject::new(&codec);
            for (frame, state) in frames.iter().enumerate().skip(8) {
                let lag = 1 + frame % 4;
                let older = [frame - lag, frame - 2 * lag].map(|frame| &views[frame]);
                subject.round_trip(Baselines::new(older).unwrap(), state);
            }
            subject.round_trip(&View::empty(&schema), &frames[9]);
        }
    }
}

#[test]
fn damaged_packets_give_errors_or_valid_states() {
    let (schema, frames) = (schema(), run(4, 30));
    let views = views(frames.iter().cloned());
    let profile = profiles().swap_remove(0);
    for level in Level::TABLE {
        let codec = Codec::new(schema.clone(), level, profile.clone()).unwrap();
        let (mut subject, mut random) = (Subject::new(&codec), Random::new(9));
        for frame in (4..frames.len()).step_by(5) {
            let base = &views[frame - 4];
            let packet = subject.round_trip(base, &frames[frame]);
            for round in 0..100 {
                // A decoded view is valid, and can be coded again.
                let _ = subject.decode_and_return(base, &random.damaged(&packet, round));
            }
            assert_eq!(subject.round_trip(base, &frames[frame]), packet, "the state changed");
        }
    }
}

#[test]
fn an_id_of_two_kinds_is_refused() {
    let schema = schema();
    // The world has a door with the given id, and a lamp.
    let door_and_lamp = |door: u32| {
        let mut state = Snapshot::new(&schema, Tick(1));
        state.push(EntityId(door), &Door { open: true }).unwrap();
        state.push(EntityId(2), &Lamp { open: true }).unwrap();
        state
    };
    let mut good = door_and_lamp(7);
    let base = View::from(good.clone());
    good.push(EntityId(4), &Lamp { open: true }).unwrap();
    let mut bad = door_and_lamp(4);
    let held = View::from(bad.clone());
    bad.push(EntityId(4), &Lamp { open: true }).unwrap();
    assert_eq!(bad.shared_id(), Some(EntityId(4)));
    for level in Level::TABLE {
        let codec = Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap();
        let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
        let mut packet = Vec::new();
        let refused = encoder.encode(&base, &bad, &mut packet);
        assert_eq!((refused, packet.len()), (Err(EncodeError::SharedId { id: 4 }), 0));
        // The packet adds the lamp 4, but the receiver has a door with that id.
        encoder.encode(&base, &good, &mut packet).unwrap();
        let refused = decoder.decode(&held, &packet, Tick(1));
        assert!(matches!(refused, Err(DecodeError::BadEntitySet { .. })), "{refused:?}");
        let view = decoder.decode(&base, &packet, Tick(1)).unwrap();
        assert_eq!(**view.snapshot(), good);
    }
}

#[test]
fn an_entity_may_become_one_of_another_kind() {
    let schema = schema();
    let mut before = Snapshot::new(&schema, Tick(1));
    before.push(EntityId(4), &Door { open: true }).unwrap();
    before.push(EntityId(8), &Lamp { open: true }).unwrap();
    let mut after = Snapshot::new(&schema, Tick(2));
    after.push(EntityId(8), &Door { open: true }).unwrap();
    after.push(EntityId(4), &Lamp { open: true }).unwrap();
    let mut difference = Difference::default();
    difference.find(&before, &after);
    assert_eq!(difference.removed, [4, 8].map(EntityId));
    assert_eq!(difference.sent, [0, 1]);
    assert!(!before.has_same_entities(&after) && !before.holds_same(&after));
    assert_ne!(before.state_hash(), after.state_hash());
    let mut patched = before.clone();
    patched.patch(&[], &after).unwrap();
    assert!(patched.holds_same(&after));
    patched.retain(&[EntityId(8)]);
    assert_eq!((patched.ids(), patched.kind_at(0)), (&[EntityId(8)][..], Some(3)));
    let mut rows = Snapshot::new_like(&after);
    rows.gather(&after, &[1]).unwrap();
    rows.push_row(&after, 0).unwrap();
    assert!(rows.holds_same(&after));
    let held = View::from(before);
    for level in Level::TABLE {
        let codec = Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap();
        Subject::new(&codec).round_trip(&held, &after);
    }
}

/// A kind without entities takes no bits while the set of entities stays the same.
#[test]
fn a_kind_that_nobody_has_costs_nothing() {
    let both = Schema::builder().kind::<Bullet>("bullet").kind::<Player>("player").build().unwrap();
    let one = Schema::builder().kind::<Bullet>("bullet").build().unwrap();
    let bare = Schema::of::<Bullet>();
    for level in Level::TABLE {
        let bits = [&both, &one, &bare].map(|schema| {
            let mut random = Random::new(3);
            let mut bullets: Vec<Bullet> = (0..40)
                .map(|_| Bullet { position: [random.unit() * 9.0; 3], velocity: [1.0; 3] })
                .collect();
            let states = [1, 7].map(|tick| {
                let mut state = Snapshot::new(schema, Tick(tick));
                for (id, bullet) in (0..).zip(&mut bullets) {
                    bullet.position[1] += random.unit() * random.below(2) as f32;
                    state.push(EntityId(id), bullet).unwrap();
                }
                state
            });
            let [base, now] = states;
            let codec = Codec::new(schema.clone(), level, Profile::untrained(schema)).unwrap();
            let mut encoder = Encoder::new(&codec);
            encoder.encode(&View::from(base), &now, &mut Vec::new()).unwrap();
            encoder.size().sets_bits + encoder.size().fields_bits.iter().sum::<u64>()
        });
        assert_eq!(bits, [bits[0]; 3], "level {}", level.row());
    }
}

/// Further kinds in the schema add no bits, even while entities of other kinds are added and
/// removed.
#[test]
fn a_kind_that_nobody_has_costs_nothing_when_others_come_and_go() {
    let two = || Schema::builder().kind::<Bullet>("bullet").kind::<Lamp>("lamp");
    let schemas = [
        two().build().unwrap(),
        two().kind::<Door>("door").build().unwrap(),
        two().kind::<Door>("door").kind::<Player>("player").build().unwrap(),
    ];
    let bullet = |at: u32| Bullet { position: [at as f32 * 0.25; 3], velocity: [1.0; 3] };
    for level in Level::TABLE {
        let sets_bits = schemas.each_ref().map(|schema| {
            let states = [0, 6].map(|tick| {
                let mut state = Snapshot::new(schema, Tick(tick));
                (tick..tick + 30).for_each(|id| state.push(EntityId(id), &bullet(id)).unwrap());
                state.push(EntityId(99), &Lamp { open: true }).unwrap();
                state
            });
            let [base, now] = states;
            let codec = Codec::new(schema.clone(), level, Profile::untrained(schema)).unwrap();
            let mut subject = Subject::new(&codec);
            let base = View::from(base);
            let bits = {
                let mut encoder = Encoder::new(&codec);
                encoder.encode(&base, &now, &mut Vec::new()).unwrap();
                encoder.size().sets_bits
            };
            subject.round_trip(&base, &now);
            // Adds the first door.
            if schema.kinds().len() > 2 {
                let mut appeared = now.clone();
                appeared.push(EntityId(200), &Door { open: true }).unwrap();
                subject.round_trip(&base, &appeared);
            }
            bits
        });
        assert_eq!(sets_bits, [sets_bits[0]; 3], "level {}", level.row());
    }
}

#[test]
fn a_profile_is_carried_to_the_kinds_with_the_same_fields() {
    let trained = profiles().swap_remove(0);
    let schema = schema();
    assert_eq!(trained.carried(&schema, &schema).as_ref(), Ok(&trained));

    // The other schema has the same kinds with other names and in a different order. It lacks the
    // bullet and the lamp, and has a kind that the profile was not trained for.
    #[derive(Pack)]
    struct Unknown {
        #[pack(range = -1.0..=1.0, precision = 0.125)]
        tilt: [f32; 2],
        #[pack(max = 11)]
        colour: u8,
    }
    let other = Schema::builder()
        .kind::<Unknown>("unknown")
        .kind::<Door>("gate")
        .kind::<Crate>("crate")
        .kind::<Player>("avatar")
        .build()
        .unwrap();
    let carried = trained.carried(&schema, &other).unwrap();
    assert_eq!(Profile::from_bytes(&carried.to_bytes(), &other).as_ref(), Ok(&carried));
    let untrained = Profile::untrained(&other);
    assert_eq!(carried.fields[..2], untrained.fields[..2]);
    // The context of the player's position refers to a field of the same kind.
    let field =
        |schema: &Schema, kind: usize, nth: usize| schema.kinds()[kind].fields().start + nth;
    let [from, to] = [field(&schema, 0, 0), field(&other, 3, 0)];
    assert_eq!(carried.fields[to].lengths_bits, trained.fields[from].lengths_bits);
    let [of, in_other] = [&trained, &carried]
        .map(|profile| profile.model.as_ref().and_then(|model| model.bodies()).unwrap());
    assert_eq!(of.position, field(&schema, 0, 0));
    assert_eq!(in_other.position, field(&other, 3, 0));

    // Carrying the profile back loses only the parts that the other schema lacks.
    let back = carried.carried(&other, &schema).unwrap();
    for (index, code) in trained.fields.iter().enumerate() {
        let bullet = schema.kinds()[2].fields();
        assert_eq!(back.fields[index] == *code, !bullet.contains(&index), "field {index}");
    }
    assert_eq!(carried.carried(&schema, &other), Err(SetupError::ProfileMismatch));
}

/// If one kind is split into two with the same fields, packets take about as many bits as before.
/// The profile is that of the one kind, carried to the new schema.
#[test]
fn a_kind_that_became_two_takes_hardly_more() {
    let one = Schema::of::<Crate>();
    let fields = || one.fields().to_vec();
    let two = Schema::builder().kind_of_fields("lead", fields()).kind_of_fields("crate", fields());
    let two = two.build().unwrap();
    let mut random = Random::new(8);
    let mut crates: Vec<[f32; 2]> = (0..40).map(|_| [0.0, random.unit() * 0.3]).collect();
    let frames: Vec<[Snapshot; 2]> = (0..80)
        .map(|tick| {
            let mut frame = [&one, &two].map(|schema| Snapshot::new(schema, Tick(tick)));
            for (id, [place, speed]) in crates.iter_mut().enumerate() {
                *place += *speed + 0.02 * random.unit();
                let state = Crate {
                    position: [*place, id as f32, 1.0],
                    rotation: [0.1 * place.sin(), 0.0, 0.0, 1.0],
                    is_touched: false,
                };
                frame[0].push(EntityId(id as u32), &state).unwrap();
                let index = frame[0].len() - 1;
                let lanes: Vec<u32> =
                    (0..one.lanes().len()).map(|lane| frame[0].lane(lane)[index]).collect();
                frame[1].push_lanes_of(usize::from(id > 0), EntityId(id as u32), &lanes).unwrap();
            }
            frame
        })
        .collect();
    let bodies = Bodies::from_schema(&one, 2, [0.5; 3], None);
    let run: Vec<Snapshot> = frames[..40].iter().map(|[one, _]| one.clone()).collect();
    let training = Training {
        max_lags_ticks: vec![6],
        passes: 1,
        ..Training::new(Profile::magnitudes(&one), bodies)
    };
    let trained = training.run(&one, &[run], |_| ()).unwrap();
    let carried = trained.carried(&one, &two).unwrap();
    for level in [Level::PACKED, Level::ADAPTIVE, Level::LEARNING] {
        let bytes = [(&one, &trained), (&two, &carried)].map(|(schema, profile)| {
            let nth = usize::from(std::ptr::eq(schema, &two));
            let codec = Codec::new(schema.clone(), level, profile.clone()).unwrap();
            let mut subject = Subject::new(&codec);
            let views = views(frames.iter().map(|frame| frame[nth].clone()));
            let packet = |frame: usize| subject.round_trip(&views[frame - 3], &frames[frame][nth]);
            (43..80).map(packet).map(|packet| packet.len()).sum::<usize>() as f64
        });
        assert!(bytes[1] < 1.04 * bytes[0], "{level:?}: {bytes:?}");
    }
}

/// Makes the contents of `spec/vectors/kinds.txt`.
fn vectors() -> String {
    let schema = schema();
    check_stored_schema("kinds", &schema);
    let profile = Profile::untrained(&schema);
    let mut lines = schema_lines(&schema, &profile);
    let outline: Vec<String> = schema.outline().map(|part| format!("{part:08x}")).collect();
    lines += &format!("outline {}\n", outline.join(" "));
    let states: Vec<Snapshot> = run(6, 31).into_iter().step_by(6).collect();
    for state in &states {
        lines += &format!("state {}\n", state.tick.0);
        for (index, (kind, id)) in state.entities().enumerate() {
            let lanes: Vec<String> = state.lanes_at(index).map(|lane| lane.to_string()).collect();
            lines += &format!("entity {kind} {} {}\n", id.0, lanes.join(" "));
        }
    }
    lines + &packet_lines(&schema, &profile, &states)
}

/// `KINEPACK_WRITE_VECTORS=1` writes the vectors again.
#[test]
fn the_frozen_vectors_are_written_and_read() {
    const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/vectors/kinds.txt");
    let lines = vectors();
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        std::fs::write(PATH, lines).unwrap();
        return;
    }
    let frozen = include_str!("../../../spec/vectors/kinds.txt");
    assert!(lines == frozen, "the packets differ from spec/vectors/kinds.txt");
}

/// A part of the outline is a hash of the bytes that `spec/CODEC.md`, section 5.3, lists.
#[test]
fn outlines_are_hashes_of_names_and_fields() {
    let fnv = |bytes: &[u8]| {
        let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, add) as u32
    };
    let fields = vec![Field::new("lit", FieldKind::Bool)];
    let named = Schema::builder().kind_of_fields("lamp", fields.clone()).build().unwrap();
    let (kind, field) = (fnv(b"\0lamp"), fnv(b"\x01\x03\0\0\0lit\0\x03"));
    assert!(named.outline().eq([kind, field]));
    assert!(Schema::new(fields).outline().eq([field]));
    let names: Vec<String> = (0..3).filter_map(|part| named.part_name(part)).collect();
    assert_eq!(names, ["lamp", "lamp.lit"]);
}

#[test]
fn a_state_is_written_over_that_of_the_tick_before() {
    let bullet = |x: f32| Bullet { position: [x, 2.0, 3.0], velocity: [0.0; 3] };
    let fill = |x: f32, open: bool| {
        let mut world = Snapshot::new(&schema(), Tick(1));
        (3..9).try_for_each(|id| world.push(EntityId(id), &bullet(id as f32))).unwrap();
        world.push(EntityId(11), &bullet(x)).unwrap();
        world.push(EntityId(1), &Door { open }).unwrap();
        world.push(EntityId(2), &Lamp { open: true }).unwrap();
        world
    };
    let mut world = fill(7.0, false);
    assert_eq!(world.set(EntityId(11), &bullet(-20.5)), Ok(true));
    assert_eq!(world.set(EntityId(1), &Door { open: true }), Ok(true));
    assert!(world == fill(-20.5, true));
    // `set` refuses entities that do not exist or are of another kind, and states that cannot be
    // quantized.
    assert_eq!(world.set(EntityId(12), &bullet(1.0)), Ok(false));
    assert_eq!(world.set(EntityId(2), &Door { open: false }), Ok(false));
    let refused = world.set(EntityId(11), &Bullet { velocity: [f32::NAN; 3], ..bullet(1.0) });
    let field = "velocity";
    assert_eq!(refused, Err(EncodeError::NotANumber { id: Some(11), field }));
    assert!(world == fill(-20.5, true));
}
