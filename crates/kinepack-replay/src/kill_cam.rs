//! The last seconds of a game, in memory.

use std::collections::VecDeque;
use std::io::Write;
use std::time::Duration;

use kinepack::{Codec, Pack, Snapshot, Tick};

use crate::cut::Cut;
use crate::group::{Group, GroupBuilder};
use crate::{Marker, ReplayError, ReplayOptions, ReplaySummary};

/// Keeps the last seconds of a game as groups, and cuts replays from them.
///
/// Memory: the encoded frames of the last seconds, and at most one group more. Besides them an
/// encoder's: its scratch memory and three snapshots.
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
/// // Somebody was hit at tick 3,500: the three seconds before it, and one after.
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
    /// The oldest first.
    groups: VecDeque<Group>,
    markers: VecDeque<Marker>,
}

impl KillCam {
    /// Keeps the last `length` of a world.
    pub fn new(codec: &Codec, options: &ReplayOptions, length: Duration) -> Self {
        Self {
            codec: codec.clone(),
            options: options.clone(),
            builder: GroupBuilder::new(codec, options),
            length_ticks: length.as_secs_f64() * options.rate_hz,
            groups: VecDeque::new(),
            markers: VecDeque::new(),
        }
    }

    /// Adds a snapshot, and forgets groups that are too old.
    ///
    /// Cost: that of [`Encoder::encode`](kinepack::Encoder::encode).
    ///
    /// # Errors
    /// [`ReplayError::TicksNotIncreasing`], [`ReplayError::TickTooLate`] and
    /// [`ReplayError::Encode`]. Then the snapshot is left out.
    pub fn write(&mut self, world: &Snapshot) -> Result<(), ReplayError> {
        let result = self.builder.write(world);
        self.groups.extend(self.builder.take_ended());
        result?;
        let too_old = |tick: Tick| f64::from(world.tick.0 - tick.0) >= self.length_ticks;
        while self.groups.pop_front_if(|group| too_old(group.last)).is_some() {}
        let oldest = self.groups.front().map_or(world.tick, |group| group.first);
        while self.markers.pop_front_if(|marker| marker.tick < oldest).is_some() {}
        Ok(())
    }

    /// Adds an event of the snapshot that is written next.
    ///
    /// # Errors
    /// [`ReplayError::NoEvents`], [`ReplayError::TooManyEvents`], and [`ReplayError::Encode`] for
    /// an event of another schema or with a value out of range.
    pub fn emit<T: Pack>(&mut self, event: &T) -> Result<(), ReplayError> {
        self.builder.emit(event)
    }

    /// Gives the last snapshot's tick a name, for replays that are cut.
    pub fn mark(&mut self, name: &str) {
        let tick = self.builder.last().unwrap_or_default();
        self.markers.push_back(Marker { tick, name: name.to_owned() });
    }

    /// The first and the last tick that it holds.
    pub fn ticks(&self) -> Option<(Tick, Tick)> {
        let first = self.groups.front().map(|group| group.first).or(self.builder.first());
        first.zip(self.builder.last())
    }

    /// Bytes on the heap of the encoded frames and events.
    pub fn memory_bytes(&self) -> usize {
        let groups: usize = self.groups.iter().map(Group::memory_bytes).sum();
        groups + self.builder.memory_bytes()
    }

    /// Writes the snapshots from one tick to another, both included, as a replay. The kill cam is
    /// not changed, and continues.
    ///
    /// If the codec has a time precision, the replay begins with the group of `from`: to encode
    /// coarse values again would make them coarser.
    ///
    /// Cost: copies whole groups, and encodes at most one again.
    ///
    /// # Errors
    /// [`ReplayError::Io`], [`ReplayError::Schema`] for a rate or a schema that a file cannot have,
    /// and [`ReplayError::NothingToCut`] if it has no snapshot between the ticks.
    pub fn cut(
        &mut self,
        from: Tick,
        to: Tick,
        out: impl Write,
    ) -> Result<ReplaySummary, ReplayError> {
        let cut = Cut { codec: &self.codec, options: &self.options, from, to };
        let mut writer = cut.begin(out, self.markers.make_contiguous(), [])?;
        let unfinished = self.builder.unfinished()?;
        for group in self.groups.iter().chain(&unfinished) {
            cut.write(&mut writer, group)?;
        }
        Cut::finish(writer)
    }
}
