//! The state that both ends of a stream learn from its records. See `spec/CODEC.md`, section 17.3.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::plan::Plan;
use crate::entropy::Counter;

/// The learned state at a record: it describes how each part of the records changes. The state has
/// the same size for all records of a codec, and is empty at level `Packed`.
///
/// ```
/// use kinepack::Pack;
/// use kinepack::stream::{StreamBase, StreamCodec, StreamLevel};
///
/// #[derive(Pack)]
/// struct Input {
///     #[pack(range = 0.0..360.0, bits = 16, wrap)]
///     view_deg: f32,
/// }
///
/// let codec = StreamCodec::of::<Input>(StreamLevel::Adaptive)?;
/// let [mut first, mut second] = [[0], [0]];
/// codec.quantize(&Input { view_deg: 10.0 }, &mut first)?;
/// codec.quantize(&Input { view_deg: 11.0 }, &mut second)?;
///
/// let (mut learned, mut packet) = (codec.nothing_learned(), Vec::new());
/// codec.encode(None, &first, &mut learned, &mut packet)?;
/// // Keep the record and its learned state together, as long as the record may be a base.
/// let base = StreamBase { lanes: &first, learned: &learned, lag: 1 };
/// let mut next = codec.nothing_learned();
/// packet.clear();
/// codec.encode(Some(base), &second, &mut next, &mut packet)?;
/// assert_ne!(next, learned);
/// assert!(next.memory_bytes() < 2_000);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Learned(Option<Box<State>>);

/// The learned state of a codec at level `Adaptive`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    /// The hash of the codec.
    codec: u64,
    pub(super) parts: Vec<PartState>,
    pub(super) lanes: Vec<LaneState>,
    pub(super) shared: Shared,
}

/// A part's state: how often the part changes, and how its lanes move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PartState {
    /// The counters of the part's changed flag: one for each combination of the last two flags.
    pub(super) changed: [Counter; 4],
    /// The part's last changed flags, the newest in the lowest bit.
    pub(super) history: u8,
    pub(super) fit: Fit,
}

/// The learned state of a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LaneState {
    /// The lane's last motion, in steps per unit of time. The motion counts as 0 if the lane's part
    /// did not change in the last record.
    pub(super) rate: f32,
    /// The typical number of bits of a residual per unit of time, in 1/256.
    pub(super) size: i16,
    /// For a byte: its last changed flags, the newest in the lowest bit.
    pub(super) history: u8,
}

/// The state that all lanes share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shared {
    /// The counters of the sizes of residuals, in sets of 8, selected by the expected size.
    pub(super) sizes: [[Counter; 8]; SIZE_SETS],
    /// The counters of a byte's changed flag, indexed by the byte's last two flags and by the
    /// previous byte's flag.
    pub(super) byte_changed: [[Counter; 2]; 4],
    /// The counter of the flag for whether a rotation drops the same component as its base.
    pub(super) same: Counter,
}

/// The number of sets of counters: two per octave for expected sizes whose 8 counted sizes begin at
/// 0, and two for all larger sizes.
pub(super) const SIZE_SETS: usize = 14;
/// The size assumed for the first residuals, in 1/256 bit.
const FIRST_SIZE: i16 = 4 << 8;

impl Learned {
    /// Makes the state before the first record.
    pub(super) fn nothing(plan: &Plan, codec: u64) -> Self {
        let even = Counter::default();
        Self(Some(Box::new(State {
            codec,
            parts: vec![PartState::default(); plan.parts.len()],
            lanes: vec![LaneState { rate: 0.0, size: FIRST_SIZE, history: 0 }; plan.lanes.len()],
            shared: Shared {
                sizes: [[even; 8]; SIZE_SETS],
                byte_changed: [[even; 2]; 4],
                same: even,
            },
        })))
    }

    /// Returns the state, if it belongs to the codec with this hash.
    pub(super) fn state(&self, codec: u64) -> Option<&State> {
        self.0.as_deref().filter(|state| state.codec == codec)
    }

    /// Overwrites `self` with a copy of `state`. The call does not allocate if `self` already holds
    /// a state of the same codec.
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

    /// The size of the state on the heap, in bytes.
    pub fn memory_bytes(&self) -> usize {
        let of = |state: &State| {
            size_of::<State>() + size_of_val(&state.parts[..]) + size_of_val(&state.lanes[..])
        };
        self.0.as_deref().map_or(0, of)
    }
}

/// Predicts a change from two features, with least-squares weights over the coded changes, of which
/// the newest count most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Fit {
    /// The sums of the products of features: 0 and 0, 0 and 1, 1 and 1.
    squares: [f64; 3],
    /// The sums of the products of each feature and the change.
    products: [f64; 2],
    pub(super) weights: [f64; 2],
}

/// The factor by which each sum shrinks whenever the part changes.
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

    /// Recomputes the weights from the sums. A small term pulls the weights to 0, so that there is
    /// always a solution.
    pub(super) fn solve(&mut self) {
        const PULL: f64 = 1.0 + 1.0 / 1_048_576.0;
        let [aa, ab, bb] = self.squares;
        let [aa, bb] = [aa * PULL + 1.0, bb * PULL + 1.0];
        let [pa, pb] = self.products;
        let scale = 1.0 / (aa * bb - ab * ab);
        self.weights = [(pa * bb - pb * ab) * scale, (pb * aa - pa * ab) * scale];
    }
}
