//! Reads the records of MCAP files, from untrusted bytes. Lengths are checked before memory is
//! allocated for them. The crate `mcap` cannot be used here, because it allocates memory before it
//! checks a length.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

use crate::ReplayError;
use crate::limits::MOST_BYTES;

/// A file that a replay is read from.
pub(crate) trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

/// The number of bytes of a record before its data, for the opcode and the length.
pub(crate) const RECORD_HEADER_BYTES: u64 = 9;
/// The maximum size of a record, in bytes. It is twice that of a message, because a chunk holds a
/// group and the group's events.
pub(crate) const MOST_RECORD_BYTES: u64 = 2 * MOST_BYTES as u64;

/// The reason why a part of a file cannot be used.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The error concerns the whole file.
    Refused(ReplayError),
    /// The error concerns only this part.
    Damaged(String),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::UnexpectedEof => Self::Damaged("the file ends within a record".to_owned()),
            _ => Self::Refused(error.into()),
        }
    }
}

impl From<ReplayError> for Broken {
    fn from(error: ReplayError) -> Self {
        Self::Refused(error)
    }
}

impl From<&str> for Broken {
    fn from(reason: &str) -> Self {
        Self::Damaged(reason.to_owned())
    }
}

impl From<String> for Broken {
    fn from(reason: String) -> Self {
        Self::Damaged(reason)
    }
}

/// A record: its opcode and its data.
pub(crate) struct Record<'a> {
    pub(crate) opcode: u8,
    pub(crate) data: &'a [u8],
}

/// Iterates over the records of a chunk, of a summary, or of bytes read from the file.
pub(crate) struct Records<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, Broken>;

    /// Returns the next record. After an error there is no further record.
    fn next(&mut self) -> Option<Self::Item> {
        let all = std::mem::take(&mut self.0);
        let (&opcode, rest) = all.split_first()?;
        let mut fields = Fields(rest);
        let data = fields.u64().and_then(|length| fields.bytes(length));
        self.0 = fields.0;
        if data.is_err() {
            self.0 = &[];
        }
        Some(data.map(|data| Record { opcode, data }))
    }
}

/// Returns the length in the header of a record.
pub(crate) fn length(header: &[u8; RECORD_HEADER_BYTES as usize]) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|index| header[1 + index]))
}

/// Reads a record of `bytes` bytes from the file, including its header.
pub(crate) fn read(file: &mut dyn ReadSeek, at_byte: u64, bytes: u64) -> Result<Vec<u8>, Broken> {
    let end = file.seek(SeekFrom::End(0))?;
    let fits = at_byte.checked_add(bytes).is_some_and(|after| after <= end);
    if !fits || !(RECORD_HEADER_BYTES..=MOST_RECORD_BYTES).contains(&bytes) {
        return Err("there is no record of this length".into());
    }
    let mut record = vec![0; bytes as usize];
    file.seek(SeekFrom::Start(at_byte))?;
    file.read_exact(&mut record)?;
    Ok(record)
}

/// Returns the data of the only record in `bytes`, which must have the given opcode.
pub(crate) fn only(bytes: &[u8], opcode: u8) -> Result<&[u8], Broken> {
    let mut records = Records(bytes);
    match (records.next(), records.next()) {
        (Some(Ok(record)), None) if record.opcode == opcode => Ok(record.data),
        _ => Err("there is no record of the right kind".into()),
    }
}

/// Reads the fields of a record from the front.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn bytes(&mut self, count: u64) -> Result<&'a [u8], Broken> {
        let split = usize::try_from(count).ok().and_then(|count| self.0.split_at_checked(count));
        let (bytes, rest) = split.ok_or("it ends within a record")?;
        self.0 = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or("it ends within a record")?;
        self.0 = rest;
        Ok(*bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Broken> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Broken> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Broken> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads a length, and then that many bytes.
    pub(crate) fn list(&mut self) -> Result<&'a [u8], Broken> {
        let count = self.u32()?;
        self.bytes(count.into())
    }

    pub(crate) fn text(&mut self) -> Result<String, Broken> {
        let text = str::from_utf8(self.list()?).map_err(|_| "a text is not UTF-8")?;
        Ok(text.to_owned())
    }

    pub(crate) fn map(&mut self) -> Result<BTreeMap<String, String>, Broken> {
        let mut pairs = Fields(self.list()?);
        let mut map = BTreeMap::new();
        while !pairs.0.is_empty() {
            map.insert(pairs.text()?, pairs.text()?);
        }
        Ok(map)
    }
}
