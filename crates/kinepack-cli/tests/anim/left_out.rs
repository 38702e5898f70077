//! What clips do not have, markers from a file, and the names of human bones.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::document::{Document, arm};
use crate::support::program::{json as run, refusal, stdout};

/// A directory with `arm.glb`, whose document is changed.
fn files(change: impl Fn(&mut Document)) -> (TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let mut document = arm();
    change(&mut document);
    let file = directory.path().join("arm.glb");
    fs::write(&file, document.glb()).unwrap();
    (directory, file.display().to_string())
}

/// A lamp beside the arm, a camera, and a face with a morph target.
fn scene(document: &mut Document) {
    let nodes = document.json["nodes"].as_array_mut().unwrap();
    nodes.push(json!({ "name": "lamp" }));
    nodes.push(json!({ "name": "face", "mesh": 0 }));
    let primitive = json!({ "attributes": {}, "targets": [{}] });
    document.json["meshes"] = json!([{ "primitives": [primitive] }]);
    document.json["cameras"] = json!([{}]);
    document.channel(2, "translation", "STEP", &[0.0], &[[0.0; 3]]);
    document.channel(3, "weights", "STEP", &[0.0], &[[1.0]]);
}

#[test]
fn build_lists_what_is_left_out() {
    let (_directory, file) = files(scene);
    let rows = run(&["anim", "build", &file])["left_out"].as_array().unwrap().clone();
    let row =
        |what: &str, name: &str| json!({ "file": file, "what": what, "name": name, "count": 1 });
    let lamp = row("channels of a node outside of the skeleton", "lamp");
    assert_eq!(rows[..2], [lamp, row("cameras", "")]);
    let table = stdout(&["anim", "build", &file]);
    let lines: Vec<&str> = table.lines().skip_while(|line| !line.starts_with("left out")).collect();
    assert!(lines.len() >= 4, "{table}");
    assert!(
        lines.iter().any(|line| line.contains("outside of the skeleton") && line.contains("lamp"))
    );
    // Other commands have a note for each.
    let notes = run(&["anim", "compare", &file])["notes"].clone();
    let note = format!("{file}: left out: channels of a node outside of the skeleton: lamp (1)");
    assert!(notes.as_array().unwrap().contains(&json!(note)), "{notes}");
    let (_directory, file) = files(|_| ());
    assert_eq!(run(&["anim", "build", &file])["left_out"], json!([]));
    assert!(!stdout(&["anim", "build", &file]).contains("left out"));
}

#[test]
fn raw_says_that_its_files_have_no_curves() {
    let (directory, file) = files(scene);
    let out = directory.path().join("raw").display().to_string();
    let notes = run(&["anim", "raw", &file, &out])["notes"].to_string();
    assert!(notes.contains("curves: the clip's file holds joints only: arm__Move (1)"), "{notes}");
}

#[test]
fn built_clips_keep_their_curves() {
    let (directory, file) = files(scene);
    let out = directory.path().join("built").display().to_string();
    let report = run(&["anim", "build", &file, "--out", &out]);
    let clips = report["clips"].as_array().unwrap();
    assert!(clips.iter().any(|clip| clip["curves"] == 1), "{report}");
    assert!(!report["left_out"].to_string().contains("curves"), "{report}");
    let clip = format!("{out}/arm__Move.kpa");
    let info = run(&["anim", "info", &clip]);
    assert_eq!(info["clips"][0]["curves"].as_array().unwrap().len(), 1, "{info}");
    let glb = directory.path().join("again.glb").display().to_string();
    assert_eq!(run(&["anim", "export", &clip, &glb, "--gltf"])["curves"], 1);
}

#[test]
fn markers_come_from_a_file() {
    let (directory, file) = files(|_| ());
    let path = directory.path().join("markers.json");
    let markers = path.display().to_string();
    let arguments = ["anim", "build", &file, "--markers", &markers];
    let write = |text: Value| fs::write(&path, text.to_string()).unwrap();
    let step = json!({ "name": "foot_left", "time_s": 0.4 });
    write(json!([step, { "name": "stop", "time_s": 1.0, "clip": "Move" }]));
    let report = run(&arguments);
    assert_eq!(report["left_out"], json!([]));
    assert_eq!(report["clips"][0]["markers"], 2, "{report}");
    write(json!([step, { "name": "late", "time_s": 2.0 }]));
    let late = refusal(&arguments);
    assert!(late.contains("markers.json: arm__Move: marker 1 is at 2 s"), "{late}");
    write(json!([{ "name": "a", "time_s": 0.0, "clip": "Walk" }]));
    let other = refusal(&arguments);
    assert!(other.contains("no clip Walk; the clips are arm__Move"), "{other}");
    for bad in [json!({}), json!([{ "name": "a" }]), json!([{ "name": "a", "time": 0.0 }])] {
        write(bad);
        assert!(refusal(&arguments).contains("markers.json: "));
    }
    fs::remove_file(&path).unwrap();
    assert!(refusal(&arguments).contains("markers.json: "));
}

#[test]
fn human_bones_may_have_the_names_of_vrm() {
    let (directory, file) = files(|document| {
        let bones = json!({ "leftUpperArm": { "node": 0 }, "leftLowerArm": { "node": 1 } });
        document.json["extensions"]["VRMC_vrm"] = json!({ "humanoid": { "humanBones": bones } });
    });
    let model = directory.path().join("model.vrm").display().to_string();
    fs::rename(&file, &model).unwrap();
    let pin = ["anim", "build", &model, "--pin", "leftLowerArm"];
    assert!(refusal(&pin).contains("leftLowerArm"));
    let report = run(&[&pin[..], &["--humanoid-names"]].concat());
    assert_eq!(
        (&report["clips"][0]["name"], &report["notes"]),
        (&json!("model__Move"), &json!([]))
    );
}
