//! Tests files without clips, and the names of the files that are written.

use std::fs;

use serde_json::json;

use super::Files;
use super::document::Document;
use super::document::fbx::{Keys, Scene};
use crate::support::program::{self, json, refusal, stdout};

/// Returns the names of all files in a directory.
fn names_in(directory: &str) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_command_refuses_files_without_an_animation() {
    let files = Files::new();
    let mesh = files.at("mesh.glb");
    fs::write(&mesh, Document::new(json!([{ "name": "house" }])).glb()).unwrap();
    let (out, text) = (files.at("out"), files.at("widths.txt"));
    for arguments in [
        &["build", &mesh][..],
        &["build", &mesh, "--out", &out],
        &["compare", &mesh],
        &["info", &mesh],
        &["raw", &mesh, &out],
        &["train", &mesh, "--out", &text],
        &["view", &mesh, "--no-open", "--listen", "127.0.0.1:0"],
    ] {
        let said = refusal(&[&["anim"], arguments].concat());
        assert!(said.contains("mesh.glb: no animation of joints or nodes: "), "{said}");
    }
    let base = refusal(&["anim", "build", &files.at("an arm.glb"), "--base", &mesh]);
    assert!(base.contains("mesh.glb: the file has no clip"), "{base}");
    // These commands read compressed clips.
    for (command, out) in [("decode", "file.clip"), ("export", "file.glb")] {
        let said = refusal(&["anim", command, &mesh, &files.at(out)]);
        assert!(said.contains("mesh.glb: "), "{said}");
    }
    assert_eq!(names_in(&files.at("")), ["an arm.glb", "mesh.glb", "walk.bvh"]);
    // If another file has a clip, there is only a note.
    let arm = files.at("an arm.glb");
    for arguments in [&["build", &arm, &mesh][..], &["raw", &arm, &mesh, &out]] {
        let document = json(&[&["anim"], arguments].concat());
        assert_eq!(document["clips"].as_array().unwrap().len(), 1);
        let without = "mesh.glb: no animation of joints or nodes";
        let mut notes = document["notes"].as_array().unwrap().iter();
        assert!(notes.any(|note| note.as_str().unwrap().contains(without)), "{document}");
    }
}

#[test]
fn files_of_other_kinds_are_named() {
    let files = Files::new();
    files.build(&[]);
    let (clip, skeleton) = (files.at("out/an_arm__Move.kpa"), files.at(&files.skeleton()));
    let (out, code) = (files.at("file"), files.at("build.rs"));
    fs::write(&code, "fn main() {}").unwrap();
    let fbx = if cfg!(feature = "fbx") { " .fbx," } else { "" };
    let sources = &format!(".glb, .gltf, .vrm, .vrma,{fbx} .bvh, .bvh.zst or .clip");
    let all = format!(".kpa, .kpd, .kpb, {sources}");
    let of_skeleton = "this is a skeleton (.kps); the file must be";
    let give = ": give a clip of the skeleton";
    for (arguments, text) in [
        (&["info", &skeleton][..], format!("{of_skeleton} {all}{give}")),
        (&["view", &skeleton, "--no-open"], format!("{of_skeleton} {all}{give}")),
        (&["decode", &skeleton, &out], format!("{of_skeleton} .kpa, .kpd or .kpb{give}")),
        (&["build", &skeleton], format!("{of_skeleton} {sources}")),
        (&["build", &code], format!("build.rs: the file must be {sources}")),
        (&["build", &clip], format!("this is a block clip (.kpa); the file must be {sources}")),
        (
            &["raw", &code, &out],
            format!("the file must be .glb, .gltf, .vrm, .vrma,{fbx} .bvh or .bvh.zst"),
        ),
        (
            &["info", &clip, "--skeleton", &clip],
            "this is a block clip (.kpa); the file must be .kps".to_owned(),
        ),
    ] {
        let said = refusal(&[&["anim"], arguments].concat());
        assert!(said.contains(&text), "{said}");
    }
}

#[test]
fn fbx_is_read_with_a_feature() {
    let files = Files::new();
    let (file, out) = (files.at("cart.fbx"), files.at("out"));
    let mut scene = Scene::default();
    let wheel = scene.bone("wheel", 0, &[]);
    let layer = scene.stack("turn", [0.0, 1.0]);
    scene.curve(layer, (wheel, "Lcl Rotation"), "d|X", Keys::Linear, &[(0.0, 0.0), (1.0, 90.0)]);
    fs::write(&file, scene.binary()).unwrap();
    for arguments in [&["build", &file][..], &["raw", &file, &out]] {
        let arguments = [&["anim"], arguments].concat();
        if cfg!(feature = "fbx") {
            assert!(stdout(&arguments).contains("cart__turn"), "{arguments:?}");
            continue;
        }
        let said = refusal(&arguments);
        let text = "cart.fbx: this build cannot read FBX: turn on the feature `fbx`, or convert the \
                    file to glTF; `cargo install --path crates/kinepack-cli --features fbx` turns it on";
        assert!(said.contains(text), "{said}");
    }
}

#[test]
fn info_says_how_to_get_the_errors_of_a_compressed_clip() {
    let files = Files::new();
    files.build(&[]);
    let clip = files.at("out/an_arm__Move.kpa");
    let info = stdout(&["anim", "info", &clip]);
    assert!(info.contains("`anim raw FILE DIR`, then `--raw DIR/an_arm__Move.clip`"), "{info}");
    stdout(&["anim", "raw", &files.at("an arm.glb"), &files.at("raw")]);
    let info = stdout(&["anim", "info", &clip, "--raw", &files.at("raw/an_arm__Move.clip")]);
    assert!(info.contains("foot slide") && !info.contains("--raw"), "{info}");
}

#[test]
fn clips_of_one_name_are_numbered() {
    let files = Files::new();
    fs::create_dir(files.at("other")).unwrap();
    let [first, second] = ["walk.bvh", "other/walk.bvh"].map(|name| files.at(name));
    fs::write(&second, fs::read_to_string(&first).unwrap().replace("1 2 3 4", "9 2 3 4")).unwrap();
    let out = files.at("out");
    let mut built = vec!["anim", "build", &first, &second, "--out", &out];
    let document = json(&built);
    let names = ["walk", "walk-2"];
    assert_eq!([0, 1].map(|clip| document["clips"][clip]["name"].as_str().unwrap()), names);
    let note = format!("{second}: the clip walk is named walk-2: another clip has its name");
    let notes = document["notes"].as_array().unwrap();
    assert!(notes.iter().any(|text| *text == *note), "{document}");
    let written = names_in(&out);
    assert_eq!(written[1..], ["walk-2.kpa", "walk.kpa"]);
    assert!(written[0].starts_with("walk-") && written[0].ends_with(".kps"), "{written:?}");
    assert!(files.read("out/walk.kpa") != files.read("out/walk-2.kpa"));
    // A second build does not replace a file of the first.
    fs::remove_file(files.at("out/walk.kpa")).unwrap();
    assert!(refusal(&built).contains("walk-2.kpa: this file exists"));
    built.push("--force");
    stdout(&built);
    assert_eq!(names_in(&out), written);

    let raw = json(&["anim", "raw", &first, &second, &files.at("raw")]);
    assert_eq!([0, 1].map(|clip| raw["clips"][clip]["name"].as_str().unwrap()), names);
    assert_eq!(names_in(&files.at("raw")), ["walk-2.clip", "walk.clip"]);
}

#[test]
fn a_skeleton_is_found_under_every_name_that_ends_with_its_hash() {
    let files = Files::new();
    files.build(&[]);
    let (clip, skeleton) = (files.at("out/an_arm__Move.kpa"), files.skeleton());
    let hash = skeleton.strip_prefix("out/an_arm-").unwrap();
    for name in [format!("out/hero-{hash}"), format!("out/{hash}")] {
        fs::rename(files.at(&skeleton), files.at(&name)).unwrap();
        stdout(&["anim", "decode", &clip, &files.at("back.clip"), "--force"]);
        // A build uses the renamed skeleton.
        files.build(&[]);
        assert!(!fs::exists(files.at(&skeleton)).unwrap());
        fs::rename(files.at(&name), files.at(&skeleton)).unwrap();
    }
    // The command behaves in the same way if the clip is given without a directory.
    let run = program::program()
        .current_dir(files.at("out"))
        .args(["anim", "decode", "an_arm__Move.kpa", "here.clip"])
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
