//! The reasons why the importer cannot read a file, or a part of it. Each variant names the file
//! and the place in it.

use std::io;

use crate::{RawClipError, SkeletonError};

/// The reason why the importer cannot read a file, or an animation of it. `file` is the name that
/// the caller gave.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// An option has an invalid value.
    #[error("{option} must be {expected}")]
    BadOption {
        /// The option's name.
        option: &'static str,
        /// A description of the required value.
        expected: &'static str,
    },
    /// The file cannot be opened or read, or its compression is damaged.
    #[error("{file}: {source}")]
    Io {
        /// Name of the file.
        file: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// The name does not end in a known extension.
    #[error(
        "{file}: not an animation: the name must end in .glb, .gltf, .vrm, .vrma,{fbx} .bvh or \
         .bvh.zst",
        fbx = if cfg!(feature = "fbx") { " .fbx," } else { "" })]
    UnknownFormat {
        /// Name of the file.
        file: String,
    },
    /// The file is an FBX file, and this build lacks the feature `fbx`.
    #[error(
        "{file}: this build cannot read FBX: turn on the feature `fbx`, or convert the file to glTF"
    )]
    NeedsFbx {
        /// Name of the file.
        file: String,
    },
    /// The file is larger than the limit, which counts its unpacked bytes and the files that it
    /// refers to.
    #[error("{file}: larger than the limit of {limit_bytes} bytes")]
    TooManyBytes {
        /// Name of the file.
        file: String,
        /// The limit.
        limit_bytes: u64,
    },
    /// The clips have more transforms than the limit.
    #[error(
        "{file}: {clip} has {samples} samples of {joints} joints: the clips of a file may have \
         {limit} transforms together"
    )]
    TooManyTransforms {
        /// Name of the file.
        file: String,
        /// The clip that exceeds the limit.
        clip: String,
        /// Number of joints of that clip.
        joints: usize,
        /// Number of samples of that clip.
        samples: u64,
        /// The maximum number of transforms of all clips of the file together.
        limit: usize,
    },
    /// Reading would take more memory than the limit allows.
    #[error(
        "{file}: reading it takes at least {needed_bytes} bytes of memory, and {limit_bytes} are \
         allowed for a file of its size"
    )]
    TooMuchMemory {
        /// Name of the file.
        file: String,
        /// Lower bound on the memory needed.
        needed_bytes: u64,
        /// The limit: [`ImportOptions::max_memory_bytes`](super::ImportOptions::max_memory_bytes).
        limit_bytes: u64,
    },
    /// The joints are not a valid skeleton.
    #[error("{file}: {error}")]
    Skeleton {
        /// Name of the file.
        file: String,
        /// The reason why the skeleton is invalid.
        #[source]
        error: SkeletonError,
    },
    /// The motion is not a valid clip.
    #[error("{file}: {clip}: {error}")]
    Clip {
        /// Name of the file.
        file: String,
        /// Name of the clip.
        clip: String,
        /// The reason why the clip is invalid.
        #[source]
        error: RawClipError,
    },

    /// BVH: the file has an unexpected word.
    #[error("{file}: line {line}: expected {expected}, found {found}")]
    Unexpected {
        /// Name of the file.
        file: String,
        /// The number of the line, counted from 1.
        line: usize,
        /// The text that the reader expected.
        expected: String,
        /// The text that the file has instead.
        found: String,
    },
    /// BVH: no frames remain after frames were dropped.
    #[error("{file}: dropping {dropped} of its {frames} frames leaves none")]
    AllDropped {
        /// Name of the file.
        file: String,
        /// Number of frames in the file.
        frames: u64,
        /// Number of frames to drop.
        dropped: usize,
    },
    /// BVH: the requested rate does not divide the rate of the motion.
    #[error("{file}: {rate_hz} Hz does not divide the motion's {native_hz} Hz; possible are {}",
        rates(*.native_hz, .possible_hz))]
    RateNotPossible {
        /// Name of the file.
        file: String,
        /// The rate that the caller requested.
        rate_hz: f32,
        /// The rate of the motion.
        native_hz: f32,
        /// The whole rates that are possible. The list may be empty.
        possible_hz: Vec<u32>,
    },

    /// FBX: the file cannot be read.
    #[error("{file}: FBX: {reason}")]
    BadFbx {
        /// Name of the file.
        file: String,
        /// The reason that ufbx gave.
        reason: String,
    },
    /// FBX: an animation stack has too many layers.
    #[error("{file}: FBX: {layers} layers, at most {limit} are read")]
    BadStack {
        /// Name of the file.
        file: String,
        /// The stack's number of layers.
        layers: usize,
        /// The maximum number of layers.
        limit: usize,
    },

    /// glTF: the container is damaged or not of version 2.
    #[error("{file}: not a GLB file: {reason}")]
    BadContainer {
        /// Name of the file.
        file: String,
        /// What is wrong with the container.
        reason: &'static str,
    },
    /// glTF: the text is not valid JSON, or not valid glTF.
    #[error("{file}: not glTF: {reason}")]
    BadJson {
        /// Name of the file.
        file: String,
        /// The place in the text, and the reason.
        reason: String,
    },
    /// glTF: the version is not 2.
    #[error(
        "{file}: glTF version {version:?}: only 2.0 can be read: convert the file, for example \
         with gltf-pipeline"
    )]
    UnsupportedVersion {
        /// Name of the file.
        file: String,
        /// The version that the file states.
        version: String,
    },
    /// glTF: the file requires an extension that packs data in an unsupported way.
    #[error("{file}: needs {extension}, which cannot be read: save the file without it")]
    UnsupportedExtension {
        /// Name of the file.
        file: String,
        /// Name of the extension.
        extension: String,
    },
    /// glTF: a buffer cannot be loaded.
    #[error("{file}: buffer {buffer}: {reason}")]
    BadBuffer {
        /// Name of the file.
        file: String,
        /// Index of the buffer.
        buffer: usize,
        /// What is wrong with the buffer.
        reason: &'static str,
    },
    /// glTF: the file of a buffer cannot be read.
    #[error("{file}: buffer {buffer}: its file: {source}")]
    BufferFile {
        /// Name of the file.
        file: String,
        /// Index of the buffer.
        buffer: usize,
        /// The operating system's error.
        source: io::Error,
    },
    /// glTF: an accessor cannot be read.
    #[error("{file}: accessor {accessor}: {reason}")]
    BadAccessor {
        /// Name of the file.
        file: String,
        /// Index of the accessor.
        accessor: usize,
        /// What is wrong with the accessor.
        reason: &'static str,
    },
    /// glTF: a node is invalid.
    #[error("{file}: node {node}: {reason}")]
    BadNode {
        /// Name of the file.
        file: String,
        /// Index of the node.
        node: usize,
        /// What is wrong with the node.
        reason: &'static str,
    },
    /// glTF: a skin has a node that does not exist.
    #[error("{file}: skin {skin}: node {node} does not exist")]
    BadSkin {
        /// Name of the file.
        file: String,
        /// Index of the skin.
        skin: usize,
        /// Index of the node.
        node: usize,
    },
    /// glTF: a node above the joints has a static scale that is not uniform, so the translations of
    /// the joints cannot absorb it.
    #[error(
        "{file}: node {node}: it is above the joints and has a scale of {} {} {}; this cannot \
         become part of their translations, because it differs between axes or is zero: apply it \
         before saving", .scale[0], .scale[1], .scale[2])]
    NonUniformScale {
        /// Name of the file.
        file: String,
        /// Index of the node.
        node: usize,
        /// Scale of the node.
        scale: [f64; 3],
    },
    /// glTF: a channel of an animation cannot be played.
    #[error("{file}: animation {animation}, channel {channel}: {reason}")]
    BadChannel {
        /// Name of the file.
        file: String,
        /// Index of the animation.
        animation: usize,
        /// Index of the channel in the animation.
        channel: usize,
        /// What is wrong with the channel.
        reason: &'static str,
    },
    /// glTF: key times are not finite or do not increase.
    #[error(
        "{file}: animation {animation}, channel {channel}: the time of key {key} is not finite or \
         not after the previous one"
    )]
    BadKeyTime {
        /// Name of the file.
        file: String,
        /// Index of the animation.
        animation: usize,
        /// Index of the channel in the animation.
        channel: usize,
        /// Index of the first key whose time is not finite or not after that of the previous key.
        key: usize,
    },
    /// glTF: the number of values does not match the number of key times.
    #[error(
        "{file}: animation {animation}, channel {channel}: {values} values, but its key times \
         need {expected}"
    )]
    WrongKeyCount {
        /// Name of the file.
        file: String,
        /// Index of the animation.
        animation: usize,
        /// Index of the channel in the animation.
        channel: usize,
        /// Number of values in the file.
        values: u64,
        /// Number of values needed.
        expected: u64,
    },
    /// glTF: the animations read too many keys for the clips of one file. The limit exists because
    /// many channels may share an accessor.
    #[error("{file}: accessor {accessor}: its channels read more than {limit} keys together")]
    TooManyKeys {
        /// Name of the file.
        file: String,
        /// Index of the accessor that exceeded the limit.
        accessor: usize,
        /// The maximum number of keys that all channels of the file may read together.
        limit: u64,
    },
    /// glTF: the value of a key is not finite, or is a rotation of length zero.
    #[error(
        "{file}: animation {animation}, channel {channel}: key {key} has a number that is not \
         finite or a rotation of length zero"
    )]
    BadKeyValue {
        /// Name of the file.
        file: String,
        /// Index of the animation.
        animation: usize,
        /// Index of the channel in the animation.
        channel: usize,
        /// Index of the key.
        key: usize,
    },
    /// glTF: a spline of rotations passes through zero.
    #[error(
        "{file}: animation {animation}, channel {channel}: the spline of rotations goes through \
         zero at {time_s} s"
    )]
    ZeroRotation {
        /// Name of the file.
        file: String,
        /// Index of the animation.
        animation: usize,
        /// Index of the channel in the animation.
        channel: usize,
        /// The time at which the spline passes through zero, on the clock of the file.
        time_s: f64,
    },
}

impl ImportError {
    /// Returns whether the error concerns one animation or one channel, so that others can be read
    /// without it. A limit counts the whole file, so an exceeded limit does not qualify.
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
}

/// Returns the rates that the caller may request, as text.
fn rates(native_hz: f32, possible_hz: &[u32]) -> String {
    if possible_hz.is_empty() {
        return format!("{native_hz} Hz divided by whole numbers");
    }
    let rates: Vec<String> = possible_hz.iter().map(ToString::to_string).collect();
    rates.join(", ")
}
