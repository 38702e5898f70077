//! The factors that steps represent. See `spec/ANIM.md`, section 12.

/// The powers 2^(i/8), as the format defines them.
pub(super) const OCTAVE: [f32; 8] = [
    1.0,
    1.090_507_7,
    1.189_207_1,
    1.296_839_6,
    std::f32::consts::SQRT_2,
    1.542_210_8,
    1.681_792_9,
    1.834_008_1,
];

/// Computes 2^(`eighths` / 8 + `whole`). The exponent must be from −126 to 127.
#[inline]
fn power(eighths: u32, whole: i32) -> f32 {
    OCTAVE[(eighths % 8) as usize]
        * f32::from_bits(((eighths / 8) as i32 + whole + 127).cast_unsigned() << 23)
}

/// Returns the factor of all components of a segment: 2^(step / 8 − 64).
#[inline]
pub(crate) fn segment_scale(step: u8) -> f32 {
    power(u32::from(step), -64)
}

/// Returns the additional factor of a track's component: 2^(step / 4).
#[inline]
pub(crate) fn own_scale(step: u8) -> f32 {
    power(2 * u32::from(step), 0)
}
