//! Codes one field of a newcomer.

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::ops::Range;

use crate::entropy::{Coder, Cost, Counter, MANTISSAS, Signed, code_signed, code_tree};
use crate::quantize::SmallestThree;
use crate::schema::{Conditions, Lane};
use crate::snapshot::adaptive::counters::LIMIT;
use crate::snapshot::adaptive::values::Columns;
use crate::snapshot::ids::EntityId;

/// The number of bits that a mode takes.
const MODE_BITS: u32 = 2;
/// The number of counters of modes: one tree for newcomers without an origin, and one for those
/// with an origin.
const MODES: usize = 2 << MODE_BITS;

/// The number of unary steps of the exponent with counters.
const EXPONENTS: usize = 14;
/// The number of counters of a signed number, without those of its mantissa: zero, sign, exponents.
pub(super) const DIFFERENCES: usize = 2 + EXPONENTS;
/// log₂ of the number of sectors of an origin's heading. Each sector has its own counters for the
/// differences of places.
pub(super) const SECTORS_LOG2: u32 = 4;

/// The maximum number of bits of a lane that has a counter for each value.
const SMALL_BITS: u32 = 8;
/// The number of upper bits of a larger lane that have counters.
const UPPER_BITS: u32 = 6;

/// The way in which a field of a newcomer is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The field has the same values as the entity that is like the newcomer.
    Like = 0,
    /// The field is coded by its differences from that entity.
    NearLike = 1,
    /// The field is coded by its differences from the newcomer's origin. Without differences, the
    /// field is a copy of the origin's field.
    NearOrigin = 2,
    /// The field is coded by its values.
    Value = 3,
}

impl Mode {
    const ALL: [Self; 4] = [Self::Like, Self::NearLike, Self::NearOrigin, Self::Value];
}

/// The part of the schema that coding a newcomer's field needs.
#[derive(Clone, Debug)]
pub(super) struct NewcomerField {
    pub(super) lanes: Range<usize>,
    pub(super) kinds: Vec<Lane>,
    pub(super) conditions: Conditions,
    pub(super) rotation: Option<SmallestThree>,
    /// True if some of the field's lanes are coded as differences.
    pub(super) has_differences: bool,
    /// True if all lanes have the same properties, and so share counters.
    pub(super) are_alike: bool,
    /// True if the field is a number or vector with limits. An encoder compares places to find a
    /// newcomer's origin.
    pub(super) is_place: bool,
    /// For each kind of origin, the first lane of that kind's field with the same name, if there is
    /// one.
    pub(super) origins: Vec<Option<usize>>,
    /// The smallest value of the field, if it is an integer that can be the id of an origin. An
    /// integer that can be an id has one lane, with steps of 1.
    pub(super) least_id: Option<i128>,
    /// The number of sets of [`DIFFERENCES`] counters for the differences from an origin: one set,
    /// or one for each lane and sector of the origin's heading.
    pub(super) origin_sets: usize,
    /// The field's counters. Fields of the same name in the elements of an array share their
    /// counters.
    pub(super) counters: Range<usize>,
}

/// Returns the number of upper bits of a lane's value that have counters.
fn value_bits(lane: &Lane) -> u32 {
    if lane.bits() <= SMALL_BITS { lane.bits() } else { UPPER_BITS }
}

/// The lanes of a field in a newcomer and in the entities that it is coded relative to.
pub(super) struct FieldRows<'a> {
    pub(super) columns: Columns<'a>,
    pub(super) newcomer: usize,
    /// The row of the entity that is like the newcomer.
    pub(super) like: Option<usize>,
    /// The lanes of the field in the origin, or the origin's id. This field is `None` if there is
    /// no origin, or if the origin has neither the field nor an id that fits the field.
    pub(super) origin: Option<&'a [u32]>,
    /// The sector of the origin's heading, if the origin has a heading.
    pub(super) sector: Option<usize>,
}

impl FieldRows<'_> {
    /// Returns the value of the `nth` lane in the entity that `mode` codes relative to. That entity
    /// must exist.
    fn from(&self, mode: Mode, nth: usize) -> u32 {
        match (mode, self.origin, self.like) {
            (Mode::NearOrigin, Some(origin), _) => origin[nth],
            (_, _, Some(like)) => self.columns.at(nth, like),
            _ => 0,
        }
    }

    /// Returns whether there is an entity that `mode` codes relative to.
    fn has(&self, mode: Mode) -> bool {
        match mode {
            Mode::Like | Mode::NearLike => self.like.is_some(),
            Mode::NearOrigin => self.origin.is_some(),
            Mode::Value => true,
        }
    }

    /// Returns whether the newcomer has the same values as the entity that `mode` codes relative
    /// to.
    fn is_as(&self, mode: Mode) -> bool {
        let mut columns = self.columns.all().iter().enumerate();
        columns.all(|(nth, column)| column[self.newcomer] == self.from(mode, nth))
    }
}

impl NewcomerField {
    /// Returns the index of the first counter of the field's values.
    fn first_value(&self) -> usize {
        let near = (1 + self.origin_sets) * DIFFERENCES + MANTISSAS;
        MODES + if self.has_differences { near } else { 0 }
    }

    /// Returns the number of the field's counters.
    pub(super) fn own_counters(&self) -> usize {
        let lanes = if self.are_alike { 1 } else { self.kinds.len() };
        let values = self.kinds.iter().take(lanes).map(|lane| 1 << value_bits(lane));
        self.first_value() + values.sum::<usize>()
    }

    /// Returns the value that is nearest to an id. Returns `None` if the field cannot be an id.
    pub(super) fn value_of_id(&self, EntityId(id): EntityId) -> Option<u32> {
        let steps = i128::from(id) - self.least_id?;
        Some(steps.clamp(0, self.kinds[0].max.into()) as u32)
    }

    /// Codes the field in a given mode. Returns false if a decoded value is out of the field's
    /// range.
    pub(super) fn code<C: Coder>(
        &self,
        coder: &mut C,
        counters: &mut [Counter],
        mode: Mode,
        rows: &mut FieldRows<'_>,
    ) -> bool {
        if !rows.has(mode) {
            return false;
        }
        match mode {
            Mode::Value => self.code_values(coder, &mut counters[self.first_value()..], rows),
            Mode::NearLike | Mode::NearOrigin if self.has_differences => {
                let (near, values) = counters.split_at_mut(self.first_value());
                let near = &mut near[MODES..];
                let (near, mantissas) = near.split_at_mut((1 + self.origin_sets) * DIFFERENCES);
                let first = if mode == Mode::NearOrigin { DIFFERENCES } else { 0 };
                let counters = [&mut near[first..], mantissas, values];
                self.code_differences(coder, counters, mode, rows)
            }
            Mode::NearLike => false,
            Mode::Like | Mode::NearOrigin => {
                for nth in 0..self.kinds.len() {
                    rows.columns.put(nth, rows.newcomer, rows.from(mode, nth));
                }
                true
            }
        }
    }

    fn code_differences<C: Coder>(
        &self,
        coder: &mut C,
        [near, mantissas, values]: [&mut [Counter]; 3],
        mode: Mode,
        rows: &mut FieldRows<'_>,
    ) -> bool {
        let sector = rows.sector.filter(|_| mode == Mode::NearOrigin);
        let mut turned = None;
        if let Some(rotation) = self.rotation {
            let dropped = rows.columns.at(0, rows.newcomer);
            let dropped = code_tree(coder, values, dropped, 2, LIMIT);
            rows.columns.put(0, rows.newcomer, dropped);
            let codes = [0, 1, 2, 3].map(|lane| rows.from(mode, lane));
            turned = Some(rotation.turned(codes, dropped));
        }
        for (nth, kind) in self.kinds.iter().enumerate().skip(usize::from(turned.is_some())) {
            let base = turned.map_or_else(|| rows.from(mode, nth), |turned| turned[nth - 1]);
            let set = match sector {
                Some(sector) if self.origin_sets > 1 => nth << SECTORS_LOG2 | sector,
                _ => 0,
            };
            let model = signed(&mut near[set * DIFFERENCES..], mantissas);
            let steps = kind.difference(base, rows.columns.at(nth, rows.newcomer));
            let steps = code_signed(coder, steps, model, LIMIT);
            let Some(value) = kind.offset(base, steps) else { return false };
            rows.columns.put(nth, rows.newcomer, value);
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
        for (nth, kind) in self.kinds.iter().enumerate() {
            let upper_bits = value_bits(kind);
            let lower_bits = kind.bits() - upper_bits;
            let value = rows.columns.at(nth, rows.newcomer);
            let counters = &mut counters[first..][..1 << upper_bits];
            let upper = code_tree(coder, counters, value >> lower_bits, upper_bits, LIMIT);
            let value = match lower_bits {
                0 => upper,
                _ => upper << lower_bits | coder.code_direct(value, lower_bits),
            };
            if value > kind.max {
                return false;
            }
            rows.columns.put(nth, rows.newcomer, value);
            if !self.are_alike {
                first += 1 << upper_bits;
            }
        }
        true
    }

    /// Returns whether the field can be coded relative to its origin.
    pub(super) fn can_be_near_origin(&self, rows: &FieldRows<'_>) -> bool {
        let mode = Mode::NearOrigin;
        rows.has(mode) && (self.has_differences || rows.is_as(mode))
    }

    /// Finds the cheapest mode that gives the field's values, and its cost in 1/256 bit. `scratch`
    /// is memory for a copy of the counters.
    pub(super) fn cheapest(
        &self,
        counters: &[Counter],
        rows: &mut FieldRows<'_>,
        has_origin: bool,
        scratch: &mut Vec<Counter>,
    ) -> (Mode, u64) {
        let mut cheapest = (Mode::Value, u64::MAX);
        for mode in Mode::ALL {
            let is_possible = match mode {
                Mode::Like => rows.is_as(mode),
                Mode::NearLike => self.has_differences,
                Mode::NearOrigin => self.has_differences || rows.is_as(mode),
                Mode::Value => true,
            };
            if !rows.has(mode) || !is_possible {
                continue;
            }
            counters.clone_into(scratch);
            let mut cost = Cost::default();
            self.code_mode(&mut cost, scratch, mode, has_origin);
            self.code(&mut cost, scratch, mode, rows);
            if cost.spent() < cheapest.1 {
                cheapest = (mode, cost.spent());
            }
        }
        cheapest
    }

    /// Codes the mode.
    pub(super) fn code_mode<C: Coder>(
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

/// Makes a model of signed numbers from these counters.
pub(super) fn signed<'a>(counters: &'a mut [Counter], mantissas: &'a mut [Counter]) -> Signed<'a> {
    let (shared, exponents) = counters[..DIFFERENCES].split_at_mut(2);
    let (zero, sign) = shared.split_at_mut(1);
    Signed { zero: &mut zero[0], sign: &mut sign[0], exponents, mantissas }
}
