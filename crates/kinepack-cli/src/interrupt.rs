//! Ctrl-C and what the system sends to end a program: said to the loop that runs, which then ends as it would anyway.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

/// Whether somebody wants this program to end. Clones are of one wish.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on. Once in a process.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let flag = Arc::new(AtomicBool::new(false));
        let raised = Arc::clone(&flag);
        ctrlc::set_handler(move || raised.store(true, Ordering::Relaxed)).map_err(Failure::Signals)?;
        Ok(Self(flag))
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// As if Ctrl-C had been pressed.
    pub(crate) fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
