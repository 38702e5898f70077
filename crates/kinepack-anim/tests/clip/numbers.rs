//! Tests quantized rotations and vectors: their largest errors, and numbers that are not finite.

use std::f64::consts::FRAC_1_SQRT_2;

use kinepack_anim::keyed::quantize::{
    VectorRange, rotation_32, rotation_48, rotation_from_32, rotation_from_48,
};

use crate::random::Random;

/// Returns the errors of a rotation: of the kept components, of the dropped one, and the angle in
/// radians.
fn errors(rotation: [f32; 4], back: [f32; 4]) -> [f64; 3] {
    let length = rotation.iter().map(|c| f64::from(*c) * f64::from(*c)).sum::<f64>().sqrt();
    let exact = rotation.map(|c| f64::from(c) / length);
    let mut dropped = 0;
    for index in 1..4 {
        if exact[index].abs() > exact[dropped].abs() {
            dropped = index;
        }
    }
    let sign = exact[dropped].signum();
    let off: Vec<f64> =
        exact.iter().zip(back).map(|(exact, back)| exact * sign - f64::from(back)).collect();
    let kept =
        (0..4).filter(|index| *index != dropped).map(|index| off[index].abs()).fold(0.0, f64::max);
    // This is the angle between two unit quaternions, computed from the chord between them. The
    // decoded quaternion has unit length up to the rounding of floats.
    let chord = off.iter().map(|c| c * c).sum::<f64>().sqrt();
    [kept, off[dropped].abs(), 4.0 * (chord / 2.0).asin()]
}

fn worst(from_to: impl Fn([f32; 4]) -> [f32; 4], step: f64) -> [f64; 3] {
    let mut random = Random(1);
    let mut worst = [0.0_f64; 3];
    let mut look = |rotation: [f32; 4]| {
        let errors = errors(rotation, from_to(rotation));
        worst = [0, 1, 2].map(|kind| worst[kind].max(errors[kind]));
    };
    for _ in 0..200_000 {
        let rotation = [(); 4].map(|()| random.between(-1.0, 1.0));
        look(rotation);
    }
    // The dropped component has the largest error if all four components are nearly equal and the
    // three others are in the middle between two codes.
    let half = ((0.5 + FRAC_1_SQRT_2) / step).floor();
    for code in [half - 2.0, half - 1.0, half] {
        for middle in [0.48, 0.499, 0.501, 0.52] {
            let part = ((code + middle) * step - FRAC_1_SQRT_2) as f32;
            look([part, part, part, (1.0 - 3.0 * part * part).sqrt()]);
        }
    }
    worst
}

#[test]
fn rotations_keep_their_documented_precision() {
    let bounds = [
        (
            worst(|q| rotation_from_48(rotation_48(q)), 2_f64.sqrt() / 32_767.0),
            [0.000_021_7, 0.000_065, 0.000_15],
        ),
        (
            worst(|q| rotation_from_32(rotation_32(q)), 2_f64.sqrt() / 1023.0),
            [0.000_692, 0.002_08, 0.0048],
        ),
    ];
    for (worst, bounds) in bounds {
        for (worst, bound) in worst.into_iter().zip(bounds) {
            // The bounds are tight.
            assert!(worst <= bound && worst > 0.95 * bound, "{worst} of {bound}");
        }
    }
}

#[test]
fn rotations_with_one_component_keep_it() {
    for axis in 0..4 {
        for sign in [1.0, -1.0] {
            let mut rotation = [0.0; 4];
            rotation[axis] = sign;
            for back in
                [rotation_from_48(rotation_48(rotation)), rotation_from_32(rotation_32(rotation))]
            {
                assert!(back[axis] > 0.999_998, "{back:?}");
            }
        }
    }
}

#[test]
fn all_bits_give_a_rotation() {
    let mut random = Random(2);
    for round in 0..100_000 {
        let mut word = || {
            if round % 3 == 0 {
                [0, 0xffff][random.below(2) as usize]
            } else {
                random.below(1 << 16) as u16
            }
        };
        let words = [word(), word(), word()];
        for back in [
            rotation_from_48(words),
            rotation_from_32(u32::from(words[0]) << 16 | u32::from(words[1])),
        ] {
            let length = back.iter().map(|c| c * c).sum::<f32>().sqrt();
            assert!((length - 1.0).abs() < 1e-6, "{back:?}");
        }
    }
}

#[test]
fn quaternions_without_a_direction_become_the_identity() {
    let none = rotation_48([0.0, 0.0, 0.0, 1.0]);
    assert_eq!(none, [0x4000, 0x2000, 0x7000]);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for axis in 0..4 {
            let mut rotation = [0.5; 4];
            rotation[axis] = bad;
            assert_eq!(rotation_48(rotation), none);
            assert_eq!(rotation_32(rotation), rotation_32([0.0, 0.0, 0.0, 1.0]));
        }
    }
    assert_eq!(rotation_48([0.0; 4]), none);
}

#[test]
fn vectors_are_within_half_a_step() {
    let mut random = Random(3);
    for _ in 0..20_000 {
        let size = 10_f32.powi(random.below(12) as i32 - 5);
        let ends = [(); 6].map(|()| random.between(-size, size));
        let range = VectorRange {
            min: [0, 1, 2].map(|axis| ends[axis].min(ends[axis + 3])),
            max: [0, 1, 2].map(|axis| ends[axis].max(ends[axis + 3])),
        };
        assert!(range.is_valid());
        let share = random.between(0.0, 1.0);
        let vector =
            [0, 1, 2].map(|axis| range.min[axis] + share * (range.max[axis] - range.min[axis]));
        let back = range.reconstruct(range.quantize(vector));
        let [low, high] = [range.min, range.max].map(|end| range.reconstruct(range.quantize(end)));
        assert_eq!(low, range.min);
        for axis in 0..3 {
            let extent = f64::from(range.max[axis]) - f64::from(range.min[axis]);
            // The three roundings of floats may add this error.
            let floats = 2e-7 * (extent + f64::from(range.min[axis].abs()));
            let off = |a: f32, b: f32| (f64::from(a) - f64::from(b)).abs();
            assert!(
                off(back[axis], vector[axis]) <= extent / 131_070.0 + floats,
                "{range:?} {vector:?}"
            );
            assert!(off(high[axis], range.max[axis]) <= floats, "{range:?}");
        }
    }
}

#[test]
fn an_empty_range_gives_its_point_and_bad_numbers_give_its_ends() {
    let point = VectorRange::around(&[[1.5, -2.0, 1e-30]]);
    for vector in [[1.5, -2.0, 1e-30], [9.0, -9.0, f32::NAN], [f32::INFINITY; 3]] {
        assert_eq!(point.quantize(vector), [0; 3]);
    }
    assert_eq!(point.reconstruct([65_535; 3]), [1.5, -2.0, 1e-30]);
    let range = VectorRange::around(&[[0.0; 3], [1.0; 3]]);
    assert_eq!(range.quantize([f32::NAN, f32::NEG_INFINITY, f32::INFINITY]), [0, 0, 65_535]);
    assert_eq!(range.quantize([-7.0, 2.0, 0.5]), [0, 65_535, 32_768]);
    let none = VectorRange::around([]);
    assert_eq!((none.min, none.max), ([0.0; 3], [0.0; 3]));
    for ends in
        [[0.0, f32::NAN], [f32::NAN, 0.0], [1.0, 0.0], [f32::MIN, f32::MAX], [0.0, f32::INFINITY]]
    {
        assert!(!VectorRange { min: [ends[0]; 3], max: [ends[1]; 3] }.is_valid(), "{ends:?}");
    }
}

#[test]
fn the_worked_values_of_the_spec_are_right() {
    let turned = [0.0, 0.6, 0.0, 0.8];
    assert_eq!((rotation_48(turned), rotation_32(turned)), ([0xc000, 0x3b26, 0x7000], 0xe00e_ca00));
    let back = rotation_from_48(rotation_48(turned)).map(f32::to_bits);
    assert_eq!(back, [0x37b5_0000, 0x3f19_9895, 0x37b5_0000, 0x3f4c_cd90]);
    let back = rotation_from_32(rotation_32(turned)).map(f32::to_bits);
    assert_eq!(back, [0x3a35_3400, 0x3f19_c4e5, 0x3a35_3400, 0x3f4c_ac43]);
    let range = VectorRange { min: [-2.0; 3], max: [6.0; 3] };
    let back = range.reconstruct([0, 49_152, 65_535]).map(f32::to_bits);
    assert_eq!(back, [0xc000_0000, 0x4080_00c0, 0x40c0_0000]);
}
