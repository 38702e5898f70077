//! The options for the base of additive clips.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use command_kit::counted;
use kinepack_anim::additive::AdditiveError;
use kinepack_anim::import::ImportOptions;
use kinepack_anim::{Curve, RawClip, Skeleton, additive};

use super::file_types::file_and_clip;
use super::joints::joint_name;
use super::skipped::Skipped;
use super::sources::{self, Source};
use crate::anim::error::AnimError;

/// The options that name the base.
#[derive(Args, Clone, Debug)]
pub(crate) struct BaseArguments {
    /// Build additive clips: the difference of each clip from this one, which has one sample or as
    /// many samples as the clip. #CLIP selects a clip of a file with several clips.
    #[arg(long, value_name = "FILE[#CLIP]", help_heading = "Additive clips")]
    base: Option<String>,
    /// Use one sample of the base as a pose. The first sample is 0.
    #[arg(long, value_name = "SAMPLE", requires = "base", help_heading = "Additive clips")]
    base_sample: Option<usize>,
}

/// The base of additive clips.
pub(crate) struct Base {
    given: String,
    /// The chosen sample of a longer clip. The value is `None` if no sample was chosen.
    sample: Option<usize>,
    pub(crate) raw: Arc<RawClip>,
}

impl BaseArguments {
    pub(crate) fn is_given(&self) -> bool {
        self.base.is_some()
    }

    /// Returns the file of the base, or `None` if no base is given.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        self.base.as_ref().map(|given| file_and_clip(given).0)
    }

    /// Reads the base. Returns `None` if none is given. Also returns the notes of its import, and
    /// the parts that the import skipped.
    pub(crate) fn read(
        &self,
        options: &ImportOptions,
    ) -> Result<Option<(Base, Vec<String>, Skipped)>, AnimError> {
        let Some(given) = &self.base else { return Ok(None) };
        let (file, name) = file_and_clip(given);
        let (sources, notes, skipped) = sources::read(&[file], options)?.into_parts();
        if sources.is_empty() {
            skipped.refuse()?;
            return Err(bad(given, "the file has no clip"));
        }
        let clip = choose(given, name, sources)?;
        let raw = match self.base_sample {
            Some(sample) => pose(given, &clip, sample)?,
            None => clip,
        };
        Ok(Some((
            Base { given: given.clone(), sample: self.base_sample, raw: Arc::new(raw) },
            notes,
            skipped,
        )))
    }
}

/// Chooses the clip named `name`, which may be the name of its animation only. Without a name,
/// chooses the only clip of the file.
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
        (None, Some(_)) => {
            Err(bad(given, format!("the file has no such clip; its clips are {names}")))
        }
        (None, None) => Err(bad(
            given,
            format!("the file has {many} clips; choose one with FILE#CLIP: {names}"),
        )),
    }
}

fn names_of(sources: &[Source]) -> String {
    sources.iter().map(|source| source.raw.name()).collect::<Vec<_>>().join(", ")
}

/// Returns a clip of one sample of `clip`.
fn pose(given: &str, clip: &RawClip, sample: usize) -> Result<RawClip, AnimError> {
    let samples = clip.samples();
    if sample >= samples {
        let reason =
            format!("no sample {sample}: {} has samples 0 to {}", clip.name(), samples - 1);
        return Err(bad(given, reason));
    }
    let pose = clip.pose(sample).to_vec();
    let curves = clip
        .curves()
        .iter()
        .map(|curve| Curve { values: vec![curve.values[sample]], ..curve.clone() });
    RawClip::new(clip.name(), Arc::clone(clip.skeleton()), clip.rate_hz(), pose)
        .and_then(|pose| pose.with_curves(curves.collect()))
        .map_err(|error| bad(given, error.to_string()))
}

fn bad(given: &str, reason: impl Into<String>) -> AnimError {
    AnimError::Base { given: given.to_owned(), reason: reason.into() }
}

impl Base {
    /// Returns the difference of each clip from the base. Skips clips that do not fit the base.
    pub(crate) fn differences(&self, sources: Vec<Source>, skipped: &mut Skipped) -> Vec<Source> {
        let difference = |Source { file, raw }: Source| {
            let refused =
                |reason| bad(&self.given, format!("{} of {} {reason}", raw.name(), file.display()));
            self.check(&raw).map_err(refused)?;
            let difference = additive::difference(&raw, &self.raw);
            let raw = difference.map_err(|error| self.no_difference(&file, &raw, &error))?;
            Ok(Source { file, raw })
        };
        let mut all = Vec::with_capacity(sources.len());
        for source in sources {
            match difference(source) {
                Ok(source) => all.push(source),
                Err(failure) => skipped.add(failure),
            }
        }
        all
    }

    fn no_difference(&self, file: &Path, raw: &RawClip, error: &AdditiveError) -> AnimError {
        let place = format!("{} of {}", raw.name(), file.display());
        let reason = match error {
            AdditiveError::ZeroScale { joint, sample } => format!(
                "in sample {sample} of {place}, {} has a scale and the base has 0, which no \
                 difference changes; use a base that shows the joint, such as another --base-sample",
                joint_name(raw.skeleton(), *joint)
            ),
            error => format!("{place}: {error}"),
        };
        bad(&self.given, reason)
    }

    /// Checks that a clip can be added to the base.
    fn check(&self, raw: &RawClip) -> Result<(), String> {
        check_joints(raw.skeleton(), self.raw.skeleton())?;
        let (own, base) = (raw.samples(), self.raw.samples());
        if base != 1 && base != own {
            return Err(format!(
                "has {}, the base has {base}; use one of those as a pose with --base-sample",
                counted(own, "sample")
            ));
        }
        Ok(())
    }

    /// Returns the note for clips that were built with this base.
    pub(crate) fn note(&self) -> String {
        let of = match self.sample {
            Some(sample) => format!(" at sample {sample}"),
            None if self.raw.samples() > 1 => ", sample by sample".to_owned(),
            None => String::new(),
        };
        format!(
            "additive clips: differences from {}{of}; errors are measured with the base added",
            self.raw.name()
        )
    }
}

/// Checks that a clip has the joints of the base. Joints of `.clip` files have no names.
fn check_joints(own: &Skeleton, base: &Skeleton) -> Result<(), String> {
    if own.len() != base.len() {
        return Err(format!(
            "has {}, the base has {}; both must have one skeleton",
            counted(own.len(), "joint"),
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
            "has another parent for {} than the base; both must have one skeleton",
            joint_name(own, joint)
        )),
        Some(joint) => {
            let (own, base) = (joint_name(own, joint), joint_name(base, joint));
            Err(format!("has the joint {own} in place of {base}; both must have one skeleton"))
        }
        None => Ok(()),
    }
}
