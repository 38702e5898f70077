//! Codes an added entity, and chooses its origin in an encoder.

use alloc::vec::Vec;
use core::ops::Range;

use super::field::{DIFFERENCES, FieldRows, Mode, NewcomerField, SECTORS_LOG2, signed};
use super::memory::Newcomers;
use super::plan::{NUMBER, ORIGIN, SHARED, kind_counters};
use crate::entropy::{Coder, Cost, Counter, code_signed};
use crate::snapshot::adaptive::coding::Coding;
use crate::snapshot::adaptive::counters::LIMIT;
use crate::snapshot::adaptive::predictor::Predictor;
use crate::snapshot::adaptive::scratch::Scratch;

/// The maximum number of entities that an encoder considers as a newcomer's origin.
const CANDIDATES: usize = 1024;
/// The maximum number of these entities that the encoder tries: the nearest of each kind, nearest
/// first.
const TRIED: usize = 4;

/// The entity that a newcomer came from: its kind and row, and the sector of its heading.
#[derive(Clone, Copy)]
struct Origin {
    kind: usize,
    entity: usize,
    sector: Option<usize>,
}

impl<C: Coder, P: Predictor> Coding<'_, C, P> {
    /// Codes an added entity.
    pub(in crate::snapshot::adaptive) fn code_newcomer(
        &mut self,
        scratch: &mut Scratch,
        entity: usize,
    ) {
        let is_encoder = !scratch.encoder_changed.is_empty();
        let newcomers = &mut scratch.newcomers;
        let kind = self.past.kind();
        let like = self.like(newcomers, entity);
        newcomers.last[kind] = Some(entity);
        let mut origin = None;
        if !newcomers.kept.is_empty() {
            let chosen =
                if is_encoder { self.choose_origin(newcomers, entity, like) } else { None };
            let counters = &mut self.counters.newcomers[kind_counters(kind)];
            if counters[ORIGIN].code(self.coder, chosen.is_some(), LIMIT) {
                let number = i64::from(chosen.unwrap_or(0));
                let number = usize::try_from(code_number(self.coder, counters, number)).ok();
                origin = number.and_then(|number| newcomers.kept.get(number)).copied();
                if origin.is_none() {
                    return self.values.refuse();
                }
            }
        }
        let origin = origin.map(|index| self.origin(index as usize));
        let plan = self.plan;
        for index in plan.newcomers.kinds[kind].fields.clone() {
            let field = &plan.newcomers.fields[index];
            let begin = self.coder.spent();
            let now = |lane: usize| self.values.at(lane, entity);
            if !field.conditions.hold(now) {
                self.clear(field.lanes.clone(), entity);
                continue;
            }
            if field.lanes.is_empty() {
                continue;
            }
            let Newcomers { counters: copy, origin: values, .. } = newcomers;
            let has_field = self.origin_lanes(field, origin, values);
            let counters = &mut self.counters.newcomers[field.counters.clone()];
            let mut rows = FieldRows {
                columns: self.values.slice(field.lanes.clone()),
                newcomer: entity,
                like,
                origin: has_field.then_some(&values[..]),
                sector: origin.and_then(|origin| origin.sector),
            };
            let mut mode = Mode::Value;
            if like.is_some() || origin.is_some() {
                if is_encoder && newcomers.explored.is_some() && field.can_be_near_origin(&rows) {
                    mode = Mode::NearOrigin;
                } else if is_encoder {
                    mode = field.cheapest(counters, &mut rows, origin.is_some(), copy).0;
                }
                mode = field.code_mode(self.coder, counters, mode, origin.is_some());
            }
            if !field.code(self.coder, counters, mode, &mut rows) {
                return self.values.refuse();
            }
            self.spent.add_field(index, self.coder.spent() - begin);
        }
    }

    /// Returns the row of the entity of the current kind that is most like the next newcomer. That
    /// entity is the last newcomer, or else the kept entity before the newcomer in the order of
    /// ids, or else the kept entity after the newcomer.
    fn like(&self, newcomers: &Newcomers, entity: usize) -> Option<usize> {
        let kind = self.past.kind();
        let range = self.past.entities().range(kind);
        let place = |index: usize| newcomers.kept.partition_point(|kept| (*kept as usize) < index);
        let kept = &newcomers.kept[place(range.start)..place(range.end)];
        let before = kept.partition_point(|kept| (*kept as usize) < range.start + entity);
        let kept = kept.get(before.saturating_sub(1)).map(|kept| *kept as usize - range.start);
        newcomers.last[kind].or(kept)
    }

    /// Returns the entity at `index` as an origin.
    fn origin(&self, index: usize) -> Origin {
        let (kind, entity) = self.past.entities().place(index);
        let sector = self.plan.newcomers.kinds[kind].heading.map(|(lane, kind)| {
            let heading = u64::from(self.values.at(lane, entity));
            ((heading << SECTORS_LOG2) / (u64::from(kind.max) + 1)) as usize
        });
        Origin { kind, entity, sector }
    }

    /// Replaces `values` with the lanes of a field in an origin, or with the origin's id if its
    /// kind lacks the field. Returns false if there is no origin, or if its kind lacks the field
    /// and the field cannot be an id.
    fn origin_lanes(
        &self,
        field: &NewcomerField,
        origin: Option<Origin>,
        values: &mut Vec<u32>,
    ) -> bool {
        values.clear();
        let Some(origin) = origin else { return false };
        let Some(first) = field.origins[origin.kind] else {
            let id = self.past.entities().of_kind(origin.kind)[origin.entity];
            values.extend(field.value_of_id(id));
            return !values.is_empty();
        };
        let lanes = first..first + field.lanes.len();
        values.extend(lanes.map(|lane| self.values.at(lane, origin.entity)));
        true
    }

    /// Codes a field of an entity that lacked the field before.
    pub(in crate::snapshot::adaptive) fn code_added_field(&mut self, index: usize, entity: usize) {
        let field = &self.plan.newcomers.fields[index];
        let counters = &mut self.counters.newcomers[field.counters.clone()];
        let columns = self.values.slice(field.lanes.clone());
        let mut rows =
            FieldRows { columns, newcomer: entity, like: None, origin: None, sector: None };
        if !field.code(self.coder, counters, Mode::Value, &mut rows) {
            self.values.refuse();
        }
    }

    /// Chooses the entity that a newcomer is coded relative to. Returns that entity's number among
    /// the kept entities, or `None` if no origin makes the newcomer cheaper.
    fn choose_origin(
        &mut self,
        newcomers: &mut Newcomers,
        entity: usize,
        like: Option<usize>,
    ) -> Option<u32> {
        let index = self.past.index(entity);
        let place = newcomers.kept.partition_point(|kept| (*kept as usize) < index);
        let begin = place.saturating_sub(CANDIDATES / 2);
        let end = newcomers.kept.len().min(begin + CANDIDATES);
        self.find_nearest(newcomers, begin..end, entity);
        if let Some(explored) = &mut newcomers.explored {
            *explored += 1;
            // Prefers the candidate whose kind has the most fields in common with the newcomer.
            let fields = |(_, number): &&(u32, u32)| {
                let origin = self.origin(newcomers.kept[*number as usize] as usize);
                let kind = &self.plan.newcomers.kinds[self.past.kind()];
                let fields = &self.plan.newcomers.fields[kind.fields.clone()];
                fields.iter().filter(|field| field.origins[origin.kind].is_some()).count()
            };
            let richest = newcomers.nearest.iter().rev().max_by_key(fields);
            return richest.filter(|_| *explored % 2 == 0).map(|(_, number)| *number);
        }
        let mut best = None;
        let mut least = self.cost(newcomers, (entity, like), None);
        for nth in 0..newcomers.nearest.len().min(TRIED) {
            let number = newcomers.nearest[nth].1;
            let cost = self.cost(newcomers, (entity, like), Some(number));
            if cost < least {
                (best, least) = (Some(number), cost);
            }
        }
        best
    }

    /// Computes the cost of a newcomer with an origin, in 1/256 bit. `origin` is the number of an
    /// entity among the kept ones. `entity` is the newcomer's row, and `like` is the row of the
    /// entity that the newcomer is most like.
    fn cost(
        &mut self,
        newcomers: &mut Newcomers,
        (entity, like): (usize, Option<usize>),
        origin: Option<u32>,
    ) -> u64 {
        let (plan, kind) = (self.plan, self.past.kind());
        let mut cost = Cost::default();
        let mut counters = [Counter::default(); SHARED];
        counters.copy_from_slice(&self.counters.newcomers[kind_counters(kind)]);
        if counters[ORIGIN].code(&mut cost, origin.is_some(), LIMIT) {
            code_number(&mut cost, &mut counters, i64::from(origin.unwrap_or(0)));
        }
        let origin = origin.map(|number| self.origin(newcomers.kept[number as usize] as usize));
        let mut sum = cost.spent();
        for field in &plan.newcomers.fields[plan.newcomers.kinds[kind].fields.clone()] {
            let now = |lane: usize| self.values.at(lane, entity);
            if field.lanes.is_empty() || !field.conditions.hold(now) {
                continue;
            }
            let Newcomers { counters: copy, origin: values, .. } = &mut *newcomers;
            let has_field = self.origin_lanes(field, origin, values);
            let counters = &self.counters.newcomers[field.counters.clone()];
            let columns = self.values.slice(field.lanes.clone());
            let mut rows = FieldRows {
                columns,
                newcomer: entity,
                like,
                origin: has_field.then_some(&values[..]),
                sector: origin.and_then(|origin| origin.sector),
            };
            sum += field.cheapest(counters, &mut rows, origin.is_some(), copy).1;
        }
        sum
    }

    /// Finds, for each kind, the entity nearest to a newcomer among a range of the kept entities.
    /// The distance is the total number of bits of the differences in all fields that are places.
    /// If a kind lacks such a field, all bits of the field count.
    fn find_nearest(&self, newcomers: &mut Newcomers, range: Range<usize>, entity: usize) {
        let first = range.start;
        let Newcomers { kept, away, nearest, .. } = newcomers;
        nearest.clear();
        let kept = &kept[range];
        away.clear();
        away.resize(kept.len(), 0);
        let fields = self.plan.newcomers.kinds[self.past.kind()].fields.clone();
        let places =
            || self.plan.newcomers.fields[fields.clone()].iter().filter(|field| field.is_place);
        let mut begin = 0;
        for (kind, range) in self.past.entities().ranges().enumerate() {
            let count = kept[begin..].partition_point(|index| (*index as usize) < range.end);
            let (kept, away) = (&kept[begin..][..count], &mut away[begin..][..count]);
            let place = first + begin;
            begin += count;
            for field in places() {
                for (nth, (lane, of_lane)) in field.lanes.clone().zip(&field.kinds).enumerate() {
                    let Some(first) = field.origins[kind] else {
                        away.iter_mut().for_each(|bits| *bits += of_lane.bits());
                        continue;
                    };
                    let column = &self.values.columns()[first + nth];
                    let to = self.values.at(lane, entity);
                    for (bits, index) in away.iter_mut().zip(kept) {
                        let from = column[*index as usize - range.start];
                        let steps = of_lane.difference(from, to).unsigned_abs();
                        *bits += 64 - steps.leading_zeros();
                    }
                }
            }
            let least = (0u32..).zip(away).min_by_key(|(_, bits)| **bits);
            nearest.extend(least.map(|(row, bits)| (*bits, place as u32 + row)));
        }
        nearest.sort_unstable();
    }
}

/// Codes the number of an origin. `counters` are the counters of the kind that belong to no field.
fn code_number<C: Coder>(coder: &mut C, counters: &mut [Counter], number: i64) -> i64 {
    let (counters, mantissas) = counters[NUMBER..SHARED].split_at_mut(DIFFERENCES);
    code_signed(coder, number, signed(counters, mantissas), LIMIT)
}
