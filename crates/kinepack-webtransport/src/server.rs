//! The server as a game uses it, with the same calls and events as [`kinepack_udp::UdpServer`].

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fmt, io, thread};

use kinepack_udp::{Secret, SendError, ServerEvent, open_socket, receive_buffer_bytes};
use tokio::sync::oneshot;
use wtransport::Identity;

use crate::clients::{Clients, lock};
use crate::handshakes::Limits;
use crate::inbox::Inbox;
use crate::sessions::{Listener, config};
use crate::token::Checker;
use crate::{Certificate, WebOptions, WebStats};

/// Browsers accept a certificate by its hash only if it is valid for at most 14 days.
const RENEW_AFTER: Duration = Duration::from_secs(7 * 24 * 3600);

/// The shortest and the longest time-out. The longest one is what timers can handle.
const TIMEOUTS: [Duration; 2] = [Duration::from_millis(1), Duration::from_secs(365 * 24 * 3600)];
/// The size of the socket's buffers, equal to that of the server over UDP: a tenth of a second of
/// datagrams from 1,024 clients.
const BUFFER_BYTES: usize = 4 << 20;

/// Why a server cannot be bound.
#[derive(Debug)]
#[non_exhaustive]
pub enum WebSetupError {
    /// The system refuses the socket or the thread.
    Socket {
        /// The server's address.
        address: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// The certificate or its key cannot be read.
    Certificate {
        /// The reason.
        reason: String,
    },
    /// [`WebOptions::max_clients`] is 0.
    NoClients,
}

/// Serves clients in browsers. The crate's documentation has an example.
pub struct WebServer {
    clients: Arc<Clients>,
    address: SocketAddr,
    hash: Arc<Mutex<[u8; 32]>>,
    buffer_bytes: usize,
    inbox: Inbox,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl WebServer {
    /// Listens at a UDP address. Port 0 takes any free port.
    ///
    /// # Errors
    /// Returns [`WebSetupError`] if the address or the certificate cannot be used.
    pub fn bind(
        address: SocketAddr,
        secret: &Secret,
        options: WebOptions,
    ) -> Result<Self, WebSetupError> {
        Self::bind_within(address, secret, options, Limits::default())
    }

    /// Like [`bind`](Self::bind), but with other limits for handshakes.
    pub(crate) fn bind_within(
        address: SocketAddr,
        secret: &Secret,
        mut options: WebOptions,
        limits: Limits,
    ) -> Result<Self, WebSetupError> {
        if options.max_clients == 0 {
            return Err(WebSetupError::NoClients);
        }
        let failed = move |error| WebSetupError::Socket { address, error };
        let certificate = options.certificate.clone();
        options.timeout = options.timeout.clamp(TIMEOUTS[0], TIMEOUTS[1]);
        let timeout = options.timeout;
        let clients = Clients::new(Checker::new(secret), options, limits);
        let hash = Arc::new(Mutex::new([0; 32]));
        let (end, ended) = oneshot::channel();
        let (of_thread, of_hash) = (Arc::clone(&clients), Arc::clone(&hash));
        // All of this happens in the thread, because the caller may be within a runtime, in which
        // nothing may block.
        let (ready, when_ready) = mpsc::sync_channel(1);
        let serve = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = match runtime.map_err(failed) {
                Ok(runtime) => runtime,
                Err(error) => return drop(ready.send(Err(error))),
            };
            runtime.block_on(async {
                let open = async {
                    let identity = identity(&certificate, address).await?;
                    *lock(&of_hash) = hash_of(&identity);
                    let socket = open_socket(address, BUFFER_BYTES).map_err(failed)?;
                    let buffer_bytes = receive_buffer_bytes(&socket);
                    let config = config(address, identity, timeout);
                    let listener = Listener::new(socket, config).map_err(failed)?;
                    let bound = listener.local_addr().map_err(failed)?;
                    Ok((listener, bound, buffer_bytes))
                };
                let (listener, bound, buffer_bytes) = match open.await {
                    Ok(open) => open,
                    Err(error) => return drop(ready.send(Err(error))),
                };
                if ready.send(Ok((bound, buffer_bytes))).is_err() {
                    return;
                }
                let accepting = listener.accept(&of_thread, ended);
                match certificate {
                    Certificate::SelfSigned => tokio::select! {
                        () = accepting => {}
                        () = renew(&listener, &of_hash, bound, timeout) => {}
                    },
                    Certificate::Files { .. } => accepting.await,
                }
            });
        };
        let thread =
            thread::Builder::new().name("webtransport".into()).spawn(serve).map_err(failed)?;
        let stopped = || failed(io::Error::other("the thread of the connections has stopped"));
        let (address, buffer_bytes) = when_ready.recv().map_err(|_| stopped())??;
        let (end, thread, inbox) = (Some(end), Some(thread), Inbox::default());
        Ok(Self { clients, address, hash, buffer_bytes, inbox, end, thread })
    }

    /// The UDP address at which the server listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// The SHA-256 hash of the certificate, for `serverCertificateHashes` of a page. Read it again
    /// for each page, because a certificate that the server signs itself changes every week.
    pub fn certificate_hash(&self) -> [u8; 32] {
        *lock(&self.hash)
    }

    /// The bytes that the system keeps for datagrams that wait to be read, as the system counts
    /// them. A server of 1,000 players should have 8 MiB. The chapter *Show your server's world in
    /// a browser* of the book explains how to set this.
    pub fn receive_buffer_bytes(&self) -> usize {
        self.buffer_bytes
    }

    /// A handle for web servers in other threads, with the hash and the routes.
    pub fn door(&self) -> WebDoor {
        WebDoor { clients: Arc::clone(&self.clients), hash: Arc::clone(&self.hash) }
    }

    /// Appends what has happened since the last call to `events`, in order. The payloads are valid
    /// until the next call.
    pub fn poll(&mut self, events: &mut Vec<ServerEvent>) {
        self.clients.swap(&mut self.inbox);
        events.append(&mut self.inbox.events);
    }

    /// The bytes of a datagram from the last [`poll`](Self::poll).
    pub fn payload(&self, range: &Range<usize>) -> &[u8] {
        self.inbox.bytes.get(range.clone()).unwrap_or_default()
    }

    /// Whether a client is connected.
    pub fn has(&self, client: u64) -> bool {
        self.clients.has(client)
    }

    /// Sends a datagram. The network may lose it. If the client is too slow, the server drops the
    /// datagram, and counts it in [`WebStats::unsent`].
    ///
    /// # Errors
    /// Returns [`SendError`] for an empty payload, for a payload above
    /// [`MAX_PAYLOAD_BYTES`](crate::MAX_PAYLOAD_BYTES), and for a client that is not connected.
    pub fn send(&mut self, client: u64, payload: &[u8]) -> Result<(), SendError> {
        self.clients.send(client, payload)
    }

    /// Disconnects a client, without an event.
    pub fn disconnect(&mut self, client: u64) {
        self.clients.dismiss(client);
    }

    /// The server's counters.
    pub fn stats(&self) -> WebStats {
        self.clients.stats()
    }
}

#[cfg(test)]
impl WebServer {
    /// The current number of handshakes.
    pub(crate) fn handshakes(&self) -> usize {
        self.clients.handshakes()
    }
}

impl Drop for WebServer {
    /// Disconnects all clients and ends the thread.
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            let _ = end.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A handle for web servers in other threads, with the certificate's hash for pages and the routes
/// of WebSockets.
#[derive(Clone)]
pub struct WebDoor {
    #[cfg_attr(not(feature = "websocket"), allow(dead_code))]
    clients: Arc<Clients>,
    hash: Arc<Mutex<[u8; 32]>>,
}

impl WebDoor {
    /// The hash that [`WebServer::certificate_hash`] returns.
    pub fn certificate_hash(&self) -> [u8; 32] {
        *lock(&self.hash)
    }

    /// The route [`PATH`](crate::PATH) for WebSockets. Serve it with the addresses of visitors
    /// (`into_make_service_with_connect_info`), so that each visitor has its own limit. Behind a
    /// proxy, all visitors have the proxy's address. Together they may begin 200 connections at
    /// once, and then 20 a second.
    #[cfg(feature = "websocket")]
    pub fn routes(&self) -> axum::Router {
        crate::sockets::routes(Arc::clone(&self.clients))
    }
}

async fn identity(
    certificate: &Certificate,
    address: SocketAddr,
) -> Result<Identity, WebSetupError> {
    let failed = |reason| WebSetupError::Certificate { reason };
    match certificate {
        Certificate::SelfSigned => self_signed(address).map_err(failed),
        Certificate::Files { chain, key } => Identity::load_pemfiles(chain, key)
            .await
            .map_err(|error| failed(format!("{}, {}: {error}", chain.display(), key.display()))),
    }
}

fn self_signed(address: SocketAddr) -> Result<Identity, String> {
    let names =
        ["localhost".to_owned(), "127.0.0.1".into(), "::1".into(), address.ip().to_string()];
    Identity::self_signed(names).map_err(|error| error.to_string())
}

fn hash_of(identity: &Identity) -> [u8; 32] {
    let first = identity.certificate_chain().as_slice().first();
    first.map_or([0; 32], |certificate| *certificate.hash().as_ref())
}

/// Makes new certificates, each well before the previous one expires.
async fn renew(
    listener: &Listener,
    hash: &Mutex<[u8; 32]>,
    address: SocketAddr,
    timeout: Duration,
) {
    loop {
        tokio::time::sleep(RENEW_AFTER).await;
        let Ok(identity) = self_signed(address) else { continue };
        let new = hash_of(&identity);
        listener.reload(config(address, identity, timeout));
        *lock(hash) = new;
    }
}

impl fmt::Display for WebSetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket { address, error } => write!(f, "WebTransport at UDP {address}: {error}"),
            Self::Certificate { reason } => write!(f, "the certificate cannot be used: {reason}"),
            Self::NoClients => f.write_str("0 clients; a server takes at least 1"),
        }
    }
}

impl std::error::Error for WebSetupError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Socket { error, .. } => Some(error),
            _ => None,
        }
    }
}
