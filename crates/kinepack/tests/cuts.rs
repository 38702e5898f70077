//! Tests of cuts: fields that change when an entity jumps, such as a counter of teleports.

use kinepack::schema::{Field, Role, TimePrecision};
use kinepack::{
    Baselines, Codec, Decoder, Encoder, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick,
    View,
};

#[derive(Pack, Clone, Copy)]
struct Player {
    #[pack(range = -512.0..512.0, precision = 1.0 / 256.0)]
    place: [f32; 2],
    #[pack(cut)]
    teleports: u8,
    #[pack(cut)]
    is_ghost: bool,
}

/// The players of a tick. All of them walk, and jump far away in the tick 20.
fn world(schema: &Schema, tick: u32) -> Snapshot {
    let mut world = Snapshot::new(schema, Tick(tick));
    for id in 0..40 {
        let teleports = u8::from(tick >= 20);
        let along = tick as f32 / 16.0 + f32::from(teleports) * 300.0;
        let place = [along - 400.0, id as f32];
        world.push(EntityId(id), &Player { place, teleports, is_ghost: false }).unwrap();
    }
    world
}

fn schema() -> Schema {
    Schema::of::<Player>()
}

/// The same schema, in which no field marks cuts.
fn without_cuts() -> Schema {
    let plain = |field: &Field| field.clone().with_role(Role::Plain);
    Schema::new(schema().fields().iter().map(plain).collect())
}

/// The world of a tick with another schema of the same lanes.
fn world_of(schema: &Schema, tick: u32) -> Snapshot {
    let of_players = world(&self::schema(), tick);
    let mut world = Snapshot::new(schema, Tick(tick));
    for (index, id) in of_players.ids().iter().enumerate() {
        let lanes: Vec<u32> = of_players.lanes_at(index).collect();
        world.push_lanes(*id, &lanes).unwrap();
    }
    world
}

#[test]
fn the_derive_marks_flags_and_counters() {
    let schema = schema();
    let roles: Vec<Role> = schema.fields().iter().map(|field| field.role).collect();
    assert_eq!(roles, [Role::Plain, Role::Cut, Role::Cut]);
    assert_eq!(schema.kinds()[0].cut_lanes(), [2, 3]);
    assert_ne!(schema.hash(), without_cuts().hash());
    let read = Schema::from_bytes(&schema.to_bytes()).unwrap();
    assert_eq!(read.fields(), schema.fields());
}

#[test]
fn a_change_of_any_cut_field_is_a_cut() {
    let schema = schema();
    let state = |teleports, is_ghost| {
        let mut world = Snapshot::new(&schema, Tick(1));
        world.push(EntityId(3), &Player { place: [1.0, 2.0], teleports, is_ghost }).unwrap();
        world
    };
    let before = state(7, false);
    assert!(!state(7, false).is_cut_since(0, &before, 0));
    assert!(state(8, false).is_cut_since(0, &before, 0));
    assert!(state(7, true).is_cut_since(0, &before, 0));
    assert!(!state(8, false).is_cut_since(1, &before, 0), "no such entity");
    assert!(!state(8, false).is_cut_since(0, &before, 1), "no such entity");
    let plain = [7, 8].map(|teleports| {
        let mut world = Snapshot::new(&without_cuts(), Tick(1));
        world.push_lanes(EntityId(3), &[0, 0, teleports, 0]).unwrap();
        world
    });
    assert!(!plain[1].is_cut_since(0, &plain[0], 0), "no field marks cuts");
}

/// Sends the worlds of some ticks in order, each relative to the two before. Returns the size of
/// the last packet and its view.
fn send(codec: &Codec, ticks: [u32; 4]) -> (usize, View) {
    let (mut encoder, mut decoder) = (Encoder::new(codec), Decoder::new(codec));
    let mut held: Vec<View> = vec![View::empty(codec.schema())];
    let mut bytes = 0;
    for tick in ticks {
        let world = world_of(codec.schema(), tick);
        let known: Vec<&View> = held.iter().rev().take(3).collect();
        let known = Baselines::new(known).unwrap();
        let mut packet = Vec::new();
        let sent = encoder.encode(known, &world, &mut packet).unwrap();
        let view = decoder.decode(known, &packet, Tick(tick)).unwrap();
        assert_eq!(view, sent);
        held.push(view);
        bytes = packet.len();
    }
    (bytes, held.pop().unwrap())
}

#[test]
fn nothing_is_predicted_from_before_a_cut() {
    for level in [Level::ADAPTIVE, Level::LEARNING] {
        let size = |schema: Schema, ticks| {
            let profile = Profile::untrained(&schema);
            send(&Codec::new(schema, level, profile).unwrap(), ticks).0
        };
        // The step before is the jump, which is no sign of what follows.
        let after = [18, 19, 20, 21];
        let (with, without) = (size(schema(), after), size(without_cuts(), after));
        assert!(with < without, "{level:?}: {with} bytes with cuts, {without} without");
        // Where nothing cuts, marks cost nothing.
        let walk = [14, 15, 16, 17];
        assert_eq!(size(schema(), walk), size(without_cuts(), walk), "{level:?}");
    }
}

#[test]
fn a_jump_is_no_speed_that_a_time_precision_allows_for() {
    let precision = |field: &Field| {
        (field.name == "place").then(|| TimePrecision::new(4.0, 60.0).with_max_step(1.0))
    };
    let after_jump = |schema: Schema| {
        let schema = schema.with_time_precision(precision);
        let profile = Profile::untrained(&schema);
        let codec = Codec::new(schema, Level::PACKED, profile).unwrap();
        let (_, view) = send(&codec, [18, 19, 20, 21]);
        (**view.snapshot()).holds_same(&world_of(codec.schema(), 21))
    };
    assert!(after_jump(schema()), "the state after a jump is exact");
    assert!(!after_jump(without_cuts()), "the jump looks like a high speed");
}
