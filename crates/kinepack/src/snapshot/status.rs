//! The status of an entity: its history that both sides know before a packet, as flags in one byte.

use super::level::ADAPTIVE_OLDER_STATES;

/// Number of older states that are used. Each is one step further into the past.
pub(super) const STEPS: usize = ADAPTIVE_OLDER_STATES;

/// The entity moved in the last step before the baseline.
pub(super) const MOVED: u8 = 1;
/// The entity moved in the step before that.
pub(super) const MOVED_BEFORE: u8 = 2;
/// The entity is not in the state before the baseline.
pub(super) const NEW: u8 = 4;
/// The entity is not in the baseline.
pub(super) const ADDED: u8 = 8;
/// The entity is not in the second state before the baseline.
pub(super) const NEW_BEFORE: u8 = 16;
