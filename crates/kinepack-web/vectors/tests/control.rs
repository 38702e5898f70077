//! Fails, so that the runner can show that it sees a failure.

#[test]
fn a_failure_is_seen() {
    assert_eq!(include_str!("../Cargo.toml").len(), 0);
}
