//! The limits that all readers and builders of this crate share.

/// The maximum number of joints. A key stores its joint's index in 14 bits.
pub const MAX_JOINTS: usize = 1 << 14;
/// The maximum number of samples in a clip, which is enough for more than nine hours at 120 Hz.
pub const MAX_SAMPLES: usize = 1 << 22;
/// The maximum number of curves that a clip may have.
pub const MAX_CURVES: usize = 4096;
/// The maximum number of markers that a clip may have.
pub const MAX_MARKERS: usize = 16_384;
/// The maximum number of bytes that the name of a curve or a marker may have.
pub const MAX_NAME_BYTES: usize = 65_535;
