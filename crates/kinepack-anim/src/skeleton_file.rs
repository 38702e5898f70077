//! Reads and writes skeletons as bytes (see `spec/ANIM.md`, section 7). Clips of one character
//! share a skeleton, so they do not store it. Instead, a clip identifies its skeleton by the hash
//! of these bytes.

use kinepack::hash::Fnv1a;

use crate::file_kind::magic;
use crate::{FileKind, Joint, Skeleton, SkeletonFileError, Transform};

const VERSION: u8 = 1;
const HEADER_BYTES: usize = 8;
const NO_PARENT: u16 = u16::MAX;

impl Skeleton {
    /// Encodes the skeleton as a file. Each joint takes 42 bytes plus its name.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = magic::SKELETON.to_vec();
        bytes.extend_from_slice(&[VERSION, 0]);
        bytes.extend_from_slice(&(self.len() as u16).to_le_bytes());
        for joint in self.joints() {
            bytes.extend_from_slice(&joint.parent.unwrap_or(NO_PARENT).to_le_bytes());
            bytes.extend(joint.bind.floats().flat_map(f32::to_le_bytes));
        }
        for joint in self.joints() {
            let name = shortened(&joint.name);
            bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
            bytes.extend_from_slice(name.as_bytes());
        }
        bytes
    }

    /// Reads a skeleton.
    ///
    /// # Errors
    /// Returns [`SkeletonFileError`] if the bytes are not a valid skeleton file. The memory is
    /// proportional to the length of `bytes`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SkeletonFileError> {
        if !bytes.starts_with(&magic::SKELETON) {
            return Err(FileKind::detect(bytes).map_or(SkeletonFileError::NoSkeleton, |found| {
                SkeletonFileError::OtherFile { found }
            }));
        }
        let (head, mut rest) = split(bytes, HEADER_BYTES)?;
        if head[4..6] != [VERSION, 0] {
            return Err(SkeletonFileError::Version { version: head[4], newest: VERSION });
        }
        let joints = usize::from(u16::from_le_bytes([head[6], head[7]]));
        let mut list = Vec::with_capacity(joints.min(bytes.len() / (2 + Transform::BYTES)));
        for _ in 0..joints {
            let (parent, bind);
            (parent, rest) = split(rest, 2)?;
            (bind, rest) = split(rest, Transform::BYTES)?;
            let parent = Some(u16::from_le_bytes([parent[0], parent[1]]))
                .filter(|parent| *parent != NO_PARENT);
            let bind = Transform::all_from_bytes(bind).next().unwrap_or_default();
            list.push(Joint { name: String::new(), parent, bind });
        }
        for joint in &mut list {
            let (len, name);
            (len, rest) = split(rest, 2)?;
            (name, rest) = split(rest, usize::from(u16::from_le_bytes([len[0], len[1]])))?;
            joint.name =
                std::str::from_utf8(name).map_err(|_| SkeletonFileError::BadName)?.to_owned();
        }
        if !rest.is_empty() {
            return Err(SkeletonFileError::TrailingData { bytes: rest.len() });
        }
        Ok(Self::new(list)?)
    }

    /// Returns a hash that identifies the skeleton, which is the FNV-1a hash of
    /// [`to_bytes`](Self::to_bytes). It does not protect against deliberate collisions.
    pub fn hash(&self) -> u64 {
        let mut hash = Fnv1a::new();
        hash.add(&self.to_bytes());
        hash.finish()
    }
}

/// Returns the longest prefix of a name that fits its 16-bit length, cut at a character boundary.
fn shortened(name: &str) -> &str {
    let mut end = name.len().min(usize::from(u16::MAX));
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

fn split(bytes: &[u8], at: usize) -> Result<(&[u8], &[u8]), SkeletonFileError> {
    bytes.split_at_checked(at).ok_or(SkeletonFileError::EndOfData)
}
