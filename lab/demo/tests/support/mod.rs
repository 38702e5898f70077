//! Helpers that the tests share.

#[cfg(unix)]
pub(crate) mod figure;
#[cfg(unix)]
pub(crate) mod pages;
#[path = "../../../../crates/kinepack-cli/tests/support/program.rs"]
pub(crate) mod program;
pub(crate) mod recorded;
#[cfg(unix)]
pub(crate) mod replay;
#[cfg(unix)]
#[path = "../../../../crates/kinepack-cli/tests/support/running.rs"]
pub(crate) mod running;
