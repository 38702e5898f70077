//! Holds the states that both sides know before a packet is coded. See `spec/CODEC.md`, section
//! 12.1.

use alloc::vec::Vec;
use core::ops::Range;

use super::learned::Learned;
use super::numbers::log2;
use crate::schema::Conditions;
use crate::snapshot::baselines::Baselines;
use crate::snapshot::entities::Entities;
use crate::snapshot::history::History;
use crate::snapshot::ids::EntityId;
use crate::snapshot::lineup::Lineup;
use crate::snapshot::precision::Shifts;
use crate::snapshot::status::{ADDED, NEW, NEW_BEFORE, STEPS};

/// The inputs of a packet that both sides know.
pub(in crate::snapshot) struct Packet<'a> {
    pub(in crate::snapshot) baselines: Baselines<'a>,
    pub(in crate::snapshot) entities: &'a Entities,
    /// The lineup, which the caller must have prepared for these baselines and entities.
    pub(in crate::snapshot) lineup: &'a Lineup,
    /// The learned state that the packet resumes from.
    pub(in crate::snapshot) learned: Option<&'a Learned>,
    /// The size limit of the range-coded part, in bits. A decoder ignores this limit.
    pub(in crate::snapshot) max_bits: u64,
}

/// The states before a packet, lined up with the packet's entities. The states are read kind by
/// kind: functions take an entity's row in the [current kind](Past::enter).
pub(super) struct Past<'a> {
    baselines: Baselines<'a>,
    entities: &'a Entities,
    kind: usize,
    /// The indices, ids and flags of the current kind's entities.
    range: Range<usize>,
    ids: &'a [EntityId],
    statuses: &'a [u8],
    base: &'a [Vec<u32>],
    history: &'a History,
    shifts: &'a Shifts,
    lag_log2: i32,
}

impl<'a> Past<'a> {
    pub(super) fn new(packet: &Packet<'a>) -> Self {
        let history = &packet.lineup.history;
        let mut past = Self {
            baselines: packet.baselines,
            entities: packet.entities,
            kind: 0,
            range: 0..0,
            ids: &[],
            statuses: &[],
            base: packet.lineup.base(packet.baselines.baseline),
            history,
            shifts: &packet.lineup.shifts,
            lag_log2: log2(u64::from(history.lag)),
        };
        past.enter(0);
        past
    }

    /// Returns all entities of the packet.
    pub(super) fn entities(&self) -> &'a Entities {
        self.entities
    }

    /// Makes a kind the current one.
    pub(super) fn enter(&mut self, kind: usize) {
        self.kind = kind;
        self.range = self.entities.range(kind);
        self.ids = &self.entities.ids()[self.range.clone()];
        self.statuses = &self.history.status[self.range.clone()];
    }

    /// Makes the kind of the entity at `index` the current one. Returns the entity's row.
    pub(super) fn enter_at(&mut self, index: usize) -> usize {
        if !self.range.contains(&index) {
            self.enter(self.entities.kind_at(index));
        }
        index - self.range.start
    }

    /// Returns the current kind.
    #[inline]
    pub(super) fn kind(&self) -> usize {
        self.kind
    }

    /// Returns the index of an entity of the current kind.
    #[inline]
    pub(super) fn index(&self, entity: usize) -> usize {
        self.range.start + entity
    }

    /// Returns the ids of the current kind's entities.
    pub(super) fn ids(&self) -> &'a [EntityId] {
        self.ids
    }

    /// Returns the number of ticks from the baseline to the packet.
    pub(super) fn lag(&self) -> u32 {
        self.history.lag
    }

    /// Returns log₂ of the lag, in 1/256.
    pub(super) fn lag_log2(&self) -> i32 {
        self.lag_log2
    }

    /// Returns the [`History`] flags of all entities, by index.
    pub(super) fn all_statuses(&self) -> &'a [u8] {
        &self.history.status
    }

    /// Returns the [`History`] flags of the current kind's entities.
    pub(super) fn statuses(&self) -> &'a [u8] {
        self.statuses
    }

    /// Returns the [`History`] flags of an entity.
    #[inline]
    pub(super) fn status(&self, entity: usize) -> u8 {
        self.statuses[entity]
    }

    /// Returns whether an entity is not in the baseline.
    #[inline]
    pub(super) fn is_added(&self, entity: usize) -> bool {
        self.status(entity) & ADDED != 0
    }

    /// Returns the baseline's columns, in the order of the packet's entities.
    #[inline]
    pub(super) fn base(&self) -> &'a [Vec<u32>] {
        self.base
    }

    /// Returns the shift of a lane's value, whose steps are 2^shift.
    #[inline]
    pub(super) fn shift(&self, lane: usize, entity: usize) -> u32 {
        self.shifts.at(lane, entity)
    }

    /// Returns the [`History`] flags of a field of an entity. The field is new if the entity is
    /// new, or if the field was absent before.
    #[inline]
    pub(super) fn field_status(&self, conditions: &Conditions, entity: usize) -> u8 {
        let mut status = self.status(entity);
        if !conditions.is_empty() {
            for (step, flags) in [NEW | NEW_BEFORE, NEW_BEFORE].into_iter().enumerate() {
                if status & flags != flags
                    && !conditions.hold_at(self.history.columns(&self.baselines, step), entity)
                {
                    status |= flags;
                }
            }
        }
        status
    }

    /// Returns the changes of a value in the last two steps: see [`History::recent_changes`]. The
    /// changes are zero if `status` marks the value as new.
    #[inline]
    pub(super) fn recent_changes<T: Copy, D: Copy + Default>(
        &self,
        status: u8,
        now: T,
        at: impl Fn(&[Vec<u32>]) -> T,
        change: impl Fn(T, T, f64) -> D,
    ) -> [D; STEPS] {
        self.history.recent_changes(&self.baselines, status, now, at, change).unwrap_or_default()
    }

    /// Returns the class of the field with these lanes: 0 without history, 1 at rest, 2 just begun
    /// to move, 3 moving. See `spec/CODEC.md`, section 12.7.
    pub(super) fn field_class(&self, lanes: Range<usize>, (entity, status): (usize, u8)) -> usize {
        if status & NEW != 0 {
            return 0;
        }
        let before = self.history.columns(&self.baselines, 0);
        if lanes.clone().all(|lane| self.base[lane][entity] == before[lane][entity]) {
            return 1;
        }
        if status & NEW_BEFORE != 0 {
            return 2;
        }
        let long_before = self.history.columns(&self.baselines, 1);
        2 + usize::from({ lanes }.any(|lane| before[lane][entity] != long_before[lane][entity]))
    }
}
