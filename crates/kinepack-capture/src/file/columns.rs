//! Codes a frame as bytes, kind by kind: ids and words, column by column, each column in the
//! narrowest lossless form. See `spec/CAPTURE.md`, section 5.

use std::ops::Range;

use kinepack::schema::Field;
use kinepack::{EntityId, Schema};
use thiserror::Error;

use crate::float_words::to_word;

/// The maximum number of entities in a frame.
pub(crate) const MAX_ENTITIES: usize = 65_536;
/// The maximum number of words in a frame. This limit keeps a frame of constant columns, which take
/// few bytes, below 32 MB of memory.
pub(crate) const MAX_WORDS: usize = 1 << 22;

const CONSTANT: u8 = 0;
const U8: u8 = 1;
const U16: u8 = 2;
const U32: u8 = 3;
const U64: u8 = 4;
const F32: u8 = 5;

/// The entities of a frame.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// The ids of the entities, kind by kind. Invariant: the ids strictly increase within each
    /// kind, and each id occurs only once.
    pub(crate) ids: Vec<EntityId>,
    /// For each kind, the index after its last entity.
    ends: Vec<usize>,
    /// One column for each lane, as long as the number of entities of the lane's kind.
    pub(crate) columns: Vec<Vec<u64>>,
    sorted: Vec<EntityId>,
}

impl Table {
    /// Removes all entities. The memory is kept for the next frame.
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.ends.clear();
        self.columns.iter_mut().for_each(Vec::clear);
    }

    /// Returns the number of words of all columns.
    pub(crate) fn words(&self) -> usize {
        self.columns.iter().map(Vec::len).sum()
    }

    /// Returns the range of the indices of a kind's entities. The range is empty if there is no
    /// such kind.
    pub(crate) fn of_kind(&self, kind: usize) -> Range<usize> {
        let Some(&end) = self.ends.get(kind) else { return 0..0 };
        kind.checked_sub(1).map_or(0, |before| self.ends[before])..end
    }
}

/// Returns an id that occurs twice, if there is one. `sorted` is scratch memory.
pub(crate) fn shared_id(
    ids: impl IntoIterator<Item = EntityId>,
    sorted: &mut Vec<EntityId>,
) -> Option<EntityId> {
    sorted.clear();
    sorted.extend(ids);
    sorted.sort_unstable();
    sorted.array_windows().find(|[a, b]| a == b).map(|[id, _]| *id)
}

/// The words of one kind's entities in the order of the input: entity by entity or column by
/// column. Column 0 holds the ids.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a> {
    pub(crate) words: &'a [u64],
    pub(crate) entities: usize,
    /// The number of columns, including the column of the ids.
    pub(crate) columns: usize,
    pub(crate) by_entity: bool,
}

impl Words<'_> {
    fn copy_column(&self, column: usize, into: &mut Vec<u64>) {
        into.clear();
        if self.by_entity {
            into.extend(self.words.iter().skip(column).step_by(self.columns).take(self.entities));
        } else {
            into.extend(&self.words[column * self.entities..(column + 1) * self.entities]);
        }
    }
}

/// Appends the entities of a kind to a frame. `column` is scratch memory.
pub(crate) fn write(words: Words<'_>, column: &mut Vec<u64>, out: &mut Vec<u8>) {
    out.extend((words.entities as u32).to_le_bytes());
    for index in 0..words.columns {
        words.copy_column(index, column);
        write_column(column, out);
    }
}

fn write_column(values: &[u64], out: &mut Vec<u8>) {
    let Some((&first, rest)) = values.split_first() else { return out.push(U8) };
    let (mut same, mut any) = (true, first);
    for value in rest {
        same &= *value == first;
        any |= value;
    }
    if same {
        out.push(CONSTANT);
        out.extend(first.to_le_bytes());
    } else if any <= u64::from(u8::MAX) {
        out.push(U8);
        out.extend(values.iter().map(|value| *value as u8));
    } else if any <= u64::from(u16::MAX) {
        out.push(U16);
        extend(out, values, |value| (value as u16).to_le_bytes());
    } else if any <= u64::from(u32::MAX) {
        out.push(U32);
        extend(out, values, |value| (value as u32).to_le_bytes());
    } else if values.iter().all(|value| narrowed(*value).is_some()) {
        out.push(F32);
        extend(out, values, |value| (f64::from_bits(value) as f32).to_le_bytes());
    } else {
        out.push(U64);
        extend(out, values, u64::to_le_bytes);
    }
}

fn extend<const N: usize>(out: &mut Vec<u8>, values: &[u64], bytes: impl Fn(u64) -> [u8; N]) {
    out.reserve(values.len() * N);
    values.iter().for_each(|value| out.extend(bytes(*value)));
}

/// Returns the number as `f32`, if it is the same number bit for bit. Returns `None` for a NaN.
fn narrowed(bits: u64) -> Option<f32> {
    let number = f64::from_bits(bits);
    let single = number as f32;
    (f64::from(single).to_bits() == bits && !number.is_nan()).then_some(single)
}

/// Reads a frame into reused memory. `lanes` has the number of lanes of each kind of entities. If
/// `maxima` is given, with one element for each lane of all kinds, no word may be above its
/// maximum.
///
/// Reserves at most 8 bytes for each word that the data can hold or repeat, and never more than
/// [`MAX_WORDS`] words.
pub(crate) fn read(
    data: &[u8],
    lanes: &[usize],
    maxima: Option<&[u32]>,
    table: &mut Table,
) -> Result<(), FrameError> {
    table.clear();
    let Table { ids, ends, columns, sorted } = table;
    columns.resize_with(lanes.iter().sum(), Vec::new);
    let mut rest = data;
    let (mut words, mut first_lane) = (0, 0);
    let mut ids_read = Vec::new();
    for (kind, &lanes) in lanes.iter().enumerate() {
        let count = u32::from_le_bytes(
            take(&mut rest, 4, "the number of entities")?.try_into().unwrap_or_default(),
        );
        let entities = count as usize;
        if ids.len() + entities > MAX_ENTITIES {
            let entities = ids.len() as u64 + u64::from(count);
            return Err(FrameError::TooManyEntities { entities });
        }
        words += entities * lanes;
        if words > MAX_WORDS {
            return Err(FrameError::TooManyWords { words });
        }
        // Each earlier kind also has a column of ids.
        let first_column = first_lane + kind;
        ids_read.clear();
        read_column(&mut rest, entities, first_column, &mut ids_read)?;
        let begin = ids.len();
        for id in ids_read.drain(..) {
            let id = u32::try_from(id).map(EntityId).map_err(|_| FrameError::IdTooLarge { id })?;
            if ids[begin..].last().is_some_and(|last| *last >= id) {
                return Err(FrameError::IdsNotIncreasing { id: id.0 });
            }
            ids.push(id);
        }
        ends.push(ids.len());
        for (row, column) in columns[first_lane..first_lane + lanes].iter_mut().enumerate() {
            read_column(&mut rest, entities, first_column + 1 + row, column)?;
            let lane = first_lane + row;
            let Some(max) = maxima.map(|maxima| maxima[lane]) else { continue };
            if let Some(&value) = column.iter().find(|value| **value > u64::from(max)) {
                return Err(FrameError::AboveMaximum { lane, value, max });
            }
        }
        first_lane += lanes;
    }
    if !rest.is_empty() {
        return Err(FrameError::TrailingBytes { bytes: rest.len() });
    }
    if lanes.len() > 1
        && let Some(id) = shared_id(ids.iter().copied(), sorted)
    {
        return Err(FrameError::SharedId { id: id.0 });
    }
    Ok(())
}

/// Checks that the lanes of absent fields are 0, in a frame of lanes.
pub(crate) fn check_absent(schema: &Schema, table: &Table) -> Result<(), FrameError> {
    for (index, kind) in schema.kinds().iter().enumerate() {
        let ids = &table.ids[table.of_kind(index)];
        let fields = &schema.fields()[kind.fields()];
        for field in fields.iter().filter(|field| field.condition.is_some()) {
            check_field(field, ids, &table.columns)?;
        }
    }
    Ok(())
}

fn check_field(field: &Field, ids: &[EntityId], columns: &[Vec<u64>]) -> Result<(), FrameError> {
    for (row, id) in ids.iter().enumerate() {
        // `read` checked that no lane is above its maximum.
        if field.is_present_in(|lane| columns[lane][row] as u32) {
            continue;
        }
        if let Some(lane) = field.lanes().find(|lane| columns[*lane][row] != 0) {
            return Err(FrameError::Absent { lane, value: columns[lane][row], id: id.0 });
        }
    }
    Ok(())
}

fn read_column(
    rest: &mut &[u8],
    entities: usize,
    column: usize,
    into: &mut Vec<u64>,
) -> Result<(), FrameError> {
    let tag = take(rest, 1, "the tag of a column")?[0];
    let width = match tag {
        CONSTANT => {
            let value = u64::from_le_bytes(
                take(rest, 8, "a constant column")?.try_into().unwrap_or_default(),
            );
            into.resize(entities, value);
            return Ok(());
        }
        U8 => 1,
        U16 => 2,
        U32 | F32 => 4,
        U64 => 8,
        tag => return Err(FrameError::UnknownTag { column, tag }),
    };
    let bytes = take(rest, entities * width, "the values of a column")?;
    match tag {
        U8 => into.extend(bytes.iter().map(|byte| u64::from(*byte))),
        U16 => into.extend(numbers(bytes).map(|bytes| u64::from(u16::from_le_bytes(bytes)))),
        U32 => into.extend(numbers(bytes).map(|bytes| u64::from(u32::from_le_bytes(bytes)))),
        F32 => into.extend(numbers(bytes).map(|bytes| to_word(u32::from_le_bytes(bytes)))),
        _ => into.extend(numbers(bytes).map(u64::from_le_bytes)),
    }
    Ok(())
}

fn numbers<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
    bytes.as_chunks().0.iter().copied()
}

fn take<'a>(rest: &mut &'a [u8], bytes: usize, what: &'static str) -> Result<&'a [u8], FrameError> {
    let (taken, after) = rest.split_at_checked(bytes).ok_or(FrameError::EndOfData {
        what,
        bytes,
        left: rest.len(),
    })?;
    *rest = after;
    Ok(taken)
}

/// The reason why bytes are not a frame.
#[derive(Clone, Debug, Error, PartialEq)]
pub(crate) enum FrameError {
    #[error("{what} takes {bytes} bytes, {left} are left")]
    EndOfData { what: &'static str, bytes: usize, left: usize },
    #[error("{entities} entities, at most {MAX_ENTITIES} are allowed")]
    TooManyEntities { entities: u64 },
    #[error("{words} words, at most {MAX_WORDS} are allowed")]
    TooManyWords { words: usize },
    #[error("column {column} has the unknown tag {tag}")]
    UnknownTag { column: usize, tag: u8 },
    #[error("the id {id} is above 4294967295")]
    IdTooLarge { id: u64 },
    #[error("the id {id} is not above the previous one")]
    IdsNotIncreasing { id: u32 },
    #[error("the id {id} is in two kinds")]
    SharedId { id: u32 },
    #[error("lane {lane} has {value}, above its maximum {max}")]
    AboveMaximum { lane: usize, value: u64, max: u32 },
    #[error("lane {lane} of entity {id} has {value}, but its field is absent")]
    Absent { lane: usize, value: u64, id: u32 },
    #[error("{bytes} bytes after the last column")]
    TrailingBytes { bytes: usize },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bytes of a frame with these columns, and the table that is read from the bytes.
    fn round_trip(ids: &[u64], columns: &[Vec<u64>]) -> (Vec<u8>, Table) {
        let words: Vec<u64> = ids.iter().chain(columns.iter().flatten()).copied().collect();
        let (mut scratch, mut bytes) = (Vec::new(), Vec::new());
        let count = columns.len() + 1;
        write(
            Words { words: &words, entities: ids.len(), columns: count, by_entity: false },
            &mut scratch,
            &mut bytes,
        );
        let rows: Vec<u64> =
            (0..words.len()).map(|at| words[at % count * ids.len() + at / count]).collect();
        let mut by_entity = Vec::new();
        let frame = Words { words: &rows, entities: ids.len(), columns: count, by_entity: true };
        write(frame, &mut scratch, &mut by_entity);
        assert_eq!(bytes, by_entity);
        let mut table = Table::default();
        read(&bytes, &[columns.len()], None, &mut table).unwrap();
        (bytes, table)
    }

    #[test]
    fn each_column_takes_the_narrowest_form_and_reads_back() {
        let f = |number: f64| number.to_bits();
        let nan = f(f64::NAN) | 5;
        for (column, tag, bytes) in [
            (vec![7, 7, 7], CONSTANT, 8),
            (vec![nan, nan, nan], CONSTANT, 8),
            (vec![0, 255, 3], U8, 3),
            (vec![0, 256, 3], U16, 6),
            (vec![0, 65_536, 3], U32, 12),
            (vec![f(0.5), f(-0.0), f(f64::INFINITY)], F32, 12),
            (vec![f(0.0), f(f64::from(f32::MIN_POSITIVE) / 8.0), f(f64::from(f32::MAX))], F32, 12),
            (vec![f(0.5), f(0.1), f(0.0)], U64, 24),
            (vec![f(0.5), nan, f(0.0)], U64, 24),
            (vec![f(0.5), f(1e300), f(0.0)], U64, 24),
        ] {
            let (frame, table) = round_trip(&[1, 2, 9], std::slice::from_ref(&column));
            // The frame begins with the count, then the tag and three ids of a byte each.
            assert_eq!((frame[8], frame.len()), (tag, 9 + bytes), "{column:x?}");
            assert_eq!(table.columns, [column]);
            assert_eq!(table.ids, [1, 2, 9].map(EntityId));
        }
        let (frame, table) = round_trip(&[], &[vec![], vec![]]);
        assert_eq!((frame.as_slice(), table.ids.len()), ([0, 0, 0, 0, 1, 1, 1].as_slice(), 0));
    }

    #[test]
    fn the_worked_example_of_the_specification() {
        let (frame, _) =
            round_trip(&[3, 700], &[vec![f64::to_bits(1.5), f64::to_bits(-2.0)], vec![1, 1]]);
        let expected = "02000000 02 0300bc02 05 0000c03f000000c0 00 0100000000000000";
        let digits: String = expected.split_whitespace().collect();
        assert_eq!(frame.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), digits);
    }

    #[test]
    fn malformed_frames_are_refused() {
        let mut table = Table::default();
        let mut refusal = |lanes, maxima: Option<&[u32]>, parts: &[&[u8]]| {
            read(&parts.concat(), &[lanes], maxima, &mut table).unwrap_err().to_string()
        };
        let two = [2, 0, 0, 0];
        assert!(
            refusal(0, None, &[&two]).contains("the tag of a column takes 1 bytes, 0 are left")
        );
        assert!(refusal(0, None, &[&two, &[9]]).contains("column 0 has the unknown tag 9"));
        assert!(refusal(0, None, &[&two, &[U8, 1]]).contains("takes 2 bytes, 1 are left"));
        assert!(refusal(0, None, &[&two, &[U8, 1, 1]]).contains("the id 1 is not above"));
        assert!(refusal(0, None, &[&two, &[CONSTANT], &[0; 8]]).contains("the id 0 is not above"));
        assert!(
            refusal(0, None, &[&two, &[F32], &[0, 0, 0, 0, 0, 0, 0, 1]])
                .contains("is above 4294967295")
        );
        assert!(
            refusal(0, None, &[&two, &[U8, 1, 2, 3]]).contains("1 bytes after the last column")
        );
        assert!(
            refusal(1, Some(&[4]), &[&two, &[U8, 1, 2], &[U8, 4, 5]])
                .contains("lane 0 has 5, above its maximum 4")
        );
        assert!(refusal(0, None, &[&[0, 0, 2, 0], &[U8]]).contains("131072 entities"));
        assert!(refusal(4096, None, &[&[1, 8, 0, 0], &[U8]]).contains("words"));
        assert!(
            refusal(0, None, &[&[0, 0, 1, 0], &[U64]]).contains("takes 524288 bytes, 0 are left")
        );
    }
}
