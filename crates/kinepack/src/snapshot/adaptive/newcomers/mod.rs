//! Newcomers: entities that the baseline lacks. Each field is coded relative to an entity that is
//! like the newcomer, relative to one that it came from, or by how frequent its values are.
//! `spec/CODEC.md`, section 12.11.

mod field;
mod plan;

use alloc::vec::Vec;

use field::{DIFFERENCES, FieldRows, Mode, SECTORS_LOG2, signed};
pub(super) use plan::NewcomerPlan;

use super::coding::{Coding, Predictor};
use super::counters::LIMIT;
use super::scratch::Scratch;
use crate::entropy::{Coder, Cost, Counter, MANTISSAS, code_signed};
use crate::schema::Lane;
use crate::snapshot::history::ADDED;

/// The counter that says whether a newcomer has an origin.
const ORIGIN: usize = 0;
/// The first counter of the origin's number.
const NUMBER: usize = 1;
/// The counters before those of the fields.
const SHARED: usize = NUMBER + DIFFERENCES + MANTISSAS;

/// The most entities that an encoder looks at for a newcomer's origin.
const CANDIDATES: usize = 1024;

/// The entities of a packet that newcomers are coded relative to.
#[derive(Debug, Default)]
pub(super) struct Newcomers {
    /// The entities that were not added, increasing.
    kept: Vec<u32>,
    /// The newcomer that was coded last.
    last: Option<u32>,
    /// Memory for a copy of a field's counters.
    counters: Vec<Counter>,
}

impl Newcomers {
    /// Begins a packet in which entities have these flags of
    /// [`History`](crate::snapshot::history::History).
    pub(super) fn begin(&mut self, statuses: &[u8]) {
        self.last = None;
        self.kept.clear();
        let is_kept = |(_, status): &(u32, &u8)| **status & ADDED == 0;
        self.kept.extend((0..).zip(statuses).filter(is_kept).map(|(entity, _)| entity));
    }

    /// The entity that is most like the next newcomer: the last one, else the kept one before it in
    /// the order of the ids, else the one after it.
    fn like(&self, entity: u32) -> Option<u32> {
        let place = self.kept.partition_point(|kept| *kept < entity);
        self.last.or_else(|| self.kept.get(place.saturating_sub(1)).copied())
    }
}

impl<C: Coder, P: Predictor> Coding<'_, C, P> {
    /// Codes an added entity.
    pub(super) fn code_newcomer(&mut self, scratch: &mut Scratch, entity: usize) {
        let is_encoder = !scratch.encoder_changed.is_empty();
        let newcomers = &mut scratch.newcomers;
        let like = newcomers.like(entity as u32).map(|like| like as usize);
        newcomers.last = Some(entity as u32);
        let mut origin = None;
        if let Some(like) = like.filter(|_| !newcomers.kept.is_empty()) {
            let chosen =
                if is_encoder { self.choose_origin(newcomers, [entity, like]) } else { None };
            let counter = &mut self.counters.newcomers()[ORIGIN];
            if counter.code(self.coder, chosen.is_some(), LIMIT) {
                let number = i64::from(chosen.unwrap_or(0));
                let number = code_number(self.coder, self.counters.newcomers(), number);
                let number = usize::try_from(number).ok();
                let kept = number.and_then(|number| newcomers.kept.get(number));
                origin = kept.map(|kept| *kept as usize);
                if origin.is_none() {
                    return self.values.refuse();
                }
            }
        }
        let plan = self.plan;
        let sector = origin.and_then(|origin| self.sector(origin));
        for (index, field) in plan.newcomers.fields.iter().enumerate() {
            let begin = self.coder.spent();
            let now = |lane: usize| self.values.at(lane, entity);
            if !field.conditions.hold(now) {
                self.clear(field.lanes.clone(), entity);
                continue;
            }
            if field.lanes.is_empty() {
                continue;
            }
            let counters = &mut self.counters.newcomers()[field.counters.clone()];
            let mut rows = FieldRows {
                columns: &mut self.values.columns_mut()[field.lanes.clone()],
                newcomer: entity,
                like: like.unwrap_or(entity),
                origin: origin.unwrap_or(entity),
                sector,
            };
            let mut mode = Mode::Value;
            if like.is_some() {
                if is_encoder {
                    let copy = &mut newcomers.counters;
                    mode = field.cheapest(counters, &mut rows, origin.is_some(), copy).0;
                }
                mode = field.code_mode(self.coder, counters, mode, origin.is_some());
            }
            let is_possible = mode != Mode::NearOrigin || origin.is_some();
            if !is_possible || !field.code(self.coder, counters, mode, &mut rows) {
                return self.values.refuse();
            }
            self.spent.add_field(index, self.coder.spent() - begin);
        }
    }

    /// The sector of an entity's heading.
    fn sector(&self, entity: usize) -> Option<usize> {
        let (lane, kind) = self.plan.newcomers.heading?;
        let heading = u64::from(self.values.at(lane, entity));
        Some(((heading << SECTORS_LOG2) / (u64::from(kind.max) + 1)) as usize)
    }

    /// Codes a field of an entity in which it was absent before.
    pub(super) fn code_added_field(&mut self, index: usize, entity: usize) {
        let field = &self.plan.newcomers.fields[index];
        let counters = &mut self.counters.newcomers()[field.counters.clone()];
        let columns = &mut self.values.columns_mut()[field.lanes.clone()];
        let mut rows =
            FieldRows { columns, newcomer: entity, like: entity, origin: entity, sector: None };
        if !field.code(self.coder, counters, Mode::Value, &mut rows) {
            self.values.refuse();
        }
    }

    /// Chooses the entity that a newcomer came from, by its number among the kept ones; `None` if
    /// none makes the newcomer cheaper.
    fn choose_origin(
        &mut self,
        newcomers: &mut Newcomers,
        [entity, like]: [usize; 2],
    ) -> Option<u32> {
        let place = newcomers.kept.partition_point(|kept| (*kept as usize) < entity);
        let begin = place.saturating_sub(CANDIDATES / 2);
        let end = newcomers.kept.len().min(begin + CANDIDATES);
        let plan = self.plan;
        let places = || {
            let fields = plan.newcomers.fields.iter().filter(|field| field.is_place);
            fields.flat_map(|field| field.lanes.clone().zip(&field.kinds))
        };
        let away = |other: usize| -> u32 {
            let steps = |(lane, kind): (usize, &Lane)| {
                let [from, to] = [other, entity].map(|entity| self.values.at(lane, entity));
                64 - kind.difference(from, to).unsigned_abs().leading_zeros()
            };
            places().map(steps).sum()
        };
        let nearest = (begin..end).min_by_key(|number| away(newcomers.kept[*number] as usize))?;
        let origin = newcomers.kept[nearest] as usize;
        let sector = self.sector(origin);
        let [without, with] = [false, true].map(|has_origin| {
            let mut cost = Cost::default();
            let mut counters = [Counter::default(); SHARED];
            counters.copy_from_slice(&self.counters.newcomers()[..SHARED]);
            if counters[ORIGIN].code(&mut cost, has_origin, LIMIT) {
                code_number(&mut cost, &mut counters, nearest as i64);
            }
            let mut sum = cost.spent();
            for field in &plan.newcomers.fields {
                if field.lanes.is_empty()
                    || !field.conditions.hold(|lane| self.values.at(lane, entity))
                {
                    continue;
                }
                let counters = &self.counters.newcomers()[field.counters.clone()];
                let columns = &mut self.values.columns_mut()[field.lanes.clone()];
                let mut rows = FieldRows { columns, newcomer: entity, like, origin, sector };
                let copy = &mut newcomers.counters;
                sum += field.cheapest(counters, &mut rows, has_origin, copy).1;
            }
            sum
        });
        (with < without).then_some(nearest as u32)
    }
}

/// Codes the number of an origin. `counters` are those of newcomers.
fn code_number<C: Coder>(coder: &mut C, counters: &mut [Counter], number: i64) -> i64 {
    let (counters, mantissas) = counters[NUMBER..SHARED].split_at_mut(DIFFERENCES);
    code_signed(coder, number, signed(counters, mantissas), LIMIT)
}
