//! Reads clips from FBX files, binary or text, with the feature `fbx`. The library
//! [ufbx](https://github.com/ufbx/ufbx) reads and evaluates the files, so pivots, rotation orders,
//! key tangents and animation layers behave as in Maya and MotionBuilder. Each animation stack (a
//! take) becomes one clip, sampled at a constant rate.
//!
//! The joints are the bones, the moving nodes above, between and below them, and all nodes between
//! two joints. If there are no bones, the animated nodes are the joints. A node moves if its
//! animation differs from its own transform. The difference matters because many programs write
//! keys for all nodes. Static nodes above the roots are folded into the roots, as in
//! [`gltf`](super::gltf). The bind pose consists of the nodes' own transforms.
//!
//! The result is right-handed, with Y up, and in cm. The importer converts it from the axes and the
//! unit that the file states. A left-handed scene is mirrored along X. A clip lasts from the
//! stack's start to the stack's end or, if the stack states neither, from the first key to the
//! last. In a [`RawClip`], the scales of parent and child multiply. If a joint does not inherit its
//! parent's scale, the importer therefore divides the joint's scale by the parent's.
//!
//! Animated weights of blend shapes become [curves](crate::Curve) from 0 to 1, named
//! `{node}.{channel}`. Animated user-defined properties of joints also become curves, named
//! `{joint}.{property}`, if they are single numbers. [`Import::left_out`] lists everything else
//! that is animated, and also constraints, vertex caches, cameras and lights.
//!
//! The importer never opens the files that an FBX file references.

mod joints;
mod left_out;
mod motion;
mod sample;
mod scene;

use super::budget::Budget;
use super::clips::{self, Room};
use super::joints::JointNodes;
use super::{Import, ImportError, ImportOptions, LeftOutKind, Note, Skipped};
use left_out::Collector;
use motion::{Channels, Motion, Part};

use crate::RawClip;

/// The file extension of FBX.
pub(super) const ENDING: &str = ".fbx";

/// Reads the clips in the bytes of an FBX file. Errors use `file` as the name of the file. A clip
/// is named after the file, without directories and extension, and after its stack.
///
/// ```
/// use kinepack_anim::import::{ImportOptions, fbx};
///
/// let text = r#"; FBX 7.4.0 project file
///     FBXHeaderExtension: { FBXVersion: 7400 }
///     Objects: {
///         Model: 1, "Model::wheel", "LimbNode" { Version: 232 }
///         AnimationStack: 2, "AnimStack::turn", "" {}
///         AnimationLayer: 3, "AnimLayer::base", "" {}
///         AnimationCurveNode: 4, "AnimCurveNode::R", "" {
///             Properties70: { P: "d|Y", "Number", "", "A", 0 } }
///         AnimationCurve: 5, "AnimCurve::", "" {
///             KeyTime: *2 { a: 0,46186158000 }
///             KeyValueFloat: *2 { a: 0,90 }
///             KeyAttrFlags: *1 { a: 4 }
///             KeyAttrDataFloat: *4 { a: 0,0,0,0 }
///             KeyAttrRefCount: *1 { a: 2 } }
///     }
///     Connections: { C: "OO",1,0
///         C: "OO",3,2
///         C: "OO",4,3
///         C: "OP",4,1, "Lcl Rotation"
///         C: "OP",5,4, "d|Y" }"#;
/// let import = fbx::from_bytes("cart.fbx", text.as_bytes(), &ImportOptions::default())?;
/// let clip = &import.clips[0];
/// assert_eq!((clip.name(), clip.samples(), clip.rate_hz()), ("cart__turn", 25, 24.0));
/// # Ok::<(), kinepack_anim::import::ImportError>(())
/// ```
///
/// # Errors
/// Returns [`ImportError`] if ufbx cannot read the bytes, or if nodes nest deeper than 1024. The
/// call also fails if there are more joints than a clip can have, or if a static scale above the
/// joints differs between axes. It fails as well if all stacks are skipped, because they have more
/// than 64 layers or too many samples. Returns [`ImportError::TooMuchMemory`] if reading takes more
/// memory than [`ImportOptions::max_memory_bytes`] allows. `bytes` counts as memory.
pub fn from_bytes(
    file: &str,
    bytes: &[u8],
    options: &ImportOptions,
) -> Result<Import, ImportError> {
    options.validate()?;
    let mut budget = Budget::new(file, options.max_memory_bytes, bytes.len() as u64)?;
    let scene = scene::load(file, bytes, &mut budget)?;
    let mut notes = scene::faults(file, &scene);
    if options.humanoid_names {
        notes.push(Note::NoHumanoid { file: file.to_owned() });
    }
    let channels = Channels::new(&scene, &mut budget)?;
    let mut skipped = Vec::new();
    let motions = motion::all(file, &scene, &mut skipped, &mut budget)?;
    let mut left_out = Collector::default();
    left_out.scene(&scene, &mut budget)?;
    let joint_nodes = joints::find(file, &scene, &channels, &motions, options, &mut budget)?;
    let mut room = Room::new(options.max_transforms);
    let rate_hz = options.rate_hz.unwrap_or_else(|| scene::rate_hz(&scene));
    let mut clips: Vec<RawClip> = Vec::new();
    for (index, motion) in motions.iter().enumerate() {
        motion.left_out(joint_nodes.as_ref(), &channels, &mut left_out, &mut budget)?;
        let joint_nodes =
            joint_nodes.as_ref().filter(|joint_nodes| has_clip(motion, joint_nodes, &channels));
        let index = index.to_string();
        let own_name = Some(&*motion.stack.element.name).filter(|name| !name.is_empty());
        let own_name = own_name.unwrap_or(&index);
        let Some(joint_nodes) = joint_nodes else {
            // An unnamed stack is counted under the empty name, not under its index.
            left_out.add(
                LeftOutKind::EmptyAnimation,
                &motion.stack.element.name,
                "",
                &mut budget,
            )?;
            continue;
        };
        let name = clips::name(clips::stem(file, &[ENDING]), own_name);
        let job =
            sample::Job { file, scene: &scene, joint_nodes, channels: &channels, motion, rate_hz };
        match job.clip(name, room, &mut left_out, &mut budget) {
            Ok(clip) => {
                room.take(&clip);
                clips.push(clip);
            }
            Err(error) => {
                let part = Skipped { animation: own_name.to_owned(), channel: None, error };
                part.add_to(&mut skipped, &mut budget)?;
            }
        }
    }
    if let Some(joint_nodes) = joint_nodes.as_ref().filter(|_| options.unit_cm.is_none()) {
        notes.extend(clips::size_note(file, &joint_nodes.skeleton, joint_nodes.unit_cm()));
    }
    if clips.is_empty() {
        if !skipped.is_empty() {
            return Err(skipped.swap_remove(0).error);
        }
        notes.push(Note::NoClip { file: file.to_owned(), animations: scene.anim_stacks.len() });
    }
    Ok(Import { clips, notes, left_out: left_out.finish(&mut budget)?, skipped })
}

/// Returns whether the stack of `motion` animates a joint or a curve.
fn has_clip(motion: &Motion<'_>, joint_nodes: &JointNodes, channels: &Channels<'_>) -> bool {
    motion.parts.iter().any(|part| match *part {
        Part::Transform { node, .. } | Part::Custom { node, .. } => {
            joint_nodes.joint_of(node).is_some()
        }
        Part::Weight { channel, .. } => channels.node_of(channel).is_some(),
        Part::Other { .. } => false,
    })
}
