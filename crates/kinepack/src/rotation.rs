//! Codes rotations as smallest three: drops the largest component of a unit quaternion, and
//! quantizes the other three over ±1/√2. The method is that of the article "Snapshot Compression"
//! (Fiedler, 2015). `spec/CODEC.md`, section 3, defines the arithmetic.
//!
//! The largest angle between a rotation and its reconstruction, as the test `worst_angles` measures
//! it:
//!
//! | bits | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 14 | 16 | 18 | 20 |
//! |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
//! | degrees | 99.1 | 36.4 | 18.4 | 9.0 | 4.46 | 2.22 | 1.11 | 0.549 | 0.275 | 0.138 | 0.0686 | 0.0172 | 0.0043 | 0.0011 | 0.00027 |
//!
//! From 3 bits on, the angle is below 282° / (2^bits − 1). The angle is largest if all four
//! components are equal. In that case, three of them are off by half a step h = 1/√2 / (2^bits − 1)
//! in the same direction. The dropped component then takes the sum of these errors, 3h, and more
//! because of the curvature of the sphere. The chord is √(3 + 9) h (1 + 3h), and the angle is twice
//! the chord: 280.7° / (2^bits − 1) · (1 + 3h). With 9 bits or more this is below the bound; with
//! fewer bits, the test checks the rotations with the largest angles.

use core::f64::consts::FRAC_1_SQRT_2;
use core::hint::select_unpredictable;

use crate::sqrt::{single_sqrt, sqrt};
use crate::{EncodeError, SetupError};

/// Quantizes rotations: 2 bits for the index of the dropped component, and 2 to 20 bits for each of
/// the others.
///
/// Codes are `[dropped, first, second, third]`. The three components are in the order x, y, z, w,
/// with the dropped one left out. A quaternion and its negative are the same rotation and have the
/// same codes.
///
/// ```
/// use kinepack::quantize::SmallestThree;
///
/// let rotation = SmallestThree::new(9)?;
/// let codes = rotation.quantize([0.0, 0.6, 0.0, 0.8])?;
/// assert_eq!(codes, rotation.quantize([0.0, -0.6, 0.0, -0.8])?);
/// assert_eq!(codes[0], 3);
/// let back = rotation.reconstruct(codes);
/// assert!((back[1] - 0.6).abs() < 0.002);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallestThree {
    component_bits: u32,
}

impl SmallestThree {
    /// Makes a quantizer with `component_bits` (2 to 20) bits per component.
    ///
    /// # Errors
    /// [`SetupError::BitCount`] if `component_bits` is not from 2 to 20.
    pub const fn new(component_bits: u32) -> Result<Self, SetupError> {
        if component_bits < 2 || component_bits > 20 {
            return Err(SetupError::BitCount { bits: component_bits, max_bits: 20 });
        }
        Ok(Self { component_bits })
    }

    /// Returns the number of bits of each of the three components.
    pub const fn component_bits(&self) -> u32 {
        self.component_bits
    }

    /// Returns the number of bits of a whole rotation: 2 for the index, and those of three
    /// components.
    pub const fn bits(&self) -> u32 {
        2 + 3 * self.component_bits
    }

    /// The largest code of a component.
    pub const fn max_code(&self) -> u32 {
        (1 << self.component_bits) - 1
    }

    /// Returns an upper bound on the angle in degrees between a rotation and its reconstruction. It
    /// is 0.56 at 9 bits, 0.28 at 10, 0.14 at 11, and 0.07 at 12. The bound does not include the
    /// rounding of `f32`. For rotations with four almost equal components, the angle comes within 1
    /// % of the bound.
    ///
    /// ```
    /// use kinepack::quantize::SmallestThree;
    ///
    /// let rotation = SmallestThree::new(9)?;
    /// assert!(rotation.max_error_deg() < 0.56);
    /// # Ok::<(), kinepack::SetupError>(())
    /// ```
    pub fn max_error_deg(&self) -> f64 {
        if self.component_bits == 2 { 99.1 } else { 282.0 / f64::from(self.max_code()) }
    }

    /// Returns the codes of the rotation `x, y, z, w`. The quaternion may have any length. If
    /// several components are tied for the largest, the first of them is dropped.
    ///
    /// # Errors
    /// [`EncodeError::NotANumber`] if a component is not finite or the length is zero.
    #[inline]
    pub fn quantize(&self, xyzw: [f32; 4]) -> Result<[u32; 4], EncodeError> {
        match self.quantize_inner(xyzw) {
            Some(codes) => Ok(codes),
            None => self.quantize_exactly(xyzw),
        }
    }

    /// Returns the codes, or `None` if a component is almost halfway between two codes. In that
    /// case, the rounding error of this shortcut could select the wrong code.
    #[inline]
    fn quantize_inner(&self, xyzw: [f32; 4]) -> Option<[u32; 4]> {
        let Parts { dropped, kept, length } = Parts::new(xyzw)?;
        let max_code = f64::from(self.max_code());
        let (factor, middle) = (max_code * FRAC_1_SQRT_2 / length, max_code / 2.0);
        let shares = kept.map(|component| component * factor + middle);
        let rounded = shares.map(|share| share + ROUND);
        let is_close = |index: usize| ((rounded[index] - ROUND) - shares[index]).abs() > 0.499_999;
        if is_close(0) | is_close(1) | is_close(2) {
            return None;
        }
        let [a, b, c] = rounded.map(|rounded| rounded.to_bits() as u32);
        Some([dropped as u32, a, b, c])
    }

    /// Returns the codes, with the operations in the order of the specification.
    #[cold]
    #[inline(never)]
    fn quantize_exactly(&self, xyzw: [f32; 4]) -> Result<[u32; 4], EncodeError> {
        let not_a_number = EncodeError::NotANumber { id: None, field: "" };
        let Parts { dropped, kept, length } = Parts::new(xyzw).ok_or(not_a_number)?;
        let max_code = f64::from(self.max_code());
        let [a, b, c] = kept.map(|component| {
            let share = (component / length + FRAC_1_SQRT_2) / (2.0 * FRAC_1_SQRT_2);
            // The cast saturates at 0.
            ((share * max_code + 0.5) as u32).min(self.max_code())
        });
        Ok([dropped as u32, a, b, c])
    }

    /// Returns the codes of several rotations, lane by lane, as [`quantize`](Self::quantize) makes
    /// them. The compiler vectorizes the loop. Returns `None` if `quantize` refuses one of the
    /// rotations.
    #[inline]
    pub(crate) fn quantize_block(&self, block: &[[f32; BLOCK]; 4]) -> Option<[[u32; BLOCK]; 4]> {
        let max_code = self.max_code() as f32;
        let (unit, middle) = (max_code * core::f32::consts::FRAC_1_SQRT_2, max_code / 2.0);
        // 0.5 minus a bound on the error that `f32` arithmetic causes in a component's share of the
        // largest code. That bound is nearly twice the largest error possible.
        let close = 0.5 - max_code * (1.0 / (1 << 21) as f32);
        let mut codes = [[0; BLOCK]; 4];
        // An element is not 0 if `f64` arithmetic might give the rotation another code.
        let mut doubts = [0.0f32; BLOCK];
        for index in 0..BLOCK {
            let [x, y, z, w] = row(block, index);
            let pick = |second: bool, values: [f32; 2]| if second { values[1] } else { values[0] };
            // Selects the larger of the first two components, the larger of the last two, and then
            // the larger of these two.
            let [second, fourth] = [y.abs() > x.abs(), w.abs() > z.abs()];
            let pair = [pick(second, [x, y]), pick(fourth, [z, w])];
            let last = pair[1].abs() > pair[0].abs();
            let dropped = pick(last, [pick(second, [0.0, 1.0]), pick(fourth, [2.0, 3.0])]);
            let squares = x * x + y * y + z * z + w * w;
            let factor = unit / single_sqrt(squares).copysign(pick(last, pair));
            let kept = [
                pick(last, [pick(second, [y, x]), x]),
                pick(last, [z, y]),
                pick(last, [w, pick(fourth, [w, z])]),
            ];
            let is_usual = squares > 1e-30 && squares < 1e30;
            let mut doubt = if is_usual { 0.0 } else { 1.0 };
            codes[0][index] = (dropped + SINGLE_ROUND).to_bits() & 3;
            for (codes, component) in codes[1..].iter_mut().zip(kept) {
                let share = component * factor + middle;
                let rounded = share + SINGLE_ROUND;
                doubt += if ((rounded - SINGLE_ROUND) - share).abs() < close { 0.0 } else { 1.0 };
                codes[index] = rounded.to_bits() & self.max_code();
            }
            doubts[index] = doubt;
        }
        for (index, doubt) in doubts.into_iter().enumerate() {
            if doubt != 0.0 {
                let exact = self.quantize(row(block, index)).ok()?;
                codes.iter_mut().zip(exact).for_each(|(codes, code)| codes[index] = code);
            }
        }
        Some(codes)
    }

    /// Returns the unit quaternion `x, y, z, w` of `codes`. Any codes give a rotation: an index
    /// above 3 counts as 3, and a code above the largest counts as the largest.
    #[inline]
    pub fn reconstruct(&self, codes: [u32; 4]) -> [f32; 4] {
        let max_code = f64::from(self.max_code());
        let component = |code: u32| {
            let share = f64::from(code.min(self.max_code())) / max_code;
            share * (2.0 * FRAC_1_SQRT_2) - FRAC_1_SQRT_2
        };
        let [a, b, c] = [component(codes[1]), component(codes[2]), component(codes[3])];
        let rest = a * a + b * b + c * c;
        // Codes that no rotation has may give a quaternion longer than 1; such a quaternion is
        // scaled down.
        let [a, b, c, largest] = if rest < 1.0 {
            [a, b, c, sqrt(1.0 - rest)]
        } else {
            let length = sqrt(rest);
            [a / length, b / length, c / length, 0.0]
        };
        with([a, b, c], codes[0].min(3) as usize, largest).map(|component| component as f32)
    }

    /// Returns the codes of the same rotation with component `dropped` dropped instead, computed in
    /// integers. An encoder uses this to compare a baseline with a rotation that drops another
    /// component. An index in `codes` above 3 counts as 3. `spec/CODEC.md`, section 3.2, defines
    /// the arithmetic.
    #[inline]
    pub(crate) fn turned(&self, codes: [u32; 4], dropped: u32) -> [u32; 3] {
        // A component is c / (√2 · max_code) with c = 2 · code − max_code, so the squares of all
        // four c sum to 2 · max_code².
        let max_code = i64::from(self.max_code());
        let mut scaled = [0i64; 4];
        let mut rest = 0;
        let held = codes[0].min(3) as usize;
        for (index, &code) in KEPT[held].iter().zip(&codes[1..]) {
            scaled[*index] = 2 * i64::from(code) - max_code;
            rest += scaled[*index] * scaled[*index];
        }
        scaled[held] = (2 * max_code * max_code - rest).max(0).isqrt();
        let sign = if scaled[dropped as usize] < 0 { -1 } else { 1 };
        KEPT[dropped as usize]
            .map(|index| ((sign * scaled[index] + max_code + 1) / 2).clamp(0, max_code) as u32)
    }
}

/// The parts of a rotation that the quantizer works on.
struct Parts {
    /// The index of the largest component.
    dropped: usize,
    /// The three components that are not dropped.
    kept: [f64; 3],
    /// The length of the quaternion, with the sign of the largest component.
    length: f64,
}

impl Parts {
    /// Returns `None` if a component is not finite or the length is zero.
    #[inline]
    fn new(xyzw: [f32; 4]) -> Option<Self> {
        let q = xyzw.map(f64::from);
        let length_squared = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        if !(length_squared > 0.0 && length_squared.is_finite()) {
            return None;
        }
        let dropped = largest(xyzw);
        let length = sqrt(length_squared).copysign(component(q, dropped));
        Some(Self { dropped, kept: without(q, dropped), length })
    }
}

/// The number of rotations that [`SmallestThree::quantize_block`] takes.
pub(crate) const BLOCK: usize = 64;

/// The number 1.5 · 2⁵². Added to a number from 0 to below 2³², `ROUND` leaves the rounded integer
/// in the sum's low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// The number 1.5 · 2²³. `SINGLE_ROUND` rounds like `ROUND`, but an `f32` from 0 to below 2²².
const SINGLE_ROUND: f32 = 12_582_912.0;

/// Returns one rotation of a block.
#[inline]
fn row([x, y, z, w]: &[[f32; BLOCK]; 4], index: usize) -> [f32; 4] {
    [x[index], y[index], z[index], w[index]]
}

/// Returns the index of the largest component, or the first such index in a tie. The function has
/// no branches, because the index is unpredictable.
#[inline]
fn largest(xyzw: [f32; 4]) -> usize {
    let size = xyzw.map(f32::abs);
    let first = usize::from(size[1] > size[0]);
    let second = 2 + usize::from(size[3] > size[2]);
    first + usize::from(size[second] > size[first]) * (second - first)
}

/// For each dropped component, the indices of the other three.
const KEPT: [[usize; 3]; 4] = [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]];

/// Returns the components other than `dropped`, in order.
#[inline]
fn without<T: Copy>([x, y, z, w]: [T; 4], dropped: usize) -> [T; 3] {
    let pick = |before: T, after: T, is_after: bool| if is_after { after } else { before };
    [pick(x, y, dropped < 1), pick(y, z, dropped < 2), pick(z, w, dropped < 3)]
}

/// Returns the component with this index. With a load by index, the compiler would first store all
/// four components.
#[inline]
fn component([x, y, z, w]: [f64; 4], index: usize) -> f64 {
    let first = select_unpredictable(index < 1, x, y);
    select_unpredictable(index < 2, first, select_unpredictable(index < 3, z, w))
}

/// Puts the dropped component back among the three kept ones.
#[inline]
fn with<T: Copy>([a, b, c]: [T; 3], dropped: usize, component: T) -> [T; 4] {
    let pick = |index: usize, before: T, after: T| match dropped {
        dropped if dropped == index => component,
        dropped if dropped < index => before,
        _ => after,
    };
    [pick(0, a, a), pick(1, a, b), pick(2, b, c), pick(3, c, c)]
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    extern crate std;

    /// Returns the angle in degrees between two rotations.
    fn angle_deg(a: [f32; 4], b: [f32; 4]) -> f64 {
        let [a, b] = [a.map(f64::from), b.map(f64::from)];
        let len = |q: [f64; 4]| q.iter().map(|c| c * c).sum::<f64>().sqrt();
        let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let sign = if dot < 0.0 { -1.0 } else { 1.0 };
        // Finds the half-angle from the chord, because `acos` loses all precision for small angles.
        let chord: f64 = a
            .iter()
            .zip(b)
            .map(|(x, y)| (x / len(a) - sign * y / len(b)).powi(2))
            .sum::<f64>()
            .sqrt();
        (4.0 * (chord / 2.0).min(1.0).asin()).to_degrees()
    }

    /// Returns rotations that are hard to code (ties for the largest component, axes, zeros of both
    /// signs) and random ones.
    fn rotations() -> Vec<[f32; 4]> {
        let mut all = Vec::new();
        for code in 0..81 {
            let q: Vec<f32> = (0..4).map(|axis| (code / 3i32.pow(axis) % 3 - 1) as f32).collect();
            all.push([q[0], q[1], q[2], q[3]]);
        }
        all.retain(|q| q.iter().any(|c| *c != 0.0));
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 40) as f32) / (1u64 << 23) as f32 - 1.0
        };
        for index in 0..20_000 {
            let mut q = [next(), next(), next(), next()];
            if index % 4 == 0 {
                // Two components almost tie for the largest, which makes the dropped component
                // smallest.
                q[1] = q[0] * (1.0 + next() * 1e-3);
                q[2] *= 0.1;
            }
            if index % 4 == 1 {
                // All four components almost tie for the largest.
                q = q.map(|c| if c < 0.0 { -1.0 } else { 1.0 } + c * 1e-2);
            }
            all.push(q);
        }
        all
    }

    #[test]
    fn a_block_has_the_codes_of_its_rotations() {
        let mut rotations = rotations();
        // These quaternions are very long, very short, and near the limits of `f32`.
        rotations.extend([[1e30, 2.0, 0.0, 0.0], [0.0, 1e-38, 1e-39, 0.0], [f32::MAX; 4]]);
        rotations.resize(rotations.len().next_multiple_of(BLOCK), [0.0, 0.0, 0.0, 1.0]);
        for bits in 2..=20 {
            let rotation = SmallestThree::new(bits).unwrap();
            for rotations in rotations.chunks(BLOCK) {
                let block: [[f32; BLOCK]; 4] =
                    core::array::from_fn(|axis| core::array::from_fn(|nth| rotations[nth][axis]));
                let codes = rotation.quantize_block(&block).unwrap();
                for (index, xyzw) in rotations.iter().enumerate() {
                    assert_eq!(codes.map(|codes| codes[index]), rotation.quantize(*xyzw).unwrap());
                }
            }
        }
        let rotation = SmallestThree::new(9).unwrap();
        for wrong in [0.0, f32::NAN, f32::INFINITY] {
            let mut block = [[1.0; BLOCK]; 4];
            block.iter_mut().for_each(|components| components[BLOCK - 1] = wrong);
            assert_eq!(rotation.quantize_block(&block), None, "{wrong}");
        }
    }

    /// Returns rotations whose four components are almost equal. Three components are next to a
    /// boundary between codes, or as large as the dropped one, because the error is largest for
    /// these.
    fn corner(rotation: SmallestThree) -> Vec<[f32; 4]> {
        let max_code = f64::from(rotation.max_code());
        let scale = FRAC_1_SQRT_2 / max_code;
        // A boundary is an even multiple of `scale`, because the largest code is odd.
        let nearest = 2.0 * (0.5 / scale / 2.0).floor();
        let beside: Vec<f64> = [-4.0, -2.0, 0.0, 2.0]
            .into_iter()
            .flat_map(|off| [-1e-7, 1e-7].map(|side| (nearest + off) * scale + side))
            .collect();
        let mut all = Vec::new();
        let mut add = |a: f64, b: f64, c: f64| {
            let dropped = (1.0 - a * a - b * b - c * c).max(0.0).sqrt();
            all.push([a, b, c, dropped].map(|component| component as f32));
        };
        for &a in &beside {
            let equal = ((1.0 - a * a) / 3.0).max(0.0).sqrt() - 1e-7;
            add(a, equal, equal);
            for &b in &beside {
                let equal = ((1.0 - a * a - b * b) / 2.0).max(0.0).sqrt() - 1e-7;
                add(a, b, equal);
                beside.iter().for_each(|c| add(a, b, *c));
            }
        }
        all
    }

    #[test]
    fn worst_angles() {
        // Prints the numbers of the table in the module's documentation.
        for bits in 2..=20 {
            let rotation = SmallestThree::new(bits).unwrap();
            let worst = rotations()
                .into_iter()
                .chain(corner(rotation))
                .map(|q| angle_deg(q, rotation.reconstruct(rotation.quantize(q).unwrap())))
                .fold(0.0, f64::max);
            std::println!("{bits:2} bits: {worst:.6} degrees");
            let bound = rotation.max_error_deg();
            assert!(worst < bound, "{bits} bits: {worst} degrees");
            // Above 16 bits, `f32` components do not lie close enough to a boundary.
            let tight = if (4..=16).contains(&bits) { 0.96 } else { 0.8 };
            assert!(worst > tight * bound, "{bits} bits: the bound is loose, {worst}");
        }
    }

    #[test]
    fn the_documented_bounds_hold_where_all_components_are_equal() {
        for (bits, documented) in [(9, 0.56), (10, 0.28), (11, 0.14), (12, 0.07)] {
            let rotation = SmallestThree::new(bits).unwrap();
            let worst = corner(rotation)
                .into_iter()
                .map(|q| angle_deg(q, rotation.reconstruct(rotation.quantize(q).unwrap())))
                .fold(0.0, f64::max);
            // `tune` selects bits by this bound, so the bound has to agree with the documentation.
            assert!(worst < rotation.max_error_deg() && rotation.max_error_deg() < documented);
            assert!(worst > 0.97 * documented, "{bits} bits: {worst} degrees");
        }
    }

    #[test]
    fn a_quaternion_and_its_negative_have_the_same_codes() {
        for bits in [2, 9, 20] {
            let rotation = SmallestThree::new(bits).unwrap();
            for q in rotations() {
                assert_eq!(
                    rotation.quantize(q).unwrap(),
                    rotation.quantize(q.map(|c| -c)).unwrap(),
                    "{q:?}"
                );
            }
        }
    }

    #[test]
    fn any_codes_give_a_unit_quaternion() {
        let rotation = SmallestThree::new(2).unwrap();
        for index in 0..256u32 {
            let q = rotation.reconstruct([index & 3, index >> 2 & 3, index >> 4 & 3, index >> 6]);
            let length: f32 = q.iter().map(|c| c * c).sum();
            assert!((length - 1.0).abs() < 1e-6);
        }
        assert_eq!(rotation.reconstruct([9, 7, 7, 7]), rotation.reconstruct([3, 3, 3, 3]));
    }

    #[test]
    fn a_quaternion_without_direction_is_refused() {
        let rotation = SmallestThree::new(9).unwrap();
        for q in [[0.0; 4], [f32::NAN, 0.0, 0.0, 1.0], [f32::INFINITY, 0.0, 0.0, 1.0]] {
            assert_eq!(rotation.quantize(q), Err(EncodeError::NotANumber { id: None, field: "" }));
        }
        assert!(SmallestThree::new(1).is_err() && SmallestThree::new(21).is_err());
    }

    #[test]
    fn a_turned_baseline_is_the_same_rotation() {
        let rotation = SmallestThree::new(9).unwrap();
        for q in rotations() {
            let codes = rotation.quantize(q).unwrap();
            assert_eq!(rotation.turned(codes, codes[0]), [codes[1], codes[2], codes[3]]);
            for dropped in 0..4 {
                if q[dropped as usize].abs() < 0.6 * q[codes[0] as usize].abs() {
                    continue; // The square root is exact only if the dropped component stays large.
                }
                let [a, b, c] = rotation.turned(codes, dropped);
                let angle = angle_deg(rotation.reconstruct([dropped, a, b, c]), q);
                let clamped =
                    [a, b, c].iter().any(|code| *code == 0 || *code == rotation.max_code());
                assert!(angle < 1.5 || clamped, "{q:?} {codes:?} {dropped} {angle}");
            }
        }
    }

    /// Quantizes with the formula of `spec/CODEC.md`, section 3.
    fn naive(rotation: SmallestThree, xyzw: [f32; 4]) -> [u32; 4] {
        let q = xyzw.map(f64::from);
        let length = q.iter().map(|c| c * c).sum::<f64>().sqrt();
        let dropped = (0..4).rev().max_by(|a, b| q[*a].abs().total_cmp(&q[*b].abs())).unwrap();
        let scale = if q[dropped] < 0.0 { -length } else { length };
        let mut codes = std::vec![dropped as u32];
        for index in (0..4).filter(|index| *index != dropped) {
            let share = (q[index] / scale + FRAC_1_SQRT_2) / (2.0 * FRAC_1_SQRT_2);
            let code = (share * f64::from(rotation.max_code()) + 0.5) as u32;
            codes.push(code.min(rotation.max_code()));
        }
        [codes[0], codes[1], codes[2], codes[3]]
    }

    #[test]
    fn the_shortcut_gives_the_codes_of_the_formula() {
        let mut all = rotations();
        // The components are as close as possible to halfway between two codes, or slightly off it.
        for code in 0..511u32 {
            let component = (f64::from(code) + 0.5) / 511.0 * 2.0 * FRAC_1_SQRT_2 - FRAC_1_SQRT_2;
            let largest = (1.0 - component * component).sqrt();
            for beside in [0.0, 1e-9, -1e-9, 1e-7, -1e-7] {
                all.push([largest, component + beside, 0.0, 0.0].map(|number| number as f32));
                all.push([0.0, (component + beside) * -3.0, -3.0 * largest, 0.0].map(|n| n as f32));
            }
        }
        all.extend([[1e-20, 0.0, 3e-21, 0.0], [1e18, -1e18, 1e17, 3.0], [0.5; 4], [-0.5; 4]]);
        for bits in 2..=20 {
            let rotation = SmallestThree::new(bits).unwrap();
            for q in &all {
                assert_eq!(rotation.quantize(*q).unwrap(), naive(rotation, *q), "{bits} {q:?}");
            }
        }
    }
}
