//! A test that fails, to check that the runner notices a failure.

#[test]
fn a_failure_is_seen() {
    assert_eq!(include_str!("../Cargo.toml").len(), 0);
}
