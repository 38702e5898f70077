//! The frozen bytes of `spec/vectors/coarser.txt`.

use kinepack::profile::Bodies;
use kinepack::training::Training;
use kinepack::{EntityId, Pack, Profile, Schema, Snapshot, Tick};

use crate::support::{Random, check_stored_schema, packet_lines, profile_of, schema_lines};

#[derive(Pack, Clone, Debug, PartialEq)]
struct Barrel {
    #[pack(range = 0.0..=90.0, precision = 0.5, coarser = 3)]
    raised_deg: f32,
    loaded: bool,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Tank {
    #[pack(
        range = [-64.0..64.0, -64.0..64.0, 0.0..32.0], precision = 1.0 / 256.0, body, coarser = 6
    )]
    position: [f32; 3],
    #[pack(rotation, bits = 9, body, coarser = 4)]
    rotation: [f32; 4],
    barrel: Option<Barrel>,
    #[pack(range = 0.0..=100.0, precision = 0.25, coarser = 2)]
    fuel: f32,
}

/// Makes a run of tanks that drive and turn. A ring of tanks has 0, 2, 4 or 6 bits less, and the
/// tanks change their rings.
fn run(seed: u64, ticks: u32) -> Vec<Snapshot> {
    let (schema, mut random) = (Schema::of::<Tank>(), Random::new(seed));
    let mut world = |tick: u32| {
        let mut world = Snapshot::new(&schema, Tick(tick));
        for id in (0..8).filter(|id| tick / 6 % 8 != *id) {
            let time = tick as f32 / 30.0;
            let turn = 0.2 + time * (id + 1) as f32 / 10.0;
            let barrel =
                Barrel { raised_deg: (30.0 + time * 4.0) % 90.0, loaded: random.one_in(2) };
            let tank = Tank {
                position: [id as f32 * 9.0 - 40.0 + time * 5.0, time * id as f32, 1.0],
                rotation: [0.1, turn, 0.3, 1.0],
                barrel: (!(tick / 5 + id).is_multiple_of(3)).then_some(barrel),
                fuel: 100.0 - time * 3.0,
            };
            world.push(EntityId(3 * id), &tank).unwrap();
        }
        for bits in [2, 4, 6] {
            let of = |index: usize| (index as u32 + tick / 4) % 4 * 2;
            world.coarsen(bits, |index| of(index) == u32::from(bits));
        }
        world
    };
    (0..ticks).map(&mut world).collect()
}

/// Makes the contents of the file, with the profile of the frozen file if there is one.
fn vectors(frozen: &str) -> String {
    let schema = Schema::of::<Tank>();
    check_stored_schema("coarser", &schema);
    let profile = if frozen.is_empty() {
        let bodies = Bodies::from_schema(&schema, 2, [2.0, 1.0, 1.0], Some(0.0));
        let training = Training {
            passes: 1,
            max_lags_ticks: vec![3, 6],
            ..Training::new(Profile::untrained(&schema), bodies)
        };
        training.run(&schema, &[run(1, 120)], |_| {}).unwrap()
    } else {
        profile_of(frozen, &schema)
    };
    let mut lines = schema_lines(&schema, &profile);
    let states: Vec<Snapshot> = run(2, 18).into_iter().step_by(3).collect();
    for state in &states {
        lines += &format!("state {}\n", state.tick.0);
        for (index, id) in state.ids().iter().enumerate() {
            let lanes: Vec<String> = state.lanes_at(index).map(|lane| lane.to_string()).collect();
            lines += &format!("entity {} {}\n", id.0, lanes.join(" "));
        }
    }
    lines + &packet_lines(&schema, &profile, &states)
}

/// `KINEPACK_WRITE_VECTORS=1` writes the vectors again.
#[test]
fn the_frozen_vectors_are_written_and_read() {
    const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/vectors/coarser.txt");
    let frozen = include_str!("../../../../spec/vectors/coarser.txt");
    let lines = vectors(frozen);
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        std::fs::write(PATH, lines).unwrap();
        return;
    }
    assert!(lines == frozen, "the packets differ from spec/vectors/coarser.txt");
}
