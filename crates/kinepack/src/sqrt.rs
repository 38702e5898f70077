//! Computes square roots. IEEE 754 requires correct rounding of square roots, so the result is the
//! same on every platform, with and without the feature `std`.

/// Returns the square root of a number that is not negative.
#[inline]
pub(crate) fn sqrt(value: f64) -> f64 {
    // Compiles to one processor instruction; `libm` would be a function call.
    #[cfg(feature = "std")]
    return value.sqrt();
    #[cfg(not(feature = "std"))]
    return libm::sqrt(value);
}

/// Like [`sqrt`], for an `f32`.
#[inline]
pub(crate) fn single_sqrt(value: f32) -> f32 {
    #[cfg(feature = "std")]
    return value.sqrt();
    #[cfg(not(feature = "std"))]
    return libm::sqrtf(value);
}
