//! The discrete cosine transform (type II, orthonormal) of each length up to 32. It turns the
//! samples of a segment into coefficients. The tables store how much each coefficient contributes
//! to each sample. `spec/ANIM.md`, section 12, defines the transform. The tables are computed in
//! `f64` with + − × ÷ in a fixed order, so all platforms get the same numbers.

use crate::computed::computed;

/// The longest segment, in samples.
pub(crate) const MAX_LENGTH: usize = 32;

/// The total number of entries in the tables of all lengths. A table has a row for each sample, one
/// row before the first and one after the last. Each row is padded to a multiple of eight.
const NUMBERS: usize = start(MAX_LENGTH + 1);

computed! {
    /// The tables of all lengths. An entry is found by length, then by sample, then by coefficient.
    /// Zeros pad each row.
    static BASIS: [f32; NUMBERS] = table();
}

/// Returns the number of entries in a row of the table for `length`.
const fn stride(length: usize) -> usize {
    length.next_multiple_of(8)
}

/// Returns the index at which the table for `length` begins.
const fn start(length: usize) -> usize {
    let mut at = 0;
    let mut shorter = 1;
    while shorter < length {
        at += (shorter + 2) * stride(shorter);
        shorter += 1;
    }
    at
}

static STARTS: [usize; MAX_LENGTH + 1] = {
    let mut starts = [0; MAX_LENGTH + 1];
    let mut length = 1;
    while length <= MAX_LENGTH {
        starts[length] = start(length);
        length += 1;
    }
    starts
};

/// Returns how much each coefficient contributes to sample `sample` of a segment of `length`
/// samples. The row is padded to a multiple of eight.
#[cfg(any(feature = "offline", test))]
#[inline]
pub(crate) fn row(length: usize, sample: usize) -> &'static [f32] {
    row_after(length, sample + 1)
}

/// Row `rows` of a table. The first row extrapolates the segment to the sample before it, along a
/// parabola. The last row extrapolates to the sample after it.
#[inline(always)]
fn row_after(length: usize, rows: usize) -> &'static [f32] {
    &BASIS[STARTS[length] + rows * stride(length)..][..stride(length)]
}

/// A moment of a clip, relative to one of its segments.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SegmentMoment {
    /// At a sample of the segment.
    Sample(usize),
    /// On the straight line between a sample and the next one of the same segment. The second
    /// number is the share of the way between them.
    Linear(usize, f32),
    /// On a cubic through a sample and the next one of the same segment. The second number is the
    /// share of the way between them.
    Cubic(usize, f32),
    /// On a cubic from this segment's last sample to the next segment's first, at this share of the
    /// way. Both segments contribute to the cubic. This variant stands for this segment's
    /// contribution.
    Leaving(f32),
    /// On a cubic from the previous segment's last sample to this segment's first, at this share of
    /// the way. Both segments contribute to the cubic. This variant stands for this segment's
    /// contribution.
    Arriving(f32),
}

/// The factors by which a cubic multiplies samples and slopes, at a share of the way from one
/// sample to the next.
struct Cubic {
    /// The factor of the slope at the first sample: the second sample minus the one before the
    /// first.
    first_slope: f32,
    /// The factor of the negated slope at the second sample: the first sample minus the one after
    /// the second.
    second_slope: f32,
    /// The factors of the two samples themselves, in addition to the slopes.
    first: f32,
    second: f32,
}

impl Cubic {
    #[inline(always)]
    fn new(share: f32) -> Self {
        let rest = 1.0 - share;
        let middle = 0.5 * share * rest;
        Self {
            first_slope: middle * rest,
            second_slope: middle * share,
            first: smooth(rest),
            second: smooth(share),
        }
    }
}

/// Returns the second sample's share in a cubic between two samples, if the slope is 0 at both.
#[inline(always)]
pub(crate) fn smooth(share: f32) -> f32 {
    share * share * (3.0 - (share + share))
}

/// The factors by which the coefficients are multiplied at a moment. Each combines the basis, the
/// interpolation between two samples and the segment's scale. Coefficients beyond the segment's
/// length get 0.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Weights([[[f32; 8]; 2]; 2]);

impl Weights {
    /// Returns the weights at a moment in a segment of `length` samples, each multiplied by
    /// `scale`.
    #[inline(always)]
    pub(crate) fn new(length: usize, moment: SegmentMoment, scale: f32) -> Self {
        match moment {
            SegmentMoment::Sample(sample) => Self::sum(length, sample + 1, [1.0], scale),
            SegmentMoment::Linear(sample, share) => {
                Self::sum(length, sample + 1, [1.0 - share, share], scale)
            }
            SegmentMoment::Cubic(sample, share) => {
                let Cubic { first_slope, second_slope, first, second } = Cubic::new(share);
                let factors =
                    [-first_slope, first + second_slope, second + first_slope, -second_slope];
                Self::sum(length, sample, factors, scale)
            }
            SegmentMoment::Leaving(share) => {
                let Cubic { first_slope, first, .. } = Cubic::new(share);
                Self::sum(length, length - 1, [-first_slope, first, first_slope], scale)
            }
            SegmentMoment::Arriving(share) => {
                let Cubic { second_slope, second, .. } = Cubic::new(share);
                Self::sum(length, 0, [second_slope, second, -second_slope], scale)
            }
        }
    }

    /// Sums consecutive rows of the table for `length`, starting with row `rows`. Each row is
    /// multiplied by its factor, and the sum by `scale`.
    #[inline(always)]
    fn sum<const N: usize>(length: usize, rows: usize, factors: [f32; N], scale: f32) -> Self {
        let mut weights = Self([[[0.0; 8]; 2]; 2]);
        for (eight, numbers) in
            weights.0.as_flattened_mut()[..stride(length) / 8].iter_mut().enumerate()
        {
            for (nth, factor) in factors.into_iter().enumerate() {
                let row = &row_after(length, rows + nth)[8 * eight..][..8];
                for index in 0..8 {
                    let product = row[index] * factor;
                    numbers[index] = if nth == 0 { product } else { numbers[index] + product };
                }
            }
            for number in numbers {
                *number *= scale;
            }
        }
        weights
    }

    /// Returns the weights of a component's first or second piece.
    #[inline(always)]
    pub(crate) fn piece(&self, piece: usize) -> &[[f32; 8]; 2] {
        &self.0[piece]
    }
}

const fn table() -> [f32; NUMBERS] {
    let mut table = [0.0; NUMBERS];
    let mut length = 1;
    while length <= MAX_LENGTH {
        let first = start(length);
        let norms = [sqrt(1.0 / length as f64), sqrt(2.0 / length as f64)];
        let mut sample = 0;
        while sample < length {
            let mut k = 0;
            while k < length {
                table[first + (sample + 1) * stride(length) + k] =
                    basis(&norms, length, sample, k) as f32;
                k += 1;
            }
            sample += 1;
        }
        let mut k = 0;
        while k < length {
            let last = length - 1;
            table[first + k] = continued(&norms, length, k, [0, 1, 2]) as f32;
            let [one, two] = [last.saturating_sub(1), last.saturating_sub(2)];
            table[first + (length + 1) * stride(length) + k] =
                continued(&norms, length, k, [last, one, two]) as f32;
            k += 1;
        }
        length += 1;
    }
    table
}

/// Returns the number B(k, t) of the specification, with t = `sample`. `norms` are √(1 / length)
/// and √(2 / length).
const fn basis(norms: &[f64; 2], length: usize, sample: usize, k: usize) -> f64 {
    if k == 0 { norms[0] } else { norms[1] * cosine((2 * sample + 1) * k, length) }
}

/// Returns the number B(k, −1) or B(k, length) of the specification, extrapolated from three
/// samples. `samples` begins with the nearest one.
const fn continued(norms: &[f64; 2], length: usize, k: usize, samples: [usize; 3]) -> f64 {
    let first = basis(norms, length, samples[0], k);
    match length {
        1 => first,
        2 => 2.0 * first - basis(norms, length, samples[1], k),
        _ => {
            let second = basis(norms, length, samples[1], k);
            3.0 * first - 3.0 * second + basis(norms, length, samples[2], k)
        }
    }
}

/// Computes cos(π·j / (2·length)).
const fn cosine(j: usize, length: usize) -> f64 {
    let mut j = j % (4 * length);
    if j > 2 * length {
        j = 4 * length - j;
    }
    let is_negative = j > length;
    if is_negative {
        j = 2 * length - j;
    }
    let x = j as f64 * (std::f64::consts::PI / (2 * length) as f64);
    let y = x * x;
    // Horner's rule over (−1)^i / (2i)!.
    let mut sum = 0.0;
    let mut i = 9;
    while i > 0 {
        sum = y * (taylor_coefficient(i) + sum);
        i -= 1;
    }
    if is_negative { -(1.0 + sum) } else { 1.0 + sum }
}

/// Computes (−1)^i / (2i)!. The factorials up to 18! are whole numbers below 2^53.
const fn taylor_coefficient(i: usize) -> f64 {
    let mut factorial = 1.0;
    let mut factor = 2;
    while factor <= 2 * i {
        factorial *= factor as f64;
        factor += 1;
    }
    if i % 2 == 1 { -1.0 / factorial } else { 1.0 / factorial }
}

/// Returns the square root of a number between 1/32 and 2, correctly rounded. The function computes
/// the integer root of the scaled mantissa. If that root is not exact, the function sets the root's
/// last bit, so that the final rounding is correct.
const fn sqrt(x: f64) -> f64 {
    let exponent = (x.to_bits() >> 52) as i32 - 1075;
    let mantissa = x.to_bits() & ((1 << 52) - 1) | 1 << 52;
    // This shift makes the remaining exponent even, and gives the root 55 bits.
    let shift = 56 + (exponent & 1);
    let square = (mantissa as u128) << shift;
    let root = square.isqrt();
    let is_inexact = root * root != square;
    let scale = f64::from_bits(((1023 + (exponent - shift) / 2) as u64) << 52);
    (root as u64 | is_inexact as u64) as f64 * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_hold_the_cosine_transform() {
        for length in 1..=MAX_LENGTH {
            for sample in 0..length {
                let numbers = row(length, sample);
                for (k, number) in numbers[..length].iter().enumerate() {
                    let scale = (if k == 0 { 1.0 } else { 2.0 } / length as f64).sqrt();
                    let angle =
                        std::f64::consts::PI * ((2 * sample + 1) * k) as f64 / (2 * length) as f64;
                    let expected = scale * angle.cos();
                    assert!((f64::from(*number) - expected).abs() < 4e-8, "{length} {sample} {k}");
                }
                assert!(numbers[length..].iter().all(|number| *number == 0.0));
            }
        }
    }

    #[test]
    fn rows_beyond_a_segment_continue_parabolas() {
        for length in 3..=MAX_LENGTH {
            for (beyond, near) in [(0, [1, 2, 3]), (length + 1, [length, length - 1, length - 2])] {
                for k in 0..length {
                    let at = |rows: usize| f64::from(row_after(length, rows)[k]);
                    let [first, second, third] = near.map(at);
                    let third_difference = at(beyond) - 3.0 * first + 3.0 * second - third;
                    assert!(third_difference.abs() < 1e-6, "{length} {k}");
                }
            }
        }
    }

    #[test]
    fn roots_are_correctly_rounded() {
        for length in 1..=MAX_LENGTH {
            for x in [1.0 / length as f64, 2.0 / length as f64] {
                assert_eq!(sqrt(x), x.sqrt());
            }
        }
    }
}
