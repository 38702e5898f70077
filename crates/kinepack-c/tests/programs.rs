//! Programs in C and C++ that use the library as a game does, and pass bad input.

#![cfg(unix)]

use std::fs;
use std::sync::Arc;

use kinepack_anim::offline::{BuildOptions, build};
use kinepack_anim::{AnyClip, Curve, Joint, Marker, RawClip, Skeleton, Transform, disk};

use crate::support::{C, CPP, run, run_with};

#[test]
fn a_world_crosses_a_bad_network() {
    run("tests/c/network.c", &C);
}

#[test]
fn ships_travel_and_bad_input_is_refused() {
    run("tests/c/ships.c", &C);
}

#[test]
fn the_programs_of_the_readme_run() {
    let readme = include_str!("../README.md");
    for (language, name, options) in [("c", "readme.c", &C[..]), ("cpp", "readme.cpp", &CPP)] {
        let (_, from) = readme.split_once(&format!("```{language}\n")).unwrap();
        let (program, _) = from.split_once("```").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join(name);
        fs::write(&source, program).unwrap();
        run(source.to_str().unwrap(), options);
    }
}

#[test]
fn inputs_arrive_in_order() {
    run("tests/c/inputs.c", &C);
}

#[test]
fn a_transform_of_20_bytes_takes_3() {
    run("tests/c/values.c", &C);
}

#[test]
fn replays_are_written_cut_and_played() {
    run("tests/c/replay.c", &C);
}

#[test]
fn a_viewer_joins_a_broadcast_and_changes_its_tier() {
    run("tests/c/broadcast.c", &C);
}

#[test]
fn clips_are_sampled_into_the_layout_of_an_engine() {
    let folder = tempfile::tempdir().unwrap();
    let joint = |name: &str, parent, x| Joint {
        name: name.into(),
        parent,
        bind: Transform { translation: [x, 0.0, 0.0], ..Transform::IDENTITY },
    };
    let joints = vec![
        joint("shoulder", None, 0.0),
        joint("elbow", Some(0), 30.0),
        joint("hand", Some(1), 25.0),
    ];
    let skeleton = Arc::new(Skeleton::new(joints).unwrap());
    let raw = |name: &str, cm_per_s: f32| {
        let samples = (0..=60).flat_map(|sample| {
            let time_s = sample as f32 / 30.0;
            let (sin, cos) = (0.25 * time_s).sin_cos();
            let mut pose = skeleton.bind_pose();
            pose[0].translation[0] = cm_per_s * time_s;
            pose[1].rotation = [0.0, 0.0, sin, cos];
            pose
        });
        RawClip::new(name, Arc::clone(&skeleton), 30.0, samples.collect()).unwrap()
    };
    let options = BuildOptions { precision_cm: 0.01, ..BuildOptions::default() };
    let built = |raw: &RawClip| build(raw, &options).unwrap().clip;
    let curve = |name: &str, per_s: f32, from: f32| Curve {
        name: name.into(),
        precision: 1e-3,
        values: (0..=60).map(|sample| from + per_s * sample as f32 / 30.0).collect(),
    };
    let marker = |name: &str, time_s| Marker { name: name.into(), time_s };
    let wave = raw("wave", 30.0)
        .with_curves(vec![curve("grip", 0.5, 0.0), curve("gain", 0.0, 0.25)])
        .and_then(|raw| raw.with_markers(vec![marker("grab", 0.5), marker("release", 1.5)]));
    let wave = built(&wave.unwrap());
    let AnyClip::Block(walk) = built(&raw("walk", 0.0)) else { panic!("a block clip") };
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("arm.kps", &skeleton.to_bytes());
    write("wave.kpa", wave.as_bytes());
    write("walk.kpd", &disk::pack(&walk).unwrap());
    run_with("tests/c/clips.c", &C, folder.path());
}

#[test]
fn a_live_body_crosses_a_network() {
    run("tests/c/figures.c", &C);
}

#[test]
fn a_receiver_sees_bodies_in_tiers_by_distance() {
    run("tests/c/rings.c", &C);
}

#[test]
fn budgets_follow_the_link_and_divide_the_uplink() {
    run("tests/c/budgets.c", &C);
}

#[test]
fn far_ships_are_coarser_while_they_move() {
    run("tests/c/coarser.c", &C);
}

#[test]
fn a_server_finds_what_a_player_saw() {
    run("tests/c/rewind.c", &C);
}

#[test]
fn a_server_in_cpp_finds_the_bones_that_a_player_saw() {
    run("tests/cpp/rewind.cpp", &CPP);
    run("tests/cpp/rewind.cpp", &[CPP[0], "-fno-exceptions"]);
}

#[test]
fn inputs_arrive_in_time_for_their_ticks() {
    run("tests/c/clock.c", &C);
}

#[test]
fn a_clock_in_cpp_finds_the_lead_that_inputs_need() {
    run("tests/cpp/clock.cpp", &CPP);
    run("tests/cpp/clock.cpp", &[CPP[0], "-fno-exceptions"]);
}

#[test]
fn own_walkers_are_predicted_and_corrected() {
    run("tests/c/predict.c", &C);
}

#[test]
fn steps_in_cpp_may_throw() {
    run("tests/cpp/predict.cpp", &CPP);
    run("tests/cpp/predict.cpp", &[CPP[0], "-fno-exceptions"]);
}

#[test]
fn a_passenger_stands_still_on_a_ship_that_turns() {
    run("tests/c/frames.c", &C);
}

#[test]
fn owners_in_cpp_with_and_without_exceptions() {
    run("tests/cpp/owners.cpp", &CPP);
    run("tests/cpp/owners.cpp", &[CPP[0], "-fno-exceptions"]);
}

#[test]
fn the_example_in_the_style_of_unreal_runs_without_the_engine() {
    run("examples/unreal/main.cpp", &CPP);
    run("examples/unreal/main.cpp", &[CPP[0], "-fno-exceptions", "-fno-rtti"]);
}

#[test]
fn threads_share_objects() {
    run("tests/c/threads.c", &C);
}
