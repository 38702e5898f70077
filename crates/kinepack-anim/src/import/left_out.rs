//! What an importer leaves out.

use std::fmt;

/// Parts of a file that a clip could have shown, but does not have. They are not damaged, as those of
/// [`Import::skipped`](super::Import::skipped) are. Meshes, materials and other
/// data that do not move are not listed. In FBX, an animation that keeps the value that its
/// property has anyway is not listed either.
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
    /// What the parts are.
    pub kind: LeftOutKind,
    /// The name of the parts: a node, a pointer, a path, an animation and so on. Empty for
    /// parts without a name.
    pub name: String,
    /// How many parts there are, in all animations together.
    pub count: usize,
}

/// The kinds of parts that an importer leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LeftOutKind {
    /// Channels that move a node which is not a joint: it is neither above nor below a skin's
    /// joints. The name is that of the node.
    OtherNode,
    /// Channels of weights whose node has no morph targets. The name is that of the node.
    NoMorphTargets,
    /// Channels of `KHR_animation_pointer` to anything but a node's own translation, rotation, scale
    /// and weights. The name is the pointer.
    AnimationPointer,
    /// Channels of an unknown path. The name is the path.
    UnknownPath,
    /// Channels without a node.
    NoNode,
    /// An animation that moves no joint and no curve. The name is that of the animation.
    EmptyAnimation,
    /// An animation's markers that have another form than the exporter's, or are outside of the
    /// clip. The name is that of the animation.
    Markers,
    /// An unknown extension that the file uses. The name is that of the extension.
    Extension,
    /// An unknown extension without which the file's author finds the file useless. The name is
    /// that of the extension.
    RequiredExtension,
    /// FBX: an animated property that is neither part of a joint's transform nor a curve, such as
    /// visibility, the angle of a camera or a colour. The name is that of its object, a dot and the
    /// property's.
    Property,
    /// FBX: an animation layer that is muted. The name is that of the layer.
    MutedLayer,
    /// FBX: the scale of a joint that does not inherit the scale of its parent, while the parent's
    /// is zero. In the clip such a joint has no size. The name is that of the joint.
    OwnScale,
    /// FBX: a constraint. Only motion that is stored as keys is read. The name is that of the
    /// constraint.
    Constraint,
    /// FBX: a mesh whose vertices move by themselves. The name is that of its cache.
    VertexCache,
    /// Cameras.
    Cameras,
    /// FBX: lights.
    Lights,
}

impl LeftOutKind {
    /// The kind in a few words, in English.
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
