//! A stream's properties, and all streams of a file.

use std::collections::{BTreeMap, HashMap};

use kinepack::Schema;
use mcap::records::Channel;

use super::schema::ENCODING as SCHEMA;
use super::{MAX_STREAMS, schema};

/// Message encoding of words before quantization.
pub(crate) const RAW: &str = "kinepack-raw";
/// Message encoding of lanes.
pub(crate) const LANES: &str = "kinepack-lanes";

/// A stream of a capture file: frames with entities of one type, or of several kinds.
///
/// ```
/// use kinepack_capture::Capture;
/// # use kinepack::{EntityId, Pack, Tick};
/// # use kinepack_capture::Recorder;
/// # #[derive(Pack)]
/// # struct Lamp {
/// #     lit: bool,
/// #     #[pack(max = 100)]
/// #     glow: u8,
/// # }
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("run.mcap");
/// # let mut recorder = Recorder::create(&path)?;
/// # let lamps = recorder.stream::<Lamp>("lamps", 60.0)?;
/// # for tick in 0..9 {
/// #     recorder.record(&lamps, Tick(tick), [(EntityId(1), Lamp { lit: true, glow: 50 })])?;
/// # }
/// # recorder.finish()?;
///
/// // Reads the file's end only.
/// let streams = Capture::streams_of(&path)?;
/// let stream = streams.iter().find(|stream| stream.name() == "lamps").ok_or("no lamps")?;
/// assert_eq!((stream.rate_hz(), stream.frames()), (60.0, Some(9)));
/// assert_eq!(stream.component_names(), ["lit", "glow"]);
/// assert!(stream.is_raw(), "recorded before quantization");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stream {
    name: String,
    type_name: String,
    schema: Schema,
    rate_hz: f64,
    encoding: StreamEncoding,
    frames: Option<u64>,
    /// The schema's largest lane values.
    pub(super) maxima: Vec<u32>,
    /// The number of lanes of each kind.
    pub(super) lanes: Vec<usize>,
    /// The schema of each kind alone.
    of_kinds: Vec<Schema>,
}

/// The meaning of a stream's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEncoding {
    /// Raw words: the state before quantization, as [`Pack::store_raw`](kinepack::Pack::store_raw)
    /// stores it.
    Raw,
    /// Quantized lanes.
    Lanes,
}

impl Stream {
    /// The name under which it was recorded. It is unique in the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of its entities' type, a hint for people.
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// Fields and limits of its entities.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The schema of the entities of one kind alone: what [`Schema::of_kind`] makes, stored.
    ///
    /// # Panics
    /// If the schema has no kind with this index.
    pub fn schema_of(&self, kind: usize) -> &Schema {
        &self.of_kinds[kind]
    }

    /// The names of the numbers that
    /// [`CaptureFrame::components`](super::CaptureFrame::components) gives for each entity. If the
    /// schema has several kinds, the names of all kinds follow one another, each after its kind's
    /// name: `player.position.x`. [`component_names`](crate::component_names) of
    /// [`schema_of`](Self::schema_of) has those of one kind.
    pub fn component_names(&self) -> Vec<String> {
        crate::component_names(&self.schema)
    }

    /// Ticks a second, 0.001 to 1,000,000.
    pub fn rate_hz(&self) -> f64 {
        self.rate_hz
    }

    /// Whether its words are raw words or lanes.
    pub fn encoding(&self) -> StreamEncoding {
        self.encoding
    }

    /// The number of frames that the file's summary declares; it is not counted. Known from
    /// [`Capture::streams_of`](super::Capture::streams_of), and once the file was read.
    pub fn frames(&self) -> Option<u64> {
        self.frames
    }

    /// True for words before quantization.
    pub fn is_raw(&self) -> bool {
        self.encoding == StreamEncoding::Raw
    }
}

/// The streams that a file's records declare.
#[derive(Default)]
pub(super) struct Streams {
    pub(super) list: Vec<Stream>,
    schemas: HashMap<u16, Announced>,
    /// Each channel: the index of a stream, or `None` for another program's channel.
    channels: HashMap<u16, Option<usize>>,
}

/// A schema in our encoding.
struct Announced {
    type_name: String,
    json: Vec<u8>,
    schema: Schema,
    rate_hz: f64,
}

impl Streams {
    /// Adds a schema. Ignores other encodings.
    pub(super) fn add_schema(
        &mut self,
        id: u16,
        type_name: String,
        encoding: &str,
        json: &[u8],
    ) -> Result<(), String> {
        if encoding != SCHEMA {
            return Ok(());
        }
        if let Some(known) = self.schemas.get(&id) {
            let same = known.json == json && known.type_name == type_name;
            return if same { Ok(()) } else { Err(format!("two schemas have the number {id}")) };
        }
        if self.schemas.len() == MAX_STREAMS {
            return Err(format!("more than {MAX_STREAMS} schemas"));
        }
        let (schema, rate_hz) = schema::from_json(json).map_err(|error| error.to_string())?;
        self.schemas.insert(id, Announced { type_name, json: json.to_vec(), schema, rate_hz });
        Ok(())
    }

    /// Adds a channel. Remembers channels of other encodings as ignored.
    pub(super) fn add_channel(&mut self, channel: Channel) -> Result<(), String> {
        let Channel { id, schema_id, topic, message_encoding, .. } = channel;
        let encoding = match message_encoding.as_str() {
            RAW => StreamEncoding::Raw,
            LANES => StreamEncoding::Lanes,
            _ => {
                self.channels.entry(id).or_insert(None);
                return Ok(());
            }
        };
        let Some(announced) = self.schemas.get(&schema_id) else {
            return Err(format!("stream {topic:?} has no schema of encoding {SCHEMA:?}"));
        };
        if let Some(known) = self.channels.get(&id) {
            let known = known.map(|index| &self.list[index]);
            let is_same = known.is_some_and(|known| {
                known.name == topic
                    && known.encoding == encoding
                    && known.schema.hash() == announced.schema.hash()
            });
            return if is_same {
                Ok(())
            } else {
                Err(format!("two channels have the number {id}"))
            };
        }
        if self.list.len() == MAX_STREAMS {
            return Err(format!("more than {MAX_STREAMS} streams"));
        }
        if self.list.iter().any(|stream| stream.name == topic) {
            return Err(format!("two streams have the name {topic:?}"));
        }
        self.channels.insert(id, Some(self.list.len()));
        self.list.push(Stream {
            name: topic,
            type_name: announced.type_name.clone(),
            maxima: announced.schema.lanes().iter().map(|lane| lane.max).collect(),
            lanes: announced.schema.kinds().iter().map(|kind| kind.lanes().len()).collect(),
            of_kinds: crate::kinds::schemas(&announced.schema),
            schema: announced.schema.clone(),
            rate_hz: announced.rate_hz,
            encoding,
            frames: None,
        });
        Ok(())
    }

    /// Takes the channels' message counts from the file's statistics.
    pub(super) fn count(&mut self, messages: &BTreeMap<u16, u64>) {
        for (id, frames) in messages {
            if let Some(Some(index)) = self.channels.get(id) {
                self.list[*index].frames = Some(*frames);
            }
        }
    }

    /// The stream of a channel; `None` for another program's channel.
    pub(super) fn of_channel(&self, id: u16) -> Result<Option<usize>, String> {
        self.channels
            .get(&id)
            .copied()
            .ok_or_else(|| format!("a message of channel {id}, which no record declares"))
    }
}
