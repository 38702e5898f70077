//! Runs the program to its end.

#![allow(dead_code, reason = "each test program uses its part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use kinepack::Level;
use serde_json::Value;

/// The result of a run.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Returns the JSON document of a run that succeeded.
    pub(crate) fn document(&self) -> Value {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        serde_json::from_str(&self.stdout).expect("one JSON document")
    }
}

/// Returns a line that the program itself prints, with its name and a text.
pub(crate) fn own_line(text: &str) -> String {
    let name = Path::new(crate::PROGRAM).file_stem().unwrap().to_str().unwrap();
    format!("{name}: {text}")
}

pub(crate) fn program() -> Command {
    let mut command = Command::new(crate::PROGRAM);
    command.stdin(Stdio::null());
    command
}

pub(crate) fn run(arguments: &[&str]) -> Run {
    let output = program().args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Runs a command that succeeds without output on standard error. Returns its standard output.
pub(crate) fn stdout(arguments: &[&str]) -> String {
    let run = run(arguments);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    run.stdout
}

/// Runs the program in terminals of 60 and 80 columns. Its output must fit, except for lines with
/// one of the `paths`, which are not broken.
pub(crate) fn check_width(arguments: &[&str], paths: &[&str]) {
    for columns in [60, 80] {
        let mut command = program();
        command.args(arguments).env("COLUMNS", columns.to_string());
        let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let is_own = |line: &&str| !paths.iter().any(|path| line.contains(path));
        let longest = output.lines().filter(is_own).max_by_key(|line| line.chars().count());
        let longest = longest.unwrap();
        assert!(longest.chars().count() <= columns, "{columns}, {arguments:?}: {longest}");
    }
}

pub(crate) fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(&[arguments, &["--json"]].concat())).expect("one JSON document")
}

/// Returns the names of the levels of a document.
pub(crate) fn level_names(document: &Value) -> Vec<&str> {
    let levels = document["levels"].as_array().unwrap();
    levels.iter().map(|level| level["level"].as_str().unwrap()).collect()
}

pub(crate) fn all_names() -> Vec<&'static str> {
    Level::TABLE.into_iter().map(|level| level.name()).collect()
}

/// Runs a command that fails with exit code 2 and without output. Returns its single line on
/// standard error.
pub(crate) fn refusal(arguments: &[&str]) -> String {
    let run = run(arguments);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", run.stderr);
    assert!(
        run.stderr.starts_with(&own_line("")) && run.stderr.ends_with('\n'),
        "{:?}",
        run.stderr
    );
    assert_eq!(run.stderr.lines().count(), 1, "{:?}", run.stderr);
    run.stderr
}

/// Asserts that a command that writes `file` replaces an existing one only with `--force`, and
/// leaves no other files next to it.
pub(crate) fn see_that_it_replaces_by_force_alone(file: &Path, arguments: &[&str]) {
    const OLD: &[u8] = b"worth something";
    let name = file.to_str().unwrap();
    fs::write(file, OLD).unwrap();
    let there = beside(file);
    let refused = refusal(arguments);
    for part in [name, "exists", "--force"] {
        assert!(refused.contains(part), "{arguments:?}: no {part:?} in {refused}");
    }
    assert_eq!(fs::read(file).unwrap(), OLD, "{arguments:?}");
    let forced = run(&[arguments, &["--force"]].concat());
    assert_eq!(forced.code, Some(0), "{arguments:?}: {}", forced.stderr);
    assert_ne!(fs::read(file).unwrap(), OLD, "{arguments:?}");
    assert_eq!(beside(file), there, "{arguments:?}");
}

/// Asserts that a command fails, and that it changes no file in the directory of `file`.
pub(crate) fn see_that_a_failure_changes_nothing(
    file: &Path,
    arguments: &[&str],
    code: i32,
) -> String {
    let contents =
        || beside(file).into_iter().map(|path| (fs::read(&path).ok(), path)).collect::<Vec<_>>();
    let before = contents();
    let failed = run(arguments);
    assert_eq!(failed.code, Some(code), "{arguments:?}: {}", failed.stderr);
    assert!(contents() == before, "{arguments:?}: {:?}", beside(file));
    failed.stderr
}

/// Returns the paths in the directory of a file, in order.
pub(crate) fn beside(file: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(file.parent().unwrap()).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Runs the program with a limit of `blocks` blocks of 512 bytes per file, as on a full disk.
#[cfg(unix)]
pub(crate) fn run_without_room(blocks: u32, arguments: &[&str]) -> Output {
    let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    Command::new("sh").args(["-c", &limited, crate::PROGRAM]).args(arguments).output().unwrap()
}
