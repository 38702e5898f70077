//! The reasons why levels cannot be measured.

use std::fmt;

use command_kit::{Failure, counted};
use kinepack::{Level, SetupError};

use super::ProfileError;

/// The reason why levels cannot be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LadderError {
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(
        "--time-precision-ms is for cubes; a schema of your own states it for each field: \
         #[pack(time_precision_ms = 2)]"
    )]
    PrecisionOfCubes,
    #[error("--kinds is for cubes; a schema of your own has the kinds that it was built of")]
    KindsOfCubes,
}

impl Failure for LadderError {}

/// A capture is too short for the requested measurement.
#[derive(Debug, thiserror::Error)]
#[error("{capture}: {shortage}")]
pub(crate) struct TooShort {
    /// The name of the file, with the stream if several streams are measured.
    capture: String,
    shortage: Shortage,
}

impl Failure for TooShort {}

/// The reason why a capture is too short.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Shortage {
    #[error("it has no frames")]
    Empty,
    #[error(
        "{} {} too few for a baseline {lag} ticks back{}",
        counted(frames, "frame"),
        if *frames == 1 { "is" } else { "are" },
        match (frames, lag) {
            (1, _) => "; a capture needs at least 2",
            (_, 2..) => "; give a shorter --lag",
            _ => "",
        }
    )]
    ForBaselines { frames: u32, lag: u32 },
    #[error(
        "--from {from}: there is no frame {from}; the capture has {}, and the first one is frame 0",
        counted(frames, "frame")
    )]
    BeforeFrom { frames: u32, from: u32 },
    #[error(
        "{} of {frames} remain to train on with --hold-out {hold_out}: too few, since the older \
         views that the adaptive level looks at are {} ticks back; give a shorter --lag{}",
        counted(training, "frame"),
        2 * lag,
        if *all_suffice { ", or hold out less" } else { "" }
    )]
    ForTraining { frames: u32, training: u32, hold_out: u32, lag: u32, all_suffice: bool },
    #[error("{hold_out} % of {} is none to measure on; hold out more", counted(frames, "frame"))]
    ToHoldOut { frames: u32, hold_out: u32 },
}

impl Shortage {
    /// Returns the error for a capture, given its file, and its stream if several are measured.
    pub(crate) fn of(self, capture: impl fmt::Display) -> TooShort {
        TooShort { capture: capture.to_string(), shortage: self }
    }

    /// Returns the error for a run of so few frames that no frame has a baseline `lag` ticks
    /// earlier.
    pub(crate) fn for_baselines(frames: u32, lag: u32) -> Self {
        if frames == 0 { Self::Empty } else { Self::ForBaselines { frames, lag } }
    }
}

/// The reason why a frame could not be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadFrame {
    /// The schema cannot hold a state.
    #[error("entity {entity}: {reason}")]
    Value { entity: u32, reason: String },
    /// The decoder returned another frame, which is a defect of this program.
    #[error(
        "level {}: the frame of tick {tick} differs after decoding: {reason}",
        level.name()
    )]
    NotVerified { level: Level, tick: u32, reason: String },
}

impl Failure for BadFrame {
    fn exit_code(&self) -> u8 {
        1
    }
}
