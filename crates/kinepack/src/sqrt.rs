//! The square root. IEEE 754 requires correct rounding, so the result is the same on every
//! platform, with and without the feature `std`.

/// The square root of a number that is not negative.
#[inline]
pub(crate) fn sqrt(value: f64) -> f64 {
    // This compiles to one processor instruction; `libm` would be a function call.
    #[cfg(feature = "std")]
    return value.sqrt();
    #[cfg(not(feature = "std"))]
    return libm::sqrt(value);
}

/// The same for `f32`.
#[inline]
pub(crate) fn single_sqrt(value: f32) -> f32 {
    #[cfg(feature = "std")]
    return value.sqrt();
    #[cfg(not(feature = "std"))]
    return libm::sqrtf(value);
}
