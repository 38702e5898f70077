//! The parts of a file that an importer omits.

use std::fmt;

/// Parts of a file that a clip could have represented, but does not. Unlike the parts in
/// [`Import::skipped`](super::Import::skipped), these parts are not damaged. Meshes, materials and
/// other static data are not listed. In FBX, an animation that never changes its property's own
/// value is not listed either.
///
/// ```
/// use kinepack_anim::import::gltf::{from_bytes, no_files};
/// use kinepack_anim::import::{ImportOptions, LeftOutKind};
///
/// let text = r#"{ "asset": { "version": "2.0" }, "cameras": [{}], "animations": [{ "channels":
///     [{ "sampler": 0, "target": { "path": "pointer", "extensions": {
///         "KHR_animation_pointer": { "pointer": "/materials/0/alphaCutoff" } } } }] }] }"#;
/// let import = from_bytes("lamp.gltf", text.as_bytes(), &ImportOptions::default(), no_files)?;
/// let [pointer, animation, cameras] = &import.left_out[..] else { panic!() };
/// assert_eq!(pointer.kind, LeftOutKind::AnimationPointer);
/// assert_eq!((&*pointer.name, pointer.count), ("/materials/0/alphaCutoff", 1));
/// assert_eq!(animation.to_string(), "animation without channels that can be read: 0");
/// assert_eq!(cameras.to_string(), "cameras: 1");
/// # Ok::<(), kinepack_anim::import::ImportError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The kind of the parts.
    pub kind: LeftOutKind,
    /// The name that the parts share: the name of a node, a pointer, a path, an animation and so
    /// on. It is empty for parts without a name.
    pub name: String,
    /// The number of such parts, in all animations together.
    pub count: usize,
}

/// The kinds of parts that an importer omits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LeftOutKind {
    /// Channels that move a node outside the skeleton, neither above nor below a skin's joints. The
    /// name is the node's.
    OtherNode,
    /// Channels that animate weights of a node without morph targets. The name is the node's.
    NoMorphTargets,
    /// Channels of `KHR_animation_pointer` to anything but a node's own translation, rotation,
    /// scale and weights. The name is the pointer.
    AnimationPointer,
    /// Channels of an unknown path. The name is the path.
    UnknownPath,
    /// Channels without a node.
    NoNode,
    /// An animation that moves no joint and no curve. The name is the animation's.
    EmptyAnimation,
    /// An animation's markers that are not in the exporter's form, or are outside of the clip. The
    /// name is the animation's.
    Markers,
    /// An unknown extension that the file uses. The name is the extension's.
    Extension,
    /// An unknown extension that the file marks as required. The name is the extension's.
    RequiredExtension,
    /// An animated property in an FBX file that is neither part of a joint's transform nor a curve.
    /// Examples are visibility, the angle of a camera or a colour.
    Property,
    /// FBX: an animation layer that is muted. The name is the layer's.
    MutedLayer,
    /// FBX: the scale of a joint that does not inherit its parent's scale, while the parent's scale
    /// is zero. In the clip, such a joint has a size of zero. The name is the joint's.
    OwnScale,
    /// FBX: a constraint. The importer reads only motion that is stored as keys. The name is the
    /// constraint's.
    Constraint,
    /// FBX: a mesh whose vertices are animated from a cache. The name is the cache's.
    VertexCache,
    /// Cameras.
    Cameras,
    /// FBX: lights.
    Lights,
}

impl LeftOutKind {
    /// Returns the kind in a few words, in English.
    pub fn name(self) -> &'static str {
        match self {
            Self::OtherNode => "channels of a node outside of the skeleton",
            Self::NoMorphTargets => "weights of a node without morph targets",
            Self::AnimationPointer => "channels of KHR_animation_pointer",
            Self::UnknownPath => "channels of an unknown path",
            Self::NoNode => "channels without a node",
            Self::EmptyAnimation => "animation without channels that can be read",
            Self::Markers => "markers of an unknown form or outside of the clip",
            Self::Extension => "unknown extension",
            Self::RequiredExtension => "unknown extension that the file requires",
            Self::Property => "animated property",
            Self::MutedLayer => "muted layer",
            Self::OwnScale => "scale of a joint below a scale of zero",
            Self::Constraint => "constraint",
            Self::VertexCache => "vertex cache",
            Self::Cameras => "cameras",
            Self::Lights => "lights",
        }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, count } = self;
        match (name.is_empty(), count) {
            (true, _) => write!(f, "{}: {count}", kind.name()),
            (false, 1) => write!(f, "{}: {name}", kind.name()),
            (false, _) => write!(f, "{}: {name} ({count})", kind.name()),
        }
    }
}
