//! Splits a GLB file into its two chunks, JSON and binary data. All other files consist of JSON
//! only. Like other readers, this one accepts JSON that is looser than glTF allows. Source: the
//! specification of glTF 2.0, section 4.4.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::json::{self, Root};
use super::{ImportError, loose};
use crate::import::budget::Budget;

const HEADER_BYTES: usize = 12;
const JSON: [u8; 4] = *b"JSON";
const BINARY: [u8; 4] = *b"BIN\0";

/// The name of the draft of `EXT_meshopt_compression`. A reader without support for the draft
/// cannot read the data.
const DRAFT: &str = "MESHOPT_compression";

/// The parts of a glTF file.
pub(super) struct Parts<'a> {
    pub(super) root: Root,
    /// The binary chunk, if there is one.
    pub(super) chunk: Option<&'a [u8]>,
    /// Whether the JSON is not strict glTF but was read anyway.
    pub(super) is_loose: bool,
}

/// Reads the document, and locates the binary chunk.
pub(super) fn read<'a>(
    file: &str,
    bytes: &'a [u8],
    budget: &mut Budget,
) -> Result<Parts<'a>, ImportError> {
    let other_version =
        |version: String| ImportError::UnsupportedVersion { file: file.to_owned(), version };
    let (json, chunk) = if bytes.starts_with(b"glTF") {
        match bytes.get(4..8) {
            Some(&[2, 0, 0, 0]) | None => {}
            Some(version) => {
                let version = version.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
                return Err(other_version(version.to_string()));
            }
        }
        split(bytes)
            .map_err(|reason| ImportError::BadContainer { file: file.to_owned(), reason })?
    } else {
        (bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), None)
    };
    budget.take(most_bytes(json))?;
    let is_other = |version: &str| version.split('.').next() != Some("2");
    let (root, is_loose): (Root, bool) = match serde_json::from_slice(json) {
        Ok(root) => (root, false),
        Err(error) => {
            // A document of glTF 1.0 has objects in place of lists, so it fails to parse.
            if let Some(version) = stated_version(json).filter(|version| is_other(version)) {
                return Err(other_version(version));
            }
            // This memory is for the generic tree, and for the text that is made from it.
            budget.take(most_bytes(json) + loose::MOST_OF_BYTE * json.len() as u64)?;
            let tidy = loose::tidied(json).and_then(|tidy| serde_json::from_slice(&tidy).ok());
            let reason = || error.to_string();
            let bad = || ImportError::BadJson { file: file.to_owned(), reason: reason() };
            (tidy.ok_or_else(bad)?, true)
        }
    };
    if is_other(&root.asset.version) {
        return Err(other_version(root.asset.version));
    }
    if root.extensions_required.iter().any(|name| name == DRAFT) {
        let (file, extension) = (file.to_owned(), DRAFT.to_owned());
        return Err(ImportError::UnsupportedExtension { file, extension });
    }
    Ok(Parts { root, chunk, is_loose })
}

/// Returns the version that a document states, even if the rest of the document is not in the form
/// of glTF 2.0.
fn stated_version(json: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Head {
        asset: Asset,
    }
    #[derive(Deserialize)]
    struct Asset {
        version: Box<RawValue>,
    }
    let head: Head = serde_json::from_slice(json).ok()?;
    let version = head.asset.version.get().trim_matches('"');
    // A longer text cannot be a version.
    (version.len() < 16).then(|| version.to_owned())
}

/// Returns an upper bound on the memory that a document takes after parsing, including what the
/// importer makes from its nodes. Two bytes of JSON can become a mesh, so the caller takes this
/// memory before parsing. The bound also counts braces and commas inside strings, but these are
/// few.
fn most_bytes(json: &[u8]) -> u64 {
    let (mut objects, mut lists_of_objects, mut elements) = (0, 0, 0);
    let mut last = 0;
    for &byte in json.iter().filter(|byte| !byte.is_ascii_whitespace()) {
        objects += u64::from(byte == b'{');
        lists_of_objects += u64::from(byte == b'{' && last == b'[');
        elements += u64::from(matches!(byte, b',' | b'[' | b':'));
        last = byte;
    }
    // While a growing list moves, it takes up to three times the memory it needs. It has room for
    // at least four elements.
    let of_objects = (GROWTH * objects + FEWEST * lists_of_objects) * OBJECT_BYTES as u64;
    of_objects + elements * ELEMENT_BYTES + TEXT_COPIES * json.len() as u64
}

const GROWTH: u64 = 3;
const FEWEST: u64 = 4;
/// The number of copies of a string's text: a string is read into a growing buffer and then copied.
const TEXT_COPIES: u64 = 4;
/// An upper bound on the memory of a list's element that is not an object, such as a name, in a
/// growing list.
const ELEMENT_BYTES: u64 = 160;
/// The size of the largest object in bytes.
const OBJECT_BYTES: usize = {
    let sizes = [
        size_of::<json::Accessor>(),
        size_of::<json::Animation>(),
        size_of::<json::Buffer>(),
        size_of::<json::Channel>(),
        size_of::<json::Mesh>(),
        size_of::<json::Node>(),
        size_of::<json::Primitive>(),
        size_of::<json::Sampler>(),
        size_of::<json::Skin>(),
        size_of::<json::View>(),
        // This is the memory that `JointNodes` keeps for a node.
        512,
    ];
    let (mut largest, mut index) = (0, 0);
    while index < sizes.len() {
        largest = if sizes[index] > largest { sizes[index] } else { largest };
        index += 1;
    }
    largest
};

/// Returns the first chunk, which must be JSON, and the second one if it is binary data. Ignores
/// all other chunks.
fn split(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), &'static str> {
    let word = |at: usize| {
        bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|word| u32::from_le_bytes(*word))
    };
    let Some(length) = word(8) else {
        return Err("it ends within its header");
    };
    let Some(chunks) = bytes.get(HEADER_BYTES..length as usize) else {
        return Err("the length in its header is longer than the file or shorter than the header");
    };
    let (kind, json, rest) = chunk(chunks).ok_or("its JSON chunk is cut off")?;
    if kind != JSON {
        return Err("its first chunk is not JSON");
    }
    if rest.is_empty() {
        return Ok((json, None));
    }
    let (kind, data, _) = chunk(rest).ok_or("its second chunk is cut off")?;
    Ok((json, (kind == BINARY).then_some(data)))
}

/// Returns the kind and data of the first chunk, and the bytes after it.
fn chunk(bytes: &[u8]) -> Option<([u8; 4], &[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (kind, rest) = rest.split_first_chunk()?;
    let (data, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((*kind, data, rest))
}
