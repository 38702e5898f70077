//! What is known of a stream before its first frame, and all streams of a file.

use std::collections::{BTreeMap, HashMap};

use kinepack::Schema;
use mcap::records::Channel;

use super::{MAX_STREAMS, schema};

/// Message encoding of words before quantization.
pub(crate) const RAW: &str = "kinepack-raw";
/// Message encoding of lanes.
pub(crate) const LANES: &str = "kinepack-lanes";
/// Encoding of schemas.
pub(crate) const SCHEMA: &str = "kinepack-schema-json";

/// A stream of a capture file: frames of entities of one type.
#[derive(Clone, Debug)]
pub struct Stream {
    name: String,
    type_name: String,
    schema: Schema,
    rate_hz: f64,
    encoding: StreamEncoding,
    frames: Option<u64>,
    /// Of the schema's lanes.
    pub(super) maxima: Vec<u32>,
}

/// What the words of a stream are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEncoding {
    /// Raw words: the state before quantization, as [`Pack::store_raw`](kinepack::Pack::store_raw)
    /// gives it.
    Raw,
    /// Quantized lanes.
    Lanes,
}

impl Stream {
    /// The name that it was recorded under, unlike that of any other stream of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the type of its entities was called, as a hint for people.
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// Fields and limits of its entities.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Ticks a second, 0.001 to 1,000,000.
    pub fn rate_hz(&self) -> f64 {
        self.rate_hz
    }

    /// Whether words are raw or lanes.
    pub fn encoding(&self) -> StreamEncoding {
        self.encoding
    }

    /// How many frames it has, as far as the end of the file tells; nobody has counted. Known from
    /// [`Capture::streams_of`](super::Capture::streams_of), and once the file was read.
    pub fn frames(&self) -> Option<u64> {
        self.frames
    }

    /// True for words before quantization.
    pub fn is_raw(&self) -> bool {
        self.encoding == StreamEncoding::Raw
    }
}

/// The streams of a file as its records tell of them.
#[derive(Default)]
pub(super) struct Streams {
    pub(super) list: Vec<Stream>,
    schemas: HashMap<u16, Announced>,
    /// What each channel is: a stream, or something of another program.
    channels: HashMap<u16, Option<usize>>,
}

/// A schema of ours.
struct Announced {
    type_name: String,
    json: Vec<u8>,
    schema: Schema,
    rate_hz: f64,
}

impl Streams {
    /// Takes a schema; those of other encodings are nothing to us.
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

    /// Takes a channel; those of other encodings are remembered as ones to ignore.
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
            schema: announced.schema.clone(),
            rate_hz: announced.rate_hz,
            encoding,
            frames: None,
        });
        Ok(())
    }

    /// Takes what the file says of how many messages its channels have.
    pub(super) fn count(&mut self, messages: &BTreeMap<u16, u64>) {
        for (id, frames) in messages {
            if let Some(Some(index)) = self.channels.get(id) {
                self.list[*index].frames = Some(*frames);
            }
        }
    }

    /// The stream of a channel; `None` for one of another program.
    pub(super) fn of_channel(&self, id: u16) -> Result<Option<usize>, String> {
        self.channels
            .get(&id)
            .copied()
            .ok_or_else(|| format!("a message of channel {id}, of which no record tells"))
    }
}
