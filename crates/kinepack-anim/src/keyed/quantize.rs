//! Quantizes the values of keys: rotations to 48 or 32 bits, vectors to 48. The largest component
//! of a rotation is dropped. The other three are quantized over ±1/√2 in 15 or 10 bits. Their error
//! is at most half a step, which is 0.0000216 or 0.00069. The error of the dropped component is at
//! most three times as large. The error of the whole rotation is at most 0.00015 or 0.0048 rad.
//! Vectors are quantized between the minimum and the maximum of their range. Source: the article on
//! the animations of League of Legends. See `spec/ANIM.md`, section 2.
//!
//! Decoding uses `f32` with + − × and √ in exactly the order written here, so it gives the same
//! bits on every platform.

use std::f32::consts::{FRAC_1_SQRT_2, SQRT_2};

use kinepack::quantize::SmallestThree;

/// The coding of a rotation in 48 bits: three components of 15 bits, and 2 bits for the index of
/// the dropped one.
const FINE: SmallestThree = match SmallestThree::new(15) {
    Ok(quantizer) => quantizer,
    Err(_) => panic!("15 bits are possible"),
};

/// The coding of a rotation in 32 bits.
const COARSE: SmallestThree = match SmallestThree::new(10) {
    Ok(quantizer) => quantizer,
    Err(_) => panic!("10 bits are possible"),
};

/// Quantizes a rotation to 48 bits, in words from the lowest 16 bits up. The third kept component
/// takes bits 0 to 14, the second 15 to 29, the first 30 to 44. Bits 45 and 46 hold the index of
/// the dropped component, and bit 47 is zero. A quaternion of length zero becomes the identity.
///
/// ```
/// use kinepack_anim::keyed::quantize::{rotation_48, rotation_from_48};
///
/// let back = rotation_from_48(rotation_48([0.0, 0.6, 0.0, 0.8]));
/// assert!((back[1] - 0.6).abs() < 0.00003 && (back[3] - 0.8).abs() < 0.00003);
/// ```
pub fn rotation_48(xyzw: [f32; 4]) -> [u16; 3] {
    let [dropped, a, b, c] = codes(&FINE, xyzw).map(u64::from);
    let bits = dropped << 45 | a << 30 | b << 15 | c;
    [bits as u16, (bits >> 16) as u16, (bits >> 32) as u16]
}

/// Decodes the result of [`rotation_48`] to a unit quaternion. Every bit pattern is valid.
#[inline]
pub fn rotation_from_48(words: [u16; 3]) -> [f32; 4] {
    let bits = u64::from(words[0]) | u64::from(words[1]) << 16 | u64::from(words[2]) << 32;
    let code = |shift: u32| (bits >> shift & 0x7fff) as u16;
    smallest_three((bits >> 45 & 3) as usize, [code(30), code(15), code(0)], SQRT_2 / 32767.0)
}

/// Quantizes a rotation to 32 bits. The third kept component takes bits 0 to 9, the second 10 to
/// 19, the first 20 to 29. Bits 30 and 31 hold the index of the dropped component.
pub fn rotation_32(xyzw: [f32; 4]) -> u32 {
    let [dropped, a, b, c] = codes(&COARSE, xyzw);
    dropped << 30 | a << 20 | b << 10 | c
}

/// Decodes the result of [`rotation_32`] to a unit quaternion. Every bit pattern is valid.
#[inline]
pub fn rotation_from_32(bits: u32) -> [f32; 4] {
    let code = |shift: u32| (bits >> shift & 0x3ff) as u16;
    smallest_three((bits >> 30) as usize, [code(20), code(10), code(0)], SQRT_2 / 1023.0)
}

fn codes(quantizer: &SmallestThree, xyzw: [f32; 4]) -> [u32; 4] {
    let zero_turn = || quantizer.quantize([0.0, 0.0, 0.0, 1.0]).unwrap_or_default();
    quantizer.quantize(xyzw).unwrap_or_else(|_| zero_turn())
}

#[inline]
fn smallest_three(dropped: usize, codes: [u16; 3], step: f32) -> [f32; 4] {
    let [a, b, c] = codes.map(|code| f32::from(code) * step - FRAC_1_SQRT_2);
    let rest = a * a + b * b + c * c;
    let d = (1.0 - rest).max(0.0).sqrt();
    // A code that no encoder writes may decode to a quaternion whose length exceeds one.
    let shrink = if rest > 1.0 { 1.0 / rest.sqrt() } else { 1.0 };
    let [a, b, c] = [a * shrink, b * shrink, c * shrink];
    // A table selects the components, because a branch on the index would be mispredicted half of
    // the time.
    let found = [d, a, b, c];
    PLACES[dropped & 3].map(|place| found[place & 3])
}

/// The indices of x, y, z and w in an array that contains the dropped component first and then the
/// three others. There is a row for each index of the dropped component.
const PLACES: [[usize; 4]; 4] = [[0, 1, 2, 3], [1, 0, 2, 3], [1, 2, 0, 3], [1, 2, 3, 0]];

/// The box over which vectors are quantized to 16 bits per axis, both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VectorRange {
    /// The smallest value of each axis.
    pub min: [f32; 3],
    /// The largest value of each axis, not below the smallest.
    pub max: [f32; 3],
}

impl VectorRange {
    /// Returns the smallest box that contains the given vectors. Without vectors, it is a single
    /// point at zero.
    pub fn around<'a>(vectors: impl IntoIterator<Item = &'a [f32; 3]>) -> Self {
        let mut range: Option<Self> = None;
        for vector in vectors {
            let range = range.get_or_insert(Self { min: *vector, max: *vector });
            for (axis, &value) in vector.iter().enumerate() {
                range.min[axis] = range.min[axis].min(value);
                range.max[axis] = range.max[axis].max(value);
            }
        }
        range.unwrap_or(Self { min: [0.0; 3], max: [0.0; 3] })
    }

    /// Returns whether all ends and extents are finite and no minimum is above its maximum.
    pub fn is_valid(&self) -> bool {
        self.min
            .iter()
            .zip(&self.max)
            .all(|(min, max)| min.is_finite() && min <= max && (max - min).is_finite())
    }

    /// Returns the nearest codes of a vector. Values outside the range are clamped to its ends.
    pub fn quantize(&self, vector: [f32; 3]) -> [u16; 3] {
        let mut codes = [0; 3];
        for axis in 0..3 {
            let extent = f64::from(self.max[axis]) - f64::from(self.min[axis]);
            if extent > 0.0 {
                let share = (f64::from(vector[axis]) - f64::from(self.min[axis])) / extent;
                // The cast saturates at both ends.
                codes[axis] = (share * 65535.0).round() as u16;
            }
        }
        codes
    }

    /// Decodes a vector from its codes.
    #[inline]
    pub fn reconstruct(&self, codes: [u16; 3]) -> [f32; 3] {
        let mut vector = [0.0; 3];
        for axis in 0..3 {
            vector[axis] = f32::from(codes[axis]) * ((self.max[axis] - self.min[axis]) / 65535.0)
                + self.min[axis];
        }
        vector
    }
}
