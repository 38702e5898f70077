//! Imports small files that need much memory. Reading never takes more memory in total than the
//! options allow.

#![cfg(feature = "import")]

use std::fmt::Write;
use std::{fs, io};

use allocation_counter::measure;
use kinepack_anim::import::gltf::{from_bytes, no_files};
use kinepack_anim::import::{Import, ImportError, ImportOptions, bvh, read};
use serde_json::{Value, json};

use crate::support::{Document, QUARTER, arm};

/// The limit of most tests, which is small so that they are fast.
const LIMIT_BYTES: u64 = 4 << 20;
/// The allowance for names, paths and the test's own allocations.
const BESIDES_BYTES: u64 = 1 << 14;

/// Reads with a limit, and checks the memory. `outside_bytes` is the file's length if the caller
/// holds the file's bytes.
fn within(
    limit_bytes: u64,
    outside_bytes: usize,
    read: impl Fn(&ImportOptions) -> Result<Import, ImportError>,
) -> Result<Import, ImportError> {
    let options = ImportOptions { max_memory_bytes: Some(limit_bytes), ..ImportOptions::default() };
    let mut result = None;
    let measured = measure(|| result = Some(read(&options)));
    let most = limit_bytes.saturating_sub(outside_bytes as u64) + BESIDES_BYTES;
    assert!(measured.bytes_max <= most, "{} bytes, {most} are allowed", measured.bytes_max);
    result.unwrap()
}

fn within_of_glb(document: &Document, limit_bytes: u64) -> Result<Import, ImportError> {
    let bytes = document.glb();
    within(limit_bytes, bytes.len(), |options| from_bytes("a.glb", &bytes, options, no_files))
}

fn refused(result: Result<Import, ImportError>) {
    let error = result.unwrap_err();
    assert!(matches!(error, ImportError::TooMuchMemory { .. }), "{error}");
}

/// Returns a zstd frame that repeats a byte. It represents 128 KiB in four bytes.
fn repeated(byte: u8, blocks: usize, window: u8) -> Vec<u8> {
    let mut packed = vec![0x28, 0xb5, 0x2f, 0xfd, 0, window];
    for block in 1..=blocks {
        let head = u32::from(block == blocks) | 1 << 1 | 0x2_0000 << 3;
        packed.extend(&head.to_le_bytes()[..3]);
        packed.push(byte);
    }
    packed
}

/// The codes of windows of 128 KiB and of 16 MiB.
const SMALL: u8 = 7 << 3;
const LARGE: u8 = 14 << 3;

#[test]
fn packed_text_stays_within_the_limit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.bvh.zst");
    let of = |packed: &[u8], limit| {
        fs::write(&path, packed).unwrap();
        within(limit, 0, |options| read(&path, options))
    };
    // This file has 34 kB that unpack to 1 GiB.
    refused(of(&repeated(b' ', 8191, SMALL), LIMIT_BYTES));
    refused(of(&repeated(b' ', 1, LARGE), LIMIT_BYTES));
    // These bytes are not UTF-8. Replacement characters would be three times as long.
    let error = of(&repeated(0xff, 100, SMALL), 32 << 20).unwrap_err();
    assert!(matches!(error, ImportError::Unexpected { line: 1, .. }), "{error}");
    let error = of(&repeated(b'\n', 64, LARGE), 256 << 20).unwrap_err();
    assert!(matches!(error, ImportError::Unexpected { .. }), "{error}");
}

#[test]
fn the_default_limit_is_128_mib_and_64_bytes_for_each_byte_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.bvh.zst");
    let packed = repeated(b' ', 8191, SMALL);
    fs::write(&path, &packed).unwrap();
    let limit = (128 << 20) + 64 * packed.len() as u64;
    let measured = measure(|| {
        let error = read(&path, &ImportOptions::default()).unwrap_err();
        assert!(
            matches!(error, ImportError::TooMuchMemory { limit_bytes, .. } if limit_bytes == limit),
            "{error}"
        );
    });
    assert!(measured.bytes_max < limit);
}

/// Returns a file with a root that moves, and joints without channels, which take no numbers of a
/// frame.
fn bvh_of(joints: usize, said_frames: usize, frames: usize) -> String {
    let mut text = "HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 1 Xrotation\n".to_owned();
    (1..joints).for_each(|_| text += "JOINT { OFFSET 0 0 0 }\n");
    write!(text, "}}\nMOTION Frames: {said_frames} Frame Time: 0.01\n").unwrap();
    text + &"0\n".repeat(frames)
}

#[test]
fn joints_without_channels_take_no_more_than_the_limit() {
    let text = bvh_of(500, 1000, 1000);
    let of = |limit| within(limit, text.len(), |options| bvh::from_text("a.bvh", &text, options));
    refused(of(LIMIT_BYTES));
    assert_eq!(of(24 << 20).unwrap().clips[0].samples(), 1000);
    // Frames that the file states but lacks take no memory.
    let lie = bvh_of(500, 30_000, 1);
    let import = within(LIMIT_BYTES, lie.len(), |options| bvh::from_text("a.bvh", &lie, options));
    assert_eq!(import.unwrap().clips[0].samples(), 1);
}

#[test]
fn names_of_joints_count_towards_the_limit() {
    let name = "a ".repeat(1_300_000);
    let text = format!(
        "HIERARCHY ROOT {name} {{ OFFSET 0 0 0 CHANNELS 1 Xrotation }} \
         MOTION Frames: 1 Frame Time: 1 0"
    );
    let of = |limit| within(limit, text.len(), |options| bvh::from_text("a.bvh", &text, options));
    refused(of(LIMIT_BYTES));
    assert_eq!(of(2 * LIMIT_BYTES).unwrap().clips[0].samples(), 1);
}

#[test]
fn names_in_other_encodings_count_towards_the_limit() {
    let joint = b"JOINT \x83\x83\x83\x83\x83\x83\x83\x83 { OFFSET 0 0 0 }\n".repeat(100);
    let name = b"\x83".repeat(400_000);
    let long = [b"JOINT ", &name[..], b" { OFFSET 0 0 0 }\n"].concat();
    // The least limits are larger than the files.
    for (joints, least) in [(joint, 15), (long, 19)] {
        let file = [
            &b"HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 1 Xrotation\n"[..],
            &joints,
            b"} MOTION Frames: 1 Frame Time: 1 0",
        ];
        let bytes = file.concat();
        let of =
            |limit| within(limit, bytes.len(), |options| bvh::from_bytes("a.bvh", &bytes, options));
        let is_read = (least..23).any(|bits| of(1 << bits).is_ok());
        assert!(is_read && of(1 << least).is_err());
    }
}

#[test]
fn loose_json_stays_within_the_limit() {
    let mut document = arm();
    document.json["skins"].as_array_mut().unwrap().push(json!({ "joints": [0.0] }));
    document.json["materials"] = vec![json!({ "a": null, "b": [1e15, 2.0] }); 1000].into();
    let is_read = (16..25).any(|bits| within_of_glb(&document, 1 << bits).is_ok());
    assert!(is_read);
    refused(within_of_glb(&document, 1 << 21));
}

#[test]
fn skipped_channels_count_towards_the_limit() {
    let mut document = arm();
    let channel = json!({ "sampler": 99, "target": { "node": 0, "path": "scale" } });
    let channels = document.json["animations"][0]["channels"].as_array_mut().unwrap();
    channels.extend(vec![channel; 5000]);
    let mut is_listed = false;
    for bits in 19..26 {
        if let Ok(import) = within_of_glb(&document, 1 << bits) {
            is_listed |= import.skipped.len() == 5000;
        }
    }
    assert!(is_listed);
}

/// Returns a document with two keys that are far apart.
fn lasting(seconds: f32) -> Document {
    let mut document = Document::new(json!([{}]));
    document.channel(0, "scale", "STEP", &[0.0, seconds], &[[1.0; 3]; 2]);
    document
}

#[test]
fn keys_that_are_far_apart_take_no_more_than_the_limit() {
    refused(within_of_glb(&lasting(100_000.0), LIMIT_BYTES));
    assert_eq!(within_of_glb(&lasting(3000.0), LIMIT_BYTES).unwrap().clips[0].samples(), 90_001);
    // This is the same document with the default limit, which is 671 MB for four joints.
    let mut document = Document::new(json!([{}, {}, {}, {}]));
    document.json["skins"] = json!([{ "joints": [0, 1, 2, 3] }]);
    document.channel(0, "scale", "STEP", &[0.0, 139_810.0], &[[1.0; 3]; 2]);
    let bytes = document.glb();
    assert!(bytes.len() < 760, "{}", bytes.len());
    let measured =
        measure(|| refused(from_bytes("a.glb", &bytes, &ImportOptions::default(), no_files)));
    assert!(measured.bytes_max < 1 << 20);
}

#[test]
fn half_an_hour_of_sixty_joints_is_read_by_default() {
    let mut document = lasting(1800.0);
    document.json["nodes"] = (0..60).map(|_| json!({})).collect();
    document.json["skins"] = json!([{ "joints": (0..60).collect::<Vec<_>>() }]);
    let clips =
        from_bytes("a.glb", &document.glb(), &ImportOptions::default(), no_files).unwrap().clips;
    assert_eq!((clips[0].joints(), clips[0].samples()), (60, 54_001));
}

#[test]
fn animations_share_the_limit() {
    let mut document = lasting(1000.0);
    let animation = document.json["animations"][0].clone();
    document.json["animations"] = vec![animation; 5].into();
    refused(within_of_glb(&document, LIMIT_BYTES));
}

#[test]
fn a_short_json_text_cannot_become_a_large_document() {
    let large = |key: &str, value: &str| {
        let list = vec![value; 300_000 / (value.len() + 1)].join(",");
        let head = arm().json.to_string();
        let json = match key {
            // The document already has this key, so the list is inserted into it.
            "nodes" => head.replace("\"nodes\":[", &format!("\"nodes\":[{list},")),
            _ => format!("{},\"{key}\":[{list}]}}", &head[..head.len() - 1]),
        };
        within(LIMIT_BYTES, json.len(), |options| {
            from_bytes("a.gltf", json.as_bytes(), options, no_files)
        })
    };
    for key in ["materials", "images", "scenes", "nodes"] {
        let value = if key == "scenes" { r#"{"nodes":[]}"# } else { "{}" };
        refused(large(key, value));
    }
    refused(large("meshes", r#"{"primitives":[{"attributes":{"A":0}}]}"#));
    refused(large("meshes", r#"{"primitives":[{"attributes":{}}],"weights":[0]}"#));
    // Ignored parts take no memory.
    let _ = large("extras", "[[[]]]");
}

#[test]
fn no_json_object_takes_more_memory_than_is_counted_for_it() {
    // With this limit some documents are read, and their memory must be within it.
    let accessor = r#"{"count":1,"componentType":5126,"type":"SCALAR","min":[0,{"a":[[],[]]}],"max":{"b":0,"c":{}}}"#;
    let mesh = r#"{"primitives":[{"attributes":{"POSITION":0,"_A":1,"TEXCOORD_9":2},"targets":[{"NORMAL":1}]}]}"#;
    let sampler = r#"{"input":0,"output":0}"#;
    for (key, value) in [
        ("accessors", accessor.to_owned()),
        ("meshes", mesh.to_owned()),
        ("materials", "{}".to_owned()),
        ("nodes", r#"{"children":[],"weights":[0,0,0,0,0]}"#.to_owned()),
        ("skins", r#"{"joints":[0]}"#.to_owned()),
        ("cameras", r#"{"type":"perspective","perspective":{"yfov":1,"znear":1}}"#.to_owned()),
        ("animations", format!(r#"{{"channels":[],"samplers":[{sampler}]}}"#)),
        ("textures", r#"{"source":0}"#.to_owned()),
        ("bufferViews", r#"{"buffer":0,"byteLength":1}"#.to_owned()),
        ("images", r#"{"uri":"\n\n\n"}"#.to_owned()),
    ] {
        let list = vec![value; 257].join(",");
        let json = format!(r#"{{"asset":{{"version":"2.0"}},"{key}":[{list}]}}"#);
        let mut is_read = false;
        for limit in (14..24).map(|bits| 1 << bits) {
            let result = within(limit, 0, |options| {
                from_bytes("a.gltf", json.as_bytes(), options, no_files)
            });
            is_read |= !matches!(result, Err(ImportError::TooMuchMemory { .. }));
        }
        assert!(is_read, "{key}");
    }
}

#[test]
fn sparse_keys_without_data_count_towards_the_limit() {
    let mut document = Document::new(json!([{}]));
    let times: Vec<[f32; 1]> = (0..30_000).map(|key| [key as f32 / 30_000.0]).collect();
    let times = document.floats(&times);
    for path in ["translation", "scale"] {
        let values = json!({ "componentType": 5126, "count": 90_000, "type": "VEC3" });
        let values = document.accessor(values);
        document.channel_of(0, path, "CUBICSPLINE", times, values);
    }
    refused(within_of_glb(&document, LIMIT_BYTES));
    assert_eq!(within_of_glb(&document, 3 * LIMIT_BYTES).unwrap().clips[0].samples(), 31);
}

#[test]
fn buffers_in_the_text_count_towards_the_limit() {
    let mut document = arm();
    let data = format!("data:;base64,{}", "A".repeat(200_000));
    document.json["buffers"] = vec![json!({ "byteLength": 150_000, "uri": data }); 6].into();
    let views = document.json["bufferViews"].as_array_mut().unwrap();
    views.iter_mut().zip(0..).for_each(|(view, index)| view["buffer"] = json!(index));
    refused(within_of_glb(&document, LIMIT_BYTES));
}

#[test]
fn a_file_counts_towards_the_limit_each_time_it_is_named() {
    let mut document = arm();
    let uris: Vec<Value> = (0..6)
        .map(|index| json!({ "byteLength": document.chunk.len(), "uri": format!("{}a.bin", "./".repeat(index)) }))
        .collect();
    document.json["buffers"] = uris.into();
    let views = document.json["bufferViews"].as_array_mut().unwrap();
    views.iter_mut().zip(0..).for_each(|(view, index)| view["buffer"] = json!(index));
    let json = document.json.to_string();
    let file = |length: usize| {
        let chunk = &document.chunk;
        move |_: &str, most: u64| {
            if length as u64 > most {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            let mut bytes = vec![0; length];
            bytes[..chunk.len()].copy_from_slice(chunk);
            Ok(bytes)
        }
    };
    refused(within(LIMIT_BYTES, json.len(), |options| {
        from_bytes("a.gltf", json.as_bytes(), options, file(1 << 20))
    }));
    refused(within(LIMIT_BYTES, json.len(), |options| {
        from_bytes("a.gltf", json.as_bytes(), options, file(5 << 20))
    }));
    // By default a file adds 64 times its length to the limit, regardless of how often the document
    // names it.
    let import = from_bytes("a.gltf", json.as_bytes(), &ImportOptions::default(), file(1 << 20));
    assert_eq!(import.unwrap().clips.len(), 1);
}

#[test]
fn the_memory_limit_also_limits_shared_keys() {
    let mut document = Document::new((0..400).map(|_| json!({})).collect());
    let times: Vec<[f32; 1]> = (0..20_000).map(|key| [key as f32 / 1e6]).collect();
    let (times, values) = (document.floats(&times), document.floats(&vec![QUARTER; 20_000]));
    (0..400).for_each(|node| document.channel_of(node, "rotation", "LINEAR", times, values));
    let error = within_of_glb(&document, 2 * LIMIT_BYTES).unwrap_err();
    assert!(matches!(error, ImportError::TooManyKeys { limit: 6_710_880, .. }), "{error}");
}

#[test]
fn compressed_views_stay_within_the_limit() {
    // In version 1, a byte of control modes stands for 256 elements of four bytes, all zero.
    let mut document = Document::new(json!([{}]));
    let blocks = 24_000;
    let stream = [vec![0xa1], vec![0xaa; blocks], vec![0; 24]].concat();
    let (view, bytes) = (document.view(&stream), 1024 * blocks);
    let extension = json!({
        "buffer": 0, "byteLength": stream.len(), "byteStride": 4, "count": 256 * blocks,
        "mode": "ATTRIBUTES",
    });
    document.json["bufferViews"][view] = json!({
        "buffer": 0, "byteLength": bytes, "extensions": { "KHR_meshopt_compression": extension },
    });
    let times = document.accessor(
        json!({ "bufferView": view, "componentType": 5126, "count": 1, "type": "SCALAR" }),
    );
    let values = json!({ "bufferView": view, "componentType": 5126, "count": 1, "type": "VEC3" });
    let values = document.accessor(values);
    document.channel_of(0, "scale", "STEP", times, values);
    refused(within_of_glb(&document, LIMIT_BYTES));
    let import = within_of_glb(&document, 2 * bytes as u64).unwrap();
    assert_eq!((import.clips[0].samples(), import.clips[0].pose(0)[0].scale), (1, [0.0; 3]));
    let options = ImportOptions { max_bytes: bytes as u64 - 1, ..ImportOptions::default() };
    let error = from_bytes("a.glb", &document.glb(), &options, no_files).unwrap_err();
    assert!(matches!(error, ImportError::TooManyBytes { .. }), "{error}");
    // A second view of the same stream takes the same memory again.
    let again = document.json["bufferViews"][view].clone();
    document.json["bufferViews"].as_array_mut().unwrap().push(again);
    document.json["accessors"][values]["bufferView"] = json!(view + 1);
    refused(within_of_glb(&document, 2 * bytes as u64));
    assert!(within_of_glb(&document, 3 * bytes as u64).is_ok());
}

/// Returns a node with the weights of `targets` targets, whose names have `name_bytes` bytes each.
fn weights(targets: usize, name_bytes: usize, samples: usize) -> Document {
    let mut document = Document::new(json!([{ "name": "n".repeat(name_bytes), "mesh": 0 }]));
    let primitive = json!({ "attributes": {}, "targets": vec![json!({}); targets] });
    document.json["meshes"] = json!([{ "primitives": [primitive] }]);
    let end_s = (samples - 1) as f32 / 30.0;
    document.channel(0, "weights", "STEP", &[0.0, end_s], &vec![[0.5]; 2 * targets]);
    document
}

#[test]
fn curves_stay_within_the_limit() {
    refused(within_of_glb(&weights(400, 8, 10_000), 2 * LIMIT_BYTES));
    let import = within_of_glb(&weights(400, 8, 10_000), 6 * LIMIT_BYTES).unwrap();
    assert_eq!(import.clips[0].curves().len(), 400);
    // All curves repeat the name of their node.
    refused(within_of_glb(&weights(400, 60_000, 2), 2 * LIMIT_BYTES));
    assert!(within_of_glb(&weights(400, 60_000, 2), 24 * LIMIT_BYTES).is_ok());
    // Many curves have this name in common.
    let mut document = weights(1000, 8, 2);
    document.json["meshes"][0]["extras"] = json!({ "targetNames": vec!["same"; 1000] });
    let import = within_of_glb(&document, 2 * LIMIT_BYTES).unwrap();
    assert_eq!(import.clips[0].curves()[999].name, "nnnnnnnn.same-1000");
}

#[test]
fn markers_and_lists_of_what_is_left_out_stay_within_the_limit() {
    let mut document = Document::new(json!([{}]));
    document.channel(0, "scale", "STEP", &[0.0, 1.0], &[[1.0; 3]; 2]);
    let marker = json!({ "name": "m", "time_s": 0.5 });
    document.json["animations"][0]["extras"] = json!({ "markers": vec![marker; 5000] });
    let mut has_markers = false;
    for bits in 19..25 {
        if let Ok(import) = within_of_glb(&document, 1 << bits) {
            has_markers |= import.clips[0].markers().len() == 5000;
        }
    }
    assert!(has_markers);
    let channels =
        (0..2000).map(|index| json!({ "sampler": 0, "target": { "path": format!("p{index}") } }));
    document.json["animations"] = json!([{ "channels": channels.collect::<Vec<_>>() }]);
    let mut is_listed = false;
    for bits in 19..25 {
        if let Ok(import) = within_of_glb(&document, 1 << bits) {
            is_listed |= import.left_out.len() == 2001;
        }
    }
    assert!(is_listed);
}
