//! Strategies for limits of numbers, for property tests.

#![allow(clippy::unwrap_used)]

use kinepack::quantize::{FloatLimits, IntegerLimits};
use proptest::prelude::*;

/// Makes limits from ends, a number of steps and a form; `None` if these do not fit together.
pub(crate) fn float_limits(ends: [f64; 2], steps: f64, form: u8) -> Option<FloatLimits> {
    let [min, max] = if ends[0] <= ends[1] { ends } else { [ends[1], ends[0]] };
    let step = if max > min { (max - min) / steps } else { 1.0 };
    let bits = 1 + steps.log2() as u32;
    match form % 5 {
        0 => FloatLimits::new(min, max, step),
        1 => FloatLimits::with_bits(min, max, bits),
        2 => FloatLimits::until(min, max, step),
        3 => FloatLimits::until_with_bits(min, max, bits),
        _ => FloatLimits::new(min, max, step.log2().exp2().max(step)),
    }
    .ok()
}

/// Makes ends of all magnitudes, in any order.
pub(crate) fn any_ends() -> impl Strategy<Value = [f64; 2]> {
    let end = prop_oneof![-1000.0f64..1000.0, -1.0f64..1.0, -1e12f64..1e12];
    [end.clone(), end]
}

/// Makes numbers of steps from 1 to 2³², of all magnitudes equally often.
pub(crate) fn any_steps() -> impl Strategy<Value = f64> {
    (0.0f64..32.0).prop_map(f64::exp2)
}

/// Makes integer limits of all widths up to 64 bits, within `i64` or within `u64`.
pub(crate) fn integer_limits() -> impl Strategy<Value = IntegerLimits> {
    let ends = prop_oneof![
        (any::<i64>(), any::<i64>()).prop_map(|(a, b)| [i128::from(a), i128::from(b)]),
        (any::<u64>(), any::<u64>()).prop_map(|(a, b)| [i128::from(a), i128::from(b)]),
        (-1000i128..1000, -1000i128..1000).prop_map(|(a, b)| [a, b]),
        Just([i128::from(i64::MIN), i128::from(i64::MAX)]),
        Just([0, i128::from(u64::MAX)]),
        any::<i64>().prop_map(|a| [i128::from(a); 2]),
    ];
    let step = prop_oneof![Just(1u64), 1u64..100, any::<u64>()];
    (ends, step).prop_map(|(ends, step)| {
        let [min, max] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        let span = (max - min) as u64;
        IntegerLimits::new(min, max, if span == 0 { step.max(1) } else { step.clamp(1, span) })
            .unwrap()
    })
}
