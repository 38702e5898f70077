//! Tests figures that are sent in several precisions.

use kinepack::{Between, Codec, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View};
use kinepack_anim::figure::{
    ClipPlay, Figure, FigureClips, FigureCurve, FigureError, FigureOptions, FigurePart, FigurePose,
    Motion,
};
use kinepack_anim::measure::{ErrorOptions, pose_errors_cm};
use kinepack_anim::{Skeleton, Transform};

use super::{chain, rotation};
use crate::random::Random;

const COARSER: [f64; 3] = [1.0, 4.0, 10.0];
/// The lanes of a clip, before that of the tier.
const SLOT_LANES: usize = 6;

/// Curves and a part besides the joints. The curve's third tier has only its smallest and its
/// largest value.
fn options(coarser: f64) -> FigureOptions {
    let precision = (0.08 * coarser as f32).min(0.5);
    let jaw = FigureCurve { name: "jaw".into(), min: 0.0, max: 1.0, precision };
    FigureOptions {
        precision_cm: 0.5 * coarser,
        joint_precisions_cm: vec![(5, 0.125 * coarser)],
        motions: vec![(2, Motion::Hinge([0.0, 1.0, 0.0])), (3, Motion::Moves { range_cm: 7.0 })],
        curves: vec![jaw],
        parts: vec![FigurePart { name: "hand".into(), joints: vec![4, 5], curves: vec![0] }],
        ..FigureOptions::default()
    }
}

fn tiered(skeleton: &Skeleton) -> Figure {
    let clips = FigureClips { slots: 1, names: vec!["wave".into()] };
    let options = FigureOptions { coarser: COARSER[1..].to_vec(), clips, ..options(1.0) };
    Figure::new(skeleton, &options).unwrap()
}

fn pose(random: &mut Random, skeleton: &Skeleton) -> Vec<Transform> {
    let mut pose = skeleton.bind_pose();
    for (joint, transform) in pose.iter_mut().enumerate().filter(|(joint, _)| *joint != 2) {
        transform.rotation = rotation(random);
        if joint == 0 {
            transform.translation = std::array::from_fn(|_| random.between(-900.0, 900.0));
        }
    }
    pose
}

fn world(figure: &mut Figure, schema: &Schema, tick: u32, pose: &FigurePose<'_>) -> Snapshot {
    let mut world = Snapshot::new(schema, Tick(tick));
    figure.push(&mut world, 0, EntityId(7), pose).unwrap();
    world
}

#[test]
fn a_tier_has_the_lanes_and_the_promise_of_a_figure_of_its_precision() {
    let skeleton = chain(6, 25.0);
    let mut figure = tiered(&skeleton);
    let schema = Schema::new(figure.fields());
    assert_eq!((figure.tier_count(), figure.clip_slot_count(), figure.part_count()), (3, 1, 1));
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let mut encoder = Encoder::new(&codec);
    let random = &mut Random(3);
    let plays = [Some(ClipPlay::start(0, Tick(5)))];
    for nth in 0..60 {
        let (joints, jaw) = (pose(random, &skeleton), [random.between(0.0, 1.0)]);
        let absent: &[usize] = if nth % 3 == 2 { &[0] } else { &[] };
        let mut sizes = Vec::new();
        for (tier, coarser) in COARSER.into_iter().enumerate() {
            let mut alone = Figure::new(&skeleton, &options(coarser)).unwrap();
            let sent = FigurePose { curves: &jaw, absent, ..FigurePose::new(&joints) };
            let mut expected = vec![0; alone.lane_count()];
            alone.quantize(&sent, &mut expected).unwrap();
            let sent = FigurePose { tier, clips: &plays, ..sent };
            let world = world(&mut figure, &schema, 9, &sent);
            let lanes: Vec<u32> = world.lanes_at(0).collect();
            let first = SLOT_LANES + 1 + tier * alone.lane_count();
            assert_eq!(lanes[SLOT_LANES], tier as u32);
            assert_eq!(lanes[first..first + alone.lane_count()], expected);
            assert!(lanes[SLOT_LANES + 1..first].iter().all(|lane| *lane == 0));
            assert!(lanes[first + alone.lane_count()..].iter().all(|lane| *lane == 0));
            assert_eq!(figure.clip((&world, 0), 0), plays[0]);
            assert_eq!(figure.is_present((&world, 0), 0), absent.is_empty());

            let mut shown = joints.clone();
            figure.write((&world, 0), &mut shown[..]);
            let measure = ErrorOptions::default();
            let errors_cm = pose_errors_cm(&skeleton, &joints, &shown, &measure);
            for (joint, error_cm) in errors_cm.enumerate() {
                let limit_cm = figure.max_error_cm_in(tier, joint);
                assert_eq!(limit_cm, alone.max_error_cm(joint));
                assert!(error_cm <= limit_cm && limit_cm <= 0.5 * coarser);
            }
            let mut packet = Vec::new();
            encoder.encode(&View::empty(&schema), &world, &mut packet).unwrap();
            sizes.push(packet.len());
        }
        assert!(sizes.windows(2).all(|pair| pair[1] < pair[0]), "{sizes:?}");
    }
}

#[test]
fn a_change_of_the_tier_is_shown_between_the_two_poses() {
    let skeleton = chain(6, 25.0);
    let mut figure = tiered(&skeleton);
    let schema = Schema::new(figure.fields());
    let random = &mut Random(8);
    for nth in 0..40 {
        let (joints, jaw) = (pose(random, &skeleton), [0.5]);
        let sent = FigurePose { curves: &jaw, ..FigurePose::new(&joints) };
        let absent: &[usize] = if nth % 4 == 3 { &[0] } else { &[] };
        let [from_tier, to_tier] = [nth % 3, (nth + 1 + nth / 3 % 2) % 3];
        let from = world(&mut figure, &schema, 4, &FigurePose { tier: from_tier, ..sent });
        let to = world(&mut figure, &schema, 5, &FigurePose { tier: to_tier, absent, ..sent });
        let limit_cm = 0.5 * COARSER[from_tier].max(COARSER[to_tier]);
        for ratio in [0.0, 0.25, 0.5, 0.99, 1.0] {
            // The body does not move, so it is shown at its place in whatever steps.
            let mut shown = joints.clone();
            let at = Between { ratio, seconds: 0.05 };
            figure.interpolate((&from, 0), (&to, 0), at, &mut shown[..]);
            let errors_cm = pose_errors_cm(&skeleton, &joints, &shown, &ErrorOptions::default());
            for error_cm in errors_cm {
                assert!(error_cm <= limit_cm, "{nth} {ratio}: {error_cm} cm");
            }
        }
    }
}

#[test]
fn tiers_that_are_not_coarser_are_refused() {
    let skeleton = chain(3, 20.0);
    let refuse = |coarser: &[f64], tier: usize| {
        let options = FigureOptions { coarser: coarser.to_vec(), ..FigureOptions::default() };
        let refused = Figure::new(&skeleton, &options).map(|_| ());
        assert_eq!(refused, Err(FigureError::BadTier { tier }));
    };
    refuse(&[1.0], 1);
    refuse(&[f64::NAN], 1);
    refuse(&[2.0, f64::INFINITY], 2);
    refuse(&[4.0, 3.0], 2);
    let many: Vec<f64> = (0..255).map(|nth| 1.5 + f64::from(nth)).collect();
    refuse(&many, 255);
    let most = FigureOptions { coarser: many[..254].to_vec(), ..FigureOptions::default() };
    assert_eq!(Figure::new(&skeleton, &most).unwrap().tier_count(), 255);

    let options = FigureOptions { coarser: vec![2.0], ..FigureOptions::default() };
    let mut figure = Figure::new(&skeleton, &options).unwrap();
    assert_eq!(figure.position_field().unwrap().split(' ').next(), Some("joints[0"));
    let joints = skeleton.bind_pose();
    let mut lanes = vec![0; figure.lane_count()];
    let pose = FigurePose { tier: 2, ..FigurePose::new(&joints) };
    assert_eq!(figure.quantize(&pose, &mut lanes), Err(FigureError::NoTier { tier: 2 }));
}
