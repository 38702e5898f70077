//! Connects the recording thread and the writer thread: a bounded queue of frames, and the emptied
//! buffers that return to the recorder.
//!
//! The writer looks into the queue ten times per second, and is woken when the queue is half full.
//! Waking the thread for each frame would cost the game more than the rest of the recording.

use std::collections::VecDeque;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::writer::NewStream;

/// The maximum number of frames in the queue.
const MAX_JOBS: usize = 64;
/// The maximum number of words in the queue (32 MB), unless it holds a single frame.
const MAX_WORDS: usize = 1 << 22;
/// The time for which the writer waits for more jobs.
const PATIENCE: Duration = Duration::from_millis(100);

/// A job for the writer.
pub(super) enum Job {
    Stream(Box<NewStream>),
    Frame(Frame),
}

/// The words of a frame, in a buffer that returns to the recorder.
pub(super) struct Frame {
    pub(super) stream: usize,
    pub(super) tick: u32,
    pub(super) entities: usize,
    pub(super) by_entity: bool,
    /// The frame's words, with ids. Words of earlier frames may follow them. If the stream has
    /// several kinds, the number of entities of each kind precedes the words.
    pub(super) words: Vec<u64>,
    pub(super) used: usize,
}

pub(super) struct Queue {
    state: Mutex<State>,
    /// The writer waits on `work` for jobs.
    work: Condvar,
    /// The recorder waits on `room` for free space, or until all jobs are written.
    room: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// The number of words of the frames in `jobs`.
    words: usize,
    buffers: Vec<Vec<u64>>,
    /// The error that made the writer give up.
    error: Option<io::Error>,
    /// Whether the writer has taken jobs that are not written yet.
    is_writing: bool,
    wants_flush: bool,
    is_closed: bool,
    waits: u64,
}

/// The part of the queue's state that the writer acts on.
pub(super) struct Work {
    pub(super) wants_flush: bool,
    pub(super) is_closed: bool,
}

impl Queue {
    pub(super) fn new() -> Self {
        let jobs = VecDeque::with_capacity(MAX_JOBS);
        let state = State { jobs, buffers: Vec::with_capacity(2 * MAX_JOBS), ..State::default() };
        Self { state: Mutex::new(state), work: Condvar::new(), room: Condvar::new() }
    }

    /// Locks the state. A poisoned lock is harmless, because no code that holds it can panic
    /// halfway.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a job into the queue, and waits for room if necessary. If `spare` has no memory, it
    /// gets a returned buffer for the next frame.
    ///
    /// # Errors
    /// The error that made the writer give up.
    pub(super) fn push(&self, job: Job, spare: &mut Vec<u64>) -> io::Result<()> {
        let words = if let Job::Frame(frame) = &job { frame.used } else { 0 };
        let mut state = self.lock();
        let has_room = |state: &State| {
            state.error.is_some()
                || state.jobs.is_empty()
                || (state.jobs.len() < MAX_JOBS && state.words + words <= MAX_WORDS)
        };
        if !has_room(&state) {
            state.waits += 1;
            self.work.notify_one();
            state = self
                .room
                .wait_while(state, |state| !has_room(state))
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.check()?;
        let was_half = state.is_half_full();
        state.words += words;
        state.jobs.push_back(job);
        if !was_half && state.is_half_full() {
            self.work.notify_one();
        }
        if spare.capacity() == 0 {
            *spare = state.buffers.pop().unwrap_or_default();
        }
        Ok(())
    }

    /// Waits until all pushed jobs are written and flushed.
    pub(super) fn flush(&self) -> io::Result<()> {
        let mut state = self.lock();
        state.wants_flush = true;
        self.work.notify_one();
        let is_busy =
            |state: &mut State| state.error.is_none() && (state.wants_flush || state.is_writing);
        state = self.room.wait_while(state, is_busy).unwrap_or_else(PoisonError::into_inner);
        state.check()
    }

    /// Lets the writer end after all jobs are written.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.work.notify_one();
    }

    /// The number of times that [`push`](Self::push) waited for room.
    pub(super) fn waits(&self) -> u64 {
        self.lock().waits
    }

    /// Returns the emptied buffers to the recorder. Then waits until there are many jobs or some
    /// time has passed, and moves all jobs to `jobs`, which is empty.
    pub(super) fn take(&self, jobs: &mut VecDeque<Job>, emptied: &mut Vec<Vec<u64>>) -> Work {
        let mut state = self.lock();
        state.is_writing = false;
        state.buffers.append(emptied);
        self.room.notify_all();
        let is_idle =
            |state: &mut State| !state.is_half_full() && !state.is_closed && !state.wants_flush;
        state = match self.work.wait_timeout_while(state, PATIENCE, is_idle) {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        };
        std::mem::swap(&mut state.jobs, jobs);
        state.words = 0;
        state.is_writing = true;
        let work = Work {
            wants_flush: std::mem::take(&mut state.wants_flush),
            is_closed: state.is_closed,
        };
        drop(state);
        self.room.notify_all();
        work
    }

    /// Records the error that makes the writer give up.
    pub(super) fn fail(&self, error: io::Error) {
        let mut state = self.lock();
        state.error = Some(error);
        state.jobs.clear();
        state.is_writing = false;
        self.room.notify_all();
    }
}

impl State {
    fn is_half_full(&self) -> bool {
        self.jobs.len() >= MAX_JOBS / 2 || self.words >= MAX_WORDS / 2
    }

    fn check(&self) -> io::Result<()> {
        self.error.as_ref().map_or(Ok(()), |error| Err(copied(error)))
    }
}

/// Returns a copy of the error. The copy keeps the system's error number.
pub(super) fn copied(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}
