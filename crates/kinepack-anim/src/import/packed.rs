//! Unpacks `.zst` files. The module decodes all zstd frames in the file, and verifies their
//! checksums. It unpacks the data twice, first to count the bytes and then into a buffer of exactly
//! that size. A growing buffer would take more memory. The rest of the memory is for zstd's window.

use std::io::{self, ErrorKind};

use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{BlockDecodingStrategy, DEFAULT_MAX_WINDOW_SIZE, FrameDecoder};

/// The memory for blocks and tables, and for the part of the decoder's buffer beyond twice the
/// window, in bytes.
const DECODER_BYTES: u64 = 2 << 20;

/// The reason why unpacking failed.
pub(super) enum Refused {
    /// The data are damaged.
    Damaged(io::Error),
    /// The data exceed the limit for files.
    TooManyBytes,
    /// Unpacking takes at least this number of bytes of memory.
    TooMuchMemory(u64),
}

/// Unpacks data to at most `limit_bytes` bytes. The result and the decoder together take at most
/// `memory_bytes` of memory.
pub(super) fn unpacked(
    packed: &[u8],
    limit_bytes: u64,
    memory_bytes: u64,
) -> Result<Vec<u8>, Refused> {
    // Half of the memory is for the result, and half for the decoder, whose buffer takes up to
    // twice the window.
    let most = memory_bytes / 2;
    let window_bytes = (most.saturating_sub(DECODER_BYTES) / 2).min(DEFAULT_MAX_WINDOW_SIZE);
    let mut count = 0;
    decode(packed, window_bytes, |decoder| {
        count += decoder.can_collect() as u64;
        if count > limit_bytes {
            return Err(Refused::TooManyBytes);
        }
        if count > most {
            return Err(Refused::TooMuchMemory(2 * count));
        }
        decoder.collect_to_writer(io::sink()).map(drop).map_err(damaged)
    })?;
    let mut bytes = Vec::with_capacity(count as usize);
    decode(packed, window_bytes, |decoder| {
        decoder.collect_to_writer(&mut bytes).map(drop).map_err(damaged)
    })?;
    Ok(bytes)
}

/// Decodes all frames. Calls `take` after each block, when there may be bytes to collect.
fn decode(
    mut packed: &[u8],
    window_bytes: u64,
    mut take: impl FnMut(&mut FrameDecoder) -> Result<(), Refused>,
) -> Result<(), Refused> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(window_bytes);
    while !packed.is_empty() {
        decoder.reset(&mut packed).map_err(|error| match error {
            FrameDecoderError::WindowSizeTooBig { requested, .. }
                if requested <= DEFAULT_MAX_WINDOW_SIZE =>
            {
                Refused::TooMuchMemory(requested.saturating_mul(4))
            }
            error => damaged(error),
        })?;
        while !decoder.is_finished() {
            decoder
                .decode_blocks(&mut packed, BlockDecodingStrategy::UptoBlocks(1))
                .map_err(damaged)?;
            take(&mut decoder)?;
        }
        if decoder
            .get_checksum_from_data()
            .is_some_and(|sum| decoder.get_calculated_checksum() != Some(sum))
        {
            return Err(damaged("the checksum differs"));
        }
    }
    Ok(())
}

fn damaged(reason: impl std::fmt::Display) -> Refused {
    Refused::Damaged(io::Error::new(
        ErrorKind::InvalidData,
        format!("zstd data damaged or cut off: {reason}"),
    ))
}
