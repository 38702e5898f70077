//! Writes replay files. See `spec/REPLAY.md`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use kinepack::{Codec, Pack, Snapshot, Tick};
use kinepack_capture::container::{Channel, Container, Message, Packing};
use kinepack_capture::schema_document::{self, tick_time_ns};

use crate::ReplayError;
use crate::codec::{self, Stored};
use crate::group::{Group, GroupBuilder};
use crate::options::ReplayOptions;

/// The profile that the header of the MCAP file names.
pub(crate) const PROFILE: &str = "kinepack-replay";
/// The names of the metadata records for markers, notes and codecs.
pub(crate) const MARKER: &str = "kinepack-marker";
pub(crate) const INFO: &str = "kinepack-info";

/// The number of bytes that are collected before they are written to the file.
const BUFFER_BYTES: usize = 1 << 16;

/// A moment with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// The tick of the moment.
    pub tick: Tick,
    /// The name of the moment.
    pub name: String,
}

/// The summary of a finished replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplaySummary {
    /// The number of snapshots.
    pub frames: u64,
    /// The number of groups.
    pub groups: u64,
    /// The size of the file in bytes.
    pub bytes: u64,
}

/// Writes a replay file.
///
/// Each group is written to the file when it ends, so a process that is killed loses at most its
/// last group. A reader may open the file while the writer still writes it.
///
/// ```
/// use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
/// use kinepack_net::EventKinds;
/// use kinepack_replay::{ReplayOptions, ReplayReader, ReplayWriter};
///
/// #[derive(Pack)]
/// struct Unit {
///     #[pack(max = 100)]
///     health: u8,
/// }
///
/// #[derive(Pack)]
/// struct Hit {
///     #[pack(max = 100)]
///     damage: u8,
/// }
///
/// let codec_of = |schema: Schema| {
///     let profile = Profile::untrained(&schema);
///     Codec::new(schema, Level::LEARNING, profile)
/// };
/// let events = EventKinds::new(&codec_of(Schema::builder().kind::<Hit>("hit").build()?)?);
/// let codec = codec_of(Schema::of::<Unit>())?;
/// let options = ReplayOptions { events: Some(events), ..ReplayOptions::at_hz(60.0) };
/// let mut file = Vec::new();
/// let mut replay = ReplayWriter::to_writer(&mut file, &codec, &options)?;
/// replay.note("map", "harbour")?;
/// let mut world = Snapshot::new(codec.schema(), Tick(0));
/// for tick in 0..300 {
///     world.clear(Tick(tick));
///     let health = if tick < 200 { 100 } else { 70 };
///     world.push(EntityId(1), &Unit { health })?;
///     if tick == 200 {
///         replay.emit(&Hit { damage: 30 })?; // at the tick that is written next
///         replay.mark(Tick(tick), "first blood")?;
///     }
///     replay.write(&world)?;
/// }
/// replay.finish()?;
///
/// let mut replay = ReplayReader::from_reader(std::io::Cursor::new(file))?;
/// assert_eq!(replay.info()["map"], "harbour");
/// replay.seek(199.0);
/// let playback = replay.playback(200.5)?.ok_or("no frames")?;
/// let hit = playback.events().next().ok_or("no event")?;
/// assert_eq!((hit.tick, hit.get::<Hit>()?.map(|hit| hit.damage)), (Tick(200), Some(30)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ReplayWriter<W: Write = File> {
    builder: GroupBuilder,
    container: Container<BufWriter<W>>,
    /// Whether writing to the output failed. Nothing more is written to the output after that.
    has_failed: bool,
    world: u16,
    events: Option<u16>,
    rate_hz: f64,
    frames: u64,
    groups: u64,
}

impl ReplayWriter {
    /// Begins a file, and replaces an existing one.
    ///
    /// # Errors
    /// [`ReplayError::Io`] if the file cannot be created, and [`ReplayError::Schema`] if the rate
    /// is out of range or the schema is too large for a file.
    pub fn create(
        path: impl AsRef<Path>,
        codec: &Codec,
        options: &ReplayOptions,
    ) -> Result<Self, ReplayError> {
        Self::to_writer(File::create(path)?, codec, options)
    }
}

impl<W: Write> ReplayWriter<W> {
    /// Begins a replay that is written to `out`, which is flushed after each group.
    ///
    /// # Errors
    /// The errors of [`create`](ReplayWriter::create).
    pub fn to_writer(out: W, codec: &Codec, options: &ReplayOptions) -> Result<Self, ReplayError> {
        let ReplayOptions { rate_hz, name, events, .. } = options;
        let json = schema_document::to_json(codec.schema(), *rate_hz)?;
        let event_kinds = match events {
            Some(events) => Some(schema_document::to_json(events.codec().schema(), *rate_hz)?),
            None => None,
        };
        let out = BufWriter::with_capacity(BUFFER_BYTES, out);
        let library = concat!("kinepack-replay ", env!("CARGO_PKG_VERSION"));
        let mut container = Container::new(out, PROFILE, library, Packing::None)?;
        let is_stored = options.store_profile;
        let mut add = |name: &str, encoding, codec: &Codec, json: &[u8]| {
            add_channel(&mut container, name, encoding, (codec, is_stored), json)
        };
        let world = add(name, codec::GROUPS, codec, &json)?;
        let events = match events.as_ref().zip(event_kinds) {
            Some((kinds, json)) => {
                let name = format!("{name}.events");
                Some(add(&name, codec::EVENTS, kinds.codec(), &json)?)
            }
            None => None,
        };
        // Writes the channels now, so that a reader can open the file before there is a group.
        container.end_chunk()?;
        Ok(Self {
            builder: GroupBuilder::new(codec, options),
            container,
            has_failed: false,
            world,
            events,
            rate_hz: *rate_hz,
            frames: 0,
            groups: 0,
        })
    }

    /// Adds a snapshot. If the snapshot begins a new group, the previous group is written to the
    /// file.
    ///
    /// The cost is that of [`Encoder::encode`](kinepack::Encoder::encode).
    ///
    /// # Errors
    /// [`ReplayError::TicksNotIncreasing`], [`ReplayError::TickTooLate`],
    /// [`ReplayError::FrameTooLarge`] or [`ReplayError::Encode`] if the snapshot is refused. The
    /// replay then lacks this snapshot, but later snapshots can be written. [`ReplayError::Io`] if
    /// the file cannot be written, in this call and in each later one. The file ends before the
    /// group that could not be written.
    pub fn write(&mut self, world: &Snapshot) -> Result<(), ReplayError> {
        let result = self.builder.write(world);
        self.write_ended()?;
        result
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

    /// Adds a marker that names a tick.
    ///
    /// # Errors
    /// [`ReplayError::Io`] if the file cannot be written.
    pub fn mark(&mut self, tick: Tick, name: &str) -> Result<(), ReplayError> {
        let tick = tick.0.to_string();
        self.output(|container| container.add_metadata(MARKER, &[("tick", &tick), ("name", name)]))
    }

    /// Stores a value under a key of the caller's choice, such as the name of a map or the players.
    /// A later value replaces an earlier one with the same key.
    ///
    /// # Errors
    /// [`ReplayError::Io`] if the file cannot be written.
    pub fn note(&mut self, key: &str, value: &str) -> Result<(), ReplayError> {
        self.output(|container| container.add_metadata(INFO, &[(key, value)]))
    }

    /// Ends the group now, so that the file contains all snapshots that were passed to
    /// [`write`](Self::write) until now.
    ///
    /// # Errors
    /// The errors of [`write`](Self::write).
    pub fn flush(&mut self) -> Result<(), ReplayError> {
        self.builder.end()?;
        self.write_ended()
    }

    /// Writes the last group and the index. Events that were emitted after the last snapshot are
    /// dropped.
    ///
    /// # Errors
    /// The errors of [`write`](Self::write).
    pub fn finish(mut self) -> Result<ReplaySummary, ReplayError> {
        self.flush()?;
        let Self { frames, groups, .. } = self;
        Ok(ReplaySummary { frames, groups, bytes: self.container.finish()? })
    }

    fn write_ended(&mut self) -> Result<(), ReplayError> {
        match self.builder.take_ended() {
            Some(group) => self.write_group(&group),
            None => Ok(()),
        }
    }

    /// Writes a group.
    pub(crate) fn write_group(&mut self, group: &Group) -> Result<(), ReplayError> {
        let Self { rate_hz, world, events, .. } = *self;
        let (sequence, time_ns) = (group.first.0, tick_time_ns(group.first, rate_hz));
        self.output(|container| {
            let data = &[&group.key.0.to_le_bytes(), &group.bytes[..]].concat();
            container.add_message(&Message { channel: world, sequence, time_ns, data });
            if let Some(channel) = events.filter(|_| !group.events.is_empty()) {
                let data = &group.events;
                container.add_message(&Message { channel, sequence, time_ns, data });
            }
            container.end_chunk()
        })?;
        self.frames += group.frames as u64;
        self.groups += 1;
        Ok(())
    }

    /// Writes to the output, unless writing failed before.
    fn output(
        &mut self,
        write: impl FnOnce(&mut Container<BufWriter<W>>) -> io::Result<()>,
    ) -> Result<(), ReplayError> {
        if self.has_failed {
            return Err(io::Error::other("an earlier write to the replay failed").into());
        }
        write(&mut self.container).map_err(|error| {
            self.has_failed = true;
            error.into()
        })
    }
}

/// Adds a channel whose messages a codec writes, and the codec's profile if it is to be stored.
fn add_channel<W: Write>(
    container: &mut Container<W>,
    name: &str,
    encoding: &str,
    (codec, is_stored): (&Codec, bool),
    schema: &[u8],
) -> io::Result<u16> {
    let stored = Stored::new(name, codec);
    if is_stored {
        let profile = codec.profile().to_bytes();
        container.attach(&stored.profile, codec::PROFILE_MEDIA_TYPE, &profile)?;
    }
    Ok(container.add_channel(&Channel {
        topic: name,
        encoding,
        metadata: &stored.metadata(),
        schema_name: name,
        schema_encoding: schema_document::ENCODING,
        schema,
    }))
}
