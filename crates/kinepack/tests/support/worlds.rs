//! Makes schemas with every kind of field, and worlds in which entities are added and removed,
//! rest, drift together and jump.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use kinepack::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use kinepack::schema::{Coarser, Condition, Field, FieldKind, LaneArithmetic, Role, TimePrecision};
use kinepack::training::Trainer;
use kinepack::{EntityId, Profile, Schema, Snapshot, Tick};

use super::Random;

/// Makes the schemas of the tests, each with its name.
pub(crate) fn schemas() -> Vec<(&'static str, Schema)> {
    let names = ["cube", "wide", "corners", "flag", "empty", "moving"];
    names.into_iter().map(|name| (name, schema(name))).collect()
}

/// Makes the schema with this name.
pub(crate) fn schema(name: &str) -> Schema {
    let fields = match name {
        "kinds" => return kinds(),
        "cube" => cube(),
        "wide" => wide(),
        "corners" => corners(),
        "flag" => vec![Field::new("flag", FieldKind::Bool)],
        "moving" => moving(),
        "optional" => optional(),
        "coarser" => coarser(),
        "breaks" => breaks(),
        // These schemas are not in `schemas`, because the corpora number the schemas there.
        "calls" => {
            vec![integer("function", 0, 20), Field::new("arguments", FieldKind::Bytes { len: 70 })]
        }
        _ => Vec::new(),
    };
    Schema::new(fields)
}

/// Makes the article's cube: 18, 18 and 14 bits of position, a rotation of 9 bits a component, and
/// a flag.
fn cube() -> Vec<Field> {
    let side = FloatLimits::until(-256.0, 256.0, 1.0 / 512.0).unwrap();
    let height = FloatLimits::until(0.0, 32.0, 1.0 / 512.0).unwrap();
    vec![
        Field::new("position", FieldKind::Floats(vec![side, side, height])),
        rotation("orientation", 9),
        Field::new("interacting", FieldKind::Bool),
    ]
}

/// Makes one field of every kind.
fn wide() -> Vec<Field> {
    let angle = FloatLimits::until(0.0, 360.0, 0.1).unwrap().wrapping();
    let point = FloatLimits::new(5.0, 5.0, 1.0).unwrap();
    let axes = (1..=8).map(|axis| FloatLimits::with_bits(-1.0, 1.0, 2 * axis).unwrap()).collect();
    let speed = FloatLimits::new(-32.0, 32.0, 1.0 / 32.0).unwrap();
    vec![
        integer("serial", 0, i128::from(u64::MAX)),
        Field::new("heading", FieldKind::Floats(vec![angle])),
        Field::new("stance", FieldKind::Choice { max: 4 }),
        integer("mood", -128, 127),
        Field::new("raw", FieldKind::Raw { lanes: 3 }),
        Field::new("anchor", FieldKind::Floats(vec![point])),
        rotation("coarse", 2),
        rotation("fine", 20),
        Field::new("arms", FieldKind::Floats(axes)),
        Field::new("velocity", FieldKind::Floats(vec![speed; 3])).with_role(Role::Velocity),
    ]
}

/// Makes the narrowest and the widest possible fields.
fn corners() -> Vec<Field> {
    let circle = FloatLimits::until_with_bits(-1.0, 1.0, 32).unwrap().wrapping();
    vec![
        Field::new("nothing", FieldKind::Raw { lanes: 0 }),
        Field::new("only", FieldKind::Choice { max: 0 }),
        Field::new("any", FieldKind::Choice { max: u32::MAX }),
        integer("one above", 0, 1 << 32),
        integer("one bit", -1, 0),
        integer("signed", i128::from(i64::MIN), i128::from(i64::MAX)),
        Field::new("circle", FieldKind::Floats(vec![circle])),
        Field::new("no axes", FieldKind::Floats(Vec::new())).with_role(Role::Velocity),
        integer("always seven", 7, 7),
    ]
}

/// Makes fields with time precision, and other fields.
fn moving() -> Vec<Field> {
    let side = FloatLimits::until(-256.0, 256.0, 1.0 / 512.0).unwrap();
    let height = FloatLimits::until(0.0, 32.0, 1.0 / 512.0).unwrap();
    let [coarse, single] = [1.0, 0.01].map(|step| FloatLimits::new(-5.0, 6.0, step).unwrap());
    let point = FloatLimits::new(5.0, 5.0, 1.0).unwrap();
    let wide = FloatLimits::until_with_bits(-1.0, 1.0, 32).unwrap();
    // At ten ticks per second, this time is near the longest possible.
    let precision = |time_ms| TimePrecision::new(time_ms, 10.0);
    vec![
        Field::new("position", FieldKind::Floats(vec![side, side, height]))
            .with_time_precision(precision(28.0)),
        rotation("orientation", 9).with_time_precision(precision(28.0)),
        Field::new("interacting", FieldKind::Bool),
        Field::new("arms", FieldKind::Floats(vec![single, coarse, point]))
            .with_time_precision(precision(28.8).with_max_step(3.0)),
        rotation("gun", 12).with_time_precision(precision(20.0).with_max_step(0.1)),
        Field::new("speed", FieldKind::Floats(vec![side])),
        Field::new("fuel", FieldKind::Floats(vec![wide]))
            .with_time_precision(precision(49.0).with_max_step(1e9)),
        Field::new("nothing", FieldKind::Floats(Vec::new())).with_time_precision(precision(49.0)),
    ]
}

/// Makes fields that may be absent: an option, an enum with fields inside it, and a list.
fn optional() -> Vec<Field> {
    let side = FloatLimits::until(-256.0, 256.0, 1.0 / 512.0).unwrap();
    let tension = FloatLimits::new(0.0, 1.0, 0.01).unwrap();
    let point = || FieldKind::Floats(vec![side; 2]);
    vec![
        Field::new("position", FieldKind::Floats(vec![side; 3]))
            .with_time_precision(TimePrecision::new(20.0, 10.0)),
        Field::new("weapon?", FieldKind::Bool),
        only("weapon?", 1..=1, Field::new("weapon", FieldKind::Choice { max: 2 })),
        only("weapon", 1..=1, Field::new("weapon.Bow.tension", FieldKind::Floats(vec![tension]))),
        only("weapon", 2..=2, integer("weapon.Rocket.ammo", 0, 8)),
        only("weapon", 2..=2, rotation("weapon.Rocket.aim", 9))
            .with_time_precision(TimePrecision::new(20.0, 10.0)),
        integer("path.len", 0, 3),
        only("path.len", 1..=3, Field::new("path[0]", point())),
        only("path.len", 2..=3, Field::new("path[1]", point())),
        only("path.len", 3..=3, Field::new("path[2]", point()))
            .with_time_precision(TimePrecision::new(20.0, 10.0)),
        only("path.len", 0..=0, integer("goal", 0, i128::from(u64::MAX))),
        Field::new("name", FieldKind::Bytes { len: 3 }),
    ]
}

/// Makes a body and other fields that may be coarser. A coarseness and a coarser field may be
/// absent, and the ranges of some fields do not end at a whole step.
fn coarser() -> Vec<Field> {
    let side = FloatLimits::until(-256.0, 256.0, 1.0 / 512.0).unwrap();
    let odd = FloatLimits::new(0.0, 100.0, 1.0).unwrap();
    let wide = FloatLimits::until_with_bits(-1.0, 1.0, 32).unwrap();
    let coarse = |field: Field, most| field.with_coarser(Coarser::new("coarser~", most));
    let of = |name: &str, field: Field| field.with_coarser(Coarser::new(name, 5));
    vec![
        integer("coarser~", 0, 8),
        coarse(Field::new("position", FieldKind::Floats(vec![side; 3])).with_role(Role::Body), 8),
        coarse(rotation("orientation", 9).with_role(Role::Body), 4),
        Field::new("touched", FieldKind::Bool).with_role(Role::Touched),
        coarse(
            Field::new("speed", FieldKind::Floats(vec![odd, side])).with_role(Role::Velocity),
            3,
        ),
        Field::new("turret?", FieldKind::Bool),
        only("turret?", 1..=1, integer("turret.coarser~", 0, 31)),
        only("turret?", 1..=1, of("turret.coarser~", rotation("turret", 12))),
        of("turret.coarser~", Field::new("fuel", FieldKind::Floats(vec![wide]))),
        coarse(Field::new("nothing", FieldKind::Floats(Vec::new())), 2),
        Field::new("arms", FieldKind::Floats(vec![odd; 2]))
            .with_time_precision(TimePrecision::new(20.0, 10.0)),
    ]
}

/// Makes fields that mark cuts, and a body with a velocity that is relative to a frame.
fn breaks() -> Vec<Field> {
    let side = FloatLimits::until(-256.0, 256.0, 1.0 / 512.0).unwrap();
    let speed = FloatLimits::new(-32.0, 32.0, 1.0 / 32.0).unwrap();
    let vector = |name: &str, axis| Field::new(name, FieldKind::Floats(vec![axis; 3]));
    let relative = |field: Field| field.with_frame("ship");
    vec![
        integer("jumps", 0, 3).with_role(Role::Cut),
        relative(vector("position", side).with_role(Role::Body)),
        Field::new("ship?", FieldKind::Bool).with_role(Role::Frame),
        only("ship?", 1..=1, integer("ship", 2, 5)).with_role(Role::Frame),
        relative(rotation("orientation", 9).with_role(Role::Body)),
        relative(vector("velocity", speed).with_role(Role::Velocity).with_velocity_of("position")),
        Field::new("pushes", FieldKind::Bool).with_role(Role::Mover),
        relative(vector("aim", side)).with_time_precision(TimePrecision::new(20.0, 10.0)),
        Field::new("camera", FieldKind::Bool).with_role(Role::Cut),
        relative(rotation("gun", 12)).with_time_precision(TimePrecision::new(20.0, 10.0)),
    ]
}

/// Makes kinds with bodies of other limits, spawn fields, optional fields, and no fields at all.
fn kinds() -> Schema {
    let side = FloatLimits::until(-256.0, 256.0, 1.0 / 512.0).unwrap();
    let coarse = FloatLimits::until(-100.0, 200.0, 1.0 / 64.0).unwrap();
    let speed = FloatLimits::new(-32.0, 32.0, 1.0 / 32.0).unwrap();
    let position = |axis| Field::new("position", FieldKind::Floats(vec![axis; 3]));
    let flag = |name, role| Field::new(name, FieldKind::Bool).with_role(role);
    let turn = |bits| rotation("orientation", bits).with_role(Role::Body);
    let mut player = vec![position(coarse).with_role(Role::Body), turn(11)];
    player.push(flag("pushes", Role::Mover));
    player.extend(optional().into_iter().skip(1));
    Schema::builder()
        .kind_of_fields(
            "crate",
            vec![position(side).with_role(Role::Body), turn(9), flag("touched", Role::Touched)],
        )
        .kind_of_fields("player", player)
        .kind_of_fields("wall", Vec::new())
        .kind_of_fields(
            "bullet",
            vec![
                integer("maker", 0, 90).with_spawn(),
                position(side),
                Field::new("velocity", FieldKind::Floats(vec![speed; 3])).with_role(Role::Velocity),
            ],
        )
        .kind_of_fields("door", vec![Field::new("is_open", FieldKind::Bool)])
        .build()
        .unwrap()
}

fn only(selector: &str, values: RangeInclusive<u32>, field: Field) -> Field {
    field.with_condition(Condition::new(selector, values))
}

fn integer(name: &str, min: i128, max: i128) -> Field {
    Field::new(name, FieldKind::Integer(IntegerLimits::new(min, max, 1).unwrap()))
}

fn rotation(name: &str, bits: u32) -> Field {
    Field::new(name, FieldKind::Rotation(SmallestThree::new(bits).unwrap()))
}

/// Makes a profile in every possible way, each with its name.
pub(crate) fn profiles(schema: &Schema) -> [(&'static str, Profile); 4] {
    let mut trainer = Trainer::new(schema.clone(), Profile::magnitudes(schema)).unwrap();
    for pair in frames(schema, 0x7EAC4, 12, 6).windows(2) {
        trainer.observe(&pair[0], &[], &pair[1]).unwrap();
    }
    [
        ("untrained", Profile::untrained(schema)),
        ("article", Profile::article(schema)),
        ("magnitudes", Profile::magnitudes(schema)),
        ("trained", trainer.finish()),
    ]
}

/// Makes `count` snapshots of one world, the first without entities, each a few ticks after the
/// previous one.
pub(crate) fn frames(schema: &Schema, seed: u64, entities: usize, count: usize) -> Vec<Snapshot> {
    let mut world = World::new(schema, seed, entities);
    let mut frames = vec![Snapshot::new(schema, Tick(0))];
    while frames.len() < count {
        frames.push(world.snapshot());
        world.step();
    }
    frames.truncate(count);
    frames
}

/// The entities by id, each with its kind, and its lanes among those of all kinds.
pub(crate) struct World {
    schema: Schema,
    /// For each kind, a schema of that kind alone.
    of_kinds: Vec<Schema>,
    random: Random,
    tick: u32,
    usual_entities: usize,
    entities: BTreeMap<u32, (usize, Vec<u32>)>,
}

impl World {
    /// Makes a world with about `usual_entities` entities.
    pub(crate) fn new(schema: &Schema, seed: u64, usual_entities: usize) -> Self {
        let random = Random::new(seed);
        let mut world = Self {
            of_kinds: (0..schema.kinds().len()).map(|kind| schema.of_kind(kind)).collect(),
            schema: schema.clone(),
            random,
            tick: 1,
            usual_entities,
            entities: BTreeMap::new(),
        };
        (0..usual_entities).for_each(|_| world.come());
        world
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::new(&self.schema, Tick(self.tick));
        for (id, (kind, lanes)) in &self.entities {
            let mut lanes = lanes[self.schema.kinds()[*kind].lanes()].to_vec();
            self.of_kinds[*kind].clear_absent(&mut lanes);
            self.of_kinds[*kind].round_coarse(&mut lanes);
            snapshot.push_lanes_of(*kind, EntityId(*id), &lanes).unwrap();
        }
        snapshot
    }

    /// Moves about half of the entities. In two of three steps, some entities are added and some
    /// removed.
    pub(crate) fn step(&mut self) {
        self.tick += 1 + self.random.up_to(9);
        if !self.random.one_in(3) {
            let random = &mut self.random;
            self.entities.retain(|_, _| !random.one_in(6));
            let missing = (self.usual_entities + 1).saturating_sub(self.entities.len());
            (0..missing).for_each(|_| self.come());
        }
        let drift: Vec<i64> =
            self.schema.lanes().iter().map(|_| self.random.below(41) as i64 - 20).collect();
        for (_, lanes) in self.entities.values_mut() {
            match self.random.below(8) {
                0..4 => {}
                4 | 5 => carry(&self.schema, &drift, lanes),
                _ => leap(&self.schema, &mut self.random, lanes),
            }
        }
    }

    fn come(&mut self) {
        let id = match self.random.below(16) {
            0 => 0,
            1 => u32::MAX,
            2..8 => self.random.word() as u32,
            _ => self.random.below(3 * self.usual_entities as u64) as u32,
        };
        let random = &mut self.random;
        let lanes = self.schema.lanes().iter().map(|lane| any_value(random, lane.max)).collect();
        // If the id comes back later, it may belong to an entity of another kind.
        let kind = (id ^ self.tick) as usize % self.schema.kinds().len();
        self.entities.insert(id, (kind, lanes));
    }
}

/// Makes any value of a lane; the ends are more frequent than other values.
pub(super) fn any_value(random: &mut Random, max: u32) -> u32 {
    match random.below(6) {
        0 => 0,
        1 => max,
        _ => random.up_to(max),
    }
}

/// Moves the numbers of an entity by the same amounts as those of all others.
fn carry(schema: &Schema, drift: &[i64], lanes: &mut [u32]) {
    for ((lane, drift), value) in schema.lanes().iter().zip(drift).zip(lanes) {
        *value = moved(*value, *drift, lane.max, lane.arithmetic);
    }
}

/// Changes about half of the fields: by a little, by a lot, or to one of the ends.
fn leap(schema: &Schema, random: &mut Random, lanes: &mut [u32]) {
    for field in schema.fields() {
        if random.one_in(2) {
            continue;
        }
        if let (FieldKind::Rotation(rotation), false) = (&field.kind, random.one_in(4)) {
            turn(rotation, random, &mut lanes[field.lanes()]);
            continue;
        }
        for lane in field.lanes() {
            let limits = schema.lanes()[lane];
            lanes[lane] = match random.below(8) {
                0..3 => any_value(random, limits.max),
                3 => lanes[lane],
                _ => {
                    let reach = 1i64 << random.below(20);
                    let steps = random.below(2 * reach as u64 + 1) as i64 - reach;
                    moved(lanes[lane], steps, limits.max, limits.arithmetic)
                }
            };
        }
    }
}

/// Turns a rotation a little, so that sometimes another component is dropped.
pub(super) fn turn(rotation: &SmallestThree, random: &mut Random, lanes: &mut [u32]) {
    let codes = [lanes[0], lanes[1], lanes[2], lanes[3]];
    let turned = rotation.reconstruct(codes).map(|component| component + 0.2 * random.unit());
    lanes.copy_from_slice(&rotation.quantize(turned).unwrap_or(codes));
}

pub(super) fn moved(value: u32, steps: i64, max: u32, arithmetic: LaneArithmetic) -> u32 {
    let to = i64::from(value) + steps;
    match arithmetic {
        LaneArithmetic::Linear => to.clamp(0, i64::from(max)) as u32,
        LaneArithmetic::Cyclic | LaneArithmetic::Category => {
            to.rem_euclid(i64::from(max) + 1) as u32
        }
    }
}

/// Makes bodies, some of which move others, with fields of all other kinds. This is the schema of
/// `spec/vectors/adaptive.txt`.
pub(crate) fn bodies_schema() -> Schema {
    let axis = |min, end| FloatLimits::until(min, end, 1.0 / 256.0).unwrap();
    let position = FieldKind::Floats(vec![axis(-64.0, 64.0), axis(0.0, 32.0), axis(-64.0, 64.0)]);
    let heading = FloatLimits::until(0.0, 360.0, 0.5).unwrap().wrapping();
    let rotation = || FieldKind::Rotation(SmallestThree::new(9).unwrap());
    Schema::new(vec![
        Field::new("position", position).with_role(Role::Body),
        Field::new("orientation", rotation()).with_role(Role::Body),
        Field::new("touched", FieldKind::Bool).with_role(Role::Touched),
        Field::new("mover", FieldKind::Bool).with_role(Role::Mover),
        Field::new("heading", FieldKind::Floats(vec![heading])),
        Field::new("turret", rotation()),
        Field::new("health", FieldKind::Integer(IntegerLimits::new(0, 100, 1).unwrap())),
        Field::new("weapon", FieldKind::Choice { max: 400 }),
        Field::new("serial", FieldKind::Raw { lanes: 1 }),
    ])
}
