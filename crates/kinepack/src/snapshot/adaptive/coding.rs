//! Codes a packet. One description serves both directions. See `spec/CODEC.md`, section 12.5.

use alloc::vec::Vec;
use core::ops::Range;

use super::changed_flags::{BLOCK, ChangedFlags, IS_ADDED, IS_FAR};
use super::counters::{Counters, IS_TOUCHED, changed_context, flag_context};
use super::model::Model;
use super::past::Past;
use super::plan::{FieldCoding, FieldPlan, KindPlan, Plan};
use super::predictor::Predictor;
use super::scratch::{Previous, Scratch};
use super::values::{Spent, Values};
use crate::entropy::Coder;
use crate::schema::Presence;
use crate::snapshot::status::{ADDED, MOVED, MOVED_BEFORE};

/// The probability that a packet ends before the next entity, in 1/65536. See `spec/CODEC.md`,
/// section 12.5.
const END: u16 = 32;

/// The size assumed for an entity before any entity was coded, in 1/256 bit.
const TYPICAL_ENTITY: u64 = 64 << 8;

/// The number of bits that an encoder reserves for the end of the packet, in 1/256 bit.
const ROOM_FOR_END: u64 = 8 << 8;

/// A field of an entity, with the field's status and class.
pub(super) struct FieldAt<'a> {
    pub(super) field: &'a FieldPlan,
    /// The entity's index among the current kind's entities.
    pub(super) entity: usize,
    /// The field's [`Past::field_status`].
    pub(super) status: u8,
    pub(super) class: usize,
}

/// A packet that is being coded.
pub(super) struct Coding<'a, C, P: Predictor> {
    pub(super) coder: &'a mut C,
    pub(super) predictor: &'a mut P,
    pub(super) plan: &'a Plan,
    pub(super) model: &'a Model,
    pub(super) past: Past<'a>,
    pub(super) counters: Counters<'a, P::Decision>,
    pub(super) values: Values<'a>,
    pub(super) spent: Spent<'a>,
}

impl<'a, C: Coder, P: Predictor> Coding<'a, C, P> {
    /// Codes which entities changed, then the values of these entities.
    pub(super) fn run(&mut self, scratch: &mut Scratch) {
        scratch.unsent.clear();
        scratch.entities_spent.iter_mut().for_each(Vec::clear);
        let has_changes = !scratch.encoder_changed.is_empty();
        if !self.counters.code_any(self.coder, has_changes) {
            return;
        }
        self.find_movers(scratch);
        self.find_nearness(scratch);
        self.code_changed(scratch);
        self.sort(scratch);
        scratch.previous.resize_with(self.plan.fields.len(), Vec::new);
        for (previous, field) in scratch.previous.iter_mut().zip(&self.plan.fields) {
            previous.clear();
            previous.resize(field.lanes.len(), Previous::default());
        }
        let order = core::mem::take(&mut scratch.order);
        // Added entities must be coded, so the packet cannot end before the last of them. They are
        // sorted last, because they are coded relative to the other entities.
        let statuses = self.past.all_statuses();
        let has_added = order.last().is_some_and(|last| statuses[last.1 as usize] & ADDED != 0);
        let first_end = if has_added { order.len() } else { 0 };
        if has_added {
            scratch.newcomers.begin(statuses, self.plan.kinds.len());
        }
        let begin = self.coder.spent();
        for (nth, &(_, index)) in order.iter().enumerate() {
            if nth >= first_end && self.coder.code(self.is_full(begin, nth), END) {
                scratch.unsent.extend(order[nth..].iter().map(|(_, index)| *index));
                break;
            }
            let begin = if scratch.entities_spent.is_some() { self.coder.spent() } else { 0 };
            let entity = self.past.enter_at(index as usize);
            self.code_entity(scratch, entity);
            if let Some(entities) = &mut scratch.entities_spent {
                entities.push((index, self.coder.spent() - begin));
            }
            if self.values.is_invalid() || self.coder.is_exhausted() {
                break;
            }
        }
        scratch.order = order;
    }

    /// Returns whether the next entity might not fit. The estimate is the mean size of an entity,
    /// plus a quarter of this size, plus a byte for the end. The mean is over the `coded` entities,
    /// which took all bits since `begin`, and one assumed entity of 64 bits.
    fn is_full(&self, begin: u64, coded: usize) -> bool {
        let spent = self.coder.spent();
        let mean = (spent - begin + TYPICAL_ENTITY) / (coded as u64 + 1);
        spent + mean + mean / 4 + ROOM_FOR_END > self.spent.max()
    }

    /// Codes which entities changed, in blocks of consecutive entities. A block has a flag for each
    /// entity that is likely to have changed, then one flag for all of its quiet entities.
    fn code_changed(&mut self, scratch: &mut Scratch) {
        let Scratch { encoder_changed, changed, nearness, contexts, .. } = scratch;
        changed.clear();
        let mut encoder_changed = encoder_changed.iter().copied().peekable();
        for kind in 0..self.plan.kinds.len() {
            self.past.enter(kind);
            let first = self.past.index(0);
            self.find_contexts(&nearness[first..], contexts);
            let quiet = if self.kind().body.is_some() { IS_FAR } else { 0 };
            let mut flags = ChangedFlags::new(self.counters.changed(kind), quiet);
            for (begin, contexts) in (first as u32..).step_by(BLOCK).zip(contexts.chunks(BLOCK)) {
                let end = begin + contexts.len() as u32;
                let mut has_changed = 0;
                while let Some(index) = encoder_changed.next_if(|index| *index < end) {
                    has_changed |= 1 << (index - begin);
                }
                let mut is_changed = flags.code(self.coder, contexts, has_changed);
                while is_changed != 0 {
                    changed.push(begin + is_changed.trailing_zeros());
                    is_changed &= is_changed - 1;
                }
                if self.coder.is_exhausted() {
                    break;
                }
            }
        }
    }

    /// Computes the contexts of the changed flags of the current kind's entities, without the part
    /// that depends on earlier flags.
    fn find_contexts(&self, nearness: &[u8], contexts: &mut Vec<u16>) {
        contexts.clear();
        let known = self.past.statuses().iter().zip(nearness);
        contexts.extend(known.map(|(status, nearness)| {
            let context = changed_context(*status, *nearness);
            if status & ADDED != 0 { IS_ADDED } else { context }
        }));
        let touched = self.kind().body.as_ref().and_then(|body| body.touched);
        if let Some(lane) = touched {
            for (context, touched) in contexts.iter_mut().zip(&self.past.base()[lane]) {
                *context |= if *touched != 0 { IS_TOUCHED } else { 0 };
            }
        }
    }

    /// Returns the plan of the current kind.
    #[inline]
    pub(super) fn kind(&self) -> &'a KindPlan {
        &self.plan.kinds[self.past.kind()]
    }

    /// Returns whether any of these lanes of an entity differs from the baseline. The result is
    /// meaningful only in an encoder.
    fn has_changed(&self, mut lanes: impl Iterator<Item = usize>, entity: usize) -> bool {
        lanes.any(|lane| self.values.at(lane, entity) != self.past.base()[lane][entity])
    }

    /// Codes an entity of the current kind.
    fn code_entity(&mut self, scratch: &mut Scratch, entity: usize) {
        if self.past.is_added(entity) {
            return self.code_newcomer(scratch, entity);
        }
        let kind = self.kind();
        let mut last_changed = false;
        for nth in &kind.before_body {
            last_changed = self.code_outside(scratch, *nth, entity, last_changed);
        }
        let mut body_changed = false;
        if let Some(body) = &kind.body {
            let lanes = body.position.iter().copied().chain(body.rotation..body.rotation + 4);
            let has_changed = self.has_changed(lanes, entity);
            body_changed = kind.fields.is_empty() || {
                let context = usize::from(self.past.status(entity) & MOVED);
                let at = (self.past.kind(), context);
                self.counters.code_body_flag(self.coder, at, has_changed)
            };
            if body_changed {
                self.code_body(scratch, body, entity);
            }
        }
        last_changed = body_changed;
        for nth in kind.fields.clone() {
            if !kind.before_body.contains(&nth) {
                last_changed = self.code_outside(scratch, nth, entity, last_changed);
            }
        }
    }

    /// Codes the plan's `nth` field, outside the body, of an entity that is not added. Returns
    /// whether the field changed, or `last_changed` if the packet does not have the field.
    fn code_outside(
        &mut self,
        scratch: &mut Scratch,
        nth: usize,
        entity: usize,
        last_changed: bool,
    ) -> bool {
        let field = &self.plan.fields[nth];
        if field.is_spawn {
            return last_changed;
        }
        let begin = self.coder.spent();
        let base = self.past.base();
        let now = |lane: usize| self.values.at(lane, entity);
        let changed = match field.conditions.presence(|lane| base[lane][entity], now) {
            Presence::Absent => {
                self.clear(field.lanes(), entity);
                return last_changed;
            }
            Presence::Added => {
                self.code_added_field(field.index, entity);
                true
            }
            Presence::Kept => self.code_kept(scratch, nth, entity, last_changed),
        };
        self.spent.add_field(field.index, self.coder.spent() - begin);
        changed
    }

    /// Returns the shift of the value of a lane that the entity has in the baseline too. The
    /// value's steps are 2^shift.
    pub(super) fn shift(&self, lane: usize, entity: usize) -> u32 {
        match self.plan.coarseness(lane) {
            Some(coarseness) => coarseness.shift(self.values.at(coarseness.lane, entity)),
            None => self.past.shift(lane, entity),
        }
    }

    /// Codes the plan's `nth` field, outside the body, of an entity that has the field now and had
    /// it in the baseline. Returns whether the field changed. `last_changed` is true if the
    /// entity's previous field changed.
    fn code_kept(
        &mut self,
        scratch: &mut Scratch,
        nth: usize,
        entity: usize,
        last_changed: bool,
    ) -> bool {
        let field = &self.plan.fields[nth];
        let status = self.past.status(entity);
        let has_changed = self.has_changed(field.lanes(), entity);
        let rested =
            if status & MOVED != 0 { 0 } else { 1 + usize::from(status & MOVED_BEFORE == 0) };
        let status = self.past.field_status(&field.conditions, entity);
        let class = match field.coding {
            FieldCoding::Choice { .. } => {
                self.past.base()[field.first_lane][entity].min(3) as usize
            }
            _ => self.past.field_class(field.lanes(), (entity, status)),
        };
        let nearness = scratch.nearness[self.past.index(entity)];
        let context = flag_context(rested, last_changed, nearness, class);
        let is_changed = self.counters.code_field_flag(self.coder, (nth, context), has_changed);
        if is_changed {
            let at = FieldAt { field, entity, status, class };
            self.code_field(&at, &mut scratch.previous[nth]);
        }
        is_changed
    }

    /// Sets the lanes of an absent field to 0.
    pub(super) fn clear(&mut self, lanes: Range<usize>, entity: usize) {
        lanes.for_each(|lane| self.values.put(lane, entity, 0));
    }
}
