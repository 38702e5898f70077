//! Quantizes vectors, with limits for each axis. See `spec/CODEC.md`, section 2.

use crate::bits::{BitReader, BitSink};
use crate::quantize::FloatLimits;
use crate::{DecodeError, EncodeError};

/// The limits of a vector. Each axis has its own limits, because a world is seldom as high as it is
/// wide.
///
/// Each reconstructed component is within half a step of its axis' limits.
///
/// ```
/// use kinepack::bits::{BitCounter, BitSink};
/// use kinepack::quantize::{FloatLimits, VectorLimits};
///
/// let ground = FloatLimits::new(-100.0, 100.0, 0.1)?;
/// let height = FloatLimits::new(-10.0, 10.0, 0.1)?;
/// let position = VectorLimits::new([ground, height, ground]);
/// assert_eq!(position.bits(), 11 + 8 + 11);
///
/// let codes = position.quantize([10.0, 5.0, -2.5])?;
/// assert_eq!(codes, [1100, 150, 975]);
/// assert_eq!(position.reconstruct(codes), [10.0, 5.0, -2.5]);
///
/// let mut counter = BitCounter::default();
/// position.write_codes(&mut counter, codes);
/// assert_eq!(counter.len_bits(), 30);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VectorLimits<const N: usize> {
    axes: [FloatLimits; N],
}

impl<const N: usize> VectorLimits<N> {
    /// Makes limits from those of each axis.
    pub const fn new(axes: [FloatLimits; N]) -> Self {
        Self { axes }
    }

    /// The limits of each axis.
    pub const fn axes(&self) -> &[FloatLimits; N] {
        &self.axes
    }

    /// Returns the number of bits that hold the codes of all axes.
    pub fn bits(&self) -> u32 {
        self.axes.iter().map(FloatLimits::bits).sum()
    }

    /// Returns the codes of a vector.
    ///
    /// # Errors
    /// [`EncodeError`] if a component is not a number or is out of its axis' range.
    pub fn quantize(&self, vector: [f32; N]) -> Result<[u32; N], EncodeError> {
        self.codes(vector, |axis, component| axis.as_single().quantize(component))
    }

    /// Like [`quantize`](Self::quantize), but clamps components outside of their range to the
    /// nearest end.
    ///
    /// # Errors
    /// [`EncodeError::NotANumber`] if a component is not a number.
    pub fn quantize_clamped(&self, vector: [f32; N]) -> Result<[u32; N], EncodeError> {
        self.codes(vector, |axis, component| axis.as_single().quantize_clamped(component))
    }

    fn codes(
        &self,
        vector: [f32; N],
        code: impl Fn(&FloatLimits, f64) -> Result<u32, EncodeError>,
    ) -> Result<[u32; N], EncodeError> {
        let mut codes = [0; N];
        for ((slot, axis), component) in codes.iter_mut().zip(&self.axes).zip(vector) {
            *slot = code(axis, f64::from(component))?;
        }
        Ok(codes)
    }

    /// Returns the vector of `codes`.
    pub fn reconstruct(&self, codes: [u32; N]) -> [f32; N] {
        core::array::from_fn(|axis| self.axes[axis].reconstruct(codes[axis]) as f32)
    }

    /// Writes the codes, each in the number of bits of its axis.
    pub fn write_codes(&self, sink: &mut impl BitSink, codes: [u32; N]) {
        self.axes.iter().zip(codes).for_each(|(axis, code)| axis.write_code(sink, code));
    }

    /// Reads the codes.
    ///
    /// # Errors
    /// [`DecodeError`] at the end of the data, and for codes above their axis' maximum.
    pub fn read_codes(&self, reader: &mut BitReader<'_>) -> Result<[u32; N], DecodeError> {
        let mut codes = [0; N];
        for (code, axis) in codes.iter_mut().zip(&self.axes) {
            *code = axis.read_code(reader)?;
        }
        Ok(codes)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::bits::BitWriter;

    #[test]
    fn each_axis_has_its_own_limits() {
        let [wide, low] = [FloatLimits::new(-64.0, 64.0, 0.25), FloatLimits::new(1.0, 2.0, 0.5)]
            .map(Result::unwrap);
        let flat = FloatLimits::new(3.0, 3.0, 1.0).unwrap();
        let limits = VectorLimits::new([wide, low, flat]);
        assert_eq!(limits.bits(), 10 + 2, "an axis of no width takes no bits");
        let codes = limits.quantize([-64.0, 1.6, 3.0]).unwrap();
        assert_eq!(codes, [0, 1, 0]);
        let mut bytes = Vec::new();
        let mut writer = BitWriter::append(&mut bytes);
        limits.write_codes(&mut writer, codes);
        writer.finish().unwrap();
        assert_eq!(limits.read_codes(&mut BitReader::new(&bytes)), Ok(codes));
        assert_eq!(limits.reconstruct(codes), [-64.0, 1.5, 3.0]);
        assert!(limits.read_codes(&mut BitReader::new(&[0xFF, 0xFF])).is_err());
        assert_eq!(
            limits.quantize([0.0, 2.5, 3.0]),
            Err(EncodeError::OutOfRange { id: None, field: "", value: 2.5 })
        );
        assert_eq!(limits.quantize_clamped([99.0, 2.5, 4.0]), Ok([512, 2, 0]));
        assert_eq!(
            limits.quantize_clamped([f32::NAN; 3]),
            Err(EncodeError::NotANumber { id: None, field: "" })
        );
    }
}
