//! Reads clips from files of glTF 2.0, in text or binary form. The skeleton has the joints of all
//! skins, and the animated nodes above, between and below them. Each animation becomes one clip,
//! sampled at a constant rate.
//!
//! If there is no skin, the animated nodes are the joints. Static nodes above the roots are folded
//! into the roots: their rotation and translation go into the root transforms, their scale into all
//! translations. The bind pose consists of the nodes' own transforms.
//!
//! Weights of morph targets become [curves](crate::Curve), named `{node}.{target}`. The first part
//! is the name of the node, of its mesh or of its parent. The second part is from the mesh's
//! `extras.targetNames`, or else it is the target's index. If two curves have the same name, the
//! second gets `-2`. `extras.markers` of an animation, as [`export`](crate::export) writes them,
//! become [markers](crate::Marker).
//!
//! The importer reads only the parts of a document that an animation references, and checks every
//! index. Errors elsewhere (in materials, in images) do not cause a file to be refused. The
//! importer [skips](Import::skipped) a channel that cannot be played, and reads the others. Like
//! other readers, it accepts JSON that is looser than the specification, and adds a [`Note`].
//!
//! The importer supports compressed buffers (`EXT_meshopt_compression`, `KHR_meshopt_compression`),
//! channels that address a node's own property by `KHR_animation_pointer`, and the names of human
//! bones in VRM files. Source: the specification of glTF 2.0 by Khronos.

mod accessor;
mod buffers;
mod channels;
mod container;
mod document;
mod function;
mod human;
mod joints;
mod json;
mod left_out;
mod loose;
mod markers;
mod meshopt;
mod nodes;
mod sample;
mod skips;
mod weights;

use std::io;
use std::sync::Arc;

use super::budget::Budget;
use super::clips::{self, Room};
use super::joints::JointNodes;
use super::{Import, ImportError, ImportOptions, LeftOutKind, Note};
use buffers::Buffers;
use container::Parts;
use document::Document;
use left_out::Collector;
use sample::Sampling;
use skips::Skips;
use weights::TargetNames;

use crate::{RawClip, Skeleton};

/// The file extensions of glTF. VRM files are glTF in binary form.
pub(super) const ENDINGS: &[&str] = &[".glb", ".gltf", ".vrm", ".vrma"];

/// The default sample rate of animations.
const DEFAULT_RATE_HZ: f32 = 30.0;

/// Reads the clips in the bytes of a glTF file. Errors use `file` as the name of the file. A clip
/// is named after the file, without directories and extension. `resolve` loads the file of a
/// buffer, given the path relative to the document and the most bytes allowed. See [`no_files`].
///
/// # Errors
/// Returns [`ImportError`], with the place, if the document is malformed or there are more joints
/// than a clip can have. The call also fails if a static scale above the joints differs between
/// axes, if all animations are damaged, or if no buffer can be loaded. Returns
/// [`ImportError::TooMuchMemory`] if reading takes more memory than
/// [`ImportOptions::max_memory_bytes`] allows. `bytes` counts as memory.
pub fn from_bytes(
    file: &str,
    bytes: &[u8],
    options: &ImportOptions,
    mut resolve: impl FnMut(&str, u64) -> io::Result<Vec<u8>>,
) -> Result<Import, ImportError> {
    options.validate()?;
    let mut budget = Budget::new(file, options.max_memory_bytes, bytes.len() as u64)?;
    let Parts { root, chunk, is_loose } = container::read(file, bytes, &mut budget)?;
    let document = Document { file, root: &root };
    let mut notes = Vec::new();
    if is_loose {
        let fault = "its JSON has null, whole numbers with a fraction or a key given twice, \
                     of which the last counts";
        notes.push(Note::Faulty { file: file.to_owned(), fault });
    }
    let mut names = Default::default();
    if options.humanoid_names {
        match human::names(&root, &mut budget)? {
            Some(bones) => names = bones,
            None => notes.push(Note::NoHumanoid { file: file.to_owned() }),
        }
    }
    let mut left_out = Collector::new(document);
    let mut skips = Skips::default();
    let found = joints::find(document, options, &names)?;
    let mut buffers = Buffers::new(document, chunk, options, budget, &mut resolve);
    let joint_nodes = found.as_ref().map(|(joint_nodes, _)| joint_nodes);
    let clips = read_clips(&mut buffers, joint_nodes, options, &mut left_out, &mut skips)?;
    match &found {
        Some((_, Some(extent_m))) => {
            notes.push(Note::TakenAsCm { file: file.to_owned(), extent_m: *extent_m });
        }
        Some((joint_nodes, None)) if options.unit_cm.is_none() => {
            notes.extend(clips::size_note(file, &joint_nodes.skeleton, joint_nodes.unit_cm()));
        }
        _ => {}
    }
    if clips.is_empty() {
        if !skips.list.is_empty() {
            return Err(skips.list.swap_remove(0).error);
        }
        notes.push(Note::NoClip { file: file.to_owned(), animations: root.animations.len() });
    }
    let left_out = left_out.finish(options.humanoid_names);
    Ok(Import { clips, notes, left_out, skipped: skips.list })
}

/// Reads the skeleton in the bytes of a glTF file, which need not have an animation: a model of VRM
/// usually has none. Returns `None` if the file has no joints.
///
/// # Errors
/// Returns the errors of [`from_bytes`] for a document whose nodes cannot be read.
pub fn skeleton(
    file: &str,
    bytes: &[u8],
    options: &ImportOptions,
) -> Result<Option<Arc<Skeleton>>, ImportError> {
    options.validate()?;
    let mut budget = Budget::new(file, options.max_memory_bytes, bytes.len() as u64)?;
    let Parts { root, .. } = container::read(file, bytes, &mut budget)?;
    let names = match options.humanoid_names {
        true => human::names(&root, &mut budget)?.unwrap_or_default(),
        false => Default::default(),
    };
    let found = joints::find(Document { file, root: &root }, options, &names)?;
    Ok(found.map(|(joint_nodes, _)| joint_nodes.skeleton))
}

/// Returns the clips of all animations.
fn read_clips<'a>(
    buffers: &mut Buffers<'a>,
    joint_nodes: Option<&JointNodes>,
    options: &ImportOptions,
    left_out: &mut Collector<'a>,
    skips: &mut Skips,
) -> Result<Vec<RawClip>, ImportError> {
    let document = buffers.document;
    let rate_hz = options.rate_hz.unwrap_or(DEFAULT_RATE_HZ);
    let stem = clips::stem(document.file, ENDINGS);
    let mut room = Room::new(options.max_transforms);
    let target_names = TargetNames::default();
    let mut sampling =
        joint_nodes.map(|joint_nodes| Sampling { joint_nodes, rate_hz, target_names });
    let mut clips = Vec::new();
    for (index, animation) in document.root.animations.iter().enumerate() {
        let channels = channels::read(buffers, index, animation, joint_nodes, left_out, skips)?;
        let sampled = match &mut sampling {
            Some(sampling) if !channels.is_empty() => {
                let name = clips::name(stem, &document.animation_name(index));
                sample::clip(buffers, sampling, name, channels, room, skips)
            }
            _ => Ok(None),
        };
        match sampled {
            Ok(Some((mut clip, begin_s))) => {
                room.take(&clip);
                if !markers::add(&mut clip, animation, begin_s) {
                    left_out.animation(LeftOutKind::Markers, index);
                }
                clips.push(clip);
            }
            Ok(None) => left_out.animation(LeftOutKind::EmptyAnimation, index),
            Err(error) => {
                buffers.budget.release();
                skips.animation(&mut buffers.budget, document, index, error)?;
            }
        }
    }
    Ok(clips)
}

/// Returns a `resolve` for documents that need no other files. This function refuses every file.
///
/// # Errors
/// Every call returns an error.
pub fn no_files(_path: &str, _most_bytes: u64) -> io::Result<Vec<u8>> {
    Err(io::Error::new(io::ErrorKind::NotFound, "there are no other files"))
}
