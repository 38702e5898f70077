//! The connected clients, and the checks of visitors that want to become clients. The game's thread
//! and the connections' thread share this state.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use kinepack_udp::{Bucket, DisconnectReason, RateLimit, SendError, ServerEvent, Sources, source};
use wtransport::Connection;

use crate::datagrams;
use crate::handshakes::{Handshakes, Limits};
use crate::inbox::Inbox;
use crate::token::{Checker, Permit, unix_s};
use crate::{MAX_PAYLOAD_BYTES, Origins, WebOptions, WebStats};

/// The limit for handshakes from one address. It is enough for a page that reloads, or for a room
/// of players that share an address.
const KNOCKS_OF_ONE: RateLimit = RateLimit { per_second: 20, burst: 200 };
/// The limit for handshakes from all addresses together. A handshake takes about 1 ms of a core.
const KNOCKS_OF_ALL: RateLimit = RateLimit { per_second: 200, burst: 400 };
/// With this many simultaneous handshakes, an address must prove that it receives what is sent to
/// it.
pub(crate) const RETRY_ABOVE: usize = 32;
/// The maximum number of tokens that are remembered as used until they expire.
const MOST_USED: usize = 1 << 16;
/// The maximum number of datagrams that wait for a slow WebSocket.
const SOCKET_QUEUE: usize = 32;

/// The state that both threads share.
pub(crate) struct Clients {
    checker: Checker,
    pub(crate) options: WebOptions,
    pub(crate) limits: Limits,
    start: Instant,
    table: Mutex<Table>,
    inbox: Mutex<Inbox>,
    counters: Counters,
}

struct Table {
    present: HashMap<u64, Client>,
    handshakes: Handshakes,
    /// The used tokens and their expiry times, by client.
    used: HashMap<u64, u64>,
    sources: Sources,
    strangers: Bucket,
}

struct Client {
    way: Way,
    bucket: Bucket,
    /// The limit of pings and pongs. This limit is separate, because the server ends a connection
    /// that sends too many pings and pongs, but not a connection that sends too many datagrams.
    pings: Bucket,
}

/// The way by which datagrams reach a client.
#[derive(Clone)]
pub(crate) enum Way {
    /// The client gets datagrams of QUIC.
    Datagrams(Arc<Connection>),
    /// The client gets messages of a WebSocket. If the queue is full, a message is dropped, as a
    /// network would drop it.
    #[cfg_attr(not(feature = "websocket"), allow(dead_code))]
    Messages(tokio::sync::mpsc::Sender<Vec<u8>>),
}

#[derive(Debug, Default)]
struct Counters {
    datagrams_in: AtomicU64,
    bytes_in: AtomicU64,
    datagrams_out: AtomicU64,
    bytes_out: AtomicU64,
    refused: AtomicU64,
    limited: AtomicU64,
    overflowed: AtomicU64,
    unsent: AtomicU64,
    abandoned: AtomicU64,
}

/// Why a visitor was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The page has another origin, or the token is wrong, used or expired.
    Forbidden,
    /// The server does not have the requested path.
    NotThere,
    /// The server is full.
    Full,
}

/// A handshake that is counted until this is dropped.
pub(crate) struct Pending {
    clients: Arc<Clients>,
    source: IpAddr,
}

impl Drop for Pending {
    fn drop(&mut self) {
        lock(&self.clients.table).handshakes.end(self.source);
    }
}

/// A client that is connected until this is dropped.
pub(crate) struct Seat {
    clients: Arc<Clients>,
    pub(crate) client: u64,
    pub(crate) reason: DisconnectReason,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let was_there = lock(&self.clients.table).present.remove(&self.client).is_some();
        // If the client is not in the list, the game has already disconnected it.
        if was_there {
            let (client, reason) = (self.client, self.reason);
            let event = ServerEvent::Disconnected { client, reason };
            lock(&self.clients.inbox).events.push(event);
        }
    }
}

impl Clients {
    pub(crate) fn new(checker: Checker, options: WebOptions, limits: Limits) -> Arc<Self> {
        let table = Table {
            present: HashMap::new(),
            handshakes: Handshakes::new(limits.most),
            used: HashMap::new(),
            sources: Sources::default(),
            strangers: Bucket::default(),
        };
        let (table, inbox) = (Mutex::new(table), Mutex::default());
        let (start, counters) = (Instant::now(), Counters::default());
        Arc::new(Self { checker, options, limits, start, table, inbox, counters })
    }

    fn now_us(&self) -> u64 {
        self.start.elapsed().as_micros() as u64
    }

    /// Whether a visitor may begin a handshake. Also returns the current number of handshakes.
    pub(crate) fn knock(self: &Arc<Self>, from: IpAddr) -> Option<(Pending, usize)> {
        let (now_us, source) = (self.now_us(), source(from));
        let mut table = lock(&self.table);
        let is_within = table.sources.take(SocketAddr::new(source, 0), KNOCKS_OF_ONE, now_us)
            && table.handshakes.has_room(source)
            && table.strangers.take(KNOCKS_OF_ALL, now_us);
        if !is_within {
            drop(table);
            self.note_limited(1);
            return None;
        }
        table.handshakes.begin(source);
        let count = table.handshakes.count();
        Some((Pending { clients: Arc::clone(self), source }, count))
    }

    /// Counts visitors or datagrams that exceeded a limit.
    pub(crate) fn note_limited(&self, count: u64) {
        self.counters.limited.fetch_add(count, Ordering::Relaxed);
    }

    /// Counts a visitor that did not complete its handshake.
    pub(crate) fn note_abandoned(&self) {
        self.counters.abandoned.fetch_add(1, Ordering::Relaxed);
    }

    /// Checks whether a visitor may become a client. The checks concern the origin of its page, the
    /// host that it asked for, and the token in its path.
    pub(crate) fn admit(
        &self,
        origin: Option<&str>,
        host: &str,
        path: &str,
    ) -> Result<u64, Refusal> {
        let admitted = self.admitted(origin, host, path);
        if admitted.is_err() {
            self.counters.refused.fetch_add(1, Ordering::Relaxed);
        }
        admitted
    }

    fn admitted(&self, origin: Option<&str>, host: &str, path: &str) -> Result<u64, Refusal> {
        let (place, query) = path.split_once('?').unwrap_or((path, ""));
        if place != crate::PATH {
            return Err(Refusal::NotThere);
        }
        let is_allowed = |origin: &str| match &self.options.origins {
            Origins::These(list) => list.iter().any(|of| of.eq_ignore_ascii_case(origin)),
            Origins::SameHost => {
                let page = ["https://", "http://"].iter().find_map(|of| origin.strip_prefix(of));
                page.is_some_and(|page| page.eq_ignore_ascii_case(host))
            }
        };
        if !origin.is_some_and(is_allowed) {
            return Err(Refusal::Forbidden);
        }
        let token = query.split('&').find_map(|part| part.strip_prefix("token="));
        let permit = token.and_then(|token| self.checker.check(token)).ok_or(Refusal::Forbidden)?;
        let Permit { client, until_unix_s } = permit;
        let mut table = lock(&self.table);
        if table.used.contains_key(&client) || table.present.contains_key(&client) {
            return Err(Refusal::Forbidden);
        }
        if table.present.len() >= self.options.max_clients {
            return Err(Refusal::Full);
        }
        if table.used.len() >= MOST_USED {
            let now = unix_s();
            table.used.retain(|_, until| *until >= now);
        }
        // Only the owner of the secret can fill the list, because no one else can make tokens.
        if table.used.len() >= MOST_USED {
            return Err(Refusal::Full);
        }
        table.used.insert(client, until_unix_s);
        Ok(client)
    }

    /// Makes an admitted visitor a client. `None` if the server has become full in the meantime.
    pub(crate) fn seat(
        self: &Arc<Self>,
        client: u64,
        address: SocketAddr,
        way: Way,
    ) -> Option<Seat> {
        let mut table = lock(&self.table);
        if table.present.len() >= self.options.max_clients {
            self.counters.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        table
            .present
            .insert(client, Client { way, bucket: Bucket::default(), pings: Bucket::default() });
        drop(table);
        lock(&self.inbox).events.push(ServerEvent::Connected { client, address });
        let clients = Arc::clone(self);
        Some(Seat { clients, client, reason: DisconnectReason::Left })
    }

    /// Takes a client's datagram into the inbox. Returns false if the client is no longer
    /// connected.
    pub(crate) fn take(&self, client: u64, datagram: &[u8]) -> bool {
        let counters = &self.counters;
        counters.datagrams_in.fetch_add(1, Ordering::Relaxed);
        counters.bytes_in.fetch_add(datagram.len() as u64, Ordering::Relaxed);
        let is_within = self.is_within(client, |of| &mut of.bucket);
        let Some(is_within) = is_within else { return false };
        if !is_within || datagram.is_empty() || datagram.len() > MAX_PAYLOAD_BYTES {
            self.note_limited(1);
        } else if !lock(&self.inbox).push(client, datagram) {
            counters.overflowed.fetch_add(1, Ordering::Relaxed);
        }
        true
    }

    /// Counts a ping or a pong of a client on a WebSocket. The limit is that of datagrams. Returns
    /// false if the connection must end, because the client is no longer connected or sends too
    /// many pings. Dropping a ping would not help, because it was answered before this call.
    #[cfg_attr(not(feature = "websocket"), allow(dead_code))]
    pub(crate) fn take_ping(&self, client: u64) -> bool {
        let is_within = self.is_within(client, |of| &mut of.pings);
        if is_within == Some(false) {
            self.note_limited(1);
        }
        is_within == Some(true)
    }

    /// Counts a message of a client, and returns whether it is within the limit. `None` if the
    /// client is no longer connected.
    fn is_within(&self, client: u64, bucket: fn(&mut Client) -> &mut Bucket) -> Option<bool> {
        let now_us = self.now_us();
        let mut table = lock(&self.table);
        let of = table.present.get_mut(&client)?;
        Some(bucket(of).take(self.options.per_client, now_us))
    }

    /// Clears `inbox` and exchanges it for the inbox with the new events.
    pub(crate) fn swap(&self, inbox: &mut Inbox) {
        inbox.clear();
        std::mem::swap(&mut *lock(&self.inbox), inbox);
    }

    pub(crate) fn has(&self, client: u64) -> bool {
        lock(&self.table).present.contains_key(&client)
    }

    pub(crate) fn send(&self, client: u64, payload: &[u8]) -> Result<(), SendError> {
        match payload.len() {
            0 => return Err(SendError::Empty),
            1..=MAX_PAYLOAD_BYTES => {}
            bytes => return Err(SendError::TooLong { bytes }),
        }
        let way = lock(&self.table).present.get(&client).map(|client| client.way.clone());
        let sent = match way.ok_or(SendError::NotConnected)? {
            Way::Datagrams(connection) => datagrams::send(&connection, payload)
                .map_err(|datagrams::NotConnected| SendError::NotConnected)?,
            Way::Messages(queue) => queue.try_send(payload.to_vec()).is_ok(),
        };
        if sent {
            self.counters.datagrams_out.fetch_add(1, Ordering::Relaxed);
            self.counters.bytes_out.fetch_add(payload.len() as u64, Ordering::Relaxed);
        } else {
            self.counters.unsent.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Disconnects a client, without an event for the game.
    pub(crate) fn dismiss(&self, client: u64) {
        let gone = lock(&self.table).present.remove(&client);
        if let Some(Client { way: Way::Datagrams(connection), .. }) = gone {
            connection.close(0u32.into(), b"");
        }
    }

    /// Disconnects all clients.
    pub(crate) fn dismiss_all(&self) {
        let all: Vec<u64> = lock(&self.table).present.keys().copied().collect();
        all.into_iter().for_each(|client| self.dismiss(client));
    }

    pub(crate) fn stats(&self) -> WebStats {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &self.counters;
        WebStats {
            clients: lock(&self.table).present.len(),
            datagrams_in: of(&counters.datagrams_in),
            bytes_in: of(&counters.bytes_in),
            datagrams_out: of(&counters.datagrams_out),
            bytes_out: of(&counters.bytes_out),
            refused: of(&counters.refused),
            limited: of(&counters.limited),
            overflowed: of(&counters.overflowed),
            unsent: of(&counters.unsent),
            abandoned: of(&counters.abandoned),
        }
    }
}

#[cfg(test)]
impl Clients {
    /// The current number of handshakes.
    pub(crate) fn handshakes(&self) -> usize {
        lock(&self.table).handshakes.count()
    }
}

/// A queue for a client on a WebSocket.
#[cfg(feature = "websocket")]
pub(crate) fn socket_queue()
-> (tokio::sync::mpsc::Sender<Vec<u8>>, tokio::sync::mpsc::Receiver<Vec<u8>>) {
    tokio::sync::mpsc::channel(SOCKET_QUEUE)
}

/// Locks a mutex. A panic cannot leave the data inconsistent, so a poisoned lock is safe to use.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use kinepack_udp::Secret;

    use super::*;

    fn clients(options: WebOptions) -> Arc<Clients> {
        let secret = Secret::parse(&"5a".repeat(32)).expect("64 digits");
        Clients::new(Checker::new(&secret), options, Limits::default())
    }

    #[test]
    fn handshakes_in_a_row_are_limited_for_an_address() {
        let clients = clients(WebOptions::default());
        let one = IpAddr::from([10, 0, 0, 1]);
        let ended = (0..1_000).map_while(|_| clients.knock(one).map(drop)).count();
        assert!((200..=210).contains(&ended), "{ended} of one address");
        assert!(clients.stats().limited > 0);
    }

    #[test]
    fn handshakes_that_last_are_limited_for_each_address_and_for_all() {
        let clients = clients(WebOptions::default());
        let one = IpAddr::from([10, 0, 0, 1]);
        let mut held: Vec<_> = (0..1_000).map_while(|_| clients.knock(one)).collect();
        assert_eq!(held.len(), 51);
        // Other addresses can begin handshakes too, until there are too many in total.
        let others = (0..=255).map(|last| IpAddr::from([10, 0, 1, last]));
        held.extend(others.map_while(|address| clients.knock(address)));
        assert_eq!(held.len(), 256);
        assert!(held.last().is_some_and(|(_, pending)| *pending == 256));
        held.clear();
        assert!(
            clients.knock(IpAddr::from([10, 0, 2, 1])).is_some_and(|(_, pending)| pending == 1)
        );
        assert!(clients.stats().limited > 0);
    }

    #[tokio::test]
    async fn pings_of_a_web_socket_are_within_the_limit_of_a_client() {
        let per_client = RateLimit { per_second: 1, burst: 5 };
        let clients = clients(WebOptions { per_client, ..WebOptions::default() });
        let (queue, _outgoing) = tokio::sync::mpsc::channel(1);
        let address = SocketAddr::from(([10, 0, 0, 1], 1));
        let seat = clients.seat(7, address, Way::Messages(queue));
        // Datagrams above the limit are dropped, but do not use up the limit of pongs.
        assert!((0..9).all(|_| clients.take(7, b"input")));
        assert_eq!(clients.stats().limited, 4);
        assert_eq!((0..100).take_while(|_| clients.take_ping(7)).count(), 5);
        assert_eq!(clients.stats().limited, 5);
        drop(seat);
        assert!(!clients.take_ping(7), "it is gone");
        assert_eq!((clients.stats().limited, clients.stats().datagrams_in), (5, 9));
    }

    #[test]
    fn a_page_of_the_same_host_is_allowed_by_any_name_of_it() {
        let clients = clients(WebOptions::default());
        let permit = |client| Permit { client, until_unix_s: unix_s() + 60 };
        let admit = |client, origin: Option<&str>| {
            let path = format!("{}?token={}", crate::PATH, clients.checker.sign(permit(client)));
            clients.admit(origin, "play.example:4433", &path)
        };
        assert_eq!(admit(1, Some("https://play.example:4433")), Ok(1));
        assert_eq!(admit(2, Some("http://PLAY.example:4433")), Ok(2));
        for foreign in [None, Some("https://play.example"), Some("null"), Some("play.example:4433")]
        {
            assert_eq!(admit(3, foreign), Err(Refusal::Forbidden), "{foreign:?}");
        }
    }
}
