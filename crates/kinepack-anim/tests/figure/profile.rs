//! Tests the built-in profile: it suits every figure, and makes packets smaller.

use std::f32::consts::TAU;

use kinepack::quantize::IntegerLimits;
use kinepack::schema::{Field, FieldKind};
use kinepack::{
    Baselines, Codec, Decoder, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View,
};
use kinepack_anim::figure::profile::{for_figures, typical_field, typical_schema};
use kinepack_anim::figure::{Figure, FigureCurve, FigureOptions, FigurePart, FigurePose, Motion};
use kinepack_anim::{Joint, Skeleton, Transform};

use super::about;
use super::promise::{Generated, SKELETONS};
use crate::random::Random;

const HZ: u32 = 30;
const LAG: usize = 3;

/// Returns the bytes of each world, coded against those of a lag before. Each is read back.
fn lengths(codec: &Codec, worlds: &[Snapshot], lag: usize) -> Vec<usize> {
    let (mut encoder, mut decoder) = (Encoder::new(codec), Decoder::new(codec));
    let empty = View::empty(codec.schema());
    let mut views: Vec<View> = Vec::new();
    let mut lengths = Vec::new();
    for (frame, world) in worlds.iter().enumerate() {
        let known = match frame.checked_sub(lag) {
            Some(newest) => {
                Baselines::new(views[newest.saturating_sub(2)..=newest].iter().rev()).unwrap()
            }
            None => Baselines::new([&empty]).unwrap(),
        };
        let mut packet = Vec::new();
        let view = encoder.encode(known, world, &mut packet).unwrap();
        assert_eq!(decoder.decode(known, &packet, world.tick).as_ref(), Ok(&view));
        views.push(view);
        lengths.push(packet.len());
    }
    lengths
}

#[test]
fn every_figure_has_a_profile_with_which_its_packets_are_read_back() {
    let mut tried = 0;
    for seed in 0..SKELETONS {
        let random = &mut Random(seed);
        let Some(mut generated) = Generated::new(random) else { continue };
        // Large figures take most of the time, so some of them are enough.
        if generated.skeleton.len() > 20 && seed % 16 > 1 {
            continue;
        }
        let schema = Schema::new(generated.figure.fields());
        let profile = Figure::profile(&schema);
        assert_eq!(profile.schema_hash, schema.hash(), "seed {seed}");
        let level = if seed % 2 == 0 { Level::ADAPTIVE } else { Level::LEARNING };
        let codec = Codec::new(schema.clone(), level, profile).unwrap();
        tried += 1;
        let worlds = (1..4).map(|tick| {
            let mut world = Snapshot::new(&schema, Tick(tick));
            let pose = generated.pose(random);
            generated.figure.push(&mut world, 0, EntityId(1), &FigurePose::new(&pose)).unwrap();
            world
        });
        lengths(&codec, &worlds.collect::<Vec<_>>(), 1);
    }
    assert!(tried > SKELETONS / 4, "{tried}");
}

/// Returns a body with two legs, two arms, a spine and a head.
fn person() -> Skeleton {
    let joints: [(&str, Option<u16>, [f32; 3]); 16] = [
        ("hips", None, [0.0, 95.0, 0.0]),
        ("spine", Some(0), [0.0, 15.0, 0.0]),
        ("chest", Some(1), [0.0, 20.0, 0.0]),
        ("neck", Some(2), [0.0, 20.0, 0.0]),
        ("head", Some(3), [0.0, 12.0, 0.0]),
        ("left upper leg", Some(0), [9.0, -5.0, 0.0]),
        ("left lower leg", Some(5), [0.0, -42.0, 0.0]),
        ("left foot", Some(6), [0.0, -40.0, 0.0]),
        ("right upper leg", Some(0), [-9.0, -5.0, 0.0]),
        ("right lower leg", Some(8), [0.0, -42.0, 0.0]),
        ("right foot", Some(9), [0.0, -40.0, 0.0]),
        ("left upper arm", Some(2), [17.0, 14.0, 0.0]),
        ("left lower arm", Some(11), [0.0, -28.0, 0.0]),
        ("right upper arm", Some(2), [-17.0, 14.0, 0.0]),
        ("right lower arm", Some(13), [0.0, -28.0, 0.0]),
        ("left hand", Some(12), [0.0, -25.0, 0.0]),
    ];
    let joint = |(name, parent, translation): (&str, Option<u16>, [f32; 3])| Joint {
        name: name.into(),
        parent,
        bind: Transform { translation, ..Transform::IDENTITY },
    };
    Skeleton::new(joints.map(joint).to_vec()).unwrap()
}

/// Returns the worlds of a walk: each joint swings about an axis with the step and its double, and
/// trembles a little, as captured motion does.
fn walk(figure: &mut Figure, skeleton: &Skeleton, seconds: u32) -> Vec<Snapshot> {
    let schema = Schema::new(figure.fields());
    let random = &mut Random(7);
    let mut swings = Vec::new();
    for _ in 0..skeleton.len() {
        let axis = [1.0, random.between(-0.4, 0.4), random.between(-0.4, 0.4)];
        swings.push((axis, random.between(0.1, 0.6), random.between(0.0, TAU)));
    }
    let world = |frame: u32| {
        let time_s = frame as f32 / HZ as f32;
        let mut pose = skeleton.bind_pose();
        pose[0].translation[2] += 130.0 * time_s;
        pose[0].translation[1] += 2.0 * (2.0 * TAU * time_s).sin();
        for (transform, (axis, swing_rad, phase)) in pose.iter_mut().zip(&swings) {
            let step = TAU * 0.9 * time_s + phase;
            let trembling = random.between(-0.004, 0.004);
            let angle_rad = swing_rad * (step.sin() + 0.3 * (2.0 * step).sin()) + trembling;
            transform.rotation = about(*axis, angle_rad);
        }
        let mut world = Snapshot::new(&schema, Tick(frame + 1));
        figure.push(&mut world, 0, EntityId(1), &FigurePose::new(&pose)).unwrap();
        world
    };
    (0..seconds * HZ).map(world).collect()
}

#[test]
fn a_walk_takes_fewer_bytes_than_untrained() {
    let skeleton = person();
    for precision_cm in [0.12, 0.5, 2.0, 5.0] {
        let options = FigureOptions { precision_cm, ..FigureOptions::default() };
        let mut figure = Figure::new(&skeleton, &options).unwrap();
        let worlds = walk(&mut figure, &skeleton, 6);
        let schema = Schema::new(figure.fields());
        for (level, most_ratio) in [(Level::ADAPTIVE, 0.85), (Level::LEARNING, 0.97)] {
            let profiles = [Figure::profile(&schema), Profile::untrained(&schema)];
            let [built_in, untrained] = profiles.map(|profile| {
                let codec = Codec::new(schema.clone(), level, profile).unwrap();
                lengths(&codec, &worlds, LAG).into_iter().skip(LAG + 2).sum::<usize>()
            });
            let ratio = built_in as f64 / untrained as f64;
            assert!(ratio < most_ratio, "{precision_cm} cm, {}: {ratio}", level.name());
        }
    }
}

/// Figures beside other kinds, with every sort of field, keep the others untrained.
#[test]
fn other_kinds_and_absent_parts_are_coded_as_before() {
    let part = FigurePart { name: "arm".into(), joints: vec![15], curves: vec![0] };
    let curve = FigureCurve { name: "grip".into(), min: 0.0, max: 1.0, precision: 0.01 };
    let options = FigureOptions {
        motions: vec![(4, Motion::Hinge([0.0, 1.0, 0.0])), (7, Motion::Still)],
        parts: vec![part],
        curves: vec![curve],
        ..FigureOptions::default()
    };
    let mut figure = Figure::new(&person(), &options).unwrap();
    let level = FieldKind::Integer(IntegerLimits::new(0, 100, 1).unwrap());
    let crates = vec![Field::new("level", level), Field::new("open", FieldKind::Bool)];
    let alone = Schema::builder().kind_of_fields("crate", crates.clone()).build().unwrap();
    assert_eq!(Figure::profile(&alone), Profile::untrained(&alone));

    let schema = Schema::builder()
        .kind_of_fields("crate", crates)
        .kind_of_fields("player", figure.fields())
        .build()
        .unwrap();
    let codec = Codec::new(schema.clone(), Level::LEARNING, Figure::profile(&schema)).unwrap();
    let mut random = Random(3);
    let pose = person().bind_pose();
    let mut worlds = Vec::new();
    for tick in 1..30 {
        let mut world = Snapshot::new(&schema, Tick(tick));
        world.push_lanes_of(0, EntityId(2), &[random.below(101), tick % 2]).unwrap();
        let absent: &[usize] = if tick % 7 < 3 { &[0] } else { &[] };
        let curves = [random.between(0.0, 1.0)];
        let pose = FigurePose { curves: &curves, absent, ..FigurePose::new(&pose) };
        figure.push(&mut world, 1, EntityId(1), &pose).unwrap();
        worlds.push(world);
    }
    lengths(&codec, &worlds, 2);
}

#[test]
fn only_a_profile_of_the_typical_fields_is_carried_to_figures() {
    let schema = Schema::new(Figure::new(&person(), &FigureOptions::default()).unwrap().fields());
    let typical = typical_schema().unwrap();
    assert!(for_figures(&Profile::untrained(&typical), &schema).is_ok());
    assert!(for_figures(&Profile::untrained(&schema), &schema).is_err());
    let wrong = Field::new("joints[0].rotation", FieldKind::Bool);
    assert_eq!(typical_field(&wrong), None);
}
