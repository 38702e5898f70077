//! Programs in C and C++ against the static library: compiled and run, with the address and undefined
//! behaviour sanitizers, and under valgrind if that is installed.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) const C: [&str; 2] = ["-std=c11", "-D_POSIX_C_SOURCE=200809L"];
pub(crate) const CPP: [&str; 1] = ["-std=c++17"];

/// Compiles a file to a program, and returns the program's path. `source` is absolute or relative to
/// this crate.
fn compile(source: &str, options: &[&str], folder: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Cargo puts the libraries next to this test program.
    let libraries = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let program = folder.join("program");
    let (variable, usual) = if source.ends_with(".c") { ("CC", "cc") } else { ("CXX", "c++") };
    let mut command = Command::new(std::env::var_os(variable).unwrap_or_else(|| usual.into()));
    command.args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-g", "-O1"]).args(options);
    command.arg("-I").arg(root.join("include")).arg(root.join(source));
    command.arg(libraries.join("libkinepack_c.a"));
    command.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program).args(linker());
    succeed(command.output().expect("these tests need compilers for C and C++"));
    program
}

/// Options that select Rust's own linker, if it exists. It is faster: these tests take 160 seconds
/// instead of 273.
fn linker() -> Vec<String> {
    let found = gcc_ld().map(|folder| format!("-B{}", folder.display()));
    found.map_or_else(Vec::new, |folder| vec![folder, "-fuse-ld=lld".to_owned()])
}

/// The toolchain's folder for compilers that look for `ld.lld`.
fn gcc_ld() -> Option<PathBuf> {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?.stdout;
    let targets = Path::new(String::from_utf8(sysroot).ok()?.trim()).join("lib/rustlib");
    let mut folders =
        std::fs::read_dir(targets).ok()?.flatten().map(|target| target.path().join("bin/gcc-ld"));
    folders.find(|folder| folder.join("ld.lld").is_file())
}

fn text(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&both).into_owned()
}

/// Runs a program, with a folder that it may use.
pub(crate) fn run(source: &str, options: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    run_with(source, options, folder.path());
}

/// Runs a program with one argument.
pub(crate) fn run_with(source: &str, options: &[&str], argument: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let sanitized =
        [options, &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]].concat();
    succeed(Command::new(compile(source, &sanitized, folder)).arg(argument).output().unwrap());
    let program = compile(source, options, folder);
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
    valgrind.args(["--errors-for-leak-kinds=definite"]).arg(&program).arg(argument);
    // Without valgrind, a plain run has to do.
    let output = valgrind.output().or_else(|_| Command::new(&program).arg(argument).output());
    succeed(output.unwrap());
}

fn succeed(output: Output) {
    assert!(output.status.success(), "{}", text(&output));
}
