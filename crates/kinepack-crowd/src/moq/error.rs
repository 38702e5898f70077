//! Errors of connections to a relay.

use core::fmt;

/// The reason why a broadcast cannot be published or watched.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MoqError {
    /// The text is not the address of a broadcast.
    Address {
        /// The given text.
        text: String,
        /// What is wrong with the text.
        reason: &'static str,
    },
    /// No socket can be opened, or this system's certificates cannot be read.
    System(String),
    /// The relay cannot be reached, or refuses this client.
    Connect(String),
    /// The session with the relay has ended.
    Session(String),
    /// The relay does not have the broadcast, or the broadcast has another format.
    Broadcast(String),
}

impl fmt::Display for MoqError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { text, reason } => {
                write!(
                    f,
                    "{text:?} is not the address of a broadcast: {reason}. An address is like \
                     https://relay.example:4443/anon/cubes"
                )
            }
            Self::System(text) => f.write_str(text),
            Self::Connect(text) => write!(f, "the relay cannot be reached: {text}"),
            Self::Session(text) => write!(f, "the session with the relay has ended: {text}"),
            Self::Broadcast(text) => write!(f, "the broadcast cannot be read: {text}"),
        }
    }
}

impl std::error::Error for MoqError {}
