//! What is learned along the records of a stream. `spec/CODEC.md`, section 17.3.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::plan::Plan;
use crate::entropy::Counter;

/// What was learned along the records up to one of them: how each part of them changes. Of the same
/// size for all records of a codec; nothing at level `Packed`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Learned(Option<Box<State>>);

/// What there is of a codec that learns.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    /// The hash of the codec.
    codec: u64,
    pub(super) parts: Vec<PartState>,
    pub(super) lanes: Vec<LaneState>,
    pub(super) shared: Shared,
}

/// Of a part: does it change, and how do its lanes move?
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PartState {
    /// By the last two answers.
    pub(super) changed: [Counter; 4],
    /// The last answers, the newest one lowest.
    pub(super) history: u8,
    pub(super) fit: Fit,
}

/// Of a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LaneState {
    /// How it moved last, in steps a unit of time.
    pub(super) rate: f32,
    /// How many bits a residual takes for each unit of time, about, in 1/256.
    pub(super) size: i16,
    /// Of a byte: whether it changed, the newest answer lowest.
    pub(super) history: u8,
}

/// Of all lanes together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shared {
    /// Of residuals: sets of 8, by the size expected.
    pub(super) sizes: [Counter; 8 * SIZE_SETS],
    /// Does a byte change? By its own last two answers, and whether the byte before it changed.
    pub(super) byte_changed: [Counter; 8],
    /// Does a rotation drop what its base drops?
    pub(super) same: Counter,
}

/// Two sets an octave up to where sizes are no longer cut off at 0, and two for all beyond.
pub(super) const SIZE_SETS: usize = 14;
/// What a residual takes before anything is known, in 1/256 bit.
const FIRST_SIZE: i16 = 4 << 8;

impl Learned {
    /// What is there before the first record.
    pub(super) fn nothing(plan: &Plan, codec: u64) -> Self {
        let even = Counter::default();
        Self(Some(Box::new(State {
            codec,
            parts: vec![PartState::default(); plan.parts.len()],
            lanes: vec![LaneState { rate: 0.0, size: FIRST_SIZE, history: 0 }; plan.lanes.len()],
            shared: Shared { sizes: [even; 8 * SIZE_SETS], byte_changed: [even; 8], same: even },
        })))
    }

    /// What there is, if it is of this codec.
    pub(super) fn of(&self, codec: u64) -> Option<&State> {
        self.0.as_deref().filter(|state| state.codec == codec)
    }

    /// Becomes a copy of `state`. Allocates nothing where it was of the same codec.
    pub(super) fn copy_from(&mut self, state: &State) -> &mut State {
        if let Some(own) = self.0.as_mut().filter(|own| own.codec == state.codec) {
            own.parts.copy_from_slice(&state.parts);
            own.lanes.copy_from_slice(&state.lanes);
            own.shared = state.shared;
        } else {
            self.0 = None;
        }
        self.0.get_or_insert_with(|| Box::new(state.clone()))
    }

    /// The memory that it takes beside itself, in bytes.
    pub fn memory_bytes(&self) -> usize {
        let of = |state: &State| {
            size_of::<State>() + size_of_val(&state.parts[..]) + size_of_val(&state.lanes[..])
        };
        self.0.as_deref().map_or(0, of)
    }
}

/// How a change follows from two features: the weights of least squares over what came, of which
/// the newest counts most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Fit {
    /// Sums of the products of features: 0 and 0, 0 and 1, 1 and 1.
    squares: [f64; 3],
    /// Sums of the products of features and changes.
    products: [f64; 2],
    pub(super) weights: [f64; 2],
}

/// What is left of a sum after each part that changed.
const KEEP: f64 = 1.0 - 1.0 / 32.0;

impl Fit {
    pub(super) fn forget(&mut self) {
        self.squares.iter_mut().chain(&mut self.products).for_each(|sum| *sum *= KEEP);
    }

    #[inline]
    pub(super) fn observe(&mut self, [a, b]: [f64; 2], change: f64, trust: f64) {
        let [trusted_a, trusted_b] = [a * trust, b * trust];
        self.squares[0] += trusted_a * a;
        self.squares[1] += trusted_a * b;
        self.squares[2] += trusted_b * b;
        self.products[0] += trusted_a * change;
        self.products[1] += trusted_b * change;
    }

    /// Finds the weights anew. A sum of little weight pulls them to 0, so that there is always a
    /// solution.
    pub(super) fn solve(&mut self) {
        const PULL: f64 = 1.0 + 1.0 / 1_048_576.0;
        let [aa, ab, bb] = self.squares;
        let [aa, bb] = [aa * PULL + 1.0, bb * PULL + 1.0];
        let [pa, pb] = self.products;
        let scale = 1.0 / (aa * bb - ab * ab);
        self.weights = [(pa * bb - pb * ab) * scale, (pb * aa - pa * ab) * scale];
    }
}
