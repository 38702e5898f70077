//! The interface of the errors with which commands fail.

/// The reason why a command failed: a message for the user, and an exit code for scripts. Each
/// command has its own error type.
pub trait Failure: std::error::Error {
    /// Returns the exit code. It is 2 if the command cannot do its task, for example because an
    /// output file exists or the system refuses a file. It is 1 if the command failed during its
    /// work, and 130 if a signal ended the command (see
    /// [`Interrupted`](crate::interrupt::Interrupted)).
    fn exit_code(&self) -> u8 {
        2
    }
}
