//! What `anim` writes: nothing that exists without being asked, and nothing by halves.

use std::fs;
use std::path::PathBuf;

use super::Files;
use crate::program::{
    beside, json, refusal, see_that_a_failure_changes_nothing, see_that_it_replaces_by_force_alone,
};

/// A directory with the arm as a built clip, beside the files that it is made of.
fn built(options: &[&str]) -> Files {
    let files = Files::new();
    files.build(options);
    files
}

#[test]
fn raw_replaces_a_clip_by_force_alone() {
    let files = Files::new();
    fs::create_dir(files.at("out")).unwrap();
    let arguments = ["anim", "raw", &files.at("an arm.glb"), &files.at("out")];
    see_that_it_replaces_by_force_alone(
        &PathBuf::from(files.at("out/an_arm__Move.clip")),
        &arguments,
    );
}

#[test]
fn build_replaces_a_clip_by_force_alone() {
    for (options, name) in
        [(&["--out"][..], "an_arm__Move.kpa"), (&["--disk", "--out"], "an_arm__Move.kpd")]
    {
        let files = built(options.split_last().unwrap().1);
        let (arm, out) = (files.at("an arm.glb"), files.at("out"));
        let arguments = [&["anim", "build", &arm], options, &[&out]].concat();
        see_that_it_replaces_by_force_alone(
            &PathBuf::from(files.at(&format!("out/{name}"))),
            &arguments,
        );
    }
}

#[test]
fn build_leaves_a_skeleton_that_is_there_and_refuses_another_of_its_name() {
    let files = built(&[]);
    let skeleton = files.at(&files.skeleton());
    fs::remove_file(files.at("out/an_arm__Move.kpa")).unwrap();
    let again = ["anim", "build", &files.at("an arm.glb"), "--out", &files.at("out")];
    json(&again);
    fs::remove_file(files.at("out/an_arm__Move.kpa")).unwrap();
    fs::write(&skeleton, "something else").unwrap();
    let refused = refusal(&again);
    assert!(refused.contains(&skeleton) && refused.contains("--force"), "{refused}");
    assert_eq!(fs::read(&skeleton).unwrap(), b"something else");
}

#[test]
fn decode_replaces_a_file_by_force_alone() {
    let files = built(&[]);
    let out = files.at("back.clip");
    let arguments = ["anim", "decode", &files.at("out/an_arm__Move.kpa"), &out];
    see_that_it_replaces_by_force_alone(&PathBuf::from(&out), &arguments);
}

#[test]
fn export_replaces_a_file_by_force_alone() {
    let files = built(&["--scheme", "keyed"]);
    let clip = files.at("out/an_arm__Move.kpa");
    for (name, options) in [("arm.anm", &[][..]), ("arm.glb", &["--gltf"])] {
        let out = files.at(name);
        let arguments = [&["anim", "export", &clip, &out], options].concat();
        see_that_it_replaces_by_force_alone(&PathBuf::from(&out), &arguments);
    }
}

#[test]
fn train_replaces_no_file_without_force_and_writes_no_two_into_one() {
    let files = Files::new();
    let [arm, text, binary] = ["an arm.glb", "widths.txt", "widths.bin"].map(|name| files.at(name));
    for old in [&text, &binary] {
        fs::write(old, "worth something").unwrap();
        let refused = refusal(&["anim", "train", &arm, "--out", &text, "--binary", &binary]);
        assert!(refused.contains(old.as_str()) && refused.contains("--force"), "{refused}");
        assert_eq!(fs::read(old).unwrap(), b"worth something");
        fs::remove_file(old).unwrap();
    }
    for same in ["widths.txt", "out/../widths.txt"] {
        fs::create_dir_all(files.at("out")).unwrap();
        let twice = refusal(&["anim", "train", &arm, "--out", &text, "--binary", &files.at(same)]);
        assert!(twice.contains(&text) && twice.contains("two options"), "{twice}");
    }
    let arguments = ["anim", "train", &arm, "--precision", "0.1", "--out", &text];
    see_that_it_replaces_by_force_alone(&PathBuf::from(&text), &arguments);
}

#[test]
fn a_failure_at_the_second_file_writes_nothing_of_the_first() {
    let files = built(&[]);
    let old = PathBuf::from(files.at("out/an_arm__Move.clip"));
    fs::write(&old, "worth something").unwrap();
    fs::write(files.at("bad.bvh"), "HIERARCHY").unwrap();
    let [arm, bad, out] = ["an arm.glb", "bad.bvh", "out"].map(|name| files.at(name));
    let said =
        see_that_a_failure_changes_nothing(&old, &["anim", "raw", &arm, &bad, &out, "--force"], 2);
    assert!(said.contains("bad.bvh"), "{said}");
    see_that_a_failure_changes_nothing(
        &old,
        &["anim", "build", &arm, &bad, "--out", &out, "--force"],
        2,
    );
    // Directories that were made for the files go with them.
    let there = beside(&PathBuf::from(&out));
    refusal(&["anim", "raw", &arm, &bad, &files.at("new/clips")]);
    assert_eq!(beside(&PathBuf::from(&out)), there);
}

#[cfg(unix)]
#[test]
fn an_interrupt_in_the_middle_leaves_nothing() {
    use std::process::Command;

    use crate::running::{Running, wait_for};

    let files = built(&[]);
    let [arm, pipe, out] = ["an arm.glb", "pipe.bvh", "out"].map(|name| files.at(name));
    // The program writes the arm and waits at the pipe, which says nothing.
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let _quiet = fs::File::options().read(true).write(true).open(&pipe).unwrap();
    let there = beside(&PathBuf::from(files.at("out/file")));
    let run = Running::start(&["anim", "raw", &arm, &pipe, &out], None);
    wait_for("the arm's file", || beside(&PathBuf::from(files.at("out/file"))) != there);
    let interrupted = run.interrupt();
    assert_eq!(interrupted.code, Some(130), "{}", interrupted.stderr);
    assert_eq!(beside(&PathBuf::from(files.at("out/file"))), there);
}
