//! The settings of prediction, and why a call was refused.

use core::fmt;
use std::time::Duration;

use kinepack::{EncodeError, EntityId, Tick};

/// How a client predicts its own entities: see [`Predicted`](super::Predicted).
///
/// ```
/// use std::time::Duration;
/// use kinepack_net::{PredictConfig, Repair};
///
/// // A car that pushes others: the client cannot repeat what the server computed.
/// let config = PredictConfig {
///     repair: Repair::Blend,
///     position_fade: Duration::from_millis(1_500),
///     ..PredictConfig::at_hz(60)
/// };
/// assert_eq!(config.validate(), Ok(()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictConfig {
    /// Ticks per second.
    pub tick_hz: u32,
    /// How many ticks of inputs and states are kept, 2 to 1,024. An authoritative state that is
    /// older than all of them is not used: see [`Outcome::TooOld`](super::Outcome::TooOld).
    pub history_ticks: u32,
    /// How a state that differs from the prediction corrects it.
    pub repair: Repair,
    /// How long the offset of numbers and vectors fades after a correction: the time until a
    /// twentieth is left. Zero shows corrections at once.
    pub position_fade: Duration,
    /// The same for rotations, and for numbers that `wrap`.
    pub rotation_fade: Duration,
    /// A correction that shifts a number or a vector by more than this is shown at once, like a
    /// teleport. The unit is that of the fields. Numbers without a range are not measured, so they
    /// always fade: mark teleports as a [cut](kinepack::schema::Role::Cut).
    pub snap_distance: f64,
    /// For [`Predicted::correct_from`](super::Predicted::correct_from): an entity that no snapshot
    /// has sent for this many ticks rests, so its state is also that of the newest snapshot's tick.
    /// That must be longer than the hub may take to send an entity that moves, also after a loss.
    /// `u32::MAX` for never: then the client may not learn that an entity rests at another place
    /// than predicted.
    pub rest_ticks: u32,
}

/// How a state that differs from the prediction corrects it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repair {
    /// Takes the state, and repeats the steps with the inputs since.
    #[default]
    Repeat,
    /// Adds the difference to the states since, without steps. This is for motion that the client
    /// cannot repeat, such as physics with others' bodies, and for steps that are expensive.
    Blend,
}

const MOST_TICKS: u32 = 1_024;
const MOST_HZ: u32 = 10_000;

impl PredictConfig {
    /// The settings for a world of `tick_hz` ticks per second.
    ///
    /// A second of history covers bad mobile networks. Positions fade in a second, because that
    /// adds about 2 mm to what a walk bends from frame to frame, after pushes of 3 m/s. Rotations
    /// are seen more easily, so they fade in half of that. Characters are not pushed by four metres
    /// within a round trip, so that is a teleport. Own entities have a high priority, so one that
    /// was not sent for half a second rests.
    pub fn at_hz(tick_hz: u32) -> Self {
        Self {
            tick_hz,
            history_ticks: tick_hz.clamp(2, MOST_TICKS),
            repair: Repair::Repeat,
            position_fade: Duration::from_secs(1),
            rotation_fade: Duration::from_millis(500),
            snap_distance: 4.0,
            rest_ticks: tick_hz.div_ceil(2),
        }
    }

    /// Checks that each setting is in its range.
    ///
    /// # Errors
    /// Returns [`PredictError`] for the first setting that is out of range.
    pub fn validate(&self) -> Result<(), PredictError> {
        if !(1..=MOST_HZ).contains(&self.tick_hz) {
            return Err(PredictError::BadRate { tick_hz: self.tick_hz });
        }
        if !(2..=MOST_TICKS).contains(&self.history_ticks) {
            return Err(PredictError::BadHistory { ticks: self.history_ticks });
        }
        if self.snap_distance.is_nan() || self.snap_distance < 0.0 {
            return Err(PredictError::BadSnapDistance { distance: self.snap_distance });
        }
        Ok(())
    }
}

/// Why a setting, an input or a state was refused.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PredictError {
    /// The rate is 0, or above 10,000 ticks per second.
    BadRate {
        /// The given rate.
        tick_hz: u32,
    },
    /// The history is not 2 to 1,024 ticks long.
    BadHistory {
        /// The given length.
        ticks: u32,
    },
    /// The snap distance is negative or not a number.
    BadSnapDistance {
        /// The given distance.
        distance: f64,
    },
    /// The tick of an input is not after those that were pushed.
    NotAfter {
        /// The given tick.
        tick: Tick,
        /// The newest predicted tick.
        newest: Tick,
    },
    /// An entity of this id was added already.
    AlreadyAdded {
        /// The entity.
        id: EntityId,
    },
    /// No entity of this id was added.
    UnknownEntity {
        /// The entity.
        id: EntityId,
    },
    /// The schema has no kind of this index.
    NoSuchKind {
        /// The given index.
        kind: usize,
    },
    /// The input cannot be quantized.
    Input(EncodeError),
    /// A state cannot be quantized, or is of another type. If the state came out of a step, the
    /// entity has kept its state of the tick before, and everything else was done.
    State(EncodeError),
}

impl fmt::Display for PredictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRate { tick_hz } => {
                write!(f, "{tick_hz} ticks a second; 1 to {MOST_HZ} are possible")
            }
            Self::BadHistory { ticks } => {
                write!(f, "a history of {ticks} ticks; 2 to {MOST_TICKS} are possible")
            }
            Self::BadSnapDistance { distance } => {
                write!(f, "a snap distance of {distance}; it must be at least 0")
            }
            Self::NotAfter { tick, newest } => {
                write!(f, "an input for tick {}, after one for tick {}", tick.0, newest.0)
            }
            Self::AlreadyAdded { id } => write!(f, "entity {} is predicted already", id.0),
            Self::UnknownEntity { id } => write!(f, "entity {} is not predicted", id.0),
            Self::NoSuchKind { kind } => write!(f, "the schema has no kind {kind}"),
            Self::Input(error) => write!(f, "the input: {error}"),
            Self::State(error) => write!(f, "a predicted state: {error}"),
        }
    }
}

impl core::error::Error for PredictError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Input(error) | Self::State(error) => Some(error),
            _ => None,
        }
    }
}
