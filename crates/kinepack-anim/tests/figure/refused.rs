//! Tests that poses and options are refused with the right reason.

use kinepack::{EncodeError, EntityId, Schema, Snapshot, Tick};
use kinepack_anim::figure::{
    Figure, FigureCurve, FigureError, FigureOptions, FigurePart, FigurePose, Motion, UnsentMotion,
};
use kinepack_anim::{Joint, Skeleton, Transform};

use super::{about, chain, with_motions};

fn refused(skeleton: &Skeleton, options: &FigureOptions) -> FigureError {
    Figure::new(skeleton, options).unwrap_err()
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let skeleton = chain(3, 20.0);
    let motion = |motion| with_motions(0.5, vec![(1, motion)]);
    let bad = |option, joint| FigureError::BadOption { option, joint };
    for precision_cm in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(
            refused(&skeleton, &with_motions(precision_cm, Vec::new())),
            bad("precision_cm", None)
        );
    }
    let shell = FigureOptions { shell_cm: f64::NAN, ..FigureOptions::default() };
    assert_eq!(refused(&skeleton, &shell), bad("shell_cm", None));
    assert_eq!(refused(&skeleton, &motion(Motion::Hinge([0.0; 3]))), bad("hinge's axis", Some(1)));
    let range = motion(Motion::Moves { range_cm: f32::INFINITY });
    assert_eq!(refused(&skeleton, &range), bad("range", Some(1)));
    let joint = with_motions(0.5, vec![(3, Motion::Still)]);
    assert_eq!(refused(&skeleton, &joint), FigureError::NoJoint { joint: 3 });
    let joint = FigureOptions { joint_precisions_cm: vec![(9, 1.0)], ..FigureOptions::default() };
    assert_eq!(refused(&skeleton, &joint), FigureError::NoJoint { joint: 9 });
    let curve = FigureCurve { name: "jaw".into(), min: 1.0, max: 0.0, precision: 0.1 };
    let curve = FigureOptions { curves: vec![curve], ..FigureOptions::default() };
    assert!(matches!(refused(&skeleton, &curve), FigureError::CurveLimits { curve: 0, .. }));
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let skeleton = chain(4, 20.0);
    let part = |joints: &[usize], curves: &[usize]| FigurePart {
        name: "part".into(),
        joints: joints.to_vec(),
        curves: curves.to_vec(),
    };
    let refused = |parts| refused(&skeleton, &FigureOptions { parts, ..FigureOptions::default() });
    assert_eq!(refused(vec![part(&[], &[])]), FigureError::BadPart { part: 0 });
    assert_eq!(refused(vec![part(&[4], &[])]), FigureError::NoJoint { joint: 4 });
    assert_eq!(refused(vec![part(&[3], &[0])]), FigureError::NoCurve { curve: 0 });
    assert_eq!(refused(vec![part(&[3, 3], &[])]), FigureError::BadPart { part: 0 });
    let twice = refused(vec![part(&[3], &[]), part(&[2, 3], &[])]);
    assert_eq!(twice, FigureError::BadPart { part: 1 });
    let open = FigureError::PartNotWhole { part: 0, joint: 3 };
    assert_eq!(refused(vec![part(&[2], &[])]), open);
    assert_eq!(refused(vec![part(&[2], &[]), part(&[3], &[])]), open);
    assert_eq!(open.to_string(), "part 0 has the parent of joint 3, but not joint 3");
}

#[test]
fn a_range_below_a_step_is_still_a_limit() {
    let skeleton = chain(2, 0.0);
    let motions = vec![(0, Motion::Turns), (1, Motion::Moves { range_cm: 0.001 })];
    let options = FigureOptions { shell_cm: 0.0, ..with_motions(1.0, motions) };
    let mut figure = Figure::new(&skeleton, &options).unwrap();
    let mut lanes = vec![0; figure.lane_count()];
    let mut pose = skeleton.bind_pose();
    pose[1].translation = [0.0009; 3];
    figure.quantize(&FigurePose::new(&pose), &mut lanes).unwrap();
    pose[1].translation[2] = 0.57;
    let error = figure.quantize(&FigurePose::new(&pose), &mut lanes).unwrap_err();
    assert!(matches!(error, FigureError::OutOfRange { joint: 1, .. }), "{error}");
}

#[test]
fn a_precision_below_that_of_floats_is_refused() {
    let joint = FigureOptions { joint_precisions_cm: vec![(1, 0.0)], ..FigureOptions::default() };
    assert_eq!(
        refused(&chain(3, 20.0), &joint),
        FigureError::BadOption { option: "precision", joint: Some(1) }
    );
    let far = refused(&chain(3, 1e7), &FigureOptions::default());
    assert!(matches!(far, FigureError::TooFine { joint: 1, .. }), "{far}");
    // The product of these lengths is beyond any number.
    let joint = |parent| Joint {
        name: String::new(),
        parent,
        bind: Transform { scale: [f32::MAX; 3], translation: [f32::MAX; 3], ..Transform::IDENTITY },
    };
    let joints = (0..20u16).map(|index| joint(index.checked_sub(1))).collect();
    let huge = refused(&Skeleton::new(joints).unwrap(), &FigureOptions::default());
    assert!(matches!(huge, FigureError::TooFine { joint: 0, .. }), "{huge}");
}

#[test]
fn a_refused_pose_leaves_the_snapshot_unchanged() {
    let skeleton = chain(3, 20.0);
    let mut figure = Figure::new(&skeleton, &FigureOptions::default()).unwrap();
    let mut world = Snapshot::new(&Schema::new(figure.fields()), Tick(1));
    let bind = skeleton.bind_pose();
    figure.push(&mut world, 0, EntityId(4), &FigurePose::new(&bind)).unwrap();
    let before = world.clone();
    let mut push = |id, change: &dyn Fn(&mut [Transform])| {
        let mut pose = bind.clone();
        change(&mut pose);
        figure.push(&mut world, 0, EntityId(id), &FigurePose::new(&pose)).unwrap_err()
    };
    assert_eq!(push(5, &|pose| pose[1].rotation = [0.0; 4]), FigureError::NotANumber { joint: 1 });
    assert_eq!(
        push(5, &|pose| pose[0].translation[1] = 10_001.0),
        FigureError::OutOfRange { joint: 0, value_cm: 10_001.0 }
    );
    // In this pose, a bone is longer by a centimetre.
    let longer = push(5, &|pose| pose[2].translation[0] = 21.0);
    assert!(is_unsent(&longer, 2, 2, UnsentMotion::Moves), "{longer}");
    let scaled = push(5, &|pose| pose[2].scale = [2.0; 3]);
    assert!(is_unsent(&scaled, 2, 2, UnsentMotion::Scales), "{scaled}");
    assert_eq!(
        scaled.to_string(),
        "joint 2 \"joint 2\" has another scale than in the bind pose, and figures send no scales: \
         joint 2 would be 3.000 cm off"
    );
    let order = push(4, &|_| ());
    assert!(
        matches!(order, FigureError::Snapshot(EncodeError::IdsNotIncreasing { .. })),
        "{order:?}"
    );
    assert_eq!(world, before);
}

#[test]
fn a_turn_that_is_not_sent_is_refused_and_named() {
    let skeleton = chain(3, 20.0);
    let motions = vec![(1, Motion::Hinge([0.0, 0.0, 1.0])), (2, Motion::Still)];
    let mut figure = Figure::new(&skeleton, &with_motions(0.5, motions)).unwrap();
    let mut lanes = vec![0; figure.lane_count()];
    let mut pose = skeleton.bind_pose();
    pose[2].rotation = about([0.0, 1.0, 0.0], 0.5);
    let error = figure.quantize(&FigurePose::new(&pose), &mut lanes).unwrap_err();
    assert!(is_unsent(&error, 2, 2, UnsentMotion::Turns), "{error}");
    assert!(error.to_string().starts_with("joint 2 \"joint 2\" turns, but was declared still"));
    pose[2].rotation = [0.0, 0.0, 0.0, 1.0];
    pose[1].rotation = about([0.0, 1.0, 0.0], 0.5);
    let error = figure.quantize(&FigurePose::new(&pose), &mut lanes).unwrap_err();
    assert!(is_unsent(&error, 1, 1, UnsentMotion::Turns), "{error}");
    // A turn that the skin around the hinge hides moves the joint after it too far.
    pose[1].rotation = about([0.0, 1.0, 0.0], 0.05);
    pose[2].translation[0] += 1e-4;
    let error = figure.quantize(&FigurePose::new(&pose), &mut lanes).unwrap_err();
    assert!(is_unsent(&error, 2, 1, UnsentMotion::Turns), "{error}");
}

fn is_unsent(error: &FigureError, off: usize, moves: usize, how: UnsentMotion) -> bool {
    matches!(
        error,
        FigureError::Unsent { joint, mover, name, motion, .. }
            if (*joint, *mover, *motion) == (off, moves, how) && *name == format!("joint {moves}")
    )
}
