//! Why a file, or a part of it, gives no clip. Each variant names the file and the place in it.

use std::fmt;
use std::io;

use crate::{RawClipError, SkeletonError};

/// Why a file, or an animation of it, gives no clip. `file` is the name that the caller gave.
#[derive(Debug)]
#[non_exhaustive]
pub enum ImportError {
    /// An option with an invalid value.
    BadOption {
        /// The option's name.
        option: &'static str,
        /// What its value must be.
        expected: &'static str,
    },
    /// The file cannot be opened or read, or its compression is damaged.
    Io {
        /// The file.
        file: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// The name does not end in a known extension.
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// An FBX file, in a build without the feature `fbx`.
    NeedsFbx {
        /// The file.
        file: String,
    },
    /// More bytes than the limit, counting the unpacked file and the files that it refers to.
    TooManyBytes {
        /// The file.
        file: String,
        /// The limit.
        limit_bytes: u64,
    },
    /// The clips have more transforms than the limit.
    TooManyTransforms {
        /// The file.
        file: String,
        /// The clip that exceeds the limit.
        clip: String,
        /// Its joints.
        joints: usize,
        /// Its samples.
        samples: u64,
        /// The most transforms of all clips of the file together.
        limit: usize,
    },
    /// Reading would take more memory than the limit allows.
    TooMuchMemory {
        /// The file.
        file: String,
        /// Lower bound on the memory needed.
        needed_bytes: u64,
        /// The limit: [`ImportOptions::max_memory_bytes`](super::ImportOptions::max_memory_bytes).
        limit_bytes: u64,
    },
    /// The joints are not a valid skeleton.
    Skeleton {
        /// The file.
        file: String,
        /// The reason.
        error: SkeletonError,
    },
    /// The motion is not a valid clip.
    Clip {
        /// The file.
        file: String,
        /// The clip.
        clip: String,
        /// The reason.
        error: RawClipError,
    },

    /// BVH: an unexpected word.
    Unexpected {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What was expected.
        expected: String,
        /// What the file has instead.
        found: String,
    },
    /// BVH: no frames remain.
    AllDropped {
        /// The file.
        file: String,
        /// Number of frames in the file.
        frames: u64,
        /// Number of frames to drop.
        dropped: usize,
    },
    /// BVH: a rate that does not divide the motion's.
    RateNotPossible {
        /// The file.
        file: String,
        /// The requested rate.
        rate_hz: f32,
        /// The rate of the motion.
        native_hz: f32,
        /// The possible whole rates, if there are any.
        possible_hz: Vec<u32>,
    },

    /// FBX: the file cannot be read.
    BadFbx {
        /// The file.
        file: String,
        /// The reason.
        reason: String,
    },
    /// FBX: an animation stack with too many layers.
    BadStack {
        /// The file.
        file: String,
        /// Its number of layers.
        layers: usize,
        /// The most that are read.
        limit: usize,
    },

    /// glTF: the container is damaged or not of version 2.
    BadContainer {
        /// The file.
        file: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// glTF: the text is not valid JSON, or not valid glTF.
    BadJson {
        /// The file.
        file: String,
        /// The place and the reason.
        reason: String,
    },
    /// glTF: a version other than 2.
    UnsupportedVersion {
        /// The file.
        file: String,
        /// The version.
        version: String,
    },
    /// glTF: data packed in an unsupported way.
    UnsupportedExtension {
        /// The file.
        file: String,
        /// Name of the extension.
        extension: String,
    },
    /// glTF: a buffer that cannot be loaded.
    BadBuffer {
        /// The file.
        file: String,
        /// Index of the buffer.
        buffer: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// glTF: a buffer's file that cannot be read.
    BufferFile {
        /// The file.
        file: String,
        /// Index of the buffer.
        buffer: usize,
        /// The operating system's error.
        source: io::Error,
    },
    /// glTF: an accessor that cannot be read.
    BadAccessor {
        /// The file.
        file: String,
        /// Index of the accessor.
        accessor: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// glTF: an invalid node.
    BadNode {
        /// The file.
        file: String,
        /// Index of the node.
        node: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// glTF: a skin with a node that does not exist.
    BadSkin {
        /// The file.
        file: String,
        /// Index of the skin.
        skin: usize,
        /// Index of the node.
        node: usize,
    },
    /// glTF: a static scale above the joints that is not uniform, so their translations cannot
    /// absorb it.
    NonUniformScale {
        /// The file.
        file: String,
        /// Index of the node.
        node: usize,
        /// Its scale.
        scale: [f64; 3],
    },
    /// glTF: a channel of an animation that cannot be played.
    BadChannel {
        /// The file.
        file: String,
        /// Index of the animation.
        animation: usize,
        /// Index of the channel in it.
        channel: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// glTF: key times that are not finite or do not increase.
    BadKeyTime {
        /// The file.
        file: String,
        /// Index of the animation.
        animation: usize,
        /// Index of the channel in it.
        channel: usize,
        /// Index of the first key whose time is not finite or not after that of the previous key.
        key: usize,
    },
    /// glTF: the number of values does not match the number of key times.
    WrongKeyCount {
        /// The file.
        file: String,
        /// Index of the animation.
        animation: usize,
        /// Index of the channel in it.
        channel: usize,
        /// Number of values in the file.
        values: u64,
        /// Number of values needed.
        expected: u64,
    },
    /// glTF: the animations read too many keys for the clips of one file. The limit exists because
    /// many channels may share an accessor.
    TooManyKeys {
        /// The file.
        file: String,
        /// Index of the accessor that exceeded the limit.
        accessor: usize,
        /// The most keys that all channels of the file may read together.
        limit: u64,
    },
    /// glTF: a key's value with a number that is not finite, or a rotation of length zero.
    BadKeyValue {
        /// The file.
        file: String,
        /// Index of the animation.
        animation: usize,
        /// Index of the channel in it.
        channel: usize,
        /// Index of the key.
        key: usize,
    },
    /// glTF: a spline of rotations that passes through zero.
    ZeroRotation {
        /// The file.
        file: String,
        /// Index of the animation.
        animation: usize,
        /// Index of the channel in it.
        channel: usize,
        /// The time in the file.
        time_s: f64,
    },
}

impl ImportError {
    /// Whether the error concerns one animation or one channel, so that others can be read without
    /// it. Limits count the whole file, so exceeding one does not qualify.
    pub(super) fn is_of_a_part(&self) -> bool {
        matches!(
            self,
            Self::Clip { .. }
                | Self::BadStack { .. }
                | Self::BadBuffer { .. }
                | Self::BufferFile { .. }
                | Self::BadAccessor { .. }
                | Self::BadChannel { .. }
                | Self::BadKeyTime { .. }
                | Self::WrongKeyCount { .. }
                | Self::BadKeyValue { .. }
                | Self::ZeroRotation { .. }
        )
    }

    /// Writes an error that only glTF has. `fmt` calls it for no other errors.
    fn fmt_gltf(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadContainer { file, reason } => write!(f, "{file}: not a GLB file: {reason}"),
            Self::BadJson { file, reason } => write!(f, "{file}: not glTF: {reason}"),
            Self::UnsupportedVersion { file, version } => {
                write!(
                    f,
                    "{file}: glTF version {version:?}: only 2.0 can be read: convert the file, \
                     for example with gltf-pipeline"
                )
            }
            Self::UnsupportedExtension { file, extension } => {
                write!(
                    f,
                    "{file}: needs {extension}, which cannot be read: save the file without it"
                )
            }
            Self::BadBuffer { file, buffer, reason } => {
                write!(f, "{file}: buffer {buffer}: {reason}")
            }
            Self::BufferFile { file, buffer, source } => {
                write!(f, "{file}: buffer {buffer}: its file: {source}")
            }
            Self::BadAccessor { file, accessor, reason } => {
                write!(f, "{file}: accessor {accessor}: {reason}")
            }
            Self::BadNode { file, node, reason } => write!(f, "{file}: node {node}: {reason}"),
            Self::BadSkin { file, skin, node } => {
                write!(f, "{file}: skin {skin}: node {node} does not exist")
            }
            Self::NonUniformScale { file, node, scale: [x, y, z] } => write!(
                f,
                "{file}: node {node}: it is above the joints and has a scale of {x} {y} {z}; \
                 this cannot become part of their translations, because it differs between axes \
                 or is zero: apply it before saving"
            ),
            Self::BadChannel { file, animation, channel, reason } => {
                write!(f, "{file}: animation {animation}, channel {channel}: {reason}")
            }
            Self::BadKeyTime { file, animation, channel, key } => write!(
                f,
                "{file}: animation {animation}, channel {channel}: \
                 the time of key {key} is not finite or not after the previous one"
            ),
            Self::WrongKeyCount { file, animation, channel, values, expected } => write!(
                f,
                "{file}: animation {animation}, channel {channel}: \
                 {values} values, but its key times need {expected}"
            ),
            Self::TooManyKeys { file, accessor, limit } => {
                write!(
                    f,
                    "{file}: accessor {accessor}: its channels read more than {limit} keys together"
                )
            }
            Self::BadKeyValue { file, animation, channel, key } => write!(
                f,
                "{file}: animation {animation}, channel {channel}: \
                 key {key} has a number that is not finite or a rotation of length zero"
            ),
            Self::ZeroRotation { file, animation, channel, time_s } => write!(
                f,
                "{file}: animation {animation}, channel {channel}: \
                 the spline of rotations goes through zero at {time_s} s"
            ),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadOption { option, expected } => write!(f, "{option} must be {expected}"),
            Self::Io { file, source } => write!(f, "{file}: {source}"),
            Self::UnknownFormat { file } => {
                let fbx = if cfg!(feature = "fbx") { " .fbx," } else { "" };
                write!(
                    f,
                    "{file}: not an animation: \
                     the name must end in .glb, .gltf, .vrm, .vrma,{fbx} .bvh or .bvh.zst"
                )
            }
            Self::NeedsFbx { file } => write!(
                f,
                "{file}: this build cannot read FBX: \
                 turn on the feature `fbx`, or convert the file to glTF"
            ),
            Self::TooManyBytes { file, limit_bytes } => {
                write!(f, "{file}: larger than the limit of {limit_bytes} bytes")
            }
            Self::TooManyTransforms { file, clip, joints, samples, limit } => write!(
                f,
                "{file}: {clip} has {samples} samples of {joints} joints: \
                 the clips of a file may have {limit} transforms together"
            ),
            Self::TooMuchMemory { file, needed_bytes, limit_bytes } => write!(
                f,
                "{file}: reading it takes at least {needed_bytes} bytes of memory, \
                 and {limit_bytes} are allowed for a file of its size"
            ),
            Self::Skeleton { file, error } => write!(f, "{file}: {error}"),
            Self::Clip { file, clip, error } => write!(f, "{file}: {clip}: {error}"),
            Self::Unexpected { file, line, expected, found } => {
                write!(f, "{file}: line {line}: expected {expected}, found {found}")
            }
            Self::AllDropped { file, frames, dropped } => {
                write!(f, "{file}: dropping {dropped} of its {frames} frames leaves none")
            }
            Self::RateNotPossible { file, rate_hz, native_hz, possible_hz } => {
                write!(
                    f,
                    "{file}: {rate_hz} Hz does not divide the motion's {native_hz} Hz; \
                     possible are "
                )?;
                if possible_hz.is_empty() {
                    return write!(f, "{native_hz} Hz divided by whole numbers");
                }
                let rates: Vec<String> = possible_hz.iter().map(ToString::to_string).collect();
                write!(f, "{}", rates.join(", "))
            }
            Self::BadFbx { file, reason } => write!(f, "{file}: FBX: {reason}"),
            Self::BadStack { file, layers, limit } => {
                write!(f, "{file}: FBX: {layers} layers, at most {limit} are read")
            }
            Self::BadContainer { .. }
            | Self::BadJson { .. }
            | Self::UnsupportedVersion { .. }
            | Self::UnsupportedExtension { .. }
            | Self::BadBuffer { .. }
            | Self::BufferFile { .. }
            | Self::BadAccessor { .. }
            | Self::BadNode { .. }
            | Self::BadSkin { .. }
            | Self::NonUniformScale { .. }
            | Self::BadChannel { .. }
            | Self::BadKeyTime { .. }
            | Self::WrongKeyCount { .. }
            | Self::TooManyKeys { .. }
            | Self::BadKeyValue { .. }
            | Self::ZeroRotation { .. } => self.fmt_gltf(f),
        }
    }
}

impl std::error::Error for ImportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } | Self::BufferFile { source, .. } => Some(source),
            Self::Skeleton { error, .. } => Some(error),
            Self::Clip { error, .. } => Some(error),
            _ => None,
        }
    }
}
