//! Keeps the last seconds of a game in memory.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use kinepack::{Codec, DecodeLimits, Pack, Snapshot, Tick, View};

use crate::cut::{Cut, first_view};
use crate::group::{Group, GroupBuilder};
use crate::options::ReplayOptions;
use crate::{Marker, ReplayError, ReplaySummary};

/// These limits allow everything, because the kill cam itself made the groups that it decodes.
const OWN: DecodeLimits = DecodeLimits { max_entities: u32::MAX };

/// Keeps the last seconds of a game as groups, and cuts replays from them.
///
/// A kill cam holds the encoded frames of the last seconds, at most one more group, and an encoder
/// with its scratch memory and four snapshots.
///
/// ```
/// use std::time::Duration;
/// use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
/// use kinepack_replay::{KillCam, ReplayOptions, ReplayReader};
///
/// #[derive(Pack)]
/// struct Ball {
///     #[pack(range = 0.0..512.0, precision = 0.01)]
///     height: f32,
/// }
///
/// let schema = Schema::of::<Ball>();
/// let codec = Codec::new(schema.clone(), Level::LEARNING, Profile::untrained(&schema))?;
/// let mut last_seconds = KillCam::new(&codec, &ReplayOptions::at_hz(60.0), Duration::from_secs(10));
/// let mut world = Snapshot::new(&schema, Tick(0));
/// for tick in 0..3_600 {
///     world.clear(Tick(tick));
///     world.push(EntityId(7), &Ball { height: tick as f32 * 0.1 })?;
///     last_seconds.write(&world)?; // each tick
/// }
/// assert!(last_seconds.memory_bytes() < 8_000);
///
/// // A player was hit at tick 3,500. This cuts three seconds before it, and one after.
/// let mut replay = Vec::new();
/// let cut = last_seconds.cut(Tick(3_500 - 180), Tick(3_500 + 60), &mut replay)?;
/// assert_eq!(cut.frames, 241);
/// let mut replay = ReplayReader::from_reader(std::io::Cursor::new(replay))?;
/// assert!(replay.playback(3_400.0)?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct KillCam {
    codec: Codec,
    options: ReplayOptions,
    builder: GroupBuilder,
    length_ticks: f64,
    /// The groups, the oldest first.
    groups: VecDeque<Arc<Group>>,
    /// The first frame of the oldest group's key group, if that key group was dropped.
    key: Option<Arc<Group>>,
    markers: VecDeque<Marker>,
}

/// An interval of a [`KillCam`] that can be written as a replay. An excerpt shares the memory of
/// its kill cam.
#[derive(Clone, Debug)]
pub struct Excerpt {
    codec: Codec,
    options: ReplayOptions,
    ticks: [Tick; 2],
    groups: Vec<Arc<Group>>,
    markers: Vec<Marker>,
}

impl KillCam {
    /// Makes a kill cam that keeps the last `length` of a world.
    pub fn new(codec: &Codec, options: &ReplayOptions, length: Duration) -> Self {
        Self {
            codec: codec.clone(),
            options: options.clone(),
            builder: GroupBuilder::new(codec, options),
            length_ticks: length.as_secs_f64() * options.rate_hz,
            groups: VecDeque::new(),
            key: None,
            markers: VecDeque::new(),
        }
    }

    /// Adds a snapshot, and drops groups that are too old.
    ///
    /// The cost is that of [`Encoder::encode`](kinepack::Encoder::encode).
    ///
    /// # Errors
    /// [`ReplayError::TicksNotIncreasing`], [`ReplayError::TickTooLate`],
    /// [`ReplayError::FrameTooLarge`] or [`ReplayError::Encode`] if the snapshot is refused. The
    /// kill cam then lacks this snapshot.
    pub fn write(&mut self, world: &Snapshot) -> Result<(), ReplayError> {
        let result = self.builder.write(world);
        self.groups.extend(self.builder.take_ended().map(Arc::new));
        result?;
        let too_old = |tick: Tick| f64::from(world.tick.0 - tick.0) >= self.length_ticks;
        while let Some(old) = self.groups.pop_front_if(|group| too_old(group.last)) {
            if old.is_key() {
                self.key = old.first_frame().map(Arc::new);
            }
        }
        let oldest = self.ticks().map_or(world.tick, |(oldest, _)| oldest);
        while self.markers.pop_front_if(|marker| marker.tick < oldest).is_some() {}
        Ok(())
    }

    /// Adds an event to the snapshot that is written next.
    ///
    /// # Errors
    /// [`ReplayError::NoEvents`], [`ReplayError::TooManyEvents`], and [`ReplayError::Encode`] if
    /// the event has another schema or a value out of range.
    pub fn emit<T: Pack>(&mut self, event: &T) -> Result<(), ReplayError> {
        self.builder.emit(event)
    }

    /// Like [`emit`](Self::emit), for an event at row `index` of `rows`, a snapshot with the schema
    /// of the event kinds.
    ///
    /// # Errors
    /// The errors of [`emit`](Self::emit).
    pub fn emit_row(&mut self, rows: &Snapshot, index: usize) -> Result<(), ReplayError> {
        self.builder.emit_row(rows, index)
    }

    /// Adds a marker that names the last snapshot's tick. A replay that is cut from here contains
    /// the markers of its interval.
    pub fn mark(&mut self, name: &str) {
        let tick = self.builder.last().unwrap_or_default();
        self.markers.push_back(Marker { tick, name: name.to_owned() });
    }

    /// The first and the last tick that the kill cam holds.
    pub fn ticks(&self) -> Option<(Tick, Tick)> {
        let first = self.groups.front().map(|group| group.first).or(self.builder.first());
        first.zip(self.builder.last())
    }

    /// The size of the encoded frames and events on the heap, in bytes.
    pub fn memory_bytes(&self) -> usize {
        let groups: usize =
            self.key.iter().chain(&self.groups).map(|group| group.memory_bytes()).sum();
        groups + self.builder.memory_bytes()
    }

    /// Returns the snapshots from one tick to another, both included, as an excerpt. The kill cam
    /// continues unchanged. The excerpt shares the kill cam's memory, so the call takes
    /// microseconds.
    ///
    /// # Errors
    /// [`ReplayError::Encode`] if the events cannot be encoded.
    pub fn excerpt(&mut self, from: Tick, to: Tick) -> Result<Excerpt, ReplayError> {
        let unfinished = self.builder.unfinished()?.map(Arc::new);
        let groups: Vec<Arc<Group>> =
            self.key.iter().chain(&self.groups).cloned().chain(unfinished).collect();
        let is_within = |marker: &&Marker| (from..=to).contains(&marker.tick);
        Ok(Excerpt {
            codec: self.codec.clone(),
            options: self.options.clone(),
            ticks: [from, to],
            groups,
            markers: self.markers.iter().filter(is_within).cloned().collect(),
        })
    }

    /// Writes the snapshots from one tick to another, both included, as a replay.
    /// [`Excerpt::write`] does the same, but can run on another thread.
    ///
    /// # Errors
    /// The errors of [`excerpt`](Self::excerpt) and of [`Excerpt::write`].
    pub fn cut(
        &mut self,
        from: Tick,
        to: Tick,
        out: impl Write,
    ) -> Result<ReplaySummary, ReplayError> {
        self.excerpt(from, to)?.write(out)
    }
}

impl Excerpt {
    /// Writes the interval as a replay.
    ///
    /// If the codec has a time precision, the replay begins with the key group of the first tick.
    /// The reason is that encoding coarse values again would make them coarser.
    ///
    /// The frames before the first key group are encoded again: at most 8 seconds of them with the
    /// default options. All later groups are copied.
    ///
    /// # Errors
    /// [`ReplayError::Io`], [`ReplayError::Schema`] if a file cannot have the rate or the schema,
    /// and [`ReplayError::NothingToCut`] if there is no snapshot between the ticks.
    /// [`ReplayError::Decode`] if a group cannot be read, which would be a bug in this library.
    pub fn write(&self, out: impl Write) -> Result<ReplaySummary, ReplayError> {
        let Self { codec, options, ticks: [from, to], groups, markers } = self;
        let mut cut = Cut::begin(out, codec, OWN, options, [*from, *to], markers, [])?;
        let mut key: Option<View> = None;
        // With a time precision, the first group that is written must be a key group.
        let first = groups.iter().find(|group| group.last >= *from);
        let begin = match first {
            Some(first) if codec.has_precision() => first.key,
            Some(first) => first.first,
            None => *from,
        };
        for group in groups.iter().take_while(|group| group.first <= *to) {
            if group.is_key() {
                key = first_view(codec, OWN, &group.bytes)?;
            }
            if group.first >= begin
                && let Some(error) = cut.write(group, key.clone().filter(|_| !group.is_key()))?
            {
                return Err(error.into());
            }
        }
        cut.finish()
    }
}
