//! glam's vectors and quaternions as fields.

#![cfg(all(feature = "glam", feature = "derive"))]
#![allow(clippy::unwrap_used)]

use glam::{DQuat, DVec2, DVec3, Quat, Vec2, Vec3, Vec3A, Vec4};
use kinepack::schema::{FieldKind, Lane};
use kinepack::{Between, EncodeError, Pack, Schema};

#[derive(Pack, Clone, Debug, PartialEq)]
struct Body {
    #[pack(range = [-256.0..256.0, -256.0..256.0, 0.0..32.0], precision = 1.0 / 512.0)]
    position: Vec3,
    #[pack(rotation, bits = 9)]
    orientation: Quat,
    #[pack(velocity, range = -32.0..32.0, precision = 1.0 / 32.0, clamp)]
    velocity: Vec3A,
    #[pack(range = -1.0e6..=1.0e6, bits = 32)]
    far: DVec3,
    #[pack(rotation, bits = 20)]
    precise: DQuat,
    #[pack(range = 0.0..=1.0, bits = 8)]
    color: Vec4,
    #[pack(range = 0.0..1.0, precision = [0.5, 0.25])]
    cell: DVec2,
    whole: Vec2,
    whole_rotation: Quat,
}

fn body() -> Body {
    Body {
        position: Vec3::new(1.2345, -200.0071, 0.5003),
        orientation: Quat::from_rotation_y(1.0),
        velocity: Vec3A::new(-99.0, 0.0, 7.77),
        far: DVec3::new(-123_456.789, 0.0, 1.0e6),
        precise: DQuat::from_rotation_x(2.0),
        color: Vec4::new(0.0, 1.0, 0.2, 0.4),
        cell: DVec2::new(0.5, 0.75),
        whole: Vec2::new(0.1, f32::MAX),
        whole_rotation: Quat::from_rotation_z(-0.3),
    }
}

#[test]
fn lanes_equal_the_components_lanes() {
    let schema = Schema::of::<Body>();
    let bits: Vec<u32> = schema.lanes().iter().map(Lane::bits).collect();
    #[rustfmt::skip]
    assert_eq!(bits, [
        18, 18, 14, 2, 9, 9, 9, 11, 11, 11, 32, 32, 32, 2, 20, 20, 20, 8, 8, 8, 8, 1, 2, 32, 32, 32, 32, 32, 32,
    ]);
    assert_eq!(bits.len(), Body::LANES);
    assert_eq!(schema.fields()[7].kind, FieldKind::Raw { lanes: 2 });
    assert_eq!(schema.fields()[8].kind, FieldKind::Raw { lanes: 4 });
}

#[test]
fn vectors_and_arrays_of_the_same_limits_have_the_same_schema() {
    #[derive(Pack)]
    struct Vectors {
        #[pack(range = -8.0..8.0, precision = 0.5)]
        position: Vec3,
        #[pack(rotation, bits = 9)]
        orientation: Quat,
        plain: Vec4,
    }

    #[derive(Pack)]
    struct Arrays {
        #[pack(range = -8.0..8.0, precision = 0.5)]
        position: [f32; 3],
        #[pack(rotation, bits = 9)]
        orientation: [f32; 4],
        plain: [f32; 4],
    }

    assert_eq!(Schema::of::<Vectors>(), Schema::of::<Arrays>());
    let vectors = Vectors {
        position: Vec3::splat(1.3),
        orientation: Quat::from_rotation_y(2.0),
        plain: Vec4::X,
    };
    let arrays = Arrays {
        position: vectors.position.to_array(),
        orientation: vectors.orientation.to_array(),
        plain: vectors.plain.to_array(),
    };
    let mut lanes = [[0; Vectors::LANES]; 2];
    vectors.quantize(&mut lanes[0]).unwrap();
    arrays.quantize(&mut lanes[1]).unwrap();
    assert_eq!(lanes[0], lanes[1]);
}

#[test]
fn values_come_back_within_half_a_step() {
    let mut lanes = [0; Body::LANES];
    body().quantize(&mut lanes).unwrap();
    let back = Body::reconstruct(&lanes);
    assert!((back.position - body().position).abs().max_element() <= 0.5 / 512.0 + 1e-5);
    assert!(back.orientation.angle_between(body().orientation) < 0.5f32.to_radians());
    assert_eq!(back.velocity, Vec3A::new(-32.0, 0.0, 7.78125));
    assert!((back.far - body().far).abs().max_element() <= 1.0e6 / f64::from(u32::MAX) + 1e-9);
    assert!(back.precise.dot(body().precise).abs() > 1.0 - 1e-11);
    assert!((back.color - body().color).abs().max_element() <= 0.5 / 255.0 + 1e-6);
    assert_eq!(
        (back.cell, back.whole, back.whole_rotation),
        (body().cell, body().whole, body().whole_rotation)
    );

    let mut again = [0; Body::LANES];
    back.quantize(&mut again).unwrap();
    assert_eq!(again, lanes);
}

#[test]
fn errors_name_the_field() {
    let mut lanes = [0; Body::LANES];
    let far = Body { far: DVec3::new(0.0, -1.5e6, 0.0), ..body() };
    assert_eq!(
        far.quantize(&mut lanes),
        Err(EncodeError::OutOfRange { id: None, field: "far", value: -1.5e6 })
    );
    let zero = Body { precise: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0), ..body() };
    assert_eq!(
        zero.quantize(&mut lanes),
        Err(EncodeError::NotANumber { id: None, field: "precise" })
    );
}

#[test]
fn states_between_turn_and_move() {
    #[derive(Pack)]
    struct Mover {
        #[pack(range = -64.0..64.0, precision = 0.125)]
        position: Vec3,
        #[pack(rotation, bits = 12)]
        orientation: Quat,
        #[pack(velocity, range = -64.0..64.0, precision = 0.125)]
        velocity: Vec3,
        whole: Vec2,
        whole_rotation: Quat,
    }

    let mover = |x: f32, climb: f32, angle: f32| Mover {
        position: Vec3::new(x, 0.0, 0.0),
        orientation: Quat::from_rotation_y(angle),
        velocity: Vec3::new(4.0, climb, 0.0),
        whole: Vec2::splat(x),
        whole_rotation: -Quat::from_rotation_y(angle),
    };
    let (from, to) = (mover(0.0, 4.0, 3.0), mover(4.0, -4.0, -3.0));
    let mut lanes = [[0; Mover::LANES]; 2];
    from.quantize(&mut lanes[0]).unwrap();
    to.quantize(&mut lanes[1]).unwrap();
    let there = Mover::interpolate(&lanes[0], &lanes[1], Between { ratio: 0.25, seconds: 1.0 });
    assert_eq!(
        (there.position, there.velocity),
        (Vec3::new(1.0, 0.75, 0.0), Vec3::new(4.0, 2.0, 0.0))
    );
    assert_eq!(there.whole, Vec2::ONE);
    // The short way from 3 to −3 radians crosses π.
    let wanted = Quat::from_rotation_y(3.0 + 0.25 * (core::f32::consts::TAU - 6.0));
    assert!(there.orientation.angle_between(wanted) < 0.002);
    assert!(
        there.whole_rotation.angle_between(wanted) < 1e-3 && there.whole_rotation.is_normalized()
    );

    let none = Mover { whole_rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 0.0), ..from };
    none.quantize(&mut lanes[0]).unwrap();
    let there = Mover::interpolate(&lanes[0], &lanes[1], Between { ratio: 0.25, seconds: 1.0 });
    assert_eq!(there.whole_rotation, none.whole_rotation, "a rotation without direction steps");
}
