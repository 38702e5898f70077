//! Congestion control for datagrams that a game paces itself: a window that does not shrink after
//! losses.
//!
//! QUIC's usual controllers halve the rate when a packet is lost. At 5 % loss and a round trip of
//! 100 ms, they would hold back snapshots until these are of no use. A hub sends one small datagram
//! a tick, within its budget, and needs no more. The window still bounds the bytes in flight.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use wtransport::quinn::congestion::{Controller, ControllerFactory};

/// The maximum number of bytes in flight: 300 kbit/s over a round trip of 3 seconds.
const WINDOW_BYTES: u64 = 128 << 10;

/// Makes the window of each connection.
#[derive(Debug, Default)]
pub(crate) struct Windows;

#[derive(Clone, Debug)]
struct Window;

impl ControllerFactory for Windows {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        Box::new(Window)
    }
}

impl Controller for Window {
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        WINDOW_BYTES
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        WINDOW_BYTES
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
