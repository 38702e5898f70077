//! The client's end: one session, native or in a browser, driven by polls.
//!
//! The session runs elsewhere: natively in a thread of its own, and in a browser as a task between
//! frames. Both do the same by [`link::drive`], and exchange datagrams with [`WebClient`] through a
//! [`Link`].

#[cfg(target_family = "wasm")]
mod browser;
mod link;
#[cfg(not(target_family = "wasm"))]
mod native;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

#[cfg(target_family = "wasm")]
use browser as side;
use link::{Link, Queue};
#[cfg(not(target_family = "wasm"))]
use native as side;

use crate::MAX_PAYLOAD_BYTES;

/// How a [`WebClient`] connects.
///
/// ```
/// use kinepack_webtransport::WebClientOptions;
///
/// let options = WebClientOptions { certificate_hash: Some([7; 32]), ..Default::default() };
/// assert_eq!(options.timeout.as_secs(), 5);
/// ```
#[derive(Clone, Debug)]
pub struct WebClientOptions {
    /// The SHA-256 hash of the server's certificate, if the server signs it itself. `None` for a
    /// certificate of a domain, which the system or the browser trusts.
    pub certificate_hash: Option<[u8; 32]>,
    /// The origin that a native client sends, such as `https://play.example`. The server must
    /// allow it. `None` for the server's own host and port. A browser ignores this, and sends its
    /// page's origin.
    pub origin: Option<String>,
    /// The attempt fails if there is no session after this time. A native client also counts the
    /// session as lost if the server is silent for longer than this. Browsers have a time-out of
    /// their own. The server's time-out applies too.
    pub timeout: Duration,
}

impl Default for WebClientOptions {
    /// A certificate that the system trusts, the server's own host as the origin, and 5 seconds.
    fn default() -> Self {
        Self { certificate_hash: None, origin: None, timeout: Duration::from_secs(5) }
    }
}

/// The state of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebClientState {
    /// The server has not accepted the client yet.
    Connecting,
    /// Both sides can send.
    Connected,
    /// The session has ended, or never began. It cannot be resumed: make a new client, with a new
    /// token.
    Lost {
        /// Why.
        reason: WebLostReason,
    },
}

/// Why a session ended, or never began.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WebLostReason {
    /// The session never began. Browsers do not tell a page whether the server refused it.
    NoSession {
        /// The server's address, without the token.
        server: String,
        /// The transport's reason.
        detail: String,
    },
    /// The server closed the session.
    Dropped,
    /// The connection broke, or the server fell silent.
    Broken {
        /// The transport's reason.
        detail: String,
    },
}

/// What a client has received and sent. Bytes are those of payloads, without the transport's
/// headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebClientStats {
    /// Datagrams received.
    pub datagrams_in: u64,
    /// Bytes of these datagrams.
    pub bytes_in: u64,
    /// Datagrams given to the transport.
    pub datagrams_out: u64,
    /// Bytes of these datagrams.
    pub bytes_out: u64,
    /// Datagrams dropped because more than 1,024 of them, or 1 MiB, waited for a poll or for the
    /// transport.
    pub overflowed: u64,
    /// Datagrams that the transport did not take, because they were too long for the path, or too
    /// many waited there. A browser holds up to 64 unsent datagrams, and a native client 256 KiB.
    pub unsent: u64,
}

/// Why a client cannot begin to connect.
#[derive(Debug)]
#[non_exhaustive]
pub enum WebClientError {
    /// The address is not one of `https`.
    Address {
        /// The address, without the token.
        server: String,
    },
    /// The system refuses the thread of the session.
    Thread(std::io::Error),
}

/// Why a datagram cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebSendError {
    /// It is empty.
    Empty,
    /// It is longer than [`MAX_PAYLOAD_BYTES`].
    TooLong {
        /// Its bytes.
        bytes: usize,
    },
    /// There is no session.
    NotConnected,
}

/// A session with a [`WebServer`](crate::WebServer), or an attempt at one. It has the same calls as
/// the client of `kinepack-udp`. It works the same natively and in a browser, where it needs a page
/// from `https` or `localhost`.
///
/// The web site of the game makes the address, which contains a token for one session.
///
/// ```
/// use std::time::Duration;
/// use kinepack_udp::{Secret, ServerEvent};
/// use kinepack_webtransport::{
///     Token, WebClient, WebClientOptions, WebClientState, WebOptions, WebServer,
/// };
///
/// let secret = Secret::parse("a passphrase of your own")?;
/// let mut server = WebServer::bind("127.0.0.1:0".parse()?, &secret, WebOptions::default())?;
/// let token = Token::new(&secret, 7, Duration::from_secs(60));
/// let url = format!("https://{}/kinepack?token={}", server.local_addr(), token.as_str());
/// let certificate_hash = Some(server.certificate_hash());
///
/// let options = WebClientOptions { certificate_hash, ..WebClientOptions::default() };
/// let mut client = WebClient::connect(&url, options)?;
/// let (mut heard, mut events) = (Vec::new(), Vec::new());
/// while heard.is_empty() {
///     client.poll(&mut |payload| println!("the server sent {payload:?}"));
///     match client.state() {
///         WebClientState::Connecting => {} // show a spinner
///         WebClientState::Connected => client.send(b"hello")?,
///         WebClientState::Lost { reason } => panic!("{reason}"), // a sentence for the user
///     }
///     server.poll(&mut events);
///     for event in events.drain(..) {
///         if let ServerEvent::Datagram { payload, .. } = event {
///             heard = server.payload(&payload).to_vec();
///         }
///     }
///     std::thread::sleep(Duration::from_millis(1));
/// }
/// assert_eq!(heard, b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WebClient {
    link: Arc<Link>,
    server: String,
    timeout: Duration,
    begin: side::Moment,
    /// As of the last poll.
    state: WebClientState,
    stats: WebClientStats,
    /// The datagrams of the last poll, kept to reuse their memory.
    taken: Queue,
}

impl WebClient {
    /// Begins to connect to an address such as `https://play.example:4433/kinepack?token=…`.
    /// [`state`](Self::state) shows the progress after each [`poll`](Self::poll).
    ///
    /// # Errors
    /// [`WebClientError`] for an address that is not of `https`, and natively if the system refuses
    /// a thread. Everything else is a [`WebLostReason`].
    pub fn connect(url: &str, options: WebClientOptions) -> Result<Self, WebClientError> {
        // For a minute, the token is as good as a password, so no message contains it.
        let server = url.split('?').next().unwrap_or_default().to_owned();
        if !url.starts_with("https://") {
            return Err(WebClientError::Address { server });
        }
        let (timeout, link) = (options.timeout, Arc::new(Link::new(&server)));
        side::start(Arc::clone(&link), url.to_owned(), options).map_err(WebClientError::Thread)?;
        Ok(Self {
            link,
            server,
            timeout,
            begin: side::Moment::now(),
            state: WebClientState::Connecting,
            stats: WebClientStats::default(),
            taken: Queue::default(),
        })
    }

    /// The state of the session, as of the last poll.
    pub fn state(&self) -> &WebClientState {
        &self.state
    }

    /// What this client has received and sent, as of the last poll.
    pub fn stats(&self) -> WebClientStats {
        self.stats
    }

    /// Passes each datagram that has arrived to `on_datagram`. Never blocks. It allocates only if
    /// more datagrams have arrived than ever before.
    pub fn poll(&mut self, on_datagram: &mut dyn FnMut(&[u8])) {
        if matches!(self.state, WebClientState::Lost { .. }) {
            return;
        }
        if self.state == WebClientState::Connecting && self.begin.elapsed() >= self.timeout {
            let detail = format!("no answer within {:?}", self.timeout);
            self.link.lose(WebLostReason::NoSession { server: self.server.clone(), detail });
        }
        self.link.take(&mut self.taken, &mut self.state, &mut self.stats);
        self.taken.drain(on_datagram);
    }

    /// Sends a datagram once. The network may lose it.
    ///
    /// # Errors
    /// [`WebSendError`] if it is empty or too long, or there was no session at the last poll.
    pub fn send(&mut self, payload: &[u8]) -> Result<(), WebSendError> {
        match payload.len() {
            0 => return Err(WebSendError::Empty),
            1..=MAX_PAYLOAD_BYTES => {}
            bytes => return Err(WebSendError::TooLong { bytes }),
        }
        if self.state != WebClientState::Connected {
            return Err(WebSendError::NotConnected);
        }
        self.link.send(payload);
        Ok(())
    }
}

/// Ends the session, and notifies the server in the background.
impl Drop for WebClient {
    fn drop(&mut self) {
        self.link.lose(WebLostReason::Dropped);
    }
}

impl fmt::Display for WebLostReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSession { server, detail } => write!(
                f,
                "no session with {server}: {detail}. Either no server runs there, or the \
                 certificate's hash is wrong, or the server refused: the token is wrong, used or \
                 too old, or the origin is not in its list, or it is full"
            ),
            Self::Dropped => f.write_str("the server closed the session"),
            Self::Broken { detail } => write!(f, "the connection broke: {detail}"),
        }
    }
}

impl fmt::Display for WebClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { server } => {
                write!(f, "`{server}` is no address for WebTransport: it begins with `https://`")
            }
            Self::Thread(error) => write!(f, "the thread of the WebTransport session: {error}"),
        }
    }
}

impl std::error::Error for WebClientError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Thread(error) => Some(error),
            Self::Address { .. } => None,
        }
    }
}

impl fmt::Display for WebSendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("an empty datagram cannot be sent"),
            Self::TooLong { bytes } => write!(
                f,
                "a datagram of {bytes} bytes is too long; the limit is {MAX_PAYLOAD_BYTES}"
            ),
            Self::NotConnected => f.write_str("there is no session"),
        }
    }
}

impl std::error::Error for WebSendError {}
