//! What can go wrong. None of it can be caused by what arrives.

use kinepack::{DecodeError, EncodeError, SetupError};
use kinepack_net::{InputClockError, LinkError, NetError, PredictError, StreamError};

/// Why the game cannot go on.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each is the error of a part")]
pub enum ArenaError {
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Net(#[from] NetError),
    #[error(transparent)]
    Stream(#[from] StreamError),
    #[error(transparent)]
    Clock(#[from] InputClockError),
    #[error(transparent)]
    Predict(#[from] PredictError),
    #[error(transparent)]
    Encode(#[from] EncodeError),
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error(transparent)]
    Link(#[from] LinkError),
}
