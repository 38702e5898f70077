//! Tests of added entities that are coded relative to entities of other kinds.

use kinepack::{Codec, Encoder, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick, View};

use super::{Bullet, Player, schema};
use crate::support::{Random, Subject};

/// A bullet that appears at a player is cheaper than one that appears anywhere.
#[test]
fn newcomers_are_coded_relative_to_entities_of_other_kinds() {
    let schema = schema();
    let codec = Codec::new(schema.clone(), Level::ADAPTIVE, Profile::untrained(&schema)).unwrap();
    let player = Player {
        position: [20.5, -31.25, 3.0],
        rotation: [0.0, 0.0, 0.0, 1.0],
        is_active: true,
        heading: 10.0,
        shield: None,
        team: 1,
    };
    let mut base = Snapshot::new(&schema, Tick(1));
    base.push(EntityId(1), &player).unwrap();
    let base = View::from(base);
    let size = |position: [f32; 3]| {
        let mut now = Snapshot::new(&schema, Tick(2));
        now.push(EntityId(1), &player).unwrap();
        for id in 50..58 {
            now.push(EntityId(id), &Bullet { position, velocity: [3.0; 3] }).unwrap();
        }
        let mut packet = Vec::new();
        Encoder::new(&codec).encode(&base, &now, &mut packet).unwrap();
        packet.len()
    };
    let [near, far] = [size([20.5, -31.25, 3.25]), size([-50.0, 44.0, -20.0])];
    assert!(near + 2 <= far, "{near} {far}");
}

/// The newcomer has a field with the id of the entity that it came from.
#[test]
fn an_integer_may_be_the_id_of_a_newcomers_origin() {
    #[derive(Pack)]
    struct Gun {
        #[pack(range = -64.0..64.0, precision = 1.0 / 256.0)]
        position: [f32; 2],
    }
    #[derive(Pack)]
    struct Shot {
        #[pack(spawn, range = 100..=40_000)]
        gun: u16,
        #[pack(range = -64.0..64.0, precision = 1.0 / 256.0)]
        position: [f32; 2],
    }
    let schema = Schema::builder().kind::<Gun>("gun").kind::<Shot>("shot").build().unwrap();
    let codec = Codec::new(schema.clone(), Level::ADAPTIVE, Profile::untrained(&schema)).unwrap();
    let (mut subject, mut random) = (Subject::new(&codec), Random::new(3));
    let mut base = Snapshot::new(&schema, Tick(1));
    let mut guns: Vec<u32> = (0..40).map(|_| 100 + random.below(30_000) as u32).collect();
    guns.sort_unstable();
    guns.dedup();
    for gun in &guns {
        let position = [60.0 * random.unit(), 60.0 * random.unit()];
        base.push(EntityId(*gun), &Gun { position }).unwrap();
    }
    // Each gun fires one shot. The shots name the ids of the guns, or other ids.
    let mut bytes = |other: u32| {
        let mut now = base.clone();
        now.tick = Tick(2);
        for (nth, id) in (0..).zip(&guns) {
            let position = base.get::<Gun>(EntityId(*id)).unwrap().unwrap().position;
            let gun = ((id + other * nth * 97) % 30_000).max(100) as u16;
            now.push(EntityId(50_000 + nth), &Shot { gun, position }).unwrap();
        }
        subject.round_trip(&View::from(base.clone()), &now).len()
    };
    let [own, other] = [bytes(0), bytes(1)];
    assert!(3 * own < 2 * other, "{own} and {other} bytes");
}
