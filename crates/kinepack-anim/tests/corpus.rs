//! Runs the drivers of the fuzz targets `gltf_import`, `fbx_import`, `bvh_import` and `exchange`
//! over their stored corpora. The inputs are every prefix of each file, files with a flipped bit,
//! and noise.
//!
//! `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack-anim corpus` writes all corpora of clips again.

#![cfg(feature = "import")]

use kinepack_anim::exchange;
use kinepack_anim::import::gltf::{from_bytes, no_files};
use kinepack_anim::import::{bvh, fbx};
use serde_json::{Value, json};

use crate::corpora;
use crate::drivers::anim;
use crate::support::fbx::{Keys, Property, Scene};
use crate::support::{Document, arm};

const BVH: &str = "HIERARCHY\nROOT Hips\n{\n\tOFFSET 0 1 0\n\
    \tCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n\
    \tJOINT LHipJoint\n\t{\n\t\tOFFSET 0.5 0 0\n\t\tCHANNELS 3 Zrotation Yrotation Xrotation\n\
    \t\tEnd Site\n\t\t{\n\t\t\tOFFSET 0 1e-1 0\n\t\t}\n\t}\n}\n\
    MOTION\nFrames: 3\nFrame Time: .0083333\n\
    1 2 3 0 0 0 0 0 0\n1 2 3 4 5 6 7 8 9\n-1 2 3.5 4 5 6 7 8 90\n";

const DAZ: &str = "HIERARCHY ROOT hip { OFFSET 0 1 0 CHANNELS 1 Yrotation \
    JOINT abdomen { OFFSET 0 1 0 JOINT chest { OFFSET 0 1 0 } } } \
    MOTION Frames: 12 Frame Time: 0.01 0 1 2 3 4 5 6 7 8 9 10 11";

/// A file with names in Shift-JIS and Latin-1, labels in other forms, more rows than stated, and a
/// last row that is cut off.
const LENIENT: &[u8] = b"HIERARCHY ROOT \x83{\x83^ \x83\x93 { OFFSET 0 1 0 CHANNELS 2 Xposition Yrotation \
    JOINT H\xfcfte\n{ OFFSET 0 .5 0 } } MOTION\nFrames :2\nFrame Time:.04\n1 2\n3 4\n5 6\n7\0\x1a\n";

/// Returns the contents of a view of a document, in a stream of meshoptimizer.
fn add_packed(document: &mut Document, extension: &str, filter: &str, version: u8) -> usize {
    let streams: Vec<Value> =
        serde_json::from_str(include_str!("import/packed/streams.json")).unwrap();
    let is_right = |case: &&Value| case["filter"] == filter && case["version"] == version;
    let case = streams.iter().find(is_right).unwrap();
    let engine = &base64::engine::general_purpose::STANDARD;
    let stream = base64::Engine::decode(engine, case["stream"].as_str().unwrap()).unwrap();
    let view = document.view(&stream);
    let (count, stride) = (case["count"].as_u64().unwrap(), case["stride"].as_u64().unwrap());
    let own = &mut document.json["bufferViews"][view];
    *own = json!({
        "buffer": 9, "byteLength": count * stride, "byteStride": stride,
        "extensions": { extension: {
            "buffer": 0, "byteOffset": own["byteOffset"], "byteLength": stream.len(),
            "byteStride": stride, "count": count, "mode": "ATTRIBUTES", "filter": filter,
        } },
    });
    view
}

/// Returns a document with compressed views, of both versions and extensions.
fn packed() -> Document {
    let mut document = Document::new(json!([{}]));
    let times = document.floats(&[[0.0], [0.25]]);
    let view = add_packed(&mut document, "KHR_meshopt_compression", "QUATERNION", 1);
    let rotations = document.accessor(
        json!({ "bufferView": view, "componentType": 5122, "normalized": true, "count": 2, "type": "VEC4" }),
    );
    document.channel_of(0, "rotation", "LINEAR", times, rotations);
    let view = add_packed(&mut document, "EXT_meshopt_compression", "EXPONENTIAL", 0);
    let vectors = document
        .accessor(json!({ "bufferView": view, "componentType": 5126, "count": 2, "type": "VEC3" }));
    document.channel_of(0, "translation", "STEP", times, vectors);
    document
}

/// Returns a document with weights, markers, human bones, and channels that are left out.
fn face() -> Document {
    let mut document = Document::new(json!([{ "children": [1] }, { "name": "face", "mesh": 0 }]));
    let primitive = json!({ "attributes": {}, "targets": [{}, {}] });
    let names = json!({ "targetNames": ["smile"] });
    document.json["meshes"] = json!([{ "primitives": [primitive], "extras": names }]);
    document.channel(0, "scale", "STEP", &[0.0, 0.25], &[[1.0; 3]; 2]);
    let weights = [0.0, 1.0, 0.5, 0.25].map(|weight| [weight]);
    document.channel(1, "weights", "LINEAR", &[0.0, 0.25], &weights);
    document.channel(1, "colour", "LINEAR", &[0.0], &[[0.0]]);
    let pointer = json!({ "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": "/a" } } });
    let channels = document.json["animations"][0]["channels"].as_array_mut().unwrap();
    channels.push(json!({ "sampler": 0, "target": pointer }));
    document.json["animations"][0]["extras"] =
        json!({ "markers": [{ "name": "step", "time_s": 0.125 }] });
    document.json["cameras"] = json!([{}]);
    document.json["extensionsUsed"] = json!(["VRM", "any"]);
    let bones = json!([{ "bone": "hips", "node": 0 }, { "bone": "jaw", "node": -1 }]);
    document.json["extensions"] = json!({ "VRM": { "humanoid": { "humanBones": bones } } });
    document
}

/// Returns four documents. The first is the arm. The second has a matrix, a static ancestor,
/// integers, a sparse accessor and buffers in other places. The third has compressed views, and the
/// fourth a face.
fn documents() -> [Document; 4] {
    let mut document = Document::new(json!([
        { "children": [1], "scale": [0.01, 0.01, 0.01], "rotation": [0.5, 0.5, 0.5, 0.5] },
        { "children": [2], "matrix": [0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 2, 3, 1] },
        { "name": "tip" },
    ]));
    let times = document.floats(&[[0.0], [0.25]]);
    let integers = document.view(&[0, 90, 0, 90, 127, 0, 0, 128]);
    let rotations = document.accessor(
        json!({ "bufferView": integers, "componentType": 5120, "normalized": true, "count": 2, "type": "VEC4" }),
    );
    document.channel_of(2, "rotation", "LINEAR", times, rotations);
    let values = document.view(&[5.0f32, 0.0, 0.0].map(f32::to_le_bytes).concat());
    let sparse = json!({
        "count": 1,
        "indices": { "bufferView": integers, "componentType": 5121 },
        "values": { "bufferView": values },
    });
    let vectors = document
        .accessor(json!({ "componentType": 5126, "count": 2, "type": "VEC3", "sparse": sparse }));
    document.channel_of(1, "translation", "LINEAR", times, vectors);
    [arm(), document, packed(), face()]
}

/// Returns the text of a document with two animations: channels by pointers, loose JSON, and four
/// channels that are skipped.
fn loose() -> Document {
    let mut document = arm();
    let mut bad = document.json["animations"][0].clone();
    bad["samplers"][0]["input"] = json!(99);
    let channels = bad["channels"].as_array_mut().unwrap();
    for target in [json!({ "node": 9, "path": "scale" }), json!({ "node": 1, "path": "scale" })] {
        channels.push(json!({ "sampler": 1, "target": target }));
    }
    channels.push(json!({ "sampler": 7, "target": { "node": 0, "path": "scale" } }));
    document.json["animations"].as_array_mut().unwrap().push(bad);
    let pointer = json!({ "KHR_animation_pointer": { "pointer": "/nodes/0/rotation" } });
    let channel = &mut document.json["animations"][0]["channels"][0];
    channel["target"] = json!({ "path": "pointer", "extensions": pointer });
    channel["sampler"] = json!(0.0);
    document.json["cameras"] = Value::Null;
    document
}

fn gltf_files() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for mut document in documents() {
        files.push([[0].as_slice(), &document.glb()].concat());
        let json = document.json.to_string();
        let length = (json.len() as u16).to_le_bytes();
        files.push([[1].as_slice(), &length, json.as_bytes(), &document.chunk].concat());
        document.json["buffers"][0]["uri"] =
            json!("data:;base64,AAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/8wQ1PwAAAAAAAAAA8wQ1Pw");
        files.push([[0].as_slice(), document.json.to_string().as_bytes()].concat());
    }
    files.push([[2].as_slice(), &face().glb()].concat());
    files.push([[4].as_slice(), &loose().glb()].concat());
    files
}

/// Returns a chain of bones in inches with Z upwards, a face, and things that are left out.
fn scene() -> Scene {
    let mut scene = Scene::default();
    for (name, value) in [("UpAxis", 2.0), ("FrontAxis", 1.0), ("FrontAxisSign", -1.0)] {
        scene.setting(name, "int", value);
    }
    scene.setting("UnitScaleFactor", "double", 2.54);
    scene.setting("TimeMode", "enum", 6.0);
    let rig = scene.node(("rig", "Null"), 0, &[("Lcl Scaling", "Lcl Scaling", "A", &[2.0; 3])]);
    let grip: Property<'_> = ("grip", "Number", "A+U", &[0.0]);
    let turned: Property<'_> = ("PreRotation", "Vector3D", "", &[0.0, 0.0, 90.0]);
    let hip = scene.bone("hip", rig, &[grip, turned, ("RotationOrder", "enum", "", &[4.0])]);
    let pivot: Property<'_> = ("RotationPivot", "Vector3D", "", &[0.0, 1.0, 0.0]);
    let knee = scene.bone("knee", hip, &[("InheritType", "enum", "", &[2.0]), pivot]);
    let face = scene.node(("face", "Mesh"), knee, &[]);
    let smile = scene.channel(face, "smile");
    let layer = scene.stack("walk", [0.0, 0.25]);
    let more = scene.layer("more", layer - 1, &[("Weight", "Number", "A", &[50.0])]);
    scene.layer("draft", layer - 1, &[("Mute", "bool", "", &[1.0])]);
    let keys = [(0.0, 1.0), (0.25, 90.0)];
    scene.curve(layer, (hip, "Lcl Rotation"), "d|X", Keys::Cubic(3.0), &keys);
    scene.curve(layer, (hip, "Lcl Scaling"), "d|Y", Keys::Linear, &keys);
    scene.curve(more, (knee, "Lcl Translation"), "d|Z", Keys::Linear, &keys);
    scene.curve(layer, (hip, "grip"), "d|grip", Keys::Constant, &keys);
    scene.curve(layer, (knee, "Visibility"), "d|Visibility", Keys::Constant, &keys);
    scene.curve(more, (smile, "DeformPercent"), "d|DeformPercent", Keys::Linear, &keys);
    scene
}

fn fbx_files() -> Vec<Vec<u8>> {
    let (text, binary) = (scene().text().into_bytes(), scene().binary());
    [(0, &text), (0b11, &binary), (0b100, &binary)]
        .map(|(pick, file)| [&[pick], &file[..]].concat())
        .to_vec()
}

fn bvh_files() -> Vec<Vec<u8>> {
    [(0, BVH.as_bytes()), (0b1001, BVH.as_bytes()), (0x32, BVH.as_bytes()), (0, DAZ.as_bytes())]
        .into_iter()
        .chain([(0, LENIENT)])
        .map(|(pick, text)| [&[pick], text].concat())
        .collect()
}

fn exchange_files() -> Vec<Vec<u8>> {
    let import = from_bytes("arm.glb", &arm().glb(), &Default::default(), no_files).unwrap();
    let mut bytes = Vec::new();
    exchange::write(&import.clips[0].decimated(6), &mut bytes).unwrap();
    vec![bytes, b"CLIP\xff\xff\xff\xff\xff\xff\xff\xff\0\0\x80?".to_vec()]
}

/// The name, the files and the driver of each target.
type Target = (&'static str, Vec<Vec<u8>>, fn(&[u8]));

fn targets() -> [Target; 4] {
    [
        ("gltf_import", gltf_files(), anim::gltf_import),
        ("fbx_import", fbx_files(), anim::fbx_import),
        ("bvh_import", bvh_files(), anim::bvh_import),
        ("exchange", exchange_files(), anim::exchange),
    ]
}

#[test]
fn the_stored_corpora_are_up_to_date() {
    for (target, files, _) in targets() {
        corpora::compare(target, &files);
    }
}

#[test]
fn documents_of_the_corpus_are_read() {
    for document in documents() {
        assert_eq!(
            from_bytes("a.glb", &document.glb(), &Default::default(), no_files)
                .unwrap()
                .clips
                .len(),
            1
        );
    }
    let import = from_bytes("a.glb", &loose().glb(), &Default::default(), no_files).unwrap();
    assert_eq!((import.clips.len(), import.skipped.len(), import.notes.len()), (2, 4, 1));
    let import = bvh::from_bytes("a.bvh", LENIENT, &Default::default()).unwrap();
    assert_eq!((import.clips[0].samples(), import.notes.len()), (3, 5));
    for file in [scene().text().into_bytes(), scene().binary()] {
        let import = fbx::from_bytes("a.fbx", &file, &Default::default()).unwrap();
        assert_eq!((import.clips[0].curves().len(), import.left_out.len()), (2, 2));
    }
}

#[test]
fn every_prefix_of_a_file_is_read_or_refused() {
    for (target, _, drive) in targets() {
        corpora::drive_beginnings(target, drive);
    }
}

#[test]
fn files_with_a_flipped_bit_are_read_or_refused() {
    for (_, files, drive) in targets() {
        for mut data in files {
            for bit in 0..8 * data.len() {
                data[bit / 8] ^= 1 << (bit % 8);
                drive(&data);
                data[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}

#[test]
fn noise_is_read_or_refused() {
    let mut state = 1u64;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    for (_, files, drive) in targets() {
        for round in 0..2000 {
            let mut data = files[round % files.len()].clone();
            for _ in 0..1 + random() % 8 {
                let (at, from) = (random() % data.len(), random() % data.len());
                // The test replaces digits by digits and words by words.
                match random() % 3 {
                    0 => data[at] = random() as u8,
                    1 => data[at] = data[from],
                    _ => data[at] = b"0123456789-e.}"[random() % 14],
                }
            }
            drive(&data);
        }
    }
}
