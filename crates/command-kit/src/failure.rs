//! How a command fails.

/// Why a command failed: a text for people, and an exit code for scripts. Each command has its own
/// error type.
pub trait Failure: std::error::Error {
    /// 2 if the command cannot do what it was asked for, 1 if it failed while it worked. An output
    /// file that exists counts as the first, and so does a file that the system refuses. 130 if a
    /// signal ended it: see [`Interrupted`](crate::interrupt::Interrupted).
    fn exit_code(&self) -> u8 {
        2
    }
}
