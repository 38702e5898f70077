//! Damaged parts of a file, which the importer skips so that it can read the others.

use std::fmt;

use super::ImportError;
use super::budget::Budget;

/// An animation, or a channel of one, that cannot be read.
///
/// ```
/// use kinepack_anim::import::ImportOptions;
/// use kinepack_anim::import::gltf::{from_bytes, no_files};
///
/// // Two animations of one accessor. The second names a sampler that does not exist.
/// let text = r#"{ "asset": { "version": "2.0" }, "nodes": [{}],
///     "buffers": [{ "byteLength": 12, "uri": "data:;base64,AAAAAAAAAAAAAAAA" }],
///     "bufferViews": [{ "buffer": 0, "byteLength": 12 }],
///     "accessors": [
///         { "bufferView": 0, "componentType": 5126, "count": 1, "type": "SCALAR" },
///         { "bufferView": 0, "componentType": 5126, "count": 1, "type": "VEC3" }],
///     "animations": [
///         { "name": "Stand", "samplers": [{ "input": 0, "output": 1 }],
///           "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }] },
///         { "name": "Walk",
///           "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }] }] }"#;
/// let import = from_bytes("a.gltf", text.as_bytes(), &ImportOptions::default(), no_files)?;
/// assert_eq!(import.clips.len(), 1);
/// assert_eq!(
///     import.skipped[0].to_string(),
///     "a.gltf: animation 1, channel 0: its sampler does not exist; channel 0 of Walk is skipped"
/// );
/// # Ok::<(), kinepack_anim::import::ImportError>(())
/// ```
#[derive(Debug)]
pub struct Skipped {
    /// The name of the animation, or its index if it has none.
    pub animation: String,
    /// Index of the channel in the animation. The value is `None` if the whole animation is
    /// skipped.
    pub channel: Option<usize>,
    /// The reason why the part cannot be read.
    pub error: ImportError,
}

impl Skipped {
    /// Adds the part to `list`, and takes memory for it. If the error concerns more than one part,
    /// returns it instead.
    pub(super) fn add_to(
        self,
        list: &mut Vec<Self>,
        budget: &mut Budget,
    ) -> Result<(), ImportError> {
        if !self.error.is_of_a_part() {
            return Err(self.error);
        }
        // A growing list takes up to three times its memory. Errors also hold the file's name.
        let names = self.animation.len() + budget.file().len();
        budget.take((3 * size_of::<Self>() + names) as u64)?;
        list.push(self);
        Ok(())
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { animation, channel, error } = self;
        match channel {
            Some(channel) => write!(f, "{error}; channel {channel} of {animation} is skipped"),
            None => write!(f, "{error}; the animation {animation} is skipped"),
        }
    }
}
