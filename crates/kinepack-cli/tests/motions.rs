//! Tests that learning never loses much. On synthetic motions, the learning level takes at most 2 %
//! more than the level that does not learn. The limit holds with and without a profile that fits
//! the motions.

#[path = "../../../lab/comparisons/examples/motions/compare.rs"]
mod compare;

#[test]
fn learning_never_loses() {
    let comparisons = compare::compare([(1, 300), (200, 60)]).unwrap();
    assert_eq!(comparisons.len(), 72);
    for row in comparisons {
        assert!(
            row.learning <= 1.02 * row.adaptive,
            "{} {} with the profile of {}: {:.2} bytes, without learning {:.2}",
            row.movers,
            row.motion,
            row.profile,
            row.learning,
            row.adaptive
        );
    }
}
