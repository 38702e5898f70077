//! glam's vectors and quaternions as fields of a struct.

#![cfg(all(feature = "glam", feature = "derive"))]
use glam::{
    DQuat, DVec2, DVec3, DVec4, IVec2, IVec3, IVec4, Quat, UVec2, UVec3, UVec4, Vec2, Vec3, Vec3A,
    Vec4,
};
use kinepack::schema::{Components, FieldKind, Lane};
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

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Wide {
    point: DVec2,
    place: DVec3,
    four: DVec4,
    turn: DQuat,
    cell: IVec2,
    block: IVec3,
    region: IVec4,
    size: UVec2,
    count: UVec3,
    flags: UVec4,
}

const WIDE: Wide = Wide {
    point: DVec2::new(1.0 / 3.0, -0.0),
    place: DVec3::new(1e300, f64::MIN_POSITIVE, f64::INFINITY),
    four: DVec4::new(1.0, 2.0, 3.0, 4.0),
    turn: DQuat::from_xyzw(0.0, 0.0, 0.6, 0.8),
    cell: IVec2::new(i32::MIN, -1),
    block: IVec3::new(1, 2, i32::MAX),
    region: IVec4::new(-1, -2, -3, -4),
    size: UVec2::new(u32::MAX, 0),
    count: UVec3::new(1, 2, 3),
    flags: UVec4::new(4, 5, 6, 7),
};

#[test]
fn wide_vectors_and_integer_vectors_are_like_arrays() {
    #[derive(Pack)]
    struct Arrays {
        point: [f64; 2],
        place: [f64; 3],
        four: [f64; 4],
        turn: [f64; 4],
        cell: [i32; 2],
        block: [i32; 3],
        region: [i32; 4],
        size: [u32; 2],
        count: [u32; 3],
        flags: [u32; 4],
    }

    assert_eq!(Schema::of::<Wide>(), Schema::of::<Arrays>());
    let arrays = Arrays {
        point: WIDE.point.to_array(),
        place: WIDE.place.to_array(),
        four: WIDE.four.to_array(),
        turn: WIDE.turn.to_array(),
        cell: WIDE.cell.to_array(),
        block: WIDE.block.to_array(),
        region: WIDE.region.to_array(),
        size: WIDE.size.to_array(),
        count: WIDE.count.to_array(),
        flags: WIDE.flags.to_array(),
    };
    let mut lanes = [[0; Wide::LANES]; 2];
    WIDE.quantize(&mut lanes[0]).unwrap();
    arrays.quantize(&mut lanes[1]).unwrap();
    assert_eq!(lanes[0], lanes[1]);
    assert_eq!(Wide::reconstruct(&lanes[0]), WIDE);
    let mut raw = [[0; Wide::LANES]; 2];
    WIDE.store_raw(&mut raw[0]).unwrap();
    arrays.store_raw(&mut raw[1]).unwrap();
    assert_eq!(raw[0], raw[1]);

    let to = Wide {
        point: DVec2::ONE,
        four: DVec4::ZERO,
        turn: -DQuat::IDENTITY,
        cell: IVec2::ONE,
        size: UVec2::ONE,
        ..WIDE
    };
    to.quantize(&mut lanes[1]).unwrap();
    let half = Wide::interpolate(&lanes[0], &lanes[1], Between { ratio: 0.5, seconds: 0.0 });
    assert_eq!((half.point, half.place), (DVec2::new(2.0 / 3.0, 0.5), WIDE.place));
    assert_eq!(half.four, DVec4::new(0.5, 1.0, 1.5, 2.0));
    assert!((half.turn.angle_between(WIDE.turn) - 0.5 * 2.0 * 0.6f64.asin()).abs() < 1e-9);
    assert!((half.turn.length() - 1.0).abs() < 1e-15);
    assert_eq!((half.cell, half.size), (WIDE.cell, WIDE.size), "integers step");
    let end = Wide::interpolate(&lanes[0], &lanes[1], Between { ratio: 1.0, seconds: 0.0 });
    assert_eq!(end, to);
}

#[test]
fn integer_vectors_with_limits() {
    #[derive(Pack, Clone, Debug, PartialEq)]
    struct Cell {
        #[pack(range = -100..=100, precision = 1)]
        cell: IVec3,
        #[pack(range = [0..=16, 0..=3], precision = 1, clamp)]
        tile: UVec2,
        #[pack(range = 0..=1000, precision = 10)]
        far: Option<IVec2>,
    }

    let bits: Vec<u32> = Schema::of::<Cell>().lanes().iter().map(Lane::bits).collect();
    assert_eq!(bits, [8, 8, 8, 5, 2, 1, 7, 7]);
    let cell = |cell, far| Cell { cell, tile: UVec2::new(99, 1), far };
    let [from, to] = [
        cell(IVec3::new(-100, 0, 100), Some(IVec2::new(994, 1000))),
        cell(IVec3::new(-97, 0, -100), Some(IVec2::new(0, 0))),
    ];
    let mut lanes = [[0; Cell::LANES]; 2];
    from.quantize(&mut lanes[0]).unwrap();
    to.quantize(&mut lanes[1]).unwrap();
    let back = Cell { tile: UVec2::new(16, 1), far: Some(IVec2::new(990, 1000)), ..from.clone() };
    assert_eq!(Cell::reconstruct(&lanes[0]), back);
    let at = Between { ratio: 0.25, seconds: 0.0 };
    let between = Cell::interpolate(&lanes[0], &lanes[1], at);
    assert_eq!(between.cell, IVec3::new(-99, 0, 50), "−99.25 is rounded");
    assert_eq!(between.far, Some(IVec2::new(743, 750)), "742.5 is rounded");
    let out = cell(IVec3::new(0, 101, 0), None);
    assert_eq!(
        out.quantize(&mut lanes[0]),
        Err(EncodeError::OutOfRange { id: None, field: "cell", value: 101.0 })
    );

    // An angle between the last step and the end rounds to the end, which is the minimum again.
    #[derive(Pack)]
    struct Compass {
        #[pack(range = 0..360, precision = 1, wrap)]
        degrees: IVec2,
    }
    let [from, to] = [[359, 0], [0, 0]];
    let compass = Compass::interpolate(&from, &to, Between { ratio: 0.75, seconds: 0.0 });
    assert_eq!(compass.degrees, IVec2::ZERO);

    // The conversion rounds, and never panics.
    assert_eq!(IVec2::from_components([1e99, f64::NAN]), IVec2::new(i32::MAX, 0));
    assert_eq!(IVec2::from_components([-2.5, 2.4]), IVec2::new(-3, 2));
    assert_eq!(UVec2::from_components([-7.0, 0.6]), UVec2::new(0, 1));
}
