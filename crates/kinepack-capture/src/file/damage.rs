//! Lists the places of a file that cannot be read.

use std::fmt;

use super::schema::SchemaError;
use super::source::Checksummed;

/// The maximum number of places that are described. All places are counted.
const MOST_DESCRIBED: usize = 100;
/// The maximum number of characters of a reason. There is a limit because a reason may quote the
/// file, for example a text of a megabyte.
const MOST_CHARACTERS: usize = 1_000;

/// A place of a file that cannot be read, and the reason why. The frames of that place are missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The byte in the file where the record begins; for a place within a chunk, the byte where the
    /// chunk begins.
    pub at_byte: u64,
    /// Whether the file is damaged at this place, or only this version cannot read the place.
    pub kind: DamageKind,
    /// The name of the stream whose frames are missing, if they belong to a single known stream.
    pub stream: Option<String>,
    /// What is wrong with the place.
    pub reason: String,
}

/// The kind of the reason why a place of a file cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DamageKind {
    /// The file is damaged: the bytes do not follow the format.
    Damaged,
    /// The bytes may be right, but this version cannot read them.
    NotSupported,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            DamageKind::Damaged => "damaged",
            DamageKind::NotSupported => "not supported",
        };
        write!(f, "{kind} at byte {}: ", self.at_byte)?;
        if let Some(stream) = &self.stream {
            write!(f, "stream {stream:?}: ")?;
        }
        f.write_str(&self.reason)
    }
}

/// The reason why a record is left out.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub(super) kind: DamageKind,
    pub(super) stream: Option<String>,
    pub(super) reason: String,
    /// Whether the reader ignores the channel from now on, so that it is refused only once.
    pub(super) is_remembered: bool,
}

impl Refused {
    pub(super) fn not_supported(reason: String) -> Self {
        Self { kind: DamageKind::NotSupported, ..Self::from(reason) }
    }

    pub(super) fn stream(stream: &str, reason: String) -> Self {
        Self { stream: Some(stream.to_owned()), ..Self::from(reason) }
    }

    /// Makes the refusal of a schema whose streams are not known yet.
    pub(super) fn schema(error: &SchemaError) -> Self {
        let kind = match error {
            SchemaError::Version { .. } => DamageKind::NotSupported,
            _ => DamageKind::Damaged,
        };
        Self {
            kind,
            ..Self::from(error.to_string().chars().take(MOST_CHARACTERS).collect::<String>())
        }
    }
}

impl From<String> for Refused {
    fn from(reason: String) -> Self {
        Self { kind: DamageKind::Damaged, stream: None, reason, is_remembered: false }
    }
}

/// The places of a file that are known to be damaged.
#[derive(Debug, Default)]
pub(super) struct Damages {
    /// The first places.
    pub(super) list: Vec<Damage>,
    pub(super) count: u64,
}

impl Damages {
    /// Appends the places of `others`.
    pub(super) fn extend(&mut self, others: Self) {
        self.count += others.count;
        let room = MOST_DESCRIBED.saturating_sub(self.list.len());
        self.list.extend(others.list.into_iter().take(room));
    }

    /// Notes a checksum that differs, if no other damage was found. The checksum of all data also
    /// covers the damaged chunks, whose damage is already noted.
    pub(super) fn note_checksum(&mut self, at_byte: u64, of: Checksummed) {
        if self.count == 0 {
            self.note(at_byte, format!("the checksum of the {} differs", of.name()).into());
        }
    }

    pub(super) fn note(&mut self, at_byte: u64, refused: Refused) {
        self.count += 1;
        if self.list.len() < MOST_DESCRIBED {
            let Refused { kind, stream, reason, .. } = refused;
            self.list.push(Damage { at_byte, kind, stream, reason });
        }
    }
}
