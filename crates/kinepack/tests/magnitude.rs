//! Tests of numbers coded by magnitude: Unreal's table of sizes, naive forms, and a check that no
//! code is wasted.

#[path = "magnitude/vectors.rs"]
mod vectors;

use kinepack::bits::{BitCounter, BitReader, BitSink, BitWriter, bits_for};
use kinepack::magnitude::{
    Precision, read_any, read_difference, read_multiples, read_steps, write_any, write_difference,
    write_multiples, write_steps,
};
use kinepack::quantize::{FloatLimits, VectorLimits};
use kinepack::{DecodeError, EncodeError};
use proptest::prelude::*;

use crate::runner::for_all;
use crate::support::{BitModel, Random, battery};

const PRECISIONS: [Precision; 3] = [Precision::Whole, Precision::Tenth, Precision::Hundredth];

/// Unreal's sizes for precision 0.1: if the largest component is below the first number, the vector
/// takes the second number of bits.
const SIZES_OF_TENTHS: [(f32, u64); 23] = [
    (0.15, 11),
    (0.35, 14),
    (0.75, 17),
    (1.55, 20),
    (3.15, 23),
    (6.35, 26),
    (12.75, 29),
    (25.55, 32),
    (51.15, 34),
    (102.35, 37),
    (204.75, 40),
    (409.55, 43),
    (819.15, 46),
    (1638.35, 49),
    (3276.75, 52),
    (6553.55, 55),
    (13107.15, 59),
    (26214.35, 62),
    (52428.75, 65),
    (104_857.54, 68),
    (209_715.14, 71),
    (419_430.3, 74),
    (838_860.7, 77),
];
/// The number of bits that larger vectors take.
const LARGEST_BITS: u64 = 80;

fn multiples_bits<const N: usize>(precision: Precision, vector: [f32; N]) -> u64 {
    let mut counter = BitCounter::default();
    write_multiples(&mut counter, precision, vector).unwrap();
    counter.len_bits()
}

fn steps_bits<const N: usize>(steps: [i64; N]) -> u64 {
    let mut counter = BitCounter::default();
    write_steps(&mut counter, steps).unwrap();
    counter.len_bits()
}

/// Returns the bytes that `write` writes, and their length in bits.
fn written(write: impl FnOnce(&mut BitWriter<'_>)) -> (Vec<u8>, u64) {
    let mut bytes = Vec::new();
    let mut writer = BitWriter::append(&mut bytes);
    write(&mut writer);
    let len_bits = writer.len_bits();
    writer.finish().unwrap();
    (bytes, len_bits)
}

#[test]
fn tenths_take_exactly_the_bits_of_the_reference() {
    let beyond = SIZES_OF_TENTHS.iter().skip(1).map(|(_, bits)| *bits).chain([LARGEST_BITS]);
    for ((limit, bits), above_bits) in SIZES_OF_TENTHS.into_iter().zip(beyond) {
        for sign in [1.0, -1.0] {
            // A negative half rounds up, towards 0, so the second value is a little further out.
            let [inside, outside] =
                [limit.next_down(), limit + limit * 1e-6].map(|limit| sign * limit);
            for axis in 0..3 {
                let mut vector = [0.0, 0.1, -0.1];
                vector[axis] = inside;
                assert_eq!(multiples_bits(Precision::Tenth, vector), bits, "{vector:?}");
                vector[axis] = outside;
                assert_eq!(multiples_bits(Precision::Tenth, vector), above_bits, "{vector:?}");
            }
        }
    }
    for vector in [[0.0, -0.0, 0.04], [0.1, 0.0, 0.0]] {
        assert_eq!(multiples_bits(Precision::Tenth, vector), 11);
    }
    for far in [1e6, 1e7, 1e30, f32::MAX, f32::MIN] {
        assert_eq!(multiples_bits(Precision::Tenth, [far, 0.0, 0.0]), LARGEST_BITS);
    }
}

/// Computes a component's number as the specification defines it, in exact arithmetic: an `f32` has
/// at most 24 bits, and the half adds one.
fn number_of(precision: Precision, component: f32) -> i64 {
    let scaled =
        f64::from(component * precision.steps_per_unit()).clamp(-1_073_741_824.0, 1_073_741_824.0);
    let below = scaled.floor();
    below as i64 + i64::from(scaled - below >= 0.5)
}

/// Writes an integer below `end` as Unreal does: bit by bit, without the bits that would reach
/// `end`.
fn write_below(bits: &mut BitModel, value: u64, end: u64) {
    let mut so_far = 0;
    let mut mask = 1;
    while so_far + mask < end {
        bits.write(u64::from(value & mask != 0), 1);
        so_far |= value & mask;
        mask <<= 1;
    }
}

/// Returns the bits that Unreal writes for a vector, and the vector that Unreal reads from these
/// bits.
fn multiples_of(precision: Precision, vector: &[f32]) -> (BitModel, Vec<f32>) {
    let numbers: Vec<i64> =
        vector.iter().map(|component| number_of(precision, *component)).collect();
    let largest = numbers.iter().map(|number| number.abs()).max().unwrap();
    let class = (0..23).find(|class| largest < 2 << class).unwrap_or(23);
    let bias = 2 << class;
    let mut bits = BitModel::default();
    write_below(&mut bits, class, 24);
    let held: Vec<i64> = numbers.into_iter().map(|number| number.clamp(-bias, bias - 1)).collect();
    held.iter().for_each(|number| write_below(&mut bits, (number + bias) as u64, 4 << class));
    let back = held.iter().map(|number| *number as f32 / precision.steps_per_unit()).collect();
    (bits, back)
}

fn multiples_come_back<const N: usize>(precision: Precision, vector: [f32; N]) {
    let (bytes, len_bits) = written(|writer| write_multiples(writer, precision, vector).unwrap());
    let (naive, expected) = multiples_of(precision, &vector);
    assert_eq!(
        (len_bits, &bytes),
        (naive.len_bits(), &naive.to_bytes()),
        "{precision:?} {vector:?}"
    );
    let mut reader = BitReader::new(&bytes);
    let back: [f32; N] = read_multiples(&mut reader, precision).unwrap();
    assert_eq!(reader.position_bits(), len_bits);
    assert_eq!(&back[..], &expected[..]);
    let steps = precision.steps_per_unit();
    for (value, back) in vector.into_iter().zip(back) {
        if (value * steps).abs() < 16_777_215.0 {
            // The allowed error is half a step, plus two roundings of `f32`.
            let allowed = 0.5 / f64::from(steps) + f64::from(value.abs()) * 2f64.powi(-23);
            assert!((f64::from(value) - f64::from(back)).abs() <= allowed, "{value} {back}");
        }
        if (value * steps).abs() < 4_194_303.0 {
            assert_eq!(
                number_of(precision, back),
                number_of(precision, value),
                "a value that was read is written the same way"
            );
        }
    }
}

fn any_component() -> impl Strategy<Value = f32> {
    prop_oneof![
        -1.0f32..1.0,
        -200.0f32..200.0,
        -2e6f32..2e6,
        -3e7f32..3e7,
        any::<f32>().prop_filter("a number", |component| component.is_finite()),
        // Makes halves of steps and their neighbours.
        (-4000i16..4000, -1i8..=1).prop_map(|(half, beside)| {
            let half = f32::from(half) / 20.0;
            if beside < 0 { half.next_down() } else { [half, half.next_up()][beside as usize] }
        }),
        Just(0.0f32),
    ]
}

#[test]
fn multiples_come_back_within_half_a_step() {
    for_all(
        4000,
        ([any_component(), any_component(), any_component(), any_component()], 0usize..3),
        |input| {
            let (vector, precision) = (input.0, PRECISIONS[input.1]);
            multiples_come_back(precision, vector);
            multiples_come_back(precision, [vector[0], vector[1], vector[2]]);
            multiples_come_back(precision, [vector[0], vector[1]]);
            multiples_come_back(precision, [vector[0]]);
        },
    );
}

#[test]
fn multiples_beyond_the_last_class_saturate_and_no_numbers_are_refused() {
    let largest = 16_777_215.0;
    for (value, expected) in [
        (largest, largest),
        (16_777_216.0, largest),
        (1e30, largest),
        (f32::MAX, largest),
        (-16_777_216.0, -16_777_216.0),
        (-16_777_220.0, -16_777_216.0),
        (f32::MIN, -16_777_216.0),
    ] {
        for precision in PRECISIONS {
            let steps = precision.steps_per_unit();
            let (bytes, _) =
                written(|writer| write_multiples(writer, precision, [value, 5.0 / steps]).unwrap());
            let [far, near] = read_multiples(&mut BitReader::new(&bytes), precision).unwrap();
            assert_eq!(near, 5.0 / steps);
            // Multiplied by the steps per unit, all values except the first are also beyond the
            // largest class.
            assert_eq!(far, expected / steps, "{value} {precision:?}");
        }
    }
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut counter = BitCounter::default();
        let refusal = write_multiples(&mut counter, Precision::Tenth, [1.0, value, 2.0]);
        assert_eq!(refusal, Err(EncodeError::NotANumber { id: None, field: "" }));
        assert_eq!(counter.len_bits(), 0, "no bits are written");
    }
}

#[test]
fn the_worked_multiples_of_the_specification() {
    let (bytes, len_bits) =
        written(|writer| write_multiples(writer, Precision::Tenth, [1.0, -0.5, 0.25]).unwrap());
    assert_eq!((bytes, len_bits), (vec![0x43, 0xAF, 0x09], 20));
}

/// Writes the word of a class by section 7.1, from the lengths of section 16.2.
fn write_word(bits: &mut BitModel, symbol: usize) {
    let length = |symbol: usize| match symbol {
        0 => 2,
        1 | 34 => 7,
        2..=5 => 4,
        6 | 10..=17 => 5,
        7..=9 | 18..=25 => 6,
        _ => 8u32,
    };
    let before = |other: &usize| (length(*other), *other) < (length(symbol), symbol);
    let word: u32 = (0..35).filter(before).map(|other| 256 >> length(other)).sum::<u32>()
        >> (8 - length(symbol));
    (0..length(symbol)).rev().for_each(|place| bits.write(u64::from(word >> place & 1), 1));
}

/// Writes steps as the specification defines them.
fn steps_of(steps: &[i64]) -> BitModel {
    let numbers: Vec<u64> = steps
        .iter()
        .map(|step| if *step >= 0 { 2 * *step } else { -2 * *step - 1 } as u64)
        .collect();
    let class = bits_for(*numbers.iter().max().unwrap());
    let mut bits = BitModel::default();
    write_word(&mut bits, class as usize);
    let (last, before) = numbers.split_last().unwrap();
    before.iter().for_each(|number| bits.write(*number, class));
    let is_alone = class > 0 && before.iter().all(|number| bits_for(*number) < class);
    bits.write(*last, class - u32::from(is_alone));
    bits
}

/// Checks that the steps come back, and returns the number of bits that they take.
fn steps_come_back<const N: usize>(steps: [i64; N]) -> u64 {
    let (bytes, len_bits) = written(|writer| write_steps(writer, steps).unwrap());
    let naive = steps_of(&steps);
    assert_eq!((len_bits, &bytes), (naive.len_bits(), &naive.to_bytes()), "{steps:?}");
    let mut reader = BitReader::new(&bytes);
    assert_eq!(read_steps(&mut reader), Ok(steps));
    assert_eq!(reader.position_bits(), len_bits);
    len_bits
}

#[test]
fn small_steps_come_back() {
    for first in -40..40 {
        steps_come_back([first]);
        for second in -20..20 {
            steps_come_back([first, second]);
            for third in -9..9 {
                steps_come_back([first, second, third]);
                steps_come_back([third, second, first, second]);
            }
        }
    }
}

/// Makes numbers of all magnitudes, equally often.
fn any_step() -> impl Strategy<Value = i64> {
    (0u32..=33, any::<u64>()).prop_map(|(bits, number)| {
        let number = number & ((1 << bits) - 1);
        (number >> 1) as i64 ^ -((number & 1) as i64)
    })
}

#[test]
fn steps_of_all_magnitudes_come_back() {
    const MIN: i64 = -(1 << 32);
    const MAX: i64 = (1 << 32) - 1;
    for_all(4000, [any_step(), any_step(), any_step(), any_step()], |steps| {
        steps_come_back(steps);
        steps_come_back([steps[0], steps[1], steps[2]]);
        steps_come_back([steps[0], steps[1]]);
        steps_come_back([steps[0]]);
    });
    assert_eq!(steps_come_back([MIN, MAX, 0]), 8 + 3 * 33);
    let (bytes, _) = written(|writer| write_steps(writer, [i32::MIN, i32::MAX, 0]).unwrap());
    assert_eq!(
        read_steps(&mut BitReader::new(&bytes)),
        Ok([i64::from(i32::MIN), i64::from(i32::MAX), 0])
    );
    for step in [MIN - 1, MAX + 1, i64::MIN, i64::MAX, 1 << 62] {
        let mut counter = BitCounter::default();
        let refusal = EncodeError::OutOfRange { id: None, field: "", value: step as f64 };
        assert_eq!(write_steps(&mut counter, [0, step, 0]), Err(refusal));
        assert_eq!(counter.len_bits(), 0, "no bits are written");
    }
}

/// The values read from any bits are written as exactly the same bits, so no code is wasted or
/// ambiguous.
#[test]
fn each_string_of_bits_is_one_vector() {
    fn read_and_written<const N: usize>(data: &[u8]) {
        let mut reader = BitReader::new(data);
        let mut bits = BitModel::of(data);
        while let Ok(steps) = read_steps::<N>(&mut reader) {
            let naive = steps_of(&steps);
            let mut expected = BitModel::of(&naive.to_bytes());
            for _ in 0..naive.len_bits() {
                assert_eq!(bits.read(1), expected.read(1), "{steps:?}");
            }
            assert_eq!(bits.position_bits(), reader.position_bits(), "{steps:?}");
        }
    }
    let mut random = Random::new(16);
    for _ in 0..300 {
        let data = random.bytes(40);
        read_and_written::<1>(&data);
        read_and_written::<2>(&data);
        read_and_written::<3>(&data);
        read_and_written::<4>(&data);
    }
}

#[test]
fn the_worked_steps_of_the_specification() {
    for (steps, bits) in [([0, 0, 0], "00"), ([1, 0, -2], "0100010011"), ([0, 0, -2], "010000001")]
    {
        let (bytes, len_bits) = written(|writer| write_steps(writer, steps).unwrap());
        let mut reader = BitReader::new(&bytes);
        let read: String =
            (0..len_bits).map(|_| char::from(b'0' + reader.read(1).unwrap() as u8)).collect();
        assert_eq!(read, bits);
    }
}

/// Compares steps of 0.1 with Unreal's sizes. Up to 3.15, steps take the same number of bits or one
/// fewer. Above 3.15, they take at most one bit more.
#[test]
fn steps_are_never_more_than_a_bit_longer_than_multiples() {
    let larger = SIZES_OF_TENTHS.iter().map(|(_, bits)| *bits).chain([LARGEST_BITS]);
    for (class, multiples_bits) in larger.enumerate() {
        let [first, last] = [1 << class, (2i64 << class) - 1];
        let worst =
            [[last, 0, 0], [-last, last, -last], [first, first, first], [-first, -first, -first]];
        let longest = worst.map(steps_bits).into_iter().max().unwrap();
        let allowed =
            if class < 4 { multiples_bits - 1 } else { multiples_bits + u64::from(class > 4) };
        assert_eq!(longest, allowed, "class {class}");
    }
    assert_eq!([steps_bits([0; 3]), multiples_bits(Precision::Whole, [0.0; 3])], [2, 11]);
    for_all(4000, [-16_777_215i32..16_777_216, -1000i32..1000, -20i32..20], |vector| {
        for shift in 0..24 {
            let vector = vector.map(|number| number >> shift);
            let whole = multiples_bits(Precision::Whole, vector.map(|number| number as f32));
            assert!(steps_bits(vector.map(i64::from)) <= whole + 1, "{vector:?}");
        }
    });
}

fn position() -> VectorLimits<3> {
    let [xz, y] = [FloatLimits::new(-100.0, 100.0, 0.1), FloatLimits::new(-10.0, 10.0, 0.01)]
        .map(Result::unwrap);
    VectorLimits::new([xz, y, xz])
}

fn angles() -> VectorLimits<3> {
    let [turn, half] = [FloatLimits::until(0.0, 360.0, 0.5), FloatLimits::new(-90.0, 90.0, 0.5)]
        .map(Result::unwrap);
    VectorLimits::new([
        half,
        turn.wrapping(),
        FloatLimits::until_with_bits(-180.0, 180.0, 16).unwrap().wrapping(),
    ])
}

#[test]
fn differences_within_limits_come_back() {
    let share = || 0.0f64..=1.0;
    for_all(
        3000,
        ([share(), share(), share()], [share(), share(), share()], 0u32..12),
        |(from, to, nearness)| {
            for limits in [position(), angles()] {
                let place = |shares: [f64; 3]| -> [f32; 3] {
                    core::array::from_fn(|index| {
                        let axis = limits.axes()[index];
                        (axis.min() + shares[index] * (axis.max() - axis.min())) as f32
                    })
                };
                let near = core::array::from_fn(|index| {
                    from[index] + (to[index] - from[index]) / f64::from(1 << nearness)
                });
                let [baseline, value] = [place(from), place(near)];
                let baseline = limits.reconstruct(limits.quantize(baseline).unwrap());
                let expected = limits.reconstruct(limits.quantize(value).unwrap());
                let (bytes, len_bits) =
                    written(|writer| write_difference(writer, &limits, baseline, value).unwrap());
                let mut reader = BitReader::new(&bytes);
                assert_eq!(read_difference(&mut reader, &limits, baseline), Ok(expected));
                assert_eq!(reader.position_bits(), len_bits);
                for (axis, (value, back)) in
                    limits.axes().iter().zip(value.into_iter().zip(expected))
                {
                    let apart = f64::from((value - back).abs());
                    let apart = if axis.wraps() { apart.min(360.0 - apart) } else { apart };
                    assert!(apart <= axis.step() / 2.0 + 2e-5, "{value} {back}");
                }
                let (any, any_bits) = written(|writer| write_any(writer, &limits, baseline, value));
                assert_eq!(
                    (any, any_bits),
                    (bytes, len_bits),
                    "values with a code are written the same way"
                );
            }
        },
    );
}

#[test]
fn angles_go_the_short_way_round() {
    let limits = angles();
    for (before, after, bits) in [
        ([0.0, 359.5, 179.999], [0.0, 0.5, -179.999], 13),
        ([0.0, 0.5, -180.0], [0.0, 359.5, 180.0], 10),
        ([0.0, 0.0, 0.0], [0.0, 720.0, -360.0], 2),
        // A half turn can go either way, and both results are right.
        ([0.0, 0.0, 0.0], [0.0, 180.0, 0.0], 5 + 3 * 10),
    ] {
        let (bytes, len_bits) =
            written(|writer| write_difference(writer, &limits, before, after).unwrap());
        assert_eq!(len_bits, bits, "{before:?} {after:?}");
        let back = read_difference(&mut BitReader::new(&bytes), &limits, before).unwrap();
        assert_eq!(back, limits.reconstruct(limits.quantize(after).unwrap()));
    }
}

#[test]
fn limits_of_full_lanes_have_room_for_any_difference() {
    let full = VectorLimits::new([FloatLimits::with_bits(0.0, 1.0, 32).unwrap(); 2]);
    let (bytes, len_bits) =
        written(|writer| write_difference(writer, &full, [0.0, 1.0], [1.0, 0.0]).unwrap());
    assert_eq!(len_bits, 8 + 2 * 33);
    assert_eq!(read_difference(&mut BitReader::new(&bytes), &full, [0.0, 1.0]), Ok([1.0, 0.0]));
}

#[test]
fn values_without_a_code_are_refused_or_written_raw() {
    let limits = position();
    let odd = [f32::NAN, f32::INFINITY, -0.0, 1e30, f32::MIN_POSITIVE, 100.5];
    for value in odd.map(|value| [1.0, value, value]) {
        let (any, any_bits) = written(|writer| write_any(writer, &limits, [0.0; 3], value));
        let back = read_any(&mut BitReader::new(&any), &limits, [0.0; 3]).unwrap();
        if limits.quantize(value).is_ok() {
            assert!(any_bits < 20);
            continue;
        }
        assert_eq!(back.map(f32::to_bits), value.map(f32::to_bits));
        assert_eq!(any_bits, 7 + 3 * 32);
        let mut counter = BitCounter::default();
        assert!(write_difference(&mut counter, &limits, [0.0; 3], value).is_err());
        assert!(write_difference(&mut counter, &limits, value, [0.0; 3]).is_err());
        assert_eq!(counter.len_bits(), 0, "no bits are written");
        for refusal in [
            read_difference(&mut BitReader::new(&any), &limits, [0.0; 3]).err(),
            read_steps::<3>(&mut BitReader::new(&any)).err(),
        ] {
            assert_eq!(refusal, Some(DecodeError::OutOfRange { at_bit: any_bits }));
        }
        // The baseline may also lack a code, because both sides hold it.
        let (any, _) = written(|writer| write_any(writer, &limits, value, [1.0; 3]));
        assert_eq!(read_any(&mut BitReader::new(&any), &limits, value), Ok([1.0; 3]));
        let (steps, _) = written(|writer| write_steps(writer, [0; 3]).unwrap());
        assert!(read_any(&mut BitReader::new(&steps), &limits, value).is_err());
        assert!(read_difference(&mut BitReader::new(&steps), &limits, value).is_err());
    }
}

#[test]
fn differences_that_lead_out_of_the_limits_are_refused() {
    let limits = position();
    for steps in [[1i64, 0, 0], [0, -2001, 0], [0, 0, (1 << 32) - 1], [0, 0, -(1 << 32)]] {
        let (bytes, len_bits) = written(|writer| write_steps(writer, steps).unwrap());
        let refusal = Some(DecodeError::OutOfRange { at_bit: len_bits });
        assert_eq!(
            read_difference(&mut BitReader::new(&bytes), &limits, [100.0, 10.0, 0.0]).err(),
            refusal
        );
        assert_eq!(
            read_any(&mut BitReader::new(&bytes), &limits, [100.0, 10.0, 0.0]).err(),
            refusal
        );
    }
}

#[test]
fn magnitudes_survive() {
    let (position, angles) = (position(), angles());
    let (valid, _) = written(|writer| {
        write_multiples(writer, Precision::Tenth, [1.0, -0.5, 0.25]).unwrap();
        write_multiples(writer, Precision::Whole, [1e9f32]).unwrap();
        write_steps(writer, [3i64, -(1 << 32), 0, 9]).unwrap();
        write_steps(writer, [0i64; 2]).unwrap();
        write_difference(writer, &position, [0.0; 3], [1.0, -1.0, 50.0]).unwrap();
        write_difference(writer, &angles, [0.0; 3], [5.0, 355.0, 1.0]).unwrap();
        write_any(writer, &position, [0.0; 3], [f32::NAN, 1.0, 2.0]);
    });
    battery("magnitudes", &valid, |bytes| {
        let mut reader = BitReader::new(bytes);
        let tenths: [f32; 3] = read_multiples(&mut reader, Precision::Tenth)?;
        let whole: [f32; 1] = read_multiples(&mut reader, Precision::Whole)?;
        let steps: [i64; 4] = read_steps(&mut reader)?;
        let none: [i64; 2] = read_steps(&mut reader)?;
        let place = read_difference(&mut reader, &position, [0.0; 3])?;
        let turned = read_difference(&mut reader, &angles, [0.0; 3])?;
        read_any(&mut reader, &position, [0.0; 3])?;
        reader.finish()?;
        assert!(tenths.iter().chain(&whole).all(|number| number.abs() <= 16_777_216.0));
        assert!(steps.iter().chain(&none).all(|step| (-(1i64 << 32)..1 << 32).contains(step)));
        assert!(position.quantize(place).is_ok() && angles.quantize(turned).is_ok());
        assert!(bytes != valid || (tenths == [1.0, -0.5, 0.3] && steps == [3, -(1 << 32), 0, 9]));
        Ok(())
    });
}
