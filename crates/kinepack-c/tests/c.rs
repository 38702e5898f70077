//! Programs in C against the static library: compiled and run, plain and under valgrind where that
//! is installed.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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

fn run(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(name, folder.path());
    let output = Command::new(&program).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
    valgrind.args(["--errors-for-leak-kinds=definite"]).arg(&program);
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
