//! Tests of tuples and durations.

use core::time::Duration;

use kinepack::schema::Components;
use kinepack::{EncodeError, Pack};
use proptest::prelude::*;

use super::{ALWAYS, Gear, between, bits, error, expected, round_trip, summary};
use crate::runner::for_all;

#[test]
fn tuples_are_coded_part_by_part() {
    type Pair = (u8, (bool, Option<f32>));
    #[rustfmt::skip]
    assert_eq!(summary::<Pair>(), expected(&[
        ("0", "", ALWAYS), ("1.0", "", ALWAYS), ("1.1?", "", ALWAYS), ("1.1", "1.1?", 1..=1),
    ]));
    assert_eq!(round_trip(&(3, (true, Some(0.1)))), (3, (true, Some(0.1))));
    assert_eq!(between(&(0.0f32, 1u8), &(1.0, 2), 0.5), (0.5, 1));
    let eight = (1u8, 2u16, 3u32, 4u64, 5i8, 6i16, 7i32, 8i64);
    assert_eq!(round_trip(&eight), eight);
    assert_eq!(round_trip(&(0.5f64,)), (0.5,));

    #[derive(Pack, Clone, Debug, PartialEq)]
    struct Pairs {
        pairs: [(u8, bool); 2],
        best: Option<(u8, Gear)>,
    }
    let pairs = Pairs { pairs: [(1, true), (2, false)], best: Some((3, Gear::Forward)) };
    assert_eq!(round_trip(&pairs), pairs);
    assert_eq!(summary::<Pairs>()[1].0, "pairs[0].1");
    assert_eq!(summary::<Pairs>()[6], ("best.1".into(), Some(("best?".into(), 1..=1))));
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Timer {
    #[pack(range = 0.0..=10.0, precision = 0.001)]
    left: Duration,
    exact: Duration,
    #[pack(range = 0..=60, precision = 1, clamp)]
    limit: Option<Duration>,
}

#[test]
fn durations_are_seconds_within_limits_and_nanoseconds_without() {
    assert_eq!(bits::<Timer>(), [14, 32, 32, 1, 6]);
    let timer = Timer {
        left: Duration::from_millis(2500),
        exact: Duration::from_nanos(u64::MAX),
        limit: Some(Duration::from_secs(7)),
    };
    assert_eq!(round_trip(&timer), timer);
    let mut raw = [0; Timer::LANES];
    timer.store_raw(&mut raw).unwrap();
    assert_eq!(raw, [2.5f64.to_bits(), u64::MAX, 0, 1, 7.0f64.to_bits()]);
    let clamped = Timer { limit: Some(Duration::MAX), ..timer.clone() };
    assert_eq!(round_trip(&clamped).limit, Some(Duration::from_secs(60)));
    let out = |field, value| EncodeError::OutOfRange { id: None, field, value };
    let late = Timer { left: Duration::from_secs(11), ..timer.clone() };
    assert_eq!(error(&late), out("left", 11.0));
    let too_long = Duration::from_nanos(u64::MAX) + Duration::from_nanos(1);
    let error_of = |exact| error(&Timer { exact, ..timer.clone() });
    assert_eq!(error_of(too_long), out("exact", too_long.as_secs_f64()));
    assert_eq!(error_of(Duration::MAX), out("exact", Duration::MAX.as_secs_f64()));
    assert_eq!(error(&too_long), out("", too_long.as_secs_f64()));
    assert!(too_long.store_raw(&mut [0; 2]).is_err());
}

#[test]
fn durations_are_interpolated_on_a_line() {
    let [short, long] = [Duration::from_nanos(3), Duration::from_nanos(u64::MAX)];
    assert_eq!(between(&short, &Duration::from_nanos(7), 0.5), Duration::from_nanos(5));
    assert_eq!(between(&Duration::from_nanos(7), &short, 0.25), Duration::from_nanos(6));
    assert_eq!((between(&short, &long, 0.0), between(&short, &long, 1.0)), (short, long));
    let near = Duration::from_nanos(u64::MAX - 4);
    assert_eq!(between(&long, &near, 0.5), Duration::from_nanos(u64::MAX - 2));
    for_all(2000, (any::<u64>(), any::<u64>(), 0.0f32..=1.0), |(from, to, ratio)| {
        let [first, second] = [from, to].map(Duration::from_nanos);
        let value = between(&first, &second, ratio);
        assert!(first.min(second) <= value && value <= first.max(second));
        let expected = from as f64 * (1.0 - f64::from(ratio)) + to as f64 * f64::from(ratio);
        assert!((value.as_nanos() as f64 - expected).abs() < 1e6);
    });
}

#[test]
fn no_components_make_a_panic_of_a_duration() {
    let of = |seconds| Duration::from_components([seconds]);
    for zero in [-1.0, -0.0, 0.0, f64::NAN, f64::NEG_INFINITY, -f64::MIN_POSITIVE] {
        assert_eq!(of(zero), Duration::ZERO);
    }
    assert_eq!((of(1e300), of(f64::INFINITY)), (Duration::MAX, Duration::MAX));
    assert_eq!(of(1.5), Duration::from_millis(1500));
}
