//! Work that the caller's threads distribute among themselves. The hub has no threads of its own.
//!
//! A stage of a tick has independent parts. Each thread takes the next part until no part remains,
//! so the caller need not know how many parts there are or how long each takes. The hub itself does
//! the parts that no thread took.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A stage of a tick that several threads can do together: see
/// [`Hub::tick_on`](crate::Hub::tick_on).
pub struct Work<'a> {
    parts: usize,
    /// The first part that no thread has taken yet.
    next: AtomicUsize,
    run_part: &'a (dyn Fn(usize) + Sync),
}

/// The caller's way to run [`Work`] on its threads.
pub(super) type Threads<'a> = &'a mut dyn FnMut(&Work<'_>);

impl Work<'_> {
    /// Does parts of the work until no part remains. Call this on as many threads as you like, at
    /// the same time or one after the other. If no part remains, it returns immediately.
    pub fn run(&self) {
        let take = || self.next.fetch_add(1, Ordering::Relaxed);
        let mut part = take();
        while part < self.parts {
            (self.run_part)(part);
            part = take();
        }
    }

    /// The number of parts, at least 2. More threads than this would have nothing to do.
    pub fn parts(&self) -> usize {
        self.parts
    }
}

impl fmt::Debug for Work<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Work").field("parts", &self.parts).finish_non_exhaustive()
    }
}

/// Runs every part once. The caller's threads take parts first, then this thread runs the remaining
/// parts.
pub(super) fn share(parts: usize, threads: Threads<'_>, run_part: &(dyn Fn(usize) + Sync)) {
    let work = Work { parts, next: AtomicUsize::new(0), run_part };
    threads(&work);
    work.run();
}
