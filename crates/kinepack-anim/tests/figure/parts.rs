//! Tests parts that may be absent.

use kinepack::{
    Between, Codec, Decoder, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View,
};
use kinepack_anim::figure::{
    Figure, FigureCurve, FigureError, FigureOptions, FigurePart, FigurePose,
};
use kinepack_anim::{Metres, PoseWriter, Skeleton, Transform};

use super::{about, chain, rotation};
use crate::random::Random;

/// An arm of six joints. The last two are a hand, to which the second curve belongs.
fn arm() -> (Skeleton, Figure) {
    let skeleton = chain(6, 20.0);
    let curve = |name: &str| FigureCurve { name: name.into(), min: 0.0, max: 1.0, precision: 0.01 };
    let hand = FigurePart { name: "hand".into(), joints: vec![4, 5], curves: vec![1] };
    let options = FigureOptions {
        curves: vec![curve("smile"), curve("grip")],
        parts: vec![hand],
        ..FigureOptions::default()
    };
    let figure = Figure::new(&skeleton, &options).unwrap();
    (skeleton, figure)
}

/// What a pose writer got. Joints and curves that were not written are `None`.
#[derive(Default)]
struct Written {
    rotations: [Option<[f32; 4]>; 6],
    curves: [Option<f32>; 2],
}

impl PoseWriter for Written {
    fn rotation(&mut self, joint: usize, value: [f32; 4]) {
        self.rotations[joint] = Some(value);
    }
    fn translation(&mut self, joint: usize, _: [f32; 3]) {
        assert!(joint < 6);
    }
    fn scale(&mut self, _: usize, _: [f32; 3]) {}
    fn curve(&mut self, curve: usize, value: f32) {
        self.curves[curve] = Some(value);
    }
}

fn world(figure: &mut Figure, joints: &[Transform], absent: &[usize]) -> Snapshot {
    let mut world = Snapshot::new(&Schema::new(figure.fields()), Tick(1));
    let pose = FigurePose { curves: &[0.25, 0.75], absent, ..FigurePose::new(joints) };
    figure.push(&mut world, 0, EntityId(3), &pose).unwrap();
    world
}

fn turned(skeleton: &Skeleton, angle_rad: f32) -> Vec<Transform> {
    let mut pose = skeleton.bind_pose();
    pose[5].rotation = about([0.0, 0.0, 1.0], angle_rad);
    pose
}

#[test]
fn an_absent_part_is_not_written() {
    let (skeleton, mut figure) = arm();
    assert_eq!((figure.joint_count(), figure.curve_count(), figure.part_count()), (6, 2, 1));
    let mut pose = turned(&skeleton, 0.5);
    // Nothing reads the values of an absent part.
    pose[4].rotation = [f32::NAN; 4];
    let absent = world(&mut figure, &pose, &[0]);
    assert!(!figure.is_present((&absent, 0), 0));
    let mut written = Written::default();
    figure.write((&absent, 0), &mut written);
    assert!(written.rotations[..4].iter().all(Option::is_some));
    assert!(written.rotations[4..].iter().all(Option::is_none));
    assert!(written.curves[0].is_some() && written.curves[1].is_none());

    let present = world(&mut figure, &turned(&skeleton, 0.5), &[]);
    assert!(figure.is_present((&present, 0), 0));
    // A writer of metres hands the curves on.
    figure.write((&present, 0), &mut Metres(&mut written));
    assert!(written.rotations.iter().all(Option::is_some));
    assert!((written.curves[1].unwrap() - 0.75).abs() <= 0.01);
}

#[test]
fn between_two_states_a_part_is_as_in_the_first() {
    let (skeleton, mut figure) = arm();
    let with = world(&mut figure, &turned(&skeleton, 0.5), &[]);
    let without = world(&mut figure, &skeleton.bind_pose(), &[0]);
    let mut shown = |from, to, ratio| {
        let mut written = Written::default();
        let at = Between { ratio, seconds: 0.1 };
        figure.interpolate((from, 0), (to, 0), at, &mut written);
        let angle_rad = written.rotations[5].map(|[_, _, z, w]| 2.0 * z.atan2(w));
        assert_eq!(angle_rad.is_some(), written.curves[1].is_some());
        angle_rad
    };
    for ratio in [0.0, 0.25, 0.75] {
        let lost = shown(&with, &without, ratio).unwrap();
        assert!((lost - 0.5).abs() < 0.05, "{lost} at {ratio}");
        assert_eq!(shown(&without, &with, ratio), None);
    }
    assert_eq!(shown(&with, &without, 1.0), None);
    assert!(shown(&without, &with, 1.0).is_some());
}

#[test]
fn a_pose_with_an_unknown_part_is_refused() {
    let (skeleton, mut figure) = arm();
    let joints = skeleton.bind_pose();
    let mut world = Snapshot::new(&Schema::new(figure.fields()), Tick(1));
    let pose = FigurePose { curves: &[0.0; 2], absent: &[0, 1], ..FigurePose::new(&joints) };
    let error = figure.push(&mut world, 0, EntityId(1), &pose).unwrap_err();
    assert_eq!(error, FigureError::NoPart { part: 1 });
    assert!(world.is_empty());
}

#[test]
fn an_absent_part_takes_almost_no_bits_and_comes_back_exactly() {
    let (skeleton, mut figure) = arm();
    let schema = Schema::new(figure.fields());
    for level in [Level::PACKED, Level::ADAPTIVE] {
        let profile = Profile::magnitudes(&schema);
        let codec = Codec::new(schema.clone(), level, profile).unwrap();
        let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
        let random = &mut Random(9);
        let mut view = View::from(Snapshot::new(&schema, Tick(0)));
        let mut bytes = [0; 2];
        for tick in 1..41 {
            let mut pose = skeleton.bind_pose();
            pose[4].rotation = rotation(random);
            pose[5].rotation = rotation(random);
            let is_absent = tick % 8 >= 4;
            let absent: &[usize] = if is_absent { &[0] } else { &[] };
            let mut world = Snapshot::new(&schema, Tick(tick));
            let pose = FigurePose { curves: &[0.5; 2], absent, ..FigurePose::new(&pose) };
            figure.push(&mut world, 0, EntityId(1), &pose).unwrap();
            let mut packet = Vec::new();
            let sent = encoder.encode(&view, &world, &mut packet).unwrap();
            view = decoder.decode(&view, &packet, Tick(tick)).unwrap();
            assert_eq!(*view, world);
            assert_eq!(view, sent);
            bytes[usize::from(is_absent)] += packet.len();
        }
        assert!(bytes[1] * 2 < bytes[0], "{bytes:?}");
    }
}
