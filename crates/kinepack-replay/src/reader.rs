//! Reads and plays replay files. See `spec/REPLAY.md`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kinepack::{Codec, EncodeError, EntityId, Pack, Schema, Snapshot, Tick};
use kinepack_net::{EventKinds, FramePlayer, Playback};

use crate::cut::Cut;
use crate::groups::Groups;
use crate::index::{self, Channel, Index};
use crate::options::{ReplayLimits, ReplayOptions};
use crate::records::ReadSeek;
use crate::{Marker, ReplayDamage, ReplayError, ReplaySummary};

/// The longest step forward between two moments that counts as playback. A longer step counts as a
/// jump, and its events are not shown.
const LONGEST_STEP: Duration = Duration::from_secs(5);

/// Reads a replay file from any moment on.
///
/// To show a moment, the reader loads the group of that moment and decodes the group up to that
/// moment. With groups of one second and 901 cubes at 60 Hz, this takes at most 20 ms. Playback
/// from there, in either direction, decodes each further frame at most once.
///
/// If a group is damaged, the last frame before the group is shown instead.
/// [`damage`](Self::damage) lists the damage found until now.
///
/// ```
/// use kinepack_replay::ReplayReader;
/// # use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
/// # use kinepack_replay::{ReplayOptions, ReplayWriter};
/// # #[derive(Pack)]
/// # struct Ball {
/// #     #[pack(range = 0.0..64.0, precision = 0.01)]
/// #     height: f32,
/// # }
/// # let schema = Schema::of::<Ball>();
/// # let codec = Codec::new(schema.clone(), Level::LEARNING, Profile::untrained(&schema))?;
/// # let mut file = Vec::new();
/// # let mut writer = ReplayWriter::to_writer(&mut file, &codec, &ReplayOptions::at_hz(60.0))?;
/// # let mut world = Snapshot::new(&schema, Tick(0));
/// # for tick in 100..400 {
/// #     world.clear(Tick(tick));
/// #     world.push(EntityId(7), &Ball { height: tick as f32 * 0.1 })?;
/// #     writer.write(&world)?;
/// # }
/// # writer.finish()?;
/// # let file = std::io::Cursor::new(file);
///
/// let mut replay = ReplayReader::from_reader(file)?; // or `open`
/// let (first, last) = replay.ticks()?.ok_or("no frames")?;
/// assert_eq!((first.0, last.0, replay.rate_hz()), (100, 399, 60.0));
///
/// // This plays in slow motion, at a quarter of the rate, on a display of 60 Hz.
/// let mut tick = f64::from(first.0);
/// while tick < 110.0 {
///     let playback = replay.playback(tick)?.ok_or("no frames")?;
///     for sample in playback.samples() {
///         let ball: Ball = sample.state()?;
///         assert!((f64::from(ball.height) - tick * 0.1).abs() < 0.02);
///     }
///     tick += 0.25 * 60.0 / 60.0;
/// }
///
/// // The exact states can be read too: here a step back, and the path of one ball.
/// let frame = replay.frame_before(Tick(110))?.ok_or("no frame")?;
/// assert_eq!(frame.tick, Tick(109));
/// let path = replay.path::<Ball>(EntityId(7), Tick(200), Tick(210))?;
/// assert_eq!(path.len(), 11);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ReplayReader {
    groups: Groups,
    name: String,
    rate_hz: f64,
    player: FramePlayer,
    /// The last moment that playback showed.
    shown: Option<f64>,
}

/// Returns whether a file is a replay, judging by its first bytes.
///
/// ```
/// assert!(!kinepack_replay::is_replay("Cargo.toml".as_ref()));
/// ```
pub fn is_replay(path: &Path) -> bool {
    File::open(path).is_ok_and(|mut file| index::has_header(&mut file))
}

impl ReplayReader {
    /// Opens a replay file.
    ///
    /// # Errors
    /// [`ReplayError`] if the file cannot be read, or is not a replay.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReplayError> {
        Self::from_reader(File::open(path)?)
    }

    /// Reads a replay from any source. One group is read at a time, so the source need not buffer.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn from_reader(reader: impl Read + Seek + Send + 'static) -> Result<Self, ReplayError> {
        Self::new(Box::new(reader), None)
    }

    /// Like [`from_reader`](Self::from_reader), with the codec that wrote the file. The file's
    /// profile is then not needed, so it may be [left out](crate::ReplayOptions::store_profile),
    /// damaged, or not trusted.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open), and [`ReplayError::OtherCodec`].
    pub fn with_codec(
        reader: impl Read + Seek + Send + 'static,
        codec: &Codec,
        events: Option<&EventKinds>,
    ) -> Result<Self, ReplayError> {
        Self::new(Box::new(reader), Some((codec, events)))
    }

    fn new(
        mut file: Box<dyn ReadSeek>,
        given: Option<(&Codec, Option<&EventKinds>)>,
    ) -> Result<Self, ReplayError> {
        let index = Index::read(&mut *file)?;
        let world = index.world.clone().ok_or(ReplayError::Empty)?;
        let mut codec_of = |channel: &Channel, given: Option<&Codec>| match given {
            Some(codec) => channel.stored.check(codec).map(|()| codec.clone()),
            None => {
                let profile = index.profile(&mut *file, &channel.stored)?;
                channel.stored.codec(&channel.schema, &profile)
            }
        };
        let codec = codec_of(&world, given.map(|(codec, _)| codec))?;
        let events = match &index.events {
            Some(channel) => {
                let given = given.and_then(|(_, events)| events).map(EventKinds::codec);
                Some(EventKinds::new(&codec_of(channel, given)?))
            }
            None => None,
        };
        Ok(Self {
            groups: Groups::new(file, index, codec, events),
            player: FramePlayer::new(world.rate_hz),
            name: world.name,
            rate_hz: world.rate_hz,
            shown: None,
        })
    }

    /// Returns the same reader with `limits` instead of [`ReplayLimits::default`].
    #[must_use]
    pub fn with_limits(mut self, limits: ReplayLimits) -> Self {
        self.groups.set_limits(limits);
        self
    }

    /// The codec that the file was written with.
    pub fn codec(&self) -> &Codec {
        &self.groups.codec
    }

    /// The schema of the replay's snapshots.
    pub fn schema(&self) -> &Schema {
        self.groups.codec.schema()
    }

    /// The kinds of events, if the replay has any.
    pub fn events(&self) -> Option<&EventKinds> {
        self.groups.events.as_ref()
    }

    /// The world's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of ticks per second.
    pub fn rate_hz(&self) -> f64 {
        self.rate_hz
    }

    /// The markers, in the order in which the writer made them.
    pub fn markers(&self) -> &[Marker] {
        &self.groups.index.markers
    }

    /// The keys and values that the writer [noted](crate::ReplayWriter::note).
    pub fn info(&self) -> &BTreeMap<String, String> {
        &self.groups.index.info
    }

    /// The number of groups.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// The first tick of each group, and the group's size in the file in bytes.
    pub fn group_sizes(&self) -> impl ExactSizeIterator<Item = (Tick, u64)> {
        self.groups.index.groups.iter().map(|place| (place.first, place.bytes))
    }

    /// The size of the whole file in bytes: the groups, the profile and the index.
    ///
    /// # Errors
    /// [`ReplayError::Io`] if the file cannot be read.
    pub fn file_bytes(&mut self) -> Result<u64, ReplayError> {
        self.groups.file_bytes()
    }

    /// Returns the tick and the size in bytes of each frame of a group. The frames are not decoded.
    /// Returns `None` if there is no such group.
    ///
    /// # Errors
    /// [`ReplayError::Io`] if the file cannot be read.
    pub fn frame_sizes(&mut self, group: usize) -> Result<Option<Vec<(Tick, usize)>>, ReplayError> {
        if group >= self.groups() {
            return Ok(None);
        }
        let loaded = self.groups.load(group)?;
        let bytes = |frame: usize| loaded.bytes_before(frame).len();
        let frames = (0..loaded.len())
            .filter_map(|frame| Some((loaded.tick(frame)?, bytes(frame + 1) - bytes(frame))));
        Ok(Some(frames.collect()))
    }

    /// False if the file has no end, because it is still being written or its writer was killed.
    pub fn is_complete(&self) -> bool {
        self.groups.index.is_complete
    }

    /// The damaged places found until now, at most the first 1,000. [`verify`](Self::verify) finds
    /// all damage.
    pub fn damage(&self) -> &[ReplayDamage] {
        &self.groups.index.damage
    }

    /// Decodes the whole file, so that [`damage`](Self::damage) is complete. Returns the number of
    /// frames.
    ///
    /// # Errors
    /// [`ReplayError::Io`] if the file cannot be read.
    pub fn verify(&mut self) -> Result<u64, ReplayError> {
        self.check_end()?;
        let (mut frames, mut next) = (0, self.first_frame()?);
        while let Some(frame) = next {
            frames += 1;
            next = self.frame_after(frame.tick)?;
        }
        Ok(frames)
    }

    /// If a file without an end has bytes after its last complete record, notes this as damage. The
    /// writer of such a file was killed, or is still writing. Call this method if you read all
    /// frames without [`verify`](Self::verify).
    ///
    /// # Errors
    /// [`ReplayError::Io`] if the file cannot be read.
    pub fn check_end(&mut self) -> Result<(), ReplayError> {
        self.groups.note_end()
    }

    /// Looks for groups that were written since the file was opened or since the last call. Returns
    /// whether there are new groups.
    ///
    /// # Errors
    /// [`ReplayError::Io`] if the file cannot be read.
    pub fn refresh(&mut self) -> Result<bool, ReplayError> {
        self.groups.refresh()
    }

    /// The first and the last tick; `None` if no frame can be read.
    ///
    /// # Errors
    /// [`ReplayError::Io`] if the file cannot be read.
    pub fn ticks(&mut self) -> Result<Option<(Tick, Tick)>, ReplayError> {
        let first = self.first_frame()?.map(|frame| frame.tick);
        let last = self.groups.find_back(self.groups.len())?.map(|frame| frame.tick);
        Ok(first.zip(last))
    }

    /// Returns the first frame; `None` if no frame can be read.
    ///
    /// # Errors
    /// [`ReplayError::Io`] if the file cannot be read.
    pub fn first_frame(&mut self) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        self.groups.find_forward(0, 0)
    }

    /// Returns the state at a tick: the newest frame that is not after the tick. Returns `None` if
    /// there is no such frame.
    ///
    /// # Errors
    /// [`ReplayError::Io`] if the file cannot be read.
    pub fn frame_at(&mut self, tick: Tick) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        self.groups.at_or_before(tick.0.into())
    }

    /// Returns the last frame before a tick, for a step back.
    ///
    /// # Errors
    /// [`ReplayError::Io`] if the file cannot be read.
    pub fn frame_before(&mut self, tick: Tick) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        match tick.0.checked_sub(1) {
            Some(before) => self.groups.at_or_before(before.into()),
            None => Ok(None),
        }
    }

    /// Returns the first frame after a tick, for a step forward.
    ///
    /// # Errors
    /// [`ReplayError::Io`] if the file cannot be read.
    pub fn frame_after(&mut self, tick: Tick) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        self.groups.after(tick.0.into())
    }

    /// Returns the states of one entity from one tick to another, both included. Frames without
    /// this entity are left out.
    ///
    /// The call decodes all entities. This is necessary because values are predicted from other
    /// entities.
    ///
    /// # Errors
    /// [`ReplayError::Io`] if the file cannot be read, and [`ReplayError::Encode`] if `T` has
    /// another schema.
    pub fn path<T: Pack>(
        &mut self,
        id: EntityId,
        from: Tick,
        to: Tick,
    ) -> Result<Vec<(Tick, T)>, ReplayError> {
        let mut path = Vec::new();
        let mut frame = self.groups.after(f64::from(from.0) - 1.0)?;
        while let Some(world) = frame.filter(|frame| frame.tick <= to) {
            let state: Result<Option<T>, EncodeError> = world.get(id);
            path.extend(state?.map(|state| (world.tick, state)));
            frame = self.groups.after(world.tick.0.into())?;
        }
        Ok(path)
    }

    /// Returns the state of the world at a moment, given as a tick with a fraction. Returns `None`
    /// if no frame can be read.
    ///
    /// The moments of successive calls may go forwards or backwards, at any rate. For a moment
    /// outside of the replay, the first or the last frame is shown. [`Playback::events`] returns
    /// the events since the last call. It returns no events after a step back, after
    /// [`seek`](Self::seek), or after a jump forward of more than 5 seconds.
    ///
    /// # Errors
    /// [`ReplayError::Io`] if the file cannot be read.
    pub fn playback(&mut self, tick: f64) -> Result<Option<Playback<'_>>, ReplayError> {
        let tick = if tick.is_finite() { tick } else { 0.0 };
        let from = match self.groups.at_or_before(tick)? {
            Some(frame) => frame,
            None => match self.first_frame()? {
                Some(first) => first,
                None => return Ok(None),
            },
        };
        let to = self.groups.after(from.tick.0.into())?.unwrap_or_else(|| Arc::clone(&from));
        let begins = f64::from(from.tick.0) - 1.0;
        let shown = self.shown.unwrap_or(begins);
        let longest = LONGEST_STEP.as_secs_f64() * self.rate_hz;
        let mut events = Vec::new();
        if (0.0..=longest).contains(&(tick - shown)) && self.groups.events.is_some() {
            self.groups.events_between(shown, tick, &mut events)?;
        }
        self.shown = Some(tick);
        Ok(Some(self.player.show(tick, &from, &to, events)))
    }

    /// Jumps to a moment. The next [`playback`](Self::playback) does not show the events before
    /// that moment.
    pub fn seek(&mut self, tick: f64) {
        self.shown = Some(tick);
    }

    /// Writes the part from one tick to another, both included, to a new replay. The new replay has
    /// the part's events and markers, and all [notes](Self::info). Damaged groups are left out, and
    /// [`damage`](Self::damage) then lists them.
    ///
    /// If the codec has a time precision, the part begins with the key group of `from`. The reason
    /// is that encoding coarse values again would make them coarser.
    ///
    /// The frames before the first key group are encoded again: at most 8 seconds of them with the
    /// default options. All later groups are copied.
    ///
    /// # Errors
    /// [`ReplayError::Io`] if a file cannot be read or written, and [`ReplayError::NothingToCut`]
    /// if there is no frame between the ticks. In the second case, `out` has a replay without
    /// frames.
    pub fn cut(
        &mut self,
        from: Tick,
        to: Tick,
        out: impl Write,
    ) -> Result<ReplaySummary, ReplayError> {
        let groups = &mut self.groups;
        let options = ReplayOptions {
            name: self.name.clone(),
            events: groups.events.clone(),
            ..ReplayOptions::at_hz(self.rate_hz)
        };
        let (codec, Index { markers, info, .. }) = (&groups.codec, &groups.index);
        let limits = groups.limits.decode;
        let mut cut = Cut::begin(out, codec, limits, &options, [from, to], markers, info)?;
        let mut begin = groups.group_of(from.0.into()).unwrap_or(0);
        let end = groups.group_of(to.0.into()).map_or(begin, |last| last + 1);
        if groups.codec.has_precision() {
            begin = groups.first_needed(begin..end)?;
        }
        for index in begin..end {
            if let Some((group, given)) = groups.copy(index)?
                && let Some(error) = cut.write(&group, given)?
            {
                groups.note(index, error.to_string());
            }
        }
        cut.finish()
    }
}
