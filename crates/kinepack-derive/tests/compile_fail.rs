//! Tests the errors of `#[derive(Pack)]`: each names the field, and suggests what to write instead.
//!
//! `TRYBUILD=overwrite cargo test -p kinepack-derive compile_fail::` writes the expected messages
//! again. The messages of `impossible_*.rs` come from constants; the text that rustc puts around
//! them may change with its version.

#[test]
fn wrong_attributes_are_compile_errors() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
