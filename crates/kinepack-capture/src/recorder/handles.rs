//! The handles of recorded streams, and the summary of a recording.

use std::fmt;
use std::marker::PhantomData;

/// The handle of a stream of states of `T`, from [`Recorder::stream`](super::Recorder::stream).
///
/// ```
/// use kinepack::{EntityId, Pack, Tick};
/// use kinepack_capture::{RecordedStream, Recorder};
///
/// #[derive(Pack)]
/// struct Lamp {
///     lit: bool,
/// }
///
/// /// The parts that the game's main loop holds.
/// struct Recording {
///     recorder: Recorder,
///     lamps: RecordedStream<Lamp>,
/// }
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("run.mcap");
/// let mut recorder = Recorder::create(&path)?;
/// let lamps = recorder.stream("lamps", 60.0)?;
/// let mut recording = Recording { recorder, lamps };
/// recording.recorder.record(&recording.lamps, Tick(0), [(EntityId(1), Lamp { lit: true })])?;
/// assert_eq!(recording.recorder.finish()?.entities, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RecordedStream<T> {
    pub(super) handle: Handle,
    pub(super) state: PhantomData<fn(&T)>,
}

impl<T> Clone for RecordedStream<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for RecordedStream<T> {}

impl<T> fmt::Debug for RecordedStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RecordedStream").field(&self.handle).finish()
    }
}

/// The handle of a stream of snapshots of one schema, from
/// [`Recorder::stream_of_lanes`](super::Recorder::stream_of_lanes).
#[derive(Clone, Copy, Debug)]
pub struct RecordedLanes {
    pub(super) handle: Handle,
}

/// The handle of a stream of states of several kinds, from
/// [`Recorder::stream_of_kinds`](super::Recorder::stream_of_kinds).
#[derive(Clone, Copy, Debug)]
pub struct RecordedKinds {
    pub(super) handle: Handle,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Handle {
    pub(super) recorder: u32,
    pub(super) stream: usize,
}

/// The summary of a finished recording.
///
/// ```
/// # use kinepack::{EntityId, Pack, Tick};
/// # use kinepack_capture::Recorder;
/// # #[derive(Pack)]
/// # struct Lamp {
/// #     lit: bool,
/// # }
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("run.mcap");
/// # let mut recorder = Recorder::create(&path)?;
/// # let lamps = recorder.stream::<Lamp>("lamps", 60.0)?;
/// # for tick in 0..10 {
/// #     let lamp = |id| (EntityId(id), Lamp { lit: id % 2 == 0 });
/// #     recorder.record(&lamps, Tick(tick), (0..3).map(lamp))?;
/// # }
/// let summary = recorder.finish()?; // after ten ticks of three lamps
/// assert_eq!((summary.frames, summary.entities), (10, 30));
/// assert_eq!(summary.bytes, std::fs::metadata(&path)?.len());
/// if summary.waits > 0 {
///     eprintln!("the game waited {} times for the disk", summary.waits);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordSummary {
    /// The number of frames of all streams.
    pub frames: u64,
    /// The number of entities of all frames.
    pub entities: u64,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The number of times that the calling thread waited because the disk was too slow. If a loop
    /// runs faster than real time, the queue fills up too.
    pub waits: u64,
}
