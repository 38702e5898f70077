//! Clips from glTF 2.0, in text or binary form: the joints of all skins, what is animated above,
//! between and below them, and one clip for each animation, sampled at a constant rate.
//!
//! Where no skin is, the nodes that are animated are the joints. What stands still above the roots
//! becomes part of the roots: its rotation and translation of their transforms, its scale of all
//! translations. The bind pose is that of the nodes.
//!
//! Of the crate `gltf` only the JSON as types is used: a document is looked at where an animation
//! leads, by look-ups that may fail, and what is wrong elsewhere (in materials, in meshes) is no
//! reason to refuse it. Source: the specification of glTF 2.0 by Khronos.

mod accessor;
mod buffers;
mod channels;
mod container;
mod curve;
mod nodes;
mod rig;
mod sample;

use std::io;

use ::gltf::json::Root;

use super::budget::Budget;
use super::{Import, ImportError, ImportOptions, Note, stem};
use buffers::Buffers;
use rig::Rig;
use sample::Room;

/// The rate at which animations are sampled where nobody says.
const DEFAULT_RATE_HZ: f32 = 30.0;

/// The clips of a glTF file's bytes. `file` is how errors name it, and what clips are named by,
/// without directories and ending. `resolve` is given the path of a buffer's file, relative to the
/// document, and the most bytes that it may have; see [`no_files`].
///
/// # Errors
/// [`ImportError`] with the place where the document is not as it must be or what `resolve` says,
/// where there are more joints or samples than a clip can have, or where a static scale above the
/// joints is not the same on all axes; [`ImportError::TooMuchMemory`] for more memory than
/// [`ImportOptions::max_memory_bytes`] allows, with `bytes` counted.
pub fn from_bytes(
    file: &str,
    bytes: &[u8],
    options: &ImportOptions,
    mut resolve: impl FnMut(&str, u64) -> io::Result<Vec<u8>>,
) -> Result<Import, ImportError> {
    options.validate()?;
    let mut budget = Budget::new(file, options, bytes.len() as u64)?;
    let (root, chunk) = container::read(file, bytes, &mut budget)?;
    let document = Document { file, root: &root };
    let Some(rig) = Rig::new(document, options.unit_cm)? else {
        return Ok(Import {
            clips: Vec::new(),
            notes: vec![Note::NoClip { file: file.to_owned() }],
        });
    };
    let mut notes = Vec::new();
    if let Some(extent_m) = rig.taken_as_cm() {
        notes.push(Note::TakenAsCm { file: file.to_owned(), extent_m });
    }
    let mut buffers = Buffers::new(document, chunk, options, budget, &mut resolve);
    let rate_hz = options.rate_hz.unwrap_or(DEFAULT_RATE_HZ);
    let stem = stem(file, &[".glb", ".gltf"]);
    let mut room = Room { limit: options.max_transforms, left: options.max_transforms };
    let mut clips = Vec::new();
    for (index, animation) in root.animations.iter().enumerate() {
        let own_name = animation.name.clone().unwrap_or_else(|| index.to_string());
        let name = format!("{stem}__{own_name}").replace(' ', "_").replace(['|', '/'], "-");
        let channels = channels::of(document, index, animation, &rig)?;
        if channels.is_empty() {
            continue;
        }
        let clip = sample::clip(&mut buffers, &rig, name, &channels, rate_hz, room)?;
        room.left -= clip.samples() * clip.joints();
        clips.push(clip);
    }
    if clips.is_empty() {
        notes.push(Note::NoClip { file: file.to_owned() });
    }
    Ok(Import { clips, notes })
}

/// For documents that need no further file: refuses each.
///
/// # Errors
/// Always.
pub fn no_files(_path: &str, _most_bytes: u64) -> io::Result<Vec<u8>> {
    Err(io::Error::new(io::ErrorKind::NotFound, "there are no files beside this one"))
}

/// The JSON, and how errors name its file.
#[derive(Clone, Copy)]
struct Document<'a> {
    file: &'a str,
    root: &'a Root,
}

impl Document<'_> {
    fn bad_node(self, node: usize, reason: &'static str) -> ImportError {
        ImportError::BadNode { file: self.file.to_owned(), node, reason }
    }

    fn bad_accessor(self, accessor: usize, reason: &'static str) -> ImportError {
        ImportError::BadAccessor { file: self.file.to_owned(), accessor, reason }
    }

    fn bad_buffer(self, buffer: usize, reason: &'static str) -> ImportError {
        ImportError::BadBuffer { file: self.file.to_owned(), buffer, reason }
    }
}
