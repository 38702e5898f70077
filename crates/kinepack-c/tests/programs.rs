//! Programs in C and C++ against the static library: compiled and run, with the address and undefined
//! behaviour sanitizers, and under valgrind where that is installed.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use kinepack_anim::offline::{BuildOptions, build};
use kinepack_anim::{AnyClip, Joint, RawClip, Skeleton, Transform, disk};

const C: [&str; 1] = ["-std=c11"];
const CPP: [&str; 1] = ["-std=c++17"];

/// Compiles a program of a file in this crate, and returns it.
fn compile(source: &str, options: &[&str], folder: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Beside this test.
    let libraries = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let program = folder.join("program");
    let (variable, usual) = if source.ends_with(".c") { ("CC", "cc") } else { ("CXX", "c++") };
    let mut command = Command::new(std::env::var_os(variable).unwrap_or_else(|| usual.into()));
    command.args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-g", "-O1"]).args(options);
    command.arg("-I").arg(root.join("include")).arg(root.join(source));
    command.arg(libraries.join("libkinepack_c.a"));
    command.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program);
    succeed(command.output().expect("these tests need compilers for C and C++"));
    program
}

fn text(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&both).into_owned()
}

/// Runs a program, with a folder that it may use.
fn run(source: &str, options: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    run_in(source, options, folder.path());
}

fn run_in(source: &str, options: &[&str], folder: &Path) {
    let sanitized =
        [options, &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]].concat();
    succeed(Command::new(compile(source, &sanitized, folder)).arg(folder).output().unwrap());
    let program = compile(source, options, folder);
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
    valgrind.args(["--errors-for-leak-kinds=definite"]).arg(&program).arg(folder);
    // Where it is not installed, a plain run has to do.
    let output = valgrind.output().or_else(|_| Command::new(&program).arg(folder).output());
    succeed(output.unwrap());
}

fn succeed(output: Output) {
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn a_world_crosses_a_bad_network() {
    run("tests/c/network.c", &C);
}

#[test]
fn ships_travel_and_bad_input_is_refused() {
    run("tests/c/ships.c", &C);
}

#[test]
fn inputs_arrive_in_order() {
    run("tests/c/inputs.c", &C);
}

#[test]
fn a_transform_of_20_bytes_takes_3() {
    run("tests/c/values.c", &C);
}

#[test]
fn replays_are_written_cut_and_played() {
    run("tests/c/replay.c", &C);
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
    run_in("tests/c/clips.c", &C, folder.path());
}

#[test]
fn owners_in_cpp_with_and_without_exceptions() {
    run("tests/cpp/owners.cpp", &CPP);
    run("tests/cpp/owners.cpp", &[CPP[0], "-fno-exceptions"]);
}

#[test]
fn the_example_in_the_style_of_unreal_runs_without_the_engine() {
    run("examples/unreal/main.cpp", &CPP);
    run("examples/unreal/main.cpp", &[CPP[0], "-fno-exceptions", "-fno-rtti"]);
}
