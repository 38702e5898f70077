//! Records the built-in world.

use super::program::run;
use crate::challenge::Files;

/// Records the world with these options into a file of this name. Returns its path.
pub(crate) fn recorded(files: &Files, name: &str, options: &[&str]) -> String {
    let path = files.path(name).to_str().unwrap().to_owned();
    let recorded = run(&[&["record", &path], options].concat());
    assert_eq!((recorded.code, recorded.stdout.as_str()), (Some(0), ""), "{}", recorded.stderr);
    path
}
