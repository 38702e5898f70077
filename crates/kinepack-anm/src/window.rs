//! The four keys of a track around the current time, and the interpolated value. See `spec/ANM.md`,
//! section 5. A rotation takes about 150 operations, including one square root, and a vector half
//! of that.

use kinepack_anim::Transform;
use kinepack_anim::keyed::spline::{Parametrization, blend, weights};

/// The keys P0 to P3 of a track. The current time is between P1 and P2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window<const N: usize> {
    /// The times of the keys. The times do not decrease if the keys of the file are in order. A
    /// jump cache that was read from a file may break this order.
    times: [u16; 4],
    values: [[f32; N]; 4],
}

impl<const N: usize> Window<N> {
    /// Returns the state before the first key: the same value four times, at time 0.
    fn at_rest(value: [f32; N]) -> Self {
        Self { times: [0; 4], values: [value; 4] }
    }

    /// Returns the time from which the next key is needed.
    pub(crate) fn needs_next_at(&self) -> u16 {
        self.times[2]
    }

    /// Shifts a key in as P3 and drops P0.
    pub(crate) fn push(&mut self, time: u16, value: [f32; N]) {
        self.times = [self.times[1], self.times[2], self.times[3], time];
        self.values = [self.values[1], self.values[2], self.values[3], value];
    }

    /// Sets one of the four keys.
    pub(crate) fn set(&mut self, place: usize, time: u16, value: [f32; N]) {
        self.times[place] = time;
        self.values[place] = value;
    }

    /// Returns the weight of each key, or `None` if no time lies between P1 and P2. The value is
    /// then the value of P1.
    fn weights(&self, time: u16, parametrization: Parametrization) -> Option<[f32; 4]> {
        let [_, begin, end, _] = self.times;
        if end <= begin {
            return None;
        }
        let share = f32::from(time.clamp(begin, end) - begin) / f32::from(end - begin);
        Some(weights(share, parametrization.shares(self.times.map(f32::from), &self.values)))
    }
}

impl Window<3> {
    fn vector(&self, time: u16, parametrization: Parametrization) -> [f32; 3] {
        self.weights(time, parametrization)
            .map_or(self.values[1], |weights| blend(weights, &self.values))
    }
}

impl Window<4> {
    /// Signs are chosen here and not when a key arrives. Therefore they depend only on the four
    /// keys, and not on the path of playback.
    fn rotation(&self, time: u16, parametrization: Parametrization) -> [f32; 4] {
        let Some(weights) = self.weights(time, parametrization) else { return self.values[1] };
        let [first, ..] = self.values;
        let near = self
            .values
            .map(|value| if dot(value, first) < 0.0 { value.map(|c| -c) } else { value });
        let sum = blend(weights, &near);
        let length = dot(sum, sum).sqrt();
        if length > 0.0 { sum.map(|c| c / length) } else { near[1] }
    }
}

pub(crate) fn dot(a: [f32; 4], b: [f32; 4]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

/// The windows of a joint's three channels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointWindows {
    pub(crate) rotation: Window<4>,
    pub(crate) translation: Window<3>,
    pub(crate) scale: Window<3>,
}

impl JointWindows {
    /// Returns the windows before the first key.
    pub(crate) fn at_rest() -> Self {
        let Transform { rotation, translation, scale } = Transform::IDENTITY;
        Self {
            rotation: Window::at_rest(rotation),
            translation: Window::at_rest(translation),
            scale: Window::at_rest(scale),
        }
    }

    pub(crate) fn sample(&self, time: u16, parametrization: Parametrization) -> Transform {
        Transform {
            rotation: self.rotation.rotation(time, parametrization),
            translation: self.translation.vector(time, parametrization),
            scale: self.scale.vector(time, parametrization),
        }
    }
}
