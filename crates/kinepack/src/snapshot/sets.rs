//! Codes sets of indices: which of `n` entities changed, and which of the changed entities changed
//! a field. See `spec/CODEC.md`, section 7.
//!
//! A set is written as one bit per index. If that is shorter, it is written as a list of its
//! indices or as the distances between them, depending on the level. A dry run counts the bits of
//! each form. The forms are those of the article "Snapshot Compression" and its incremental
//! improvements.

use alloc::vec::Vec;

use super::profile::GapCode;
use crate::bits::{BitCounter, BitReader, BitSink, bits_for};
use crate::prefix::PrefixCode;
use crate::quantize::read_up_to;
use crate::{DecodeError, SetupError};

/// The forms in which a set may be written.
#[derive(Clone, Copy)]
pub(super) enum SetCoding<'a> {
    /// The set has one bit per index.
    Bits,
    /// The set has one bit per index, or is a list of indices if the list is shorter.
    BitsOrIndices,
    /// The set has one bit per index, or the distances between the members or between the
    /// non-members if the distances are shorter.
    BitsOrGaps(&'a GapTable),
}

/// The tables made from a [`GapCode`].
#[derive(Debug)]
pub(super) struct GapTable {
    widths_bits: Vec<u8>,
    /// The first distance of each class, minus 1; the last element is the start of the last class.
    starts: Vec<u32>,
    /// The class of each distance that is at most [`SHORT`].
    short_classes: [u8; SHORT],
    code: PrefixCode,
}

/// The number of distances whose class is looked up in a table.
const SHORT: usize = 64;

impl GapTable {
    pub(super) fn new(code: &GapCode) -> Result<Self, SetupError> {
        if code.lengths_bits.len() != code.widths_bits.len() + 1
            || code.widths_bits.iter().any(|width| *width > 24)
        {
            return Err(SetupError::BadGapCode);
        }
        let mut starts = Vec::new();
        let mut start = 0u32;
        starts.push(start);
        for width in &code.widths_bits {
            start = start.checked_add(1 << width).ok_or(SetupError::BadGapCode)?;
            starts.push(start);
        }
        let prefix = PrefixCode::new(&code.lengths_bits).map_err(|_| SetupError::BadGapCode)?;
        let class_of = |distance| {
            starts.iter().rposition(|start| *start as usize <= distance).unwrap_or(0) as u8
        };
        let short_classes = core::array::from_fn(class_of);
        Ok(Self { widths_bits: code.widths_bits.clone(), starts, short_classes, code: prefix })
    }

    /// Returns the class of a distance, which is given minus 1.
    #[inline]
    pub(super) fn class(&self, distance: u32) -> usize {
        match self.short_classes.get(distance as usize) {
            Some(class) => usize::from(*class),
            None => self.starts.iter().rposition(|start| *start <= distance).unwrap_or(0),
        }
    }

    /// Returns the number of bits of the offset in a class, within a set of `count` indices.
    fn offset_bits(&self, class: usize, count: usize) -> u32 {
        match self.widths_bits.get(class) {
            Some(width) => u32::from(*width),
            None => bits_for((count as u64 - 1).saturating_sub(u64::from(self.starts[class]))),
        }
    }

    fn write(&self, sink: &mut impl BitSink, distance: u32, count: usize) {
        let class = self.class(distance);
        self.code.write(sink, class);
        sink.write(u64::from(distance - self.starts[class]), self.offset_bits(class, count));
    }

    fn read(&self, reader: &mut BitReader<'_>, count: usize) -> Result<u64, DecodeError> {
        let class = self.code.read(reader)?;
        Ok(u64::from(self.starts[class]) + reader.read(self.offset_bits(class, count))?)
    }
}

/// Writes which of the indices 0 to `count` − 1 are in `members`, which is sorted.
pub(super) fn write_set(
    sink: &mut impl BitSink,
    count: usize,
    members: &[u32],
    coding: SetCoding<'_>,
) {
    if count == 0 {
        return;
    }
    match coding {
        SetCoding::Bits => write_bits(sink, count, members),
        SetCoding::BitsOrIndices => {
            let list_bits = bits_for(count as u64) as usize
                + members.len() * bits_for(count as u64 - 1) as usize;
            sink.write_bool(list_bits > count);
            if list_bits > count {
                write_bits(sink, count, members);
                return;
            }
            sink.write(members.len() as u64, bits_for(count as u64));
            members
                .iter()
                .for_each(|member| sink.write(u64::from(*member), bits_for(count as u64 - 1)));
        }
        SetCoding::BitsOrGaps(table) => {
            let complement = members.len() > count / 2;
            let mut list = BitCounter::default();
            write_gaps(&mut list, count, members, complement, table);
            sink.write_bool(list.len_bits() > count as u64);
            if list.len_bits() > count as u64 {
                write_bits(sink, count, members);
            } else {
                write_gaps(sink, count, members, complement, table);
            }
        }
    }
}

fn write_bits(sink: &mut impl BitSink, count: usize, members: &[u32]) {
    let mut members = members.iter().peekable();
    for first in (0..count).step_by(64) {
        let width = (count - first).min(64);
        let mut word = 0u64;
        while let Some(member) = members.next_if(|member| (**member as usize) < first + width) {
            word |= 1 << (*member as usize - first);
        }
        sink.write(word, width as u32);
    }
}

fn write_gaps(
    sink: &mut impl BitSink,
    count: usize,
    members: &[u32],
    complement: bool,
    table: &GapTable,
) {
    sink.write_bool(complement);
    let listed = if complement { count - members.len() } else { members.len() };
    sink.write_gamma(listed as u64 + 1);
    for_each_listed(count, members, complement, |distance| table.write(sink, distance, count));
}

/// Calls `visit` with each distance minus 1 between the members, or between the non-members if
/// `complement` is true.
pub(super) fn for_each_listed(
    count: usize,
    members: &[u32],
    complement: bool,
    mut visit: impl FnMut(u32),
) {
    let mut next = 0;
    let mut visit_index = |index: u32| {
        visit(index - next);
        next = index + 1;
    };
    if !complement {
        members.iter().for_each(|member| visit_index(*member));
        return;
    }
    let mut after = 0;
    for &member in members {
        (after..member).for_each(&mut visit_index);
        after = member + 1;
    }
    (after..count as u32).for_each(visit_index);
}

/// Reads what [`write_set`] wrote into `members`, and overwrites `scratch`.
pub(super) fn read_set(
    reader: &mut BitReader<'_>,
    count: usize,
    coding: SetCoding<'_>,
    members: &mut Vec<u32>,
    scratch: &mut Vec<u32>,
) -> Result<(), DecodeError> {
    members.clear();
    if count == 0 {
        return Ok(());
    }
    if matches!(coding, SetCoding::Bits) || reader.read_bool()? {
        return read_bits(reader, count, members);
    }
    let SetCoding::BitsOrGaps(table) = coding else {
        return read_indices(reader, count, members);
    };
    let complement = reader.read_bool()?;
    let listed = reader.read_gamma()? - 1;
    let out_of_range =
        |reader: &BitReader<'_>| DecodeError::OutOfRange { at_bit: reader.position_bits() };
    if listed > count as u64 {
        return Err(out_of_range(reader));
    }
    let list = if complement { &mut *scratch } else { &mut *members };
    list.clear();
    let mut next = 0;
    for _ in 0..listed {
        let index = next + table.read(reader, count)?;
        if index >= count as u64 {
            return Err(out_of_range(reader));
        }
        list.push(index as u32);
        next = index + 1;
    }
    if complement {
        let mut others = scratch.iter().peekable();
        members.extend(
            (0..count as u32).filter(|index| others.next_if(|other| *other == index).is_none()),
        );
    }
    Ok(())
}

fn read_bits(
    reader: &mut BitReader<'_>,
    count: usize,
    members: &mut Vec<u32>,
) -> Result<(), DecodeError> {
    for first in (0..count).step_by(64) {
        let width = (count - first).min(64);
        let mut word = reader.read(width as u32)?;
        while word != 0 {
            members.push((first + word.trailing_zeros() as usize) as u32);
            word &= word - 1;
        }
    }
    Ok(())
}

fn read_indices(
    reader: &mut BitReader<'_>,
    count: usize,
    members: &mut Vec<u32>,
) -> Result<(), DecodeError> {
    let listed = read_up_to(reader, count as u64)?;
    for _ in 0..listed {
        let index = read_up_to(reader, count as u64 - 1)? as u32;
        if members.last().is_some_and(|last| *last >= index) {
            return Err(DecodeError::OutOfRange { at_bit: reader.position_bits() });
        }
        members.push(index);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::BitWriter;

    fn bits_of(count: usize, members: &[u32], coding: SetCoding<'_>) -> u64 {
        let mut bytes = Vec::new();
        let mut writer = BitWriter::append(&mut bytes);
        write_set(&mut writer, count, members, coding);
        let len_bits = writer.len_bits();
        writer.finish().unwrap();
        let mut back = Vec::new();
        let mut reader = BitReader::new(&bytes);
        read_set(&mut reader, count, coding, &mut back, &mut Vec::new()).unwrap();
        assert_eq!(back, members);
        assert_eq!(reader.position_bits(), len_bits);
        len_bits
    }

    #[test]
    fn the_articles_distances_take_4_7_and_12_bits_of_901() {
        let table = GapTable::new(&GapCode::article()).unwrap();
        for (distance, expected) in [(1, 4), (8, 4), (9, 7), (40, 7), (41, 12), (900, 12)] {
            let mut counter = BitCounter::default();
            table.write(&mut counter, distance - 1, 901);
            assert_eq!(counter.len_bits(), expected, "{distance}");
        }
    }

    #[test]
    fn the_shorter_form_is_written() {
        let table = GapTable::new(&GapCode::article()).unwrap();
        let all: Vec<u32> = (0..901).collect();
        assert_eq!(bits_of(901, &all, SetCoding::Bits), 901);
        assert_eq!(bits_of(901, &all[..89], SetCoding::BitsOrIndices), 1 + 10 + 890);
        assert_eq!(bits_of(901, &all[..90], SetCoding::BitsOrIndices), 1 + 901);
        assert_eq!(bits_of(901, &all[..90], SetCoding::BitsOrGaps(&table)), 1 + 1 + 13 + 90 * 4);
        assert_eq!(
            bits_of(901, &all, SetCoding::BitsOrGaps(&table)),
            3,
            "a full set is an empty complement"
        );
        assert_eq!(bits_of(901, &[], SetCoding::BitsOrGaps(&table)), 3);
        let even: Vec<u32> = (0..901).step_by(2).collect();
        assert_eq!(bits_of(901, &even, SetCoding::BitsOrGaps(&table)), 902);
        let three_quarters: Vec<u32> = (0..8000).filter(|index| index % 8 != 3).collect();
        assert!(bits_of(8000, &three_quarters, SetCoding::BitsOrGaps(&table)) < 5000);
    }

    #[test]
    fn sets_of_any_size_round_trip() {
        let table = GapTable::new(&GapCode { widths_bits: Vec::new(), lengths_bits: [0].to_vec() })
            .unwrap();
        for count in [0, 1, 2, 63, 64, 65, 1000] {
            for step in 1..5 {
                let members: Vec<u32> = (0..count as u32).step_by(step).collect();
                for coding in
                    [SetCoding::Bits, SetCoding::BitsOrIndices, SetCoding::BitsOrGaps(&table)]
                {
                    bits_of(count, &members, coding);
                }
            }
        }
    }

    #[test]
    fn gamma_codes_of_every_length_round_trip() {
        for number in
            (0..33).flat_map(|bits| [1u64 << bits, (1 << bits) + (1 << bits) / 2, (2 << bits) - 1])
        {
            let mut bytes = Vec::new();
            let mut writer = BitWriter::append(&mut bytes);
            writer.write_gamma(number);
            writer.finish().unwrap();
            assert_eq!(BitReader::new(&bytes).read_gamma(), Ok(number));
        }
        assert!(matches!(
            BitReader::new(&[0; 5]).read_gamma(),
            Err(DecodeError::OutOfRange { .. })
        ));
        assert!(matches!(BitReader::new(&[0; 4]).read_gamma(), Err(DecodeError::EndOfData { .. })));
    }
}
