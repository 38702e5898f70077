//! Unpacks a `.zst` file: all of its frames, with their checksums checked.

use std::cell::Cell;
use std::io::{self, BufRead, ErrorKind, Read};
use std::rc::Rc;

use zstd::stream::read::Decoder;

/// log₂ of the largest accepted window, 128 MB. It bounds the memory.
const WINDOW_LOG_MAX: u32 = 27;

/// Unpacks while it is read. `None` for an empty file.
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
            // zstd reports these kinds; all others come from the file.
            ErrorKind::Other | ErrorKind::UnexpectedEof => io::Error::new(
                ErrorKind::InvalidData,
                format!("zstd data damaged or cut off: {error}"),
            ),
            _ => error,
        })
    }
}

/// Counts the bytes that are read from a file.
pub(crate) struct Counted<R> {
    inner: R,
    bytes: Rc<Cell<u64>>,
}

impl<R> Counted<R> {
    /// The reader, and the number of bytes read from it.
    pub(crate) fn new(inner: R) -> (Self, Rc<Cell<u64>>) {
        let bytes = Rc::new(Cell::new(0));
        (Self { inner, bytes: Rc::clone(&bytes) }, bytes)
    }

    fn add(&self, bytes: usize) {
        self.bytes.set(self.bytes.get() + bytes as u64);
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.add(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.inner.consume(bytes);
        self.add(bytes);
    }
}
