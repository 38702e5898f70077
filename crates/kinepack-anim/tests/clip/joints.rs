//! Tests joints with their own precision and shell, in clips of both schemes.

use kinepack_anim::measure::ErrorOptions;
use kinepack_anim::offline::{BlockOptions, BuildError, BuildOptions, KeyedOptions, Scheme, build};

use crate::clip_support::smooth_clip;

fn schemes() -> [Scheme; 2] {
    [Scheme::Block(BlockOptions::default()), Scheme::Keyed(KeyedOptions::default())]
}

#[test]
fn a_joint_keeps_its_own_precision() {
    for (seed, scheme) in [1, 6].into_iter().flat_map(|seed| schemes().map(|scheme| (seed, scheme)))
    {
        let raw = smooth_clip(seed, 8, 90);
        let coarse = BuildOptions { precision_cm: 0.5, scheme, ..BuildOptions::default() };
        // The last of two entries for a joint counts.
        let joint_precisions_cm = vec![(5, 10.0), (5, 0.02), (6, 2.0)];
        let some = BuildOptions { joint_precisions_cm, ..coarse.clone() };
        let fine = BuildOptions { precision_cm: 0.02, ..coarse.clone() };
        let [coarse_built, some_built, fine_built] =
            [&coarse, &some, &fine].map(|options| build(&raw, options).unwrap());
        let expected = [0.5, 0.5, 0.5, 0.5, 0.5, 0.02, 2.0, 0.5];
        assert_eq!(some.precisions_cm(8), expected);
        for (joint, (errors, limit)) in some_built.errors.joints.iter().zip(expected).enumerate() {
            assert!(errors.max_cm <= limit, "{seed} {joint}: {} of {limit}", errors.max_cm);
        }
        let (_, share) = some.farthest_off(&some_built.errors);
        assert!(share > 0.3 && share <= 1.0, "{share}");
        // Joint 5 misses its precision in a clip that was built without that precision.
        let (joint, share) = some.farthest_off(&coarse_built.errors);
        assert!(joint == 5 && share > 1.0, "{joint} {share}");
        let bytes =
            [&coarse_built, &some_built, &fine_built].map(|built| built.clip.as_bytes().len());
        assert!(bytes.is_sorted() && bytes[1] < bytes[2], "{bytes:?}");
    }
}

#[test]
fn a_joint_keeps_the_precision_at_its_own_shell() {
    for scheme in schemes() {
        let raw = smooth_clip(1, 8, 90);
        let error = ErrorOptions { joint_shells_cm: vec![(7, 60.0)], ..ErrorOptions::default() };
        let options = BuildOptions { precision_cm: 0.2, error, scheme, ..BuildOptions::default() };
        let near = BuildOptions { error: ErrorOptions::default(), ..options.clone() };
        let [far, near] = [&options, &near].map(|options| build(&raw, options).unwrap());
        assert!(far.errors.all.max_cm <= 0.2 && near.errors.all.max_cm <= 0.2);
        assert!(far.clip.as_bytes().len() > near.clip.as_bytes().len());
    }
}

#[test]
fn impossible_numbers_for_joints_are_refused() {
    let raw = smooth_clip(0, 3, 9);
    let refused = |precisions: &[(usize, f64)], shells: &[(usize, f64)], scheme: Scheme| {
        let error = ErrorOptions { joint_shells_cm: shells.to_vec(), ..ErrorOptions::default() };
        let joint_precisions_cm = precisions.to_vec();
        build(&raw, &BuildOptions { joint_precisions_cm, error, scheme, ..BuildOptions::default() })
            .unwrap_err()
    };
    for scheme in schemes() {
        let refused = |precisions: &[_], shells: &[_]| refused(precisions, shells, scheme.clone());
        assert_eq!(
            refused(&[(3, 0.1)], &[]),
            BuildError::BadJoint { option: "precision", joint: 3 }
        );
        assert_eq!(
            refused(&[], &[(0, 1.0), (70, 1.0)]),
            BuildError::BadJoint { option: "shell", joint: 70 }
        );
        for number in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(refused(&[(0, number)], &[]), BuildError::BadOption { option: "precision" });
            assert_eq!(refused(&[], &[(0, number)]), BuildError::BadOption { option: "shell" });
        }
        let said = refused(&[(3, 0.1)], &[]).to_string();
        assert_eq!(said, "a precision for joint 3, which the skeleton does not have");
    }
}
