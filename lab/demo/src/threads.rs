//! The hub's work of encoding, divided among threads.

use kinepack_net::Work;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// The threads that help the calling thread.
pub struct Threads {
    helpers: ThreadPool,
}

impl Threads {
    /// Makes enough helpers for `count` threads, including the calling thread. Returns `None` if no
    /// helper is needed.
    pub fn new(count: u8) -> Result<Option<Self>, ThreadPoolBuildError> {
        if count <= 1 {
            return Ok(None);
        }
        let helpers = ThreadPoolBuilder::new().num_threads(usize::from(count) - 1).build()?;
        Ok(Some(Self { helpers }))
    }

    /// Runs `work` on all threads, and returns when it is complete.
    pub fn run(&self, work: &Work<'_>) {
        self.helpers.in_place_scope(|scope| {
            scope.spawn_broadcast(|_, _| work.run());
            work.run();
        });
    }
}
