//! Counts the bytes that are read from a file.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

/// Counts the bytes that are read from a file.
pub(crate) struct Counted<R> {
    inner: R,
    bytes: Rc<Cell<u64>>,
}

impl<R> Counted<R> {
    /// Returns the counting reader, and the number of bytes that were read from it.
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
