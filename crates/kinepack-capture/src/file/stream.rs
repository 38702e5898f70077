//! The properties of a stream, and all streams of a file.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use kinepack::Schema;
use mcap::records::Channel;

use super::damage::Refused;
use super::schema::{ENCODING as SCHEMA, MAX_NAME_BYTES, Totals};
use super::{MAX_STREAMS, schema};

/// The message encoding of words before quantization.
pub(crate) const RAW: &str = "kinepack-raw";
/// The message encoding of lanes.
pub(crate) const LANES: &str = "kinepack-lanes";

/// The maximum number of frames in a stream, which is one for each tick.
const MAX_FRAMES: u64 = 1 << 32;

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
/// // This reads only the end of the file.
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
    encoding: StreamEncoding,
    frames: Option<u64>,
    /// The declaration of the stream, which all streams of one schema record share. They share it
    /// because a channel takes few bytes of a file, but its declaration may take much memory.
    pub(super) declared: Arc<Declared>,
}

/// The contents of a schema record.
#[derive(Debug)]
pub(super) struct Declared {
    type_name: String,
    schema: Schema,
    rate_hz: f64,
    /// The largest value of each of the schema's lanes.
    pub(super) maxima: Vec<u32>,
    /// The number of lanes of each kind.
    pub(super) lanes: Vec<usize>,
    /// For each kind, a schema of that kind alone.
    kind_schemas: Vec<Schema>,
}

/// The meaning of a stream's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEncoding {
    /// The words are raw words: the state before quantization, as
    /// [`Pack::store_raw`](kinepack::Pack::store_raw) stores it.
    Raw,
    /// The words are quantized lanes.
    Lanes,
}

impl Stream {
    /// The name under which the stream was recorded. A name is unique in its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the entities' type, as a hint for readers.
    pub fn type_name(&self) -> &str {
        &self.declared.type_name
    }

    /// The schema with the fields and limits of the stream's entities.
    pub fn schema(&self) -> &Schema {
        &self.declared.schema
    }

    /// The schema of the entities of one kind alone. It equals the result of [`Schema::of_kind`],
    /// but is made only once.
    ///
    /// # Panics
    /// If the schema has no kind with the index `kind`.
    pub fn schema_of(&self, kind: usize) -> &Schema {
        &self.declared.kind_schemas[kind]
    }

    /// The names of the numbers that [`CaptureFrame::components`](super::CaptureFrame::components)
    /// returns for each entity. If the schema has several kinds, the list has the names of one kind
    /// after another, each with the kind's name in front: `player.position.x`. For the names of one
    /// kind, call [`component_names`](crate::component_names) with [`schema_of`](Self::schema_of).
    pub fn component_names(&self) -> Vec<String> {
        crate::component_names(&self.declared.schema)
    }

    /// The number of ticks per second, from 0.001 to 1,000,000.
    pub fn rate_hz(&self) -> f64 {
        self.declared.rate_hz
    }

    /// Returns whether the stream's words are raw words or lanes.
    pub fn encoding(&self) -> StreamEncoding {
        self.encoding
    }

    /// The number of frames according to the file's summary. This number is known after
    /// [`Capture::open`](super::Capture::open), and after the whole file was read.
    pub fn frames(&self) -> Option<u64> {
        self.frames
    }

    /// Returns true if the stream holds words before quantization.
    pub fn is_raw(&self) -> bool {
        self.encoding == StreamEncoding::Raw
    }
}

/// The streams that a file's records declare.
#[derive(Clone, Default)]
pub(super) struct Streams {
    pub(super) list: Vec<Stream>,
    schemas: HashMap<u16, Announced>,
    totals: Totals,
    channels: HashMap<u16, Use>,
}

/// The use of a channel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// The channel is the stream with this index.
    Stream(usize),
    /// The channel belongs to another program.
    Foreign,
    /// The channel is a stream that cannot be read. The error was returned once already.
    Refused,
}

/// A schema record in the encoding of capture files.
#[derive(Clone)]
struct Announced {
    type_name: String,
    json: Vec<u8>,
    made: Result<Arc<Declared>, Refused>,
}

impl Declared {
    fn new(type_name: String, (schema, rate_hz): (Schema, f64)) -> Self {
        Self {
            type_name,
            maxima: schema.lanes().iter().map(|lane| lane.max).collect(),
            lanes: schema.kinds().iter().map(|kind| kind.lanes().len()).collect(),
            kind_schemas: crate::kinds::schemas(&schema),
            schema,
            rate_hz,
        }
    }
}

impl Streams {
    /// Adds a schema record. A record of another encoding is ignored. A wrong schema is refused
    /// later, with the stream that uses it.
    pub(super) fn add_schema(
        &mut self,
        id: u16,
        type_name: String,
        encoding: &str,
        json: &[u8],
    ) -> Result<(), Refused> {
        if encoding != SCHEMA {
            return Ok(());
        }
        if let Some(known) = self.schemas.get(&id) {
            let same = known.json == json && known.type_name == type_name;
            return if same {
                Ok(())
            } else {
                Err(format!("two schemas have the number {id}").into())
            };
        }
        if self.schemas.len() == MAX_STREAMS {
            return Err(format!("more than {MAX_STREAMS} schemas").into());
        }
        if type_name.len() > MAX_NAME_BYTES {
            return Err(format!("a schema's name has {} bytes", type_name.len()).into());
        }
        // This part is enough to recognise the schema if it is declared again.
        let kept = &json[..json.len().min(schema::MAX_BYTES)];
        self.totals.add_bytes(kept.len())?;
        let made = match schema::from_json(json) {
            Ok(made) => {
                self.totals.add_lanes(&made.0)?;
                Ok(Arc::new(Declared::new(type_name.clone(), made)))
            }
            Err(error) => Err(Refused::schema(&error)),
        };
        let json = kept.to_vec();
        self.schemas.insert(id, Announced { type_name, json, made });
        Ok(())
    }

    /// Adds a channel. A channel of another encoding is remembered as ignored.
    pub(super) fn add_channel(&mut self, channel: Channel) -> Result<(), Refused> {
        let Channel { id, schema_id, topic, message_encoding, .. } = channel;
        if topic.len() > MAX_NAME_BYTES {
            return Err(format!("a channel's name has {} bytes", topic.len()).into());
        }
        let encoding = match message_encoding.as_str() {
            RAW => StreamEncoding::Raw,
            LANES => StreamEncoding::Lanes,
            _ => {
                self.channels.entry(id).or_insert(Use::Foreign);
                return Ok(());
            }
        };
        let known = self.channels.get(&id).copied();
        if known == Some(Use::Refused) {
            return Ok(());
        }
        let Some(announced) = self.schemas.get(&schema_id) else {
            let reason = format!("it has no schema of encoding {SCHEMA:?}");
            return Err(Refused::stream(&topic, reason));
        };
        let declared = match announced.made.clone() {
            Ok(declared) => declared,
            Err(error) => return Err(self.refuse(id, Refused { stream: Some(topic), ..error })),
        };
        if let Some(known) = known {
            let is_same = match known {
                Use::Stream(index) => {
                    let known = &self.list[index];
                    known.name == topic
                        && known.encoding == encoding
                        && known.schema().hash() == declared.schema.hash()
                }
                Use::Foreign | Use::Refused => false,
            };
            return if is_same {
                Ok(())
            } else {
                let reason = format!("two channels have the number {id}");
                Err(Refused::stream(&topic, reason))
            };
        }
        if self.list.len() == MAX_STREAMS {
            return Err(Refused::stream(&topic, format!("more than {MAX_STREAMS} streams")));
        }
        if self.list.iter().any(|stream| stream.name == topic) {
            let refused = Refused::stream(&topic, "two streams have this name".to_owned());
            return Err(self.refuse(id, refused));
        }
        self.channels.insert(id, Use::Stream(self.list.len()));
        self.list.push(Stream { name: topic, encoding, frames: None, declared });
        Ok(())
    }

    /// Marks a channel as ignored from now on, unless its number is in use.
    fn refuse(&mut self, channel: u16, refused: Refused) -> Refused {
        let use_ = *self.channels.entry(channel).or_insert(Use::Refused);
        Refused { is_remembered: use_ == Use::Refused, ..refused }
    }

    /// Takes the channels' message counts from the file's statistics. A count above the possible
    /// number of ticks is ignored.
    pub(super) fn count(&mut self, messages: &BTreeMap<u16, u64>) {
        let possible = messages.iter().filter(|(_, frames)| **frames <= MAX_FRAMES);
        for (id, frames) in possible {
            if let Some(Use::Stream(index)) = self.channels.get(id) {
                self.list[*index].frames = Some(*frames);
            }
        }
    }

    /// Removes the counts that came from the summary, because the summary is wrong.
    pub(super) fn forget_counts(&mut self) {
        self.list.iter_mut().for_each(|stream| stream.frames = None);
    }

    /// Returns the stream of a channel; `None` for another program's channel, and for a stream that
    /// was refused already.
    pub(super) fn channel_stream(&self, id: u16) -> Result<Option<usize>, Refused> {
        match self.channels.get(&id) {
            Some(Use::Stream(index)) => Ok(Some(*index)),
            Some(Use::Foreign | Use::Refused) => Ok(None),
            None => Err(format!("a message of channel {id}, which no record declares").into()),
        }
    }
}
