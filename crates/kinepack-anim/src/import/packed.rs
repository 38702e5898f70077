//! A `.zst` file as the bytes that it holds: all frames of zstd in it, their checksums compared. Memory is bounded by the limit and by
//! zstd's window, at most 128 MB.

use std::io::{self, ErrorKind, Read};

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// What is packed, or [`ErrorKind::FileTooLarge`] where it is more than the limit.
pub(super) fn unpacked(mut packed: &[u8], limit_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut decoder = FrameDecoder::new();
    while !packed.is_empty() {
        decoder.reset(&mut packed).map_err(damaged)?;
        while !decoder.is_finished() {
            decoder.decode_blocks(&mut packed, BlockDecodingStrategy::UptoBlocks(1)).map_err(damaged)?;
            let rest = limit_bytes.saturating_sub(bytes.len() as u64);
            if decoder.can_collect() as u64 > rest {
                return Err(ErrorKind::FileTooLarge.into());
            }
            decoder.by_ref().take(rest).read_to_end(&mut bytes)?;
        }
        if decoder.get_checksum_from_data().is_some_and(|sum| decoder.get_calculated_checksum() != Some(sum)) {
            return Err(damaged("the checksum differs"));
        }
    }
    Ok(bytes)
}

fn damaged(reason: impl std::fmt::Display) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("zstd data damaged or cut off: {reason}"))
}
