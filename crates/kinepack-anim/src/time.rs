//! Converts seconds to sample positions. See `spec/ANIM.md`, section 6.

/// Returns the position of `time_s`, in samples. If a time differs from a sample's time only by the
/// rounding of its seconds to `f32`, the result is exactly that sample.
#[inline]
pub(crate) fn position(time_s: f32, rate_hz: f32) -> f64 {
    /// Half a unit in the last place of an `f32`, relative to its value.
    const ROUNDING: f64 = f32::EPSILON as f64 / 2.0;
    // The product is exact, because each factor has 24 bits.
    let position = f64::from(time_s) * f64::from(rate_hz);
    let sample = f64::from((position + 0.5) as u32);
    if (position - sample).abs() <= ROUNDING * sample { sample } else { position }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_sample_is_its_position() {
        for rate_hz in [24.0_f32, 29.97, 30.0, 60.0, 120.0] {
            for sample in (0..1 << 22).step_by(331) {
                let time_s = sample as f32 / rate_hz;
                assert_eq!(position(time_s, rate_hz), f64::from(sample), "{rate_hz} Hz");
            }
        }
    }

    #[test]
    fn no_other_time_is() {
        for sample in (0..1 << 16).step_by(7) {
            for time_s in [(sample as f32 / 30.0).next_up().next_up(), (sample as f32 + 0.4) / 30.0]
            {
                assert_eq!(position(time_s, 30.0), f64::from(time_s) * 30.0);
            }
        }
        assert!(position(f32::NAN, 30.0).is_nan());
        assert_eq!(position(f32::INFINITY, 30.0), f64::INFINITY);
        assert_eq!(position(-1.0, 30.0), -30.0);
    }
}
