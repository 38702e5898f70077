//! Clips from glTF 2.0, in text or binary form. The skeleton has the joints of all skins, and the
//! animated nodes above, between and below them. Each animation becomes one clip, sampled at a
//! constant rate.
//!
//! If there is no skin, the animated nodes are the joints. Static nodes above the roots become part
//! of the roots: their rotation and translation go into the root transforms, their scale into all
//! translations. The bind pose is that of the nodes.
//!
//! The crate `gltf` is used only for its JSON types. The importer looks only at the parts of a
//! document that an animation refers to, and every lookup may fail. Errors elsewhere (in materials,
//! in meshes) are no reason to refuse a file. Source: the specification of glTF 2.0 by Khronos.

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

/// The default sample rate of animations.
const DEFAULT_RATE_HZ: f32 = 30.0;

/// Reads the clips in the bytes of a glTF file. Errors use `file` as the name of the file, and
/// clips are named after it, without directories and extension. `resolve` loads the file of a
/// buffer: it gets the path relative to the document, and the most bytes allowed. See [`no_files`].
///
/// # Errors
/// [`ImportError`], with the place, if the document is malformed or `resolve` fails, if there are
/// more joints or samples than a clip can have, or if a static scale above the joints differs
/// between axes. [`ImportError::TooMuchMemory`] if reading takes more memory than
/// [`ImportOptions::max_memory_bytes`] allows; this includes `bytes`.
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

/// A `resolve` for documents that need no other files. It refuses all of them.
///
/// # Errors
/// Always.
pub fn no_files(_path: &str, _most_bytes: u64) -> io::Result<Vec<u8>> {
    Err(io::Error::new(io::ErrorKind::NotFound, "there are no other files"))
}

/// The JSON of a document, and the name of its file for errors.
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
