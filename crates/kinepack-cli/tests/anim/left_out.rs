//! Tests the report of omitted parts, markers from a file, and the names of human bones.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::document::{Document, arm};
use crate::support::program::{Run, json as run, refusal, run as outcome, stdout};

/// Returns a directory with `arm.glb`, whose document is changed.
fn files(change: impl Fn(&mut Document)) -> (TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let mut document = arm();
    change(&mut document);
    let file = directory.path().join("arm.glb");
    fs::write(&file, document.glb()).unwrap();
    (directory, file.display().to_string())
}

/// A lamp next to the arm, a camera, and a face with a morph target.
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
    // Other commands print a note for each omitted part.
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
    assert_eq!(run(&["anim", "export", &clip, &glb])["curves"], 1);
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

/// Writes another arm next to `arm.glb`. Its second animation, `Bad`, has only channels without
/// keys.
fn write_bad_animation(path: &str) {
    let mut document = arm();
    let bad = json!({ "name": "Bad", "channels": document.json["animations"][0]["channels"] });
    document.json["animations"].as_array_mut().unwrap().push(bad);
    fs::write(path, document.glb()).unwrap();
}

/// Returns the JSON on standard output and the lines on standard error of a run that skips
/// something.
fn skipping(arguments: &[&str]) -> (Value, Vec<String>) {
    let Run { code, stdout, stderr } = outcome(&[arguments, &["--json"]].concat());
    assert_eq!(code, Some(1), "{arguments:?}: {stderr}");
    (serde_json::from_str(&stdout).unwrap(), stderr.lines().map(str::to_owned).collect())
}

#[test]
fn a_bad_file_or_animation_is_named_and_the_rest_is_built() {
    let (directory, good) = files(|_| ());
    let at = |name: &str| directory.path().join(name).display().to_string();
    let (damaged, partly, other, out) = (at("bad.glb"), at("partly.glb"), at("a.txt"), at("out"));
    fs::write(&damaged, b"glTF\x02\0\0\0").unwrap();
    fs::write(&other, "no animation").unwrap();
    write_bad_animation(&partly);
    let inputs = [&damaged[..], &good, &other, &partly, &at("missing.bvh")];
    let names = json!(["arm__Move", "partly__Move"]);
    let clips = |document: &Value| {
        let clips = document["clips"].as_array().unwrap();
        clips.iter().map(|clip| clip["name"].clone()).collect::<Value>()
    };
    for command in [&["build", "--out", &out][..], &["info"]] {
        let arguments = [&["anim"], command, &inputs].concat();
        let (document, said) = skipping(&arguments);
        assert_eq!(clips(&document), names, "{command:?}");
        let skipped = document["skipped"].as_array().unwrap();
        // The three channels of the bad animation have no samplers.
        assert_eq!((skipped.len(), said.len()), (6, 7), "{said:?}");
        assert_eq!(said[0], "kinepack: 6 parts are skipped, and the rest is done:");
        for (part, line) in skipped.iter().zip(&said[1..]) {
            assert_eq!(line.trim(), part.as_str().unwrap());
        }
        for name in ["bad.glb: not a GLB file", "missing.bvh: ", "a.txt: the file must be"] {
            assert!(said.iter().any(|line| line.contains(name)), "{name}: {said:?}");
        }
        let channel = "partly.glb: animation 1, channel 2: its sampler does not exist; channel 2 of Bad is skipped";
        assert!(said.iter().any(|line| line.contains(channel)), "{said:?}");
    }
    let written: Vec<_> = fs::read_dir(&out).unwrap().map(|file| file.unwrap().path()).collect();
    let count = |extension: &str| {
        written.iter().filter(|file| file.extension().unwrap() == extension).count()
    };
    assert_eq!((count("kpa"), count("kps"), written.len()), (2, 1, 3), "{written:?}");
    let (document, _) = skipping(&[&["anim", "raw"], &inputs[..], &[&at("raw")]].concat());
    assert_eq!(clips(&document), names);
    let (document, said) = skipping(&[&["anim", "compare"], &inputs[..]].concat());
    assert_eq!((&document["clips"], said.len()), (&json!(2), 7));

    // A damaged clip next to a good one.
    let (clip, short) = (format!("{out}/arm__Move.kpa"), format!("{out}/short.kpa"));
    let bytes = fs::read(&clip).unwrap();
    fs::write(&short, &bytes[..bytes.len() - 1]).unwrap();
    let (document, said) = skipping(&["anim", "info", &short, &clip, &damaged]);
    assert_eq!(document["clips"].as_array().unwrap().len(), 1);
    assert!(said[1].contains("short.kpa: ") && said[2].contains("bad.glb: "), "{said:?}");
}

#[test]
fn a_command_without_any_good_file_is_refused() {
    let (directory, good) = files(|_| ());
    let at = |name: &str| directory.path().join(name).display().to_string();
    let (one, other, out) = (at("one.glb"), at("other.bvh"), at("out"));
    fs::write(&one, b"glTF").unwrap();
    fs::write(&other, "HIERARCHY").unwrap();
    for command in [&["build", "--out", &out][..], &["info"], &["compare"]] {
        let run = outcome(&[&["anim"], command, &[&one, &other]].concat());
        let lines: Vec<&str> = run.stderr.lines().collect();
        assert_eq!((run.code, run.stdout.as_str(), lines.len()), (Some(2), "", 3), "{lines:?}");
        assert_eq!(lines[0], "kinepack: nothing of the input can be read:");
        assert!(lines[1].contains("one.glb: ") && lines[2].contains("other.bvh: "), "{lines:?}");
        // For a single file, the error has one line.
        assert!(refusal(&[&["anim"], command, &[&other]].concat()).contains("other.bvh: line 1"));
    }
    assert!(!fs::exists(&out).unwrap());
    // A bad option is not the fault of the files.
    assert!(refusal(&["anim", "build", &good, &one, "--rate", "0"]).contains("the rate must be"));
}

#[test]
fn pointers_to_other_things_are_named_if_nothing_else_moves() {
    let (_directory, file) = files(|document| {
        let pointer = json!({ "KHR_animation_pointer": { "pointer": "/materials/0/alphaCutoff" } });
        let target = json!({ "path": "pointer", "extensions": pointer });
        document.json["animations"][0]["channels"] = json!([{ "sampler": 0, "target": target }]);
    });
    let said = refusal(&["anim", "build", &file]);
    let reason = "arm.glb: no animation of joints or nodes: its animations change other things: \
                  channels of KHR_animation_pointer: /materials/0/alphaCutoff (1)";
    assert!(said.contains(reason), "{said}");
}

#[test]
fn files_of_one_model_share_a_skeleton_with_all_nodes() {
    let moving = |node: usize| {
        files(move |document| {
            document.json["skins"] = json!([]);
            document.json["animations"][0]["channels"] = json!([]);
            document.channel(node, "scale", "STEP", &[0.0, 1.0], &[[1.0; 3], [2.0; 3]]);
        })
    };
    let ((_one, upper), (_other, lower)) = (moving(0), moving(1));
    let out = tempfile::tempdir().unwrap();
    let database = out.path().join("arms.kpb").display().to_string();
    let build = ["anim", "build", &upper, &lower, "--database", &database];
    assert!(
        refusal(&build).contains("the skeleton of arm__Move-2 (1 joint) is not that of arm__Move")
    );
    assert_eq!(run(&[&build[..], &["--all-nodes"]].concat())["database"]["clips"], 2);
}

#[test]
fn build_and_info_say_which_joint_carries_a_clip() {
    let (directory, file) = files(|document| {
        // The arm is below a static node, and slides 3 m along x.
        let nodes = document.json["nodes"].as_array_mut().unwrap();
        nodes.push(json!({ "name": "scene", "children": [0] }));
        document.json["skins"] = json!([{ "joints": [2, 0, 1] }]);
        document.json["animations"][0]["channels"] = json!([]);
        document.channel(0, "translation", "LINEAR", &[0.0, 1.0], &[[0.0; 3], [3.0, 0.0, 0.0]]);
        let mut still = document.json["animations"][0].clone();
        still["name"] = json!("Still");
        document.json["animations"].as_array_mut().unwrap().push(still);
        document.json["animations"][1]["channels"] = json!([]);
        let turn = [[0.0, 0.0, 0.0, 1.0], [0.0, 0.6, 0.0, 0.8]];
        document.json["animations"].as_array_mut().unwrap().swap(0, 1);
        document.channel(1, "rotation", "LINEAR", &[0.0, 1.0], &turn);
    });
    let out = directory.path().join("out").display().to_string();
    let report = run(&["anim", "build", &file, "--out", &out]);
    let root = |report: &Value, name: &str| {
        let clips = report["clips"].as_array().unwrap();
        let clip = clips.iter().find(|clip| clip["name"] == name).unwrap();
        let own = &clip["root_motion"];
        let way = own["way_cm"].as_f64().unwrap().round();
        (own["travels"].as_bool().unwrap(), own["joint"].as_str().unwrap().to_owned(), way)
    };
    assert_eq!(root(&report, "arm__Move"), (true, "upper".to_owned(), 300.0));
    assert!(!root(&report, "arm__Still").0);
    let table = stdout(&["anim", "build", &file]);
    assert!(
        table.lines().any(|line| line == "1 clip travels: arm__Move 300 cm by upper"),
        "{table}"
    );
    let clip = format!("{out}/arm__Move.kpa");
    assert_eq!(
        root(&run(&["anim", "info", &clip]), "arm__Move"),
        (true, "upper".to_owned(), 300.0)
    );
    let text = stdout(&["anim", "info", &clip]);
    assert!(text.contains("travels 300.0 cm on the ground, by joint 1, upper"), "{text}");
    let text = stdout(&["anim", "info", &format!("{out}/arm__Still.kpa")]);
    assert!(text.contains("stays in place: it goes 0.0 cm on the ground"), "{text}");
}
