//! Splits a GLB file into its two chunks, JSON and binary data. Other files are JSON as a whole.
//! Source: the specification of glTF 2.0, section 4.4.

use ::gltf::json::{self, Root, deserialize};

use super::ImportError;
use crate::import::budget::Budget;

const HEADER_BYTES: usize = 12;
const JSON: [u8; 4] = *b"JSON";
const BINARY: [u8; 4] = *b"BIN\0";

/// Extensions that compress buffers. Without support for them the data are meaningless.
const PACKED: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// Reads the document, and the binary chunk if there is one.
pub(super) fn read<'a>(
    file: &str,
    bytes: &'a [u8],
    budget: &mut Budget,
) -> Result<(Root, Option<&'a [u8]>), ImportError> {
    let is_binary = bytes.starts_with(b"glTF");
    let (json, chunk) = if is_binary {
        split(bytes)
            .map_err(|reason| ImportError::BadContainer { file: file.to_owned(), reason })?
    } else {
        (bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), None)
    };
    budget.take(most_bytes(json))?;
    let root: Root = deserialize::from_slice(json).map_err(|error| ImportError::BadJson {
        file: file.to_owned(),
        reason: error.to_string(),
    })?;
    if root.asset.version.split('.').next() != Some("2") {
        return Err(ImportError::UnsupportedVersion {
            file: file.to_owned(),
            version: root.asset.version,
        });
    }
    if let Some(extension) =
        root.extensions_required.iter().find(|name| PACKED.contains(&name.as_str()))
    {
        return Err(ImportError::UnsupportedExtension {
            file: file.to_owned(),
            extension: extension.clone(),
        });
    }
    Ok((root, chunk))
}

/// The most memory that a document takes after parsing, including what the importer makes of its
/// nodes. Three bytes of JSON can become a material, so this is counted before parsing. The count
/// includes braces and commas inside strings, but these are few.
fn most_bytes(json: &[u8]) -> u64 {
    let (mut objects, mut lists_of_objects, mut elements) = (0, 0, 0);
    let mut last = 0;
    for &byte in json.iter().filter(|byte| !byte.is_ascii_whitespace()) {
        objects += u64::from(byte == b'{');
        lists_of_objects += u64::from(byte == b'{' && last == b'[');
        elements += u64::from(matches!(byte, b',' | b'[' | b':'));
        last = byte;
    }
    // A growing list takes up to three times the memory it needs while it moves, and has room for
    // at least four elements.
    let of_objects = (GROWTH * objects + FEWEST * lists_of_objects) * OBJECT_BYTES as u64;
    of_objects + elements * ELEMENT_BYTES + TEXT_COPIES * json.len() as u64
}

const GROWTH: u64 = 3;
const FEWEST: u64 = 4;
/// A string is read into a growing buffer, then copied.
const TEXT_COPIES: u64 = 4;
/// Elements of lists and maps that are not objects themselves. The largest are those of maps of
/// arbitrary values.
const ELEMENT_BYTES: u64 = 160;
/// The largest object.
const OBJECT_BYTES: usize = {
    let sizes = [
        size_of::<json::Accessor>(),
        size_of::<json::Animation>(),
        size_of::<json::Buffer>(),
        size_of::<json::buffer::View>(),
        size_of::<json::Camera>(),
        size_of::<json::Image>(),
        size_of::<json::Material>(),
        size_of::<json::Mesh>(),
        size_of::<json::mesh::Primitive>(),
        size_of::<json::Node>(),
        size_of::<json::Scene>(),
        size_of::<json::Skin>(),
        size_of::<json::Texture>(),
        // A node of the rig, and a leaf of a map of arbitrary values.
        512,
        11 * (size_of::<String>() + size_of::<json::Value>()) + 32,
    ];
    let (mut largest, mut index) = (0, 0);
    while index < sizes.len() {
        largest = if sizes[index] > largest { sizes[index] } else { largest };
        index += 1;
    }
    largest
};

/// The JSON chunk, which comes first, and the binary chunk, which comes second if there is one.
/// Other chunks are ignored.
fn split(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), &'static str> {
    let word = |at: usize| {
        bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|word| u32::from_le_bytes(*word))
    };
    let (Some(version), Some(length)) = (word(4), word(8)) else {
        return Err("it ends within its header");
    };
    if version != 2 {
        return Err("its version is not 2");
    }
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

/// The kind and data of the first chunk, and the bytes after it.
fn chunk(bytes: &[u8]) -> Option<([u8; 4], &[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (kind, rest) = rest.split_first_chunk()?;
    let (data, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((*kind, data, rest))
}
