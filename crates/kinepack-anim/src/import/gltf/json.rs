//! The parts of a glTF document that an animation may reference, as types. The parser skips all
//! other members. Errors in materials or images therefore do not cause a file to be refused, and
//! such parts take no memory. Source: the JSON schemas of glTF 2.0 and its extensions by Khronos.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// A document. An optional list that is missing is empty.
#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
pub(super) struct Root {
    pub(super) asset: Asset,
    pub(super) accessors: Vec<Accessor>,
    pub(super) animations: Vec<Animation>,
    pub(super) buffers: Vec<Buffer>,
    pub(super) buffer_views: Vec<View>,
    pub(super) cameras: Vec<IgnoredAny>,
    pub(super) meshes: Vec<Mesh>,
    pub(super) nodes: Vec<Node>,
    pub(super) skins: Vec<Skin>,
    pub(super) extensions_used: Vec<String>,
    pub(super) extensions_required: Vec<String>,
    pub(super) extensions: Option<RootExtensions>,
}

#[derive(Default, Deserialize)]
pub(super) struct Asset {
    pub(super) version: String,
}

#[derive(Deserialize)]
pub(super) struct RootExtensions {
    #[serde(rename = "VRM")]
    pub(super) vrm_0: Option<Box<RawValue>>,
    #[serde(rename = "VRMC_vrm")]
    pub(super) vrm_1: Option<Box<RawValue>>,
    #[serde(rename = "VRMC_vrm_animation")]
    pub(super) vrm_animation: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub(super) buffer_view: Option<usize>,
    pub(super) byte_offset: Option<u64>,
    pub(super) component_type: u32,
    pub(super) normalized: Option<bool>,
    pub(super) count: u64,
    #[serde(rename = "type")]
    pub(super) kind: Kind,
    pub(super) sparse: Option<Sparse>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Kind {
    Scalar,
    Vec3,
    Vec4,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(super) struct Sparse {
    pub(super) count: u64,
    pub(super) indices: SparseIndices,
    pub(super) values: SparseValues,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseIndices {
    pub(super) buffer_view: usize,
    pub(super) byte_offset: Option<u64>,
    pub(super) component_type: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseValues {
    pub(super) buffer_view: usize,
    pub(super) byte_offset: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct Animation {
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) channels: Vec<Channel>,
    #[serde(default)]
    pub(super) samplers: Vec<Sampler>,
    pub(super) extras: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
pub(super) struct Channel {
    pub(super) sampler: usize,
    pub(super) target: Target,
}

#[derive(Deserialize)]
pub(super) struct Target {
    pub(super) node: Option<usize>,
    pub(super) path: String,
    pub(super) extensions: Option<TargetExtensions>,
}

#[derive(Deserialize)]
pub(super) struct TargetExtensions {
    #[serde(rename = "KHR_animation_pointer")]
    pub(super) pointer: Option<Pointer>,
}

#[derive(Deserialize)]
pub(super) struct Pointer {
    pub(super) pointer: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Sampler {
    pub(super) input: usize,
    pub(super) output: usize,
    #[serde(default)]
    pub(super) interpolation: Interpolation,
}

/// The interpolation of a sampler. Case is ignored, because other readers accept these words in any
/// case. Those readers take all unknown words as `LINEAR`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(from = "String")]
pub(super) enum Interpolation {
    Step,
    #[default]
    Linear,
    CubicSpline,
    Other,
}

impl From<String> for Interpolation {
    fn from(word: String) -> Self {
        match &*word.to_ascii_uppercase() {
            "STEP" => Self::Step,
            "LINEAR" => Self::Linear,
            "CUBICSPLINE" => Self::CubicSpline,
            _ => Self::Other,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub(super) byte_length: u64,
    pub(super) uri: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct View {
    pub(super) buffer: usize,
    pub(super) byte_offset: Option<u64>,
    pub(super) byte_length: u64,
    pub(super) byte_stride: Option<u64>,
    pub(super) extensions: Option<ViewExtensions>,
}

#[derive(Deserialize)]
pub(super) struct ViewExtensions {
    /// The description of the compressed data. Both extensions use the same bitstream.
    #[serde(rename = "EXT_meshopt_compression", alias = "KHR_meshopt_compression")]
    pub(super) meshopt: Option<Packed>,
}

/// The description of a compressed buffer view.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Packed {
    pub(super) buffer: usize,
    pub(super) byte_offset: Option<u64>,
    pub(super) byte_length: u64,
    pub(super) byte_stride: u64,
    pub(super) count: u64,
    pub(super) mode: Mode,
    #[serde(default)]
    pub(super) filter: Filter,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Mode {
    Attributes,
    Indices,
    #[serde(other)]
    Other,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Filter {
    #[default]
    None,
    Octahedral,
    Quaternion,
    Exponential,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(super) struct Mesh {
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) primitives: Vec<Primitive>,
    pub(super) extras: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
pub(super) struct Primitive {
    /// The morph targets. Their elements take no memory, since only the number matters.
    #[serde(default)]
    pub(super) targets: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
pub(super) struct Node {
    pub(super) name: Option<String>,
    pub(super) children: Option<Vec<usize>>,
    pub(super) matrix: Option<[f32; 16]>,
    pub(super) rotation: Option<[f32; 4]>,
    pub(super) translation: Option<[f32; 3]>,
    pub(super) scale: Option<[f32; 3]>,
    pub(super) mesh: Option<usize>,
}

#[derive(Deserialize)]
pub(super) struct Skin {
    pub(super) joints: Vec<usize>,
}
