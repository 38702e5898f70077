//! Codes a field's values: in full, or as differences from the baseline with the widths of a class.
//! See `spec/CODEC.md`, section 9. The classes generalize "relative position" and "relative
//! smallest three" of the article.

use alloc::vec::Vec;

use super::profile::{Class, Context, FieldCode, Profile, Reference};
use super::widths::{Fits, Width};
use crate::bits::{BitReader, BitSink, bits_for, mask};
use crate::coarse::{coarse_code, coarse_value};
use crate::prefix::PrefixCode;
use crate::quantize::{SmallestThree, read_up_to};
use crate::schema::{Coarseness, Conditions, FieldKind, Lane};
use crate::{DecodeError, Schema, SetupError};

/// The tables made from a [`FieldCode`].
#[derive(Debug)]
pub(super) struct FieldTable {
    /// The indices of the field's lanes in the schema.
    pub(super) lanes: core::ops::Range<usize>,
    kinds: Vec<Lane>,
    /// The conditions under which the field is present.
    pub(super) conditions: Conditions,
    /// True if a packet has the field only for added entities.
    is_spawn: bool,
    /// The lane that tells how much coarser the field is, if it may be coarser.
    pub(super) coarseness: Option<Coarseness>,
    /// The index of the field's first lane that is coded as a difference. For a rotation it is 1,
    /// because the dropped component has no difference. A flag or choice has no such lane, so the
    /// value is then the number of lanes.
    first: usize,
    rotation: Option<SmallestThree>,
    pub(super) context: Context,
    codes: Vec<PrefixCode>,
    references: Vec<Reference>,
    /// The width of each differenced lane in each class, class by class.
    widths: Vec<Width>,
    /// For each class, the total number of bits of its lanes.
    class_bits: Vec<u32>,
    /// For each differenced lane, the classes that hold a difference of each size.
    fits: Vec<Fits>,
    /// For each reference, a mask of its classes.
    baseline_mask: u64,
    turned_mask: u64,
    carried_mask: u64,
}

/// The lanes of the entity being read or written. The motion of each lane is kept for the next
/// entity.
#[derive(Debug, Default)]
pub(super) struct FieldValues {
    lanes: Vec<LaneValue>,
    /// True if the lanes may have shifts.
    is_coarse: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct LaneValue {
    base: u32,
    new: u32,
    /// The change of this lane in the previous entity, which [`Reference::Carried`] adds.
    moved: i64,
    /// The shift of the lane, whose steps are 2^shift.
    shift: u32,
}

impl FieldValues {
    /// Makes room for `lanes` lanes, as if the previous entity had moved in none of them.
    pub(super) fn reset(&mut self, lanes: usize, is_coarse: bool) {
        self.is_coarse = is_coarse;
        self.lanes.clear();
        self.lanes.resize(lanes, LaneValue::default());
    }

    /// Loads the baseline's values of an entity.
    #[inline]
    pub(super) fn load_base(&mut self, columns: &[Vec<u32>], entity: usize) {
        self.lanes.iter_mut().zip(columns).for_each(|(lane, column)| lane.base = column[entity]);
    }

    /// Loads the shifts of an entity. `columns` are the columns of the field's last lanes.
    #[inline]
    pub(super) fn load_shifts(&mut self, columns: &[Vec<u8>], entity: usize) {
        let lanes = self.lanes.iter_mut().rev().zip(columns.iter().rev());
        lanes.for_each(|(lane, column)| lane.shift = column[entity].into());
    }

    /// Sets the new values of all lanes.
    pub(super) fn put(&mut self, new: &[u32]) {
        self.lanes.iter_mut().zip(new).for_each(|(lane, new)| lane.new = *new);
    }

    /// Sets the new values of an absent field to 0.
    pub(super) fn put_absent(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.new = 0);
    }

    /// Overwrites the baseline's values in `columns` with the new ones.
    #[inline]
    pub(super) fn store_new(&self, columns: &mut [Vec<u32>], entity: usize) {
        self.lanes.iter().zip(columns).for_each(|(lane, column)| column[entity] = lane.new);
    }

    /// Rewrites a rotation's baseline so that it drops the component `dropped`.
    fn turn(&mut self, rotation: SmallestThree, dropped: u32) {
        if let [largest, a, b, c] = &mut self.lanes[..] {
            let turned = rotation.turned([largest.base, a.base, b.base, c.base], dropped);
            largest.base = dropped;
            [a.base, b.base, c.base] = turned;
        }
    }
}

/// The differences of one field for all entities that are written. The differences are computed
/// lane by lane, so that the loops run over arrays.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// The values from which differences are taken, lane by lane.
    base: Vec<u32>,
    /// The difference from the baseline and from the carried baseline, entity by entity.
    differences: Vec<[i64; 2]>,
    /// For each entity and either kind of difference, a mask of the classes that hold the
    /// differences of all lanes.
    classes: Vec<[u64; 2]>,
    /// For each entity, the component that a rotation drops in the baseline, and the one that it
    /// drops now.
    dropped: Vec<[u32; 2]>,
}

impl Measured {
    fn reset(&mut self, entities: usize, lanes: usize, masks: [u64; 2]) {
        self.base.clear();
        self.dropped.clear();
        self.differences.clear();
        self.differences.resize(entities * lanes, [0; 2]);
        self.classes.clear();
        self.classes.resize(entities, masks);
    }

    /// Returns the differences of the `nth` measured entity, in a field of `lanes` differenced
    /// lanes: from the baseline and from the carried baseline. Also returns whether the entity's
    /// rotation drops another component than in the baseline.
    #[cfg(feature = "training")]
    pub(super) fn differences(&self, nth: usize, lanes: usize) -> (&[[i64; 2]], bool) {
        let is_turned = self.dropped.get(nth).is_some_and(|[before, now]| before != now);
        (&self.differences[nth * lanes..][..lanes], is_turned)
    }
}

impl FieldTable {
    /// The size of this code and its table on the heap, in bytes.
    pub(super) fn memory_bytes(code: &FieldCode) -> usize {
        let lanes = code.classes.first().map_or(0, |class| class.lanes.len());
        let width_bytes = size_of::<Width>() + size_of::<super::LaneWidth>();
        let classes = code.classes.len() * (size_of::<Class>() + lanes * width_bytes);
        let codes = code.lengths_bits.iter().map(|lengths| {
            size_of::<Vec<u8>>() + lengths.capacity() + PrefixCode::memory_bytes(lengths)
        });
        classes + lanes * size_of::<Fits>() + codes.sum::<usize>()
    }

    pub(super) fn new(
        schema: &Schema,
        profile: &Profile,
        index: usize,
    ) -> Result<Self, SetupError> {
        let field = &schema.fields()[index];
        let code: &FieldCode = &profile.fields[index];
        let (lanes, _) = schema.differenced(field);
        let kinds = schema.lanes()[field.lanes()].to_vec();
        let width_of = |width: &super::LaneWidth| Width::new(width.bits, width.beyond_bits);
        let widths: Vec<Width> =
            code.classes.iter().flat_map(|class| &class.lanes).map(width_of).collect();
        let mask_of = |reference| -> u64 {
            (0..)
                .zip(&code.classes)
                .filter(|(_, class)| class.reference == reference)
                .map(|(k, _)| 1u64 << k)
                .sum()
        };
        let fits_of = |lane| {
            let widths = widths.iter().skip(lane).step_by(lanes.len()).copied();
            Fits::new(widths).ok_or(SetupError::BadFieldCode { field: index })
        };
        let fits = (0..lanes.len()).map(fits_of).collect::<Result<_, _>>()?;
        let codes = code.lengths_bits.iter().map(|lengths| PrefixCode::new(lengths));
        Ok(Self {
            lanes: field.lanes(),
            first: kinds.len() - lanes.len(),
            kinds,
            conditions: field.conditions().clone(),
            is_spawn: field.is_spawn,
            coarseness: field.coarseness(),
            rotation: if let FieldKind::Rotation(rotation) = field.kind {
                Some(rotation)
            } else {
                None
            },
            context: code.context,
            codes: codes.collect::<Result<_, _>>()?,
            references: code.classes.iter().map(|class| class.reference).collect(),
            class_bits: widths
                .chunks(lanes.len().max(1))
                .map(|widths| widths.iter().map(|width| width.bits).sum())
                .collect(),
            widths,
            fits,
            baseline_mask: mask_of(Reference::Baseline),
            turned_mask: mask_of(Reference::Turned),
            carried_mask: mask_of(Reference::Carried),
        })
    }

    /// Returns whether a packet may have the field for only some of the changed entities.
    pub(super) fn is_selective(&self) -> bool {
        self.is_spawn || !self.conditions.is_empty()
    }

    /// Returns whether a packet may have the field for the entity at a row of a snapshot with these
    /// columns.
    pub(super) fn may_change(
        &self,
        columns: &[Vec<u32>],
        row: usize,
        is_added: impl Fn(usize) -> bool,
    ) -> bool {
        self.conditions.hold_at(columns, row) && (!self.is_spawn || is_added(row))
    }

    /// The indices in the schema of the lanes that are coded as differences.
    pub(super) fn differenced(&self) -> core::ops::Range<usize> {
        self.lanes.start + self.first..self.lanes.end
    }

    /// Returns true if this field is coded by differences. `numbers` and `rotations` are true if
    /// the level codes numbers or rotations relative to the baseline.
    pub(super) fn is_relative(&self, numbers: bool, rotations: bool) -> bool {
        self.first < self.kinds.len() && if self.rotation.is_some() { rotations } else { numbers }
    }

    /// Returns true for a flag or choice, which has one lane without differences.
    pub(super) fn is_category(&self) -> bool {
        self.first == 1 && self.kinds.len() == 1
    }

    /// The number of the class of a field that is written in full.
    fn full_class(&self) -> usize {
        self.references.len()
    }

    /// Computes the differences of all `entities`, and the classes that hold these differences. If
    /// the field has `shifts`, the differences are in coarser steps.
    pub(super) fn measure(
        &self,
        base: &[Vec<u32>],
        new: &[Vec<u32>],
        shifts: Option<&[Vec<u8>]>,
        entities: &[u32],
        measured: &mut Measured,
    ) {
        measured.reset(entities.len(), self.fits.len(), [self.baseline_mask, self.carried_mask]);
        let Measured { base: base_values, differences, classes, dropped } = measured;
        for column in &base[self.first..] {
            base_values.extend(entities.iter().map(|entity| column[*entity as usize]));
        }
        if let Some(rotation) = self.rotation {
            for (nth, &entity) in entities.iter().enumerate() {
                let [before, now] = [base[0][entity as usize], new[0][entity as usize]];
                dropped.push([before, now]);
                if before == now {
                    continue;
                }
                classes[nth][0] = self.turned_mask;
                if self.turned_mask == 0 {
                    continue;
                }
                let [a, b, c] = [0, 1, 2].map(|lane| lane * entities.len() + nth);
                let codes = [before, base_values[a], base_values[b], base_values[c]];
                [base_values[a], base_values[b], base_values[c]] = rotation.turned(codes, now);
            }
        }
        let [count, lanes] = [entities.len().max(1), self.fits.len().max(1)];
        let columns = base_values.chunks(count).zip(&new[self.first..]);
        for (lane, ((base, new), (kind, fits))) in
            columns.zip(self.kinds[self.first..].iter().zip(&self.fits)).enumerate()
        {
            let rows = differences.chunks_exact_mut(lanes).zip(&mut *classes);
            let lane_of = LaneOf { lane, kind, fits, has_carried: self.carried_mask != 0 };
            let values = [entities, base, new];
            match shifts {
                None => lane_of.measure(values, rows, |_| 0),
                Some(shifts) => lane_of.measure(values, rows, |entity| shifts[lane][entity].into()),
            }
        }
    }

    /// Writes the `nth` measured entity relative to the baseline. Returns the class that was
    /// written.
    #[inline]
    pub(super) fn write(
        &self,
        sink: &mut impl BitSink,
        state: usize,
        (measured, nth): (&Measured, usize),
        (new, entity): (&[Vec<u32>], usize),
    ) -> usize {
        let [plain_mask, carried_mask] = measured.classes[nth];
        let class = ((plain_mask | carried_mask).trailing_zeros() as usize).min(self.full_class());
        let (word, mut word_bits) = self.codes[state].word(class);
        let mut word = u64::from(word);
        let Some(&reference) = self.references.get(class) else {
            sink.write(word, word_bits);
            self.write_full(sink, new, entity);
            return class;
        };
        if reference == Reference::Turned {
            let [before, now] = measured.dropped[nth];
            word |= u64::from(index_without(before, now)) << word_bits;
            word_bits += 2;
        }
        let carried = usize::from(reference == Reference::Carried);
        let lanes = self.fits.len();
        let widths = &self.widths[class * lanes..][..lanes];
        for (differences, width) in measured.differences[nth * lanes..][..lanes].iter().zip(widths)
        {
            if word_bits + width.bits >= 64 {
                sink.write(word, word_bits);
                (word, word_bits) = (0, 0);
            }
            word |= width.code(differences[carried]) << word_bits;
            word_bits += width.bits;
        }
        sink.write(word, word_bits);
        class
    }

    /// Reads the lanes that [`write`](Self::write) wrote. Returns the class that was read.
    #[inline]
    pub(super) fn read(
        &self,
        reader: &mut BitReader<'_>,
        state: usize,
        values: &mut FieldValues,
    ) -> Result<usize, DecodeError> {
        let class = self.codes[state].read(reader)?;
        let Some(&reference) = self.references.get(class) else {
            self.read_full(reader, values)?;
            for (lane, kind) in values.lanes.iter_mut().zip(&self.kinds) {
                let [base, new] = [lane.base, lane.new].map(|value| coarse_code(value, lane.shift));
                lane.moved = kind.difference(base, new) << lane.shift;
            }
            return Ok(class);
        };
        let out_of_range =
            |reader: &BitReader<'_>| DecodeError::OutOfRange { at_bit: reader.position_bits() };
        if let Some(rotation) = self.rotation {
            let mut dropped = values.lanes[0].base;
            if reference == Reference::Turned {
                let other = reader.read(2)? as u32;
                if other == 3 {
                    return Err(out_of_range(reader));
                }
                dropped = value_without(dropped, other);
                values.turn(rotation, dropped);
            }
            values.lanes[0].new = dropped;
        }
        let carried = reference == Reference::Carried;
        let bits = self.class_bits[class];
        let widths = &self.widths[class * self.fits.len()..];
        let (lanes, kinds) = (&mut values.lanes[self.first..], &self.kinds[self.first..]);
        let read = if values.is_coarse {
            read_lanes::<true>(reader, lanes, kinds, widths, carried, bits)?
        } else if kinds.len() == VECTOR
            && let Some(lanes) = lanes.first_chunk_mut::<VECTOR>()
            && let (Some(kinds), Some(widths)) =
                (kinds.first_chunk::<VECTOR>(), widths.first_chunk::<VECTOR>())
        {
            read_lanes::<false>(reader, lanes, kinds, widths, carried, bits)?
        } else {
            read_lanes::<false>(reader, lanes, kinds, widths, carried, bits)?
        };
        read.then_some(class).ok_or_else(|| out_of_range(reader))
    }

    /// Writes all lanes of an entity.
    #[inline]
    pub(super) fn write_full(&self, sink: &mut impl BitSink, new: &[Vec<u32>], entity: usize) {
        for (kind, column) in self.kinds.iter().zip(new) {
            sink.write(u64::from(column[entity]), kind.bits());
        }
    }

    /// Adds the number of bits that [`write`](Self::write) takes for each lane in this class to the
    /// counts of the schema's lanes.
    pub(super) fn add_bits(&self, class: usize, lanes_bits: &mut [u64]) {
        let Some(reference) = self.references.get(class) else {
            return self.add_full_bits(lanes_bits);
        };
        if *reference == Reference::Turned {
            lanes_bits[self.lanes.start] += 2;
        }
        let lanes = self.fits.len();
        let widths = &self.widths[class * lanes..][..lanes];
        lanes_bits[self.differenced()]
            .iter_mut()
            .zip(widths)
            .for_each(|(bits, width)| *bits += u64::from(width.bits));
    }

    /// Like [`add_bits`](Self::add_bits), for [`write_full`](Self::write_full).
    pub(super) fn add_full_bits(&self, lanes_bits: &mut [u64]) {
        let lanes = lanes_bits[self.lanes.clone()].iter_mut().zip(&self.kinds);
        lanes.for_each(|(bits, kind)| *bits += u64::from(kind.bits()));
    }

    /// Reads all lanes of the entity in `values`.
    #[inline]
    pub(super) fn read_full(
        &self,
        reader: &mut BitReader<'_>,
        values: &mut FieldValues,
    ) -> Result<(), DecodeError> {
        for (lane, kind) in values.lanes.iter_mut().zip(&self.kinds) {
            lane.new = read_up_to(reader, u64::from(kind.max))? as u32;
        }
        Ok(())
    }

    /// Writes a flag or choice that is known to differ from the baseline. A flag takes no bits,
    /// because it has only one other value.
    pub(super) fn write_category(
        &self,
        sink: &mut impl BitSink,
        base: &[Vec<u32>],
        new: &[Vec<u32>],
        entity: usize,
    ) {
        for ((kind, base), new) in self.kinds.iter().zip(base).zip(new) {
            sink.write(u64::from(index_without(base[entity], new[entity])), category_bits(kind));
        }
    }

    /// Reads the value that [`write_category`](Self::write_category) wrote.
    pub(super) fn read_category(
        &self,
        reader: &mut BitReader<'_>,
        values: &mut FieldValues,
    ) -> Result<(), DecodeError> {
        for (lane, kind) in values.lanes.iter_mut().zip(&self.kinds) {
            let index = reader.read(category_bits(kind))?;
            if index >= u64::from(kind.max) {
                return Err(DecodeError::OutOfRange { at_bit: reader.position_bits() });
            }
            lane.new = value_without(lane.base, index as u32);
        }
        Ok(())
    }
}

/// The number of lanes of a vector, and of a rotation's components. The loop over lanes is compiled
/// twice: for this length and for any length.
const VECTOR: usize = 3;

/// Measures one lane of all entities that are written.
struct LaneOf<'a> {
    lane: usize,
    kind: &'a Lane,
    fits: &'a Fits,
    has_carried: bool,
}

impl LaneOf<'_> {
    /// Computes the differences of `entities` from `base` to the `new` column, in steps of 2^shift.
    /// Each element of `rows` receives an entity's differences, and narrows the masks of the
    /// classes that hold all of the entity's lanes.
    #[inline(always)]
    fn measure<'a>(
        &self,
        [entities, base, new]: [&[u32]; 3],
        rows: impl Iterator<Item = (&'a mut [[i64; 2]], &'a mut [u64; 2])>,
        shift: impl Fn(usize) -> u32,
    ) {
        let mut moved = 0;
        for ((entity, base), (row, [plain_mask, carried_mask])) in
            entities.iter().zip(base).zip(rows)
        {
            let entity = *entity as usize;
            let shift = shift(entity);
            let plain =
                self.kind.difference(coarse_code(*base, shift), coarse_code(new[entity], shift));
            let mut carried = 0;
            *plain_mask &= self.fits.classes(plain);
            if self.has_carried {
                carried = self.kind.shorter(plain - (moved >> shift));
                *carried_mask &= self.fits.classes(carried);
                moved = plain << shift;
            }
            row[self.lane] = [plain, carried];
        }
    }
}

/// Reads the differences of all lanes, which take `bits` bits together, and computes the new values
/// from them. Returns false if a new value is outside of its lane. With `COARSE`, lanes may have
/// shifts.
#[inline(always)]
fn read_lanes<const COARSE: bool>(
    reader: &mut BitReader<'_>,
    lanes: &mut [LaneValue],
    kinds: &[Lane],
    widths: &[Width],
    carried: bool,
    bits: u32,
) -> Result<bool, DecodeError> {
    // `carried` becomes a mask of all ones or zeros instead of a branch, because references are
    // hard to predict.
    let carried = -i64::from(carried);
    // A single read serves all lanes if their bits fit in a word.
    let at_once = bits <= 64;
    let mut word = if at_once { reader.read(bits)? } else { 0 };
    for ((lane, kind), width) in lanes.iter_mut().zip(kinds).zip(widths) {
        let code = if at_once { word & mask(width.bits) } else { reader.read(width.bits)? };
        word >>= width.bits;
        let shift = if COARSE { lane.shift } else { 0 };
        let codes = Lane { max: coarse_code(kind.max, shift), ..*kind };
        let base = coarse_code(lane.base, shift);
        let difference = width.difference(code) + ((lane.moved >> shift) & carried);
        let Some(value) = codes.offset(base, difference) else { return Ok(false) };
        lane.new = coarse_value(value, shift, kind.max);
        lane.moved = kind.difference(base, value) << shift;
    }
    Ok(true)
}

/// Returns the number of bits that distinguish the values of a lane other than the baseline's.
fn category_bits(lane: &Lane) -> u32 {
    bits_for(u64::from(lane.max).saturating_sub(1))
}

/// Returns the index of `value` among the values that are not `base`.
#[inline]
fn index_without(base: u32, value: u32) -> u32 {
    if value > base { value - 1 } else { value }
}

/// Returns the value at `index` among those that are not `base`. `index` is below the lane's
/// largest value.
#[inline]
fn value_without(base: u32, index: u32) -> u32 {
    index + u32::from(index >= base)
}
