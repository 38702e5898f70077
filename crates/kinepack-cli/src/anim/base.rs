//! What additive clips are put on top of, on the command line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use kinepack_anim::import::ImportOptions;
use kinepack_anim::{RawClip, Skeleton, additive};

use super::joints::joint_name;
use super::sources::{self, Source};
use crate::anim::error::AnimError;

/// Which clip, and what of it.
#[derive(Args, Clone, Debug)]
pub(crate) struct BaseArguments {
    /// Build additive clips: what each adds to this one, a pose or a clip of as many samples. #CLIP
    /// is its name, where the file has several.
    #[arg(long, value_name = "FILE[#CLIP]", help_heading = "Additive clips")]
    base: Option<String>,
    /// Take one sample of the base as a pose, counted from 0.
    #[arg(long, value_name = "SAMPLE", requires = "base", help_heading = "Additive clips")]
    base_sample: Option<usize>,
}

/// What clips are put on top of.
pub(crate) struct Base {
    given: String,
    /// Which sample it is of a longer clip.
    sample: Option<usize>,
    pub(crate) raw: Arc<RawClip>,
}

impl BaseArguments {
    pub(crate) fn is_given(&self) -> bool {
        self.base.is_some()
    }

    /// Reads the base where there is one, and what importing it decided.
    pub(crate) fn read(
        &self,
        options: &ImportOptions,
    ) -> Result<Option<(Base, Vec<String>)>, AnimError> {
        let Some(given) = &self.base else { return Ok(None) };
        let (file, name) = file_and_clip(given);
        let (sources, notes) = sources::read(&[file], options)?;
        let clip = choose(given, name, sources)?;
        let raw = match self.base_sample {
            Some(sample) => pose(given, &clip, sample)?,
            None => clip,
        };
        Ok(Some((
            Base { given: given.clone(), sample: self.base_sample, raw: Arc::new(raw) },
            notes,
        )))
    }
}

/// Names of files and of clips may have a # of their own: it is the one behind a file that there
/// is.
fn file_and_clip(given: &str) -> (PathBuf, Option<&str>) {
    let is_file = |file: &str| Path::new(file).is_file();
    if is_file(given) {
        return (given.into(), None);
    }
    let parts = || given.rmatch_indices('#').map(|(at, _)| (&given[..at], &given[at + 1..]));
    match parts().find(|(file, _)| is_file(file)).or_else(|| parts().next()) {
        Some((file, clip)) => (file.into(), Some(clip)),
        None => (given.into(), None),
    }
}

/// The clip of that name, which may be that of the animation alone; without a name the only one.
fn choose(given: &str, name: Option<&str>, sources: Vec<Source>) -> Result<RawClip, AnimError> {
    let (many, names) = (sources.len(), names_of(&sources));
    let mut clips: Vec<RawClip> = sources.into_iter().map(|source| source.raw).collect();
    let found = match name {
        Some(name) => {
            let is_called = |clip: &RawClip| clip.name() == name;
            let is_of = |clip: &RawClip| {
                clip.name().strip_suffix(name).is_some_and(|file| file.ends_with("__"))
            };
            clips.iter().position(is_called).or_else(|| clips.iter().position(is_of))
        }
        None => (many == 1).then_some(0),
    };
    match (found, name) {
        (Some(index), _) => Ok(clips.swap_remove(index)),
        (None, _) if many == 0 => Err(bad(given, "no clip is in it")),
        (None, Some(_)) => Err(bad(given, format!("no such clip; there are {names}"))),
        (None, None) => Err(bad(
            given,
            format!("{many} clips are in it; write one behind it, FILE#CLIP: {names}"),
        )),
    }
}

fn names_of(sources: &[Source]) -> String {
    sources.iter().map(|source| source.raw.name()).collect::<Vec<_>>().join(", ")
}

/// One sample of a clip.
fn pose(given: &str, clip: &RawClip, sample: usize) -> Result<RawClip, AnimError> {
    let samples = clip.samples();
    if sample >= samples {
        let reason =
            format!("no sample {sample}; {} has {samples}, from 0 to {}", clip.name(), samples - 1);
        return Err(bad(given, reason));
    }
    let pose = clip.pose(sample).to_vec();
    RawClip::new(clip.name(), Arc::clone(clip.skeleton()), clip.rate_hz(), pose)
        .map_err(|error| bad(given, error.to_string()))
}

fn bad(given: &str, reason: impl Into<String>) -> AnimError {
    AnimError::Base { given: given.to_owned(), reason: reason.into() }
}

impl Base {
    /// The clips as what each adds to the base.
    pub(crate) fn differences(&self, sources: Vec<Source>) -> Result<Vec<Source>, AnimError> {
        let difference = |Source { file, raw }: Source| {
            let refused =
                |reason| bad(&self.given, format!("{} of {} {reason}", raw.name(), file.display()));
            self.check(&raw).map_err(refused)?;
            let raw = additive::difference(&raw, &self.raw);
            let raw =
                raw.map_err(|error| bad(&self.given, format!("{}: {error}", file.display())))?;
            Ok(Source { file, raw })
        };
        sources.into_iter().map(difference).collect()
    }

    /// Sees that a clip can be on top of the base.
    fn check(&self, raw: &RawClip) -> Result<(), String> {
        check_joints(raw.skeleton(), self.raw.skeleton())?;
        let (own, base) = (raw.samples(), self.raw.samples());
        if base != 1 && base != own {
            return Err(format!(
                "has {own} samples, the base {base}; --base-sample takes one of those as a pose"
            ));
        }
        Ok(())
    }

    /// What there is to know of clips that were built.
    pub(crate) fn note(&self) -> String {
        let of = match self.sample {
            Some(sample) => format!(" at sample {sample}"),
            None if self.raw.samples() > 1 => ", sample by sample".to_owned(),
            None => String::new(),
        };
        format!(
            "additive clips: what each adds to {}{of}; errors are those on top of it",
            self.raw.name()
        )
    }
}

/// Sees that the joints of a clip are those of the base. Joints of `.clip` files have no names.
fn check_joints(own: &Skeleton, base: &Skeleton) -> Result<(), String> {
    if own.len() != base.len() {
        return Err(format!(
            "has {} joints, the base {}; both must be of one skeleton",
            own.len(),
            base.len()
        ));
    }
    let is_other = |joint: &usize| {
        let (own, base) = (&own.joints()[*joint], &base.joints()[*joint]);
        own.parent != base.parent
            || (own.name != base.name && !own.name.is_empty() && !base.name.is_empty())
    };
    match (0..own.len()).find(is_other) {
        Some(joint) if own.joints()[joint].parent != base.joints()[joint].parent => Err(format!(
            "has {} below another joint than the base; both must be of one skeleton",
            joint_name(own, joint)
        )),
        Some(joint) => {
            let (own, base) = (joint_name(own, joint), joint_name(base, joint));
            Err(format!("has {own} where the base has {base}; both must be of one skeleton"))
        }
        None => Ok(()),
    }
}
