//! The files that `anim build` writes: a directory of clips, or a database. This module checks
//! everything that it can before the build.

use std::collections::HashSet;
use std::path::Path;

use command_kit::output::{Batch, Target};

use super::Arguments;
use crate::anim::compiled::{SKELETON, find_hashed, hashed_name};
use crate::anim::databases::{self, DatabaseReport};
use crate::anim::error::AnimError;
use crate::anim::names::{asset, file_stem};
use crate::anim::rigs::Rigs;
use crate::anim::sources::{self, BuiltClip, Source};

/// Where the command writes the clips.
pub(super) enum Outputs<'a> {
    /// The command writes nothing except the report.
    None,
    Directory(&'a Path, Targets),
    Database(Target),
}

/// The files of a directory whose names are known before the build.
pub(super) struct Targets {
    /// A file for each source.
    clips: Vec<Target>,
    /// The skeletons that do not exist yet, with their bytes.
    skeletons: Vec<(Target, Vec<u8>)>,
}

impl<'a> Outputs<'a> {
    pub(super) fn new(arguments: &'a Arguments, sources: &[Source]) -> Result<Self, AnimError> {
        if let Some(database) = &arguments.database {
            databases::check_skeletons(sources)?;
            return Ok(Self::Database(arguments.outputs().target(database)?));
        }
        let Some(directory) = &arguments.out else { return Ok(Self::None) };
        Ok(Self::Directory(directory, Targets::new(directory, arguments, sources)?))
    }

    /// Keeps the clip files of the sources that were built. A new skeleton is written even if no
    /// built clip uses it.
    pub(super) fn keep(&mut self, is_kept: &[bool]) {
        if let Self::Directory(_, targets) = self {
            sources::keep(&mut targets.clips, is_kept);
        }
    }

    /// Writes all files. Returns a report of the database, if there is one.
    pub(super) fn write(
        self,
        arguments: &Arguments,
        sources: &[Source],
        built: &[BuiltClip],
        rigs: &Rigs,
    ) -> Result<Option<DatabaseReport>, AnimError> {
        match self {
            Self::None => Ok(None),
            Self::Database(target) => {
                databases::write(&target, (sources, built), rigs.of_clips(built), arguments.disk)
            }
            Self::Directory(directory, targets) => {
                let mut batch = Batch::in_directory(directory)?;
                for (target, built) in targets.clips.iter().zip(built) {
                    batch.write(target, bytes_of(built, target, arguments.disk)?)?;
                }
                for (target, bytes) in &targets.skeletons {
                    batch.write(target, bytes)?;
                }
                rigs.write(&mut batch, &arguments.outputs(), directory, built)?;
                batch.commit()?;
                Ok(None)
            }
        }
    }
}

impl Targets {
    fn new(directory: &Path, arguments: &Arguments, sources: &[Source]) -> Result<Self, AnimError> {
        let (outputs, extension) =
            (arguments.outputs(), if arguments.disk { "kpd" } else { "kpa" });
        let clip = |source: &Source| {
            outputs.target_in(directory, &format!("{}.{extension}", file_stem(source.raw.name())))
        };
        let mut hashes = HashSet::new();
        let mut skeletons = Vec::new();
        for raw in sources.iter().map(|source| &source.raw) {
            let hash = raw.skeleton().hash();
            if hashes.insert(hash) {
                let bytes = raw.skeleton().to_bytes();
                let name = find_hashed(directory, hash, SKELETON)
                    .unwrap_or_else(|| hashed_name(&asset(raw.name()), hash, SKELETON));
                let target = outputs.target_of(directory, &name, &bytes)?;
                skeletons.extend(target.map(|target| (target, bytes)));
            }
        }
        Ok(Self { clips: sources.iter().map(clip).collect::<Result<_, _>>()?, skeletons })
    }
}

/// Returns the bytes that are stored in a clip's file.
fn bytes_of<'a>(
    built: &'a BuiltClip,
    target: &Target,
    is_disk: bool,
) -> Result<&'a [u8], AnimError> {
    if !is_disk {
        return Ok(built.built.clip.as_bytes());
    }
    let no_disk_form = || AnimError::BadClip {
        path: target.name().to_owned(),
        reason: "this clip has no disk form".to_owned(),
    };
    built.packed().ok_or_else(no_disk_form)
}
