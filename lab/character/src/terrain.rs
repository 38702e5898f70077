//! The gently rolling ground. Its height is a sum of waves from 10 m to 5 km long.
//!
//! All waves together can be as steep as 0.4, but mostly the slope is below 0.2. The height costs
//! one sine per wave.

/// A wave's height, its length per 2π in x and in y (cm), and its phase (rad).
struct Wave {
    height_cm: f64,
    x_cm: f64,
    y_cm: f64,
    phase: f64,
}

const WAVES: [Wave; 5] = [
    Wave { height_cm: 5200.0, x_cm: 96_000.0, y_cm: -160_000.0, phase: 0.4 },
    Wave { height_cm: 900.0, x_cm: -17_000.0, y_cm: 12_500.0, phase: 2.1 },
    Wave { height_cm: 260.0, x_cm: 3100.0, y_cm: 5300.0, phase: 4.0 },
    Wave { height_cm: 60.0, x_cm: 1400.0, y_cm: -870.0, phase: 1.3 },
    Wave { height_cm: 8.0, x_cm: 310.0, y_cm: 190.0, phase: 5.6 },
];

/// Returns the ground's height at a position, in cm.
pub(crate) fn height_cm(x_cm: f64, y_cm: f64) -> f64 {
    WAVES
        .iter()
        .map(|wave| wave.height_cm * libm::sin(x_cm / wave.x_cm + y_cm / wave.y_cm + wave.phase))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ground_is_gentle() {
        let slope = |along: fn(&Wave) -> f64| -> f64 {
            WAVES.iter().map(|wave| wave.height_cm / along(wave).abs()).sum()
        };
        let (x, y) = (slope(|wave| wave.x_cm), slope(|wave| wave.y_cm));
        assert!((x * x + y * y).sqrt() < 0.4, "{x} in x, {y} in y");
        assert!(height_cm(1_234_567.0, -987_654.0).abs() < 6500.0);
    }
}
