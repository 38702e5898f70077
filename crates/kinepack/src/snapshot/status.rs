//! The status of an entity: flags in one byte for the part of its history that both sides know
//! before a packet.

use super::level::ADAPTIVE_OLDER_STATES;

/// The number of older states that are used. Each of them is one step further in the past.
pub(super) const STEPS: usize = ADAPTIVE_OLDER_STATES;

/// The entity moved in the last step before the baseline.
pub(super) const MOVED: u8 = 1;
/// The entity moved in the second-to-last step before the baseline.
pub(super) const MOVED_BEFORE: u8 = 2;
/// The entity is not in the state before the baseline.
pub(super) const NEW: u8 = 4;
/// The entity is not in the baseline.
pub(super) const ADDED: u8 = 8;
/// The entity is not in the second state before the baseline.
pub(super) const NEW_BEFORE: u8 = 16;
