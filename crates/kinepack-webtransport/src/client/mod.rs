//! The client's end, which is one session, native or in a browser, driven by polls.
//!
//! The session runs in a thread of its own, or in a browser as a task between frames. Both run
//! [`link::drive`], and exchange datagrams with [`WebClient`] through a [`Link`].

#[cfg(target_family = "wasm")]
mod browser;
mod link;
#[cfg(not(target_family = "wasm"))]
mod native;
mod options;
mod state;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

#[cfg(target_family = "wasm")]
use browser as side;
use link::{Link, Queue};
#[cfg(not(target_family = "wasm"))]
use native as side;
pub use options::WebClientOptions;
pub use state::{WebClientState, WebClientStats, WebLostReason};

use crate::MAX_PAYLOAD_BYTES;

/// Why a client cannot begin to connect.
#[derive(Debug)]
#[non_exhaustive]
pub enum WebClientError {
    /// The address does not begin with `https`.
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
    /// The datagram is empty.
    Empty,
    /// The datagram is longer than [`MAX_PAYLOAD_BYTES`].
    TooLong {
        /// The datagram's length in bytes.
        bytes: usize,
    },
    /// There is no session.
    NotConnected,
}

/// A session with a [`WebServer`](crate::WebServer), or an attempt to begin one. It has the same
/// calls as the client of `kinepack-udp`. It works the same natively and in a browser, where it
/// needs a page from `https` or `localhost`.
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
    /// The state as of the last poll.
    state: WebClientState,
    stats: WebClientStats,
    /// The datagrams of the last poll, kept to reuse their memory.
    taken: Queue,
}

impl WebClient {
    /// Begins to connect to an address such as `https://play.example:4433/kinepack?token=…`.
    /// [`state`](Self::state) shows the progress after each [`poll`](Self::poll).
    ///
    /// [`WebClientError`] if the address is not of `https`, and on native systems if the system
    /// refuses a thread. All other failures are a [`WebLostReason`].
    pub fn connect(url: &str, options: WebClientOptions) -> Result<Self, WebClientError> {
        // For a minute, the token is as good as a password, so messages do not contain it.
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

    /// The counters of this client, as of the last poll.
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

    /// Sends `payload` as a datagram once. The network may lose the datagram.
    ///
    /// # Errors
    /// Returns [`WebSendError`] if `payload` is empty or too long, or if there was no session at
    /// the last poll.
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
