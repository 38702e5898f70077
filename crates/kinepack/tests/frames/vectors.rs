//! The frozen bytes of `spec/vectors/breaks.txt`.

use kinepack::profile::Bodies;
use kinepack::training::Training;
use kinepack::{EntityId, Pack, Profile, Schema, Snapshot, Tick};

use crate::support::{Random, check_stored_schema, packet_lines, profile_of, schema_lines};

#[derive(Pack, Clone, Debug, PartialEq)]
struct Rider {
    #[pack(cut, max = 3)]
    jumps: u8,
    #[pack(
        range = [-64.0..64.0, -64.0..64.0, 0.0..32.0], precision = 1.0 / 256.0, body,
        frame = vehicle
    )]
    position: [f32; 3],
    #[pack(rotation, bits = 9, body, frame = vehicle)]
    rotation: [f32; 4],
    #[pack(range = 1..=40)]
    vehicle: Option<u8>,
    #[pack(range = -16.0..=16.0, precision = 1.0 / 16.0, velocity = position, frame = vehicle)]
    velocity: [f32; 3],
    #[pack(rotation, bits = 12, frame = vehicle)]
    gaze: [f32; 4],
}

/// The number of seconds of a step.
const STEP_S: f32 = 1.0 / 30.0;

/// Makes a run of two vehicles, 1 and 2, and of riders who walk on them and on the ground. Now and
/// then a rider changes the vehicle, or jumps to another place.
fn run(seed: u64, ticks: u32) -> Vec<Snapshot> {
    let (schema, mut random) = (Schema::of::<Rider>(), Random::new(seed));
    let mut riders: Vec<Rider> = (0..9)
        .map(|id| Rider {
            jumps: 0,
            position: [id as f32 * 3.0, 0.0, 1.0],
            rotation: [0.1, 0.2, 0.3, 1.0],
            vehicle: (id > 1).then_some(1 + id % 3).filter(|vehicle| *vehicle < 3),
            velocity: [random.unit() * 8.0, random.unit() * 8.0, 0.0],
            gaze: [0.0, 0.0, 0.0, 1.0],
        })
        .collect();
    let mut world = |tick: u32| {
        let mut world = Snapshot::new(&schema, Tick(tick));
        for (id, rider) in (1..).zip(&mut riders) {
            let moves = |(place, speed): (&mut f32, &f32)| *place += speed * STEP_S;
            rider.position.iter_mut().zip(&rider.velocity).for_each(moves);
            rider.rotation[1] += STEP_S;
            rider.gaze[2] += STEP_S * 2.0;
            if id > 2 && random.one_in(9) {
                rider.vehicle = [None, Some(1), Some(2)][random.below(3) as usize];
                rider.position = [random.unit() * 9.0, random.unit() * 9.0, 2.0];
            } else if random.one_in(9) {
                rider.jumps = (rider.jumps + 1) % 4;
                rider.position = [random.unit() * 60.0, random.unit() * 60.0, 3.0];
                rider.rotation = [random.unit(), random.unit(), 0.5, 0.5];
            }
            // A rider is not there for a while.
            if (tick / 5 + id) % 7 != 3 {
                world.push(EntityId(id), rider).unwrap();
            }
        }
        world
    };
    (0..ticks).map(&mut world).collect()
}

/// Makes the contents of the file, with the profile of the frozen file if there is one.
fn vectors(frozen: &str) -> String {
    let schema = Schema::of::<Rider>();
    check_stored_schema("breaks", &schema);
    let profile = if frozen.is_empty() {
        let bodies = Bodies::from_schema(&schema, 2, [1.0, 1.0, 1.0], Some(0.0));
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
    let breaks = |cut: bool| {
        let broken = states.windows(2).map(|pair| {
            let (before, after) = (&pair[0], &pair[1]);
            let both =
                (0..after.len()).filter_map(|at| Some((at, before.position(after.ids()[at])?)));
            let broken = both.filter(|(at, then)| {
                after.is_broken_since(*at, before, *then)
                    && after.is_cut_since(*at, before, *then) == cut
            });
            broken.count()
        });
        broken.sum::<usize>()
    };
    assert!(breaks(true) > 5 && breaks(false) > 5, "{} {}", breaks(true), breaks(false));
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
    const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/vectors/breaks.txt");
    let frozen = include_str!("../../../../spec/vectors/breaks.txt");
    let lines = vectors(frozen);
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        std::fs::write(PATH, lines).unwrap();
        return;
    }
    assert!(lines == frozen, "the packets differ from spec/vectors/breaks.txt");
}
