//! Tests of the roles of a body's parts, the hash of a schema, and time precision.

use kinepack::schema::{Role, TimePrecision};
use kinepack::{Bytes, BytesUpTo, Pack, Schema};

use super::{Cube, Weapon, bits, names};
use crate::states::round_trip;

/// A body with all parts, in an unusual order, next to other fields.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Player {
    #[pack(mover)]
    alive: bool,
    #[pack(bits = 11, body, rotation)]
    facing: [f32; 4],
    #[pack(touched, step)]
    pushed: bool,
    #[pack(range = -32.0..32.0, precision = 0.5, velocity = place)]
    velocity: [f64; 3],
    #[pack(body, clamp, range = -256.0..256.0, precision = 1.0 / 512.0)]
    place: [f64; 3],
    #[pack(rotation, bits = 9)]
    head: [f32; 4],
    crouched: bool,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Team {
    leader: Player,
    #[pack(touched)]
    seen: bool,
}

#[test]
fn parts_of_a_body_have_roles_and_unchanged_lanes() {
    let roles = |schema: Schema| schema.fields().iter().map(|field| field.role).collect::<Vec<_>>();
    use Role::{Body, Mover, Plain, Touched, Velocity};
    assert_eq!(roles(Schema::of::<Player>()), [Mover, Body, Touched, Velocity, Body, Plain, Plain]);
    assert_eq!(
        roles(Schema::of::<Team>()),
        [Mover, Body, Touched, Velocity, Body, Plain, Plain, Touched]
    );
    assert_eq!(names::<Team>()[2..5], ["leader.pushed", "leader.velocity", "leader.place"]);
    assert_eq!(bits::<Player>(), [1, 2, 11, 11, 11, 1, 7, 7, 7, 18, 18, 18, 2, 9, 9, 9, 1]);
    let player = Player {
        alive: true,
        facing: [0.0, 0.0, 0.0, 1.0],
        pushed: false,
        velocity: [1.5, 0.0, -8.0],
        place: [-3.5, 0.25, 300.0],
        head: [1.0, 0.0, 0.0, 0.0],
        crouched: true,
    };
    let back = round_trip(&player);
    assert_eq!((back.alive, back.pushed, back.crouched), (true, false, true));
    assert_eq!((back.velocity, back.place), (player.velocity, [-3.5, 0.25, 256.0 - 1.0 / 512.0]));

    // A macro makes the struct, with an array whose length is a constant.
    macro_rules! body {
        ($vector:ty, $flag:ty) => {{
            #[derive(Pack)]
            struct Made {
                #[pack(body, range = 0.0..8.0, precision = 0.5)]
                _position: $vector,
                #[pack(body, rotation, bits = 4)]
                _orientation: [f32; 4],
                #[pack(mover)]
                _flag: $flag,
            }
            Schema::of::<Made>()
        }};
    }
    type Vector = [f32; 3];
    assert_eq!(roles(body!(Vector, bool)), [Body, Body, Mover]);
}

macro_rules! hash {
    ($($body:tt)*) => {{
        #[allow(dead_code)]
        #[derive(Pack)]
        struct Hashed { $($body)* }
        Schema::of::<Hashed>().hash()
    }};
}

#[test]
fn the_hash_tells_schemas_apart() {
    let reference = hash! { #[pack(range = 0.0..8.0, precision = 0.5)] x: f32, on: bool };
    assert_eq!(
        reference,
        hash! { #[pack(precision = 1.0 / 2.0, range = 0.0..8.0, clamp)] x: f64, on: bool }
    );
    assert_eq!(
        reference,
        hash! { #[pack(range = 0.0..8.0, bits = 4)] x: [f32; 1], #[pack(skip)] s: u8, on: bool }
    );
    let others = [
        reference,
        hash! { #[pack(range = 0.0..9.0, precision = 0.5)] x: f32, on: bool },
        hash! { #[pack(range = -1.0..8.0, precision = 0.5)] x: f32, on: bool },
        hash! { #[pack(range = 0.0..=8.0, precision = 0.5)] x: f32, on: bool },
        hash! { #[pack(range = 0.0..8.0, precision = 0.25)] x: f32, on: bool },
        hash! { #[pack(range = 0.0..8.0, precision = 0.5, wrap)] x: f32, on: bool },
        hash! { #[pack(range = 0.0..8.0, precision = 0.5, velocity)] x: f32, on: bool },
        hash! { #[pack(range = 0.0..8.0, precision = 0.5)] x: [f32; 2], on: bool },
        hash! { on: bool, #[pack(range = 0.0..8.0, precision = 0.5)] x: f32 },
        hash! { #[pack(range = 0.0..8.0, precision = 0.5)] y: f32, on: bool },
        hash! { #[pack(range = 0.0..8.0, precision = 0.5)] x: f32, on: Weapon },
        hash! { #[pack(range = 0.0..8.0, precision = 0.5)] x: f32 },
        hash! { #[pack(range = 0.0..8.0, precision = 0.5)] x: f32, #[pack(touched)] on: bool },
        hash! { #[pack(range = 0.0..8.0, precision = 0.5)] x: f32, #[pack(mover)] on: bool },
        hash! { #[pack(range = 0.0..8.0, bits = 4)] x: [f32; 3], #[pack(rotation, bits = 4)] q: [f32; 4] },
        hash! { #[pack(range = 0.0..8.0, bits = 4, body)] x: [f32; 3], #[pack(rotation, bits = 4, body)] q: [f32; 4] },
        hash! { x: f32, on: bool },
        hash! { #[pack(max = 15)] x: u8, on: bool },
        hash! { #[pack(max = 15, clock)] x: u8, on: bool },
        hash! { #[pack(with = Bytes)] x: [u8; 2], on: bool },
        hash! { #[pack(with = Bytes)] x: [u8; 3], on: bool },
        hash! { #[pack(with = BytesUpTo<3>)] x: Vec<u8>, on: bool },
        hash! { #[pack(max = 15, precision = 2)] x: u8, on: bool },
        hash! { #[pack(rotation, bits = 4)] x: [f32; 4], on: bool },
        hash! { #[pack(rotation, bits = 5)] x: [f32; 4], on: bool },
    ];
    for (index, hash) in others.iter().enumerate() {
        assert!(!others[..index].contains(hash), "schema {index}");
    }
}

#[test]
fn the_hash_is_frozen() {
    assert_eq!(Schema::of::<Cube>().hash(), 0xc124_6ddb_5f12_aca0);
}

const TICKS_PER_S: u32 = 60;

#[derive(Pack)]
#[pack(ticks_per_s = TICKS_PER_S)]
struct Moving<const N: usize> {
    #[pack(range = -8.0..8.0, precision = 0.125, time_precision_ms = 2)]
    position: [f32; N],
    #[pack(rotation, bits = 9, time_precision_ms = 1000.0 / 256.0, max_step = 1.0 / 32.0)]
    orientation: [f32; 4],
    health: u8,
    nested: Turning,
}

#[derive(Pack)]
#[pack(ticks_per_s = 30)]
struct Turning {
    #[pack(max_step = 0.5, range = -8.0..8.0, precision = 0.125, time_precision_ms = 4.0, velocity)]
    speed: f32,
}

#[test]
fn time_precision_is_in_the_schema_but_not_in_its_hash() {
    let schema = Schema::of::<Moving<3>>();
    let precisions: Vec<Option<TimePrecision>> =
        schema.fields().iter().map(|field| field.time_precision).collect();
    let expected = [
        Some(TimePrecision::new(2.0, 60.0)),
        Some(TimePrecision::new(3.90625, 60.0).with_max_step(0.03125)),
        None,
        Some(TimePrecision::new(4.0, 30.0).with_max_step(0.5)),
    ];
    assert_eq!(precisions, expected);
    let without = schema.clone().with_time_precision(|_| None);
    assert!(without != schema && without.hash() == schema.hash());
    assert!(without.fields().iter().all(|field| field.time_precision.is_none()));
}
