//! Replaces the server for browsers in a program that was built without it.

use std::ops::Range;

use kinepack_udp::{SendError, ServerEvent};

/// The payload limit, which comes from `kinepack-webtransport`. Without browsers, datagrams have no
/// such limit.
pub(super) const SAFE_PAYLOAD_BYTES: usize = usize::MAX;

/// A type without values, because this program cannot serve browsers.
pub enum WebServer {}

/// The counts of a server for browsers, which stay 0.
#[derive(Clone, Copy, Default)]
pub(super) struct WebStats {
    pub datagrams_in: u64,
    pub bytes_in: u64,
    pub datagrams_out: u64,
    pub bytes_out: u64,
    pub refused: u64,
    pub limited: u64,
    pub overflowed: u64,
    pub unsent: u64,
    pub abandoned: u64,
}

/// The error of a program that was built without the feature.
#[derive(Debug, thiserror::Error)]
#[error(
    "this program was built without browsers; build it again with `--features web`, as in `cargo \
     run --release --features web -- serve`"
)]
pub struct WebSetupError;

impl WebServer {
    pub(super) fn poll(&mut self, _: &mut Vec<ServerEvent>) {
        match *self {}
    }

    pub(super) fn payload(&self, _: &Range<usize>) -> &[u8] {
        match *self {}
    }

    pub(super) fn has(&self, _: u64) -> bool {
        match *self {}
    }

    pub(super) fn send(&mut self, _: u64, _: &[u8]) -> Result<(), SendError> {
        match *self {}
    }

    pub(super) fn disconnect(&mut self, _: u64) {
        match *self {}
    }

    pub(super) fn stats(&self) -> WebStats {
        match *self {}
    }
}
