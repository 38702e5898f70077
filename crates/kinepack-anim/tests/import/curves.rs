//! Imports weights of morph targets, markers and the names of human bones from handmade glTF files.

use kinepack_anim::import::gltf::{from_bytes, no_files};
use kinepack_anim::import::{Import, ImportError, ImportOptions, LeftOutKind, Note, read_skeleton};
use kinepack_anim::{MAX_CURVES, Marker, RawClip, RawClipError, Skeleton};
use serde_json::{Value, json};

use crate::support::{Document, arm};

fn import(document: &Document) -> Result<Import, ImportError> {
    let options = ImportOptions { rate_hz: Some(4.0), ..ImportOptions::default() };
    from_bytes("a.glb", &document.glb(), &options, no_files)
}

fn clip(document: &Document) -> RawClip {
    let mut import = import(document).unwrap();
    assert_eq!((import.clips.len(), &import.left_out[..]), (1, &[][..]));
    import.clips.remove(0)
}

/// Returns the document of the arm, with a face of `targets` targets next to the arm, which is
/// node 2.
fn face(targets: usize, mut mesh: Value) -> Document {
    let mut document = arm();
    add_node(&mut document, json!({ "name": "face", "mesh": 0 }));
    mesh["primitives"] = json!([{ "attributes": {}, "targets": vec![json!({}); targets] }]);
    document.json["meshes"] = json!([mesh]);
    document
}

fn add_node(document: &mut Document, node: Value) {
    document.json["nodes"].as_array_mut().unwrap().push(node);
}

fn weights(values: &[f32]) -> Vec<[f32; 1]> {
    values.iter().map(|value| [*value]).collect()
}

fn values(clip: &RawClip) -> Vec<(&str, &[f32])> {
    clip.curves().iter().map(|curve| (curve.name.as_str(), curve.values.as_slice())).collect()
}

#[test]
fn weights_become_curves_with_every_interpolation() {
    let mesh = json!({ "extras": { "targetNames": ["smile", "blink"] } });
    let mut document = face(2, mesh.clone());
    document.channel(2, "weights", "LINEAR", &[0.0, 1.0], &weights(&[0.0, 1.0, 1.0, 0.0]));
    let ramp = clip(&document);
    let up = [0.0, 0.25, 0.5, 0.75, 1.0];
    let down = [1.0, 0.75, 0.5, 0.25, 0.0];
    assert_eq!(values(&ramp), [("face.smile", &up[..]), ("face.blink", &down[..])]);
    assert!(ramp.curves().iter().all(|curve| curve.precision == 0.001));
    // The joints move as before.
    assert_eq!(ramp.pose(4), clip(&arm()).pose(4));

    let mut document = face(2, mesh.clone());
    document.channel(2, "weights", "STEP", &[0.0, 0.5], &weights(&[0.0, 1.0, 2.0, -3.0]));
    let steps = [
        ("face.smile", &[0.0, 0.0, 2.0, 2.0, 2.0][..]),
        ("face.blink", &[1.0, 1.0, -3.0, -3.0, -3.0]),
    ];
    assert_eq!(values(&clip(&document)), steps);

    // Each key has the tangents before it, the values, and the tangents after it.
    let mut document = face(2, mesh);
    let keys = [[9.0, 9.0], [0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0], [9.0, 9.0]];
    document.channel(2, "weights", "CUBICSPLINE", &[0.0, 1.0], &weights(keys.as_flattened()));
    let clip = clip(&document);
    // Half-way, a tangent has a weight of an eighth of the span.
    assert_eq!((clip.curves()[0].values[2], clip.curves()[1].values[2]), (0.125, 1.125));
    assert_eq!((clip.curves()[0].values[4], clip.curves()[1].values[4]), (0.0, 1.0));
}

#[test]
fn curves_are_named_after_nodes_meshes_and_targets() {
    let named = |node: Value, mesh: Value| {
        let mut document = face(3, mesh);
        document.json["nodes"][2] = node;
        document.channel(2, "weights", "STEP", &[0.0], &weights(&[1.0; 3]));
        let clip = clip(&document);
        clip.curves().iter().map(|curve| curve.name.clone()).collect::<Vec<_>>()
    };
    let node = || json!({ "mesh": 0 });
    assert_eq!(named(node(), json!({})), ["node2.0", "node2.1", "node2.2"]);
    assert_eq!(named(node(), json!({ "name": "head" })), ["head.0", "head.1", "head.2"]);
    let mut document = face(1, json!({}));
    document.json["nodes"][2] = json!({ "mesh": 0 });
    add_node(&mut document, json!({ "name": "parent", "children": [2] }));
    document.channel(2, "weights", "STEP", &[0.0], &weights(&[1.0]));
    assert_eq!(clip(&document).curves()[0].name, "parent.0");
    let extras = json!({ "extras": { "targetNames": ["a", "a"] } });
    assert_eq!(named(json!({ "mesh": 0, "name": "n" }), extras.clone()), ["n.a", "n.a-2", "n.2"]);
    assert_eq!(named(json!({ "mesh": 0, "name": "" }), extras), ["a", "a-2", "2"]);
    for extras in [json!("text"), json!({ "targetNames": [1] }), json!({ "targetNames": {} })] {
        assert_eq!(named(node(), json!({ "extras": extras }))[0], "node2.0");
    }
}

#[test]
fn integers_sparse_weights_and_other_channels_of_one_name() {
    let mut document = face(2, json!({}));
    let (times, bytes) = (document.floats(&[[0.0], [0.25]]), document.view(&[0, 51, 255, 102]));
    let accessor = json!({ "bufferView": bytes, "componentType": 5121, "normalized": true, "count": 4, "type": "SCALAR" });
    let integers = document.accessor(accessor);
    document.channel_of(2, "weights", "STEP", times, integers);
    add_node(&mut document, json!({ "name": "face", "mesh": 0 }));
    let (places, replaced) = (document.view(&[3]), document.view(&0.5f32.to_le_bytes()));
    let sparse = json!({ "count": 1, "indices": { "bufferView": places, "componentType": 5121 }, "values": { "bufferView": replaced } });
    let sparse = document
        .accessor(json!({ "componentType": 5126, "count": 4, "type": "SCALAR", "sparse": sparse }));
    document.channel_of(3, "weights", "STEP", times, sparse);
    let clip = clip(&document);
    let starts: Vec<(&str, [f32; 2])> =
        values(&clip).into_iter().map(|(name, values)| (name, [values[0], values[1]])).collect();
    let expected = [
        ("face.0", [0.0, 1.0]),
        ("face.1", [0.2, 0.4]),
        ("face.0-2", [0.0, 0.0]),
        ("face.1-2", [0.0, 0.5]),
    ];
    assert_eq!(starts, expected);
}

#[test]
fn weights_alone_make_a_clip_of_their_nodes() {
    let mut document = Document::new(json!([{}, { "name": "face", "mesh": 0 }]));
    let primitive = json!({ "attributes": {}, "targets": [{}] });
    document.json["meshes"] = json!([{ "primitives": [primitive] }]);
    document.channel(1, "weights", "LINEAR", &[0.0, 0.5], &weights(&[0.0, 1.0]));
    let clip = clip(&document);
    assert_eq!((clip.joints(), clip.skeleton().joints()[0].name.as_str()), (1, "face"));
    assert_eq!(values(&clip), [("face.0", &[0.0, 0.5, 1.0][..])]);
}

/// Returns the error of the only channel that is skipped. The arm moves as before, without a curve.
fn skipped(document: &Document) -> String {
    let mut import = import(document).unwrap();
    assert_eq!(import.clips, [clip(&arm())]);
    assert_eq!((import.skipped.len(), import.skipped[0].channel), (1, Some(3)));
    import.skipped.remove(0).error.to_string()
}

#[test]
fn bad_weights_are_skipped() {
    let error = |values: &[f32]| {
        let mut document = face(2, json!({}));
        document.channel(2, "weights", "LINEAR", &[0.0, 1.0], &weights(values));
        skipped(&document)
    };
    let place = "a.glb: animation 0, channel 3: ";
    assert_eq!(error(&[0.0; 3]), format!("{place}3 values, but its key times need 4"));
    for value in [f32::NAN, f32::INFINITY] {
        let said = error(&[0.0, 0.0, 0.0, value]);
        assert!(
            said.starts_with(&format!("{place}key 1 has a number that is not finite")),
            "{said}"
        );
    }
    let mut document = face(1, json!({}));
    document.channel(2, "weights", "STEP", &[0.0], &[[0.0; 3]]);
    assert_eq!(skipped(&document), "a.glb: accessor 7: weights need one component");
    let mut document = face(1, json!({}));
    document.channel(9, "weights", "STEP", &[0.0], &weights(&[0.0]));
    assert_eq!(skipped(&document), format!("{place}its node does not exist"));

    let mut document = face(MAX_CURVES + 1, json!({}));
    document.channel(2, "weights", "STEP", &[0.0], &weights(&vec![0.0; MAX_CURVES + 1]));
    let error = import(&document).unwrap_err();
    let is_right =
        matches!(error, ImportError::Clip { error: RawClipError::TooManyCurves { .. }, .. });
    assert!(is_right, "{error}");
    let mut document = face(1, json!({}));
    document.json["nodes"][2]["name"] = json!("n".repeat(70_000));
    document.channel(2, "weights", "STEP", &[0.0], &weights(&[0.0]));
    let error = import(&document).unwrap_err();
    let is_right = matches!(error, ImportError::Clip { error: RawClipError::LongName { .. }, .. });
    assert!(is_right, "{error}");
}

#[test]
fn curves_count_towards_the_limit_of_transforms() {
    let mut document = face(11, json!({}));
    document.channel(2, "weights", "STEP", &[0.0], &weights(&[0.0; 11]));
    let limited = |max_transforms| {
        let options = ImportOptions { max_transforms, ..ImportOptions::default() };
        from_bytes("a.glb", &document.glb(), &options, no_files)
    };
    // The clip has two joints, and eleven curves that count as two more joints.
    assert!(limited(31 * 4).is_ok());
    assert!(matches!(limited(31 * 4 - 1).unwrap_err(), ImportError::TooManyTransforms { .. }));
}

#[test]
fn markers_are_on_the_time_line_of_the_file() {
    let with = |markers: Value, first: f32| {
        let mut document = arm();
        document.json["animations"][0]["channels"] = json!([]);
        document.channel(0, "scale", "STEP", &[first, first + 1.0], &[[1.0; 3]; 2]);
        document.json["animations"][0]["extras"] = markers;
        let mut import = import(&document).unwrap();
        (import.clips.remove(0), import.left_out)
    };
    let markers = json!({ "other": 1, "markers": [{ "name": "b", "time_s": 0.6 }, { "name": "a", "time_s": 0.1, "more": 0 }] });
    let (clip, left_out) = with(markers, 0.1);
    let marker = |name: &str, time_s| Marker { name: name.to_owned(), time_s };
    assert_eq!((clip.markers(), left_out.len()), (&[marker("a", 0.0), marker("b", 0.5)][..], 0));
    for extras in [json!("text"), json!([]), json!({ "marker": 1 }), Value::Null] {
        assert_eq!(with(extras, 0.0).1, []);
    }
    for markers in [
        json!(1),
        json!([{ "name": "a" }]),
        json!([{ "name": "a", "time_s": 0.5 }, { "name": "late", "time_s": 1.2 }]),
        json!([{ "name": "early", "time_s": -0.1 }]),
        json!([{ "name": "n".repeat(70_000), "time_s": 0.1 }]),
    ] {
        let (clip, left_out) = with(json!({ "markers": markers }), 0.0);
        assert_eq!((clip.markers().len(), left_out.len()), (0, 1));
        assert_eq!((left_out[0].kind, &*left_out[0].name), (LeftOutKind::Markers, "Move"));
    }
}

#[test]
fn what_is_left_out_is_listed_by_kind() {
    let mut document = arm();
    add_node(&mut document, json!({ "name": "lamp" }));
    add_node(&mut document, json!({ "mesh": 0 }));
    document.json["meshes"] = json!([{ "primitives": [{ "attributes": {} }] }]);
    document.json["cameras"] = json!([{}, {}]);
    document.json["extensionsUsed"] =
        json!(["KHR_lights_punctual", "KHR_mesh_quantization", "KHR_animation_pointer", "A_b"]);
    document.json["extensionsRequired"] = json!(["A_b"]);
    for (node, path) in [(2, "translation"), (2, "scale"), (3, "weights"), (0, "colour")] {
        document.channel(node, path, "STEP", &[0.0], &[[1.0; 3]]);
    }
    let channels = document.json["animations"][0]["channels"].as_array_mut().unwrap();
    let pointer = json!({ "KHR_animation_pointer": { "pointer": "/materials/0/alphaCutoff" } });
    channels.push(json!({ "sampler": 0, "target": { "path": "pointer", "extensions": pointer } }));
    channels.push(json!({ "sampler": 0, "target": { "path": "scale" } }));
    let still = json!({ "name": "Still", "channels": [{ "sampler": 9, "target": { "node": 2, "path": "scale" } }] });
    document.json["animations"].as_array_mut().unwrap().push(still);
    let import = import(&document).unwrap();
    assert_eq!((import.clips.len(), import.notes.len()), (1, 0));
    let lines: Vec<String> = import.left_out.iter().map(ToString::to_string).collect();
    let expected = [
        "channels of a node outside of the skeleton: lamp (3)",
        "weights of a node without morph targets: node3",
        "channels of KHR_animation_pointer: /materials/0/alphaCutoff",
        "channels of an unknown path: colour",
        "channels without a node: 1",
        "animation without channels that can be read: Still",
        "unknown extension: KHR_lights_punctual",
        "unknown extension that the file requires: A_b",
        "cameras: 2",
    ];
    assert_eq!(lines, expected);
}

/// Returns a document with a hip, a thumb and hair.
fn human() -> Document {
    let mut document = Document::new(json!([
        { "name": "J_Bip_C_Hips", "children": [1, 2] },
        { "name": "J_Bip_L_Thumb1" },
        { "name": "J_Sec_Hair" },
    ]));
    document.json["skins"] = json!([{ "joints": [0, 1, 2] }]);
    document.channel(0, "rotation", "STEP", &[0.0], &[[0.0, 0.0, 0.0, 1.0]]);
    document
}

#[test]
fn human_bones_have_the_names_of_vrm_1() {
    let with = |key: &str, bones: Value, humanoid_names| {
        let mut document = human();
        document.json["extensionsUsed"] = json!([key]);
        document.json["extensions"][key] =
            json!({ "humanoid": { "humanBones": bones }, "meta": {} });
        let options = ImportOptions { humanoid_names, ..ImportOptions::default() };
        from_bytes("a.vrm", &document.glb(), &options, no_files).unwrap()
    };
    let names = |import: &Import| -> Vec<String> {
        assert_eq!(import.clips[0].name(), "a__Move");
        import.clips[0].skeleton().joints().iter().map(|joint| joint.name.clone()).collect()
    };
    let newer = json!({ "hips": { "node": 0 }, "leftThumbMetacarpal": { "node": 1, "more": 1 } });
    let older = json!([
        { "bone": "hips", "node": 0, "useDefaultValues": true },
        { "bone": "leftThumbProximal", "node": 1 },
        { "bone": "jaw", "node": -1 },
        { "bone": "head", "node": 99 },
    ]);
    let cases =
        [("VRMC_vrm", newer.clone()), ("VRMC_vrm_animation", newer.clone()), ("VRM", older)];
    for (key, bones) in cases {
        let import = with(key, bones.clone(), true);
        assert_eq!(names(&import), ["hips", "leftThumbMetacarpal", "J_Sec_Hair"]);
        assert_eq!((import.notes, import.left_out), (Vec::new(), Vec::new()));
        let import = with(key, bones, false);
        assert_eq!(names(&import), ["J_Bip_C_Hips", "J_Bip_L_Thumb1", "J_Sec_Hair"]);
        assert_eq!(import.left_out[0].kind, LeftOutKind::Extension);
    }
    for (key, bones) in [("VRM", newer), ("VRMC_vrm", json!({ "hips": 0 })), ("other", json!(0))] {
        let import = with(key, bones, true);
        assert_eq!(import.notes, [Note::NoHumanoid { file: "a.vrm".to_owned() }]);
        assert_eq!(names(&import)[0], "J_Bip_C_Hips");
    }
}

#[test]
fn thumbs_of_vrm_0_are_renamed_without_clashes() {
    let mut document = human();
    let bones = json!([
        { "bone": "rightThumbProximal", "node": 0 },
        { "bone": "rightThumbIntermediate", "node": 1 },
        { "bone": "rightThumbDistal", "node": 2 },
    ]);
    document.json["extensions"]["VRM"] = json!({ "humanoid": { "humanBones": bones } });
    let options = ImportOptions { humanoid_names: true, ..ImportOptions::default() };
    let import = from_bytes("a.vrm", &document.glb(), &options, no_files).unwrap();
    let skeleton = import.clips[0].skeleton();
    let thumb = ["rightThumbMetacarpal", "rightThumbProximal", "rightThumbDistal"];
    assert_eq!(thumb.map(|name| skeleton.find(name)), [Some(0), Some(1), Some(2)]);
}

#[test]
fn a_model_without_animations_has_a_skeleton() {
    let mut document = human();
    document.json["animations"] = json!([]);
    document.json["extensions"]["VRMC_vrm"] =
        json!({ "humanoid": { "humanBones": { "hips": { "node": 0 } } } });
    let options = ImportOptions { humanoid_names: true, ..ImportOptions::default() };
    assert!(from_bytes("a.vrm", &document.glb(), &options, no_files).unwrap().clips.is_empty());
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let skeleton = read_skeleton(&path, &options)?;
        let names = |skeleton: &Skeleton| -> Vec<String> {
            skeleton.joints().iter().map(|joint| joint.name.clone()).collect()
        };
        Ok::<_, ImportError>(skeleton.map(|skeleton| names(&skeleton)))
    };
    let names = ["hips", "J_Bip_L_Thumb1", "J_Sec_Hair"].map(str::to_owned).to_vec();
    assert_eq!(read("a.vrm", &document.glb()).unwrap(), Some(names));
    let bvh = "HIERARCHY ROOT a { OFFSET 0 1 0 CHANNELS 1 Yrotation } \
        MOTION Frames: 2 Frame Time: 0.1 0 1";
    assert_eq!(read("a.bvh", bvh.as_bytes()).unwrap(), Some(vec!["a".to_owned()]));
    let empty = Document::new(json!([{ "name": "lamp" }])).glb();
    assert_eq!(read("b.glb", &empty).unwrap(), None);
    assert!(read("c.glb", b"noise").is_err() && read("d.txt", b"").is_err());
}
