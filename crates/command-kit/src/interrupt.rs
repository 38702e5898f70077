//! Ctrl-C, and the other signals that end a program. A loop that listens ends as it would anyway.
//! Any other command ends at once, and the files that it has not finished are deleted first.
//!
//! A process has one handler of signals, so what the handler knows is static.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The exit code of a command that a signal ended: as a shell reports SIGINT.
const INTERRUPTED: i32 = 130;

/// The wish of the loop that listens, if one does.
static WISH: OnceLock<Interrupt> = OnceLock::new();
/// Files that no longer make sense once this program has ended.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Whether somebody wants this program to end. Clones are of one wish.
#[derive(Clone)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on. Once in a process.
    pub fn listen() -> Result<Self, ctrlc::Error> {
        handle_signals()?;
        let own = Self(Arc::new(AtomicBool::new(false)));
        Ok(WISH.get_or_init(|| own).clone())
    }

    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// As if Ctrl-C had been pressed.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The files that a signal deletes. While this lock is held, no signal ends the program.
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
    if let Some(wish) = WISH.get() {
        return wish.raise();
    }
    let unfinished = lock_unfinished();
    for file in unfinished.iter() {
        // Nobody is left to be told of a file that stays.
        let _ = fs::remove_file(file);
    }
    std::process::exit(INTERRUPTED);
}
