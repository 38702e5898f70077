//! The program, run to its end.

// Each test binary compiles this for itself and uses its own part of it.
#![allow(dead_code)]

use std::process::{Command, Stdio};

use serde_json::Value;

/// What a run of the program left.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kinepack"));
    command.stdin(Stdio::null());
    command
}

pub(crate) fn run(arguments: &[&str]) -> Run {
    let output = program().args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The standard output of a run that succeeds and says nothing on standard error.
pub(crate) fn stdout(arguments: &[&str]) -> String {
    let run = run(arguments);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    run.stdout
}

pub(crate) fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(&[arguments, &["--json"]].concat())).expect("one JSON document")
}

/// The one line on standard error of a run that is refused with exit code 2 and prints nothing.
pub(crate) fn refusal(arguments: &[&str]) -> String {
    let run = run(arguments);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", run.stderr);
    assert!(run.stderr.starts_with("kinepack: ") && run.stderr.ends_with('\n'), "{:?}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{:?}", run.stderr);
    run.stderr
}
