//! Unpacks chunks with bounded memory, and splits them into records.

use std::io::{self, Read};
use std::ops::Range;

use lz4_flex::frame::FrameDecoder;
use mcap::records::{Record, op};

use super::damage::Refused;
use super::source::{MAX_RECORD_BYTES, READ_BYTES, RECORD_HEADER_BYTES, parse};
use crate::zstd::ZstdReader;

/// Unpacks the data of a chunk's record into `out`, and checks their checksum. Returns the number
/// of bytes of the record after the data. This number is 0 unless the data's length is wrong.
pub(super) fn unpack(record: &[u8], out: &mut Vec<u8>) -> Result<usize, Refused> {
    /// The number of bytes of a chunk's record without the name of its compression and without its
    /// data. These bytes are two timestamps, the size, the checksum, and the lengths of the name
    /// and of the data.
    const OTHERS: usize = 16 + 8 + 4 + 4 + 8;
    out.clear();
    let Record::Chunk { header, data } = parse(op::CHUNK, record)? else { return Ok(0) };
    let size =
        usize::try_from(header.uncompressed_size).ok().filter(|size| *size <= MAX_RECORD_BYTES);
    let Some(size) = size else {
        return Err(Refused::not_supported(format!(
            "a chunk of {} bytes exceeds the limit of {MAX_RECORD_BYTES}",
            header.uncompressed_size
        )));
    };
    match header.compression.as_str() {
        "" => out.extend_from_slice(&data),
        // The window must not be larger than the largest chunk.
        "zstd" => unpack_from(ZstdReader::new(&*data, MAX_RECORD_BYTES as u64), size, out)?,
        "lz4" => unpack_from(FrameDecoder::new(&*data), size, out)?,
        other => {
            return Err(Refused::not_supported(format!(
                "a chunk is compressed by {other:?}; only zstd and lz4 can be read"
            )));
        }
    }
    if out.len() != size {
        return Err(format!("a chunk of {size} bytes has {}", out.len()).into());
    }
    let saved = header.uncompressed_crc;
    // The checksum is 0 if the writer made none.
    if saved != 0 && crc32fast::hash(out) != saved {
        return Err("the checksum of a chunk differs".to_owned().into());
    }
    Ok(record.len().saturating_sub(OTHERS + header.compression.len() + data.len()))
}

/// Unpacks in steps, so that a declared size alone cannot cause an allocation.
fn unpack_from(mut unpacked: impl Read, size: usize, out: &mut Vec<u8>) -> Result<(), String> {
    let damaged = |error: io::Error| format!("a chunk cannot be unpacked: {error}");
    // The memory grows in steps that end at the chunk's size. A vector that grows by doubling would
    // take up to twice as much.
    let mut left = size + 1;
    while left > 0 {
        let step = left.min(out.len().max(READ_BYTES));
        out.reserve_exact(step);
        let read = unpacked.by_ref().take(step as u64).read_to_end(out).map_err(damaged)?;
        if read < step {
            break;
        }
        left -= step;
    }
    Ok(())
}

/// Iterates over the records of a chunk: the first byte of each, its opcode, and the range of its
/// data. If there is an error, it is the last item.
pub(super) fn records(
    chunk: &[u8],
) -> impl Iterator<Item = Result<(usize, u8, Range<usize>), String>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let begin = at;
        (begin < chunk.len()).then(|| {
            let record = record_at(chunk, begin);
            at = record.as_ref().map_or(chunk.len(), |(_, place)| place.end);
            record.map(|(opcode, place)| (begin, opcode, place))
        })
    })
}

/// Returns the opcode and the range of the data of the record that begins at `at`.
pub(super) fn record_at(chunk: &[u8], at: usize) -> Result<(u8, Range<usize>), String> {
    let rest = &chunk[at..];
    let Some((header, data)) = rest.split_first_chunk::<RECORD_HEADER_BYTES>() else {
        return Err("a chunk ends within the header of a record".into());
    };
    let length = u64::from_le_bytes([
        header[1], header[2], header[3], header[4], header[5], header[6], header[7], header[8],
    ]);
    let Some(length) = usize::try_from(length).ok().filter(|length| *length <= data.len()) else {
        return Err(format!("a record has {length} bytes, but the chunk has only {}", data.len()));
    };
    let begin = at + RECORD_HEADER_BYTES;
    Ok((header[0], begin..begin + length))
}
