//! Output files of `anim`: a command replaces a file only with `--force`, and writes either all of
//! its files or none.

use std::fs;
use std::path::PathBuf;

use super::Files;
use crate::support::program::{
    beside, json, refusal, see_that_a_failure_changes_nothing, see_that_it_replaces_by_force_alone,
};

/// Returns a directory with the arm and its built clip.
fn built(options: &[&str]) -> Files {
    let files = Files::new();
    files.build(options);
    files
}

#[test]
fn raw_replaces_a_clip_only_with_force() {
    let files = Files::new();
    fs::create_dir(files.at("out")).unwrap();
    let arguments = ["anim", "raw", &files.at("an arm.glb"), &files.at("out")];
    see_that_it_replaces_by_force_alone(
        &PathBuf::from(files.at("out/an_arm__Move.clip")),
        &arguments,
    );
}

#[test]
fn build_replaces_a_clip_only_with_force() {
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
fn build_keeps_an_existing_skeleton_and_refuses_a_different_file_of_its_name() {
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
fn decode_replaces_a_file_only_with_force() {
    let files = built(&[]);
    let out = files.at("back.clip");
    let arguments = ["anim", "decode", &files.at("out/an_arm__Move.kpa"), &out];
    see_that_it_replaces_by_force_alone(&PathBuf::from(&out), &arguments);
}

#[test]
fn export_replaces_a_file_only_with_force() {
    let files = built(&["--scheme", "keyed"]);
    let clip = files.at("out/an_arm__Move.kpa");
    for name in ["arm.anm", "arm.glb"] {
        let out = files.at(name);
        let arguments = ["anim", "export", &clip, &out];
        see_that_it_replaces_by_force_alone(&PathBuf::from(&out), &arguments);
    }
}

#[test]
fn train_replaces_files_only_with_force_and_refuses_the_same_file_twice() {
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
fn an_output_that_is_an_input_is_refused_even_with_force() {
    let files = built(&[]);
    let [arm, clip] = ["an arm.glb", "out/an_arm__Move.kpa"].map(|name| files.at(name));
    let skeleton = files.at(&files.skeleton());
    for (input, arguments) in [
        (&clip, &["anim", "decode", &clip, &clip][..]),
        (&skeleton, &["anim", "decode", &clip, "--skeleton", &skeleton, &skeleton]),
        (&arm, &["anim", "export", &clip, "--skeleton", &arm, &arm]),
        (&arm, &["anim", "train", &arm, "--out", &arm]),
        (&arm, &["anim", "build", &arm, "--database", &arm]),
    ] {
        let arguments = [arguments, &["--force"]].concat();
        let said = see_that_a_failure_changes_nothing(input.as_ref(), &arguments, 2);
        assert!(said.contains(&format!("this is the input {input}")), "{arguments:?}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn a_clip_of_a_directory_does_not_replace_the_file_that_it_is_made_from() {
    let files = built(&[]);
    let (arm, out) = (files.at("an arm.glb"), files.at("out"));
    for name in ["an_arm__Move.clip", "an_arm__Move.kpa"] {
        let link = PathBuf::from(files.at(&format!("out/{name}")));
        // The build made a clip of this name.
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(&arm, &link).unwrap();
    }
    let before = fs::read(&arm).unwrap();
    for arguments in [
        &["anim", "raw", &arm, &out, "--force"][..],
        &["anim", "build", &arm, "--out", &out, "--force"],
    ] {
        let refused = refusal(arguments);
        assert!(refused.contains(&format!("this is the input {arm}")), "{refused}");
        assert_eq!(fs::read(&arm).unwrap(), before);
    }
}

#[test]
fn nothing_is_written_if_no_file_can_be_read() {
    let files = built(&[]);
    let old = PathBuf::from(files.at("out/an_arm__Move.clip"));
    fs::write(&old, "worth something").unwrap();
    fs::write(files.at("bad.bvh"), "HIERARCHY").unwrap();
    fs::write(files.at("worse.bvh"), "HIERARCHY").unwrap();
    let [worse, bad, out] = ["worse.bvh", "bad.bvh", "out"].map(|name| files.at(name));
    let said = see_that_a_failure_changes_nothing(
        &old,
        &["anim", "raw", &worse, &bad, &out, "--force"],
        2,
    );
    assert!(said.contains("bad.bvh"), "{said}");
    see_that_a_failure_changes_nothing(
        &old,
        &["anim", "build", &worse, &bad, "--out", &out, "--force"],
        2,
    );
    // Directories that were created for the files are removed too.
    let there = beside(&PathBuf::from(&out));
    see_that_a_failure_changes_nothing(
        &old,
        &["anim", "raw", &worse, &bad, &files.at("new/clips")],
        2,
    );
    assert_eq!(beside(&PathBuf::from(&out)), there);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_no_files() {
    use std::process::Command;

    use crate::support::running::{Running, wait_for};

    let files = built(&[]);
    let [arm, pipe, out] = ["an arm.glb", "pipe.bvh", "out"].map(|name| files.at(name));
    // The program writes the arm, then waits for data from the pipe.
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let _quiet = fs::File::options().read(true).write(true).open(&pipe).unwrap();
    let there = beside(&PathBuf::from(files.at("out/file")));
    let run = Running::start(&["anim", "raw", &arm, &pipe, &out], None);
    wait_for("the arm's file", || beside(&PathBuf::from(files.at("out/file"))) != there);
    let interrupted = run.interrupt();
    assert_eq!(interrupted.code, Some(130), "{}", interrupted.stderr);
    assert_eq!(beside(&PathBuf::from(files.at("out/file"))), there);
}
