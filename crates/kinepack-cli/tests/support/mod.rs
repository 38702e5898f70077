//! Helpers that these tests share with the tests of the lab's program.

pub(crate) mod drone;
pub(crate) mod program;
#[cfg(unix)]
pub(crate) mod running;
