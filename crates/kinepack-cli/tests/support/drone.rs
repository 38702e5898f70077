//! An entity type for the captures of the tests.

use kinepack::Pack;

#[derive(Clone, Copy, Pack)]
pub(crate) struct Drone {
    #[pack(range = -500.0..500.0, precision = 0.01)]
    pub(crate) position: [f32; 3],
    #[pack(range = 0..=100)]
    pub(crate) battery: i32,
}
