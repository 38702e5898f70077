//! Identifies a file by its first bytes, so that a reader given the wrong file can name it.

use std::fmt;

/// The first four bytes of the files that this crate defines. This module lists them together,
/// because every reader must recognize the files of the other readers.
pub(crate) mod magic {
    pub(crate) const BLOCK_CLIP: [u8; 4] = *b"KPAB";
    pub(crate) const DISK_CLIP: [u8; 4] = *b"KPAD";
    pub(crate) const KEYED_CLIP: [u8; 4] = *b"KPAC";
    pub(crate) const SKELETON: [u8; 4] = *b"KPSK";
    pub(crate) const RIG: [u8; 4] = *b"KPAR";
    pub(crate) const DATABASE: [u8; 4] = *b"KPDB";
}

/// A kind of file that this crate or `kinepack-anm` reads.
///
/// ```
/// use kinepack_anim::keyed::KeyedClip;
/// use kinepack_anim::{ClipError, FileKind, Skeleton};
///
/// let skeleton = Skeleton::new(Vec::new())?.to_bytes();
/// assert_eq!(FileKind::detect(&skeleton), Some(FileKind::Skeleton));
/// let error = KeyedClip::from_bytes(skeleton).unwrap_err();
/// assert_eq!(error, ClipError::OtherFile { found: FileKind::Skeleton });
/// assert_eq!(error.to_string(), "this is a skeleton (.kps): read it with Skeleton::from_bytes");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A block clip in its memory form, `.kpa`.
    BlockClip,
    /// A block clip in its disk form, `.kpd`.
    DiskClip,
    /// A keyed clip, `.kpa`.
    KeyedClip,
    /// A skeleton, `.kps`.
    Skeleton,
    /// A rig, `.kpr`.
    Rig,
    /// A clip database, `.kpb`.
    Database,
    /// Raw samples, `.clip`.
    RawClip,
    /// A binary glTF file, `.glb`.
    Gltf,
    /// An FBX file, `.fbx`.
    Fbx,
    /// A BVH file, `.bvh`.
    Bvh,
    /// An animation of League of Legends, `.anm`. The crate `kinepack-anm` reads it.
    Anm,
}

impl FileKind {
    /// Returns the kind of a file, detected from its first four bytes. The function does not check
    /// the rest.
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        Some(match bytes.first_chunk()? {
            &magic::BLOCK_CLIP => Self::BlockClip,
            &magic::DISK_CLIP => Self::DiskClip,
            &magic::KEYED_CLIP => Self::KeyedClip,
            &magic::SKELETON => Self::Skeleton,
            &magic::RIG => Self::Rig,
            &magic::DATABASE => Self::Database,
            b"CLIP" => Self::RawClip,
            b"glTF" => Self::Gltf,
            // The binary form of an FBX file begins with the first bytes, and its ASCII form with
            // the second.
            b"Kayd" | b"; FB" => Self::Fbx,
            b"HIER" => Self::Bvh,
            b"r3d2" => Self::Anm,
            _ => return None,
        })
    }

    /// Writes a reader's error for a file of this kind, with advice on how to read it.
    pub(crate) fn fmt_refused(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let advice = match self {
            Self::BlockClip => "read it with Clip::from_bytes or AnyClip::from_bytes",
            Self::DiskClip => "read it with AnyClip::from_bytes, or unpack it with disk::unpack",
            Self::KeyedClip => "read it with AnyClip::from_bytes or KeyedClip::from_bytes",
            Self::Skeleton => "read it with Skeleton::from_bytes",
            Self::Rig => "read it with Rig::from_bytes",
            Self::Database => "read it with ClipDatabase::from_bytes",
            Self::RawClip => "read it with exchange::read",
            Self::Gltf | Self::Fbx | Self::Bvh => {
                "compress it first, with `kinepack anim build` or with import::read and \
                 offline::build"
            }
            Self::Anm => "read it with kinepack_anm::Anm::from_bytes",
        };
        write!(f, "this is {self}: {advice}")
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BlockClip => "a block clip (.kpa)",
            Self::DiskClip => "a block clip in disk form (.kpd)",
            Self::KeyedClip => "a keyed clip (.kpa)",
            Self::Skeleton => "a skeleton (.kps)",
            Self::Rig => "a rig (.kpr)",
            Self::Database => "a clip database (.kpb)",
            Self::RawClip => "a clip of raw samples (.clip)",
            Self::Gltf => "a glTF file",
            Self::Fbx => "an FBX file",
            Self::Bvh => "a BVH file",
            Self::Anm => "an animation of League of Legends (.anm)",
        })
    }
}
