//! Finds the groups of a file: from the index at its end, or record by record if there is no index.

use std::collections::BTreeMap;
use std::io::{ErrorKind, SeekFrom};

use kinepack::{Schema, Tick};
use kinepack_capture::container::{MAGIC, op};
use kinepack_capture::schema_document::{self, tick_time_ns};

use crate::codec::{self, Stored, not_replay};
use crate::records::{
    self, Broken, Fields, MOST_RECORD_BYTES, RECORD_HEADER_BYTES, ReadSeek, Record, Records,
};
use crate::writer::{INFO, MARKER, Marker, PROFILE};
use crate::{ReplayDamage, ReplayError};

/// The number of bytes of the footer's record.
const FOOTER_BYTES: u64 = RECORD_HEADER_BYTES + 20;
/// The maximum number of schemas that a file may declare.
const MOST_SCHEMAS: usize = 256;
/// The maximum number of damaged places that are described.
const MOST_DAMAGE: usize = 1_000;

/// The place of a group in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) first: Tick,
    /// The byte where the record of the group's chunk begins, and the size of that record.
    pub(crate) at_byte: u64,
    pub(crate) bytes: u64,
}

/// A channel of the file.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) id: u16,
    pub(crate) name: String,
    pub(crate) stored: Stored,
    pub(crate) schema: Schema,
    pub(crate) rate_hz: f64,
}

/// The contents of a file, without the data of its groups.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) world: Option<Channel>,
    pub(crate) events: Option<Channel>,
    pub(crate) groups: Vec<Place>,
    /// The attachments: each one's name, and the place and size of its record.
    attachments: Vec<(String, u64, u64)>,
    pub(crate) markers: Vec<Marker>,
    pub(crate) info: BTreeMap<String, String>,
    pub(crate) damage: Vec<ReplayDamage>,
    /// Whether the file has an end.
    pub(crate) is_complete: bool,
    /// The documents, by the number of their schema.
    documents: BTreeMap<u16, Vec<u8>>,
    /// The byte where the next record begins. This byte is used while the file is read record by
    /// record.
    next_byte: u64,
}

impl Index {
    pub(crate) fn read(file: &mut dyn ReadSeek) -> Result<Self, ReplayError> {
        let mut magic = [0; MAGIC.len()];
        file.seek(SeekFrom::Start(0))?;
        match file.read_exact(&mut magic) {
            Err(error) if error.kind() != ErrorKind::UnexpectedEof => return Err(error.into()),
            _ if magic != MAGIC => {
                return Err(not_replay("it does not begin as an MCAP file does".to_owned()));
            }
            _ => {}
        }
        match Self::from_summary(file) {
            Ok(index) => return Ok(index),
            Err(Broken::Refused(error @ ReplayError::Io(_))) => return Err(error),
            Err(_) => {}
        }
        let mut index = Self { next_byte: MAGIC.len() as u64, ..Self::default() };
        index.scan(file)?;
        Ok(index)
    }

    /// Reads the index at the end of a file.
    fn from_summary(file: &mut dyn ReadSeek) -> Result<Self, Broken> {
        let end = file.seek(SeekFrom::End(0))?;
        let footer_byte = end.saturating_sub(FOOTER_BYTES + MAGIC.len() as u64);
        let footer = records::read(file, footer_byte, FOOTER_BYTES)?;
        let mut fields = Fields(records::only(&footer, op::FOOTER)?);
        let (begin, _, expected) = (fields.u64()?, fields.u64()?, fields.u32()?);
        let size = footer_byte.checked_sub(begin).filter(|size| *size <= MOST_RECORD_BYTES);
        let size = size.filter(|_| begin > 0).ok_or("there is no summary")?;
        let mut summary = vec![0; size as usize];
        file.seek(SeekFrom::Start(begin))?;
        file.read_exact(&mut summary)?;
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&summary);
        checksum.update(&footer[..footer.len() - size_of::<u32>()]);
        if checksum.finalize() != expected {
            return Err("the summary's checksum differs".into());
        }

        let mut index = Self { is_complete: true, ..Self::default() };
        check_header(file)?;
        let (mut chunks, mut metadata, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for record in Records(&summary) {
            let record = record?;
            let mut fields = Fields(record.data);
            match record.opcode {
                op::CHUNK_INDEX => {
                    let (time_ns, _) = (fields.u64()?, fields.u64()?);
                    let (at_byte, bytes) = (fields.u64()?, fields.u64()?);
                    places.push((at_byte, bytes));
                    chunks.push((time_ns, at_byte, bytes, fields.list()?));
                }
                op::ATTACHMENT_INDEX => {
                    let (at_byte, bytes) = (fields.u64()?, fields.u64()?);
                    places.push((at_byte, bytes));
                    // The next 24 bytes are two timestamps and the size of the data.
                    fields.bytes(24)?;
                    index.attachments.push((fields.text()?, at_byte, bytes));
                }
                op::METADATA_INDEX => {
                    let place = (fields.u64()?, fields.u64()?);
                    places.push(place);
                    metadata.push(place);
                }
                _ => index.take_declaration(&record)?,
            }
        }
        check_places(places, begin)?;
        let world = index.world.as_ref().ok_or("the summary has no channel")?;
        let (world, rate_hz) = (world.id, world.rate_hz);
        for (time_ns, at_byte, bytes, messages) in chunks {
            // For each channel with messages, the list has the channel's number and the place of
            // the channel's index.
            let mut of = messages.chunks_exact(10).map(|of| u16::from_le_bytes([of[0], of[1]]));
            if !of.any(|channel| channel == world) {
                continue;
            }
            // The time is converted to a tick. Converting that tick back must give the same time.
            let first = Tick((time_ns as f64 * rate_hz / 1e9 + 0.5) as u32);
            let is_after = index.groups.last().is_none_or(|last| last.first < first);
            if tick_time_ns(first, rate_hz) != time_ns || !is_after {
                return Err("the index is not in the order of the ticks".into());
            }
            index.groups.push(Place { first, at_byte, bytes });
        }
        for (at_byte, bytes) in metadata {
            let taken = records::read(file, at_byte, bytes)
                .and_then(|record| index.take_metadata(records::only(&record, op::METADATA)?));
            index.note_damage(at_byte, taken)?;
        }
        Ok(index)
    }

    /// Reads records to the end of the file, starting where the last call stopped. Returns whether
    /// there is a new group.
    pub(crate) fn scan(&mut self, file: &mut dyn ReadSeek) -> Result<bool, ReplayError> {
        let groups = self.groups.len();
        let end = file.seek(SeekFrom::End(0))?;
        while !self.is_complete && end.saturating_sub(self.next_byte) >= RECORD_HEADER_BYTES {
            let at_byte = self.next_byte;
            let mut header = [0; RECORD_HEADER_BYTES as usize];
            file.seek(SeekFrom::Start(at_byte))?;
            file.read_exact(&mut header)?;
            let bytes = records::length(&header).saturating_add(RECORD_HEADER_BYTES);
            // The record is not complete yet, or its length is damaged.
            let Some(next) = at_byte.checked_add(bytes).filter(|next| *next <= end) else { break };
            self.next_byte = next;
            let taken = self.take_record(file, header[0], at_byte, bytes);
            self.note_damage(at_byte, taken)?;
        }
        Ok(self.groups.len() > groups)
    }

    /// Returns the byte where an incomplete record begins, in a file without an end.
    pub(crate) fn unread_byte(&self, file: &mut dyn ReadSeek) -> Result<Option<u64>, ReplayError> {
        let end = file.seek(SeekFrom::End(0))?;
        Ok(Some(self.next_byte).filter(|byte| !self.is_complete && *byte < end))
    }

    fn note_damage(&mut self, at_byte: u64, taken: Result<(), Broken>) -> Result<(), ReplayError> {
        match taken {
            Ok(()) => {}
            Err(Broken::Damaged(reason)) => self.add_damage(at_byte, reason),
            Err(Broken::Refused(error)) => return Err(error),
        }
        Ok(())
    }

    /// Adds a damaged place, unless there are many already, because a bad record can be as short as
    /// nine bytes.
    pub(crate) fn add_damage(&mut self, at_byte: u64, reason: String) {
        if self.damage.len() < MOST_DAMAGE {
            self.damage.push(ReplayDamage { at_byte, reason });
        }
    }

    fn take_record(
        &mut self,
        file: &mut dyn ReadSeek,
        opcode: u8,
        at_byte: u64,
        bytes: u64,
    ) -> Result<(), Broken> {
        if opcode == op::DATA_END {
            self.is_complete = true;
            return Ok(());
        }
        let is_ours = matches!(
            opcode,
            op::HEADER | op::SCHEMA | op::CHANNEL | op::METADATA | op::ATTACHMENT | op::CHUNK
        );
        if !is_ours {
            return Ok(());
        }
        let record = records::read(file, at_byte, bytes)?;
        let data = records::only(&record, opcode)?;
        match opcode {
            op::HEADER => check_profile(data),
            op::METADATA => self.take_metadata(data),
            op::ATTACHMENT => {
                let mut fields = Fields(data);
                // Skips two timestamps of 8 bytes each.
                fields.bytes(16)?;
                self.attachments.push((fields.text()?, at_byte, bytes));
                Ok(())
            }
            op::CHUNK => {
                let chunk = Chunk::from_data(data)?;
                for record in Records(&chunk.records) {
                    self.take_declaration(&record?)?;
                }
                let Some(world) = &self.world else { return Ok(()) };
                let Some(message) = chunk.message(world.id)? else { return Ok(()) };
                let first = message.first;
                if self.groups.last().is_some_and(|last| last.first >= first) {
                    return Err(format!("its tick {} is not in order", first.0).into());
                }
                self.groups.push(Place { first, at_byte, bytes });
                Ok(())
            }
            opcode => self.take_declaration(&Record { opcode, data }),
        }
    }

    /// Takes the declaration in a schema or channel record. All other records are ignored.
    fn take_declaration(&mut self, record: &Record<'_>) -> Result<(), Broken> {
        let mut fields = Fields(record.data);
        match record.opcode {
            op::SCHEMA => {
                let (number, _, encoding) = (fields.u16()?, fields.text()?, fields.text()?);
                if encoding == schema_document::ENCODING && self.documents.len() < MOST_SCHEMAS {
                    self.documents.insert(number, fields.list()?.to_vec());
                }
            }
            op::CHANNEL => {
                let (id, schema) = (fields.u16()?, fields.u16()?);
                let (name, encoding) = (fields.text()?, fields.text()?);
                let slot = match encoding.as_str() {
                    codec::GROUPS => &mut self.world,
                    codec::EVENTS => &mut self.events,
                    _ => return Ok(()),
                };
                if let Some(known) = slot {
                    let several = || not_replay(format!("it has two channels of {encoding:?}"));
                    return if known.id == id { Ok(()) } else { Err(several().into()) };
                }
                let document = self.documents.get(&schema);
                let no_schema = || not_replay(format!("channel {name:?} has no schema"));
                let (schema, rate_hz) = schema_document::from_json(document.ok_or_else(no_schema)?)
                    .map_err(ReplayError::Schema)?;
                let stored = Stored::read(&fields.map()?)?;
                *slot = Some(Channel { id, name, stored, schema, rate_hz });
            }
            _ => {}
        }
        Ok(())
    }

    fn take_metadata(&mut self, data: &[u8]) -> Result<(), Broken> {
        let mut fields = Fields(data);
        let (name, mut map) = (fields.text()?, fields.map()?);
        match name.as_str() {
            MARKER => {
                let tick = map.get("tick").and_then(|tick| tick.parse().ok()).map(Tick);
                if let Some((tick, name)) = tick.zip(map.remove("name")) {
                    self.markers.push(Marker { tick, name });
                }
            }
            INFO => self.info.append(&mut map),
            _ => {}
        }
        Ok(())
    }

    /// Reads the bytes of a profile.
    pub(crate) fn profile(
        &self,
        file: &mut dyn ReadSeek,
        stored: &Stored,
    ) -> Result<Vec<u8>, ReplayError> {
        let name = &stored.profile;
        let place = self.attachments.iter().find(|(of, ..)| of == name);
        let mut read = || {
            let (_, at_byte, bytes) =
                place.ok_or("it is not in the file, so the reader needs the codec")?;
            let record = records::read(file, *at_byte, *bytes)?;
            let data = records::only(&record, op::ATTACHMENT)?;
            let (data, checksum) = data.split_last_chunk().ok_or("it has no checksum")?;
            if crc32fast::hash(data) != u32::from_le_bytes(*checksum) {
                return Err(Broken::from("its checksum differs"));
            }
            let mut fields = Fields(data);
            // Skips two timestamps of 8 bytes each. The name and the media type follow.
            fields.bytes(16)?;
            fields.list()?;
            fields.list()?;
            let count = fields.u64()?;
            Ok(fields.bytes(count)?.to_vec())
        };
        read().map_err(|broken| match broken {
            Broken::Refused(error) => error,
            Broken::Damaged(reason) => not_replay(format!("its profile {name:?}: {reason}")),
        })
    }
}

/// Returns whether a file begins as a replay does.
pub(crate) fn has_header(file: &mut dyn ReadSeek) -> bool {
    let mut magic = [0; MAGIC.len()];
    file.read_exact(&mut magic).is_ok() && magic == MAGIC && check_header(file).is_ok()
}

/// Refuses records that overlap, or that the index lists twice. Each record is read, so without
/// this check the memory and the time could grow with the square of the file's size. `end` is the
/// byte where the summary begins.
fn check_places(mut places: Vec<(u64, u64)>, end: u64) -> Result<(), Broken> {
    places.sort_unstable();
    let mut free = MAGIC.len() as u64;
    for (at_byte, bytes) in places {
        let after = at_byte.checked_add(bytes).filter(|after| *after <= end);
        free = after
            .filter(|_| at_byte >= free && bytes >= RECORD_HEADER_BYTES)
            .ok_or("the index names a byte of the file twice")?;
    }
    Ok(())
}

fn check_header(file: &mut dyn ReadSeek) -> Result<(), Broken> {
    let at_byte = MAGIC.len() as u64;
    let mut header = [0; RECORD_HEADER_BYTES as usize];
    file.seek(SeekFrom::Start(at_byte))?;
    file.read_exact(&mut header)?;
    let bytes = records::length(&header).saturating_add(RECORD_HEADER_BYTES);
    check_profile(records::only(&records::read(file, at_byte, bytes)?, op::HEADER)?)
}

/// Checks the profile in a file's header.
fn check_profile(header: &[u8]) -> Result<(), Broken> {
    match Fields(header).text()?.as_str() {
        PROFILE => Ok(()),
        "kinepack" => Err(not_replay(
            "it is a capture, which holds every state in full; `kinepack pack` makes a replay of it"
                .to_owned(),
        )
        .into()),
        other => Err(not_replay(format!("it is an MCAP file of the profile {other:?}")).into()),
    }
}

/// A chunk whose checksum is correct.
pub(crate) struct Chunk {
    records: Vec<u8>,
}

/// One message in a chunk: a group, a key group, or a group's events.
pub(crate) struct Message<'a> {
    pub(crate) first: Tick,
    pub(crate) data: &'a [u8],
}

impl<'a> Message<'a> {
    /// Returns the key group's tick, and the bytes of the group.
    pub(crate) fn group(&self) -> Result<(Tick, &'a [u8]), Broken> {
        let mut fields = Fields(self.data);
        Ok((Tick(fields.u32()?), fields.0))
    }
}

impl Chunk {
    /// Reads the chunk at a place.
    pub(crate) fn read(file: &mut dyn ReadSeek, place: Place) -> Result<Self, Broken> {
        let record = records::read(file, place.at_byte, place.bytes)?;
        Self::from_data(records::only(&record, op::CHUNK)?)
    }

    fn from_data(data: &[u8]) -> Result<Self, Broken> {
        let mut fields = Fields(data);
        // Skips the times of the first and the last message, and the size.
        fields.bytes(24)?;
        let checksum = fields.u32()?;
        if !fields.list()?.is_empty() {
            return Err("it is compressed".into());
        }
        let count = fields.u64()?;
        let records = fields.bytes(count)?;
        if crc32fast::hash(records) != checksum {
            return Err("its checksum differs".into());
        }
        Ok(Self { records: records.to_vec() })
    }

    /// Finds the message of a channel. Two messages of one channel are an error.
    pub(crate) fn message(&self, channel: u16) -> Result<Option<Message<'_>>, Broken> {
        let mut found = None;
        for record in Records(&self.records) {
            let Record { opcode: op::MESSAGE, data } = record? else { continue };
            let mut fields = Fields(data);
            let (of, first) = (fields.u16()?, Tick(fields.u32()?));
            // Skips two timestamps of 8 bytes each.
            fields.bytes(16)?;
            let message = Message { first, data: fields.0 };
            if of == channel && found.replace(message).is_some() {
                return Err("it has two messages of a channel".into());
            }
        }
        Ok(found)
    }
}
