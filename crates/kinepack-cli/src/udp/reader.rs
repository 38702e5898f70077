//! The thread that empties the server's socket: it asks the gate about each datagram and puts what
//! passes into the inbox, of which the ticking thread takes everything at once.
//!
//! It allocates nothing for a datagram, and takes a lock only for one that passes: under a flood of
//! junk the two threads hardly meet. What comes faster than this thread reads is dropped by the
//! system.
//!
//! To wake up for each datagram costs more than to read it, and would take its core from others.
//! While most of what comes is refused, the thread therefore sleeps for a moment and then reads
//! what has gathered. Who floods from one address is not read at all, see
//! [`silence`](super::silence).

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

/// The inbox's bounds, and so those of one poll: four datagrams of each of 1024 clients, and as
/// many new connections as cost about a millisecond.
const MAX_DATAGRAMS: usize = 4096;
const MAX_BYTES: usize = 2 << 20;
const MAX_REQUESTS: usize = 64;

/// How often the thread looks whether it is to end.
pub(super) const READ_TIMEOUT: Duration = Duration::from_millis(50);
/// How long the thread sleeps under a flood. The usual 208 KiB of buffer hold about 200 long
/// datagrams, so they overflow at 400,000 a second.
const NAP: Duration = Duration::from_micros(500);
/// A flood begins with so many refused datagrams without a silence between, and ends with a nap
/// that gathers few.
const FLOOD_BEGINS: usize = 64;
const FLOOD_ENDS: usize = 8;

/// Longer than any packet, so that a longer datagram doesn't look like one that was cut off.
const BUFFER_BYTES: usize = 2048;

/// Datagrams that passed the gate, in the order of their arrival. Its memory is used again and
/// again.
#[derive(Default)]
pub(super) struct Inbox {
    pub(super) bytes: Vec<u8>,
    pub(super) datagrams: Vec<Received>,
    requests: usize,
}

/// One datagram of the inbox.
#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) address: SocketAddr,
    pub(super) header: Header,
    /// Where it stands in [`Inbox::bytes`].
    pub(super) range: Range<usize>,
}

impl Inbox {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.datagrams.clear();
        self.requests = 0;
    }

    /// Keeps a datagram if there is room.
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

/// What the reader has counted.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) datagrams: AtomicU64,
    pub(super) bytes: AtomicU64,
    pub(super) junk: AtomicU64,
    pub(super) limited: AtomicU64,
    pub(super) overflowed: AtomicU64,
    pub(super) silenced: AtomicU64,
}

/// The running thread; it ends when this is dropped.
pub(super) struct Reader {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    inbox: Mutex<Inbox>,
    news: Mutex<Vec<News>>,
    /// Lets the thread look at the news without a lock.
    has_news: AtomicBool,
    is_over: AtomicBool,
    counters: Counters,
}

impl Reader {
    /// Starts to read `socket`, whose read time-out must be [`READ_TIMEOUT`]. `start` is the zero
    /// of the gate's clock.
    pub(super) fn start(
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

    /// Exchanges an empty inbox for what has arrived.
    pub(super) fn take(&self, inbox: &mut Inbox) {
        inbox.clear();
        mem::swap(&mut *lock(&self.shared.inbox), inbox);
    }

    /// Tells the gate, before any datagram that arrives from now on.
    pub(super) fn tell(&self, news: News) {
        lock(&self.shared.news).push(news);
        self.shared.has_news.store(true, Ordering::Release);
    }

    pub(super) fn counters(&self) -> &Counters {
        &self.shared.counters
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // Waits, so that the port is free afterwards. A thread that panicked has ended too.
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
                    // Windows reports here that an earlier datagram of ours found nobody, and
                    // datagrams that are too long. Should an error stay, this must not become a
                    // busy loop.
                    _ => thread::sleep(Duration::from_micros(100)),
                },
            }
        }
    }

    /// Puts a datagram into the inbox, or says why not.
    fn handle(
        &self,
        gate: &mut Gate,
        address: SocketAddr,
        datagram: &[u8],
        now_us: u64,
    ) -> Option<Refusal> {
        count(&self.counters.datagrams, 1);
        count(&self.counters.bytes, datagram.len() as u64);
        // Acquire: an address that was told before its packet was sent is known when the answer
        // arrives.
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

/// One thread writes, so no atomic addition is needed.
fn count(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed) + by, Ordering::Relaxed);
}

/// Everything behind these locks is whole between two statements, also after a panic.
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
