//! The parameters with which levels are measured: built-in parameters, or a profile from a file.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use command_kit::Failure;
use kinepack::{Profile, Schema, SetupError};

/// The parameters of the levels that have parameters.
#[derive(Clone, Debug)]
pub enum Parameters {
    /// The profile that was trained for cubes.
    BuiltIn,
    /// The widths of the article: positions small 5 and large 9, orientations small 5 and large 8.
    Article,
    /// A profile without training.
    Untrained,
    /// A trained profile from a file.
    File(ProfileFile),
}

impl Parameters {
    /// Returns the file from which the parameters are read, or `None` if there is no file.
    pub(crate) fn file(&self) -> Option<&Path> {
        if let Self::File(file) = self { Some(&file.path) } else { None }
    }
}

/// A profile's file. It is read only once, because it may be a pipe.
#[derive(Clone, Debug)]
pub struct ProfileFile {
    path: PathBuf,
    bytes: Arc<OnceLock<Vec<u8>>>,
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.pad("built-in"),
            Self::Article => f.pad("article"),
            Self::Untrained => f.pad("untrained"),
            Self::File(file) => file.path.display().fmt(f),
        }
    }
}

impl FromStr for Parameters {
    type Err = std::convert::Infallible;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Ok(match name {
            "built-in" => Self::BuiltIn,
            "article" => Self::Article,
            "untrained" => Self::Untrained,
            path => Self::File(ProfileFile { path: path.into(), bytes: Arc::default() }),
        })
    }
}

/// A size that no profile exceeds, not even that of a schema with the most fields and classes.
const MAX_PROFILE_BYTES: u64 = 64 << 20;

impl ProfileFile {
    pub(crate) fn profile(&self, schema: &Schema) -> Result<Profile, ProfileError> {
        let failed = |reason: String, is_of_other_schema| ProfileError {
            path: self.path.clone(),
            reason,
            is_of_other_schema,
        };
        let bytes = self.bytes().map_err(|error| {
            let reason = format!(
                "{error}; --profile takes a file that `kinepack tune` or `kinepack train` wrote, \
                 untrained, built-in (trained for the cubes of the challenge files), or article \
                 (the word lengths of the article \"Snapshot Compression\")"
            );
            failed(reason, false)
        })?;
        if bytes.len() as u64 > MAX_PROFILE_BYTES {
            let reason =
                format!("this is not a profile: it has more than {MAX_PROFILE_BYTES} bytes");
            return Err(failed(reason, false));
        }
        Profile::from_bytes(bytes, schema)
            .map_err(|error| failed(error.to_string(), error == SetupError::ProfileMismatch))
    }

    /// Returns the bytes of the file, but at most one byte more than the limit, because a device
    /// would never end.
    fn bytes(&self) -> io::Result<&[u8]> {
        if let Some(bytes) = self.bytes.get() {
            return Ok(bytes);
        }
        let mut bytes = Vec::new();
        File::open(&self.path)?.take(MAX_PROFILE_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(self.bytes.get_or_init(|| bytes))
    }
}

/// The error for a profile that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct ProfileError {
    path: PathBuf,
    reason: String,
    is_of_other_schema: bool,
}

impl Failure for ProfileError {}

impl ProfileError {
    /// Returns the error for one of several streams of a file.
    pub(crate) fn of_stream(self, stream: &str) -> Self {
        let Self { path, mut reason, is_of_other_schema } = self;
        if is_of_other_schema {
            reason.push_str(&format!(" than that of stream {stream}; --stream takes another"));
        }
        Self { path, reason, is_of_other_schema }
    }
}
