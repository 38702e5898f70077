//! Quantizes many states at once, lane by lane. The loops run over plain arrays, without an
//! intermediate row for each state.

use alloc::vec::Vec;
use core::ops::Range;

use super::Components;
use super::derived::{axis, quantize_at_ends, quantize_floats};
use crate::EncodeError;
use crate::quantize::{FloatLimits, SmallestThree};
use crate::rotation::BLOCK;

/// The maximum number of components of a value that is quantized in blocks.
const AXES: usize = 4;

/// The lanes of several states as columns, one column for each lane.
/// [`Pack::quantize_columns`](super::Pack::quantize_columns) fills them.
///
/// ```
/// use kinepack::schema::{Columns, Field, FieldKind};
/// use kinepack::{EncodeError, EntityId, Pack, Schema, Snapshot, Tick};
///
/// /// A number of two digits.
/// struct Digits(u32);
///
/// impl Pack for Digits {
///     const LANES: usize = 2;
///
///     fn fields(path: &str, fields: &mut Vec<Field>) {
///         let digit = |name| Field::new(format!("{path}{name}"), FieldKind::Choice { max: 9 });
///         fields.extend([digit("tens"), digit("ones")]);
///     }
///
///     fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
///         lanes.copy_from_slice(&[self.0 / 10 % 10, self.0 % 10]);
///         Ok(())
///     }
///
///     fn quantize_columns<'a>(
///         states: impl Iterator<Item = &'a Self> + Clone,
///         mut columns: Columns<'_>,
///     ) -> bool {
///         let tens = columns.lane(0).iter_mut();
///         tens.zip(states.clone()).for_each(|(lane, digits)| *lane = digits.0 / 10 % 10);
///         let ones = columns.lane(1).iter_mut();
///         ones.zip(states).for_each(|(lane, digits)| *lane = digits.0 % 10);
///         true
///     }
///
///     fn reconstruct(lanes: &[u32]) -> Self {
///         Self(lanes[0] * 10 + lanes[1])
///     }
/// }
///
/// let mut world = Snapshot::new(&Schema::of::<Digits>(), Tick(0));
/// world.extend([(EntityId(1), Digits(42)), (EntityId(2), Digits(7))])?;
/// assert_eq!(world.lane(0), [4, 0]);
/// assert_eq!(world.lane(1), [2, 7]);
/// # Ok::<(), EncodeError>(())
/// ```
#[derive(Debug)]
pub struct Columns<'a> {
    columns: &'a mut [Vec<u32>],
    /// The range of the rows to fill.
    rows: Range<usize>,
}

impl<'a> Columns<'a> {
    /// Makes a `Columns` of the rows from `begin` on.
    pub(crate) fn new(columns: &'a mut [Vec<u32>], begin: usize) -> Self {
        let end = columns.first().map_or(begin, Vec::len);
        Self { columns, rows: begin..end }
    }

    /// Makes a `Columns` of these rows.
    pub(crate) fn with_rows(columns: &'a mut [Vec<u32>], rows: Range<usize>) -> Self {
        Self { columns, rows }
    }

    /// Returns the values of a lane: one for each state.
    ///
    /// # Panics
    /// If there is no lane with the index `lane`.
    #[inline]
    pub fn lane(&mut self, lane: usize) -> &mut [u32] {
        &mut self.columns[lane][self.rows.clone()]
    }

    /// Sets `rows` of the first lanes to the first values of each block.
    #[inline]
    fn put(&mut self, rows: Range<usize>, blocks: &[[u32; BLOCK]]) {
        for (lane, block) in blocks.iter().enumerate() {
            self.lane(lane)[rows.clone()].copy_from_slice(&block[..rows.len()]);
        }
    }

    /// Splits off the first `lanes` lanes and returns them.
    ///
    /// # Panics
    /// If there are fewer than `lanes` lanes.
    #[inline]
    #[must_use]
    pub fn split(&mut self, lanes: usize) -> Self {
        let (part, rest) = core::mem::take(&mut self.columns).split_at_mut(lanes);
        self.columns = rest;
        Self { columns: part, rows: self.rows.clone() }
    }

    /// Fills the lanes state by state: `quantize` fills a row of lanes from each state. Returns
    /// false if `quantize` fails.
    #[inline]
    pub fn fill_rows<T>(
        self,
        states: impl Iterator<Item = T>,
        quantize: impl Fn(T, &mut [u32]) -> Result<(), EncodeError>,
    ) -> bool {
        let Self { columns, rows } = self;
        with_row(columns.len(), |row| {
            states.zip(rows.start..).all(|(state, index)| {
                let is_right = quantize(state, row).is_ok();
                for (column, value) in columns.iter_mut().zip(&*row) {
                    column[index] = *value;
                }
                is_right
            })
        })
    }
}

/// Calls `read` with a row of `lanes` zeros. The row is allocated only if there are more than 64
/// lanes.
#[inline]
pub(crate) fn with_row<R>(lanes: usize, read: impl FnOnce(&mut [u32]) -> R) -> R {
    let mut few = [0; 64];
    match few.get_mut(..lanes) {
        Some(row) => read(row),
        None => read(&mut alloc::vec![0; lanes]),
    }
}

/// Quantizes the components of `values` lane by lane, as
/// [`quantize_floats`](super::derived::quantize_floats) does for one value.
#[inline]
pub fn float_columns<'a, T: Components + 'a>(
    mut values: impl Iterator<Item = &'a T> + Clone,
    axes: &[FloatLimits],
    clamp: bool,
    mut columns: Columns<'_>,
) -> bool {
    if T::COUNT > AXES {
        let quantize = |value, row: &mut [u32]| quantize_floats(value, axes, clamp, "", row);
        return columns.fill_rows(values, quantize);
    }
    let count = columns.lane(0).len();
    (0..count).step_by(BLOCK).all(|begin| {
        let rows = begin..count.min(begin + BLOCK);
        let mut codes = [[0; BLOCK]; AXES];
        let mut are_right = true;
        for (index, value) in values.by_ref().take(rows.len()).enumerate() {
            let components = value.components();
            for (axis_index, component) in components.as_ref().iter().enumerate() {
                let limits = axis(axes, axis_index);
                let code = limits.inner_code(*component).unwrap_or_else(|| {
                    let code = quantize_at_ends(limits, *component, clamp);
                    are_right &= code.is_ok();
                    code.unwrap_or(0)
                });
                codes[axis_index][index] = code;
            }
        }
        columns.put(rows, &codes[..T::COUNT]);
        are_right
    })
}

/// Quantizes quaternions of four components x, y, z, w.
#[inline]
pub fn rotation_columns<'a, T: Components + 'a>(
    mut values: impl Iterator<Item = &'a T> + Clone,
    rotation: &SmallestThree,
    mut columns: Columns<'_>,
) -> bool {
    let count = columns.lane(0).len();
    (0..count).step_by(BLOCK).all(|begin| {
        let rows = begin..count.min(begin + BLOCK);
        let mut block = [[1.0; BLOCK]; 4];
        for (index, value) in values.by_ref().take(rows.len()).enumerate() {
            let components = value.components();
            let places = block.iter_mut().zip(components.as_ref());
            places.for_each(|(block, component)| block[index] = *component as f32);
        }
        let codes = rotation.quantize_block(&block);
        codes.is_some_and(|codes| {
            columns.put(rows, &codes);
            true
        })
    })
}
