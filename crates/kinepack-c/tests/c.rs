//! Programs in C against the static library: compiled and run, plain and under valgrind where that
//! is installed.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use kinepack_anim::offline::{BuildOptions, build};
use kinepack_anim::{AnyClip, Joint, RawClip, Skeleton, Transform, disk};

/// Compiles a program, and returns it.
fn compile(name: &str, folder: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Beside this test.
    let libraries = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let program = folder.join(name);
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(compiler);
    command.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-g", "-O1"]);
    command.arg("-I").arg(root.join("include"));
    command.arg(root.join("tests/c").join(name).with_extension("c"));
    command.arg(libraries.join("libkinepack_c.a"));
    command.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program);
    let output = command.output().expect("the tests in C need a C compiler");
    assert!(output.status.success(), "{}", text(&output));
    program
}

fn text(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&both).into_owned()
}

/// Runs a program, with a folder that it may use.
fn run(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    run_in(name, folder.path());
}

fn run_in(name: &str, folder: &Path) {
    let program = compile(name, folder);
    let output = Command::new(&program).arg(folder).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
    valgrind.args(["--errors-for-leak-kinds=definite"]).arg(&program).arg(folder);
    // Where it is not installed, the plain run has to do.
    if let Ok(output) = valgrind.output() {
        assert!(output.status.success(), "{}", text(&output));
    }
}

#[test]
fn a_world_crosses_a_bad_network() {
    run("network");
}

#[test]
fn ships_travel_and_bad_input_is_refused() {
    run("ships");
}

#[test]
fn inputs_arrive_in_order() {
    run("inputs");
}

#[test]
fn a_transform_of_20_bytes_takes_3() {
    run("values");
}

#[test]
fn replays_are_written_cut_and_played() {
    run("replay");
}

#[test]
fn clips_are_sampled_into_the_layout_of_an_engine() {
    let folder = tempfile::tempdir().unwrap();
    let joint = |name: &str, parent, x| Joint {
        name: name.into(),
        parent,
        bind: Transform { translation: [x, 0.0, 0.0], ..Transform::IDENTITY },
    };
    let joints = vec![
        joint("shoulder", None, 0.0),
        joint("elbow", Some(0), 30.0),
        joint("hand", Some(1), 25.0),
    ];
    let skeleton = Arc::new(Skeleton::new(joints).unwrap());
    let raw = |name: &str, cm_per_s: f32| {
        let samples = (0..=60).flat_map(|sample| {
            let time_s = sample as f32 / 30.0;
            let (sin, cos) = (0.25 * time_s).sin_cos();
            let mut pose = skeleton.bind_pose();
            pose[0].translation[0] = cm_per_s * time_s;
            pose[1].rotation = [0.0, 0.0, sin, cos];
            pose
        });
        RawClip::new(name, Arc::clone(&skeleton), 30.0, samples.collect()).unwrap()
    };
    let built = |raw: &RawClip| build(raw, &BuildOptions::default()).unwrap().clip;
    let wave = built(&raw("wave", 30.0));
    let AnyClip::Block(walk) = built(&raw("walk", 0.0)) else { panic!("a block clip") };
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("arm.kps", &skeleton.to_bytes());
    write("wave.kpa", wave.as_bytes());
    write("walk.kpd", &disk::pack(&walk).unwrap());
    run_in("clips", folder.path());
}
