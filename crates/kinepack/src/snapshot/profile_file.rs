//! Writes and reads profiles as bytes, for files and for embedding in a program. See
//! `spec/CODEC.md`, section 13.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

use super::adaptive::{Model, VERSION_1, VERSION_4};
use super::profile::{
    Class, Context, FieldCode, GapCode, LaneWidth, MAX_CLASSES, Profile, Reference,
};
use crate::file_numbers::{Reader, Writer, hash_of};
use crate::{Schema, SetupError};

/// The bytes with which a profile file begins.
const MAGIC: [u8; 4] = *b"KPRF";

/// The newest version, which holds the compressed contents of an older one.
const COMPRESSED: u8 = 5;
/// The maximum size of compressed contents, before compression. This maximum limits the memory that
/// a forged file can make a reader allocate.
const MAX_CONTENTS: usize = 1 << 24;
/// Upper bounds for the size of the contents of any profile: for each kind, field and lane of its
/// schema, and for everything else.
const CONTENTS_PER_PART: usize = 1 << 16;
const OTHER_CONTENTS: usize = 1 << 22;

/// The maximum number of states of a context: one for each class, one for the field in full, and
/// one for no class.
const MAX_STATES: usize = MAX_CLASSES + 2;

/// The level of compression, on a scale from 0 to 10. A profile is written once, so speed is not
/// important.
const EFFORT: u8 = 10;

impl Profile {
    /// Encodes the profile as the bytes of a file, compressed if the compressed file is smaller.
    pub fn to_bytes(&self) -> Vec<u8> {
        let versioned = self.versioned_contents();
        let mut compressed = Vec::new();
        Writer(&mut compressed).number(versioned.len() as u64);
        compressed.extend(compress_to_vec(&versioned, EFFORT));
        let is_smaller = compressed.len() + 1 < versioned.len();
        if is_smaller && versioned.len() <= MAX_CONTENTS {
            self.file(COMPRESSED, &compressed)
        } else {
            self.file(versioned[0], &versioned[1..])
        }
    }

    /// Encodes the profile as the bytes of a file that is not compressed, of version 1 to 4. Equal
    /// profiles have equal bytes. [`from_bytes`](Self::from_bytes) reads both kinds of files.
    pub fn to_plain_bytes(&self) -> Vec<u8> {
        let versioned = self.versioned_contents();
        self.file(versioned[0], &versioned[1..])
    }

    /// Returns the version of a file that is not compressed, followed by the file's contents.
    fn versioned_contents(&self) -> Vec<u8> {
        let mut bytes = vec![self.model.as_ref().map_or(VERSION_1, Model::file_version)];
        let mut writer = Writer(&mut bytes);
        for gaps in [&self.entities, &self.flags] {
            writer.list(&gaps.widths_bits);
            writer.list(&gaps.lengths_bits);
        }
        writer.number(self.fields.len() as u64);
        for field in &self.fields {
            write_field(&mut writer, field);
        }
        writer.number(u64::from(self.model.is_some()));
        if let Some(model) = &self.model {
            model.write(&mut writer);
        }
        bytes
    }

    /// Makes a file of this version with these contents.
    fn file(&self, version: u8, contents: &[u8]) -> Vec<u8> {
        let hash = self.schema_hash.to_le_bytes();
        let mut bytes = [&MAGIC[..], &[version], &hash, contents].concat();
        bytes.extend_from_slice(&hash_of(&bytes).to_le_bytes());
        bytes
    }

    /// Decodes a profile for `schema` from the bytes of a file.
    ///
    /// # Errors
    /// [`SetupError::BadProfileFile`] if the bytes are not a profile or are damaged.
    /// [`SetupError::ProfileVersion`] if a later version of this library wrote them, and
    /// [`SetupError::ProfileMismatch`] if the profile is for another schema. The other
    /// [`SetupError`]s report malformed parameters.
    pub fn from_bytes(bytes: &[u8], schema: &Schema) -> Result<Self, SetupError> {
        let (body, hash) = bytes.split_last_chunk().ok_or(SetupError::BadProfileFile)?;
        let mut reader = Reader(body);
        if reader.bytes(MAGIC.len())? != MAGIC {
            return Err(SetupError::BadProfileFile);
        }
        let version = reader.byte()?;
        if !(VERSION_1..=COMPRESSED).contains(&version) {
            return Err(SetupError::ProfileVersion { version, newest: COMPRESSED });
        }
        if hash_of(body) != u64::from_le_bytes(*hash) {
            return Err(SetupError::BadProfileFile);
        }
        if reader.bytes(8)? != schema.hash().to_le_bytes() {
            return Err(SetupError::ProfileMismatch);
        }
        if version < COMPRESSED {
            return Self::read(reader, schema, version);
        }
        let contents = decompressed(&mut reader, most_contents(schema))?;
        match contents.split_first() {
            Some((version @ VERSION_1..=VERSION_4, contents)) => {
                Self::read(Reader(contents), schema, *version)
            }
            _ => Err(SetupError::BadProfileFile),
        }
    }

    /// Reads the contents of a file that is not compressed.
    fn read(mut reader: Reader<'_>, schema: &Schema, version: u8) -> Result<Self, SetupError> {
        let mut gaps = || -> Result<GapCode, SetupError> {
            Ok(GapCode {
                widths_bits: reader.list()?.to_vec(),
                lengths_bits: reader.list()?.to_vec(),
            })
        };
        let [entities, flags] = [gaps()?, gaps()?];
        if reader.count()? != schema.fields().len() {
            return Err(SetupError::ProfileMismatch);
        }
        let fields = schema.fields().iter().enumerate().map(|(index, field)| {
            let lanes = schema.differenced(field).0.len();
            read_field(&mut reader, lanes)?.ok_or(SetupError::BadFieldCode { field: index })
        });
        let fields = fields.collect::<Result<_, _>>()?;
        let model = match reader.number()? {
            0 if version == VERSION_1 => None,
            1 => Some(Model::read(&mut reader, schema, version)?),
            _ => return Err(SetupError::BadProfileFile),
        };
        if !reader.0.is_empty() {
            return Err(SetupError::BadProfileFile);
        }
        let profile = Self { schema_hash: schema.hash(), entities, flags, fields, model };
        profile.validate(schema)?;
        Ok(profile)
    }
}

/// Returns the maximum number of bytes that the contents of a profile of this schema may have.
fn most_contents(schema: &Schema) -> usize {
    let parts = schema.kinds().len() + schema.fields().len() + schema.lanes().len();
    MAX_CONTENTS.min(OTHER_CONTENTS + CONTENTS_PER_PART * parts)
}

/// Reads the rest of a file: a length, and raw DEFLATE data (RFC 1951) that decompress to that many
/// bytes.
fn decompressed(reader: &mut Reader<'_>, most: usize) -> Result<Vec<u8>, SetupError> {
    let length = reader.number()? as usize;
    if length > most {
        return Err(SetupError::BadProfileFile);
    }
    let (mut contents, mut state) = (vec![0; length], Box::<DecompressorOxide>::default());
    let flags = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    match decompress(&mut state, reader.0, &mut contents, 0, flags) {
        (TINFLStatus::Done, read, written) if read == reader.0.len() && written == length => {
            Ok(contents)
        }
        _ => Err(SetupError::BadProfileFile),
    }
}

fn write_field(writer: &mut Writer<'_>, field: &FieldCode) {
    let (tag, other) = match field.context {
        Context::None => (0, 0),
        Context::Previous => (1, 0),
        Context::Field(other) => (2, other),
    };
    writer.number(tag);
    writer.number(other as u64);
    writer.number(field.classes.len() as u64);
    for class in &field.classes {
        writer.number(class.reference as u64);
        writer.list(
            &class.lanes.iter().flat_map(|lane| [lane.bits, lane.beyond_bits]).collect::<Vec<u8>>(),
        );
    }
    writer.number(field.lengths_bits.len() as u64);
    field.lengths_bits.iter().for_each(|lengths| writer.list(lengths));
}

/// Reads the code of a field with this number of differenced lanes. Returns `None` if the code has
/// more classes, widths or states than a field may have.
fn read_field(reader: &mut Reader<'_>, lanes: usize) -> Result<Option<FieldCode>, SetupError> {
    let context = match (reader.number()?, reader.number()?) {
        (0, 0) => Context::None,
        (1, 0) => Context::Previous,
        (2, other) => Context::Field(other as usize),
        _ => return Err(SetupError::BadProfileFile),
    };
    let count = reader.count()?;
    if count > MAX_CLASSES {
        return Ok(None);
    }
    let mut classes = Vec::with_capacity(count);
    for _ in 0..count {
        let reference = match reader.number()? {
            0 => Reference::Baseline,
            1 => Reference::Turned,
            2 => Reference::Carried,
            _ => return Err(SetupError::BadProfileFile),
        };
        let (pairs, []) = reader.list()?.as_chunks::<2>() else {
            return Err(SetupError::BadProfileFile);
        };
        if pairs.len() != lanes {
            return Ok(None);
        }
        let lanes =
            pairs.iter().map(|&[bits, beyond_bits]| LaneWidth { bits, beyond_bits }).collect();
        classes.push(Class { reference, lanes });
    }
    let count = reader.count()?;
    if count > MAX_STATES {
        return Ok(None);
    }
    let lengths_bits =
        (0..count).map(|_| Ok(reader.list()?.to_vec())).collect::<Result<_, SetupError>>()?;
    Ok(Some(FieldCode { context, classes, lengths_bits }))
}
