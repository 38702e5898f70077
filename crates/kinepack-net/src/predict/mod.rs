//! Prediction: a client steps its own entities with its inputs at once, and corrects them when the
//! server's states arrive. Client only: nothing here is sent.
//!
//! [`predicted`] is the public type for states of a type, and [`predicted_lanes`] that for states of
//! a schema. Both use one [`engine`], which takes inputs and states in order. [`repair`] repeats
//! steps, and [`reading`] has the results. [`track`] has one entity's last states and its shown path. After a correction,
//! [`crate::fade`] keeps that path smooth, and [`distance`] says how large it was. [`carry`]
//! corrects without steps. See "Client-side prediction and server reconciliation" (Gambetta).
//!
//! ```text
//! input ─► push ─► step ─► rounded state of the tick ─► shown: interpolated, plus the offset
//!                   ▲            │
//!                   └── repeat ◄─┴─ differs from the authoritative state of an earlier tick
//! ```
//!
//! Cost: a step and a quantized state for each tick, also for those that are repeated. Memory for
//! [`PredictConfig::history_ticks`] states of each entity. Nothing allocates except adding
//! entities.

mod carry;
mod config;
mod distance;
mod engine;
mod predicted;
mod predicted_lanes;
mod reading;
mod repair;
mod report;
mod track;

pub use config::{PredictConfig, PredictError, Repair};
pub use predicted::{Own, Predicted};
pub use predicted_lanes::{OwnLanes, PredictedLanes, TakenStates};
pub use report::{Correction, Outcome, PredictStats};
