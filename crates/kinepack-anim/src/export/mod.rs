//! Writes clips as glTF 2.0, so that any viewer can show the result of compression.
//!
//! A file has a node for each joint, and one animation. The animation has a key at every sample for
//! each channel that ever leaves the bind pose. The file also has a mesh of bones, skinned to the
//! joints. Without the mesh, a viewer would show nothing, and many programs read joints only from
//! skins. Lengths are in metres.
//!
//! A curve is exported as the weight of a morph target that changes nothing. For example, the curve
//! `face.smile` belongs to the target `smile` of the node `face`. Markers are in the animation's
//! extras: `"markers": [{ "name": "step", "time_s": 0.5 }]`. [`import`](crate::import) reads both,
//! but groups the curves by node. Source: the specification of glTF 2.0 by Khronos.

mod curves;
mod data;

use std::fmt;

use data::{ARRAY_BUFFER, Data};
use glam::{DMat4, DVec3};
use serde_json::{Value, json};

use crate::{RawClip, Skeleton, Transform};

const METRE_CM: f64 = 100.0;

/// glTF's codes for component types and buffer targets.
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const ELEMENT_ARRAY_BUFFER: u32 = 34_963;

/// The maximum number of bytes that a joint takes besides its samples. These bytes store a bone to
/// the joint, a bone at its end, a matrix, and text in the JSON.
const MOST_BYTES_OF_JOINT: u64 = 4096;

/// The number of nodes after the joints: the common parent of the roots, and the mesh.
const OWN_NODES: usize = 2;

/// The length in metres below which a bone is not drawn.
const SHORTEST_BONE_M: f64 = 1e-4;
/// The length of the bone of a joint that has no other bones, in metres.
const LONE_BONE_M: f64 = 0.05;
/// The position at which a bone is widest, as a share of its length. The next constant is the
/// distance of the bone's corners from its axis, also as a share of the length.
const WIDEST_AT: f64 = 0.15;
const WIDTH: f64 = 0.08;

/// The clip does not fit in a file of 4 GB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// Estimated size of the file in bytes.
    pub bytes: u64,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "it would take {} bytes, and a .glb has 4 GB at most; a lower rate makes it smaller",
            self.bytes
        )
    }
}

impl std::error::Error for TooLarge {}

/// Encodes a clip as a `.glb` file, with a key for each sample and linear interpolation.
///
/// ```
/// use std::sync::Arc;
/// use kinepack_anim::{Joint, RawClip, Skeleton, Transform, export, import};
///
/// let bind = Transform { translation: [0.0, 40.0, 0.0], ..Transform::IDENTITY };
/// let joint = |name: &str, parent| Joint { name: name.into(), parent, bind };
/// let skeleton = Arc::new(Skeleton::new(vec![joint("hip", None), joint("knee", Some(0))])?);
/// let mut samples = [skeleton.bind_pose(), skeleton.bind_pose()].concat();
/// samples[3].rotation = [0.6, 0.0, 0.0, 0.8];
/// let raw = RawClip::new("kick", skeleton, 30.0, samples)?;
///
/// let file = export::glb(&raw)?;
/// let (options, no_files) = (import::ImportOptions::default(), import::gltf::no_files);
/// let read = import::gltf::from_bytes("leg.glb", &file, &options, no_files)?;
/// assert_eq!((read.clips[0].name(), read.clips[0].samples()), ("leg__kick", 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`TooLarge`] if the file would be longer than 4 GB.
pub fn glb(clip: &RawClip) -> Result<Vec<u8>, TooLarge> {
    let [joints, samples] = [clip.joints(), clip.samples()].map(|count| count as u64);
    let names: u64 = clip.skeleton().joints().iter().map(|joint| 6 * joint.name.len() as u64).sum();
    let bytes = clip.raw_bytes() as u64 + 4 * samples + MOST_BYTES_OF_JOINT * joints + names;
    let bytes = bytes + curves::most_bytes(clip);
    if bytes > u64::from(u32::MAX) {
        return Err(TooLarge { bytes });
    }
    let mut data = Data::default();
    let animated = curves::Animated::new(clip);
    let animation = animation(clip, &animated, &mut data);
    let (skin, primitive) = skin(clip.skeleton(), &mut data);
    let root = clip.joints();
    let mut nodes = nodes(clip.skeleton());
    let mut meshes = vec![json!({ "name": "bones", "primitives": [primitive] })];
    animated.add_nodes(&mut nodes, &mut meshes, &mut data);
    let in_scene: Vec<usize> = (root..nodes.len()).collect();
    let document = json!({
        "asset": { "version": "2.0", "generator": concat!("kinepack-anim ", env!("CARGO_PKG_VERSION")) },
        "scene": 0,
        "scenes": [{ "nodes": in_scene }],
        "nodes": nodes,
        "skins": [skin],
        "meshes": meshes,
        "animations": [animation],
        "accessors": data.accessors,
        "bufferViews": data.views,
        "buffers": [{ "byteLength": data.bytes.len() }],
    });
    Ok(container(document.to_string().into_bytes(), data.bytes))
}

/// Joins the two chunks, each padded to a multiple of four bytes.
fn container(mut text: Vec<u8>, mut binary: Vec<u8>) -> Vec<u8> {
    text.resize(text.len().next_multiple_of(4), b' ');
    binary.resize(binary.len().next_multiple_of(4), 0);
    let length = 12 + 8 + text.len() + 8 + binary.len();
    let mut file = Vec::with_capacity(length);
    file.extend(b"glTF");
    for word in [2, length as u32, text.len() as u32] {
        file.extend(word.to_le_bytes());
    }
    file.extend(b"JSON");
    file.extend(text);
    file.extend((binary.len() as u32).to_le_bytes());
    file.extend(b"BIN\0");
    file.extend(binary);
    file
}

/// Returns the nodes: the joints, the common parent of the roots, and the mesh.
fn nodes(skeleton: &Skeleton) -> Vec<Value> {
    let mut children = vec![Vec::new(); skeleton.len()];
    let mut roots = Vec::new();
    for joint in 0..skeleton.len() {
        match skeleton.parent(joint) {
            Some(parent) => children[parent].push(joint),
            None => roots.push(joint),
        }
    }
    let mut nodes = Vec::with_capacity(skeleton.len() + 2);
    for (joint, children) in skeleton.joints().iter().zip(children) {
        let Transform { rotation, scale, .. } = joint.bind;
        let translation = in_metres(&joint.bind);
        let mut node = json!({ "name": joint.name, "rotation": unit(rotation), "translation": translation, "scale": scale });
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        nodes.push(node);
    }
    nodes.push(json!({ "name": "skeleton", "children": roots }));
    nodes.push(json!({ "name": "bones", "mesh": 0, "skin": 0 }));
    nodes
}

/// Returns the animation: a key at every sample for each channel that leaves the bind pose, and for
/// all curves. If nothing moves, the animation has one channel anyway, because glTF requires at
/// least one.
fn animation(clip: &RawClip, animated: &curves::Animated<'_>, data: &mut Data) -> Value {
    let rate_hz = f64::from(clip.rate_hz());
    let times =
        data.floats((0..clip.samples()).map(|sample| [(sample as f64 / rate_hz) as f32]), None);
    // Each element is a joint, a path and the accessor of the values.
    let mut moved: Vec<(usize, &str, usize)> = Vec::new();
    for (joint, Transform { rotation, translation, scale }) in
        clip.skeleton().bind_pose().into_iter().enumerate()
    {
        let poses = || clip.poses().map(|pose| &pose[joint]);
        if poses().any(|pose| pose.rotation != unit(rotation)) {
            moved.push((joint, "rotation", data.floats(poses().map(|pose| pose.rotation), None)));
        }
        if poses().any(|pose| pose.translation != translation) {
            moved.push((joint, "translation", data.floats(poses().map(in_metres), None)));
        }
        if poses().any(|pose| pose.scale != scale) {
            moved.push((joint, "scale", data.floats(poses().map(|pose| pose.scale), None)));
        }
    }
    moved.extend(animated.channels(clip.joints() + OWN_NODES, data));
    if moved.is_empty() {
        moved.push((0, "rotation", data.floats(clip.poses().map(|pose| pose[0].rotation), None)));
    }
    let channels: Vec<Value> = (0_usize..)
        .zip(&moved)
        .map(|(sampler, (joint, path, _))| json!({ "sampler": sampler, "target": { "node": joint, "path": path } }))
        .collect();
    let sampler = |(.., output): &(usize, &str, usize)| json!({ "input": times, "interpolation": "LINEAR", "output": output });
    let samplers: Vec<Value> = moved.iter().map(sampler).collect();
    let mut animation = json!({ "name": clip.name(), "channels": channels, "samplers": samplers });
    if !clip.markers().is_empty() {
        let markers = clip.markers().iter();
        let markers = markers.map(|marker| json!({ "name": marker.name, "time_s": marker.time_s }));
        animation["extras"] = json!({ "markers": markers.collect::<Vec<_>>() });
    }
    animation
}

/// Returns a skin of all joints, and the mesh of bones that the joints deform.
fn skin(skeleton: &Skeleton, data: &mut Data) -> (Value, Value) {
    let worlds = worlds(skeleton);
    let inverses = worlds.iter().map(|world| {
        let inverse = world.inverse();
        let inverse = if inverse.is_finite() { inverse } else { DMat4::IDENTITY };
        inverse.to_cols_array().map(|element| element as f32)
    });
    let inverses = data.floats(inverses, None);
    let bones = bones(skeleton, &worlds);
    let corners: Vec<(usize, [f32; 3])> =
        bones.iter().flat_map(|bone| bone.corners().map(|corner| (bone.joint, corner))).collect();
    let position = data.floats(corners.iter().map(|(_, corner)| *corner), Some(ARRAY_BUFFER));
    let of_joint = |joint: usize| [joint as u16, 0, 0, 0].map(u16::to_le_bytes).concat();
    let joints: Vec<u8> = corners.iter().flat_map(|(joint, _)| of_joint(*joint)).collect();
    let joints = data.put(&joints, (corners.len(), UNSIGNED_SHORT, "VEC4"), Some(ARRAY_BUFFER));
    let weights = data.floats(corners.iter().map(|_| [1.0, 0.0, 0.0, 0.0]), Some(ARRAY_BUFFER));
    let indices: Vec<u32> = (0..bones.len())
        .flat_map(|bone| Bone::FACES.map(|corner| 6 * bone as u32 + corner))
        .collect();
    let bytes: Vec<u8> = indices.iter().flat_map(|index| index.to_le_bytes()).collect();
    let indices =
        data.put(&bytes, (indices.len(), UNSIGNED_INT, "SCALAR"), Some(ELEMENT_ARRAY_BUFFER));
    let all: Vec<usize> = (0..skeleton.len()).collect();
    let skin =
        json!({ "joints": all, "skeleton": skeleton.len(), "inverseBindMatrices": inverses });
    let attributes = json!({ "POSITION": position, "JOINTS_0": joints, "WEIGHTS_0": weights });
    (skin, json!({ "attributes": attributes, "indices": indices }))
}

/// Returns the joints' bind poses in scene space, as a viewer computes them.
fn worlds(skeleton: &Skeleton) -> Vec<DMat4> {
    let mut worlds: Vec<DMat4> = Vec::with_capacity(skeleton.len());
    for joint in skeleton.joints() {
        let bind = &joint.bind;
        let place = bind.translation64() / METRE_CM;
        let own = DMat4::from_scale_rotation_translation(bind.scale64(), bind.rotation64(), place);
        worlds.push(joint.parent.map_or(own, |parent| worlds[usize::from(parent)] * own));
    }
    worlds
}

/// A bone, drawn in the bind pose as a long octahedron.
struct Bone {
    /// The joint that moves the bone.
    joint: usize,
    from: DVec3,
    to: DVec3,
}

impl Bone {
    /// The corners of each triangle, counter-clockwise as seen from outside.
    const FACES: [u32; 24] =
        [0, 2, 1, 0, 3, 2, 0, 4, 3, 0, 1, 4, 5, 1, 2, 5, 2, 3, 5, 3, 4, 5, 4, 1];

    /// Returns the corners of the bone: its start, the four corners around it, and its end.
    fn corners(&self) -> [[f32; 3]; 6] {
        let along = self.to - self.from;
        let direction = along.normalize_or(DVec3::Y);
        let side = direction.any_orthonormal_vector() * WIDTH * along.length();
        let other = direction.cross(side);
        let middle = self.from + along * WIDEST_AT;
        [self.from, middle + side, middle + other, middle - side, middle - other, self.to]
            .map(|corner| corner.to_array().map(|axis| axis as f32))
    }
}

/// Returns the bones of the skeleton: one from each joint to each of its children, and one at each
/// joint without children. The latter has half the length of the bone that leads to its joint.
fn bones(skeleton: &Skeleton, worlds: &[DMat4]) -> Vec<Bone> {
    let place = |joint: usize| worlds[joint].w_axis.truncate();
    let mut is_end = vec![true; skeleton.len()];
    let mut bones = Vec::new();
    for joint in 0..skeleton.len() {
        if let Some(parent) = skeleton.parent(joint) {
            is_end[parent] = false;
            bones.push(Bone { joint: parent, from: place(parent), to: place(joint) });
        }
    }
    for joint in (0..skeleton.len()).filter(|joint| is_end[*joint]) {
        let own = skeleton.parent(joint).map(|parent| 0.5 * (place(joint) - place(parent)));
        let along =
            own.filter(|along| along.length() >= SHORTEST_BONE_M).unwrap_or(LONE_BONE_M * DVec3::Y);
        bones.push(Bone { joint, from: place(joint), to: place(joint) + along });
    }
    bones.retain(|bone| {
        let is_drawn = bone.corners().iter().flatten().all(|axis| axis.is_finite());
        is_drawn && bone.from.distance(bone.to) >= SHORTEST_BONE_M
    });
    if bones.is_empty() {
        // glTF does not allow an empty mesh.
        bones.push(Bone { joint: 0, from: DVec3::ZERO, to: LONE_BONE_M * DVec3::Y });
    }
    bones
}

fn in_metres(transform: &Transform) -> [f32; 3] {
    transform.translation.map(|axis| (f64::from(axis) / METRE_CM) as f32)
}

fn unit(rotation: [f32; 4]) -> [f32; 4] {
    Transform { rotation, ..Transform::IDENTITY }
        .rotation64()
        .to_array()
        .map(|component| component as f32)
}
