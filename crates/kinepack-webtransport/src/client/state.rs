//! The state of a session, and its counters.

use std::fmt;

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
        /// Why the session ended.
        reason: WebLostReason,
    },
}

/// Why a session ended, or never began.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WebLostReason {
    /// The session never began. A browser does not reveal to a page whether the server refused it.
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

/// Counters of a client. Bytes are the bytes of payloads, without the transport's headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebClientStats {
    /// The number of datagrams that the client received.
    pub datagrams_in: u64,
    /// The bytes of the received datagrams.
    pub bytes_in: u64,
    /// The number of datagrams that the client gave to the transport.
    pub datagrams_out: u64,
    /// The bytes of the datagrams given to the transport.
    pub bytes_out: u64,
    /// The number of datagrams that the client dropped because more than 1,024 datagrams, or 1 MiB,
    /// waited for a poll or for the transport.
    pub overflowed: u64,
    /// The number of datagrams that the transport did not accept, because they were too long for
    /// the path, or because too many waited there. A browser holds up to 64 unsent datagrams, and a
    /// native client 256 KiB.
    pub unsent: u64,
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
