//! Tests of fields that are coarser in some entities: their schemas, and the states that have them.
//! Submodules test packets and refusals.

mod packets;
mod refusals;
mod vectors;

use kinepack::quantize::IntegerLimits;
use kinepack::schema::{Coarser, Field, FieldKind};
use kinepack::{Between, EntityId, Pack, Schema, Snapshot, Tick};

use crate::support::Random;

#[derive(Pack, Clone, Debug, PartialEq)]
struct Turret {
    #[pack(range = -90.0..=90.0, precision = 0.5, coarser = 3)]
    pitch_deg: f32,
    loaded: bool,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Tank {
    #[pack(
        range = [-64.0..64.0, -64.0..64.0, 0.0..32.0], precision = 1.0 / 256.0, body, coarser = 6
    )]
    position: [f32; 3],
    #[pack(rotation, bits = 10, body, coarser = 4)]
    orientation: [f32; 4],
    #[pack(range = -8.0..8.0, precision = 1.0 / 64.0, velocity = position, coarser = 5)]
    velocity: [f32; 3],
    turrets: [Turret; 2],
    #[pack(range = -64.0..64.0, precision = 1.0 / 16.0, coarser = 2)]
    target: Option<[f32; 2]>,
    #[pack(max = 100)]
    health: u8,
}

/// A type without optional parts, whose states are quantized in columns.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Drone {
    #[pack(max = 9)]
    battery: u8,
    #[pack(range = -64.0..64.0, precision = 1.0 / 256.0, coarser = 6)]
    position: [f32; 3],
    #[pack(rotation, bits = 10, coarser = 4)]
    orientation: [f32; 4],
    turret: Turret,
}

/// Returns a random number of whole steps of 1/256, from −`most` to `most`.
fn steps(random: &mut Random, most: f32) -> f32 {
    (random.unit() * most * 256.0).round() / 256.0
}

fn turret(random: &mut Random) -> Turret {
    Turret { pitch_deg: (random.unit() * 180.0).round() / 2.0, loaded: random.one_in(2) }
}

fn tank(random: &mut Random) -> Tank {
    Tank {
        position: [steps(random, 60.0), steps(random, 60.0), 16.0 + steps(random, 15.0)],
        orientation: [random.unit(), random.unit(), random.unit(), random.unit()],
        velocity: [0.5, -0.25, 0.0],
        turrets: [turret(random), turret(random)],
        target: random.one_in(2).then_some([1.0, 2.0]),
        health: random.below(101) as u8,
    }
}

fn drone(random: &mut Random) -> Drone {
    Drone {
        battery: random.below(10) as u8,
        position: [steps(random, 60.0), steps(random, 60.0), steps(random, 60.0)],
        orientation: [random.unit(), random.unit(), random.unit(), random.unit()],
        turret: turret(random),
    }
}

fn drones(seed: u64, count: u32) -> Snapshot {
    let mut random = Random::new(seed);
    let mut world = Snapshot::new(&Schema::of::<Drone>(), Tick(1));
    (0..count).try_for_each(|id| world.push(EntityId(id), &drone(&mut random))).unwrap();
    world
}

fn tanks(seed: u64, count: u32) -> Snapshot {
    let mut random = Random::new(seed);
    let mut world = Snapshot::new(&Schema::of::<Tank>(), Tick(1));
    (0..count).try_for_each(|id| world.push(EntityId(id), &tank(&mut random))).unwrap();
    world
}

/// Returns the lane of each field's coarseness, and the field's most bits; `None` if the field is
/// always exact.
fn coarseness(schema: &Schema) -> Vec<Option<(usize, u8)>> {
    let fields = schema.fields();
    let of = |(index, field): (usize, &Field)| {
        let Coarser { coarseness, most_bits } = field.coarser.clone()?;
        let place = fields[..index].iter().rposition(|field| field.name == coarseness)?;
        Some((fields[place].lanes().start, most_bits))
    };
    fields.iter().enumerate().map(of).collect()
}

#[test]
fn the_derive_makes_a_coarseness_in_front_of_each_type() {
    let schema = Schema::of::<Tank>();
    let names: Vec<&str> = schema.fields().iter().map(|field| &*field.name).collect();
    assert_eq!(
        names,
        [
            "coarser~",
            "position",
            "orientation",
            "velocity",
            "turrets[0].coarser~",
            "turrets[0].pitch_deg",
            "turrets[0].loaded",
            "turrets[1].coarser~",
            "turrets[1].pitch_deg",
            "turrets[1].loaded",
            "target?",
            "target",
            "health",
        ]
    );
    let own = Some((0, 6));
    let of_turret = |lane| Some((lane, 3));
    let of = [
        [None, own, Some((0, 4)), Some((0, 5))],
        [None, of_turret(11), None, None],
        [of_turret(14), None, None, Some((0, 2))],
    ];
    assert_eq!(coarseness(&schema), [of.concat(), vec![None]].concat());
    let up_to = |most| FieldKind::Integer(IntegerLimits::new(0, most, 1).unwrap());
    assert_eq!([&schema.fields()[0].kind, &schema.fields()[4].kind], [&up_to(6), &up_to(3)]);
    assert_eq!(Tank::LANES, 1 + 3 + 4 + 3 + 2 * (1 + 1 + 1) + 1 + 2 + 1);
    assert_eq!(schema.lanes().len(), Tank::LANES);
    // Two types that differ only in the most bits have different schemas.
    let mut other = schema.fields().to_vec();
    other[1].coarser = Some(Coarser::new("coarser~", 5));
    assert_ne!(Schema::new(other).hash(), schema.hash());
    assert_eq!(Schema::from_bytes(&schema.to_bytes()).unwrap().fields(), schema.fields());
}

#[test]
fn parts_that_may_be_absent_have_a_coarseness_of_their_own() {
    #[derive(Pack, Clone, Debug, PartialEq)]
    enum Arm {
        None,
        Turret(Turret),
    }
    #[derive(Pack, Clone, Debug, PartialEq)]
    struct Walker {
        turret: Option<Turret>,
        arm: Arm,
        #[pack(spawn)]
        birth: Turret,
    }
    let schema = Schema::of::<Walker>();
    let coarse = schema
        .fields()
        .iter()
        .filter_map(|field| Some((&*field.name, &*field.coarser.as_ref()?.coarseness)));
    // A spawn field never changes, so it is always exact.
    assert_eq!(
        coarse.collect::<Vec<_>>(),
        [
            ("turret.pitch_deg", "turret.coarser~"),
            ("arm.Turret.0.pitch_deg", "arm.Turret.0.coarser~"),
        ]
    );
    let full = || Turret { pitch_deg: 10.5, loaded: true };
    let walker = Walker { turret: Some(full()), arm: Arm::Turret(full()), birth: full() };
    let empty = Walker { turret: None, arm: Arm::None, birth: full() };
    let mut world = Snapshot::new(&schema, Tick(1));
    world.push(EntityId(1), &walker).unwrap();
    world.push(EntityId(2), &empty).unwrap();
    let coarse = world.coarser(3);
    let rough = || Turret { pitch_deg: 10.0, loaded: true };
    let expected = Walker { turret: Some(rough()), arm: Arm::Turret(rough()), birth: full() };
    assert_eq!(coarse.get::<Walker>(EntityId(1)).unwrap(), Some(expected));
    assert_eq!(coarse.get::<Walker>(EntityId(2)).unwrap(), Some(empty));
    assert_eq!(coarse.lane(1), [3, 0], "an absent coarseness stays 0");
}

#[test]
fn a_pushed_state_is_never_coarse() {
    let world = tanks(1, 50);
    for lane in [0, 11, 14] {
        assert!(world.lane(lane).iter().all(|coarseness| *coarseness == 0));
    }
    // A struct that was read from a coarse state is pushed as it is.
    let read: Tank = world.coarser(3).get(EntityId(7)).unwrap().unwrap();
    let mut again = Snapshot::new_like(&world);
    again.push(EntityId(7), &read).unwrap();
    assert_eq!((again.lane(0), again.get(EntityId(7)).unwrap()), (&[0][..], Some(read)));
    let mut coarse = world.coarser(3);
    assert!(coarse.set(EntityId(7), &tank(&mut Random::new(9))).unwrap());
    assert_eq!((coarse.lane(0)[6], coarse.lane(0)[7]), (3, 0));
}

#[test]
fn columns_are_quantized_like_single_states() {
    let mut random = Random::new(2);
    let states: Vec<Drone> = (0..200).map(|_| drone(&mut random)).collect();
    let mut extended = Snapshot::new(&Schema::of::<Drone>(), Tick(1));
    let mut pushed = extended.clone();
    (0..).map(EntityId).zip(&states).try_for_each(|(id, state)| pushed.push(id, state)).unwrap();
    extended.extend::<Drone>((0..).map(EntityId).zip(&states)).unwrap();
    assert_eq!(extended, pushed);
    assert!(extended.lane(0).iter().all(|coarseness| *coarseness == 0));
    for (id, state) in (0..).map(EntityId).zip(&states) {
        let back: Drone = extended.get(id).unwrap().unwrap();
        assert_eq!((back.position, &back.turret), (state.position, &state.turret));
    }
}

/// Checks a state against the same state that is coarser by up to `bits`.
fn check_coarse(schema: &Schema, fine: &Snapshot, coarse: &Snapshot, bits: u8) {
    let coarseness = coarseness(schema);
    let tells = |lane| coarseness.iter().flatten().any(|(of, _)| *of == lane);
    let mut off = 0;
    for (field, coarseness) in schema.fields().iter().zip(&coarseness) {
        let is_rotation = matches!(field.kind, FieldKind::Rotation(_));
        for (nth, lane) in field.lanes().enumerate().filter(|(_, lane)| !tells(*lane)) {
            // The number of a rotation's dropped component stays the same.
            let coarseness = coarseness.filter(|_| nth > 0 || !is_rotation);
            for (exact, (row, value)) in
                fine.lane(lane).iter().zip(coarse.lane(lane).iter().enumerate())
            {
                let Some((of, most)) = coarseness else {
                    assert_eq!(value, exact, "{}", field.name);
                    continue;
                };
                let (step, max) = (1 << bits.min(most), schema.lanes()[lane].max);
                let error = value.abs_diff(*exact);
                assert!(error <= step / 2, "{}: {error} of {step}", field.name);
                assert!(value % step == 0 || *value == max, "{}: {value}", field.name);
                let is_there = field.is_present_in(|lane| fine.lane(lane)[row]);
                let told = u32::from(bits).min(schema.lanes()[of].max);
                assert!(!is_there || coarse.lane(of)[row] == told);
                off += usize::from(error > 0);
            }
        }
    }
    assert!(off > fine.len(), "{off}");
}

#[test]
fn coarser_values_are_off_by_at_most_half_a_step() {
    let worlds = [(Schema::of::<Drone>(), drones(3, 100)), (Schema::of::<Tank>(), tanks(4, 100))];
    for (schema, fine) in worlds {
        assert_eq!(fine.coarser(0), fine);
        for bits in 1..=31 {
            let coarse = fine.coarser(bits);
            assert_eq!((coarse.ids(), coarse.tick), (fine.ids(), fine.tick));
            check_coarse(&schema, &fine, &coarse, bits);
            assert_eq!(coarse.coarser(bits), coarse);
            assert_eq!(coarse.coarser(bits - 1), coarse, "an entity does not become finer");
        }
        // A field is not coarser than its own limit.
        assert_eq!(fine.coarser(31), fine.coarser(6));
        assert_ne!(fine.coarser(6), fine.coarser(5));
    }
}

#[test]
fn only_the_meant_entities_become_coarser() {
    let fine = drones(5, 40);
    let mut world = fine.clone();
    world.coarsen(4, |index| index % 4 == 1);
    world.coarsen(2, |index| index % 4 < 3);
    let [two, four] = [2, 4].map(|bits| fine.coarser(bits));
    for index in 0..fine.len() {
        let expected = [&two, &four, &two, &fine][index % 4];
        assert!(world.lanes_at(index).eq(expected.lanes_at(index)), "entity {index}");
    }
}

#[test]
fn a_coarse_state_and_a_fine_one_blend() {
    let mut fine = Snapshot::new(&Schema::of::<Tank>(), Tick(1));
    let first = Tank { position: [1.0, 2.0, 3.0], ..tank(&mut Random::new(1)) };
    fine.push(EntityId(1), &first).unwrap();
    let mut next = Snapshot::new_like(&fine);
    let to = Tank { position: [2.0, 2.0, 3.5], ..first.clone() };
    next.push(EntityId(1), &to).unwrap();
    // Two bits coarser, the steps are 1/64, and all of these positions are whole steps.
    let [coarse, coarse_next] = [&fine, &next].map(|state| state.coarser(2));
    for (from, to) in [(&fine, &next), (&coarse, &next), (&fine, &coarse_next)] {
        let at = |ratio| Between { ratio, seconds: 0.0 };
        let middle: Tank = from.interpolate(EntityId(1), to, at(0.5)).unwrap().unwrap();
        assert_eq!((middle.position, middle.health), ([1.5, 2.0, 3.25], first.health));
        let [begin, end] = [0.0, 1.0]
            .map(|ratio| from.interpolate::<Tank>(EntityId(1), to, at(ratio)).unwrap().unwrap());
        assert_eq!(Some(begin), from.get(EntityId(1)).unwrap());
        assert_eq!(Some(end), to.get(EntityId(1)).unwrap());
    }
}
