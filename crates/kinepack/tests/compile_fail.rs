//! What `#[derive(Pack)]` refuses, and that it says in which field and what to write instead.
//!
//! `TRYBUILD=overwrite cargo test -p kinepack --test compile_fail` writes the expected messages
//! anew. Those of `impossible_*.rs` come from constants: the frame that rustc puts around them may
//! change with its version.

#![cfg(feature = "derive")]

#[test]
fn wrong_attributes_are_compile_errors() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
