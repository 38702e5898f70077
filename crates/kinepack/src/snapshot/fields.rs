//! A field's differences from the baseline: a class by magnitude, then the lanes in the class's widths.
//! `spec/CODEC.md`, section 9. Source: "relative position" and "relative smallest three" of the article, generalized.
//!
//! Choosing a class is a look-up a lane: for each size of a difference a mask tells the classes that hold it, and the
//! lowest bit that all lanes share is the class.

use alloc::vec::Vec;

use super::prefix::PrefixCode;
use super::profile::{Context, FieldCode, Profile, Reference, differenced};
use crate::quantize::read_up_to;
use crate::{BitReader, BitSink, DecodeError, FieldKind, Lane, Schema, SetupError, SmallestThree, bits_for};

/// Sizes of a difference: 0, and 1 + the bits of its magnitude, which are at most 34: a carried difference is one of two.
const SIZES: usize = 36;

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
    references: Vec<Reference>,
    /// Class-major: one width a lane.
    widths: Vec<Width>,
    /// Lane-major: [`SIZES`] entries a lane.
    fits: Vec<Fit>,
    /// The classes of each reference. That of the baseline has the field in full too.
    baseline_mask: u64,
    turned_mask: u64,
    carried_mask: u64,
}

/// What the coding of one entity leaves for the next: how far each lane moved. Zero at the beginning of a field.
#[derive(Debug, Default)]
pub(super) struct Carry {
    moved: Vec<i64>,
    /// Scratch of the encoder: each lane's difference from the baseline, and carried.
    differences: Vec<[i64; 2]>,
}

impl Carry {
    /// Room for `lanes` lanes, which have not moved.
    pub(super) fn reset(&mut self, lanes: usize) {
        self.moved.clear();
        self.moved.resize(lanes, 0);
        self.differences.resize(lanes, [0; 2]);
    }
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
        let mask_of = |reference| -> u64 {
            (0..).zip(&code.classes).filter(|(_, class)| class.reference == reference).map(|(k, _)| 1u64 << k).sum()
        };
        let [turned_mask, carried_mask] = [mask_of(Reference::Turned), mask_of(Reference::Carried)];
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
            references: code.classes.iter().map(|class| class.reference).collect(),
            widths,
            fits,
            baseline_mask: !(turned_mask | carried_mask),
            turned_mask,
            carried_mask,
        })
    }

    /// True where this field has differences, at a level with or without relative numbers and rotations.
    pub(super) fn is_relative(&self, numbers: bool, rotations: bool) -> bool {
        !self.differenced.is_empty() && if self.rotation.is_some() { rotations } else { numbers }
    }

    /// The class that stands for the field in full.
    pub(super) fn full_class(&self) -> usize {
        self.references.len()
    }

    /// Writes one entity's field relative to its baseline and returns the class.
    #[inline]
    pub(super) fn write(
        &self,
        sink: &mut impl BitSink,
        state: usize,
        [base, new]: [&[Vec<u32>]; 2],
        index: usize,
        carry: &mut Carry,
    ) -> usize {
        let (mask, dropped) = match self.rotation {
            Some(rotation) => self.rotation_classes(rotation, [base, new], index, carry),
            None => (self.number_classes([base, new], index, carry), [0; 2]),
        };
        let class = (mask.trailing_zeros() as usize).min(self.full_class());
        self.codes[state].write(sink, class);
        if class == self.full_class() {
            self.write_full(sink, new, index);
            return class;
        }
        let reference = self.references[class];
        if reference == Reference::Turned {
            sink.write(u64::from(others_index(dropped[0], dropped[1])), 2);
        }
        let lanes = self.differenced.len();
        for (lane, width) in self.widths[class * lanes..][..lanes].iter().enumerate() {
            let [plain, carried] = carry.differences[lane];
            sink.write(width.code(if reference == Reference::Carried { carried } else { plain }), width.bits);
        }
        class
    }

    /// The classes that hold a rotation's components, and the components dropped before and now.
    #[inline]
    fn rotation_classes(
        &self,
        rotation: SmallestThree,
        [base, new]: [&[Vec<u32>]; 2],
        index: usize,
        carry: &mut Carry,
    ) -> (u64, [u32; 2]) {
        let codes: [u32; 4] = core::array::from_fn(|lane| base[lane][index]);
        let dropped = [codes[0], new[0][index]];
        let (mut mask, base_codes) = if dropped[0] == dropped[1] {
            (self.baseline_mask, [codes[1], codes[2], codes[3]])
        } else if self.turned_mask != 0 {
            (self.turned_mask, rotation.turned(codes, dropped[1]))
        } else {
            (0, [0; 3])
        };
        for (lane, base) in base_codes.into_iter().enumerate() {
            let difference = i64::from(new[lane + 1][index]) - i64::from(base);
            carry.differences[lane][0] = difference;
            mask &= self.fits[lane * SIZES + size(difference)].classes(magnitude(difference));
        }
        (mask, dropped)
    }

    /// The classes that hold a number's or vector's differences.
    #[inline]
    fn number_classes(&self, [base, new]: [&[Vec<u32>]; 2], index: usize, carry: &mut Carry) -> u64 {
        let [mut plain_mask, mut carried_mask] = [self.baseline_mask, self.carried_mask];
        for (lane, kind) in self.differenced.iter().enumerate() {
            let plain = kind.difference(base[lane][index], new[lane][index]);
            let carried = kind.shorter(plain - carry.moved[lane]);
            carry.moved[lane] = plain;
            carry.differences[lane] = [plain, carried];
            let fits = &self.fits[lane * SIZES..][..SIZES];
            plain_mask &= fits[size(plain)].classes(magnitude(plain));
            carried_mask &= fits[size(carried)].classes(magnitude(carried));
        }
        plain_mask | carried_mask
    }

    /// Reads what [`write`](Self::write) wrote over the baseline's values in `columns` and returns the class.
    #[inline]
    pub(super) fn read(
        &self,
        reader: &mut BitReader<'_>,
        state: usize,
        columns: &mut [Vec<u32>],
        index: usize,
        carry: &mut Carry,
    ) -> Result<usize, DecodeError> {
        let class = self.codes[state].read(reader)?;
        let lanes = self.differenced.len();
        let first = self.all.len() - lanes;
        let Some(&reference) = self.references.get(class) else {
            for (nth, (lane, column)) in self.all.iter().zip(columns).enumerate() {
                let value = read_lane(reader, lane)?;
                if nth >= first {
                    carry.moved[nth - first] = lane.difference(column[index], value);
                }
                column[index] = value;
            }
            return Ok(class);
        };
        if let (Reference::Turned, Some(rotation)) = (reference, self.rotation) {
            turn(reader, rotation, columns, index)?;
        }
        let columns = &mut columns[first..];
        for (lane, width) in self.widths[class * lanes..][..lanes].iter().enumerate() {
            let kind = &self.differenced[lane];
            let mut difference = width.difference(reader.read(width.bits)?);
            if reference == Reference::Carried {
                difference += carry.moved[lane];
            }
            let base = columns[lane][index];
            let value = kind.offset(base, difference);
            let value = value.ok_or(DecodeError::OutOfRange { at_bit: reader.position_bits() })?;
            carry.moved[lane] = kind.difference(base, value);
            columns[lane][index] = value;
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
            column[index] = read_lane(reader, lane)?;
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

/// Reads a lane in full.
#[inline]
fn read_lane(reader: &mut BitReader<'_>, lane: &Lane) -> Result<u32, DecodeError> {
    Ok(read_up_to(reader, u64::from(lane.max))? as u32)
}

/// Reads which component a rotation drops now, and brings its baseline into the form without it.
fn turn(
    reader: &mut BitReader<'_>,
    rotation: SmallestThree,
    columns: &mut [Vec<u32>],
    index: usize,
) -> Result<(), DecodeError> {
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
    Ok(())
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
        self.classes.resize_with(fields, Vec::new);
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
