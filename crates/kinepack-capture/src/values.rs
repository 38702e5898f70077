//! The values of a recorded frame, lane by lane.

use std::ops::Range;

use kinepack::{EncodeError, Schema};

/// The values of a frame, lane by lane. If the schema has several kinds, a lane has a value for
/// each entity of its kind.
///
/// ```
/// use kinepack::{Pack, Schema};
/// use kinepack_capture::Columns;
///
/// #[derive(Pack)]
/// struct Lamp {
///     lit: bool,
///     #[pack(max = 100)]
///     glow: u8,
/// }
///
/// // There is a column for each lane, with a value for each entity, as in `CaptureFrame::values`.
/// let columns = [vec![1, 0], vec![30, 100]];
/// let values = Columns::Lanes(&columns);
/// let schema = Schema::of::<Lamp>();
/// assert_eq!(values.components(1, &schema), [0.0, 100.0]);
///
/// let (mut raw, mut lanes) = ([0; 2], [0; 2]);
/// values.entity(0, &schema, &mut raw, &mut lanes)?;
/// assert_eq!(lanes, [1, 30]);
/// # Ok::<(), kinepack::EncodeError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Columns<'a> {
    /// The state before quantization, as [`Pack::store_raw`](kinepack::Pack::store_raw) stores it.
    Raw(&'a [Vec<u64>]),
    /// Quantized lanes.
    Lanes(&'a [Vec<u64>]),
}

impl<'a> Columns<'a> {
    /// Returns the columns of some of the lanes, such as those of one
    /// [kind](kinepack::schema::EntityKind::lanes).
    ///
    /// # Panics
    /// If there are fewer columns than `lanes` needs.
    #[must_use]
    pub fn of_lanes(self, lanes: Range<usize>) -> Columns<'a> {
        match self {
            Self::Raw(columns) => Columns::Raw(&columns[lanes]),
            Self::Lanes(columns) => Columns::Lanes(&columns[lanes]),
        }
    }

    /// The number of columns.
    pub fn count(&self) -> usize {
        let (Self::Raw(columns) | Self::Lanes(columns)) = self;
        columns.len()
    }

    /// Returns the numbers of one entity, as [`components`](crate::components) computes them from
    /// its raw words. If the columns are lanes, the numbers are reconstructed. The numbers of
    /// absent fields are 0. `schema` must be the schema of one kind.
    ///
    /// # Panics
    /// If a column is not longer than `index`, or if the number of columns is not the schema's
    /// number of lanes.
    pub fn components(&self, index: usize, schema: &Schema) -> Vec<f64> {
        let (Self::Raw(columns) | Self::Lanes(columns)) = self;
        let mut raw: Vec<u64> = columns.iter().map(|column| column[index]).collect();
        if matches!(self, Self::Lanes(_)) {
            let lanes: Vec<u32> = raw.iter().map(|word| *word as u32).collect();
            for field in schema.fields().iter().filter(|field| field.is_present(&lanes)) {
                field.reconstruct_raw(&lanes[field.lanes()], &mut raw[field.lanes()]);
            }
        }
        crate::components(schema, &raw).collect()
    }

    /// Fills the raw words and the lanes of one entity. `schema` must be the schema of one kind.
    /// Returns false if a value was out of its range and was clamped to the nearest end.
    ///
    /// # Errors
    /// [`EncodeError`] if the schema cannot hold a value.
    ///
    /// # Panics
    /// If a column is not longer than `index`.
    pub fn entity(
        &self,
        index: usize,
        schema: &Schema,
        raw: &mut [u64],
        lanes: &mut [u32],
    ) -> Result<bool, EncodeError> {
        match self {
            Self::Raw(columns) => {
                raw.iter_mut().zip(*columns).for_each(|(word, column)| *word = column[index]);
                schema.quantize_raw(raw, lanes)
            }
            Self::Lanes(columns) => {
                lanes
                    .iter_mut()
                    .zip(*columns)
                    .for_each(|(lane, column)| *lane = column[index] as u32);
                schema.reconstruct_raw(lanes, raw).map(|()| true)
            }
        }
    }
}
