//! Packets of worlds in which entities become coarser and finer.

use kinepack::profile::Bodies;
use kinepack::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use kinepack::schema::{Coarser, Condition, Field, FieldKind, Role};
use kinepack::training::Training;
use kinepack::{
    Baselines, Codec, Decoder, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View,
};

use super::{Drone, Tank, tank};
use crate::support::{Random, Subject, bodies};

const LEVELS: [Level; 3] = [Level::PACKED, Level::ADAPTIVE, Level::LEARNING];

/// Makes a run in which tanks drive and turn. A few rest, are added or removed, or lose their
/// target. All of them are fine.
fn run(seed: u64, entities: usize, ticks: u32) -> Vec<Snapshot> {
    let (schema, mut random) = (Schema::of::<Tank>(), Random::new(seed));
    let mut tanks: Vec<(u32, Tank)> = Vec::new();
    let mut next_id = 0;
    let mut run = Vec::new();
    for tick in 0..ticks {
        while tanks.len() < entities {
            let speed = [random.unit() * 7.0, random.unit() * 7.0, 0.0];
            tanks.push((next_id, Tank { velocity: speed, ..tank(&mut random) }));
            next_id += 1 + random.up_to(2);
        }
        let mut world = Snapshot::new(&schema, Tick(100 + tick));
        for (id, tank) in &mut tanks {
            if *id % 5 > 0 {
                for (place, speed) in tank.position.iter_mut().zip(tank.velocity) {
                    *place = (*place + speed / 30.0).clamp(0.0, 31.0);
                }
                tank.orientation[0] += random.unit() / 50.0;
                tank.turrets[0].pitch_deg = (tank.turrets[0].pitch_deg + 0.5).min(90.0);
            }
            if random.one_in(9) {
                tank.target = random.one_in(2).then(|| [random.unit(), random.unit()]);
            }
            world.push(EntityId(*id), tank).unwrap();
        }
        run.push(world);
        if random.one_in(8) {
            tanks.remove(random.below(tanks.len() as u64) as usize);
        }
    }
    run
}

/// Makes each entity coarser by 0, 2 or 4 bits. Entities change their coarseness at different
/// ticks.
fn in_rings(run: &[Snapshot]) -> Vec<Snapshot> {
    let coarsen = |fine: &Snapshot| {
        let mut world = fine.clone();
        for bits in [2, 4] {
            let ring = |id: EntityId| (id.0 + fine.tick.0 / (3 + id.0 % 4)) % 3 * 2;
            world.coarsen(bits, |index| ring(fine.ids()[index]) == u32::from(bits));
        }
        world
    };
    run.iter().map(coarsen).collect()
}

fn profile() -> Profile {
    let schema = Schema::of::<Tank>();
    let half = Bodies::from_schema(&schema, 2, [2.0, 1.0, 0.5], Some(0.0));
    let training = Training {
        passes: 1,
        max_lags_ticks: vec![3],
        ..Training::new(Profile::magnitudes(&schema), half)
    };
    training.run(&schema, &[in_rings(&run(1, 20, 50))], |_| {}).unwrap()
}

/// Sends a run over a link that loses packets, each against views that are several packets old.
/// Checks that each state arrives lane for lane, and that most packets of levels that predict are
/// predicted ones. Returns the bytes of all packets.
fn send(codec: &Codec, run: &[Snapshot], seed: u64) -> usize {
    let (mut encoder, mut decoder) = (Encoder::new(codec), Decoder::new(codec));
    let mut random = Random::new(seed);
    let mut held = vec![View::empty(codec.schema())];
    let (mut bytes, mut predicted) = (0, 0);
    for world in run {
        let newest = held.len() - 1 - random.below(4).min(held.len() as u64 - 1) as usize;
        let known = held[..=newest].iter().rev().take(1 + random.below(3) as usize);
        let baselines = Baselines::new(known).unwrap();
        let mut packet = Vec::new();
        let sent = encoder.encode(baselines, world, &mut packet).unwrap();
        let view = decoder.decode(baselines, &packet, world.tick).unwrap();
        assert!(view == sent, "level {}", codec.level().row());
        assert!(**view.snapshot() == *world, "level {}", codec.level().row());
        bytes += packet.len();
        predicted += usize::from(is_predicted(&packet));
        if random.below(4) > 0 {
            held.push(view);
        }
    }
    assert!(!codec.level().adaptive() || 2 * predicted > run.len(), "{predicted}");
    bytes
}

/// Returns whether a packet of a level that predicts is a predicted one, instead of a packed one.
fn is_predicted(packet: &[u8]) -> bool {
    packet[0] & 0b11 != 0b11
}

#[test]
fn entities_become_coarser_and_finer_over_packets() {
    let (schema, trained) = (Schema::of::<Tank>(), profile());
    let worlds = in_rings(&run(2, 20, 60));
    let lanes = worlds.iter().flat_map(|world| world.lane(0));
    let counts = lanes.fold([0; 7], |mut counts, bits| {
        counts[*bits as usize] += 1;
        counts
    });
    assert!([0, 2, 4].iter().all(|bits| counts[*bits] > 200), "{counts:?}");
    for profile in [Profile::untrained(&schema), Profile::article(&schema), trained] {
        for (seed, level) in (0..).zip(Level::TABLE) {
            let codec = Codec::new(schema.clone(), level, profile.clone()).unwrap();
            send(&codec, &worlds, seed);
        }
    }
}

#[test]
fn coarse_movers_take_fewer_bits_than_fine_ones() {
    let (schema, profile) = (Schema::of::<Tank>(), profile());
    let fine = run(3, 30, 60);
    let coarse: Vec<Snapshot> = fine.iter().map(|world| world.coarser(4)).collect();
    for level in LEVELS {
        let codec = Codec::new(schema.clone(), level, profile.clone()).unwrap();
        let [fine, coarse] = [&fine, &coarse].map(|run| send(&codec, run, 1));
        assert!(coarse < fine, "level {}: {coarse} and {fine} bytes", level.row());
    }
}

#[test]
fn an_entity_that_becomes_finer_is_exact_again() {
    let (schema, profile) = (Schema::of::<Drone>(), Profile::untrained(&Schema::of::<Drone>()));
    let fine = super::drones(6, 30);
    for level in Level::TABLE {
        let mut subject =
            Subject::new(&Codec::new(schema.clone(), level, profile.clone()).unwrap());
        for [from, to] in [[6, 0], [0, 6], [2, 4], [4, 2], [4, 4]] {
            let baseline = View::from(fine.coarser(from));
            let (packet, view) = subject.encode(&baseline, &fine.coarser(to));
            assert!(subject.decode(&baseline, &packet).unwrap() == view);
            assert!(view.holds_same(&fine.coarser(to)), "level {}", level.row());
            let expected = fine.coarser(to).get::<Drone>(EntityId(7)).unwrap();
            assert_eq!(view.get::<Drone>(EntityId(7)).unwrap(), expected);
        }
        // Nothing of a coarse world at rest is sent again.
        if level.row() >= 7 {
            let baseline = View::from(fine.coarser(4));
            let packet = subject.round_trip(&baseline, &fine.coarser(4));
            assert!(packet.len() <= 4, "level {}: {packet:?}", level.row());
        }
    }
}

/// Makes a kind whose body has a coarseness that may be absent, and whose rotation has another
/// coarseness. The selector is a flag of the body in one of the two schemas.
fn odd_bodies() -> [Schema; 2] {
    let axis = FloatLimits::until(-64.0, 64.0, 1.0 / 256.0).unwrap();
    let up_to = |most| FieldKind::Integer(IntegerLimits::new(0, most, 1).unwrap());
    [Role::Plain, Role::Touched].map(|role| {
        Schema::new(vec![
            Field::new("before", up_to(9)),
            Field::new("rough", up_to(5)),
            Field::new("far", FieldKind::Bool).with_role(role),
            Field::new("shared", up_to(5)).with_condition(Condition::new("far", 1..=1)),
            Field::new("position", FieldKind::Floats(vec![axis; 3]))
                .with_role(Role::Body)
                .with_coarser(Coarser::new("shared", 3)),
            Field::new("rotation", FieldKind::Rotation(SmallestThree::new(10).unwrap()))
                .with_role(Role::Body)
                .with_coarser(Coarser::new("rough", 4)),
            Field::new("length", FieldKind::Floats(vec![axis]))
                .with_coarser(Coarser::new("shared", 5)),
        ])
    })
}

/// Makes a run of bodies of such a schema that move evenly. Now and then their selectors and
/// coarsenesses change.
fn odd_run(schema: &Schema, seed: u64) -> Vec<Snapshot> {
    let mut random = Random::new(seed);
    let mut rows: Vec<Vec<u32>> = (0..20)
        .map(|_| {
            schema.lanes().iter().map(|lane| lane.max / 4 + random.up_to(lane.max / 4)).collect()
        })
        .collect();
    let frame = |tick| {
        let mut world = Snapshot::new(schema, Tick(tick));
        for (id, row) in (0..).zip(&mut rows) {
            for told in [1, 2, 3] {
                if random.one_in(9) {
                    row[told] = random.up_to(schema.lanes()[told].max);
                }
            }
            row[4..7].iter_mut().for_each(|axis| *axis += 5 + id);
            row[8] += 1;
            let mut lanes = row.clone();
            schema.clear_absent(&mut lanes);
            schema.round_coarse(&mut lanes);
            world.push_lanes(EntityId(id), &lanes).unwrap();
        }
        world
    };
    (0..40).map(frame).collect()
}

#[test]
fn a_bodys_coarseness_may_be_absent() {
    for schema in odd_bodies() {
        let training = Training {
            passes: 1,
            ..Training::new(Profile::untrained(&schema), Some(bodies(&schema)))
        };
        let profile = training.run(&schema, &[odd_run(&schema, 1)], |_| {}).unwrap();
        for level in LEVELS {
            send(
                &Codec::new(schema.clone(), level, profile.clone()).unwrap(),
                &odd_run(&schema, 2),
                1,
            );
        }
    }
}
