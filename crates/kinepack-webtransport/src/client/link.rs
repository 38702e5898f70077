//! The state that a client and the driver of its session share.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::{WebClientState, WebClientStats, WebLostReason};

const MOST_DATAGRAMS: usize = 1_024;
const MOST_BYTES: usize = 1 << 20;

/// A bounded queue of datagrams. A datagram that does not fit is dropped, as a network would drop
/// it.
#[derive(Debug, Default)]
pub(super) struct Queue {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Queue {
    /// Adds a datagram. Returns false if there is no room.
    fn push(&mut self, datagram: &[u8]) -> bool {
        let has_room =
            self.ends.len() < MOST_DATAGRAMS && self.bytes.len() + datagram.len() <= MOST_BYTES;
        if has_room {
            self.bytes.extend_from_slice(datagram);
            self.ends.push(self.bytes.len());
        }
        has_room
    }

    /// Passes on all datagrams and empties the queue, but keeps its memory.
    pub(super) fn drain(&mut self, mut take: impl FnMut(&[u8])) {
        let mut first = 0;
        for end in self.ends.drain(..) {
            take(self.bytes.get(first..end).unwrap_or_default());
            first = end;
        }
        self.bytes.clear();
    }
}

/// The state of a session, and the datagrams that wait in both directions.
pub(super) struct Link {
    /// The server's address, for messages.
    server: String,
    shared: Mutex<Shared>,
}

struct Shared {
    state: WebClientState,
    incoming: Queue,
    outgoing: Queue,
    stats: WebClientStats,
    /// Wakes the driver.
    waker: Option<Waker>,
}

/// A session that is open until it is dropped.
pub(super) trait Session {
    /// The next datagram.
    async fn receive(&self) -> Result<Vec<u8>, WebLostReason>;

    /// Sends a datagram. Returns false if the transport does not take it.
    fn send(&self, datagram: &[u8]) -> bool;
}

impl Link {
    pub(super) fn new(server: &str) -> Self {
        let shared = Shared {
            state: WebClientState::Connecting,
            incoming: Queue::default(),
            outgoing: Queue::default(),
            stats: WebClientStats::default(),
            waker: None,
        };
        Self { server: server.to_owned(), shared: Mutex::new(shared) }
    }

    /// Locks the shared state. A panic cannot leave it inconsistent, so a poisoned lock is safe to
    /// use.
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Exchanges an empty queue for the datagrams that have arrived. Only the client calls this.
    pub(super) fn take(
        &self,
        taken: &mut Queue,
        state: &mut WebClientState,
        stats: &mut WebClientStats,
    ) {
        let mut shared = self.lock();
        std::mem::swap(&mut shared.incoming, taken);
        if shared.state != *state {
            *state = shared.state.clone();
        }
        *stats = shared.stats;
    }

    /// Puts a datagram into the driver's queue. Only the client calls this.
    pub(super) fn send(&self, datagram: &[u8]) {
        let mut shared = self.lock();
        if !shared.outgoing.push(datagram) {
            shared.stats.overflowed += 1;
        }
        let waker = shared.waker.take();
        drop(shared);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Ends the session. If the session has already ended, the first reason remains.
    pub(super) fn lose(&self, reason: WebLostReason) {
        let mut shared = self.lock();
        if !matches!(shared.state, WebClientState::Lost { .. }) {
            shared.state = WebClientState::Lost { reason };
        }
        let waker = shared.waker.take();
        drop(shared);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Like [`lose`](Self::lose), but for an attempt that never became a session.
    pub(super) fn fail(&self, detail: String) {
        self.lose(WebLostReason::NoSession { server: self.server.clone(), detail });
    }

    /// Stores the driver's waker, and passes the waiting datagrams to `send`. Only the driver calls
    /// this. Returns false if the client has ended the session.
    fn step(&self, waker: &Waker, mut send: impl FnMut(&[u8]) -> bool) -> bool {
        let mut shared = self.lock();
        let Shared { state, outgoing, stats, waker: of_driver, .. } = &mut *shared;
        if matches!(state, WebClientState::Lost { .. }) {
            return false;
        }
        *of_driver = Some(waker.clone());
        outgoing.drain(|datagram| {
            if send(datagram) {
                stats.datagrams_out += 1;
                stats.bytes_out += datagram.len() as u64;
            } else {
                stats.unsent += 1;
            }
        });
        true
    }

    fn open(&self) {
        let mut shared = self.lock();
        if shared.state == WebClientState::Connecting {
            shared.state = WebClientState::Connected;
        }
    }

    fn arrived(&self, datagram: &[u8]) {
        let mut shared = self.lock();
        let Shared { incoming, stats, .. } = &mut *shared;
        stats.datagrams_in += 1;
        stats.bytes_in += datagram.len() as u64;
        if !incoming.push(datagram) {
            stats.overflowed += 1;
        }
    }
}

/// Opens a session, and moves datagrams until the session ends.
pub(super) async fn drive<S: Session>(
    link: &Link,
    connect: impl Future<Output = Result<S, String>>,
) {
    let session = {
        let mut connect = pin!(connect);
        poll_fn(|context| {
            if !link.step(context.waker(), |_| false) {
                return Poll::Ready(None);
            }
            connect.as_mut().poll(context).map(Some)
        })
        .await
    };
    let session = match session {
        None => return,
        Some(Err(detail)) => return link.fail(detail),
        Some(Ok(session)) => session,
    };
    link.open();
    loop {
        let mut receive = pin!(session.receive());
        let received = poll_fn(|context| {
            if !link.step(context.waker(), |datagram| session.send(datagram)) {
                return Poll::Ready(None);
            }
            receive.as_mut().poll(context).map(Some)
        })
        .await;
        match received {
            None => return,
            Some(Ok(datagram)) => link.arrived(&datagram),
            Some(Err(reason)) => return link.lose(reason),
        }
    }
}
