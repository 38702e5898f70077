//! Threads that encode for the hub.

use kinepack_net::Work;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// The threads that help the calling one.
pub struct Threads {
    helpers: ThreadPool,
}

impl Threads {
    /// Makes `count` threads, including the calling one. `None` if that is the only one.
    pub fn new(count: u8) -> Result<Option<Self>, ThreadPoolBuildError> {
        if count <= 1 {
            return Ok(None);
        }
        let helpers = ThreadPoolBuilder::new().num_threads(usize::from(count) - 1).build()?;
        Ok(Some(Self { helpers }))
    }

    /// Returns when all work is done.
    pub fn run(&self, work: &Work<'_>) {
        self.helpers.in_place_scope(|scope| {
            scope.spawn_broadcast(|_, _| work.run());
            work.run();
        });
    }
}
