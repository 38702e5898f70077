//! Writes a clip database of built clips, and finds a clip in a database.

use std::path::Path;
use std::sync::Arc;

use command_kit::counted;
use command_kit::output::Target;
use kinepack_anim::database::{ClipDatabase, DatabaseError, DatabaseWriter};
use kinepack_anim::{AnyClip, FileKind, Rig};
use serde::Serialize;

use super::file_types::CLIPS;
use super::sources::{self, BuiltClip, Source};
use crate::anim::error::AnimError;

/// The maximum number of names of clips that an error lists.
const NAMED: usize = 10;

/// A database without its list of clips.
#[derive(Serialize)]
pub(crate) struct DatabaseReport {
    file: String,
    clips: usize,
    joints: usize,
    /// The sum of the durations of all clips, in seconds.
    seconds: f64,
    bytes: usize,
    skeleton_bytes: usize,
    rig_bytes: usize,
    /// The size of all clips in bytes.
    clip_bytes: usize,
}

impl DatabaseReport {
    pub(crate) fn new<B: AsRef<[u8]>>(path: &Path, database: &ClipDatabase<B>) -> Self {
        Self {
            file: path.display().to_string(),
            clips: database.len(),
            joints: database.skeleton().len(),
            seconds: database.entries().map(|entry| f64::from(entry.duration_s())).sum(),
            bytes: database.as_bytes().len(),
            skeleton_bytes: database.skeleton().to_bytes().len(),
            rig_bytes: database.rig().map_or(0, |rig| rig.to_bytes().len()),
            clip_bytes: database.entries().map(|entry| entry.bytes).sum(),
        }
    }

    /// Returns the name of the file.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Returns the report as a paragraph of text.
    pub(crate) fn text(&self) -> String {
        let (clips, joints) = (counted(self.clips, "clip"), counted(self.joints, "joint"));
        let (bytes, clip_bytes, skeleton) = (self.bytes, self.clip_bytes, self.skeleton_bytes);
        let index = bytes - clip_bytes - skeleton - self.rig_bytes;
        let rig = match self.rig_bytes {
            0 => String::new(),
            bytes => format!(", {bytes} of the rig"),
        };
        format!(
            "{}: {clips} of {joints}, {:.1} s; {bytes} bytes: {clip_bytes} of clips, {skeleton} \
             of the skeleton{rig}, {index} of the index",
            self.file, self.seconds
        )
    }
}

/// Refuses clips that have different skeletons.
pub(crate) fn check_skeletons(sources: &[Source]) -> Result<(), AnimError> {
    let Some((first, others)) = sources.split_first() else { return Ok(()) };
    let hash = first.raw.skeleton().hash();
    let Some(other) = others.iter().find(|other| other.raw.skeleton().hash() != hash) else {
        return Ok(());
    };
    let joints = |source: &Source| counted(source.raw.joints(), "joint");
    let reason = format!(
        "the skeleton of {} ({}) is not that of {} from {} ({}): names, parents or bind poses of \
         joints differ. A database has one skeleton, so build a database for each",
        other.raw.name(),
        joints(other),
        first.raw.name(),
        first.file.display(),
        joints(first),
    );
    Err(AnimError::BadClip { path: other.file.clone(), reason })
}

/// Writes a database of all clips. A clip without a disk form is stored in its memory form.
pub(crate) fn write(
    target: &Target,
    clips: (&[Source], &[BuiltClip]),
    rig: Option<&Arc<Rig>>,
    is_disk: bool,
) -> Result<Option<DatabaseReport>, AnimError> {
    let Some(first) = clips.0.first() else { return Ok(None) };
    let failed = |error: DatabaseError| bad(target.name(), &error);
    let skeleton = first.raw.skeleton();
    let mut writer = match rig {
        Some(rig) => DatabaseWriter::with_rig(skeleton, rig).map_err(failed)?,
        None => DatabaseWriter::new(skeleton),
    };
    let bar = sources::progress(clips.1.len() as u64, "added");
    for (source, built) in clips.0.iter().zip(clips.1) {
        let packed = if is_disk { built.packed() } else { None };
        let file = packed.unwrap_or(built.built.clip.as_bytes());
        writer.add(source.raw.name(), file).map_err(failed)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let database = ClipDatabase::from_bytes(writer.to_bytes()).map_err(failed)?;
    target.write(database.as_bytes())?;
    Ok(Some(DatabaseReport::new(target.name(), &database)))
}

/// Opens the database in the bytes of a file.
pub(crate) fn open(path: &Path, bytes: Vec<u8>) -> Result<ClipDatabase, AnimError> {
    ClipDatabase::from_bytes(bytes).map_err(|error| match error {
        DatabaseError::OtherFile { found } => {
            AnimError::OtherFile { path: path.to_owned(), takes: CLIPS, found: Some(found) }
        }
        error => bad(path, &error),
    })
}

/// Returns whether the bytes are a database.
pub(crate) fn is_database(bytes: &[u8]) -> bool {
    FileKind::detect(bytes) == Some(FileKind::Database)
}

/// Chooses the clip named `name`, which may be the name of its animation only. Without a name,
/// chooses the database's only clip. Also returns the clip's full name.
pub(crate) fn choose(
    path: &Path,
    database: &ClipDatabase,
    name: Option<&str>,
) -> Result<(String, AnyClip), AnimError> {
    let refuse = |reason: String| AnimError::BadClip { path: path.to_owned(), reason };
    let index = match name {
        Some(name) => {
            let is_of =
                |clip: &str| clip.strip_suffix(name).is_some_and(|file| file.ends_with("__"));
            let other = || database.entries().position(|entry| is_of(entry.name));
            let missing = || {
                format!("the database has no clip {name}; its clips are {}", some_names(database))
            };
            database.find(name).or_else(other).ok_or_else(|| refuse(missing()))?
        }
        None if database.len() == 1 => 0,
        None => {
            let (clips, names) = (counted(database.len(), "clip"), some_names(database));
            let reason = format!(
                "the database has {clips}; choose one with {}#CLIP: {names}",
                path.display()
            );
            return Err(refuse(reason));
        }
    };
    let clip = database.clip(index).map_err(|error| bad(path, &error))?;
    // The bytes are copied, since an `AnyClip` owns its bytes.
    let bytes = clip.as_bytes().to_vec();
    let clip = match database.rig() {
        Some(rig) => AnyClip::with_rig(bytes, rig),
        None => AnyClip::from_bytes(bytes),
    };
    let clip = clip.map_err(|error| refuse(error.to_string()))?;
    Ok((database.entry(index).name.to_owned(), clip))
}

/// Lists some names of the database's clips.
fn some_names(database: &ClipDatabase) -> String {
    let names: Vec<_> = database.entries().take(NAMED).map(|entry| entry.name).collect();
    let more = match database.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more, which `anim info` lists"),
    };
    format!("{}{more}", names.join(", "))
}

fn bad(path: &Path, error: &DatabaseError) -> AnimError {
    AnimError::BadClip { path: path.to_owned(), reason: error.to_string() }
}
