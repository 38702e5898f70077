//! The sending side of a server's socket: what the socket does not take now waits in the
//! [`Outbox`], and the [`Pacer`] decides when it leaves.
//!
//! Linux reports a full buffer of the socket, but not a full queue of the network interface: it
//! drops the datagram and reports success. Therefore the socket's buffer holds fewer long datagrams
//! than such a queue (see `SEND_BUFFER_BYTES` in `server.rs`), and the rest waits here.

mod outbox;
mod pacer;
#[cfg(test)]
mod tests;

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::outbox::Outbox;
use self::pacer::{Pacer, STEP};
use super::options::ServerOptions;
use super::socket::send_without_waiting;

/// Sends wait for the socket until the time that they waited exceeds the time that they may wait by
/// this much. One more wait may follow, which the socket's write time-out ends.
const MAX_WAITS: Duration = Duration::from_millis(10);
/// The part of the time for which sends may wait: 1 / 4.
const WAITING_PART: u32 = 4;

/// A socket that sends datagrams.
pub(crate) trait Wire {
    /// Sends a datagram if that is possible without waiting.
    fn send(&self, address: SocketAddr, packet: &[u8]) -> io::Result<usize>;

    /// Sends a datagram. If the buffer is full, waits until there is room or the socket's write
    /// time-out ends. Also returns how long that took.
    fn send_waiting(&self, address: SocketAddr, packet: &[u8]) -> (io::Result<usize>, Duration);
}

/// The sending side of a socket.
pub(crate) struct Link<W> {
    output: Output<W>,
    outbox: Outbox,
    pacer: Pacer,
    /// The longest time for which a datagram waits.
    max_wait: Duration,
}

/// The socket, its counters, and the time for which sends waited.
struct Output<W> {
    wire: W,
    datagrams: u64,
    bytes: u64,
    unsent: u64,
    /// The time for which sends waited, less the time for which they might have waited since.
    waited: Duration,
    /// The time up to which `waited` was counted.
    clock: Instant,
}

impl<W: Wire> Link<W> {
    pub(crate) fn new(wire: W, options: &ServerOptions, now: Instant) -> Self {
        let max_wait = options.max_wait.saturating_add(options.pace.unwrap_or_default());
        Self {
            output: Output {
                wire,
                datagrams: 0,
                bytes: 0,
                unsent: 0,
                waited: Duration::ZERO,
                clock: now,
            },
            outbox: Outbox::new(options.queue_bytes),
            pacer: Pacer::new(options.pace, now),
            max_wait,
        }
    }

    pub(crate) fn wire(&self) -> &W {
        &self.output.wire
    }

    pub(crate) fn datagrams(&self) -> u64 {
        self.output.datagrams
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.output.bytes
    }

    pub(crate) fn unsent(&self) -> u64 {
        self.output.unsent
    }

    /// Sends a datagram of a connection, or lets it wait. Without a pace, waits for a full socket.
    pub(crate) fn send(&mut self, client: u64, address: SocketAddr, packet: &[u8], now: Instant) {
        let may_wait = !self.pacer.is_on();
        self.send_or_keep(client, address, packet, (now, may_wait));
    }

    /// As [`send`](Self::send), but never blocks.
    pub(crate) fn send_from_poll(
        &mut self,
        client: u64,
        address: SocketAddr,
        packet: &[u8],
        now: Instant,
    ) {
        self.send_or_keep(client, address, packet, (now, false));
    }

    fn send_or_keep(
        &mut self,
        client: u64,
        address: SocketAddr,
        packet: &[u8],
        (now, may_wait): (Instant, bool),
    ) {
        self.output.advance(now);
        if self.outbox.is_empty() {
            self.pacer.advance(now, 0, None);
            if self.pacer.allows(packet.len())
                && self.output.attempt(address, packet, may_wait).is_done()
            {
                self.pacer.spend(packet.len());
                return;
            }
            self.output.unsent += self.outbox.push(client, address, packet, now);
        } else {
            self.output.unsent += self.outbox.push(client, address, packet, now);
            self.drain(now, may_wait);
        }
    }

    /// Sends a datagram that never waits in memory: an answer to an address without a connection,
    /// because strangers must not use the memory of the server, or a goodbye, when no queue of the
    /// client is left. It is dropped if the socket is full. With `may_wait`, waits for the socket.
    pub(crate) fn send_at_once(&mut self, address: SocketAddr, packet: &[u8], may_wait: bool) {
        if self.output.attempt(address, packet, may_wait) == Attempt::Full {
            self.output.unsent += 1;
        }
    }

    /// Sends what is due. Never blocks. Returns the time until the next call is useful, if
    /// datagrams still wait.
    pub(crate) fn flush(&mut self, now: Instant) -> Option<Duration> {
        self.output.advance(now);
        self.drain(now, false);
        (!self.outbox.is_empty()).then_some(STEP)
    }

    /// Sends what waits for `client`, regardless of the pace. Waits for a full socket, and drops
    /// what it still does not take.
    pub(crate) fn finish(&mut self, client: u64) {
        let mut rest = self.outbox.remove(client);
        while let Some(waiting) = rest.front() {
            if self.output.attempt(waiting.address, &waiting.packet, true) == Attempt::Full {
                break;
            }
            rest.pop_front();
        }
        self.output.unsent += rest.len() as u64;
    }

    /// Drops what waits for `client`.
    pub(crate) fn forget(&mut self, client: u64) {
        self.output.unsent += self.outbox.remove(client).len() as u64;
    }

    fn drain(&mut self, now: Instant, may_wait: bool) {
        let Self { output, outbox, pacer, max_wait } = self;
        pacer.advance(now, outbox.bytes(), outbox.newest());
        while let Some(waiting) = outbox.front() {
            let bytes = waiting.packet.len();
            if now.saturating_duration_since(waiting.since) > *max_wait {
                output.unsent += 1;
            } else if pacer.allows(bytes)
                && output.attempt(waiting.address, &waiting.packet, may_wait).is_done()
            {
                pacer.spend(bytes);
            } else {
                return;
            }
            outbox.pop();
        }
    }
}

#[cfg(test)]
impl<W> Link<W> {
    /// Lets nothing leave before `then`, if there is a pace.
    pub(crate) fn hold(&mut self, then: Instant) {
        self.pacer.hold(then);
    }
}

/// What became of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attempt {
    /// The system took the datagram, or refused it for good. Both are counted.
    Done,
    /// There is no room now.
    Full,
}

impl Attempt {
    fn is_done(self) -> bool {
        self == Self::Done
    }
}

impl<W: Wire> Output<W> {
    fn advance(&mut self, now: Instant) {
        let earned = now.saturating_duration_since(self.clock) / WAITING_PART;
        self.waited = self.waited.saturating_sub(earned);
        self.clock = self.clock.max(now);
    }

    fn attempt(&mut self, address: SocketAddr, packet: &[u8], may_wait: bool) -> Attempt {
        let mut sent = self.wire.send(address, packet);
        if may_wait && self.waited < MAX_WAITS && sent.as_ref().is_err_and(is_full) {
            let (late, waited) = self.wire.send_waiting(address, packet);
            self.waited = self.waited.saturating_add(waited);
            sent = late;
        }
        match sent {
            Ok(bytes) => {
                self.datagrams += 1;
                self.bytes += bytes as u64;
            }
            Err(error) if is_full(&error) => return Attempt::Full,
            Err(_) => self.unsent += 1,
        }
        Attempt::Done
    }
}

impl Wire for Arc<UdpSocket> {
    fn send(&self, address: SocketAddr, packet: &[u8]) -> io::Result<usize> {
        send_without_waiting(self, address, packet)
    }

    fn send_waiting(&self, address: SocketAddr, packet: &[u8]) -> (io::Result<usize>, Duration) {
        let start = Instant::now();
        let sent = self.send_to(packet, address);
        (sent, start.elapsed())
    }
}

/// Whether the same datagram may succeed a moment later. A socket with a write time-out reports
/// either of the first two kinds. BSD and macOS report a lack of buffers if the queue of the
/// network interface is full.
fn is_full(error: &io::Error) -> bool {
    #[cfg(unix)]
    const NO_BUFFERS: i32 = libc::ENOBUFS;
    #[cfg(not(unix))]
    const NO_BUFFERS: i32 = 10055; // WSAENOBUFS
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
        || error.raw_os_error() == Some(NO_BUFFERS)
}
