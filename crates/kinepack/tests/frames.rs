//! Tests of frames: entities whose fields are relative to another entity. Submodules test what the
//! derive makes of types, the frozen packets, and states of any values.

mod derived;
mod hostile;
mod vectors;

use std::f64::consts::{FRAC_PI_2, PI};

use kinepack::frame::{FrameError, MOST_FRAMES, Moment};
use kinepack::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use kinepack::schema::{Condition, Field, FieldKind, Role};
use kinepack::{
    Baselines, Between, Codec, Decoder, Encoder, EntityId, Level, Pack, Profile, Schema,
    SetupError, Snapshot, Tick, View,
};

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Ship {
    #[pack(body, frame = dock, range = -2048.0..2048.0, precision = 1.0 / 1024.0)]
    position: [f64; 3],
    #[pack(body, frame = dock, rotation, bits = 16)]
    rotation: [f32; 4],
    dock: Option<EntityId>,
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Sailor {
    #[pack(max = 100)]
    health: u8,
    body: Body,
    /// The mast that the sailor looks at, in the world.
    #[pack(range = -2048.0..2048.0, precision = 1.0 / 64.0)]
    aim: [f32; 3],
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Body {
    #[pack(max = 1000)]
    ship: Option<u16>,
    #[pack(frame = ship, range = -2048.0..2048.0, precision = 1.0 / 1024.0)]
    position: [f64; 3],
    #[pack(frame = ship, velocity, range = -64.0..64.0, precision = 1.0 / 1024.0)]
    velocity: [f64; 3],
    #[pack(frame = ship, rotation, bits = 16)]
    rotation: [f32; 4],
}

const SHIP: EntityId = EntityId(7);
const SAILOR: EntityId = EntityId(3);
const LEVEL: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

fn schema() -> Schema {
    Schema::builder().kind::<Ship>("ship").kind::<Sailor>("sailor").build().unwrap()
}

/// The rotation by an angle around z.
fn yaw(angle_rad: f64) -> [f32; 4] {
    [0.0, 0.0, (angle_rad / 2.0).sin() as f32, (angle_rad / 2.0).cos() as f32]
}

fn ship(position: [f64; 3], angle_rad: f64) -> Ship {
    Ship { position, rotation: yaw(angle_rad), dock: None }
}

fn sailor(ship: Option<u16>, position: [f64; 3], velocity: [f64; 3]) -> Sailor {
    let body = Body { ship, position, velocity, rotation: LEVEL };
    Sailor { health: 90, body, aim: [1.0, 2.0, 3.0] }
}

fn world(tick: u32, ships: &[(u32, Ship)], sailor: Sailor) -> Snapshot {
    let mut world = Snapshot::new(&schema(), Tick(tick));
    world.extend(ships.iter().map(|(id, ship)| (EntityId(*id), *ship))).unwrap();
    world.push(SAILOR, &sailor).unwrap();
    world
}

/// The sailor in world coordinates between two worlds, a second apart.
fn between(from: &Snapshot, to: &Snapshot, ratio: f32) -> Result<Sailor, FrameError> {
    let at = Between { ratio, seconds: 1.0 };
    let moment = |id| {
        let ends = [from, to].map(|state| state.position(id).map(|index| (state, index)));
        ends[0].zip(ends[1]).map(|(from, to)| Moment { from, to, at })
    };
    moment(SAILOR).unwrap().in_world(moment)
}

#[track_caller]
fn assert_near(a: [f64; 3], b: [f64; 3], within: f64) {
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= within), "{a:?} instead of {b:?}");
}

#[test]
fn the_derive_marks_ids_and_names_them() {
    let schema = schema();
    let [ship, sailor] = schema.kinds() else { panic!("two kinds") };
    assert!(ship.has_frame() && sailor.has_frame());
    let field = |name: &str| schema.fields().iter().find(|field| field.name == name).unwrap();
    assert_eq!(field("body.ship").role, Role::Frame);
    assert_eq!(field("body.ship?").role, Role::Frame);
    assert_eq!(field("body.position").frame.as_deref(), Some("body.ship"));
    assert_eq!(field("aim").frame, None);
    let lanes = |name: &str| field(name).lanes();
    let breaks = [lanes("body.ship?"), lanes("body.ship")].into_iter().flatten();
    assert_eq!(sailor.break_lanes(), breaks.collect::<Vec<_>>());
    assert!(sailor.cut_lanes().is_empty());
    let read = Schema::from_bytes(&schema.to_bytes()).unwrap();
    assert_eq!((read.fields(), read.hash()), (schema.fields(), schema.hash()));
    let mut fields = schema.fields()[sailor.fields()].to_vec();
    fields.iter_mut().for_each(|field| field.frame = None);
    assert_ne!(Schema::new(fields).hash(), schema.of_kind(1).hash());
}

#[test]
fn a_passenger_stands_still_on_a_ship_that_turns() {
    let deck = [12.0, -3.0, 2.0];
    let standing = sailor(Some(7), deck, [0.0; 3]);
    let from = world(0, &[(7, ship([100.0, 50.0, 1.0], 0.0))], standing);
    let to = world(60, &[(7, ship([140.0, 50.0, 1.0], FRAC_PI_2))], standing);
    for ratio in [0.0, 0.25, 0.5, 1.0] {
        let angle_rad = FRAC_PI_2 * f64::from(ratio);
        let (sine, cosine) = angle_rad.sin_cos();
        let [x, y, z] = deck;
        let expected = [
            100.0 + 40.0 * f64::from(ratio) + cosine * x - sine * y,
            50.0 + sine * x + cosine * y,
            1.0 + z,
        ];
        let seen = between(&from, &to, ratio).unwrap();
        assert_near(seen.body.position, expected, 0.003);
        assert_eq!((seen.health, seen.aim), (90, [1.0, 2.0, 3.0]));
        let [.., z, w] = seen.body.rotation.map(f64::from);
        let turned_rad = 2.0 * z.atan2(w);
        assert!((turned_rad - angle_rad).abs() < 1e-3, "{turned_rad}");
        // The ship's velocity, and the motion of the deck around its middle.
        let [x, y] = [cosine * x - sine * y, sine * x + cosine * y];
        let expected = [40.0 - FRAC_PI_2 * y, FRAC_PI_2 * x, 0.0];
        assert_near(seen.body.velocity, expected, 0.01);
    }
}

#[test]
fn who_walks_on_the_deck_moves_with_it() {
    let walking = |x| sailor(Some(7), [x, 0.0, 0.0], [2.0, 0.0, 0.0]);
    let turned = ship([0.0; 3], PI / 2.0);
    let [from, to] = [1.0, 3.0].map(|x| world(0, &[(7, turned)], walking(x)));
    let seen = between(&from, &to, 0.5).unwrap();
    assert_near(seen.body.position, [0.0, 2.0, 0.0], 0.003);
    assert_near(seen.body.velocity, [0.0, 2.0, 0.0], 0.003);
    assert_eq!(
        from.get_in_world::<Sailor>(SAILOR).unwrap(),
        Some(between(&from, &to, 0.0).unwrap())
    );
    assert_near(from.place_at(1).unwrap().position, [0.0, 1.0, 0.0], 0.003);
    assert_eq!([0, 1].map(|index| from.frame_at(index)), [None, Some(SHIP)]);
}

#[test]
fn stepping_on_board_is_neither_a_jump_nor_a_streak() {
    let moving = [ship([100.0, 0.0, 0.0], 0.0), ship([104.0, 0.0, 0.0], 0.0)];
    // On the quay, then on a deck that is as high.
    let from = world(0, &[(7, moving[0])], sailor(None, [90.0, 1.0, 0.0], [0.0; 3]));
    let to = world(60, &[(7, moving[1])], sailor(Some(7), [-13.0, 1.0, 0.0], [0.0; 3]));
    for (ratio, x) in [(0.0, 90.0), (0.5, 0.5 * 90.0 + 0.5 * 89.0), (1.0, 91.0)] {
        let seen = between(&from, &to, ratio).unwrap();
        assert_near(seen.body.position, [x, 1.0, 0.0], 0.003);
    }
    assert!(to.is_broken_since(1, &from, 1) && !to.is_cut_since(1, &from, 1));
    assert!(!to.is_broken_since(0, &from, 0));
    for (index, before) in [(2, 1), (1, 2), (usize::MAX, 1), (1, usize::MAX), (1, 0)] {
        assert!(!to.is_broken_since(index, &from, before), "{index} {before}");
    }
    // The sailors are the second kind here, and the only one there.
    let mut other = Snapshot::new(&Schema::of::<Ship>(), Tick(0));
    other.push(SHIP, &Ship { dock: Some(SHIP), ..ship([0.0; 3], 0.0) }).unwrap();
    assert!(!to.is_broken_since(0, &other, 0) && !other.is_broken_since(0, &to, 0));
}

#[test]
fn frames_may_have_frames_up_to_a_limit_and_no_cycles() {
    let chain = |ships: u32| {
        let link = |id: u32| {
            let dock = (id > 1).then(|| EntityId(id - 1));
            (id, Ship { dock, ..ship([1.0, 0.0, 0.0], FRAC_PI_2) })
        };
        let links: Vec<_> = (1..=ships).map(link).collect();
        let mut world = Snapshot::new(&schema(), Tick(0));
        world.extend(links.iter().map(|(id, ship)| (EntityId(*id), *ship))).unwrap();
        world.push(EntityId(100), &sailor(Some(ships as u16), [1.0, 0.0, 0.0], [0.0; 3])).unwrap();
        world.get_in_world::<Sailor>(EntityId(100))
    };
    // Each frame is a step and a turn to the left.
    assert_near(chain(1).unwrap().unwrap().body.position, [1.0, 1.0, 0.0], 0.01);
    assert_near(chain(2).unwrap().unwrap().body.position, [0.0, 1.0, 0.0], 0.01);
    assert_near(chain(3).unwrap().unwrap().body.position, [0.0, 0.0, 0.0], 0.01);
    assert!(chain(MOST_FRAMES as u32).is_ok());
    let too_many = chain(MOST_FRAMES as u32 + 1);
    assert!(matches!(too_many, Err(FrameError::TooManyFrames { .. })), "{too_many:?}");

    let cyclic = Ship { dock: Some(SHIP), ..ship([0.0; 3], 0.0) };
    let world = world(0, &[(7, cyclic)], sailor(Some(7), [0.0; 3], [0.0; 3]));
    let error = world.get_in_world::<Sailor>(SAILOR).unwrap_err();
    assert_eq!(error, FrameError::TooManyFrames { entity: 7 });
}

#[test]
fn an_unknown_frame_is_an_error_unless_the_second_state_has_it() {
    let standing = |ship| sailor(ship, [1.0, 0.0, 0.0], [0.0; 3]);
    let alone = world(0, &[], standing(Some(7)));
    let unknown = FrameError::UnknownFrame { entity: 3, frame: 7 };
    assert_eq!(alone.get_in_world::<Sailor>(SAILOR), Err(unknown.clone()));
    assert_eq!(between(&alone, &alone, 0.5), Err(unknown));
    let launched = world(60, &[(7, ship([10.0, 0.0, 0.0], 0.0))], standing(Some(7)));
    let ashore = world(0, &[], standing(None));
    assert_near(between(&ashore, &launched, 0.5).unwrap().body.position, [6.0, 0.0, 0.0], 0.003);

    #[derive(Pack)]
    struct Ghost {
        #[pack(frame = of, rotation, bits = 9)]
        rotation: [f32; 4],
        of: EntityId,
    }
    let mut world = Snapshot::new(&Schema::of::<Ghost>(), Tick(0));
    world.push(EntityId(1), &Ghost { rotation: LEVEL, of: EntityId(1) }).unwrap();
    let error = world.get_in_world::<Ghost>(EntityId(1)).map(drop).unwrap_err();
    assert_eq!(error, FrameError::TooManyFrames { entity: 1 });
    world.clear(Tick(1));
    world.push(EntityId(1), &Ghost { rotation: LEVEL, of: EntityId(2) }).unwrap();
    world.push(EntityId(2), &Ghost { rotation: LEVEL, of: EntityId(3) }).unwrap();
    let error = world.get_in_world::<Ghost>(EntityId(1)).map(drop).unwrap_err();
    assert_eq!(error, FrameError::UnknownFrame { entity: 2, frame: 3 });
}

#[test]
fn fields_that_cannot_be_relative_are_refused() {
    let axis = FloatLimits::new(0.0, 1.0, 0.1).unwrap();
    let around = axis.wrapping();
    let vector = |axis| FieldKind::Floats(vec![axis; 3]);
    let rotation = FieldKind::Rotation(SmallestThree::new(9).unwrap());
    let ids = |min, max, step| FieldKind::Integer(IntegerLimits::new(min, max, step).unwrap());
    let id = |name: &str, kind| Field::new(name, kind).with_role(Role::Frame);
    let relative = |kind| Field::new("of", kind).with_frame("id");
    let velocity = || Field::new("speed", vector(axis)).with_velocity_of("of");
    let flag = Field::new("flag", FieldKind::Bool);
    let when = |selector: &str| Condition { selector: selector.into(), values: 1..=1 };
    let good = || id("id", ids(0, 9, 1));
    let optional = || good().with_condition(when("flag"));
    for fields in [
        vec![relative(vector(axis)), good()],
        vec![good(), relative(rotation.clone())],
        vec![id("id", ids(0, u32::MAX.into(), 1)), relative(rotation.clone())],
        vec![flag.clone().with_role(Role::Frame), optional(), relative(vector(axis))],
        vec![velocity().with_frame("id"), good(), relative(vector(axis))],
        vec![velocity().with_velocity_of("other").with_frame("id"), good(), relative(vector(axis))],
    ] {
        Schema::try_new(fields).unwrap();
    }
    for (field, fields) in [
        (0, vec![relative(vector(axis))]),
        (0, vec![relative(vector(around)), good()]),
        (0, vec![relative(FieldKind::Floats(vec![axis; 2])), good()]),
        (0, vec![relative(FieldKind::Bool), good()]),
        (1, vec![good().with_role(Role::Plain), relative(vector(axis))]),
        (1, vec![id("id", FieldKind::Bool), relative(vector(axis))]),
        (1, vec![id("id", ids(0, 9, 3)), relative(vector(axis))]),
        (1, vec![id("id", ids(-1, 9, 1)), relative(vector(axis))]),
        (1, vec![id("id", ids(0, 1 << 32, 1)), relative(vector(axis))]),
        (0, vec![velocity(), relative(vector(axis)), good()]),
        (2, vec![Field::new("of", vector(axis)), good(), velocity().with_frame("id")]),
        (2, vec![flag.clone(), optional(), relative(vector(axis))]),
        (2, vec![flag, good(), relative(vector(axis)).with_condition(when("flag"))]),
        (
            3,
            vec![good(), id("other", ids(0, 9, 1)), relative(vector(axis)), {
                Field::new("of", rotation).with_frame("other")
            }],
        ),
    ] {
        let refused = Schema::try_new(fields).unwrap_err();
        assert_eq!(refused, SetupError::BadFrame { field });
    }
}

/// The bits of the packets of a sailor who changes between two ships now and then.
fn bits(level: Level, schema: &Schema) -> u64 {
    let codec = Codec::new(schema.clone(), level, Profile::untrained(schema)).unwrap();
    let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
    let (mut held, mut bytes) = (vec![View::empty(schema)], 0);
    for tick in 1..200u32 {
        let (leg, along) = (tick / 20, f64::from(tick % 20) / 8.0);
        let on = sailor(
            Some((leg % 2) as u16),
            [along - 500.0 * f64::from(leg % 2), 0.0, 0.0],
            [0.0; 3],
        );
        let ships = [(0, ship([0.0; 3], 0.0)), (1, ship([500.0, 0.0, 0.0], 0.0))];
        let of_ships = world(tick, &ships, on);
        let mut state = Snapshot::new(schema, Tick(tick));
        for (kind, id) in of_ships.entities() {
            let lanes: Vec<u32> = of_ships.lanes_at(of_ships.position(id).unwrap()).collect();
            state.push_lanes_of(kind, id, &lanes).unwrap();
        }
        let known: Vec<&View> = held.iter().rev().take(3).collect();
        let known = Baselines::new(known).unwrap();
        let mut packet = Vec::new();
        let sent = encoder.encode(known, &state, &mut packet).unwrap();
        let view = decoder.decode(known, &packet, Tick(tick)).unwrap();
        assert_eq!(view, sent);
        bytes += packet.len() as u64;
        held.push(view);
    }
    bytes * 8
}

#[test]
fn nothing_is_predicted_over_a_change_of_the_frame() {
    let fields = |kind: usize| {
        let mut fields = schema().of_kind(kind).fields().to_vec();
        for field in fields.iter_mut().filter(|field| field.role == Role::Frame) {
            field.role = Role::Plain;
        }
        fields.iter_mut().for_each(|field| field.frame = None);
        fields
    };
    let kinds = Schema::builder().kind_of_fields("ship", fields(0));
    let without = kinds.kind_of_fields("sailor", fields(1)).build().unwrap();
    let [with, without] = [schema(), without].map(|schema| bits(Level::ADAPTIVE, &schema));
    // A jump that is predicted to go on costs as much again.
    assert!(with < without, "{with} bits instead of {without}");
}
