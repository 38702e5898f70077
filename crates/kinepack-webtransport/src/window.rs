//! Congestion control for the datagrams of a game: a window that follows the link.
//!
//! QUIC's usual controllers halve the rate when a packet is lost. At 5 % loss and a round trip of
//! 100 ms, they would hold back snapshots until these are of no use. This window follows the queue
//! of the link instead, as a hub's [`Budget::Auto`](kinepack_net::Budget::Auto) does. A hub with
//! such a budget keeps below the window, and then chooses itself what has to wait.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kinepack_net::CongestionControl;
use quinn_proto::RttEstimator;
use wtransport::quinn::congestion::{Controller, ControllerFactory};

/// The smallest window: what every link carries at once (RFC 9002, section 7.2).
const LEAST_BYTES: u64 = 10 * DATAGRAM_BYTES;
/// The largest window: 300 kbit/s over a round trip of 3 seconds, or 10 Mbit/s over 100 ms.
const MOST_BYTES: u64 = 128 << 10;
/// The usual length of a packet.
const DATAGRAM_BYTES: u64 = 1_200;

/// Makes the window of each connection.
#[derive(Debug, Default)]
pub(crate) struct Windows;

#[derive(Clone, Debug)]
struct Window {
    began: Instant,
    control: CongestionControl,
}

impl Window {
    fn new(began: Instant) -> Self {
        Self { began, control: CongestionControl::new(u32::MAX) }
    }

    fn time(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.began)
    }
}

impl ControllerFactory for Windows {
    fn build(self: Arc<Self>, now: Instant, _: u16) -> Box<dyn Controller> {
        Box::new(Window::new(now))
    }
}

impl Controller for Window {
    fn on_sent(&mut self, now: Instant, bytes: u64, _: u64) {
        self.control.note_sent(self.time(now), bytes as usize);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        _: &RttEstimator,
    ) {
        let (now, sent) = (self.time(now), self.time(sent));
        if !app_limited {
            self.control.note_limited(now);
        }
        self.control.note_acknowledged(now, sent, bytes as usize);
    }

    fn on_end_acks(&mut self, now: Instant, _: u64, _: bool, _: Option<u64>) {
        self.control.feedback(self.time(now));
    }

    /// Quinn reports the lost packets of an acknowledgement together.
    fn on_congestion_event(&mut self, now: Instant, _: Instant, _: bool, lost_bytes: u64) {
        let now = self.time(now);
        let packets = lost_bytes.div_ceil(DATAGRAM_BYTES);
        (0..packets).for_each(|_| self.control.note_lost(now, (lost_bytes / packets) as usize));
    }

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        self.control.window_bytes().clamp(LEAST_BYTES, MOST_BYTES)
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends and acknowledges for some seconds: 100 packets a second, each `waits` later than its
    /// round trip of 50 ms. Returns the window.
    fn run(control: &mut Window, lost_one_in: u32, waits: impl Fn(u32) -> Duration) -> u64 {
        let step = Duration::from_millis(10);
        for packet in 1..=400 {
            let sent = control.time(control.began) + step * packet;
            let now = sent + Duration::from_millis(50) + waits(packet);
            control.control.note_sent(sent, 1_200);
            control.control.note_limited(now);
            match packet % lost_one_in {
                0 => control.control.note_lost(now, 1_200),
                _ => control.control.note_acknowledged(now, sent, 1_200),
            }
            control.control.feedback(now);
        }
        control.window()
    }

    #[test]
    fn the_window_follows_the_queue_and_not_the_losses() {
        let begin = Instant::now();
        let first = Window::new(begin).initial_window();
        assert!((LEAST_BYTES..2 * LEAST_BYTES).contains(&first), "{first}");
        let wide = run(&mut Window::new(begin), u32::MAX, |_| Duration::ZERO);
        assert!(wide > first, "{wide}");
        let lossy = run(&mut Window::new(begin), 20, |_| Duration::ZERO);
        assert!(lossy > wide * 9 / 10, "{lossy} of {wide}");
        let queued = run(&mut Window::new(begin), u32::MAX, |packet| {
            Duration::from_millis(5) * packet.saturating_sub(200)
        });
        assert!(queued < wide, "{queued} of {wide}");
    }
}
