//! Tests weights by joint.

use kinepack_anim::pose::{JointWeights, WeightsError};
use kinepack_anim::{JointMask, Skeleton};

use super::made::{at, skeleton};

fn body() -> Skeleton {
    let bind = at(0.0, 1.0, 0.0);
    skeleton(&[
        ("hips", None, bind),
        ("left leg", Some(0), bind),
        ("spine", Some(0), bind),
        ("chest", Some(2), bind),
        ("right leg", Some(0), bind),
        ("left arm", Some(3), bind),
        ("left hand", Some(5), bind),
        ("head", Some(3), bind),
        ("prop", None, bind),
    ])
}

#[test]
fn a_subtree_rises_in_steps() {
    let body = body();
    let with = |name, weight, steps| {
        let weights = JointWeights::all(&body).with_subtree(&body, name, weight, steps);
        weights.unwrap().as_slice().to_vec()
    };
    assert_eq!(with("spine", 0.5, 1), [1.0, 1.0, 0.5, 0.5, 1.0, 0.5, 0.5, 0.5, 1.0]);
    assert_eq!(with("spine", 0.5, 0), with("spine", 0.5, 1));
    assert_eq!(with("spine", 0.8, 4), [1.0, 1.0, 0.2, 0.4, 1.0, 0.6, 0.8, 0.6, 1.0]);
    assert_eq!(with("hips", 0.0, 3), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn masks_become_weights() {
    let mask = JointMask::new(9, |joint| joint == 2 || joint == 8);
    let weights = JointWeights::from_mask(9, &mask);
    assert_eq!(weights.as_slice(), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!((weights.weight(8), weights.weight(9)), (1.0, 0.0));
}

#[test]
fn names_that_are_missing_are_errors() {
    let body = body();
    let error = JointWeights::none(&body).with_joint(&body, "tail", 1.0).unwrap_err();
    assert_eq!(error, WeightsError::NoJoint { name: "tail".into() });
    assert_eq!(error.to_string(), "the skeleton has no joint named \"tail\"");
    let error = JointWeights::default().with_subtree(&body, "hips", 1.0, 1).unwrap_err();
    assert_eq!(error.to_string(), "there are 0 weights and the skeleton has 9 joints");
}
