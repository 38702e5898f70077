//! A `.zst` file as the bytes that it holds: all of its frames, with their checksums checked.

use std::io::{self, BufRead, ErrorKind, Read};

use zstd::stream::read::Decoder;

/// Of the largest window that is taken: 128 MB, which bounds the memory.
const WINDOW_LOG_MAX: u32 = 27;

/// Unpacks while it is read. `None` for a file without a byte, which holds none.
pub(crate) struct Unpacked<R: BufRead>(Option<Decoder<'static, R>>);

impl<R: BufRead> Unpacked<R> {
    pub(crate) fn new(mut packed: R) -> io::Result<Self> {
        if packed.fill_buf()?.is_empty() {
            return Ok(Self(None));
        }
        let mut decoder = Decoder::with_buffer(packed)?;
        decoder.window_log_max(WINDOW_LOG_MAX)?;
        Ok(Self(Some(decoder)))
    }
}

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(decoder) = &mut self.0 else { return Ok(0) };
        decoder.read(buffer).map_err(|error| match error.kind() {
            // What zstd says; all else is the file's.
            ErrorKind::Other | ErrorKind::UnexpectedEof => {
                io::Error::new(ErrorKind::InvalidData, format!("zstd data damaged or cut off: {error}"))
            }
            _ => error,
        })
    }
}
