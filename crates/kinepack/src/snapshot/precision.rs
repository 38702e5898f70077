//! Time precision: makes the values of moving entities coarser, according to the motion that both
//! sides know. See `spec/CODEC.md`, section 14.

use alloc::vec::Vec;
use core::f64::consts::FRAC_1_SQRT_2;
use core::ops::Range;

use super::baselines::Baselines;
use super::entities::Entities;
use super::history::History;
use super::level::Level;
use super::status::MOVED;
use crate::coarse::{MAX_SHIFT, coarsened};
use crate::hash::Fnv1a;
use crate::quantize::{FloatLimits, SmallestThree};
use crate::schema::{Conditions, Field, FieldKind, Lane};
use crate::{Schema, SetupError};

/// The default coarsest steps, as powers of two: 16 finest steps for numbers, 8 for rotations.
const DEFAULT_MAX_SHIFTS: [u8; 2] = [4, 3];

/// The schema's time precision, checked and turned into tables once.
#[derive(Debug)]
pub(super) struct Precision {
    kinds: Vec<OfKind>,
}

/// The fields of one kind that have a time precision.
#[derive(Debug)]
struct OfKind {
    /// The indices of all of the kind's lanes.
    lanes: Range<usize>,
    fields: Vec<FieldPrecision>,
}

/// A field with a time precision.
#[derive(Debug)]
struct FieldPrecision {
    /// The field's index in the schema.
    index: usize,
    ticks: f64,
    /// The conditions under which the field is present.
    conditions: Conditions,
    /// The index of the first lane that can have a shift.
    first: usize,
    lanes: Vec<LanePrecision>,
    /// The quantizer, if the field is a rotation: the lane before `first` then holds the dropped
    /// component.
    rotation: Option<SmallestThree>,
}

/// A lane that can have a shift.
#[derive(Clone, Copy, Debug)]
struct LanePrecision {
    /// The finest step in the field's unit; for a rotation this step is the same in all lanes.
    step: f64,
    /// The square of the speed, in units per tick, at which the precision allows an error of half a
    /// finest step.
    limit: f64,
    max_shift: u8,
    max: u32,
}

/// The shift of each entity in each lane that can have one.
#[derive(Debug, Default)]
pub(super) struct Shifts {
    /// One column per lane of the schema; a column is empty if the lane cannot have a shift.
    columns: Vec<Vec<u8>>,
    /// For each kind, the rows of the entities that moved, increasing. All other entities have no
    /// shift.
    moved: Vec<Vec<u32>>,
}

impl Shifts {
    /// Returns the shift of a lane of the entity at the row `entity` of its kind.
    #[inline]
    pub(super) fn at(&self, lane: usize, entity: usize) -> u32 {
        self.columns.get(lane).and_then(|column| column.get(entity)).copied().unwrap_or(0).into()
    }

    /// The columns of these lanes among the `all` lanes of the schema.
    pub(super) fn columns_mut(&mut self, lanes: Range<usize>, all: usize) -> &mut [Vec<u8>] {
        self.columns.resize_with(all, Vec::new);
        &mut self.columns[lanes]
    }

    /// Returns the columns of these lanes, or `None` if they cannot have shifts. Either all of
    /// these lanes can have shifts, or none.
    #[inline]
    pub(super) fn columns(&self, lanes: Range<usize>) -> Option<&[Vec<u8>]> {
        self.columns
            .get(lanes)
            .filter(|columns| columns.first().is_some_and(|column| !column.is_empty()))
    }
}

impl Precision {
    /// Looks up the precision of the fields for which `level` sends differences; returns `None` if
    /// no such field has a precision.
    ///
    /// # Errors
    /// [`SetupError::BadTimePrecision`] if a field cannot have its time precision, at any level.
    pub(super) fn new(schema: &Schema, level: &Level) -> Result<Option<Self>, SetupError> {
        let mut kinds = Vec::new();
        for kind in schema.kinds() {
            let mut fields = Vec::new();
            for index in kind.fields() {
                let field = &schema.fields()[index];
                if field.time_precision.is_some() {
                    let made = FieldPrecision::new(field, index, schema.lanes());
                    let made = made.ok_or(SetupError::BadTimePrecision { field: index })?;
                    if if made.rotation.is_some() {
                        level.relative_rotations()
                    } else {
                        level.relative_numbers()
                    } {
                        fields.push(made);
                    }
                }
            }
            kinds.push(OfKind { lanes: kind.lanes(), fields });
        }
        let has_none = kinds.iter().all(|kind| kind.fields.is_empty());
        Ok(if has_none { None } else { Some(Self { kinds }) })
    }

    fn fields(&self) -> impl Iterator<Item = &FieldPrecision> {
        self.kinds.iter().flat_map(|kind| &kind.fields)
    }

    pub(super) fn hash_into(&self, hasher: &mut Fnv1a) {
        for field in self.fields() {
            hasher.add(&(field.index as u32).to_le_bytes());
            hasher.add(&field.ticks.to_bits().to_le_bytes());
            hasher.add_list(&field.lanes.iter().map(|lane| lane.max_shift).collect::<Vec<_>>());
        }
    }

    /// Computes the shifts of all entities. `base` holds the baseline's columns for these entities.
    pub(super) fn find(
        &self,
        shifts: &mut Shifts,
        history: &History,
        entities: &Entities,
        baselines: &Baselines<'_>,
        base: &[Vec<u32>],
    ) {
        let Shifts { columns, moved } = shifts;
        columns.resize_with(base.len(), Vec::new);
        moved.resize_with(self.kinds.len(), Vec::new);
        moved.iter_mut().for_each(Vec::clear);
        for (range, kind) in entities.ranges().zip(&self.kinds) {
            for lane in kind.fields.iter().flat_map(FieldPrecision::range) {
                columns[lane].clear();
                columns[lane].resize(range.len(), 0);
            }
        }
        let Some(older) = baselines.older().first() else { return };
        let ticks = f64::from(baselines.baseline.tick.0.wrapping_sub(older.tick.0).max(1));
        let older = history.columns(baselines, 0);
        for ((range, kind), moved) in entities.ranges().zip(&self.kinds).zip(moved) {
            let has_moved = |(_, status): &(u32, &u8)| **status & MOVED != 0;
            let statuses = (0..).zip(&history.status[range]);
            moved.extend(statuses.filter(has_moved).map(|(row, _)| row));
            for field in &kind.fields {
                for &row in &*moved {
                    field.find(columns, [older, base], row as usize, ticks * ticks);
                }
            }
        }
    }

    /// Makes the values of all entities that differ from `base` as coarse as their steps.
    pub(super) fn coarsen(&self, shifts: &Shifts, base: &[Vec<u32>], columns: &mut [Vec<u32>]) {
        for (kind, moved) in self.kinds.iter().zip(&shifts.moved) {
            for &row in moved {
                let row = row as usize;
                if !kind.is_too_fine(shifts, base, columns, row) {
                    continue;
                }
                for (lane, LanePrecision { max, .. }) in
                    kind.fields.iter().flat_map(FieldPrecision::numbered)
                {
                    let (value, shift) = (&mut columns[lane][row], shifts.at(lane, row));
                    *value = coarsened(*value, shift, max);
                }
            }
        }
    }

    /// Returns whether any value is finer than its step, so that [`coarsen`](Self::coarsen) would
    /// change it.
    pub(super) fn is_too_fine(
        &self,
        shifts: &Shifts,
        base: &[Vec<u32>],
        columns: &[Vec<u32>],
    ) -> bool {
        self.kinds.iter().zip(&shifts.moved).any(|(kind, moved)| {
            moved.iter().any(|row| kind.is_too_fine(shifts, base, columns, *row as usize))
        })
    }
}

impl OfKind {
    /// Returns whether the values of the entity at a row would become coarser. They would if the
    /// entity differs from `base` and some value is not a multiple of its lane's step.
    fn is_too_fine(
        &self,
        shifts: &Shifts,
        base: &[Vec<u32>],
        columns: &[Vec<u32>],
        row: usize,
    ) -> bool {
        let [base, all] = [base, columns].map(|columns| &columns[self.lanes.clone()]);
        self.is_off_grid(shifts, columns, row) && differs(base, all, row)
    }

    /// Returns whether a lane of an entity is not at a multiple of its step.
    fn is_off_grid(&self, shifts: &Shifts, columns: &[Vec<u32>], entity: usize) -> bool {
        let is_off = |(lane, kind): (usize, LanePrecision)| {
            let (value, shift) = (columns[lane][entity], shifts.at(lane, entity));
            value != coarsened(value, shift, kind.max)
        };
        self.fields.iter().flat_map(FieldPrecision::numbered).any(is_off)
    }
}

/// Returns whether a lane of an entity differs from `base`, in the columns of the entity's kind.
pub(super) fn differs(base: &[Vec<u32>], columns: &[Vec<u32>], entity: usize) -> bool {
    base.iter().zip(columns).any(|(base, column)| base[entity] != column[entity])
}

impl FieldPrecision {
    /// Returns `None` if the field cannot have its time precision.
    fn new(field: &Field, index: usize, lanes: &[Lane]) -> Option<Self> {
        let precision = field.time_precision.filter(|_| field.takes_time_precision())?;
        let (steps, rotation, default_max) = match &field.kind {
            FieldKind::Floats(axes) => {
                (axes.iter().map(FloatLimits::step).collect(), None, DEFAULT_MAX_SHIFTS[0])
            }
            FieldKind::Rotation(rotation) => {
                let step = 4.0 * FRAC_1_SQRT_2 / f64::from(rotation.max_code());
                ([step; 3].to_vec(), Some(*rotation), DEFAULT_MAX_SHIFTS[1])
            }
            _ => return None,
        };
        let steps: Vec<f64> = steps;
        let ticks = precision.ticks();
        let first = field.lanes().end - steps.len();
        let lane = |(step, kind): (&f64, &Lane)| {
            let share = step / (2.0 * ticks);
            let limit = share * share;
            let fits = |shift: &u8| {
                precision.max_step.is_none_or(|most| f64::from(1u32 << shift) * step <= most)
            };
            let most = if precision.max_step.is_some() { MAX_SHIFT } else { default_max };
            let max_shift = (1..=most).take_while(fits).last().unwrap_or(0);
            limit.is_normal().then_some(LanePrecision {
                step: *step,
                limit,
                max_shift,
                max: kind.max,
            })
        };
        let made = Self {
            index,
            ticks,
            conditions: field.conditions().clone(),
            first,
            lanes: steps.iter().zip(&lanes[first..]).map(lane).collect::<Option<_>>()?,
            rotation,
        };
        precision.is_possible(made.lanes.len()).then_some(made)
    }

    /// The indices of the lanes that can have a shift.
    fn range(&self) -> Range<usize> {
        self.first..self.first + self.lanes.len()
    }

    fn numbered(&self) -> impl Iterator<Item = (usize, LanePrecision)> {
        self.range().zip(self.lanes.iter().copied())
    }

    /// Computes the shifts of an entity that is in both states. If the field is absent in either
    /// state, it gets no shift.
    fn find(
        &self,
        shifts: &mut [Vec<u8>],
        [older, base]: [&[Vec<u32>]; 2],
        entity: usize,
        ticks_squared: f64,
    ) {
        if ![older, base].into_iter().all(|columns| self.conditions.hold_at(columns, entity)) {
            return;
        }
        let turned = self.rotation.and_then(|rotation| {
            let codes = |columns: &[Vec<u32>]| {
                [0, 1, 2, 3].map(|nth| columns[self.first - 1 + nth][entity])
            };
            let ([dropped, ..], before) = (codes(base), codes(older));
            (before[0] != dropped).then(|| rotation.turned(before, dropped))
        });
        let mut speed_squared = 0.0;
        for (nth, (lane, kind)) in self.numbered().enumerate() {
            let before = turned.map_or_else(|| older[lane][entity], |turned| turned[nth]);
            let moved = (f64::from(base[lane][entity]) - f64::from(before)) * kind.step;
            speed_squared += moved * moved;
        }
        for (lane, kind) in self.numbered() {
            let mut needed = kind.limit * ticks_squared * 4.0;
            let mut shift = 0;
            while shift < kind.max_shift && needed <= speed_squared {
                needed *= 4.0;
                shift += 1;
            }
            shifts[lane][entity] = shift;
        }
    }
}
