//! `Pack::displace`: states that are moved by a share of the way between two others.

use kinepack::schema::Share;
use kinepack::{ArrayVec, Pack};

#[derive(Pack, Clone, Debug, PartialEq)]
struct Unit {
    #[pack(range = -64.0..=64.0, precision = 1.0 / 64.0)]
    position: [f32; 3],
    #[pack(velocity, range = -64.0..=64.0, precision = 1.0 / 64.0)]
    velocity: [f32; 3],
    #[pack(rotation, bits = 12)]
    rotation: [f32; 4],
    #[pack(range = 0.0..360.0, bits = 16, wrap)]
    heading_degrees: f32,
    #[pack(range = 0.0..=1.0, precision = 0.01)]
    aim: Option<f32>,
    health: u8,
    hands: (f32, [f64; 2], bool),
    tail: ArrayVec<f32, 4>,
    #[pack(range = 0.0..=8.0, precision = 0.5, step)]
    stage: f32,
    weapon: Weapon,
}

#[derive(Pack, Clone, Debug, PartialEq)]
enum Weapon {
    Sword,
    Bow {
        #[pack(range = 0.0..=1.0, precision = 0.01)]
        tension: f32,
        arrows: u8,
    },
}

/// A rotation around z.
fn turned(degrees: f32) -> [f32; 4] {
    let half = degrees.to_radians() / 2.0;
    [0.0, 0.0, half.sin(), half.cos()]
}

fn unit(at: f32) -> Unit {
    Unit {
        position: [at, -at, 2.0 * at],
        velocity: [at; 3],
        rotation: turned(10.0 * at),
        heading_degrees: (350.0 + at).rem_euclid(360.0),
        aim: Some(at / 10.0),
        health: at as u8,
        hands: (at, [f64::from(at), 0.0], at > 3.0),
        tail: (0..at.min(4.0) as usize).map(|index| at + index as f32).collect(),
        stage: at,
        weapon: Weapon::Bow { tension: at / 20.0, arrows: at as u8 },
    }
}

#[test]
fn what_is_blended_moves() {
    let (from, to) = (unit(2.0), unit(4.0));
    let mut now = unit(1.0);
    now.displace(&from, &to, Share::of(0.5));
    assert_eq!((now.position, now.velocity), ([2.0, -2.0, 4.0], [1.0; 3]));
    assert!((now.rotation[2] - turned(20.0)[2]).abs() < 1e-6, "{:?}", now.rotation);
    assert!((now.heading_degrees - 352.0).abs() < 1e-3);
    assert!((now.aim.unwrap_or(9.0) - 0.2).abs() < 1e-6);
    assert_eq!((now.health, now.hands, now.stage), (1, (2.0, [2.0, 0.0], false), 1.0));
    assert_eq!(now.tail.as_slice(), [2.0]);
    assert!(
        matches!(now.weapon, Weapon::Bow { tension, arrows: 1 } if (tension - 0.1).abs() < 1e-6)
    );
}

#[test]
fn positions_and_rotations_move_by_ratios_of_their_own() {
    let (from, to) = (unit(2.0), unit(4.0));
    let mut now = unit(1.0);
    now.displace(&from, &to, Share { position_ratio: 0.5, rotation_ratio: 0.0 });
    assert_eq!((now.position, now.hands.0), ([2.0, -2.0, 4.0], 2.0));
    assert!((now.rotation[2] - turned(10.0)[2]).abs() < 1e-6, "{:?}", now.rotation);
    assert_eq!(now.heading_degrees, 351.0);
    let mut now = unit(1.0);
    now.displace(&from, &to, Share { position_ratio: 0.0, rotation_ratio: 0.5 });
    assert_eq!((now.position, now.hands.0), ([1.0, -1.0, 2.0], 1.0));
    assert!((now.rotation[2] - turned(20.0)[2]).abs() < 1e-6, "{:?}", now.rotation);
    assert!((now.heading_degrees - 352.0).abs() < 1e-3);
}

#[test]
fn ways_add_up_to_nothing() {
    let (from, to) = (unit(2.0), unit(4.0));
    for ratio in [-3.0, -0.3, 0.0, 0.7, 2.0] {
        let mut now = unit(3.0);
        now.displace(&from, &to, Share::of(ratio));
        now.displace(&to, &from, Share::of(ratio));
        let expected = unit(3.0);
        let axes = now.position.iter().zip(expected.position);
        assert!(axes.clone().all(|(now, expected)| (now - expected).abs() < 1e-4), "{now:?}");
        let turns = now.rotation.iter().zip(expected.rotation);
        assert!(turns.clone().all(|(now, expected)| (now - expected).abs() < 1e-5), "{now:?}");
        let turn = (now.heading_degrees - expected.heading_degrees + 180.0).rem_euclid(360.0);
        assert!((turn - 180.0).abs() < 1e-3, "{now:?}");
    }
}

#[test]
fn the_result_stays_within_limits() {
    let (from, to) = (unit(1.0), unit(5.0));
    for ratio in [-1e30, -1e3, 1e3, 1e30] {
        let mut now = unit(3.0);
        now.displace(&from, &to, Share::of(ratio));
        let mut lanes = [0; Unit::LANES];
        assert_eq!(now.quantize(&mut lanes), Ok(()), "{now:?}");
        assert!((0.0..360.0).contains(&now.heading_degrees));
    }
    // Turns the short way round: from 1° to 359° are two degrees back.
    let mut now = Unit { heading_degrees: 1.0, ..unit(3.0) };
    let [from, to] = [1.0, 359.0].map(|heading_degrees| Unit { heading_degrees, ..unit(3.0) });
    now.displace(&from, &to, Share::of(1.0));
    assert!((now.heading_degrees - 359.0).abs() < 1e-3);
}

#[test]
fn absent_parts_stay() {
    let mut now = unit(1.0);
    let from = Unit { aim: None, weapon: Weapon::Sword, ..unit(2.0) };
    now.displace(&from, &unit(4.0), Share::of(0.5));
    assert_eq!((now.aim, &now.weapon), (Some(0.1), &unit(1.0).weapon));
    let mut sword = Weapon::Sword;
    sword.displace(&Weapon::Sword, &Weapon::Sword, Share::of(1.0));
    assert_eq!(sword, Weapon::Sword);
    // Without a direction, a rotation does not turn.
    let none = Unit { rotation: [0.0; 4], ..unit(2.0) };
    let mut now = unit(1.0);
    now.displace(&none, &unit(4.0), Share::of(0.5));
    assert_eq!(now.rotation, unit(1.0).rotation);
}
