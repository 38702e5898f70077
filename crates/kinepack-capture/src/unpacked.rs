//! A `.zst` file as the bytes that it holds.
//!
//! ruzstd's own reader stops after the first frame of zstd and leaves checksums alone; a capture that was packed in
//! several pieces would end early, and a damaged one would pass. Memory is bounded by zstd's window, at most 128 MB.

use std::io::{self, BufRead, ErrorKind, Read};

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Unpacks while it is read.
pub(crate) struct Unpacked<R> {
    packed: R,
    decoder: FrameDecoder,
}

impl<R: BufRead> Unpacked<R> {
    pub(crate) fn new(packed: R) -> Self {
        Self { packed, decoder: FrameDecoder::new() }
    }

    fn check_sum(&self) -> io::Result<()> {
        match self.decoder.get_checksum_from_data() {
            Some(sum) if self.decoder.get_calculated_checksum() != Some(sum) => Err(damaged("the checksum differs")),
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() == 0 {
            if !self.decoder.is_finished() {
                let decoded = self.decoder.decode_blocks(&mut self.packed, BlockDecodingStrategy::UptoBlocks(1));
                decoded.map_err(damaged)?;
                continue;
            }
            self.check_sum()?;
            if self.packed.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.decoder.reset(&mut self.packed).map_err(damaged)?;
        }
        self.decoder.read(buffer)
    }
}

fn damaged(reason: impl std::fmt::Display) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("zstd data damaged or cut off: {reason}"))
}
