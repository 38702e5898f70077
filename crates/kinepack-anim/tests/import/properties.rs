//! Properties of the import of valid documents.

use crate::support::Document;
use kinepack_anim::RawClip;
use kinepack_anim::import::gltf::{from_bytes, no_files};
use kinepack_anim::import::{ImportOptions, Note, bvh};
use proptest::prelude::*;
use serde_json::{Value, json};

fn import(document: &Document, rate_hz: f32) -> RawClip {
    let options =
        ImportOptions { rate_hz: Some(rate_hz), unit_cm: Some(1.0), ..ImportOptions::default() };
    from_bytes("a.glb", &document.glb(), &options, no_files).unwrap().clips.remove(0)
}

fn rotation() -> impl Strategy<Value = [f32; 4]> {
    prop::array::uniform4(-1.0f32..1.0)
        .prop_filter("a length", |xyzw| xyzw.iter().any(|c| c.abs() > 0.1))
}

/// Adds members that are null to objects, and fractions of zero to whole numbers. The bits of
/// `bits` select the places.
fn loosen(value: &mut Value, bits: &mut u64) {
    let mut bit = || {
        *bits = bits.rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        *bits >> 63 == 1
    };
    match value {
        Value::Number(number) if number.is_u64() && bit() => {
            *value = json!(number.as_f64().unwrap());
        }
        Value::Object(members) => {
            // All of these may be absent.
            for name in ["extras", "cameras", "meshes", "materials", "extensions"] {
                if bit() && !members.contains_key(name) {
                    members.insert(name.to_owned(), Value::Null);
                }
            }
            members.values_mut().for_each(|member| loosen(member, bits));
        }
        Value::Array(list) => list.iter_mut().for_each(|member| loosen(member, bits)),
        _ => {}
    }
}

proptest! {
    /// If a clip is sampled at the rate of the keys, it has the values of the keys, with every
    /// interpolation.
    #[test]
    fn keys_come_out_at_their_times(
        keys in prop::collection::vec((prop::array::uniform3(-10.0f32..10.0), rotation()), 1..12),
        name in prop::sample::select(vec!["STEP", "LINEAR", "CUBICSPLINE"]),
    ) {
        let times: Vec<f32> = (0..keys.len()).map(|key| key as f32 / 4.0).collect();
        let is_spline = name == "CUBICSPLINE";
        let mut document = Document::new(json!([{}]));
        let translations: Vec<[f32; 3]> =
            keys.iter().flat_map(|(value, _)| if is_spline { vec![[1.0; 3], *value, [1.0; 3]] } else { vec![*value] }).collect();
        let rotations: Vec<[f32; 4]> =
            keys.iter().flat_map(|(_, value)| if is_spline { vec![[1.0; 4], *value, [1.0; 4]] } else { vec![*value] }).collect();
        document.channel(0, "translation", name, &times, &translations);
        document.channel(0, "rotation", name, &times, &rotations);
        let clip = import(&document, 4.0);
        prop_assert_eq!(clip.samples(), keys.len());
        for ((translation, rotation), pose) in keys.iter().zip(clip.poses()) {
            prop_assert!(translation.iter().zip(&pose[0].translation).all(|(a, b)| (a - b).abs() < 1e-5));
            let length = rotation.iter().map(|c| c * c).sum::<f32>().sqrt();
            let cosine: f32 = rotation.iter().zip(&pose[0].rotation).map(|(a, b)| a / length * b).sum();
            prop_assert!(cosine.abs() > 1.0 - 1e-5);
        }
        for pair in clip.poses().collect::<Vec<_>>().windows(2) {
            let cosine: f32 = pair[0][0].rotation.iter().zip(&pair[1][0].rotation).map(|(a, b)| a * b).sum();
            prop_assert!(cosine >= -1e-6, "the signs give the longer way");
        }
    }

    /// A static node above the root becomes part of the root, and no joint moves in object space.
    #[test]
    fn static_ancestors_do_not_change_object_space(
        turn in rotation(),
        translation in prop::array::uniform3(-10.0f32..10.0),
        scale in 0.1f32..10.0,
        offsets in prop::array::uniform2(prop::array::uniform3(-10.0f32..10.0)),
    ) {
        let document = |above| {
            let nodes = json!([above, { "children": [2], "translation": offsets[0] }, { "translation": offsets[1] }]);
            let mut document = Document::new(nodes);
            document.json["skins"] = json!([{ "joints": [1, 2] }]);
            document.channel(2, "scale", "STEP", &[0.0], &[[1.0; 3]]);
            document
        };
        let folded = import(&document(json!({ "children": [1], "rotation": turn, "translation": translation, "scale": [scale, scale, scale] })), 30.0);
        let bind = folded.skeleton().bind_pose();
        let quaternion = glam::DQuat::from_array(turn.map(f64::from)).normalize();
        let vector = |v: [f32; 3]| glam::DVec3::from_array(v.map(f64::from));
        let expected = vector(translation) + quaternion * (vector(offsets[0]) + vector(offsets[1])) * f64::from(scale);
        let root = glam::DQuat::from_array(bind[0].rotation.map(f64::from));
        let found = vector(bind[0].translation) + root * vector(bind[1].translation);
        prop_assert!((found - expected).length() < 1e-3, "{found} is not {expected}");
    }

    /// A document with null members and with fractions in place of whole numbers is the same.
    #[test]
    fn loose_json_is_the_same_document(seed in any::<u64>()) {
        let mut document = crate::support::arm();
        let expected = import(&document, 4.0);
        let mut bits = seed;
        loosen(&mut document.json, &mut bits);
        prop_assert_eq!(import(&document, 4.0), expected);
    }

    /// The importer reads all rows, regardless of the number that the file states and of the form
    /// of its labels.
    #[test]
    fn bvh_is_read_by_its_rows(
        stated in 0u64..10,
        rows in prop::collection::vec(-90i32..90, 1..8),
        labels in prop::sample::select(vec!["Frames: ", "Frames ", "Frames : ", "FRAMES:"]),
        time in prop::sample::select(vec!["Time: ", "Time:", "Time ", "Time :"]),
        end in prop::sample::select(vec!["", "\0", "\n\u{1a}", "\r\n\0\0 "]),
    ) {
        let frames: Vec<String> = rows.iter().map(ToString::to_string).collect();
        let text = format!(
            "HIERARCHY ROOT a {{ OFFSET 0 0 0 CHANNELS 1 Xposition }} \
             MOTION\n{labels}{stated}\nFrame {time}0.1\n{}{end}",
            frames.join("\n")
        );
        let import = bvh::from_text("a.bvh", &text, &ImportOptions::default()).unwrap();
        let places: Vec<i32> =
            import.clips[0].poses().map(|pose| pose[0].translation[0] as i32).collect();
        let is_noted = |note: &Note| matches!(note, Note::FrameCount { .. });
        prop_assert_eq!(import.notes.iter().any(is_noted), stated != rows.len() as u64);
        prop_assert_eq!(places, rows);
    }

    /// A bad channel changes nothing in the other channels.
    #[test]
    fn other_channels_are_as_without_a_bad_one(
        kind in 0usize..5,
        place in 0usize..4,
    ) {
        let mut document = crate::support::arm();
        let expected = import(&document, 4.0);
        let target = json!({ "node": if kind == 0 { 9 } else { 0 }, "path": "scale" });
        let rotations = json!({ "node": 1, "path": "rotation" });
        let bad = match kind {
            0 => json!({ "sampler": 1, "target": target }),
            1 => json!({ "sampler": 9, "target": target }),
            2 => json!({ "sampler": 1, "target": rotations }),
            3 => json!({ "sampler": 2, "target": rotations }),
            _ => json!({ "sampler": 0, "target": target }),
        };
        let channels = document.json["animations"][0]["channels"].as_array_mut().unwrap();
        channels.insert(place.min(channels.len()), bad);
        let options = ImportOptions {
            rate_hz: Some(4.0),
            unit_cm: Some(1.0),
            ..ImportOptions::default()
        };
        let import = from_bytes("a.glb", &document.glb(), &options, no_files).unwrap();
        prop_assert_eq!(&import.clips[..], std::slice::from_ref(&expected));
        prop_assert_eq!(import.skipped.len(), 1);
        prop_assert_eq!(import.skipped[0].channel, Some(place.min(3)));
    }

    /// Random bytes are read or refused.
    #[test]
    fn bytes_of_bvh_never_panic(words in prop::collection::vec(prop::sample::select(vec![
        &b"HIERARCHY"[..], b"ROOT", b"JOINT", b"\x83{", b"\xfc", b"{", b"}", b"OFFSET 0 0 0",
        b"CHANNELS 1 Xposition", b"MOTION", b"Frames", b":", b"Frame", b"Time:.5", b"0", b"\n", b"\0",
        b"\x1a", b"1",
    ]), 0..60)) {
        let _ = bvh::from_bytes("a.bvh", &words.join(&b' '), &ImportOptions::default());
    }

    /// Random words are read or refused.
    #[test]
    fn words_of_bvh_never_panic(words in prop::collection::vec(prop::sample::select(vec![
        "HIERARCHY", "ROOT", "JOINT", "End", "Site", "{", "}", "OFFSET", "CHANNELS", "Xposition", "Zrotation", "MOTION",
        "Frames:", "Frame", "Time:", "0", "1", "2", "1e9", "-0.5", "nan", "\n", "hip",
    ]), 0..80)) {
        let _ = bvh::from_text("a.bvh", &words.join(" "), &ImportOptions::default());
    }
}
