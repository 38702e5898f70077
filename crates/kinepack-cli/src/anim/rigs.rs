//! Rigs, which hold the data that clips of one skeleton share. A skeleton with several clips gets a
//! rig.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use command_kit::output::{Batch, Outputs};
use kinepack_anim::offline::{BuildOptions, RigTrainer, Scheme};
use kinepack_anim::{RawClip, Rig};
use serde::Serialize;

use super::compiled::{self, RIG, hashed_name};
use super::names::asset;
use super::sources::{self, BuiltClip, Source};
use crate::anim::error::AnimError;

/// Rigs by the hash of their skeletons.
#[derive(Default)]
pub(crate) struct Rigs {
    by_skeleton: BTreeMap<u64, NamedRig>,
}

/// A rig, and the name of its file.
struct NamedRig {
    file: String,
    rig: Arc<Rig>,
}

/// The report of a rig that clips use.
#[derive(Serialize)]
pub(crate) struct RigReport {
    file: String,
    joints: usize,
    tracks: usize,
    constants: usize,
    bytes: usize,
    /// The number of clips that use the rig.
    clips: usize,
}

impl RigReport {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn cells(&self) -> [String; 6] {
        let counts = [self.joints, self.tracks, self.constants, self.bytes, self.clips]
            .map(|count| count.to_string());
        let [joints, tracks, constants, bytes, clips] = counts;
        [self.file.clone(), joints, tracks, constants, bytes, clips]
    }
}

impl Rigs {
    /// Finds or trains the rigs for clips that are built with the given options. If `directory` has
    /// a rig of a skeleton, that rig is used unchanged. Each other skeleton with several clips gets
    /// a new rig.
    pub(crate) fn of(
        sources: &[Source],
        options: impl Fn(&RawClip) -> BuildOptions + Sync,
        directory: Option<&Path>,
        jobs: Option<NonZeroUsize>,
    ) -> Result<Self, AnimError> {
        let mut rigs = directory.map_or_else(|| Ok(Self::default()), Self::read)?;
        let mut trainers: BTreeMap<u64, RigTrainer> = BTreeMap::new();
        let known: HashSet<u64> = rigs.by_skeleton.keys().copied().collect();
        let add = |source: &Source| {
            let skeleton = source.raw.skeleton();
            let hash = skeleton.hash();
            if known.contains(&hash) {
                return Ok(None);
            }
            let mut own = RigTrainer::new(skeleton);
            own.add(&source.raw, &options(&source.raw)).map_err(|error| source.not_built(error))?;
            Ok(Some((hash, own)))
        };
        sources::take_from_all_cores(sources, "read for rigs", jobs, add, |own| {
            let Some((hash, own)) = own else { return };
            match trainers.get_mut(&hash) {
                Some(trainer) => trainer.merge(own),
                None => drop(trainers.insert(hash, own)),
            }
        })?;
        // A rig is named after the first clip of its skeleton.
        let asset_of = |skeleton| {
            let of_skeleton = |source: &&Source| source.raw.skeleton().hash() == skeleton;
            sources.iter().find(of_skeleton).map(|source| asset(source.raw.name()))
        };
        for (skeleton, trainer) in trainers {
            if trainer.clips() < 2 {
                continue;
            }
            let rig = Arc::new(trainer.finish());
            let file = hashed_name(&asset_of(skeleton).unwrap_or_default(), rig.hash(), RIG);
            rigs.by_skeleton.insert(skeleton, NamedRig { file, rig });
        }
        Ok(rigs)
    }

    /// Reads the rigs in a directory. Returns none if the directory does not exist.
    fn read(directory: &Path) -> Result<Self, AnimError> {
        let failed = |error| AnimError::ClipFile { path: directory.to_owned(), error };
        let mut rigs = Self::default();
        if !directory.is_dir() {
            return Ok(rigs);
        }
        let files = fs::read_dir(directory).and_then(|entries| {
            entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>, std::io::Error>>()
        });
        let mut files = files.map_err(failed)?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == RIG));
        files.sort();
        for file in files {
            let rig = compiled::read_rig(&file)?;
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            rigs.by_skeleton
                .entry(rig.skeleton_hash())
                .or_insert_with(|| NamedRig { file: name, rig: Arc::new(rig) });
        }
        Ok(rigs)
    }

    /// Adds the rig of a clip's skeleton to the options for the clip.
    pub(crate) fn give(&self, raw: &RawClip, mut options: BuildOptions) -> BuildOptions {
        if let Scheme::Block(block) = &mut options.scheme {
            let named = self.by_skeleton.get(&raw.skeleton().hash());
            block.rig = named.map(|named| Arc::clone(&named.rig));
        }
        options
    }

    /// Writes the rigs that clips use.
    pub(crate) fn write(
        &self,
        batch: &mut Batch,
        outputs: &Outputs,
        directory: &Path,
        built: &[BuiltClip],
    ) -> Result<(), AnimError> {
        for (NamedRig { file, rig }, _) in self.used(built) {
            let bytes = rig.to_bytes();
            if let Some(target) = outputs.target_of(directory, file, &bytes)? {
                batch.write(&target, &bytes)?;
            }
        }
        Ok(())
    }

    /// Returns the rig of clips that have the same skeleton, or `None` if they do not use it.
    pub(crate) fn of_clips<'a>(&'a self, built: &'a [BuiltClip]) -> Option<&'a Arc<Rig>> {
        self.used(built).next().map(|(named, _)| &named.rig)
    }

    /// Returns the reports of the rigs that clips use. The rig of a database is within its file.
    pub(crate) fn reports(&self, built: &[BuiltClip], database: Option<&str>) -> Vec<RigReport> {
        let report = |(NamedRig { file, rig }, clips): (&NamedRig, usize)| RigReport {
            file: database.map_or_else(|| file.clone(), str::to_owned),
            joints: rig.joints(),
            tracks: rig.tracks().len(),
            constants: rig.constants().len(),
            bytes: rig.to_bytes().len(),
            clips,
        };
        self.used(built).map(report).collect()
    }

    /// Returns the rigs that clips use, each with the number of clips that use it.
    fn used<'a>(
        &'a self,
        built: &'a [BuiltClip],
    ) -> impl Iterator<Item = (&'a NamedRig, usize)> + 'a {
        let hash = |built: &BuiltClip| {
            built.built.clip.as_block().and_then(|clip| clip.rig()).map(|rig| rig.hash())
        };
        let clips_of =
            move |rig: &Rig| built.iter().filter(|built| hash(built) == Some(rig.hash())).count();
        self.by_skeleton
            .values()
            .map(move |named| (named, clips_of(&named.rig)))
            .filter(|(_, clips)| *clips > 0)
    }
}
