//! Why a connection cannot be set up, and why a payload was not sent.

use std::net::SocketAddr;
use std::{fmt, io};

use crate::{MAX_PAYLOAD_BYTES, ServerOptions};

/// Why a server cannot be bound or a client cannot begin to connect.
#[derive(Debug)]
#[non_exhaustive]
pub enum SetupError {
    /// The system refuses the socket.
    Socket {
        /// The address of the socket.
        address: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// [`ServerOptions::max_clients`] is 0 or above [`ServerOptions::MAX_CLIENTS`].
    MaxClients {
        /// The number in the options.
        given: usize,
    },
    /// `renetcode` cannot prepare the connection.
    Connection {
        /// The message of `renetcode`.
        reason: String,
    },
}

/// Why a payload was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// The payload is longer than [`MAX_PAYLOAD_BYTES`].
    TooLong {
        /// The payload's length.
        bytes: usize,
    },
    /// The payload is empty. Only the two ends themselves send empty payloads.
    Empty,
    /// The client is not connected, or no longer connected.
    NotConnected,
}

impl SendError {
    pub(crate) fn check(payload: &[u8]) -> Result<(), Self> {
        match payload.len() {
            0 => Err(Self::Empty),
            1..=MAX_PAYLOAD_BYTES => Ok(()),
            bytes => Err(Self::TooLong { bytes }),
        }
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket { address, error } => write!(f, "UDP {address}: {error}"),
            Self::MaxClients { given } => {
                write!(f, "{given} clients; a server takes 1 to {}", ServerOptions::MAX_CLIENTS)
            }
            Self::Connection { reason } => write!(f, "cannot prepare the connection: {reason}"),
        }
    }
}

impl std::error::Error for SetupError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Socket { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes } => write!(
                f,
                "the payload has {bytes} bytes; a datagram carries at most {MAX_PAYLOAD_BYTES}"
            ),
            Self::Empty => f.write_str("the payload is empty"),
            Self::NotConnected => f.write_str("not connected"),
        }
    }
}

impl std::error::Error for SendError {}
