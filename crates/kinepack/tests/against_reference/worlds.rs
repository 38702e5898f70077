//! Worlds of several kinds of entities, for both decoders.

use kinepack::schema::SchemaBuilder;
use kinepack::{
    Codec, DecodeLimits, Decoder, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View,
};

use super::schemas::{coarse_fields, coarser, field, only, schemas};
use super::{MAX_ENTITIES, Numbers, field_of_the_crate, odd_profile, of_the_reference, pair};
use crate::reference::kinds::{self, World, WorldReader};
use crate::reference::{self, Axis, Entities, Kind};

fn spawn(field: reference::Field) -> reference::Field {
    reference::Field { spawn: true, ..field }
}

/// Makes kinds with every sort of field, with spawn fields, and without any field.
fn kinds() -> Vec<kinds::Kind> {
    let axis = Axis::until(-256.0, 256.0, 1.0 / 512.0);
    let [things, cyclic, ..] = schemas();
    vec![
        ("thing", things),
        ("wall", Vec::new()),
        (
            "bullet",
            vec![
                spawn(field("maker", Kind::Integer { min: 0, max: 90, step: 1 })),
                field("position", Kind::Floats(vec![axis, axis])),
                spawn(field("colour", Kind::Choice { max: 5 })),
                field("weapon?", Kind::Bool),
                only("weapon?", [1, 1], field("charge", Kind::Integer { min: 0, max: 9, step: 1 })),
                spawn(only("colour", [1, 3], field("aim", Kind::Rotation { bits: 9 }))),
            ],
        ),
        ("dial", cyclic),
        ("distant", coarse_fields()),
        (
            "rock",
            vec![
                spawn(field("size", Kind::Choice { max: 1 })),
                field("rough", Kind::Integer { min: 0, max: 5, step: 1 }),
                coarser("rough", 4, field("position", Kind::Floats(vec![axis, axis]))),
            ],
        ),
    ]
}

fn world_of_the_crate(kinds: &[kinds::Kind]) -> Schema {
    let add = |builder: SchemaBuilder, (name, fields): &kinds::Kind| {
        builder.kind_of_fields(*name, fields.iter().map(field_of_the_crate).collect())
    };
    let schema = kinds.iter().fold(Schema::builder(), add).build().unwrap();
    assert_eq!(schema.hash(), kinds::hash(kinds));
    schema
}

fn snapshot_of_world(schema: &Schema, world: &World) -> Snapshot {
    let mut snapshot = Snapshot::new(schema, Tick(0));
    for (kind, entities) in world.iter().enumerate() {
        for (id, lanes) in entities {
            let lanes: Vec<u32> = lanes.iter().map(|lane| u32::try_from(*lane).unwrap()).collect();
            snapshot.push_lanes_of(kind, EntityId(*id), &lanes).unwrap();
        }
    }
    snapshot
}

fn world_of_snapshot(snapshot: &Snapshot, kinds: usize) -> World {
    let of_kind = |kind: usize| {
        let lanes = |row: usize| {
            snapshot.lanes_of(kind).map(|lane| i128::from(snapshot.lane(lane)[row])).collect()
        };
        let ids = snapshot.ids()[snapshot.of_kind(kind)].iter().enumerate();
        ids.map(|(row, id)| (id.0, lanes(row))).collect()
    };
    (0..kinds).map(of_kind).collect()
}

/// Makes a random baseline and a snapshot after it. In the snapshot, some ids come back as entities
/// of another kind.
fn pair_of_worlds(numbers: &mut Numbers, kinds: &[kinds::Kind]) -> [World; 2] {
    let mut worlds = [World::new(), World::new()];
    let count = kinds.len() as u32;
    for (kind, (_, fields)) in (0..).zip(kinds) {
        // The ids of a kind have the same remainder, so two kinds never share an id.
        let apart = |entities: Entities, kind: u32| -> Entities {
            let ids = entities.into_iter().filter(|(id, _)| *id < u32::MAX / count);
            ids.map(|(id, lanes)| (id * count + kind, lanes)).collect()
        };
        let [baseline, after] = pair(numbers, fields);
        worlds[0].push(apart(baseline, kind));
        worlds[1].push(apart(after, kind));
    }
    if numbers.one_in(2) {
        // The two kinds change places: each kind takes the ids of the other.
        let moved = |entities: &Entities, by: i64| -> Entities {
            let id = |id: u32| (i64::from(id) + by) as u32;
            entities.iter().map(|(old, lanes)| (id(*old), lanes.clone())).collect()
        };
        let [first, second] = [moved(&worlds[1][0], 1), moved(&worlds[1][1], -1)];
        (worlds[1][0], worlds[1][1]) = (first, second);
    }
    worlds
}

#[test]
fn both_decoders_agree_on_worlds_of_kinds() {
    const MOST: usize = 6 * MAX_ENTITIES;
    let (kinds, mut numbers) = (kinds(), Numbers(3));
    let schema = world_of_the_crate(&kinds);
    let (mut packets, mut refused, mut taken) = (0, 0, 0);
    for profile in [Profile::untrained(&schema), Profile::magnitudes(&schema), odd_profile(&schema)]
    {
        let of_the_reference = of_the_reference(&profile);
        for level in Level::TABLE.into_iter().filter(|level| !level.adaptive()) {
            let codec = Codec::new(schema.clone(), level, profile.clone()).unwrap();
            let limits = DecodeLimits { max_entities: MOST as u32 };
            let (mut encoder, mut decoder) =
                (Encoder::new(&codec), Decoder::with_limits(&codec, limits));
            let reader = WorldReader {
                kinds: &kinds,
                profile: &of_the_reference,
                level: level.row(),
                max_entities: MOST,
            };
            for nth in 0..12 {
                let [baseline, new] = pair_of_worlds(&mut numbers, &kinds);
                let view = View::from(snapshot_of_world(&schema, &baseline));
                let mut packet = Vec::new();
                encoder.encode(&view, &snapshot_of_world(&schema, &new), &mut packet).unwrap();
                let mut both = |packet: &[u8]| {
                    let by_crate = decoder.decode(&view, packet, Tick(0));
                    let by_reference = reader.decode(&baseline, packet);
                    match (&by_crate, &by_reference) {
                        (Ok(view), Ok(world)) => {
                            assert!(world_of_snapshot(view, kinds.len()) == *world, "not the same");
                        }
                        (Err(_), Err(_)) => {}
                        _ => panic!(
                            "level {}, pair {nth}: {:?}, {:?}: {packet:02x?}",
                            level.row(),
                            by_crate.map(|_| ()),
                            by_reference.map(|_| ())
                        ),
                    }
                    by_reference
                };
                assert!(both(&packet) == Ok(new), "level {}, pair {nth}", level.row());
                packets += 1;
                for end in [4, 4, 8, packet.len(), packet.len()] {
                    let bit = numbers.up_to(8 * end.min(packet.len()) as i128 - 1) as usize;
                    let mut damaged = packet.clone();
                    damaged[bit / 8] ^= 1 << (bit % 8);
                    if both(&damaged).is_ok() { taken += 1 } else { refused += 1 }
                }
            }
        }
    }
    assert!(packets > 400 && taken > 300 && refused > 600, "{packets}, {taken}, {refused}");
}
