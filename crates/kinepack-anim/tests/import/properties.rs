//! Properties of the import of valid documents.

use crate::support::Document;
use kinepack_anim::RawClip;
use kinepack_anim::import::gltf::{from_bytes, no_files};
use kinepack_anim::import::{ImportOptions, bvh};
use proptest::prelude::*;
use serde_json::json;

fn import(document: &Document, rate_hz: f32) -> RawClip {
    let options =
        ImportOptions { rate_hz: Some(rate_hz), unit_cm: Some(1.0), ..ImportOptions::default() };
    from_bytes("a.glb", &document.glb(), &options, no_files).unwrap().clips.remove(0)
}

fn rotation() -> impl Strategy<Value = [f32; 4]> {
    prop::array::uniform4(-1.0f32..1.0)
        .prop_filter("a length", |xyzw| xyzw.iter().any(|c| c.abs() > 0.1))
}

proptest! {
    /// Sampled at the rate of the keys, a clip has the values of the keys, with every
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

    /// Random words are read or refused.
    #[test]
    fn words_of_bvh_never_panic(words in prop::collection::vec(prop::sample::select(vec![
        "HIERARCHY", "ROOT", "JOINT", "End", "Site", "{", "}", "OFFSET", "CHANNELS", "Xposition", "Zrotation", "MOTION",
        "Frames:", "Frame", "Time:", "0", "1", "2", "1e9", "-0.5", "nan", "\n", "hip",
    ]), 0..80)) {
        let _ = bvh::from_text("a.bvh", &words.join(" "), &ImportOptions::default());
    }
}
