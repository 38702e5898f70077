//! Tests figures: the promise on generated skeletons, the refusals, and the frozen lanes.

mod cases;
mod clips;
mod corpus;
mod mixed;
mod parts;
mod profile;
mod promise;
mod refused;
mod tiers;
mod vectors;

use kinepack::schema::FieldKind;
use kinepack::{EntityId, Schema, Snapshot, Tick};
use kinepack_anim::figure::{Figure, FigureOptions, FigurePose, Motion};
use kinepack_anim::{Joint, Skeleton, Transform};

use crate::random;
use cases::{about, rotation};

/// Returns a skeleton with joints in a row, each `bone_cm` from the one before it.
fn chain(joints: usize, bone_cm: f32) -> Skeleton {
    let joint = |index: usize| {
        let x_cm = if index == 0 { 0.0 } else { bone_cm };
        let bind = Transform { translation: [x_cm, 0.0, 0.0], ..Transform::IDENTITY };
        Joint {
            name: format!("joint {index}"),
            parent: index.checked_sub(1).map(|p| p as u16),
            bind,
        }
    };
    Skeleton::new((0..joints).map(joint).collect()).unwrap()
}

/// Returns the pose that a receiver shows.
fn shown(figure: &mut Figure, skeleton: &Skeleton, pose: &[Transform]) -> Vec<Transform> {
    let mut world = Snapshot::new(&Schema::new(figure.fields()), Tick(1));
    figure.push(&mut world, 0, EntityId(3), &FigurePose::new(pose)).unwrap();
    let mut shown = skeleton.bind_pose();
    figure.write((&world, 0), &mut shown[..]);
    shown
}

fn with_motions(precision_cm: f64, motions: Vec<(usize, Motion)>) -> FigureOptions {
    FigureOptions { precision_cm, motions, ..FigureOptions::default() }
}

#[test]
fn the_bind_pose_is_exact() {
    let skeleton = chain(20, 15.0);
    let mut figure = Figure::new(&skeleton, &FigureOptions::default()).unwrap();
    let bind = skeleton.bind_pose();
    assert_eq!(shown(&mut figure, &skeleton, &bind), bind);
}

#[test]
fn halfway_between_two_states_joints_are_halfway() {
    let skeleton = chain(2, 30.0);
    let mut figure = Figure::new(&skeleton, &with_motions(0.01, Vec::new())).unwrap();
    let schema = Schema::new(figure.fields());
    let states = [0.0, 1.0].map(|angle_rad| {
        let mut pose = skeleton.bind_pose();
        pose[0].translation = [10.0 * angle_rad, 0.0, 0.0];
        pose[1].rotation = about([0.0, 0.0, 1.0], angle_rad);
        let mut world = Snapshot::new(&schema, Tick(1));
        figure.push(&mut world, 0, EntityId(3), &FigurePose::new(&pose)).unwrap();
        world
    });
    let mut pose = skeleton.bind_pose();
    for ratio in [0.0, 0.25, 0.5, 1.0] {
        let at = kinepack::Between { ratio, seconds: 0.1 };
        figure.interpolate((&states[0], 0), (&states[1], 0), at, &mut pose[..]);
        let angle_rad = 2.0 * pose[1].rotation[2].atan2(pose[1].rotation[3]);
        assert!((angle_rad - ratio).abs() < 0.001, "{angle_rad} at {ratio}");
        assert!((pose[0].translation[0] - 10.0 * ratio).abs() < 0.01);
    }
}

#[test]
fn hinges_take_one_lane_and_still_joints_none() {
    let skeleton = chain(3, 30.0);
    let motions = vec![(1, Motion::Hinge([0.0, 0.0, 2.0])), (2, Motion::Still)];
    let mut figure = Figure::new(&skeleton, &with_motions(0.1, motions)).unwrap();
    assert_eq!(figure.lane_count(), 6 + 1);
    // The angles include full turns.
    for angle_rad in [0.0, 0.3, -3.0, 3.1, 3.2, 9.0] {
        let mut pose = skeleton.bind_pose();
        pose[0].rotation = about([1.0, 2.0, 3.0], 0.7);
        pose[1].rotation = about([0.0, 0.0, 1.0], angle_rad);
        let shown = shown(&mut figure, &skeleton, &pose);
        let same: f32 = shown[1].rotation.iter().zip(pose[1].rotation).map(|(a, b)| a * b).sum();
        assert!(same.abs() > 0.9999, "{angle_rad}: {same}");
    }
}

#[test]
fn the_hash_shows_another_axis_or_bind_pose() {
    let hash = |skeleton: &Skeleton, axis| {
        let options = with_motions(0.5, vec![(1, Motion::Hinge(axis))]);
        Schema::new(Figure::new(skeleton, &options).unwrap().fields()).hash()
    };
    let (skeleton, x) = (chain(3, 30.0), [1.0, 0.0, 0.0]);
    let mut joints = skeleton.joints().to_vec();
    joints[1].bind.rotation = about(x, 0.5);
    let turned = Skeleton::new(joints).unwrap();
    assert_eq!(hash(&skeleton, x), hash(&chain(3, 30.0), x));
    assert_ne!(hash(&skeleton, x), hash(&skeleton, [0.0, 0.0, 1.0]));
    assert_ne!(hash(&skeleton, x), hash(&turned, x));
}

#[test]
fn curves_are_within_their_precision() {
    let skeleton = chain(1, 0.0);
    let jaw = kinepack_anim::figure::FigureCurve {
        name: "jaw.Open".into(),
        min: 0.0,
        max: 1.0,
        precision: 0.005,
    };
    let options = FigureOptions { curves: vec![jaw], ..FigureOptions::default() };
    let mut figure = Figure::new(&skeleton, &options).unwrap();
    let fields = figure.fields();
    assert_eq!(fields.last().unwrap().name, "curves[jaw_Open]");
    let mut lanes = vec![0; figure.lane_count()];
    let joints = skeleton.bind_pose();
    let pose = FigurePose { curves: &[0.504], ..FigurePose::new(&joints) };
    figure.quantize(&pose, &mut lanes).unwrap();
    assert_eq!(lanes.last(), Some(&50));
}

#[test]
fn a_longer_chain_has_finer_steps() {
    let step = |joints| {
        let figure = Figure::new(&chain(joints, 20.0), &FigureOptions::default()).unwrap();
        let FieldKind::Floats(axes) = &figure.fields()[1].kind else { panic!("no numbers") };
        axes[0].step()
    };
    assert!(step(3) > step(6) && step(6) > step(12));
}
