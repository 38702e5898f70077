//! Tests of fields that move with a velocity: which velocity belongs to which field, and the path.

use kinepack::{Between, Pack};

use super::{at, between};

/// A ball in flight. Its codes are exact in binary, so quantizing adds no error.
#[derive(Pack, Clone, Debug, PartialEq)]
pub(crate) struct Ball {
    #[pack(range = -4096.0..4096.0, precision = 1.0 / 1024.0)]
    position: [f32; 3],
    #[pack(rotation, bits = 9)]
    orientation: [f32; 4],
    #[pack(velocity, range = -64.0..64.0, precision = 1.0 / 1024.0)]
    linear: [f32; 3],
    #[pack(velocity, range = -64.0..64.0, precision = 1.0 / 1024.0)]
    angular: [f32; 3],
}

/// Returns a ball thrown with 20, 30 and 5 m/s under 10 m/s² of gravity, after `seconds`.
pub(crate) fn thrown(seconds: f64) -> Ball {
    let (t, orientation) = (seconds as f32, [0.0, 0.0, 0.0, 1.0]);
    let position = [20.0 * seconds, 30.0 * seconds - 5.0 * seconds * seconds, 5.0 * seconds]
        .map(|axis| axis as f32);
    Ball { position, orientation, linear: [20.0, 30.0 - 10.0 * t, 5.0], angular: [7.0, 8.0, 9.0] }
}

#[test]
fn a_cubic_of_positions_and_velocities_is_the_path_of_a_thrown_ball() {
    let (first, second) = (thrown(1.0), thrown(1.5));
    let distance = |ball: &Ball, ratio: f32| {
        let exact = thrown(1.0 + 0.5 * f64::from(ratio)).position;
        (0..3).map(|axis| (ball.position[axis] - exact[axis]).abs()).fold(0.0, f32::max)
    };
    let mut worst = [0.0f32; 2];
    for step in 0..=1000 {
        let ratio = step as f32 / 1000.0;
        let curve = between(&first, &second, Between { ratio, seconds: 0.5 });
        assert!(
            (curve.linear[1] - (20.0 - 5.0 * ratio)).abs() < 1e-5
                && curve.angular == [7.0, 8.0, 9.0]
        );
        worst[0] = worst[0].max(distance(&curve, ratio));
        worst[1] = worst[1].max(distance(&between(&first, &second, at(ratio)), ratio));
        // From the later to the earlier state, with a negative time, the path is the same.
        let back = between(&second, &first, Between { ratio: 1.0 - ratio, seconds: -0.5 });
        assert!((0..3).all(|axis| (back.position[axis] - curve.position[axis]).abs() < 1e-5));
    }
    assert!(
        worst[0] <= 32.0 * f32::EPSILON,
        "a unit in the last place of `f32` at 32 m: {worst:?}"
    );
    assert!(worst[1] > 0.3, "the line cuts 31 cm off: {worst:?}");
}

#[derive(Pack, Clone, Debug, Default, PartialEq)]
struct Owners {
    #[pack(velocity, range = -8.0..=8.0, precision = 0.5)]
    first: f64,
    #[pack(range = -1.0..=1.0, precision = 0.5)]
    bounded: f64,
    raw: f64,
    #[pack(velocity = bounded, range = -8.0..=8.0, precision = 0.5)]
    named: f64,
    #[pack(velocity, range = -8.0..=8.0, precision = 0.5)]
    before: f64,
    #[pack(velocity, range = -8.0..=8.0, precision = 0.5)]
    second: f64,
    #[pack(velocity, range = -8.0..=8.0, precision = 0.5)]
    none: f32,
    #[pack(step)]
    stepping: f32,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Tuple(#[pack(velocity = 1, range = -8.0..=8.0, precision = 0.5)] f32, f32, f32);

#[test]
fn a_velocity_is_that_of_the_field_it_names_or_of_the_nearest_that_is_free() {
    let half = Between { ratio: 0.5, seconds: 1.0 };
    let state = |owners: Owners| between(&owners, &Owners::default(), half);
    // A cubic that starts with 8 per second and ends at rest moves by an eighth of 8 at half time.
    assert_eq!(state(Owners { before: 8.0, ..Owners::default() }).raw, 1.0);
    let named = state(Owners { named: 8.0, ..Owners::default() });
    assert_eq!((named.bounded, named.named), (1.0, 4.0));
    for others in [
        Owners { first: 8.0, ..Owners::default() },
        Owners { second: 8.0, ..Owners::default() },
        Owners { none: 8.0, ..Owners::default() },
    ] {
        let there = state(others);
        assert_eq!((there.bounded, there.raw, there.stepping), (0.0, 0.0, 0.0));
    }
    assert_eq!(between(&Tuple(8.0, 0.0, 0.0), &Tuple(0.0, 0.0, 0.0), half), Tuple(4.0, 1.0, 0.0));

    // With limits, the result stays within them. Without limits, the result is always finite.
    let far = between(
        &Owners { named: 8.0, ..Owners::default() },
        &Owners::default(),
        Between { seconds: 99.0, ..half },
    );
    assert_eq!(far.bounded, 1.0);
    let huge = Tuple(8.0, f32::MAX, 0.0);
    let there = between(&huge, &Tuple(-8.0, f32::MAX, 0.0), Between { seconds: f32::MAX, ..half });
    assert_eq!(there.1, f32::MAX);
    let there = between(&Tuple(8.0, f32::NAN, 0.0), &huge, half);
    assert!(there.1.is_nan());
}
