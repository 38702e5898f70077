//! Imports files with compressed and quantized buffers, as `gltfpack` writes them. Some of the
//! files are damaged.
//!
//! gltfpack 1.3 made the files in `packed/` from the model of this test:
//!
//! ```sh
//! KINEPACK_WRITE_MODEL=model.glb cargo test -p kinepack-anim import::packed
//! npx gltfpack@1.3 -kn -i model.glb -o quantized.glb
//! npx gltfpack@1.3 -kn -c -i model.glb -o ext.glb
//! npx gltfpack@1.3 -kn -cz -ar 16 -at 24 -as 24 -i model.glb -o khr.glb
//! ```

use std::f32::consts::TAU;
use std::path::PathBuf;

use kinepack_anim::RawClip;
use kinepack_anim::import::gltf::{from_bytes, no_files};
use kinepack_anim::import::{Import, ImportError, ImportOptions, read};
use serde_json::{Value, json};

use crate::support::Document;

/// Returns a chain of four joints with a skinned mesh, and a face with two morph targets, for two
/// seconds. The keys are at the times that gltfpack samples.
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

/// Returns the largest differences between rotations in radians, between translations in cm,
/// between scales, and between weights.
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
    // The files have rotations of 16 bits without a filter, or of 12 or 16 bits with a filter.
    // Weights have 8 bits.
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

/// Returns a stream of version 0 with all deltas as whole bytes. The first element is the baseline.
fn stream(elements: &[[u8; 8]]) -> Vec<u8> {
    let mut stream = vec![0xa0];
    for byte in 0..8 {
        // The stream has one group with 16 whole bytes.
        stream.push(3);
        let of = |element: usize| elements.get(element).map_or(0, |element| element[byte]);
        for element in 0..16 {
            let delta = of(element).wrapping_sub(of(element.saturating_sub(1))) as i8;
            stream.push(if element < elements.len() {
                ((delta << 1) ^ (delta >> 7)) as u8
            } else {
                0
            });
        }
    }
    stream.extend([0; 24]);
    stream.extend(elements[0]);
    stream
}

const UP: [u8; 8] = [0, 0, 0, 0, 0, 0, 255, 127];
const OVER: [u8; 8] = [0, 0, 255, 127, 0, 0, 0, 0];

/// Two joints whose rotations are in one compressed view.
fn two_joints(stream: &[u8], count: u64) -> Document {
    let mut document = Document::new(json!([{ "children": [1] }, {}]));
    let times = document.floats(&[[0.0], [0.5]]);
    let view = document.view(stream);
    let part = document.json["bufferViews"][view].clone();
    let packed = json!({
        "buffer": 0, "byteOffset": part["byteOffset"], "byteLength": stream.len(),
        "byteStride": 8, "count": count, "mode": "ATTRIBUTES",
    });
    // The buffer without contents is for programs that cannot decode.
    document.json["buffers"].as_array_mut().unwrap().push(json!({ "byteLength": 8 * count }));
    document.json["bufferViews"][view] = json!({
        "buffer": 1, "byteLength": 8 * count,
        "extensions": { "EXT_meshopt_compression": packed },
    });
    for node in 0..2 {
        let rotations = document.accessor(json!({
            "bufferView": view, "byteOffset": 16 * node, "componentType": 5122, "normalized": true,
            "count": 2, "type": "VEC4",
        }));
        document.channel_of(node, "rotation", "STEP", times, rotations);
    }
    document
}

#[test]
fn accessors_share_a_compressed_view() {
    let document = two_joints(&stream(&[UP, OVER, OVER, UP]), 4);
    let import = import("a.glb", &document.glb()).unwrap();
    let ends = |sample: usize| [0, 1].map(|joint| import.clips[0].pose(sample)[joint].rotation[3]);
    assert_eq!((ends(0), ends(15)), ([1.0, 0.0], [0.0, 1.0]));
}

#[test]
fn bad_compressed_views_are_refused() {
    let good = stream(&[UP, OVER, OVER, UP]);
    let said = |change: &dyn Fn(&mut Value)| {
        let mut document = two_joints(&good, 4);
        change(&mut document.json["bufferViews"][1]);
        let error = super::first_error(import("a.glb", &document.glb())).to_string();
        error.strip_prefix("a.glb: accessor 1: ").unwrap_or(&error).to_owned()
    };
    let with = |field: &str, value: Value| {
        said(&|view| view["extensions"]["EXT_meshopt_compression"][field] = value.clone())
    };
    let cut_off = "its compressed data is cut off or damaged";
    assert_eq!(with("byteLength", json!(good.len() - 1)), cut_off);
    assert_eq!(with("byteOffset", json!(7)), cut_off);
    let beyond = "its buffer view reaches beyond the buffer";
    assert_eq!(with("byteOffset", json!(u64::MAX)), beyond);
    assert_eq!(with("byteLength", json!(u64::MAX)), beyond);
    assert_eq!(with("buffer", json!(9)), "its buffer does not exist");
    assert_eq!(
        with("mode", json!("TRIANGLES")),
        "its compression is unknown or for triangles only"
    );
    assert_eq!(with("filter", json!("COLOR")), "its filter is unknown or for colours only");
    let other_length = "its buffer view has another length than its data";
    for count in [0, 3, 5, u64::MAX] {
        assert_eq!(with("count", json!(count)), other_length);
    }
    assert_eq!(with("byteStride", json!(u64::MAX)), other_length);
    let of_count = |count: u64| {
        said(&|view| {
            view["byteLength"] = json!(8 * count);
            view["extensions"]["EXT_meshopt_compression"]["count"] = json!(count);
        })
    };
    assert_eq!(of_count(2), "a.glb: accessor 2: it reaches beyond its buffer view");
    for count in [65, 1 << 20, 1 << 60] {
        assert_eq!(of_count(count), cut_off);
    }
    assert!(with("count", json!("4")).contains("not glTF"));
}

#[test]
fn indices_of_sparse_accessors_may_be_compressed() {
    let mut document = Document::new(json!([{}]));
    let times = document.floats(&[[0.0], [0.25], [0.5]]);
    // The stream has the index of element 2. The number 2 is doubled for the sign, and doubled
    // again for the choice of the baseline.
    let packed = document.view(&[0xd1, 8, 0, 0, 0, 0]);
    let part = document.json["bufferViews"][packed].clone();
    let extension = json!({
        "buffer": 0, "byteOffset": part["byteOffset"], "byteLength": 6, "byteStride": 2, "count": 1,
        "mode": "INDICES",
    });
    document.json["bufferViews"][packed] = json!({
        "buffer": 0, "byteLength": 2, "extensions": { "KHR_meshopt_compression": extension },
    });
    let values = document.view(&[3.0f32; 3].map(f32::to_le_bytes).concat());
    let sparse = json!({
        "count": 1,
        "indices": { "bufferView": packed, "componentType": 5123 },
        "values": { "bufferView": values },
    });
    let scales = document
        .accessor(json!({ "componentType": 5126, "count": 3, "type": "VEC3", "sparse": sparse }));
    document.channel_of(0, "scale", "STEP", times, scales);
    let clip = import("a.glb", &document.glb()).unwrap().clips.remove(0);
    assert_eq!([clip.pose(14)[0].scale[0], clip.pose(15)[0].scale[0]], [0.0, 3.0]);
}

#[test]
fn plain_integers_are_translations_and_scales() {
    for (component, bytes, expected) in [
        (5120, vec![1, 254, 3], [1.0, -2.0, 3.0]),
        (5121, vec![1, 254, 3], [1.0, 254.0, 3.0]),
        (5122, vec![1, 0, 254, 255, 3, 1], [1.0, -2.0, 259.0]),
        (5123, vec![1, 0, 254, 255, 3, 1], [1.0, 65_534.0, 259.0]),
    ] {
        let mut document = Document::new(json!([{}]));
        let (times, view) = (document.floats(&[[0.0]]), document.view(&bytes));
        let accessor =
            json!({ "bufferView": view, "componentType": component, "count": 1, "type": "VEC3" });
        let values = document.accessor(accessor);
        document.channel_of(0, "translation", "STEP", times, values);
        document.channel_of(0, "scale", "STEP", times, values);
        let options = ImportOptions { unit_cm: Some(1.0), ..ImportOptions::default() };
        let import = from_bytes("a.glb", &document.glb(), &options, no_files).unwrap();
        let pose = import.clips[0].pose(0)[0];
        assert_eq!((pose.translation, pose.scale), (expected, expected));
    }
}

#[test]
fn buffers_in_several_files_and_in_the_text() {
    let mut document = model();
    let options = ImportOptions::default();
    let expected = import("model.glb", &document.glb()).unwrap().clips;
    // Each view gets a buffer of its own, which is a file, or data in the text.
    let directory = tempfile::tempdir().unwrap();
    let mut buffers = Vec::new();
    for (index, view) in document.json["bufferViews"].as_array_mut().unwrap().iter_mut().enumerate()
    {
        let [at, length] =
            ["byteOffset", "byteLength"].map(|key| view[key].as_u64().unwrap() as usize);
        let bytes = &document.chunk[at..at + length];
        let uri = if index % 2 == 0 {
            let engine = &base64::engine::general_purpose::STANDARD;
            format!(
                "data:application/octet-stream;base64,{}",
                base64::Engine::encode(engine, bytes)
            )
        } else {
            std::fs::write(directory.path().join(format!("{index}.bin")), bytes).unwrap();
            format!("{index}.bin")
        };
        *view = json!({ "buffer": index, "byteLength": length });
        buffers.push(json!({ "byteLength": length, "uri": uri }));
    }
    document.json["buffers"] = json!(buffers);
    let path = directory.path().join("model.gltf");
    std::fs::write(&path, document.json.to_string()).unwrap();
    assert_eq!(read(&path, &options).unwrap().clips, expected);
}

#[test]
fn files_of_vrm_are_read_by_their_names() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["a.vrm", "a.VRMA"] {
        let path = directory.path().join(name);
        std::fs::write(&path, model().glb()).unwrap();
        let import = read(&path, &ImportOptions::default()).unwrap();
        assert_eq!(import.clips[0].name(), "a__Move");
    }
}
