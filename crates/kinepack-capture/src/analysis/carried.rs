//! Finds the precision of recorded numbers: the coarsest power of two or of ten that divides all of
//! them.

/// The largest `power` of a [`Carried`] whose step counts as intended.
const FINEST_POWER: u32 = 30;
const FINEST_DECIMAL: u32 = 9;

/// Finds the common step of numbers that are added one by one.
#[derive(Clone, Debug)]
pub(super) struct Carried {
    /// The power of two that divides all numbers is 1024 / 2^`power`.
    power: u32,
    /// The power of ten that divides all numbers is 1000 / 10^`decimal`.
    decimal: u32,
    max_size: f64,
    is_single: bool,
}

impl Carried {
    pub(super) fn new() -> Self {
        // The first steps are 1024 and 1000.
        Self { power: 0, decimal: 0, max_size: 0.0, is_single: true }
    }

    pub(super) fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        self.max_size = self.max_size.max(value.abs());
        self.is_single &= f64::from(value as f32).to_bits() == value.to_bits();
        while self.power <= FINEST_POWER && value % Self::power_step(self.power) != 0.0 {
            self.power += 1;
        }
        while self.decimal <= FINEST_DECIMAL
            && !self.is_near_multiple(value, Self::decimal_step(self.decimal))
        {
            self.decimal += 1;
        }
    }

    fn power_step(power: u32) -> f64 {
        1024.0 / (1_u64 << power) as f64
    }

    fn decimal_step(decimal: u32) -> f64 {
        1000.0 / 10_f64.powi(decimal as i32)
    }

    /// Returns whether `value` is a multiple of `step` to within rounding: decimal fractions are
    /// not exact in binary, and less so as `f32`.
    fn is_near_multiple(&self, value: f64, step: f64) -> bool {
        let spacing = if self.is_single { f64::from(f32::EPSILON) } else { f64::EPSILON };
        let multiple = (value / step).round() * step;
        (value - multiple).abs() <= 2.0 * spacing * value.abs()
            && 16.0 * spacing * value.abs() < step
    }

    /// Returns the step; `None` if the numbers are as fine as floats.
    pub(super) fn step(&self) -> Option<f64> {
        if self.max_size == 0.0 {
            return None;
        }
        let spacing = if self.is_single { f64::from(f32::EPSILON) } else { f64::EPSILON };
        let power = (self.power <= FINEST_POWER).then(|| Self::power_step(self.power));
        let decimal = (self.decimal <= FINEST_DECIMAL).then(|| Self::decimal_step(self.decimal));
        let coarser = match (power, decimal) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
        // A step as fine as the spacing of the largest number is not an intended step.
        coarser.filter(|step| *step > 16.0 * spacing * self.max_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(values: impl IntoIterator<Item = f64>) -> Option<f64> {
        let mut carried = Carried::new();
        values.into_iter().for_each(|value| carried.add(value));
        carried.step()
    }

    #[test]
    fn the_coarsest_common_step_is_found() {
        assert_eq!(step((-500..500).map(|n| f64::from(n) / 512.0)), Some(1.0 / 512.0));
        assert_eq!(step((-500..500).map(|n| f64::from(n) * 0.01)), Some(0.01));
        assert_eq!(step((-500..500).map(|n| f64::from(n as f32 * 0.001))), Some(0.001));
        assert_eq!(step([5.0, 10.0, 3.0]), Some(1.0));
        assert_eq!(step([4.0, 12.0, 8.0]), Some(4.0));
        assert_eq!(step([100.0, 300.0]), Some(100.0));
    }

    #[test]
    fn numbers_as_fine_as_floats_have_no_step() {
        assert_eq!(step((1..500).map(|n| f64::from((n as f32).sqrt()))), None);
        assert_eq!(step((1..500).map(|n| f64::from(n).sqrt())), None);
        assert_eq!(step([]), None);
        assert_eq!(step([0.0, f64::NAN, f64::INFINITY]), None);
    }
}
