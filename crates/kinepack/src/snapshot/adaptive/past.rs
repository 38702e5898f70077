//! The states that both sides know before a packet is coded. `spec/CODEC.md`, section 12.1.

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

/// The inputs of a packet that both sides have.
pub(in crate::snapshot) struct Packet<'a> {
    pub(in crate::snapshot) baselines: Baselines<'a>,
    pub(in crate::snapshot) entities: &'a Entities,
    /// The caller must have prepared it for these baselines and entities.
    pub(in crate::snapshot) lineup: &'a Lineup,
    /// The learned state to resume from.
    pub(in crate::snapshot) learned: Option<&'a Learned>,
    /// The size limit of the range-coded part, in bits. A decoder ignores it.
    pub(in crate::snapshot) max_bits: u64,
}

/// The states before a packet, lined up with its entities. They are read kind by kind: an entity is
/// given by its row in the [current kind](Past::enter).
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

    /// All entities of the packet.
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

    /// Makes the kind of the entity at an index the current one. Returns the entity's row.
    pub(super) fn enter_at(&mut self, index: usize) -> usize {
        if !self.range.contains(&index) {
            self.enter(self.entities.kind_at(index));
        }
        index - self.range.start
    }

    /// The current kind.
    #[inline]
    pub(super) fn kind(&self) -> usize {
        self.kind
    }

    /// The index of an entity of the current kind.
    #[inline]
    pub(super) fn index(&self, entity: usize) -> usize {
        self.range.start + entity
    }

    /// The ids of the current kind's entities.
    pub(super) fn ids(&self) -> &'a [EntityId] {
        self.ids
    }

    /// Ticks from the baseline to the packet.
    pub(super) fn lag(&self) -> u32 {
        self.history.lag
    }

    /// log₂ of the lag, in 1/256.
    pub(super) fn lag_log2(&self) -> i32 {
        self.lag_log2
    }

    /// The [`History`] flags of all entities, by index.
    pub(super) fn all_statuses(&self) -> &'a [u8] {
        &self.history.status
    }

    /// The [`History`] flags of the current kind's entities.
    pub(super) fn statuses(&self) -> &'a [u8] {
        self.statuses
    }

    /// The [`History`] flags of an entity.
    #[inline]
    pub(super) fn status(&self, entity: usize) -> u8 {
        self.statuses[entity]
    }

    /// Whether an entity is not in the baseline.
    #[inline]
    pub(super) fn is_added(&self, entity: usize) -> bool {
        self.status(entity) & ADDED != 0
    }

    /// The baseline's columns, in the order of the packet's entities.
    #[inline]
    pub(super) fn base(&self) -> &'a [Vec<u32>] {
        self.base
    }

    /// The shift of a value: its steps are 2^shift.
    #[inline]
    pub(super) fn shift(&self, lane: usize, entity: usize) -> u32 {
        self.shifts.at(lane, entity)
    }

    /// The [`History`] flags of a field of an entity. The field is new if the entity is, or if the
    /// field was absent.
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

    /// How a value changed in the last two steps: see [`History::recent_changes`]. Zero if `status`
    /// marks the value as new.
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

    /// The class of the field with these lanes: 0 without history, 1 at rest, 2 just begun to move,
    /// 3 moving. Section 12.7.
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
