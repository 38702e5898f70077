//! Tests the errors of `#[derive(Pack)]`: each error names the field, and suggests what to write
//! instead.
//!
//! `TRYBUILD=overwrite cargo test -p kinepack-derive compile_fail::` writes the expected messages
//! again. The messages of `impossible_*.rs` come from constants; the text around them is rustc's
//! and may change with the version of rustc.

#[test]
fn wrong_attributes_are_compile_errors() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
