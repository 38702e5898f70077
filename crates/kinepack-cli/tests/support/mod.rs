//! What the tests share.

pub(crate) mod drone;
#[cfg(unix)]
pub(crate) mod figure;
pub(crate) mod program;
#[cfg(unix)]
pub(crate) mod replay;
#[cfg(unix)]
pub(crate) mod running;
