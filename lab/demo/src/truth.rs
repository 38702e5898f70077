//! Keeps the true states of the last seconds, and measures the errors of the shown states.

use std::collections::VecDeque;

use command_kit::Distribution;
use cube_data::cube::{Measured, angle_rad};

use crate::cube_stream::Shown;
use crate::states::States;

/// The number of ticks to keep. They last longer than any playout delay and round trip together.
const KEPT_TICKS: usize = 180;

/// The true states of recent ticks.
#[derive(Debug, Default)]
pub struct Truth {
    /// The states of consecutive ticks. The oldest states belong to tick `first`.
    states: VecDeque<States>,
    first: u32,
}

/// The errors of the shown states. They compare a shown state with the true state at the same
/// moment of the simulation.
///
/// Percentiles count only moving cubes, because the many cubes at rest are all within half a step.
/// The maximum counts all cubes.
#[derive(Clone, Debug, Default)]
pub struct ShownError {
    pub position_mm: Distribution,
    pub rotation_deg: Distribution,
}

impl Truth {
    /// Adds the states of the next tick.
    pub fn push(&mut self, tick: u32, states: &States) {
        if self.states.is_empty() {
            self.first = tick;
        }
        let mut next = States::default();
        if self.states.len() == KEPT_TICKS {
            next = self.states.pop_front().unwrap_or_default();
            self.first += 1;
        }
        next.copy_from(states);
        self.states.push_back(next);
    }

    /// Returns the states before and after moment `tick`, and its position between them from 0 to
    /// 1.
    pub fn around(&self, tick: f64) -> Option<(&States, &States, f32)> {
        let before = self.at(tick.floor() as u32)?;
        let after = self.at(tick.ceil() as u32).unwrap_or(before);
        Some((before, after, tick.fract() as f32))
    }

    fn at(&self, tick: u32) -> Option<&States> {
        self.states.get(tick.checked_sub(self.first)? as usize)
    }
}

impl ShownError {
    /// Compares a shown cube with its true state.
    pub fn add(&mut self, shown: &Shown, before: &Measured, after: &Measured, ratio: f32) {
        let moves = before.position != after.position || before.orientation != after.orientation;
        let blend = |a: f32, b: f32| a + (b - a) * ratio;
        let off = |axis: usize| {
            f64::from(shown.position[axis] - blend(before.position[axis], after.position[axis]))
        };
        let position_mm = (off(0).powi(2) + off(1).powi(2) + off(2).powi(2)).sqrt() * 1e3;
        let dot: f32 = before.orientation.iter().zip(after.orientation).map(|(a, b)| a * b).sum();
        let side = if dot < 0.0 { -1.0 } else { 1.0 };
        let mut orientation = [0.0; 4];
        for (axis, blended) in orientation.iter_mut().enumerate() {
            *blended = blend(before.orientation[axis], side * after.orientation[axis]);
        }
        let rotation_deg = angle_rad(shown.orientation, orientation).to_degrees();
        if moves {
            self.position_mm.add(position_mm);
            self.rotation_deg.add(rotation_deg);
        } else {
            self.position_mm.note_largest(position_mm);
            self.rotation_deg.note_largest(rotation_deg);
        }
    }
}
