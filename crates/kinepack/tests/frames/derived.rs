//! What the derive makes of frames in generic types, nested structs, tuples and types of glam.

use std::f32::consts::FRAC_PI_2;

use glam::{DVec3, Quat, Vec3, Vec3A};
use kinepack::schema::Role;
use kinepack::{EncodeError, EntityId, Pack, Schema, Snapshot, Tick};

use super::{LEVEL, SHIP, Ship, assert_near, ship};

/// A rider, of any types.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Rider<Position, Rotation, Direction, Id, const SEATS: usize>
where
    Id: Pack,
{
    #[pack(frame = vehicle, range = -64.0..64.0, precision = 1.0 / 1024.0)]
    position: Position,
    #[pack(frame = vehicle, rotation, bits = 16)]
    rotation: Rotation,
    #[pack(frame = vehicle, velocity = position, range = -64.0..64.0, precision = 1.0 / 1024.0)]
    velocity: Position,
    /// A velocity of no field, so only turned.
    #[pack(frame = vehicle, velocity, range = -64.0..64.0, precision = 1.0 / 1024.0)]
    wind: Direction,
    vehicle: Option<EntityId>,
    seats: [bool; SEATS],
    other: Id,
}

/// A place in a tuple, relative to the id that follows it.
#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Place(
    #[pack(frame = 1, range = -64.0..64.0, precision = 1.0 / 1024.0)] [f64; 3],
    #[pack(max = 90)] Option<u8>,
    #[pack(frame = 1, rotation, bits = 16)] [f32; 4],
);

/// A rider whose place is nested twice, with other places that are relative to nothing.
#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Nested {
    #[pack(max = 5)]
    r#type: u8,
    before: Plain,
    inner: Inner,
    goals: [Plain; 2],
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Inner {
    place: Place,
    awake: bool,
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Plain {
    #[pack(range = -64.0..64.0, precision = 1.0 / 1024.0)]
    at: [f64; 3],
}

/// A field whose name is a keyword, and which is always relative to something.
#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Held {
    #[pack(frame = r#in, range = -64.0..64.0, precision = 1.0 / 1024.0, clamp)]
    position: [f64; 3],
    #[pack(bits = 5)]
    r#in: u16,
}

/// A world with a ship at (10, 0, 0) that looks to the left, and an entity.
fn in_world<T: Pack>(state: &T) -> T {
    let schema = Schema::builder().kind::<Ship>("ship").kind::<T>("rider").build().unwrap();
    let mut world = Snapshot::new(&schema, Tick(1));
    world.push(SHIP, &ship([10.0, 0.0, 0.0], std::f64::consts::FRAC_PI_2)).unwrap();
    world.push(EntityId(8), state).unwrap();
    assert_eq!(world.frames().count(), usize::from(world.frame_at(1).is_some()));
    world.get_in_world::<T>(EntityId(8)).unwrap().unwrap()
}

#[test]
fn generic_types_and_glam_have_frames() {
    type Vectors = Rider<Vec3, Quat, Vec3A, u8, 2>;
    type Exact = Rider<DVec3, [f64; 4], [f32; 3], EntityId, 0>;
    let schema = Schema::of::<Vectors>();
    let relative = |name: &str| schema.fields().iter().find(|field| field.name == name).unwrap();
    for name in ["position", "rotation", "velocity", "wind"] {
        assert_eq!(relative(name).frame.as_deref(), Some("vehicle"));
    }
    let state = Vectors {
        position: Vec3::new(2.0, 0.0, 1.0),
        rotation: Quat::IDENTITY,
        velocity: Vec3::new(0.0, 3.0, 0.0),
        wind: Vec3A::new(0.0, 0.0, 3.0),
        vehicle: Some(SHIP),
        seats: [true, false],
        other: 7,
    };
    let seen = in_world(&state);
    assert_near(seen.position.as_dvec3().to_array(), [10.0, 2.0, 1.0], 0.003);
    assert_near(seen.velocity.as_dvec3().to_array(), [-3.0, 0.0, 0.0], 0.003);
    assert_near(seen.wind.as_dvec3().to_array(), [0.0, 0.0, 3.0], 0.003);
    assert!(seen.rotation.angle_between(Quat::from_rotation_z(FRAC_PI_2)) < 1e-3);
    assert_eq!((seen.vehicle, seen.seats, seen.other), (Some(SHIP), [true, false], 7));
    let ashore = in_world(&Vectors { vehicle: None, ..state });
    assert_near(ashore.position.as_dvec3().to_array(), [2.0, 0.0, 1.0], 0.0);
    let state = Exact {
        position: DVec3::new(2.0, 0.0, 1.0),
        rotation: [0.0, 0.0, 0.0, 1.0],
        velocity: DVec3::new(0.0, 3.0, 0.0),
        wind: [1.0, 0.0, 0.0],
        vehicle: Some(SHIP),
        seats: [],
        other: SHIP,
    };
    let seen = in_world(&state);
    assert_near(seen.position.to_array(), [10.0, 2.0, 1.0], 0.003);
    assert_near(seen.velocity.to_array(), [-3.0, 0.0, 0.0], 0.003);
    assert_near(seen.wind.map(f64::from), [0.0, 1.0, 0.0], 0.003);
    assert!((seen.rotation[2] - seen.rotation[3]).abs() < 1e-3);
    assert_eq!(seen.other, SHIP);
}

#[test]
fn tuples_and_nested_structs_have_frames() {
    let place = Place([2.0, 0.0, 1.0], Some(7), LEVEL);
    assert_near(in_world(&place).0, [10.0, 2.0, 1.0], 0.003);
    let plain = Plain { at: [5.0, 6.0, 7.0] };
    let inner = Inner { place, awake: true };
    let state = Nested { r#type: 3, before: plain, inner, goals: [plain; 2] };
    let schema = Schema::of::<Nested>();
    let field = |name: &str| schema.fields().iter().find(|field| field.name == name).unwrap();
    assert_eq!(field("inner.place.0").frame.as_deref(), Some("inner.place.1"));
    for (name, role) in [
        ("inner.place.1?", Role::Frame),
        ("inner.place.1", Role::Frame),
        ("inner.place.0", Role::Plain),
        ("inner.awake", Role::Plain),
        ("type", Role::Plain),
    ] {
        assert_eq!(field(name).role, role, "{name}");
    }
    let seen = in_world(&state);
    assert_near(seen.inner.place.0, [10.0, 2.0, 1.0], 0.003);
    assert!((seen.inner.place.2[2] - seen.inner.place.2[3]).abs() < 1e-3);
    assert_eq!((seen.r#type, seen.before, seen.goals), (3, plain, [plain; 2]));
}

#[test]
fn an_id_may_be_narrow_and_always_there() {
    let held = Held { position: [-2.0, 0.0, 1000.0], r#in: 7 };
    assert_near(in_world(&held).position, [10.0, -2.0, 64.0], 0.003);
    assert_eq!(Schema::of::<Held>().fields()[0].frame.as_deref(), Some("in"));
    // An id that does not fit is an error, not another entity.
    let mut world = Snapshot::new(&Schema::of::<Held>(), Tick(1));
    let refused = world.push(EntityId(1), &Held { r#in: 32, ..held }).unwrap_err();
    assert!(matches!(refused, EncodeError::OutOfRange { field: "in", .. }), "{refused:?}");
    let refused = world.push(EntityId(1), &Place([0.0; 3], Some(91), LEVEL));
    assert!(refused.is_err());
    assert!(world.is_empty());
}

/// Two places in one kind need the same frame. The derive cannot see that in nested types.
#[test]
fn two_nested_frames_are_refused_by_the_schema() {
    #[derive(Pack)]
    struct Two {
        _places: [Place; 2],
    }
    let refused = Schema::builder().kind::<Two>("two").build().unwrap_err();
    assert_eq!(refused, kinepack::SetupError::BadFrame { field: 4 });
    #[derive(Pack)]
    struct Absent {
        _place: Option<Place>,
    }
    let refused = Schema::builder().kind::<Absent>("absent").build().unwrap_err();
    assert_eq!(refused, kinepack::SetupError::BadFrame { field: 1 });
}
