//! The names of joints as text. BVH does not state an encoding: old programs write the encoding of
//! their system, such as Shift-JIS or Latin-1.

use percent_encoding::{CONTROLS, percent_encode};

use super::hierarchy::BvhJoint;
use crate::import::budget::Budget;
use crate::import::{ImportError, NameEncoding, Note};

/// The maximum number of bytes of text for each byte of a name. An escape such as `%83` takes
/// three.
const MOST_OF_BYTE: u64 = 3;

/// Converts all names to text. All names of a file share one encoding. If that encoding is not
/// UTF-8, a note reports it.
pub(super) fn decode(
    file: &str,
    joints: &mut [BvhJoint],
    budget: &mut Budget,
) -> Result<Option<Note>, ImportError> {
    let is_other = |joint: &&mut BvhJoint| std::str::from_utf8(&joint.name).is_err();
    let Some(encoding) = joints.iter().filter_map(|joint| of_name(&joint.name)).max() else {
        return Ok(None);
    };
    let (mut names, mut example) = (0, None);
    for joint in joints.iter_mut().filter(is_other) {
        budget.take(MOST_OF_BYTE * joint.name.len() as u64)?;
        let mut text = String::with_capacity(MOST_OF_BYTE as usize * joint.name.len());
        match encoding {
            NameEncoding::Latin1 => text.extend(joint.name.iter().map(|byte| char::from(*byte))),
            NameEncoding::Unknown => text.extend(percent_encode(&joint.name, CONTROLS)),
        }
        // The example is truncated to a length that fits on a line.
        example.get_or_insert_with(|| text.chars().take(40).collect::<String>());
        joint.name = text.into_bytes();
        names += 1;
    }
    let (file, example) = (file.to_owned(), example.unwrap_or_default());
    Ok(Some(Note::OtherEncoding { file, encoding, names, example }))
}

/// Returns the encoding of a name that is not UTF-8. In Latin-1, the bytes from 0x80 to 0x9f are
/// not letters. In Shift-JIS, nearly all Japanese characters begin with one of those bytes.
fn of_name(name: &[u8]) -> Option<NameEncoding> {
    std::str::from_utf8(name).err()?;
    let has_controls = name.iter().any(|byte| (0x80..0xa0).contains(byte));
    Some(if has_controls { NameEncoding::Unknown } else { NameEncoding::Latin1 })
}
