//! Plays replay files. `spec/REPLAY.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kinepack::{Codec, DecodeLimits, EncodeError, EntityId, Pack, Schema, Snapshot, Tick, View};
use kinepack_net::{EventKinds, FramePlayer, Playback};

use crate::cut::{Cut, first_view};
use crate::group::Group;
use crate::index::{self, Channel, Chunk, Index, Place};
use crate::loaded::Loaded;
use crate::records::{Broken, ReadSeek};
use crate::{Marker, ReplayDamage, ReplayError, ReplayOptions, ReplaySummary};

/// The longest step forward between two moments of playback that counts as playing. A longer one
/// counts as a jump, and its events are not shown.
const LONGEST_STEP: Duration = Duration::from_secs(5);

/// The limits of a reader's memory.
///
/// ```
/// use kinepack_replay::ReplayLimits;
///
/// // A phone: 4 MiB of decoded frames in each of the two groups around the shown moment.
/// let limits = ReplayLimits { frame_bytes: 4 << 20, ..ReplayLimits::default() };
/// assert_eq!(limits.decode.max_entities, 65_536);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayLimits {
    /// The limits of a snapshot.
    pub decode: DecodeLimits,
    /// The most memory for the decoded frames of a group. If it is too small for a group, a step
    /// back may decode the group again. The default, 64 MiB, has room for 25 seconds of 901 cubes
    /// at 60 Hz. A reader keeps at most two groups, and their encoded bytes.
    pub frame_bytes: usize,
}

impl Default for ReplayLimits {
    fn default() -> Self {
        Self { decode: DecodeLimits::default(), frame_bytes: 64 << 20 }
    }
}

/// Reads a replay file, from any moment.
///
/// To show a moment, it reads the group of the moment and decodes it up to there: with groups of a
/// second, 901 cubes and 60 Hz in at most 20 ms. Then each further frame, forwards or backwards,
/// is decoded once or not at all.
///
/// A damaged group shows the last frame before it. [`damage`](Self::damage) lists the damage that
/// was met.
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
/// // Slow motion: a quarter of the rate, on a display of 60 Hz.
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
/// // The exact states: step back, and one ball's path.
/// let frame = replay.frame_before(Tick(110))?.ok_or("no frame")?;
/// assert_eq!(frame.tick, Tick(109));
/// let path = replay.path::<Ball>(EntityId(7), Tick(200), Tick(210))?;
/// assert_eq!(path.len(), 11);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ReplayReader {
    file: Box<dyn ReadSeek>,
    index: Index,
    codec: Codec,
    events: Option<EventKinds>,
    name: String,
    rate_hz: f64,
    limits: ReplayLimits,
    /// The two groups that were used last, the newest first.
    loaded: [Loaded; 2],
    /// The first view of the key group that was used last.
    key: Option<View>,
    /// Groups whose damage is noted.
    noted: BTreeSet<usize>,
    player: FramePlayer,
    /// The last moment of playback.
    shown: Option<f64>,
}

/// True for a replay file, by its first bytes.
///
/// ```
/// assert!(!kinepack_replay::is_replay("Cargo.toml".as_ref()));
/// ```
pub fn is_replay(path: &Path) -> bool {
    File::open(path).is_ok_and(|mut file| index::has_header(&mut file))
}

impl ReplayReader {
    /// Opens a file.
    ///
    /// # Errors
    /// [`ReplayError`] for a file that cannot be read, or is no replay.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReplayError> {
        Self::from_reader(File::open(path)?)
    }

    /// Reads a replay from any source. It is read a group at a time, so it does not have to buffer.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_reader(reader: impl Read + Seek + Send + 'static) -> Result<Self, ReplayError> {
        Self::new(Box::new(reader), None)
    }

    /// The same with the codec that wrote the file, so that the file's profile is not needed: it may
    /// be [left out](crate::ReplayOptions::store_profile), damaged, or not trusted.
    ///
    /// # Errors
    /// As [`open`](Self::open), and [`ReplayError::OtherCodec`].
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
        let limits = ReplayLimits::default();
        Ok(Self {
            file,
            loaded: [(); 2].map(|()| Loaded::new(&codec, &limits)),
            player: FramePlayer::new(world.rate_hz),
            index,
            codec,
            events,
            name: world.name,
            rate_hz: world.rate_hz,
            limits,
            key: None,
            noted: BTreeSet::new(),
            shown: None,
        })
    }

    /// The same replay with other limits than [`ReplayLimits::default`].
    #[must_use]
    pub fn with_limits(mut self, limits: ReplayLimits) -> Self {
        self.limits = limits;
        self.key = None;
        self.loaded = [(); 2].map(|()| Loaded::new(&self.codec, &limits));
        self
    }

    /// The codec that the file was written with.
    pub fn codec(&self) -> &Codec {
        &self.codec
    }

    /// The schema of the snapshots.
    pub fn schema(&self) -> &Schema {
        self.codec.schema()
    }

    /// The kinds of events, if the replay has any.
    pub fn events(&self) -> Option<&EventKinds> {
        self.events.as_ref()
    }

    /// The world's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Ticks a second.
    pub fn rate_hz(&self) -> f64 {
        self.rate_hz
    }

    /// The markers, in the order in which they were written.
    pub fn markers(&self) -> &[Marker] {
        &self.index.markers
    }

    /// What the writer noted.
    pub fn info(&self) -> &BTreeMap<String, String> {
        &self.index.info
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.index.groups.len()
    }

    /// The first tick of each group, and its bytes in the file.
    pub fn group_sizes(&self) -> impl ExactSizeIterator<Item = (Tick, u64)> {
        self.index.groups.iter().map(|place| (place.first, place.bytes))
    }

    /// The tick of each frame of a group, and its bytes. Does not decode the frames. `None` if there
    /// is no such group.
    ///
    /// # Errors
    /// [`ReplayError::Io`].
    pub fn frame_sizes(&mut self, group: usize) -> Result<Option<Vec<(Tick, usize)>>, ReplayError> {
        if group >= self.groups() {
            return Ok(None);
        }
        let loaded = self.load(group)?;
        let bytes = |frame: usize| loaded.bytes_before(frame).len();
        let frames = (0..loaded.len())
            .filter_map(|frame| Some((loaded.tick(frame)?, bytes(frame + 1) - bytes(frame))));
        Ok(Some(frames.collect()))
    }

    /// False if the file has no end: it is still being written, or its writer was killed.
    pub fn is_complete(&self) -> bool {
        self.index.is_complete
    }

    /// The damage that was met until now. [`verify`](Self::verify) finds all of it.
    pub fn damage(&self) -> &[ReplayDamage] {
        &self.index.damage
    }

    /// Decodes the whole file. Returns the number of its frames. Then [`damage`](Self::damage) is
    /// complete.
    ///
    /// # Errors
    /// [`ReplayError::Io`].
    pub fn verify(&mut self) -> Result<u64, ReplayError> {
        if let Some(at_byte) = self.index.unread_byte(&mut *self.file)?
            && self.index.damage.iter().all(|damage| damage.at_byte != at_byte)
        {
            let reason = "the file ends here without a complete record".to_owned();
            self.index.damage.push(ReplayDamage { at_byte, reason });
        }
        let (mut frames, mut next) = (0, self.first_frame()?);
        while let Some(frame) = next {
            frames += 1;
            next = self.frame_after(frame.tick)?;
        }
        Ok(frames)
    }

    /// Looks for groups that were written since the file was opened. Returns whether there are any.
    ///
    /// # Errors
    /// [`ReplayError::Io`].
    pub fn refresh(&mut self) -> Result<bool, ReplayError> {
        self.index.scan(&mut *self.file)
    }

    /// The first and the last tick; `None` if no frame can be read.
    ///
    /// # Errors
    /// [`ReplayError::Io`].
    pub fn ticks(&mut self) -> Result<Option<(Tick, Tick)>, ReplayError> {
        let first = self.first_frame()?.map(|frame| frame.tick);
        let last = self.find_back(self.groups())?.map(|frame| frame.tick);
        Ok(first.zip(last))
    }

    /// The first frame; `None` if none can be read.
    ///
    /// # Errors
    /// [`ReplayError::Io`].
    pub fn first_frame(&mut self) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        self.find_forward(0, 0)
    }

    /// The state at a tick: the newest frame that is not after it. `None` if there is none.
    ///
    /// # Errors
    /// [`ReplayError::Io`].
    pub fn frame_at(&mut self, tick: Tick) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        self.at_or_before(tick.0.into())
    }

    /// The frame before a tick: a step back.
    ///
    /// # Errors
    /// [`ReplayError::Io`].
    pub fn frame_before(&mut self, tick: Tick) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        match tick.0.checked_sub(1) {
            Some(before) => self.at_or_before(before.into()),
            None => Ok(None),
        }
    }

    /// The frame after a tick: a step forward.
    ///
    /// # Errors
    /// [`ReplayError::Io`].
    pub fn frame_after(&mut self, tick: Tick) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        self.after(tick.0.into())
    }

    /// The states of one entity from one tick to another, both included. Frames without it are left
    /// out.
    ///
    /// Cost: decodes all entities. Values are predicted from other entities, so a single one cannot
    /// be read alone.
    ///
    /// # Errors
    /// [`ReplayError::Io`], and [`ReplayError::Encode`] for a type of another schema.
    pub fn path<T: Pack>(
        &mut self,
        id: EntityId,
        from: Tick,
        to: Tick,
    ) -> Result<Vec<(Tick, T)>, ReplayError> {
        let mut path = Vec::new();
        let mut frame = self.after(f64::from(from.0) - 1.0)?;
        while let Some(world) = frame.filter(|frame| frame.tick <= to) {
            let state: Result<Option<T>, EncodeError> = world.get(id);
            path.extend(state?.map(|state| (world.tick, state)));
            frame = self.after(world.tick.0.into())?;
        }
        Ok(path)
    }

    /// What to show at a moment, a tick with its fraction. `None` if no frame can be read.
    ///
    /// Moments may come in any order: forwards, backwards, and at any rate. A moment outside of the
    /// replay shows its first or last frame. [`Playback::events`] has the events since the last
    /// call. After a step back, after [`seek`](Self::seek), and after a jump forward of more than 5
    /// seconds there are none.
    ///
    /// # Errors
    /// [`ReplayError::Io`].
    pub fn playback(&mut self, tick: f64) -> Result<Option<Playback<'_>>, ReplayError> {
        let tick = if tick.is_finite() { tick } else { 0.0 };
        let from = match self.at_or_before(tick)? {
            Some(frame) => frame,
            None => match self.first_frame()? {
                Some(first) => first,
                None => return Ok(None),
            },
        };
        let to = self.after(from.tick.0.into())?.unwrap_or_else(|| Arc::clone(&from));
        let begins = f64::from(from.tick.0) - 1.0;
        let shown = self.shown.unwrap_or(begins);
        let longest = LONGEST_STEP.as_secs_f64() * self.rate_hz;
        let mut events = Vec::new();
        if (0.0..=longest).contains(&(tick - shown)) && self.events.is_some() {
            self.events_between(shown, tick, &mut events)?;
        }
        self.shown = Some(tick);
        Ok(Some(self.player.show(tick, &from, &to, events)))
    }

    /// Jumps: the events before this moment are not shown by the next [`playback`](Self::playback).
    pub fn seek(&mut self, tick: f64) {
        self.shown = Some(tick);
    }

    /// Writes the part from one tick to another, both included, to a replay of its own, with its
    /// events and markers, and with what the writer noted. Damaged groups are left out.
    ///
    /// If the codec has a time precision, the part begins with the key group of `from`: to encode
    /// coarse values again would make them coarser.
    ///
    /// Cost: encodes the frames before the first key group again, at most 8 seconds of them, and
    /// copies the groups after that.
    ///
    /// # Errors
    /// [`ReplayError::Io`], and [`ReplayError::NothingToCut`] if there is no frame between the
    /// ticks. `out` then has a replay without frames.
    pub fn cut(
        &mut self,
        from: Tick,
        to: Tick,
        out: impl Write,
    ) -> Result<ReplaySummary, ReplayError> {
        let options = ReplayOptions {
            name: self.name.clone(),
            events: self.events.clone(),
            ..ReplayOptions::at_hz(self.rate_hz)
        };
        let (codec, markers) = (self.codec.clone(), self.index.markers.clone());
        let info = &self.index.info;
        let mut cut = Cut::begin(out, &codec, &options, [from, to], &markers, info)?;
        let mut begin = self.group_of(from.0.into()).unwrap_or(0);
        if codec.has_precision()
            && let Some(key) = self.group(begin)?.and_then(|group| group.given())
        {
            begin = self.group_of(key.0.into()).unwrap_or(begin);
        }
        for index in begin..self.groups() {
            if self.index.groups[index].first > to {
                break;
            }
            let Some(group) = self.group(index)? else { continue };
            cut.write(&group, self.loaded[0].given_view())?;
        }
        cut.finish()
    }

    /// A group as it is in the file; `None` if it is damaged.
    fn group(&mut self, group: usize) -> Result<Option<Group>, ReplayError> {
        let loaded = self.load(group)?;
        let frames = loaded.len();
        let ticks = loaded.tick(0).zip(frames.checked_sub(1).and_then(|last| loaded.tick(last)));
        let Some((first, last)) = ticks else { return Ok(None) };
        let (key, bytes) = (loaded.given().unwrap_or(first), loaded.bytes_before(frames).to_vec());
        Ok(Some(Group { key, first, last, frames, bytes, events: loaded.event_bytes().to_vec() }))
    }

    /// The events after one moment and up to another.
    fn events_between(
        &mut self,
        after: f64,
        until: f64,
        events: &mut Vec<(Tick, Arc<Snapshot>, usize)>,
    ) -> Result<(), ReplayError> {
        let begin = self.group_of(after).unwrap_or(0);
        for group in begin..self.groups() {
            if f64::from(self.index.groups[group].first.0) > until {
                break;
            }
            let loaded = self.load(group)?;
            events.extend(loaded.events.iter().flat_map(|of| of.between(after, until)));
        }
        Ok(())
    }

    /// The group that a moment is in.
    fn group_of(&self, moment: f64) -> Option<usize> {
        let begun = |place: &Place| f64::from(place.first.0) <= moment;
        self.index.groups.partition_point(begun).checked_sub(1)
    }

    fn at_or_before(&mut self, moment: f64) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        let Some(group) = self.group_of(moment) else { return Ok(None) };
        loop {
            let frames = self.load(group)?.frames_until(moment);
            let Some(last) = frames.checked_sub(1) else { break };
            if let Some(frame) = self.frame_of(group, last)? {
                return Ok(Some(frame));
            }
        }
        self.find_back(group)
    }

    fn after(&mut self, moment: f64) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        let group = self.group_of(moment).unwrap_or(0);
        if group >= self.groups() {
            return Ok(None);
        }
        let frames = self.load(group)?.frames_until(moment);
        self.find_forward(group, frames)
    }

    /// The first readable frame from this one on.
    fn find_forward(
        &mut self,
        group: usize,
        frame: usize,
    ) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        let mut frame = frame;
        for group in group..self.groups() {
            if let Some(found) = self.frame_of(group, frame)? {
                return Ok(Some(found));
            }
            frame = 0;
        }
        Ok(None)
    }

    /// The last readable frame of the groups before this one.
    fn find_back(&mut self, group: usize) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        for group in (0..group).rev() {
            while let Some(last) = self.load(group)?.len().checked_sub(1) {
                if let Some(found) = self.frame_of(group, last)? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    /// A frame of a group; `None` if there is no such frame, or it cannot be decoded.
    fn frame_of(
        &mut self,
        group: usize,
        frame: usize,
    ) -> Result<Option<Arc<Snapshot>>, ReplayError> {
        match self.load(group)?.frame(frame) {
            Ok(found) => Ok(found),
            Err(reason) => {
                self.note(group, reason);
                Ok(None)
            }
        }
    }

    /// Loads a group, unless it is one of the two that are loaded.
    fn load(&mut self, group: usize) -> Result<&mut Loaded, ReplayError> {
        if self.loaded[0].place != group {
            self.loaded.swap(0, 1);
        }
        if self.loaded[0].place != group {
            self.loaded[0].clear();
            self.loaded[0].place = group;
            let place = self.index.groups[group];
            match Chunk::read(&mut *self.file, place).and_then(|chunk| self.take(group, &chunk)) {
                Ok(Some(reason)) => self.note(group, reason),
                Ok(None) => {}
                Err(Broken::Damaged(reason)) => self.note(group, reason),
                Err(Broken::Refused(error)) => return Err(error),
            }
        }
        Ok(&mut self.loaded[0])
    }

    /// Takes the messages of a group's chunk. Returns what is wrong with them.
    fn take(&mut self, group: usize, chunk: &Chunk) -> Result<Option<String>, Broken> {
        let world = self.index.world.as_ref().ok_or("there is no channel")?.id;
        let message = chunk.message(world)?.ok_or("it has no group")?;
        let place = self.index.groups[group];
        if message.first != place.first {
            return Err("its tick is not that of the index".into());
        }
        let (key, bytes) = message.group()?;
        let given = if key == place.first { None } else { Some(self.key_view(group, key)?) };
        let loaded = &mut self.loaded[0];
        let mut broken = loaded.load(group, message.first, given, bytes);
        if let Some((kinds, channel)) = self.events.as_ref().zip(self.index.events.as_ref()) {
            let data = chunk.message(channel.id)?.map(|message| message.data);
            let read = loaded.load_events(kinds.codec(), self.limits.decode, data);
            broken = broken.or(read.err());
        }
        Ok(broken)
    }

    /// The first view of the key group of this tick, before a group.
    fn key_view(&mut self, group: usize, key: Tick) -> Result<View, Broken> {
        if let Some(view) = self.key.as_ref().filter(|view| view.tick == key) {
            return Ok(view.clone());
        }
        let earlier = &self.index.groups[..group];
        let found = earlier.binary_search_by_key(&key, |place| place.first);
        let place = earlier[found.map_err(|_| "its key group is not in the file")?];
        let of_key = |reason: String| format!("its key group, of tick {}: {reason}", key.0);
        let read = |broken: Broken| match broken {
            Broken::Damaged(reason) => Broken::Damaged(of_key(reason)),
            refused => refused,
        };
        let chunk = Chunk::read(&mut *self.file, place).map_err(read)?;
        let world = self.index.world.as_ref().ok_or("there is no channel")?.id;
        let message = chunk.message(world)?.ok_or("its key group is missing")?;
        let (own, bytes) = message.group()?;
        if own != key || message.first != key {
            return Err("its key group is not one".into());
        }
        let view = first_view(&self.codec, self.limits.decode, bytes);
        let view = view.map_err(|error| of_key(error.to_string()))?;
        let view = view.filter(|view| view.tick == key).ok_or("its key group has no frame")?;
        self.key = Some(view.clone());
        Ok(view)
    }

    fn note(&mut self, group: usize, reason: String) {
        if self.noted.insert(group) {
            let Place { first, at_byte, .. } = self.index.groups[group];
            let reason = format!("the group of tick {}: {reason}", first.0);
            self.index.damage.push(ReplayDamage { at_byte, reason });
        }
    }
}
