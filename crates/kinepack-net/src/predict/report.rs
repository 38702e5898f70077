//! What authoritative states did to a prediction.

/// What an authoritative state did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Nothing: a state of this tick or of a later one was taken before.
    #[default]
    Stale,
    /// It equals the prediction.
    Confirmed,
    /// It is of a tick that was not predicted yet. The entity takes it when the input for that tick
    /// is pushed.
    Ahead,
    /// It is older than the history, so nothing can be repeated from it. It was not used. If this
    /// happens often, raise [`PredictConfig::history_ticks`](super::PredictConfig::history_ticks).
    TooOld,
    /// It differs from the prediction, and corrected it.
    Corrected,
}

/// What a call with authoritative states did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Correction {
    /// What happened; of several entities, the last in the order of [`Outcome`].
    pub outcome: Outcome,
    /// How many ticks were repeated, or shifted with [`Repair::Blend`](super::Repair::Blend).
    pub repeated_ticks: u32,
    /// By how much the newest states changed: the length of the vector, or the difference of the
    /// number, that changed most. The unit is that of the field. Velocities and numbers without a
    /// range are not measured.
    pub distance: f64,
    /// The largest turn of a rotation, and of a number that `wraps`.
    pub turn_rad: f64,
    /// Whether an entity's correction is shown at once instead of fading: because of a cut, a
    /// change of its frame, or the snap distance.
    pub is_snapped: bool,
}

impl Correction {
    pub(super) fn of(outcome: Outcome) -> Self {
        Self { outcome, ..Self::default() }
    }
}

/// Counters of a prediction since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PredictStats {
    /// The inputs that were pushed.
    pub inputs: u64,
    /// The ticks without an input of their own, which were stepped with the last one.
    pub filled_ticks: u64,
    /// How often a gap between two inputs was longer than the history, which began anew.
    pub restarts: u64,
    /// The authoritative states that equal the prediction.
    pub confirmed: u64,
    /// Those that corrected it.
    pub corrected: u64,
    /// Those of ticks that were not predicted yet.
    pub ahead: u64,
    /// Those that are older than the history, and were not used.
    pub too_old: u64,
    /// The corrections that were shown at once.
    pub snapped: u64,
    /// The ticks that were repeated or shifted.
    pub repeated_ticks: u64,
    /// The states after a step that could not be quantized.
    pub unquantized: u64,
}
