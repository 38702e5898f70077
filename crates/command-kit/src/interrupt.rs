//! Handles Ctrl-C and the other signals that end a program. A command that listens stops at the
//! next sensible point and reports what it has done. A second signal ends the command at once. A
//! command that does not listen ends at the first signal. Unfinished files are deleted before the
//! program ends.
//!
//! A process has only one signal handler, so the handler's data is static.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::{Failure, counted};

/// The exit code of a command that a signal ended. Shells report this code for SIGINT.
const INTERRUPTED: u8 = 130;

/// The flag of the command that listens. It is not set if no command listens.
static LISTENER: OnceLock<Interrupt> = OnceLock::new();
/// Files to delete if a signal ends the program.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Whether a signal has asked the program to end. All clones share one flag.
#[derive(Clone)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Begins to listen for signals. The command must check [`is_raised`](Self::is_raised) often.
    pub fn listen() -> Result<Self, ctrlc::Error> {
        handle_signals()?;
        Ok(LISTENER.get_or_init(Self::unheard).clone())
    }

    /// Makes a flag that no signal ever raises.
    pub fn unheard() -> Self {
        Self(Arc::new(AtomicBool::new(false)))
    }

    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Raises the flag, as if Ctrl-C had been pressed.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The error of a command that stopped before the end of its work because of a signal. The command
/// has reported what it had done by then.
#[derive(Debug, thiserror::Error)]
#[error("interrupted {how_far}")]
pub struct Interrupted {
    how_far: String,
}

impl Interrupted {
    /// `how_far` completes the message "interrupted", for example with "after 12 of 60 frames;
    /// ...".
    pub fn new(how_far: impl Into<String>) -> Self {
        Self { how_far: how_far.into() }
    }

    /// Returns the interruption of a loop over frames, whose number may be unknown. `then`
    /// describes the result so far.
    pub fn after_frames(done: u64, all: Option<u64>, then: &str) -> Self {
        Self::after("frame", done, all, then)
    }

    /// Works like [`after_frames`](Self::after_frames), but for a loop over other things, such as
    /// moves. `noun` names them.
    pub fn after(noun: &str, done: u64, all: Option<u64>, then: &str) -> Self {
        let things = match all {
            Some(all) => format!("{done} of {}", counted(all, noun)),
            None => counted(done, noun),
        };
        Self::new(format!("after {things}; {then}"))
    }
}

impl Failure for Interrupted {
    fn exit_code(&self) -> u8 {
        INTERRUPTED
    }
}

/// Locks the list of files that a signal deletes. While a caller holds this lock, no signal ends
/// the program.
pub fn unfinished() -> Result<MutexGuard<'static, BTreeSet<PathBuf>>, ctrlc::Error> {
    handle_signals()?;
    Ok(lock_unfinished())
}

fn lock_unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn handle_signals() -> Result<(), ctrlc::Error> {
    static IS_HANDLED: Mutex<bool> = Mutex::new(false);
    let mut is_handled = IS_HANDLED.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_handled {
        ctrlc::set_handler(on_signal)?;
        *is_handled = true;
    }
    Ok(())
}

fn on_signal() {
    if let Some(listener) = LISTENER.get()
        && !listener.0.swap(true, Ordering::Relaxed)
    {
        return;
    }
    let unfinished = lock_unfinished();
    for file in unfinished.iter() {
        // The program ends now, so it cannot report a file that stays.
        let _ = fs::remove_file(file);
    }
    std::process::exit(INTERRUPTED.into());
}
