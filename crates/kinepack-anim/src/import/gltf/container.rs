//! The two chunks of a GLB file, JSON and binary data, or a text that is JSON as a whole. Source: the specification of glTF 2.0, section
//! 4.4.

use ::gltf::json::{Root, deserialize};

use super::ImportError;

const HEADER_BYTES: usize = 12;
const JSON: [u8; 4] = *b"JSON";
const BINARY: [u8; 4] = *b"BIN\0";

/// Extensions that pack what buffers hold; their data makes no sense to who does not know them.
const PACKED: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// The document, and the binary chunk where there is one.
pub(super) fn read<'a>(file: &str, bytes: &'a [u8]) -> Result<(Root, Option<&'a [u8]>), ImportError> {
    let is_binary = bytes.starts_with(b"glTF");
    let (json, chunk) = if is_binary {
        split(bytes).map_err(|reason| ImportError::BadContainer { file: file.to_owned(), reason })?
    } else {
        (bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), None)
    };
    let root: Root = deserialize::from_slice(json)
        .map_err(|error| ImportError::BadJson { file: file.to_owned(), reason: error.to_string() })?;
    if root.asset.version.split('.').next() != Some("2") {
        return Err(ImportError::UnsupportedVersion { file: file.to_owned(), version: root.asset.version });
    }
    if let Some(extension) = root.extensions_required.iter().find(|name| PACKED.contains(&name.as_str())) {
        return Err(ImportError::UnsupportedExtension { file: file.to_owned(), extension: extension.clone() });
    }
    Ok((root, chunk))
}

/// The JSON chunk, which is the first, and the binary one, which is the second or missing. Others are left alone.
fn split(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), &'static str> {
    let word = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|word| u32::from_le_bytes(*word));
    let (Some(version), Some(length)) = (word(4), word(8)) else { return Err("it ends within its header") };
    if version != 2 {
        return Err("its version is not 2");
    }
    let Some(chunks) = bytes.get(HEADER_BYTES..length as usize) else {
        return Err("it is shorter than its header says, or its header says that it is shorter than that");
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

/// Kind and data of the first chunk, and what comes after it.
fn chunk(bytes: &[u8]) -> Option<([u8; 4], &[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (kind, rest) = rest.split_first_chunk()?;
    let (data, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((*kind, data, rest))
}
