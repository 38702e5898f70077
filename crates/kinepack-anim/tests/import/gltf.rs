//! Imports handmade glTF files, and checks their clips number by number.

use std::f32::consts::FRAC_PI_2;
use std::fs;

use crate::support::{Document, QUARTER, arm};
use kinepack_anim::import::gltf::{from_bytes, no_files};
use kinepack_anim::import::{Import, ImportOptions, Note, read};
use kinepack_anim::{RawClip, Transform};
use serde_json::json;

fn import_with(document: &Document, options: &ImportOptions) -> Import {
    from_bytes("dir/an arm.glb", &document.glb(), options, no_files).unwrap()
}

fn clip_of(document: &Document) -> RawClip {
    let options = ImportOptions { rate_hz: Some(4.0), ..ImportOptions::default() };
    let mut import = import_with(document, &options);
    assert_eq!(import.clips.len(), 1);
    import.clips.remove(0)
}

#[track_caller]
fn assert_near<const N: usize>(found: [f32; N], expected: [f32; N]) {
    assert!(
        found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-5),
        "{found:?} is not {expected:?}"
    );
}

fn turn_y(angle: f32) -> [f32; 4] {
    [0.0, (angle / 2.0).sin(), 0.0, (angle / 2.0).cos()]
}

#[test]
fn all_interpolations_in_metres() {
    let clip = clip_of(&arm());
    assert_eq!(
        (clip.name(), clip.joints(), clip.samples(), clip.rate_hz()),
        ("an_arm__Move", 2, 5, 4.0)
    );
    assert_eq!((clip.skeleton().find("lower"), clip.skeleton().parent(1)), (Some(1), Some(0)));
    for sample in 0..5 {
        let [upper, lower] = *clip.pose(sample).first_chunk().unwrap();
        let share = sample as f32 / 4.0;
        assert_near(upper.rotation, turn_y(FRAC_PI_2 * share));
        assert_near(upper.translation, [0.0, 100.0, 0.0]);
        assert_near(lower.scale, [if share < 0.5 { 1.0 } else { 2.0 }; 3]);
        assert_near(lower.translation, [50.0, 100.0 * share * share * (3.0 - 2.0 * share), 0.0]);
    }
}

#[test]
fn tangents_of_splines_are_scaled_by_the_time_between_keys() {
    let mut document = arm();
    document.json["animations"][0]["channels"] = json!([]);
    let keys = [[9.0; 3], [0.0; 3], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0; 3], [9.0; 3]];
    document.channel(0, "translation", "CUBICSPLINE", &[1.0, 3.0], &keys);
    let clip = clip_of(&document);
    assert_eq!(clip.samples(), 9);
    // Half-way, a tangent has a weight of an eighth of the span.
    assert_near(clip.pose(4)[0].translation, [25.0, 25.0, 0.0]);
}

#[test]
fn splines_of_rotations_give_unit_quaternions() {
    let mut document = arm();
    document.json["animations"][0]["channels"] = json!([]);
    let zero = [0.0; 4];
    let keys = [zero, [0.0, 0.0, 0.0, 1.0], zero, zero, QUARTER, zero];
    document.channel(0, "rotation", "CUBICSPLINE", &[0.0, 0.5], &keys);
    assert_near(clip_of(&document).pose(1)[0].rotation, turn_y(FRAC_PI_2 / 2.0));
}

#[test]
fn rotations_take_the_shorter_way() {
    let mut document = arm();
    document.json["animations"][0]["channels"] = json!([]);
    let back = QUARTER.map(|c| -2.0 * c);
    document.channel(0, "rotation", "LINEAR", &[0.0, 0.5], &[[0.0, 0.0, 0.0, 1.0], back]);
    assert_near(clip_of(&document).pose(1)[0].rotation, turn_y(FRAC_PI_2 / 2.0));
}

#[test]
fn samples_end_at_the_last_key() {
    let mut document = arm();
    document.json["animations"][0]["channels"] = json!([]);
    document.channel(0, "translation", "LINEAR", &[2.0, 2.9], &[[0.0; 3], [0.9, 0.0, 0.0]]);
    // At this rate, 0.9 s are 3.6 steps, so the fourth sample has the last key. 0.625 s are 2.5
    // steps, rounded to even.
    let clip = clip_of(&document);
    assert_eq!(clip.samples(), 5);
    assert_near(clip.pose(4)[0].translation, [90.0, 0.0, 0.0]);
    assert_near(clip.pose(3)[0].translation, [75.0, 0.0, 0.0]);
    document.json["animations"][0]["channels"] = json!([]);
    document.channel(0, "translation", "LINEAR", &[0.0, 0.625], &[[0.0; 3], [1.0, 0.0, 0.0]]);
    assert_eq!(clip_of(&document).samples(), 3);
}

#[test]
fn static_ancestors_become_part_of_the_root() {
    let mut document = Document::new(json!([
        { "name": "scene", "children": [1], "translation": [1.0, 0.0, 0.0], "rotation": QUARTER },
        { "name": "armature", "children": [2], "scale": [0.5, 0.5, 0.5], "translation": [0.0, 2.0, 0.0] },
        { "name": "root", "children": [3], "translation": [2.0, 0.0, 0.0] },
        { "name": "tip", "translation": [0.0, 4.0, 0.0] },
    ]));
    document.json["skins"] = json!([{ "joints": [2, 3] }]);
    document.channel(2, "translation", "STEP", &[0.0], &[[4.0, 0.0, 0.0]]);
    let clip = clip_of(&document);
    let bind = clip.skeleton().bind_pose();
    assert_eq!((clip.joints(), clip.samples(), clip.duration_s()), (2, 1, 0.0));
    assert_near(bind[0].rotation, QUARTER);
    // The translation is half of 2 along x, turned to −z.
    assert_near(bind[0].translation, [100.0, 200.0, -100.0]);
    assert_near(bind[1].translation, [0.0, 200.0, 0.0]);
    assert_near(bind[0].scale, [1.0; 3]);
    assert_near(clip.pose(0)[0].translation, [100.0, 200.0, -200.0]);
    assert_eq!(clip.pose(0)[1], bind[1]);
}

#[test]
fn animated_ancestors_attachments_and_nodes_between_are_joints() {
    let mut document = Document::new(json!([
        { "name": "still", "children": [1] },
        { "name": "moved", "children": [2] },
        { "name": "between", "children": [3] },
        { "name": "joint", "children": [4, 6] },
        { "name": "hand", "children": [5] },
        { "name": "sword" },
        { "name": "hat" },
        { "name": "elsewhere" },
    ]));
    document.json["skins"] = json!([{ "joints": [3] }]);
    for node in [1, 5, 7] {
        document.channel(node, "translation", "STEP", &[0.0], &[[0.0; 3]]);
    }
    let clip = clip_of(&document);
    let names: Vec<&str> =
        clip.skeleton().joints().iter().map(|joint| joint.name.as_str()).collect();
    assert_eq!(names, ["moved", "between", "joint", "hand", "sword"]);
    let parents: Vec<Option<u16>> =
        clip.skeleton().joints().iter().map(|joint| joint.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(1), Some(2), Some(3)]);
}

#[test]
fn without_a_skin_animated_nodes_are_joints() {
    let mut document = Document::new(json!([{ "children": [2] }, {}, { "children": [3] }, {}]));
    document.json["animations"][0].as_object_mut().unwrap().remove("name");
    document.channel(3, "translation", "STEP", &[0.0], &[[1.0; 3]]);
    document.channel(1, "scale", "STEP", &[0.0], &[[2.0; 3]]);
    let clip = clip_of(&document);
    let names: Vec<&str> =
        clip.skeleton().joints().iter().map(|joint| joint.name.as_str()).collect();
    assert_eq!((names, clip.name()), (vec!["node3", "node1"], "an_arm__0"));
}

#[test]
fn matrices_are_decomposed() {
    // The matrix is a rotation by 90° around y with a scale of 1, 2 and 3, mirrored along x.
    let matrix = json!([0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 0, 1, 2, 3, 1]);
    let mut document = Document::new(json!([{ "children": [1], "matrix": matrix }, {}]));
    document.channel(1, "scale", "STEP", &[0.0], &[[1.0; 3]]);
    document.json["skins"] = json!([{ "joints": [0, 1] }]);
    let bind = clip_of(&document).skeleton().bind_pose()[0];
    assert_near(bind.rotation, QUARTER);
    assert_near(bind.scale, [-1.0, 2.0, 3.0]);
    assert_near(bind.translation, [100.0, 200.0, 300.0]);
}

#[test]
fn integers_are_normalized() {
    let kinds: [(u32, Vec<u8>); 4] = [
        (5120, vec![0, 0x5a, 0, 0x5a]),
        (5121, vec![0, 180, 0, 180]),
        (5122, [0, 23170, 0, 23170i16].iter().flat_map(|c| c.to_le_bytes()).collect()),
        (5123, [0, 46340, 0, 46340u16].iter().flat_map(|c| c.to_le_bytes()).collect()),
    ];
    for (component, bytes) in kinds {
        let mut document = Document::new(json!([{}]));
        let (times, view) = (document.floats(&[[0.0]]), document.view(&bytes));
        let accessor = json!({ "bufferView": view, "componentType": component, "normalized": true, "count": 1, "type": "VEC4" });
        let values = document.accessor(accessor);
        document.channel_of(0, "rotation", "STEP", times, values);
        assert_near(clip_of(&document).pose(0)[0].rotation, QUARTER);
    }
    let mut document = Document::new(json!([{}]));
    let (times, view) = (document.floats(&[[0.0]]), document.view(&[0x81, 0x80, 0x7f, 0]));
    let accessor = json!({ "bufferView": view, "componentType": 5120, "normalized": true, "count": 1, "type": "VEC3" });
    let values = document.accessor(accessor);
    document.channel_of(0, "translation", "STEP", times, values);
    assert_near(clip_of(&document).pose(0)[0].translation, [-100.0, -100.0, 100.0]);
}

#[test]
fn strides_and_sparse_accessors_are_read() {
    let mut document = Document::new(json!([{}]));
    let times = document.floats(&[[0.0], [0.25], [0.5]]);
    let rows: Vec<u8> = [[1.0f32, 0.0, 0.0, 7.0], [2.0, 0.0, 0.0, 7.0], [3.0, 0.0, 0.0, 7.0]]
        .iter()
        .flatten()
        .flat_map(|c| c.to_le_bytes())
        .collect();
    let view = document.view(&rows);
    document.json["bufferViews"][view]["byteStride"] = json!(16);
    let (places, replaced) =
        (document.view(&[1, 0]), document.view(&[5.0f32, 0.0, 0.0].map(f32::to_le_bytes).concat()));
    let sparse = json!({
        "count": 1,
        "indices": { "bufferView": places, "componentType": 5123 },
        "values": { "bufferView": replaced },
    });
    let mut accessor = json!({ "bufferView": view, "componentType": 5126, "count": 3, "type": "VEC3", "sparse": sparse });
    let values = document.accessor(accessor.clone());
    document.channel_of(0, "translation", "STEP", times, values);
    accessor.as_object_mut().unwrap().remove("bufferView");
    let values = document.accessor(accessor);
    document.channel_of(0, "scale", "STEP", times, values);
    let clip = clip_of(&document);
    let xs: Vec<[f32; 2]> =
        clip.poses().map(|pose| [pose[0].translation[0], pose[0].scale[0]]).collect();
    assert_eq!(xs, [[100.0, 0.0], [500.0, 5.0], [300.0, 0.0]]);
}

#[test]
fn skeletons_of_more_than_20_m_are_in_cm() {
    let mut document = arm();
    document.json["nodes"][1]["translation"] = json!([20.5, 0.0, 0.0]);
    let import = import_with(&document, &ImportOptions::default());
    assert_eq!(
        import.notes,
        [Note::TakenAsCm { file: "dir/an arm.glb".to_owned(), extent_m: 20.5 }]
    );
    assert!(import.notes[0].to_string().contains("taken as cm"));
    assert_near(import.clips[0].pose(0)[0].translation, [0.0, 1.0, 0.0]);
    let options = ImportOptions { unit_cm: Some(100.0), ..ImportOptions::default() };
    let import = import_with(&document, &options);
    assert!(import.notes.is_empty());
    assert_near(import.clips[0].pose(0)[0].translation, [0.0, 100.0, 0.0]);
}

#[test]
fn skeletons_of_a_few_millimetres_get_a_note() {
    let mut document = arm();
    document.json["nodes"][0]["translation"] = json!([0.0, 0.003, 0.0]);
    document.json["nodes"][1]["translation"] = json!([0.0, 0.003, 0.0]);
    let notes = import_with(&document, &ImportOptions::default()).notes;
    let [Note::Small { unit_cm: 100.0, suggested_cm: 10_000.0, .. }] = notes[..] else {
        panic!("{notes:?}")
    };
    assert!(notes[0].to_string().contains("is 0.6 cm large at 100 cm a unit"), "{}", notes[0]);
    let options = ImportOptions { unit_cm: Some(10_000.0), ..ImportOptions::default() };
    assert_eq!(import_with(&document, &options).notes, []);
    // If only one joint moves and there is no skin, the importer knows nothing about the skeleton's
    // size except that joint's position.
    let mut document = moving(&[2]);
    document.json["nodes"][1]["translation"] = json!([0.0, 0.006, 0.0]);
    document.json["nodes"][2]["translation"] = json!([0.0, -0.003, 0.0]);
    let notes = import_with(&document, &ImportOptions::default()).notes;
    assert!(matches!(notes[..], [Note::Small { suggested_cm: 10_000.0, .. }]), "{notes:?}");
}

#[test]
fn loose_json_is_read_with_a_note() {
    let expected = [clip_of(&arm())];
    let options = ImportOptions { rate_hz: Some(4.0), ..ImportOptions::default() };
    let read = |json: &str| {
        let bytes = crate::support::glb(json.as_bytes(), &arm().chunk);
        from_bytes("an arm.glb", &bytes, &options, no_files)
    };
    let json = arm().json.to_string();
    for (from, to) in [
        (r#""count":2"#, r#""count":2.0"#),
        (r#""node":1"#, r#""node":1e0"#),
        (r#""children":[1]"#, r#""children":[1.0]"#),
        (r#""joints":[0,1]"#, r#""joints":[0.0,1]"#),
        (r#""asset":"#, r#""cameras":null,"extensionsUsed":null,"meshes":null,"asset":"#),
        (r#""name":"Move""#, r#""name":"Stop","name":"Move""#),
    ] {
        assert!(json.contains(from), "{from}");
        let import = read(&json.replace(from, to)).unwrap();
        assert_eq!(import.clips, expected, "{to}");
        let [note @ Note::Faulty { .. }] = &import.notes[..] else { panic!("{:?}", import.notes) };
        assert!(note.to_string().starts_with("an arm.glb: its JSON has null, "), "{note}");
    }
    // Other readers accept these words for interpolations.
    for word in ["linear", "Linear"] {
        let import = read(&json.replace("LINEAR", word)).unwrap();
        assert_eq!((import.clips, import.notes), (expected.to_vec(), vec![]));
    }
    // The JSON has half a node, or a list with a hole.
    for (from, to) in
        [(r#""node":1"#, r#""node":0.5"#), (r#""joints":[0,1]"#, r#""joints":[0,null]"#)]
    {
        let error = read(&json.replace(from, to)).unwrap_err().to_string();
        assert!(error.starts_with("an arm.glb: not glTF: "), "{error}");
    }
}

/// Changes the channels of a document so that pointers address their targets.
fn by_pointers(document: &mut Document) {
    for channel in document.json["animations"][0]["channels"].as_array_mut().unwrap() {
        let target = &channel["target"];
        let pointer = format!("/nodes/{}/{}", target["node"], target["path"].as_str().unwrap());
        let pointer = json!({ "KHR_animation_pointer": { "pointer": pointer } });
        channel["target"] = json!({ "path": "pointer", "extensions": pointer });
    }
}

#[test]
fn pointers_to_a_nodes_own_properties_are_played() {
    let mut document = arm();
    let primitive = json!({ "attributes": {}, "targets": [{}] });
    document.json["meshes"] = json!([{ "primitives": [primitive] }]);
    document.json["nodes"][1]["mesh"] = json!(0);
    document.channel(1, "weights", "LINEAR", &[0.0, 1.0], &[[0.0], [1.0]]);
    let expected = clip_of(&document);
    assert_eq!(expected.curves().len(), 1);
    by_pointers(&mut document);
    document.json["extensionsUsed"] = json!(["KHR_animation_pointer"]);
    let import =
        import_with(&document, &ImportOptions { rate_hz: Some(4.0), ..Default::default() });
    assert_eq!((import.clips, import.left_out), (vec![expected], vec![]));
    // If there is no skin, the animated nodes are the joints.
    document.json["skins"] = json!([]);
    assert_eq!(clip_of(&document).joints(), 2);

    // The document has a pointer and a channel to the same property, and pointers to other things.
    let mut document = arm();
    let channels = document.json["animations"][0]["channels"].as_array_mut().unwrap();
    for pointer in ["/nodes/0/rotation", "/nodes/9/scale", "/nodes/+1/scale", "/nodes/1/scale/0"] {
        let pointer = json!({ "KHR_animation_pointer": { "pointer": pointer } });
        channels
            .push(json!({ "sampler": 0, "target": { "path": "pointer", "extensions": pointer } }));
    }
    let import = import_with(&document, &ImportOptions::default());
    let skipped: Vec<_> = import.skipped.iter().map(|skipped| skipped.channel).collect();
    assert_eq!(skipped, [Some(3), Some(4)]);
    let left_out: Vec<&str> = import.left_out.iter().map(|part| &*part.name).collect();
    assert_eq!(left_out, ["/nodes/+1/scale", "/nodes/1/scale/0"]);
}

/// Returns a document with a hip and a knee below a static root, and a lamp next to them. Only the
/// nodes `nodes` move.
fn moving(nodes: &[usize]) -> Document {
    let mut document = Document::new(json!([
        { "name": "root", "children": [1] },
        { "name": "hip", "children": [2], "translation": [0.0, 1.0, 0.0] },
        { "name": "knee", "translation": [0.0, -0.5, 0.0] },
        { "name": "lamp" },
    ]));
    for node in nodes {
        document.channel(
            *node,
            "rotation",
            "LINEAR",
            &[0.0, 1.0],
            &[[0.0, 0.0, 0.0, 1.0], QUARTER],
        );
    }
    document
}

#[test]
fn all_nodes_of_a_tree_are_joints_if_asked() {
    let of = |nodes: &[usize], all_nodes| {
        let options = ImportOptions { all_nodes, ..ImportOptions::default() };
        let import = import_with(&moving(nodes), &options);
        let joints = import.clips[0].skeleton().joints().to_vec();
        joints.into_iter().map(|joint| joint.name).collect::<Vec<_>>()
    };
    assert_eq!(
        (of(&[1], false), of(&[2], false)),
        (vec!["hip".to_owned()], vec!["knee".to_owned()])
    );
    for nodes in [&[1][..], &[2], &[1, 2]] {
        assert_eq!(of(nodes, true), ["root", "hip", "knee"]);
    }
    assert_eq!(of(&[3], true), ["lamp"]);
}

#[test]
fn all_human_bones_are_joints_if_they_have_names() {
    let of = |nodes: &[usize], skins: serde_json::Value| {
        let mut document = moving(nodes);
        document.json["skins"] = skins;
        let bones = json!({ "hips": { "node": 1 }, "leftLowerLeg": { "node": 2 } });
        document.json["extensions"]["VRMC_vrm_animation"] =
            json!({ "humanoid": { "humanBones": bones } });
        let options = ImportOptions { humanoid_names: true, ..ImportOptions::default() };
        let import = import_with(&document, &options);
        let clip = &import.clips[0];
        (clip.skeleton().hash(), clip.skeleton().joints()[0].name.clone(), clip.joints())
    };
    let (hash, first, joints) = of(&[1], json!([]));
    assert_eq!((&*first, joints), ("hips", 2));
    assert_eq!(of(&[2], json!([])).0, hash);
    assert_eq!(of(&[1, 2], json!([])).0, hash);
    assert_eq!(of(&[1], json!([{ "joints": [1] }])).0, hash);
    // A moving node outside of that tree is still a joint.
    assert_eq!(of(&[1, 3], json!([])).2, 3);
}

#[test]
fn clips_are_named_after_files() {
    let mut document = arm();
    document.json["animations"][0]["name"] = json!("Armature|walk left/right");
    assert_eq!(clip_of(&document).name(), "an_arm__Armature-walk_left-right");
}

#[test]
fn animations_without_joints_are_skipped() {
    let mut document = arm();
    document.json["nodes"].as_array_mut().unwrap().push(json!({}));
    document.json["animations"]
        .as_array_mut()
        .unwrap()
        .insert(0, json!({ "channels": [], "samplers": [] }));
    let import = import_with(&document, &ImportOptions::default());
    assert_eq!((import.clips.len(), import.notes.len()), (1, 0));
    document.json["animations"] = json!([]);
    let import = import_with(&document, &ImportOptions::default());
    assert_eq!(
        (import.clips.len(), import.notes),
        (0, vec![Note::NoClip { file: "dir/an arm.glb".to_owned(), animations: 0 }])
    );
}

#[test]
fn buffers_may_be_files_or_data_in_the_text() {
    let directory = tempfile::tempdir().unwrap();
    let expected = [clip_of(&arm())];
    let options = ImportOptions { rate_hz: Some(4.0), ..ImportOptions::default() };
    let read_as = |uri: serde_json::Value| {
        let mut document = arm();
        document.json["buffers"][0]["uri"] = uri;
        let path = directory.path().join("an arm.gltf");
        fs::write(&path, document.json.to_string()).unwrap();
        read(&path, &options)
    };
    fs::create_dir(directory.path().join("data")).unwrap();
    fs::write(directory.path().join("data/its bytes.bin"), arm().chunk).unwrap();
    assert_eq!(read_as(json!("data/its%20bytes.bin")).unwrap().clips, expected);
    let data = format!("data:application/octet-stream;base64,{}", base64(&arm().chunk));
    assert_eq!(read_as(json!(data)).unwrap().clips, expected);

    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("bytes.bin"), arm().chunk).unwrap();
    let absolute = outside.path().join("bytes.bin").display().to_string();
    let upwards = format!("../{}/bytes.bin", outside.path().file_name().unwrap().display());
    let mut names = vec![
        absolute,
        upwards,
        "http://example.com/bytes.bin".to_owned(),
        "missing.bin".to_owned(),
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outside.path(), directory.path().join("link")).unwrap();
        names.push("link/bytes.bin".to_owned());
    }
    names.push("data".to_owned());
    for name in names {
        let error = read_as(json!(name)).unwrap_err().to_string();
        assert!(error.contains("an arm.gltf: buffer 0: "), "{error}");
    }
    fs::write(directory.path().join("short.bin"), [0; 8]).unwrap();
    assert!(read_as(json!("short.bin")).unwrap_err().to_string().contains("fewer bytes"));
    let path = directory.path().join("an arm.glb");
    fs::write(&path, arm().glb()).unwrap();
    assert_eq!(read(&path, &options).unwrap().clips, expected);
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let word = three
            .iter()
            .chain(&[0; 3])
            .take(3)
            .fold(0, |word, byte| word << 8 | usize::from(*byte));
        text.extend(
            (0..=three.len()).map(|digit| char::from(DIGITS[word >> (18 - 6 * digit) & 63])),
        );
    }
    text
}

#[test]
fn channels_without_animation_keep_the_bind_pose() {
    let mut document = arm();
    document.json["animations"][0]["channels"] = json!([]);
    document.channel(0, "rotation", "STEP", &[3.0], &[[0.0, 0.0, 0.0, 2.0]]);
    let clip = clip_of(&document);
    assert_eq!((clip.samples(), clip.pose(0)), (1, clip.skeleton().bind_pose().as_slice()));
    assert_eq!(clip.pose(0)[0].rotation, Transform::IDENTITY.rotation);
}
