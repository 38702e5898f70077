//! A cursor over the bytes of a datagram.

use crate::Refused;

/// Reads a datagram from front to back.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    bytes: usize,
    pub(super) rest: &'a [u8],
}

impl<'a> Parts<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: bytes.len(), rest: bytes }
    }

    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N], Refused> {
        let (first, rest) = self.rest.split_first_chunk().ok_or(self.wrong_length())?;
        self.rest = rest;
        Ok(*first)
    }

    pub(super) fn end(&self) -> Result<(), Refused> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.wrong_length()) }
    }

    pub(super) fn wrong_length(&self) -> Refused {
        Refused::Length { bytes: self.bytes }
    }
}
