//! Tests that poses equal the poses of `kinepack-anim` at the same time.

use bevy_asset::Assets;
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_transform::components::Transform;
use kinepack_anim::AnyClip;
use kinepack_bevy::clips::{ClipAsset, ClipLayer, ClipPlayer};

use super::support::*;

const SECOND: usize = 1000 / 16;

#[test]
fn poses_are_those_of_the_clip() {
    let skeleton = skeleton();
    let schemes: [fn(&kinepack_anim::RawClip) -> AnyClip; 2] = [block, keyed];
    for scheme in schemes {
        let mut app = app();
        let clip = scheme(&raw(&skeleton, 1.0));
        let handle = add(&mut app, clip.clone(), &skeleton);
        let (root, joints) = spawn(&mut app, ClipPlayer::new(handle));
        let mut times_s = Vec::new();
        for _ in 0..3 * SECOND {
            app.update();
            let time_s = current(&app, root).time_s;
            times_s.push(time_s);
            assert_eq!(transforms(&app, joints), expected(&clip, &skeleton, time_s));
        }
        assert!(times_s.iter().all(|time_s| (0.0..=2.0).contains(time_s)));
        // The clip began again once, after 2 s.
        assert_eq!(times_s.windows(2).filter(|pair| pair[1] < pair[0]).count(), 1);
        assert!((times_s[SECOND] - 0.016 * (SECOND + 1) as f32).abs() < 0.02);
    }
}

#[test]
fn speed_pause_seek_and_the_end() {
    let (mut app, skeleton) = (app(), skeleton());
    let clip = block(&raw(&skeleton, 1.0));
    let handle = add(&mut app, clip.clone(), &skeleton);
    let layer = ClipLayer::new(handle).once().with_speed(3.0).starting_at(0.5);
    let (root, joints) = spawn(&mut app, ClipPlayer::new(layer));
    app.update();
    let begun_s = current(&app, root).time_s;
    update(&mut app, 10);
    assert!((current(&app, root).time_s - begun_s - 0.48).abs() < 1e-3);

    player(&mut app, root).current_mut().is_paused = true;
    let paused_s = current(&app, root).time_s;
    update(&mut app, 10);
    assert_eq!(current(&app, root).time_s, paused_s);
    assert_eq!(transforms(&app, joints), expected(&clip, &skeleton, paused_s));
    // Seeking works while the layer is paused.
    player(&mut app, root).current_mut().time_s = 0.25;
    app.update();
    assert_eq!(transforms(&app, joints), expected(&clip, &skeleton, 0.25));

    player(&mut app, root).current_mut().is_paused = false;
    assert!(!current(&app, root).is_finished());
    update(&mut app, SECOND);
    assert!(current(&app, root).is_finished());
    assert_eq!(transforms(&app, joints), expected(&clip, &skeleton, 2.0));
    // Now the clip plays backwards to its beginning.
    player(&mut app, root).current_mut().speed = -1.0;
    app.update();
    assert!(!current(&app, root).is_finished());
    update(&mut app, 3 * SECOND);
    assert!(current(&app, root).is_finished());
    assert_eq!(transforms(&app, joints), expected(&clip, &skeleton, 0.0));
}

#[test]
fn a_loop_backwards_and_times_outside() {
    let (mut app, skeleton) = (app(), skeleton());
    let handle = add(&mut app, block(&raw(&skeleton, 1.0)), &skeleton);
    let layer = ClipLayer::new(handle).with_speed(-1.0).starting_at(0.01);
    let (root, _) = spawn(&mut app, ClipPlayer::new(layer));
    update(&mut app, 2);
    assert!(current(&app, root).time_s > 1.9);
    for (time_s, expected_s) in [(5.0, 1.0), (-0.5, 1.5), (2.0, 2.0)] {
        let mut player = player(&mut app, root);
        (player.current_mut().time_s, player.current_mut().is_paused) = (time_s, true);
        app.update();
        assert!((current(&app, root).time_s - expected_s).abs() < 1e-5, "{time_s}");
    }
    for time_s in [f32::NAN, f32::INFINITY, -1e30] {
        player(&mut app, root).current_mut().time_s = time_s;
        app.update();
    }
}

#[test]
fn a_model_in_centimetres() {
    let (mut app, skeleton) = (app(), skeleton());
    let clip = block(&raw(&skeleton, 1.0));
    let handle = add(&mut app, clip.clone(), &skeleton);
    let mut player = ClipPlayer::new(handle);
    player.units_per_m = 100.0;
    let (root, joints) = spawn(&mut app, player);
    update(&mut app, 3);
    let pose = sampled(&clip, &skeleton, current(&app, root).time_s);
    let hips = Vec3::from(pose[0].translation);
    assert!((transform(&app, joints[0]).translation - hips).length() < 1e-4);
}

#[test]
fn a_replaced_clip_plays_on() {
    let (mut app, skeleton) = (app(), skeleton());
    for scheme in [block, keyed] {
        let (before, after) = (scheme(&raw(&skeleton, 1.0)), scheme(&raw(&skeleton, 2.0)));
        let handle = add(&mut app, before, &skeleton);
        let (root, joints) = spawn(&mut app, ClipPlayer::new(handle.clone()));
        update(&mut app, 10);
        let asset = ClipAsset::new(after.clone(), skeleton.clone()).unwrap();
        let mut clips = app.world_mut().resource_mut::<Assets<ClipAsset>>();
        clips.insert(&handle, asset).unwrap();
        app.update();
        let time_s = current(&app, root).time_s;
        assert!(time_s > 0.1);
        assert_eq!(transforms(&app, joints), expected(&after, &skeleton, time_s));
        // If a clip is removed, the joints keep their transforms.
        let last = transforms(&app, joints);
        app.world_mut().resource_mut::<Assets<ClipAsset>>().remove(&handle);
        update(&mut app, 3);
        assert_eq!(transforms(&app, joints), last);
    }
}

#[test]
fn still_joints_do_not_count_as_changed() {
    #[derive(Resource, Default)]
    struct Changed(usize);

    let (mut app, skeleton) = (app(), skeleton());
    let handle = add(&mut app, block(&raw(&skeleton, 1.0)), &skeleton);
    let (root, _) = spawn(&mut app, ClipPlayer::new(handle));
    app.init_resource::<Changed>().add_systems(
        bevy_app::Last,
        |changed: Query<(), bevy_ecs::query::Changed<Transform>>, mut count: ResMut<Changed>| {
            count.0 = changed.iter().count();
        },
    );
    update(&mut app, 3);
    assert_eq!(app.world().resource::<Changed>().0, FIGURE.len());
    player(&mut app, root).current_mut().is_paused = true;
    update(&mut app, 2);
    assert_eq!(app.world().resource::<Changed>().0, 0);
}
