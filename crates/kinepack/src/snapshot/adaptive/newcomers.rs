//! Newcomers: entities that the baseline lacks. Each field is coded relative to an entity that is
//! like the newcomer, relative to one that it came from, or by how frequent its values are.
//! `spec/CODEC.md`, section 12.11.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::{Discriminant, discriminant};
use core::ops::Range;

use super::coding::{Coding, Predictor};
use super::counters::LIMIT;
use super::scratch::Scratch;
use crate::entropy::{Coder, Cost, Counter, MANTISSAS, Signed, code_signed, code_tree};
use crate::quantize::{FloatLimits, SmallestThree};
use crate::schema::{Conditions, Field, FieldKind, Lane, LaneArithmetic};
use crate::snapshot::history::ADDED;

/// The counter that says whether a newcomer has an origin.
const ORIGIN: usize = 0;
/// The first counter of the origin's number.
const NUMBER: usize = 1;
/// The counters before those of the fields.
const SHARED: usize = NUMBER + DIFFERENCES + MANTISSAS;

/// Bits of the number of a mode.
const MODE_BITS: u32 = 2;
/// Counters of modes: a tree without an origin, and one with it.
const MODES: usize = 2 << MODE_BITS;

/// Unary steps of the exponent with counters.
const EXPONENTS: usize = 14;
/// Counters of numbers besides their mantissas: zero, sign, exponents.
const DIFFERENCES: usize = 2 + EXPONENTS;
/// The sectors of an origin's heading, each with its own counters for places, as a power of two.
const SECTORS_LOG2: u32 = 4;

/// Lanes of at most this many bits have a counter for each value.
const SMALL_BITS: u32 = 8;
/// The upper bits of a larger lane that have counters.
const UPPER_BITS: u32 = 6;
/// The most entities that an encoder looks at for a newcomer's origin.
const CANDIDATES: usize = 1024;

/// How a field of a newcomer is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// As in the entity that is like it.
    Like = 0,
    /// By the differences from that.
    NearLike = 1,
    /// By the differences from its origin. A field without differences is as in the origin.
    NearOrigin = 2,
    /// By its values.
    Value = 3,
}

impl Mode {
    const ALL: [Self; 4] = [Self::Like, Self::NearLike, Self::NearOrigin, Self::Value];
}

/// What coding newcomers needs of the schema.
#[derive(Clone, Debug, Default)]
pub(super) struct NewcomerPlan {
    /// In the schema's order.
    fields: Vec<NewcomerField>,
    /// The lane of an angle that every entity has: where it faces.
    heading: Option<(usize, Lane)>,
    /// The number of counters.
    pub(super) counters: usize,
}

#[derive(Clone, Debug)]
struct NewcomerField {
    lanes: Range<usize>,
    kinds: Vec<Lane>,
    conditions: Conditions,
    rotation: Option<SmallestThree>,
    /// Some of its lanes have differences.
    has_differences: bool,
    /// All of its lanes are of one kind, and share counters.
    are_alike: bool,
    /// It is a number or vector with limits, by which an encoder finds a newcomer's origin.
    is_place: bool,
    /// The counters of the differences from an origin, in sets of [`DIFFERENCES`]: one set, or one
    /// for each lane and sector of the origin's heading.
    origin_sets: usize,
    /// Its counters, which fields of one name in the elements of an array share.
    counters: Range<usize>,
}

/// The counters of a lane's values.
fn value_bits(lane: &Lane) -> u32 {
    if lane.bits() <= SMALL_BITS { lane.bits() } else { UPPER_BITS }
}

/// Whether the field is an angle that every entity has.
fn is_heading(field: &Field) -> bool {
    let is_angle = |axes: &[FloatLimits]| axes.len() == 1 && axes[0].wraps();
    matches!(&field.kind, FieldKind::Floats(axes) if is_angle(axes)) && field.condition.is_none()
}

/// The name without the indices of array elements.
fn common_name(name: &str) -> String {
    let mut common = String::new();
    let mut is_index = false;
    for letter in name.chars() {
        is_index = (is_index && letter != ']') || letter == '[';
        if !is_index || letter == '[' {
            common.push(letter);
        }
    }
    common
}

impl NewcomerPlan {
    pub(super) fn new(fields: &[Field], lanes: &[Lane]) -> Self {
        let heading = fields.iter().find(|field| is_heading(field)).map(|field| {
            let lane = field.lanes().start;
            (lane, lanes[lane])
        });
        let mut plan = Self { fields: Vec::new(), heading, counters: SHARED };
        let mut known: Vec<(String, Discriminant<FieldKind>, Vec<Lane>, Range<usize>)> = Vec::new();
        for field in fields {
            let kinds = lanes[field.lanes()].to_vec();
            let has_differences =
                kinds.iter().any(|lane| lane.arithmetic != LaneArithmetic::Category);
            let (name, tag) = (common_name(&field.name), discriminant(&field.kind));
            let is_place = matches!(field.kind, FieldKind::Floats(_));
            let has_sectors = is_place && heading.is_some() && !is_heading(field);
            let origin_sets = if has_sectors { kinds.len() << SECTORS_LOG2 } else { 1 };
            let are_alike = matches!(field.kind, FieldKind::Raw { .. } | FieldKind::Bytes { .. });
            let shared =
                known.iter().find(|known| known.0 == name && known.1 == tag && known.2 == kinds);
            let counters = shared.map_or_else(
                || {
                    let own = if are_alike { 1 } else { kinds.len() };
                    let values: usize =
                        kinds.iter().take(own).map(|lane| 1 << value_bits(lane)).sum();
                    let near = (1 + origin_sets) * DIFFERENCES + MANTISSAS;
                    let differences = if has_differences { near } else { 0 };
                    let begin = plan.counters;
                    plan.counters += MODES + differences + values;
                    begin..plan.counters
                },
                |(.., counters)| counters.clone(),
            );
            known.push((name, tag, kinds.clone(), counters.clone()));
            plan.fields.push(NewcomerField {
                lanes: field.lanes(),
                kinds,
                conditions: field.conditions().clone(),
                rotation: if let FieldKind::Rotation(rotation) = field.kind {
                    Some(rotation)
                } else {
                    None
                },
                has_differences,
                are_alike,
                is_place,
                origin_sets,
                counters,
            });
        }
        plan
    }
}

/// The lanes of a field in a newcomer and in the entities that it is coded relative to.
struct FieldRows<'a> {
    columns: &'a mut [Vec<u32>],
    newcomer: usize,
    like: usize,
    origin: usize,
    /// The sector of the origin's heading.
    sector: Option<usize>,
}

impl NewcomerField {
    /// The first counter of its values.
    fn first_value(&self) -> usize {
        let near = (1 + self.origin_sets) * DIFFERENCES + MANTISSAS;
        MODES + if self.has_differences { near } else { 0 }
    }

    /// Codes the field in this mode. False if a value that was decoded is not possible.
    fn code<C: Coder>(
        &self,
        coder: &mut C,
        counters: &mut [Counter],
        mode: Mode,
        rows: &mut FieldRows<'_>,
    ) -> bool {
        let from = if mode == Mode::NearOrigin { rows.origin } else { rows.like };
        match mode {
            Mode::Like => {
                rows.columns.iter_mut().for_each(|column| column[rows.newcomer] = column[from]);
                true
            }
            Mode::NearOrigin if !self.has_differences => {
                rows.columns.iter_mut().for_each(|column| column[rows.newcomer] = column[from]);
                true
            }
            Mode::NearLike if !self.has_differences => false,
            Mode::NearLike | Mode::NearOrigin => {
                let (near, values) = counters.split_at_mut(self.first_value());
                let near = &mut near[MODES..];
                let (near, mantissas) = near.split_at_mut((1 + self.origin_sets) * DIFFERENCES);
                let (first, sector) = match mode {
                    Mode::NearOrigin => (DIFFERENCES, rows.sector),
                    _ => (0, None),
                };
                let counters = [&mut near[first..], mantissas, values];
                self.code_differences(coder, counters, (from, sector), rows)
            }
            Mode::Value => self.code_values(coder, &mut counters[self.first_value()..], rows),
        }
    }

    fn code_differences<C: Coder>(
        &self,
        coder: &mut C,
        [near, mantissas, values]: [&mut [Counter]; 3],
        (from, sector): (usize, Option<usize>),
        rows: &mut FieldRows<'_>,
    ) -> bool {
        let mut turned = None;
        if let Some(rotation) = self.rotation {
            let dropped = rows.columns[0][rows.newcomer];
            let dropped = code_tree(coder, values, dropped, 2, LIMIT);
            rows.columns[0][rows.newcomer] = dropped;
            let codes = [0, 1, 2, 3].map(|lane| rows.columns[lane][from]);
            turned = Some(rotation.turned(codes, dropped));
        }
        for (nth, kind) in self.kinds.iter().enumerate().skip(usize::from(turned.is_some())) {
            let column = &mut rows.columns[nth];
            let base = turned.map_or_else(|| column[from], |turned| turned[nth - 1]);
            let set = match sector {
                Some(sector) if self.origin_sets > 1 => nth << SECTORS_LOG2 | sector,
                _ => 0,
            };
            let model = signed(&mut near[set * DIFFERENCES..], mantissas);
            let steps = kind.difference(base, column[rows.newcomer]);
            let steps = code_signed(coder, steps, model, LIMIT);
            let Some(value) = kind.offset(base, steps) else { return false };
            column[rows.newcomer] = value;
        }
        true
    }

    fn code_values<C: Coder>(
        &self,
        coder: &mut C,
        counters: &mut [Counter],
        rows: &mut FieldRows<'_>,
    ) -> bool {
        let mut first = 0;
        for (kind, column) in self.kinds.iter().zip(&mut *rows.columns) {
            let upper_bits = value_bits(kind);
            let lower_bits = kind.bits() - upper_bits;
            let value = column[rows.newcomer];
            let counters = &mut counters[first..][..1 << upper_bits];
            let upper = code_tree(coder, counters, value >> lower_bits, upper_bits, LIMIT);
            let value = match lower_bits {
                0 => upper,
                _ => upper << lower_bits | coder.code_direct(value, lower_bits),
            };
            if value > kind.max {
                return false;
            }
            column[rows.newcomer] = value;
            if !self.are_alike {
                first += 1 << upper_bits;
            }
        }
        true
    }

    /// What the field costs in each mode, in 1/256 bit; `None` where the mode does not give its
    /// values. `scratch` is memory for a copy of the counters.
    fn costs(
        &self,
        counters: &[Counter],
        rows: &mut FieldRows<'_>,
        has_origin: bool,
        scratch: &mut Vec<Counter>,
    ) -> [Option<u64>; 4] {
        Mode::ALL.map(|mode| {
            let is_as = |other: usize| {
                rows.columns.iter().all(|column| column[rows.newcomer] == column[other])
            };
            let is_possible = match mode {
                Mode::Like => is_as(rows.like),
                Mode::NearLike => self.has_differences,
                Mode::NearOrigin => has_origin && (self.has_differences || is_as(rows.origin)),
                Mode::Value => true,
            };
            if !is_possible {
                return None;
            }
            counters.clone_into(scratch);
            let mut cost = Cost::default();
            self.code_mode(&mut cost, scratch, mode, has_origin);
            self.code(&mut cost, scratch, mode, rows);
            Some(cost.spent())
        })
    }

    /// Codes the mode.
    fn code_mode<C: Coder>(
        &self,
        coder: &mut C,
        counters: &mut [Counter],
        mode: Mode,
        has_origin: bool,
    ) -> Mode {
        let counters = &mut counters[usize::from(has_origin) << MODE_BITS..];
        let mode = code_tree(coder, counters, mode as u32, MODE_BITS, LIMIT);
        Mode::ALL[mode as usize]
    }
}

/// The entities of a packet that newcomers are coded relative to.
#[derive(Debug, Default)]
pub(super) struct Newcomers {
    /// The entities that were not added, increasing.
    kept: Vec<u32>,
    /// The newcomer that was coded last.
    last: Option<u32>,
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
                    mode = cheapest(field.costs(counters, &mut rows, origin.is_some(), copy)).1;
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
                sum += cheapest(field.costs(counters, &mut rows, has_origin, copy)).0;
            }
            sum
        });
        (with < without).then_some(nearest as u32)
    }
}

/// A model of numbers from these counters.
fn signed<'a>(counters: &'a mut [Counter], mantissas: &'a mut [Counter]) -> Signed<'a> {
    let (shared, exponents) = counters[..DIFFERENCES].split_at_mut(2);
    let (zero, sign) = shared.split_at_mut(1);
    Signed { zero: &mut zero[0], sign: &mut sign[0], exponents, mantissas }
}

/// Codes the number of an origin. `counters` are those of newcomers.
fn code_number<C: Coder>(coder: &mut C, counters: &mut [Counter], number: i64) -> i64 {
    let (counters, mantissas) = counters[NUMBER..SHARED].split_at_mut(DIFFERENCES);
    code_signed(coder, number, signed(counters, mantissas), LIMIT)
}

/// The cheapest of the modes, and its cost.
fn cheapest(costs: [Option<u64>; 4]) -> (u64, Mode) {
    let possible = costs.into_iter().zip(Mode::ALL);
    let possible = possible.filter_map(|(cost, mode)| Some((cost?, mode)));
    possible.min_by_key(|(cost, _)| *cost).unwrap_or((0, Mode::Value))
}
