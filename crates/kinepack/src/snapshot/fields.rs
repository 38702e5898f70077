//! A field's differences from the baseline: a class by magnitude, then the lanes in the class's widths.
//! `spec/CODEC.md`, section 9. Source: "relative position" and "relative smallest three" of the article, generalized.
//!
//! Choosing a class is a look-up a lane: for each size of a difference a mask tells the classes that hold it, and the
//! lowest bit that all lanes share is the class.

use alloc::vec;
use alloc::vec::Vec;

use super::prefix::PrefixCode;
use super::profile::{Class, Context, FieldCode, Profile, differenced};
use crate::{BitReader, BitSink, DecodeError, FieldKind, Lane, Schema, SetupError, SmallestThree, bits_for};

/// Sizes of a difference: 0, and 1 + the bits of its magnitude, which are at most 32.
const SIZES: usize = 34;

/// A [`FieldCode`] made ready.
#[derive(Debug)]
pub(super) struct FieldTable {
    /// The field's lanes among the schema's.
    pub(super) lanes: core::ops::Range<usize>,
    pub(super) all: Vec<Lane>,
    /// Those that have differences: all but the first of a rotation, none of a flag or choice.
    differenced: Vec<Lane>,
    rotation: Option<SmallestThree>,
    pub(super) context: Context,
    codes: Vec<PrefixCode>,
    classes: Vec<Class>,
    /// Class-major: one width a lane.
    widths: Vec<Width>,
    /// Lane-major: [`SIZES`] entries a lane.
    fits: Vec<Fit>,
    /// Classes for rotations that drop the same component as the baseline; all classes of other fields.
    same_mask: u64,
    turned_mask: u64,
}

/// A lane's width in one class. The class holds differences of `bits` bits, or where `beyond` is not 0 those from
/// `beyond` on and those below `-beyond`.
#[derive(Clone, Copy, Debug)]
struct Width {
    bits: u32,
    beyond: i64,
}

/// The classes that hold a difference of one size: `always`, and `below_edge` where its magnitude is below `edge`.
#[derive(Clone, Copy, Debug, Default)]
struct Fit {
    always: u64,
    below_edge: u64,
    edge: u64,
}

impl Width {
    /// Half of the number of differences.
    fn half(self) -> i64 {
        (1i64 << self.bits) / 2
    }

    #[inline]
    fn code(self, difference: i64) -> u64 {
        // Below, the two ranges beyond become one around zero.
        let inward = if difference >= 0 { difference - self.beyond } else { difference + self.beyond };
        (inward + self.half()) as u64
    }

    #[inline]
    fn difference(self, code: u64) -> i64 {
        let inward = code as i64 - self.half();
        if inward >= 0 { inward + self.beyond } else { inward - self.beyond }
    }
}

impl FieldTable {
    pub(super) fn new(schema: &Schema, profile: &Profile, index: usize) -> Result<Self, SetupError> {
        let field = &schema.fields()[index];
        let code: &FieldCode = &profile.fields[index];
        let (lanes, _) = differenced(field, schema);
        let rotation = if let FieldKind::Rotation(rotation) = field.kind { Some(rotation) } else { None };
        let widths: Vec<Width> = code
            .classes
            .iter()
            .flat_map(|class| &class.lanes)
            .map(|width| Width { bits: u32::from(width.bits), beyond: (1i64 << width.beyond_bits) / 2 })
            .collect();
        let turned_mask: u64 = (0..).zip(&code.classes).filter(|(_, class)| class.turned).map(|(k, _)| 1u64 << k).sum();
        let mut fits = Vec::new();
        for lane in 0..lanes.len() {
            for size in 0..SIZES as u32 {
                let class_widths = widths.iter().skip(lane).step_by(lanes.len().max(1)).copied();
                fits.push(Fit::new(class_widths, size).ok_or(SetupError::BadFieldCode { field: index })?);
            }
        }
        let codes = code.lengths_bits.iter().map(|lengths| PrefixCode::new(lengths));
        Ok(Self {
            lanes: field.lanes(),
            all: schema.lanes()[field.lanes()].to_vec(),
            differenced: lanes.to_vec(),
            rotation,
            context: code.context,
            codes: codes.collect::<Result<_, _>>()?,
            classes: code.classes.clone(),
            widths,
            fits,
            same_mask: !turned_mask,
            turned_mask,
        })
    }

    /// True where this field has differences, at a level with or without relative numbers and rotations.
    pub(super) fn is_relative(&self, numbers: bool, rotations: bool) -> bool {
        !self.differenced.is_empty() && if self.rotation.is_some() { rotations } else { numbers }
    }

    /// The class that stands for the field in full.
    pub(super) fn full_class(&self) -> usize {
        self.classes.len()
    }

    /// Writes one entity's field relative to its baseline and returns the class.
    #[inline]
    pub(super) fn write(
        &self,
        sink: &mut impl BitSink,
        state: usize,
        base: &[Vec<u32>],
        new: &[Vec<u32>],
        index: usize,
        differences: &mut [i64],
    ) -> usize {
        let mut mask = self.same_mask;
        let mut dropped = [0; 2];
        if let Some(rotation) = self.rotation {
            let codes: [u32; 4] = core::array::from_fn(|lane| base[lane][index]);
            dropped = [codes[0], new[0][index]];
            let mut base_codes = [codes[1], codes[2], codes[3]];
            if dropped[0] != dropped[1] {
                mask = self.turned_mask;
                base_codes = rotation.turned(codes, dropped[1]);
            }
            for (lane, difference) in differences[..3].iter_mut().enumerate() {
                *difference = i64::from(new[lane + 1][index]) - i64::from(base_codes[lane]);
            }
        } else {
            for (((difference, lane), base), new) in differences.iter_mut().zip(&self.differenced).zip(base).zip(new) {
                *difference = lane.difference(base[index], new[index]);
            }
        }
        let differences = &differences[..self.differenced.len()];
        for (difference, fits) in differences.iter().zip(self.fits.chunks_exact(SIZES)) {
            mask &= fits[size(*difference)].classes(magnitude(*difference));
        }
        let class = (mask.trailing_zeros() as usize).min(self.full_class());
        self.codes[state].write(sink, class);
        if class == self.full_class() {
            self.write_full(sink, new, index);
            return class;
        }
        if self.classes[class].turned {
            sink.write(u64::from(others_index(dropped[0], dropped[1])), 2);
        }
        let lanes = differences.len();
        for (difference, width) in differences.iter().zip(&self.widths[class * lanes..]) {
            sink.write(width.code(*difference), width.bits);
        }
        class
    }

    /// Reads what [`write`](Self::write) wrote over the baseline's values in `columns` and returns the class.
    #[inline]
    pub(super) fn read(
        &self,
        reader: &mut BitReader<'_>,
        state: usize,
        columns: &mut [Vec<u32>],
        index: usize,
    ) -> Result<usize, DecodeError> {
        let class = self.codes[state].read(reader)?;
        if class == self.full_class() {
            self.read_full(reader, columns, index)?;
            return Ok(class);
        }
        let mut columns = columns;
        if let Some(rotation) = self.rotation {
            if self.classes[class].turned {
                let codes: [u32; 4] = core::array::from_fn(|lane| columns[lane][index]);
                let other = reader.read(2)? as u32;
                if other == 3 {
                    return Err(DecodeError::OutOfRange { at_bit: reader.position_bits() });
                }
                let dropped = if other < codes[0] { other } else { other + 1 };
                let [a, b, c] = rotation.turned(codes, dropped);
                for (column, value) in columns.iter_mut().zip([dropped, a, b, c]) {
                    column[index] = value;
                }
            }
            columns = &mut columns[1..];
        }
        let lanes = self.differenced.len();
        for ((lane, width), column) in self.differenced.iter().zip(&self.widths[class * lanes..]).zip(columns) {
            let difference = width.difference(reader.read(width.bits)?);
            column[index] = lane
                .offset(column[index], difference)
                .ok_or(DecodeError::OutOfRange { at_bit: reader.position_bits() })?;
        }
        Ok(class)
    }

    /// Writes all lanes of one entity's field in full.
    #[inline]
    pub(super) fn write_full(&self, sink: &mut impl BitSink, new: &[Vec<u32>], index: usize) {
        for (lane, column) in self.all.iter().zip(new) {
            sink.write(u64::from(column[index]), lane.bits());
        }
    }

    /// Reads all lanes of one entity's field.
    #[inline]
    pub(super) fn read_full(
        &self,
        reader: &mut BitReader<'_>,
        columns: &mut [Vec<u32>],
        index: usize,
    ) -> Result<(), DecodeError> {
        for (lane, column) in self.all.iter().zip(columns) {
            let value = reader.read(lane.bits())? as u32;
            if value > lane.max {
                return Err(DecodeError::OutOfRange { at_bit: reader.position_bits() });
            }
            column[index] = value;
        }
        Ok(())
    }

    /// Writes a flag or choice that is known not to be the baseline's: a flag takes no bits.
    pub(super) fn write_other(&self, sink: &mut impl BitSink, base: &[Vec<u32>], new: &[Vec<u32>], index: usize) {
        for ((lane, base), new) in self.all.iter().zip(base).zip(new) {
            sink.write(u64::from(others_index(base[index], new[index])), other_bits(lane));
        }
    }

    /// Reads what [`write_other`](Self::write_other) wrote.
    pub(super) fn read_other(
        &self,
        reader: &mut BitReader<'_>,
        columns: &mut [Vec<u32>],
        index: usize,
    ) -> Result<(), DecodeError> {
        for (lane, column) in self.all.iter().zip(columns) {
            let other = reader.read(other_bits(lane))?;
            let value = other + u64::from(other >= u64::from(column[index]));
            if value > u64::from(lane.max) {
                return Err(DecodeError::OutOfRange { at_bit: reader.position_bits() });
            }
            column[index] = value as u32;
        }
        Ok(())
    }
}

impl Fit {
    /// What holds differences of `size`; `None` where two classes of one width begin at different ends of small ones.
    fn new(widths: impl Iterator<Item = Width>, size: u32) -> Option<Self> {
        let mut fit = Self { always: 1 << 63, ..Self::default() };
        // Magnitudes of this size run from `low` to `high`.
        let [low, high] = match size {
            0 | 1 => [0, 0],
            _ => [1u64 << (size - 2), (1 << (size - 1)) - 1],
        };
        for (class, width) in widths.enumerate() {
            let end = (width.half() + width.beyond) as u64;
            let begins = low >= width.beyond as u64;
            if width.bits == 0 {
                fit.always |= u64::from(size == 0) << class;
            } else if begins && high < end {
                fit.always |= 1 << class;
            } else if begins && low < end {
                if fit.below_edge != 0 && fit.edge != end {
                    return None;
                }
                fit.below_edge |= 1 << class;
                fit.edge = end;
            }
        }
        Some(fit)
    }

    #[inline]
    fn classes(&self, magnitude: u64) -> u64 {
        if magnitude < self.edge { self.always | self.below_edge } else { self.always }
    }
}

/// Distance from the nearer of 0 and −1: differences of `bits` bits have magnitudes below `2^(bits − 1)`.
#[inline]
fn magnitude(difference: i64) -> u64 {
    (difference ^ (difference >> 63)) as u64
}

#[inline]
fn size(difference: i64) -> usize {
    if difference == 0 { 0 } else { 1 + bits_for(magnitude(difference)) as usize }
}

/// Bits that tell a value from all others of a lane.
fn other_bits(lane: &Lane) -> u32 {
    bits_for(u64::from(lane.max).saturating_sub(1))
}

/// The number of `value` among the values that are not `base`.
#[inline]
fn others_index(base: u32, value: u32) -> u32 {
    if value > base { value - 1 } else { value }
}

/// States of the contexts of all fields: what was coded just before.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    /// For each field, for each changed entity: 0 where the field was not coded, else 1 + its class.
    classes: Vec<Vec<u8>>,
}

impl Contexts {
    /// Forgets everything; room for `fields` fields of `changed` entities.
    pub(super) fn reset(&mut self, fields: usize, changed: usize) {
        self.classes.resize_with(fields, || vec![]);
        for field in &mut self.classes {
            field.clear();
            field.resize(changed, 0);
        }
    }

    /// The state for the field of the `nth` changed entity, where `previous` is the class coded before, plus 1.
    #[inline]
    pub(super) fn state(&self, context: Context, nth: usize, previous: usize) -> usize {
        match context {
            Context::None => 0,
            Context::Previous => previous,
            Context::Field(other) => usize::from(self.classes[other][nth]),
        }
    }

    /// Remembers a class.
    #[inline]
    pub(super) fn record(&mut self, field: usize, nth: usize, class: usize) {
        self.classes[field][nth] = class as u8 + 1;
    }

    /// For each changed entity, the class of `field` plus 1, or 0.
    pub(super) fn of_field(&self, field: usize) -> &[u8] {
        &self.classes[field]
    }
}
