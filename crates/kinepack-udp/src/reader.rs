//! The thread that reads the server's socket. It asks the gate about each datagram, and puts the
//! datagrams that pass into the inbox. The thread that ticks takes the whole inbox at once.
//!
//! The reader allocates nothing for a datagram, and takes the lock only for datagrams that pass.
//! Under a flood of junk, the two threads hardly ever wait for each other. If datagrams arrive
//! faster than the reader reads them, the system drops them.
//!
//! Waking up for a datagram costs more than reading it. While the gate refuses most datagrams, the
//! thread therefore sleeps for a moment and then reads all that have arrived. The thread does not
//! read a flood from a single address at all: see [`silence`](super::silence).

use std::io::ErrorKind;
use std::mem;
use std::net::{SocketAddr, UdpSocket};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::gate::{Gate, News, Refusal};
use super::screen::{Header, Kind};
use super::silence::Silence;

/// The limits of the inbox and of one poll: four datagrams from each of 1,024 clients, and as many
/// new connections as take about a millisecond.
const MAX_DATAGRAMS: usize = 4096;
const MAX_BYTES: usize = 2 << 20;
const MAX_REQUESTS: usize = 64;

/// How often the thread checks whether it should end.
pub(crate) const READ_TIMEOUT: Duration = Duration::from_millis(50);
/// How long the thread sleeps under a flood. The usual 208 KiB of buffer hold about 200 long
/// datagrams, so the buffer overflows at 400,000 datagrams per second.
const NAP: Duration = Duration::from_micros(500);
/// A flood begins with this many refused datagrams without a pause. It ends with a nap in which at
/// most [`FLOOD_ENDS`] datagrams arrive.
const FLOOD_BEGINS: usize = 64;
const FLOOD_ENDS: usize = 8;

/// The size of the buffer. It is longer than any packet, so that a datagram that is too long
/// differs from one that fits.
const BUFFER_BYTES: usize = 2048;

/// The datagrams that passed the gate, in order of arrival. The memory is reused.
#[derive(Default)]
pub(crate) struct Inbox {
    pub(crate) bytes: Vec<u8>,
    pub(crate) datagrams: Vec<Received>,
    requests: usize,
}

/// One datagram of the inbox.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) address: SocketAddr,
    pub(crate) header: Header,
    /// The range of the datagram in [`Inbox::bytes`].
    pub(crate) range: Range<usize>,
}

impl Inbox {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.datagrams.clear();
        self.requests = 0;
    }

    /// Adds a datagram if there is room. Returns whether there was.
    fn push(&mut self, address: SocketAddr, header: Header, datagram: &[u8]) -> bool {
        let is_request = header.kind == Kind::Request;
        let full = self.datagrams.len() >= MAX_DATAGRAMS
            || self.bytes.len() + datagram.len() > MAX_BYTES
            || (is_request && self.requests >= MAX_REQUESTS);
        if full {
            return false;
        }
        self.requests += usize::from(is_request);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(datagram);
        self.datagrams.push(Received { address, header, range: start..self.bytes.len() });
        true
    }
}

/// The reader's counters.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) datagrams: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) junk: AtomicU64,
    pub(crate) limited: AtomicU64,
    pub(crate) overflowed: AtomicU64,
    pub(crate) silenced: AtomicU64,
}

/// The running thread, which ends when this is dropped.
pub(crate) struct Reader {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    inbox: Mutex<Inbox>,
    news: Mutex<Vec<News>>,
    /// Whether there is news for the gate. Without this flag, the thread would take the lock for
    /// each datagram.
    has_news: AtomicBool,
    is_over: AtomicBool,
    counters: Counters,
}

impl Reader {
    /// Starts to read `socket`, whose read time-out must be [`READ_TIMEOUT`]. `start` is the zero
    /// point of the gate's clock.
    pub(crate) fn start(
        socket: Arc<UdpSocket>,
        gate: Gate,
        start: Instant,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let run = move || theirs.run(&socket, gate, start);
        let thread = thread::Builder::new().name("kinepack-udp".into()).spawn(run)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Clears `inbox` and exchanges it for the inbox of the reader.
    pub(crate) fn take(&self, inbox: &mut Inbox) {
        inbox.clear();
        mem::swap(&mut *lock(&self.shared.inbox), inbox);
    }

    /// Sends news to the gate. The gate learns it before any datagram that arrives from now on.
    pub(crate) fn tell(&self, news: News) {
        lock(&self.shared.news).push(news);
        self.shared.has_news.store(true, Ordering::Release);
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.shared.counters
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // Waits for the thread, so that the port is free afterwards. A thread that panicked has
        // ended too.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Shared {
    fn run(&self, socket: &UdpSocket, mut gate: Gate, start: Instant) {
        let mut buffer = [0; BUFFER_BYTES];
        let (mut refused, mut is_flooded) = (0, false);
        let mut silence = Silence::default();
        while !self.is_over.load(Ordering::Relaxed) {
            let received = socket.recv_from(&mut buffer);
            let now_us = start.elapsed().as_micros() as u64;
            silence.lift(socket, now_us);
            match received {
                Ok((bytes, address)) => {
                    if let Some(refusal) = self.handle(&mut gate, address, &buffer[..bytes], now_us)
                    {
                        refused += 1;
                        if refusal == Refusal::Junk
                            && !gate.knows(address)
                            && silence.note_junk(socket, address, now_us)
                        {
                            count(&self.counters.silenced, 1);
                        }
                    }
                    if !is_flooded && refused >= FLOOD_BEGINS {
                        is_flooded = socket.set_nonblocking(true).is_ok();
                    }
                }
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {
                        if is_flooded && refused < FLOOD_ENDS {
                            is_flooded = socket.set_nonblocking(false).is_err();
                        }
                        if is_flooded {
                            thread::sleep(NAP);
                        }
                        refused = 0;
                    }
                    // Windows reports two errors here: a closed port that we sent to, and datagrams
                    // that are too long. The pause prevents a busy loop if an error is permanent.
                    _ => thread::sleep(Duration::from_micros(100)),
                },
            }
        }
    }

    /// Puts a datagram into the inbox, or returns the reason why not.
    fn handle(
        &self,
        gate: &mut Gate,
        address: SocketAddr,
        datagram: &[u8],
        now_us: u64,
    ) -> Option<Refusal> {
        count(&self.counters.datagrams, 1);
        count(&self.counters.bytes, datagram.len() as u64);
        // This load must be `Acquire`: if the server reported an address before it sent the packet,
        // the gate knows the address when the answer arrives.
        if self.has_news.load(Ordering::Acquire) {
            let mut news = lock(&self.news);
            self.has_news.store(false, Ordering::Relaxed);
            news.drain(..).for_each(|news| gate.learn(news, now_us));
        }
        match gate.admit(address, datagram, now_us) {
            Ok(header) => {
                if !lock(&self.inbox).push(address, header, datagram) {
                    count(&self.counters.overflowed, 1);
                }
                None
            }
            Err(refusal) => {
                let counter = match refusal {
                    Refusal::Junk => &self.counters.junk,
                    Refusal::Limited => &self.counters.limited,
                };
                count(counter, 1);
                Some(refusal)
            }
        }
    }
}

/// Only one thread writes to `counter`, so the addition need not be atomic.
fn count(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed) + by, Ordering::Relaxed);
}

/// The data under these locks is consistent after every statement, even after a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_inbox_drops() {
        let header = |datagram: &[u8]| Header::read(datagram).unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        let mut inbox = Inbox::default();
        let request = [0; super::super::screen::REQUEST_BYTES];
        let kept = (0..1000).filter(|_| inbox.push(address, header(&request), &request)).count();
        assert_eq!(kept, MAX_REQUESTS);
        let payload = [5; 40];
        let kept = (0..10_000).filter(|_| inbox.push(address, header(&payload), &payload)).count();
        assert_eq!(kept, MAX_DATAGRAMS - MAX_REQUESTS, "requests leave room for clients");
        inbox.clear();
        let long = [5; 1300];
        let kept = (0..10_000).filter(|_| inbox.push(address, header(&long), &long)).count();
        assert_eq!(kept, MAX_BYTES / 1300);
        let last = inbox.datagrams.last().unwrap();
        assert_eq!(last.range, (kept - 1) * 1300..kept * 1300);
    }
}
