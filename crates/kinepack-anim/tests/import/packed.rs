//! Files with compressed and quantized buffers, as `gltfpack` writes them, and damaged ones.
//!
//! The files in `packed/` are made from the model of this test by gltfpack 1.3:
//!
//! ```sh
//! KINEPACK_WRITE_MODEL=model.glb cargo test -p kinepack-anim --test import packed
//! npx gltfpack@1.3 -kn -i model.glb -o quantized.glb
//! npx gltfpack@1.3 -kn -c -i model.glb -o ext.glb
//! npx gltfpack@1.3 -kn -cz -ar 16 -at 24 -as 24 -i model.glb -o khr.glb
//! ```

use std::f32::consts::TAU;
use std::path::PathBuf;

use kinepack_anim::import::gltf::{from_bytes, no_files};
use kinepack_anim::import::{Import, ImportError, ImportOptions, LeftOutKind, read};
use kinepack_anim::{Curve, RawClip};
use serde_json::{Value, json};

use crate::support::{Document, glb};

/// A chain of four joints with a skinned mesh, and a face with two morph targets, for two seconds.
/// The keys are where gltfpack samples.
fn model() -> Document {
    let mut document = Document::new(json!([
        { "name": "hips", "children": [1], "translation": [0.0, 1.0, 0.0] },
        { "name": "spine", "children": [2, 3], "translation": [0.0, 0.3, 0.02] },
        { "name": "arm", "children": [4], "translation": [0.2, 0.2, 0.0] },
        { "name": "head", "translation": [0.0, 0.4, 0.0] },
        { "name": "hand", "translation": [0.5, 0.0, 0.0] },
        { "name": "body", "mesh": 0, "skin": 0 },
        { "name": "face", "mesh": 1 },
    ]));
    let corners = [[0.0, 0.0, 0.0], [0.5, 1.5, 0.0], [0.0, 1.5, 0.5f32]];
    let positions = document.floats(&corners);
    let joints = document.view(&[0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 0]);
    let joints = document.accessor(
        json!({ "bufferView": joints, "componentType": 5121, "count": 3, "type": "VEC4" }),
    );
    let shares = document.floats(&[[0.25f32; 4]; 3]);
    let targets =
        [0.1, 0.2].map(|size: f32| document.floats(&corners.map(|c| c.map(|c| size * c))));
    document.json["skins"] = json!([{ "joints": [0, 1, 2, 3, 4] }]);
    document.json["scenes"] = json!([{ "nodes": [0, 5, 6] }]);
    document.json["scene"] = json!(0);
    let attributes = json!({ "POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": shares });
    let targets = targets.map(|target| json!({ "POSITION": target }));
    let face = json!({ "attributes": { "POSITION": positions }, "targets": targets });
    document.json["meshes"] = json!([
        { "name": "body", "primitives": [{ "attributes": attributes }] },
        { "name": "face", "primitives": [face], "extras": { "targetNames": ["smile", "blink"] } },
    ]);
    let seconds: Vec<f32> = (0..61).map(|sample| sample as f32 / 30.0).collect();
    let turn = |axis: usize, speed: f32, size: f32| -> Vec<[f32; 4]> {
        let half = |time: &f32| 0.5 * size * (TAU * speed * time).sin();
        let rotation = |half: f32| {
            let mut rotation = [0.0, 0.0, 0.0, half.cos()];
            rotation[axis] = half.sin();
            rotation
        };
        seconds.iter().map(|time| rotation(half(time))).collect()
    };
    for (node, axis, speed, size) in
        [(0, 1, 0.5, 3.0), (1, 0, 1.0, 0.4), (2, 2, 1.5, 1.2), (3, 1, 0.7, 0.9), (4, 0, 2.0, 2.5)]
    {
        document.channel(node, "rotation", "LINEAR", &seconds, &turn(axis, speed, size));
    }
    let step = |time: &f32| [0.3 * time, 1.0 + 0.05 * (TAU * time).sin(), -0.7 * time];
    let steps: Vec<[f32; 3]> = seconds.iter().map(step).collect();
    document.channel(0, "translation", "LINEAR", &seconds, &steps);
    let grow = |time: &f32| [1.0 + 0.5 * time, 1.0, 1.0 + 0.1 * (TAU * time).sin()];
    let grown: Vec<[f32; 3]> = seconds.iter().map(grow).collect();
    document.channel(4, "scale", "LINEAR", &seconds, &grown);
    let weights = |time: &f32| [[0.5 - 0.5 * (TAU * time).cos()], [(0.8 * time).fract().powi(4)]];
    let weights: Vec<[f32; 1]> = seconds.iter().flat_map(weights).collect();
    document.channel(6, "weights", "LINEAR", &seconds, &weights);
    document
}

fn import(file: &str, bytes: &[u8]) -> Result<Import, ImportError> {
    from_bytes(file, bytes, &ImportOptions::default(), no_files)
}

#[test]
fn the_model_is_read() {
    let file = model().glb();
    if let Some(path) = std::env::var_os("KINEPACK_WRITE_MODEL") {
        std::fs::write(path, &file).unwrap();
    }
    let import = import("model.glb", &file).unwrap();
    assert_eq!((import.clips.len(), import.notes.len(), import.left_out.len()), (1, 0, 0));
    assert_eq!((import.clips[0].joints(), import.clips[0].samples()), (5, 61));
}

fn packed(name: &str) -> Import {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/import/packed").join(name);
    read(&path, &ImportOptions::default()).unwrap()
}

/// The largest differences: between rotations, in radians; between translations, in cm; between
/// scales; and between weights.
fn differences(one: &RawClip, other: &RawClip) -> [f32; 4] {
    assert_eq!((one.joints(), one.samples()), (other.joints(), other.samples()));
    assert_eq!(one.skeleton(), other.skeleton());
    let mut most = [0.0_f32; 4];
    let pairs = one.poses().flatten().zip(other.poses().flatten());
    for (one, other) in pairs {
        let off =
            |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        let chord = |sign: f32| off(&one.rotation, &other.rotation.map(|c| sign * c));
        let parts = [
            2.0 * chord(1.0).min(chord(-1.0)),
            off(&one.translation, &other.translation),
            off(&one.scale, &other.scale),
        ];
        most.iter_mut().zip(parts).for_each(|(most, part)| *most = most.max(part));
    }
    for (one, other) in one.curves().iter().zip(other.curves()) {
        assert_eq!(one.name, other.name);
        let pairs = one.values.iter().zip(&other.values);
        most[3] = pairs.map(|(one, other)| (one - other).abs()).fold(most[3], f32::max);
    }
    most
}

#[test]
fn files_of_gltfpack_are_as_near_as_their_quantization() {
    let model = import("model.glb", &model().glb()).unwrap().clips.remove(0);
    let names: Vec<&str> = model.curves().iter().map(|curve| curve.name.as_str()).collect();
    assert_eq!(names, ["face.smile", "face.blink"]);
    // Rotations of 16 bits without a filter, or with a filter and 12 or 16 bits. Weights of 8 bits.
    for (file, limits) in [
        ("quantized.glb", [1e-4, 1e-4, 1e-6, 0.002]),
        ("ext.glb", [1e-4, 1e-4, 1e-6, 0.002]),
        ("khr.glb", [1e-4, 1e-4, 1e-6, 0.002]),
    ] {
        let import = packed(file);
        assert_eq!((import.clips.len(), import.notes.len()), (1, 0));
        assert_eq!(import.left_out, []);
        assert_eq!(import.clips[0].curves().len(), 2);
        let found = differences(&model, &import.clips[0]);
        let is_near = found.iter().zip(limits).all(|(found, limit)| *found <= limit);
        assert!(is_near, "{file}: {found:?}");
    }
}
