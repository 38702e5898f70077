//! Tests the properties of every stage over generated input. The generator has a fixed seed, so the
//! input is the same in every run.

mod cursors;

use core::fmt::Debug;

use kinepack::bits::{BitReader, BitSink, BitWriter};
use kinepack::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use kinepack::value::{
    Difference, Limits, read_difference, read_if_changed, write_difference, write_if_changed,
};
use kinepack::{Codec, EncodeError, Level, SetupError};
use proptest::prelude::*;

use crate::limits::{any_ends, any_steps, float_limits, integer_limits};
use crate::runner::for_all;
use crate::support::{Subject, frames, profiles, schema, views};

/// Makes ends that `f32` holds exactly, of all magnitudes, on both sides of zero; now and then both
/// are equal.
fn ends_of_f32() -> impl Strategy<Value = [f64; 2]> {
    let end = prop_oneof![
        -1000.0f32..1000.0,
        (-100i16..100).prop_map(f32::from),
        -1e-3f32..1e-3,
        -1e30f32..1e30,
        Just(0.0f32),
        Just(-0.0f32),
    ];
    let two = [end.clone(), end.clone()].prop_map(|ends| ends.map(f64::from));
    prop_oneof![9 => two, 1 => end.prop_map(|end| [f64::from(end); 2])]
}

/// Returns the error that `f64` arithmetic adds to half a step.
fn rounding(limits: &FloatLimits, value: f64) -> f64 {
    let largest = limits.min().abs().max(limits.max().abs()).max(value.abs());
    limits.step() * 1e-9 + 8.0 * f64::EPSILON * largest
}

#[test]
fn a_number_comes_back_within_half_a_step() {
    for_all(4000, (any_ends(), any_steps(), 0u8..5, 0.0f64..=1.0), |(ends, steps, form, share)| {
        let Some(limits) = float_limits(ends, steps, form) else { return };
        let value = (limits.min() + share * (limits.max() - limits.min()))
            .clamp(limits.min(), limits.max());
        let back = limits.reconstruct(limits.quantize(value).unwrap());
        let error = (back - value).abs();
        assert!(
            error <= limits.step() / 2.0 + rounding(&limits, value),
            "{limits:?} {value} {back}"
        );
        assert!(limits.min() <= back && back <= limits.max());
        // The conversion to `f32` loses no more than the precision of `f32`.
        let error = (f64::from(back as f32) - value).abs();
        let spacing = 2f64.powi(-24) * back.abs().max(f64::from(f32::MIN_POSITIVE));
        assert!(
            error <= limits.step() / 2.0 + rounding(&limits, value) + spacing,
            "{limits:?} {value} {back}"
        );
    });
}

#[test]
fn other_steps_keep_the_range() {
    // The ranges have decimals, as users write them. A range that excludes its end does not store
    // the end, so the limits must find it again.
    let decimals = (-5000i32..5000, 1i32..10_000, 0i32..4).prop_map(|(min, length, digits)| {
        let scale = 10f64.powi(digits);
        [f64::from(min) / scale, f64::from(min + length) / scale]
    });
    for_all(4000, (decimals, any_steps(), any_steps()), |([min, max], steps, others)| {
        let [step, other] = [steps, others].map(|steps| (max - min) / steps);
        let closed = FloatLimits::new(min, max, step).unwrap();
        assert_eq!(closed.with_step(other), FloatLimits::new(min, max, other));
        if let Ok(open) = FloatLimits::until(min, max, step) {
            assert_eq!(open.with_step(other), FloatLimits::until(min, max, other));
            let angle = open.wrapping().with_step(other);
            if let Ok(angle) = angle {
                let length = angle.step() * (f64::from(angle.max_code()) + 1.0);
                assert!(
                    angle.wraps()
                        && angle.step() <= other * (1.0 + 1e-9)
                        && angle.step() > 0.49 * other
                );
                assert!((length - (max - min)).abs() < 1e-6 * (max - min), "{angle:?}");
            }
        }
        if let Ok(single) = closed.for_f32() {
            assert_eq!(
                single.with_step(other),
                closed.with_step(other).and_then(FloatLimits::for_f32)
            );
        }
    });
    let turn = FloatLimits::until(0.0, core::f64::consts::TAU, 0.001).unwrap();
    assert_eq!(turn.with_step(0.1), FloatLimits::until(0.0, core::f64::consts::TAU, 0.1));
}

#[test]
fn both_ends_of_a_range_are_values_of_it() {
    for_all(2000, (any_ends(), any_steps(), 0u8..5), |(ends, steps, form)| {
        let Some(limits) = float_limits(ends, steps, form) else { return };
        assert_eq!(limits.quantize(limits.min()), Ok(0));
        assert_eq!(limits.reconstruct(0), limits.min());
        let last = limits.quantize(limits.max()).unwrap();
        assert!(
            (limits.reconstruct(last) - limits.max()).abs()
                <= limits.step() / 2.0 + rounding(&limits, 0.0)
        );
        assert!(last <= limits.max_code() && u64::from(limits.max_code()) < 1 << limits.bits());
        // A code that readers refuse gives the largest value.
        assert_eq!(limits.reconstruct(u32::MAX), limits.reconstruct(limits.max_code()));
    });
}

#[test]
fn a_value_halfway_between_two_steps_takes_the_upper_one() {
    // Steps are powers of two, so their halves are exact.
    for_all(
        2000,
        (-100i32..100, 1u32..1000, -10i32..10, any::<u32>()),
        |(min, codes, exponent, code)| {
            let step = 2f64.powi(exponent);
            let min = f64::from(min) * step / 4.0;
            let limits = FloatLimits::new(min, min + f64::from(codes) * step, step).unwrap();
            assert_eq!(limits.max_code(), codes);
            let code = code % codes;
            let border = min + (f64::from(code) + 0.5) * step;
            assert_eq!(limits.quantize(border), Ok(code + 1));
            assert_eq!(limits.quantize(border - step * 1e-6), Ok(code));
            assert_eq!((limits.reconstruct(code + 1) - border).abs(), step / 2.0);
        },
    );
}

#[test]
fn a_reconstructed_number_quantizes_to_the_same_code() {
    for_all(4000, (any_ends(), any_steps(), 0u8..5, any::<u32>()), |(ends, steps, form, code)| {
        let Some(limits) = float_limits(ends, steps, form) else { return };
        if limits.step() < 1e-12 * limits.min().abs().max(limits.max().abs()) {
            return;
        }
        for code in
            [code.min(limits.max_code()), code % (limits.max_code().max(1)), 0, limits.max_code()]
        {
            assert_eq!(limits.quantize(limits.reconstruct(code)), Ok(code), "{limits:?}");
        }
    });
}

#[test]
fn a_number_reconstructed_as_f32_quantizes_to_the_same_code() {
    for_all(4000, (ends_of_f32(), any_steps(), any::<u32>()), |(ends, steps, code)| {
        let Some(limits) = float_limits(ends, steps, 0).and_then(|limits| limits.for_f32().ok())
        else {
            return;
        };
        for code in [code % (limits.max_code().max(1)), 0, limits.max_code()] {
            let single = limits.reconstruct(code) as f32;
            assert_eq!(limits.quantize(f64::from(single)), Ok(code), "{limits:?}");
        }
    });
}

/// The same holds for ends that `f32` does not hold exactly. The last value of 0 to 100 in steps of
/// 0.1 is 99.9, and the nearest `f32` is above 99.9.
#[test]
fn the_ends_of_a_range_reconstructed_as_f32_are_values_of_it() {
    let hundred = FloatLimits::until(0.0, 100.0, 0.1).unwrap().for_f32().unwrap();
    let last = hundred.reconstruct(hundred.max_code()) as f32;
    assert_eq!(hundred.quantize(f64::from(last)), Ok(999));
    for_all(4000, (any_ends(), any_steps(), 0u8..5), |(ends, steps, form)| {
        let Some(limits) = float_limits(ends, steps, form).and_then(|limits| limits.for_f32().ok())
        else {
            return;
        };
        for code in [0, limits.max_code()] {
            let single = limits.reconstruct(code) as f32;
            assert_eq!(limits.quantize(f64::from(single)), Ok(code), "{limits:?}");
        }
    });
}

#[test]
fn limits_beyond_the_range_of_f32_are_refused_for_f32() {
    let huge = FloatLimits::new(0.0, 1e39, 1e37).unwrap();
    assert_eq!(huge.for_f32(), Err(SetupError::FinerThanFloat));
}

#[test]
fn numbers_out_of_range_are_clamped_or_refused() {
    for_all(
        2000,
        (any_ends(), any_steps(), 0u8..5, 1e-9f64..1e9),
        |(ends, steps, form, beyond)| {
            let Some(limits) = float_limits(ends, steps, form) else { return };
            let beyond = beyond.max(1e-3 * limits.max().abs().max(limits.min().abs()));
            // A range that excludes its end holds values up to half a step above its last value.
            let open = if matches!(form, 2 | 3) { limits.step() / 2.0 } else { 0.0 };
            for (value, code) in
                [(limits.min() - beyond, 0), (limits.max() + open + beyond, limits.max_code())]
            {
                let single = value as f32;
                assert_eq!(
                    limits.quantize(value),
                    Err(EncodeError::OutOfRange { id: None, field: "", value }),
                    "{single}"
                );
                assert_eq!(limits.quantize_clamped(value), Ok(code));
            }
            assert_eq!(limits.quantize_clamped(f64::INFINITY), Ok(limits.max_code()));
            assert_eq!(limits.quantize_clamped(f64::NEG_INFINITY), Ok(0));
            assert_eq!(
                limits.quantize(f64::NAN),
                Err(EncodeError::NotANumber { id: None, field: "" })
            );
            assert_eq!(
                limits.quantize_clamped(f64::NAN),
                Err(EncodeError::NotANumber { id: None, field: "" })
            );
            let around = limits.wrapping();
            for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                assert_eq!(
                    around.quantize(value),
                    Err(EncodeError::NotANumber { id: None, field: "" })
                );
            }
        },
    );
}

#[test]
fn a_number_that_wraps_comes_back_within_half_a_step_of_some_turn() {
    let value = prop_oneof![-1000.0f64..1000.0, -1e9f64..1e9, -1.0f64..1.0];
    let inputs = (-1000.0f64..1000.0, 1e-3f64..1000.0, 1u32..100_000, value, any::<u32>());
    for_all(4000, inputs, |(min, width, codes, value, code)| {
        let limits = FloatLimits::until(min, min + width, width / f64::from(codes))
            .map(FloatLimits::wrapping);
        let Ok(limits) = limits else { return };
        let period = limits.step() * (f64::from(limits.max_code()) + 1.0);
        let code_of_value = limits.quantize(value).unwrap();
        assert!(code_of_value <= limits.max_code());
        let apart = (limits.reconstruct(code_of_value) - value).rem_euclid(period);
        let error = apart.min(period - apart);
        let slack = 8.0 * f64::EPSILON * (value.abs() + min.abs() + width) + limits.step() * 1e-6;
        assert!(error <= limits.step() / 2.0 + slack, "{limits:?} {value} {code_of_value}");
        for code in [code % (limits.max_code() + 1), 0, limits.max_code()] {
            let back = limits.reconstruct(code);
            assert_eq!(limits.quantize(back), Ok(code));
            for turns in [-3.0, -1.0, 1.0, 2.0] {
                assert_eq!(
                    limits.quantize(back + turns * period),
                    Ok(code),
                    "{limits:?} {back} {turns}"
                );
            }
        }
    });
}

#[test]
fn the_largest_and_smallest_numbers_that_wrap_have_a_code() {
    let limits = FloatLimits::until(-180.0, 180.0, 0.1).unwrap().wrapping();
    for value in
        [f64::MAX, f64::MIN, 1e300, -1e300, f64::MIN_POSITIVE, -f64::MIN_POSITIVE, 5e-324, -5e-324]
    {
        assert!(limits.quantize(value).unwrap() <= limits.max_code(), "{value}");
    }
    for value in [f64::MIN_POSITIVE, -f64::MIN_POSITIVE, 0.0, -0.0, 360.0, -360.0, 179.95 * 2.0] {
        assert!([1800, 1799, 1800].contains(&limits.quantize(value).unwrap()), "{value}");
    }
}

#[test]
fn an_integer_comes_back_within_half_a_step() {
    for_all(4000, (integer_limits(), any::<u64>()), |(limits, offset)| {
        let span = (limits.max() - limits.min()) as u64;
        let offset = if span == u64::MAX { offset } else { offset % (span + 1) };
        for value in [limits.min() + i128::from(offset), limits.min(), limits.max()] {
            let code = limits.quantize(value).unwrap();
            let back = limits.reconstruct(code);
            assert!(code <= limits.max_code());
            assert!(limits.min() <= back && back <= limits.max());
            assert!(
                2 * (back - value).unsigned_abs() <= u128::from(limits.step()),
                "{limits:?} {value} {back}"
            );
            assert_eq!(limits.quantize(back), Ok(code), "{limits:?} {back}");
        }
        for code in [offset.min(limits.max_code()), 0, limits.max_code()] {
            assert_eq!(limits.quantize(limits.reconstruct(code)), Ok(code), "{limits:?}");
        }
        for (value, code) in
            [(limits.min() - 1, 0), (limits.max() + 1, limits.quantize(limits.max()).unwrap())]
        {
            let refusal = EncodeError::OutOfRange { id: None, field: "", value: value as f64 };
            assert_eq!(limits.quantize(value), Err(refusal));
            assert_eq!(limits.quantize_clamped(value), code);
        }
    });
}

#[test]
fn a_range_of_no_width_takes_no_bits() {
    for_all(500, (any_ends(), any::<i64>(), any::<u64>()), |(ends, integer, step)| {
        let point = FloatLimits::new(ends[0], ends[0], 0.5).unwrap();
        assert_eq!((point.bits(), point.quantize(ends[0])), (0, Ok(0)));
        let number =
            IntegerLimits::new(i128::from(integer), i128::from(integer), step.max(1)).unwrap();
        assert_eq!((number.bits(), number.quantize(integer)), (0, Ok(0)));
        let mut bytes = Vec::new();
        let mut writer = BitWriter::append(&mut bytes);
        point.write_code(&mut writer, 0);
        number.write_code(&mut writer, 0);
        assert_eq!(writer.finish(), Ok(0));
        let mut reader = BitReader::new(&bytes);
        assert_eq!(point.read_code(&mut reader).map(|code| point.reconstruct(code)), Ok(ends[0]));
        assert_eq!(
            number.read_code(&mut reader).map(|code| number.reconstruct(code)),
            Ok(i128::from(integer))
        );
    });
}

fn angle_deg(a: [f32; 4], b: [f32; 4]) -> f64 {
    let unit = |q: [f32; 4]| {
        let q = q.map(f64::from);
        let length = q.iter().map(|c| c * c).sum::<f64>().sqrt();
        q.map(|c| c / length)
    };
    let [a, b] = [unit(a), unit(b)];
    let chord =
        |sign: f64| a.iter().zip(b).map(|(a, b)| (a - sign * b).powi(2)).sum::<f64>().sqrt();
    (4.0 * (chord(1.0).min(chord(-1.0)) / 2.0).min(1.0).asin()).to_degrees()
}

fn any_rotation() -> impl Strategy<Value = [f32; 4]> {
    let component =
        prop_oneof![4 => -1.0f32..1.0, 1 => Just(0.0f32), 1 => Just(1.0f32), 1 => Just(-1.0f32)];
    // Two, three or four components are almost equal, so which one is dropped depends on tiny
    // differences.
    let tie = (any::<[bool; 4]>(), prop::array::uniform4(-1e-3f32..1e-3), 0usize..3).prop_map(
        |(signs, off, zeros)| {
            let ones: [f32; 4] =
                core::array::from_fn(|axis| if axis < zeros { 0.0 } else { 1.0 + off[axis] });
            core::array::from_fn(|axis| if signs[axis] { -ones[axis] } else { ones[axis] })
        },
    );
    let length = prop_oneof![Just(1.0f32), 1e-12f32..1e-3, 1.0f32..1e12];
    let direction =
        prop_oneof![[component.clone(), component.clone(), component.clone(), component], tie];
    (direction, length)
        .prop_map(|(q, length)| q.map(|c| c * length))
        .prop_filter("no direction", |q| q.iter().any(|c| c.abs() > 1e-18))
}

#[test]
fn a_rotation_comes_back_within_the_documented_angle() {
    for_all(4000, (any_rotation(), 2u32..=20), |(q, bits)| {
        let rotation = SmallestThree::new(bits).unwrap();
        let codes = rotation.quantize(q).unwrap();
        assert!(codes[0] < 4 && codes[1..].iter().all(|code| *code <= rotation.max_code()));
        assert_eq!(
            rotation.quantize(q.map(|c| -c)),
            Ok(codes),
            "the negative is the same rotation"
        );
        let back = rotation.reconstruct(codes);
        let length: f32 = back.iter().map(|c| c * c).sum();
        assert!((length - 1.0).abs() < 1e-6);
        let deg = angle_deg(q, back);
        assert!(deg <= rotation.max_error_deg(), "{bits} bits, {q:?}: {deg} degrees");
    });
}

/// Writes `value` against `baseline` in both forms, and checks that the same code is read from
/// each.
fn comes_back<L>(limits: &L, near: &Difference, baseline: L::Value, value: L::Value)
where
    L: Limits,
    L::Value: Debug + PartialEq,
{
    let mut bytes = Vec::new();
    let mut writer = BitWriter::append(&mut bytes);
    write_if_changed(&mut writer, limits, baseline, value).unwrap();
    write_difference(&mut writer, limits, near, baseline, value).unwrap();
    writer.finish().unwrap();
    let mut reader = BitReader::new(&bytes);
    let reads = [
        read_if_changed(&mut reader, limits),
        read_difference(&mut reader, limits, near, baseline),
    ];
    reader.finish().unwrap();
    let [base, code] = [baseline, value].map(|value| limits.code_of(value).unwrap());
    let expected = if code == base { None } else { Some(limits.value_of(code)) };
    assert_eq!(reads, [Ok(expected), Ok(expected)], "{baseline:?} to {value:?}");
}

#[test]
fn values_against_a_baseline_come_back() {
    let near =
        [-300i64..300, -300i64..300].prop_map(|ends| [ends[0].min(ends[1]), ends[0].max(ends[1])]);
    let floats =
        (ends_of_f32(), any_steps(), any::<bool>(), [0.0f64..=1.0, 0.0f64..=1.0], near.clone());
    for_all(2000, floats, |(ends, steps, wraps, shares, near)| {
        let Some(limits) = float_limits(ends, steps, 0).and_then(|limits| limits.for_f32().ok())
        else {
            return;
        };
        let near = Difference::from_steps(near[0], near[1]).unwrap();
        let [min, max] = [limits.min(), limits.max()];
        let [baseline, far] =
            shares.map(|share| (min + share * (max - min)).clamp(min, max) as f32);
        let close = (f64::from(baseline) + limits.step() * 3.2).clamp(min, max) as f32;
        let limits = if wraps { limits.wrapping() } else { limits };
        for value in [far, close, baseline, min as f32, max as f32] {
            comes_back(&limits, &near, baseline, value);
            comes_back(&limits, &near, value, baseline);
        }
    });
    for_all(
        2000,
        (integer_limits(), any::<u64>(), any::<u64>(), near),
        |(limits, first, second, near)| {
            let near = Difference::from_steps(near[0], near[1]).unwrap();
            let value = |code: u64| {
                limits.reconstruct(if limits.max_code() == 0 {
                    0
                } else {
                    code % limits.max_code()
                })
            };
            let [baseline, far, close] =
                [value(first), value(second), value(first).saturating_add(2)];
            let close = close.min(limits.max());
            for value in [far, close, baseline, limits.min(), limits.max()] {
                comes_back(&limits, &near, baseline, value);
                comes_back(&limits, &near, value, baseline);
            }
        },
    );
}

/// The baseline is the last value of a range whose end is not exact in `f32`. Both sides hold the
/// reconstructed value.
#[test]
fn a_reconstructed_value_is_a_baseline_for_the_next() {
    let limits = FloatLimits::until(0.0, 100.0, 0.1).unwrap();
    let near = Difference::from_steps(-10, 10).unwrap();
    let last = limits.value_of(limits.largest_code());
    comes_back(&limits, &near, last, 99.5);
    comes_back(&limits, &near, 99.5, last);
}

#[test]
fn the_well_known_transform_takes_7_5_and_3_bytes_and_5_bits() {
    let xz = FloatLimits::new(-100.0, 100.0, 0.1).unwrap();
    let y = FloatLimits::new(-10.0, 10.0, 0.1).unwrap();
    let angle = FloatLimits::new(0.0, 360.0, 0.1).unwrap();
    let axes = [xz, y, xz, angle, angle];
    let before = [10.0f32, 5.0, 10.0, 60.0, 30.0];
    let after = [10.5f32, 5.5, 10.5, 60.0, 30.0];

    let mut bytes = Vec::new();
    let mut writer = BitWriter::append(&mut bytes);
    for (limits, value) in axes.iter().zip(after) {
        limits.write_code(&mut writer, limits.quantize(f64::from(value)).unwrap());
    }
    assert_eq!(writer.len_bits(), 11 + 8 + 11 + 12 + 12);
    assert_eq!(writer.finish(), Ok(7));

    bytes.clear();
    let mut writer = BitWriter::append(&mut bytes);
    for ((limits, before), after) in axes.iter().zip(before).zip(after) {
        write_if_changed(&mut writer, limits, before, after).unwrap();
    }
    assert_eq!(writer.len_bits(), 5 + 11 + 8 + 11);
    assert_eq!(writer.finish(), Ok(5));

    bytes.clear();
    let mut writer = BitWriter::append(&mut bytes);
    for ((limits, before), after) in axes.iter().zip(before).zip(after) {
        let near = Difference::new(limits, -1.0, 1.0).unwrap();
        write_difference(&mut writer, limits, &near, before, after).unwrap();
    }
    assert_eq!(writer.len_bits(), 3 * (2 + 5) + 2);
    assert_eq!(writer.finish(), Ok(3));
    let mut reader = BitReader::new(&bytes);
    for ((limits, before), after) in axes.iter().zip(before).zip(after) {
        let near = Difference::new(limits, -1.0, 1.0).unwrap();
        let read = read_difference(&mut reader, limits, &near, before).unwrap();
        assert_eq!(read, if before == after { None } else { Some(after) });
    }

    bytes.clear();
    let mut writer = BitWriter::append(&mut bytes);
    for (limits, before) in axes.iter().zip(before) {
        write_if_changed(&mut writer, limits, before, before).unwrap();
    }
    assert_eq!(writer.len_bits(), 5);
    assert_eq!(writer.finish(), Ok(1));
}

#[test]
fn random_pairs_of_snapshots_come_back_at_all_levels_and_profiles() {
    for name in ["cube", "wide", "corners", "flag", "empty"] {
        let schema = schema(name);
        let profiles = profiles(&schema);
        for_all(
            40,
            (any::<u64>(), 0usize..30, 0..Level::TABLE.len(), 0usize..4, [0usize..4, 0usize..4]),
            |input| {
                let (seed, entities, level, profile, [baseline, snapshot]) = input;
                let codec =
                    Codec::new(schema.clone(), Level::TABLE[level], profiles[profile].1.clone())
                        .unwrap();
                let frames = views(frames(&schema, seed, entities, 4));
                Subject::new(&codec).round_trip(&frames[baseline], &frames[snapshot]);
            },
        );
    }
}
