//! Writes rotations as the smallest three components of their quaternions, as most games send them.
//!
//! The component with the largest magnitude is left out. The index of this component takes a few
//! bits, and the other three are rounded to codes of a fixed width each. A quaternion and its
//! negative are the same rotation, so the component that is left out counts as positive.

/// For each component, the other three components.
const OTHERS: [[usize; 3]; 4] = [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]];

/// The widths with which a joint's rotation becomes codes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallestThree {
    /// The number of bits for the index of the largest component.
    pub(crate) index_bits: u32,
    /// The number of bits for each of the other three components.
    pub(crate) component_bits: [u32; 3],
    /// The largest magnitude of a component. Larger magnitudes are cut off. No rotation needs this
    /// at √½.
    pub(crate) limit: f64,
}

/// The codes of a rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Turn {
    /// The index of the largest component.
    pub(crate) largest: usize,
    pub(crate) codes: [u32; 3],
}

impl SmallestThree {
    /// Returns the codes of a unit quaternion.
    pub(crate) fn quantize(&self, rotation: [f32; 4]) -> Turn {
        let mut largest = 0;
        for component in 1..4 {
            if rotation[component].abs() > rotation[largest].abs() {
                largest = component;
            }
        }
        let sign = f64::from(rotation[largest]).signum();
        let codes = std::array::from_fn(|place| {
            let component = sign * f64::from(rotation[OTHERS[largest][place]]);
            let max = max_code(self.component_bits[place]);
            ((component / self.limit * 0.5 + 0.5) * max).round().clamp(0.0, max) as u32
        });
        Turn { largest, codes }
    }

    /// Returns the unit quaternion of codes.
    pub(crate) fn rotation(&self, turn: &Turn) -> [f32; 4] {
        let mut rotation = [0.0; 4];
        let mut left = 1.0;
        for (place, component) in OTHERS[turn.largest].into_iter().enumerate() {
            let share = f64::from(turn.codes[place]) / max_code(self.component_bits[place]);
            rotation[component] = (share * 2.0 - 1.0) * self.limit;
            left -= rotation[component] * rotation[component];
        }
        rotation[turn.largest] = left.max(0.0).sqrt();
        // The corners of the cube of codes give quaternions longer than 1.
        let length = rotation.iter().map(|component| component * component).sum::<f64>().sqrt();
        rotation.map(|component| (component / length) as f32)
    }
}

fn max_code(bits: u32) -> f64 {
    f64::from((1_u32 << bits) - 1)
}
