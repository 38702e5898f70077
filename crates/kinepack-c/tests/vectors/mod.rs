//! The frozen vectors of `spec/vectors/` through the C interface: as one script for a program in C.
//! Programs in other languages run the same script. `KINEPACK_WRITE_SCRIPT=FILE cargo test
//! -p kinepack-c --test tests vectors::` only writes it for them, and does not run the program in C.

#![cfg(unix)]

/// A file of `spec/vectors/`.
macro_rules! vectors {
    ($name:literal) => {
        include_str!(concat!("../../../../spec/vectors/", $name))
    };
}

mod broadcasts;
#[path = "../../../kinepack-anim/tests/figure/cases.rs"]
mod cases;
#[path = "../../../kinepack-crowd/tests/support/mod.rs"]
mod crowd;
mod figures;
#[path = "../../../kinepack/tests/support/hex.rs"]
#[allow(dead_code, reason = "the tests of the codec use the rest")]
mod hex;
mod network;
mod numbers;
mod played;
#[path = "../../../kinepack-anim/tests/random/mod.rs"]
#[allow(dead_code, reason = "figures use a part of it")]
mod random;
mod script;
#[path = "../../../kinepack/tests/support/vectors.rs"]
#[allow(dead_code, reason = "the tests of the codec use the rest")]
mod states;
mod streams;

use hex::hex;

use crate::support;

#[test]
fn all_frozen_vectors_pass_through_c() {
    let script = script::script();
    if let Some(path) = std::env::var_os("KINEPACK_WRITE_SCRIPT") {
        std::fs::write(path, script).unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.txt");
    std::fs::write(&path, script).unwrap();
    support::run_with("tests/c/vectors.c", &support::C, &path);
}
