//! Converts codes to coarser steps and back. A coarser step is 2^shift of the finest steps. See
//! `spec/CODEC.md`, section 14.

/// The largest shift: no step is coarser than 2³¹ of the finest steps.
pub(crate) const MAX_SHIFT: u8 = 31;

/// Returns the code of a value in steps of 2^shift, rounded to the nearest, halves up.
#[inline]
pub(crate) fn coarse_code(value: u32, shift: u32) -> u32 {
    ((u64::from(value) + (1 << shift >> 1)) >> shift) as u32
}

/// Returns the value of a code in steps of 2^shift.
#[inline]
pub(crate) fn coarse_value(code: u32, shift: u32, max: u32) -> u32 {
    (u64::from(code) << shift).min(u64::from(max)) as u32
}

/// Returns the multiple of 2^shift that is the nearest to a value, or `max` if that is nearer.
#[inline]
pub(crate) fn coarsened(value: u32, shift: u32, max: u32) -> u32 {
    coarse_value(coarse_code(value, shift), shift, max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarse_codes_round_trip_and_err_by_at_most_half_a_step() {
        for max in (0..70).chain([u32::MAX - 1, u32::MAX]) {
            for shift in 0..=u32::from(MAX_SHIFT) {
                for value in (0..=max.min(70)).chain(max.saturating_sub(70)..=max) {
                    let code = coarse_code(value, shift);
                    let coarse = coarse_value(code, shift, max);
                    assert!(code <= coarse_code(max, shift) && coarse <= max);
                    assert_eq!(coarse_code(coarse, shift), code);
                    assert!(u64::from(coarse.abs_diff(value)) <= (1 << shift) / 2);
                }
            }
        }
    }
}
