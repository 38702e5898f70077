//! The codec of a channel, as the file stores it. See `spec/REPLAY.md`, section 3.

use std::collections::BTreeMap;

use kinepack::{Codec, Level, Profile, Schema};

use crate::ReplayError;

/// The message encodings of groups and events.
pub(crate) const GROUPS: &str = "kinepack-groups";
pub(crate) const EVENTS: &str = "kinepack-events";
/// The media type of an attachment with a profile.
pub(crate) const PROFILE_MEDIA_TYPE: &str = "application/x-kinepack-profile";

const VERSION: &str = "1";
/// The maximum size of a file's codec, in bytes. A codec that the caller gives to
/// [`ReplayReader::with_codec`](crate::ReplayReader::with_codec) may be larger.
const MOST_CODEC_BYTES: usize = 256 << 20;

/// The metadata that describe the codec of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    level: String,
    /// The name of the attachment with the profile.
    pub(crate) profile: String,
    hash: String,
}

impl Stored {
    /// Makes the metadata of the channel with this name.
    pub(crate) fn new(name: &str, codec: &Codec) -> Self {
        Self {
            level: codec.level().row().to_string(),
            profile: format!("{name}.profile"),
            hash: digits(codec.hash()),
        }
    }

    pub(crate) fn metadata(&self) -> [(&str, &str); 4] {
        [
            ("version", VERSION),
            ("level", &self.level),
            ("profile", &self.profile),
            ("codec", &self.hash),
        ]
    }

    pub(crate) fn read(metadata: &BTreeMap<String, String>) -> Result<Self, ReplayError> {
        let value = |key: &str| {
            let missing = || not_replay(format!("a channel has no {key:?} in its metadata"));
            metadata.get(key).cloned().ok_or_else(missing)
        };
        match value("version")?.as_str() {
            VERSION => {}
            version => {
                return Err(not_replay(format!(
                    "it is of version {version:?}; the newest that can be read is {VERSION}"
                )));
            }
        }
        Ok(Self { level: value("level")?, profile: value("profile")?, hash: value("codec")? })
    }

    /// Makes the codec, given the bytes of its profile.
    pub(crate) fn codec(&self, schema: &Schema, profile: &[u8]) -> Result<Codec, ReplayError> {
        let level = self.level.parse().ok().and_then(Level::from_row);
        let level = level.ok_or_else(|| not_replay(format!("no level {:?}", self.level)))?;
        let profile = Profile::from_bytes(profile, schema).map_err(ReplayError::Profile)?;
        let codec = Codec::within(schema.clone(), level, profile, MOST_CODEC_BYTES)
            .map_err(ReplayError::Profile)?;
        self.check(&codec)?;
        Ok(codec)
    }

    /// Checks that a codec is the one that wrote the file.
    pub(crate) fn check(&self, codec: &Codec) -> Result<(), ReplayError> {
        if digits(codec.hash()) == self.hash {
            return Ok(());
        }
        let expected_hash = u64::from_str_radix(&self.hash, 16)
            .map_err(|_| not_replay(format!("{:?} is no hash of a codec", self.hash)))?;
        Err(ReplayError::OtherCodec { expected_hash, hash: codec.hash() })
    }
}

fn digits(hash: u64) -> String {
    format!("{hash:016x}")
}

pub(crate) fn not_replay(reason: String) -> ReplayError {
    ReplayError::NotReplay { reason }
}
