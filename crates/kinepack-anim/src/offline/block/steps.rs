//! The codes of steps.

/// The segment step for which the steps of components are planned.
pub(super) const USUAL_STEP: u8 = 96;

/// Returns the code of a step whose size is about `size` in a segment with [`USUAL_STEP`].
pub(super) fn step_code(size: f64) -> u8 {
    let quarters = 4.0 * (size.log2() + 64.0) - f64::from(USUAL_STEP) / 2.0;
    quarters.round().clamp(1.0, 255.0) as u8
}
