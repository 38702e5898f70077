//! Tests of layers: crossfades, weights, masks and additive clips.

use std::sync::Arc;

use bevy_app::App;
use bevy_asset::Handle;
use bevy_ecs::prelude::*;
use kinepack_anim::offline::BuildOptions;
use kinepack_anim::{AnyClip, Skeleton, additive, blend};
use kinepack_bevy::clips::{ClipAsset, ClipLayer, ClipPlayer};

use super::support::*;

struct Setting {
    app: App,
    skeleton: Arc<Skeleton>,
    clips: [AnyClip; 2],
    handles: [Handle<ClipAsset>; 2],
    root: Entity,
    joints: Joints,
}

/// A character that plays the first of two clips.
fn setting(scheme: fn(&kinepack_anim::RawClip) -> AnyClip) -> Setting {
    let (mut app, skeleton) = (app(), skeleton());
    let clips = [1.0, 2.0].map(|seed| scheme(&raw(&skeleton, seed)));
    let handles = clips.clone().map(|clip| add(&mut app, clip, &skeleton));
    let (root, joints) = spawn(&mut app, ClipPlayer::new(handles[0].clone()));
    update(&mut app, 5);
    Setting { app, skeleton, clips, handles, root, joints }
}

impl Setting {
    fn player(&mut self) -> Mut<'_, ClipPlayer> {
        player(&mut self.app, self.root)
    }

    /// The pose of each clip at its own time, in cm.
    fn poses(&self, times_s: [f32; 2]) -> [Vec<kinepack_anim::Transform>; 2] {
        [0, 1].map(|index| sampled(&self.clips[index], &self.skeleton, times_s[index]))
    }
}

#[test]
fn a_crossfade_blends_both_clips_at_their_times() {
    for scheme in [block, keyed] {
        let mut setting = setting(scheme);
        let begun_s = current(&setting.app, setting.root).time_s;
        let run = setting.handles[1].clone();
        setting.player().crossfade(run, 0.16);
        for frame in 1..=15 {
            setting.app.update();
            let layer = current(&setting.app, setting.root);
            let weight = (frame as f32 / 10.0).min(1.0);
            assert!((layer.weight - weight).abs() < 1e-5);
            assert_eq!(layer.is_fading(), frame < 10);
            let mut walk_s = begun_s;
            (0..frame).for_each(|_| walk_s += FRAME.as_secs_f32());
            let [mut pose, other] = setting.poses([walk_s, layer.time_s]);
            blend(&mut pose, &other, layer.weight);
            if layer.weight == 1.0 {
                pose = other;
            }
            assert_eq!(transforms(&setting.app, setting.joints), in_metres(&pose), "{frame}");
        }
    }
}

#[test]
fn a_crossfade_within_a_crossfade_has_no_jump() {
    let mut setting = setting(block);
    let mut last = transforms(&setting.app, setting.joints);
    for step in 0..40 {
        if step % 4 == 0 {
            let clip = setting.handles[step / 4 % 2].clone();
            setting.player().crossfade(ClipLayer::new(clip).starting_at(0.3), 0.4);
        }
        setting.app.update();
        let now = transforms(&setting.app, setting.joints);
        // If there are more fades than are kept, the oldest ones stop, which is a small jump.
        let most = if step < 16 { 0.1 } else { 0.4 };
        for (last, now) in last.iter().zip(&now) {
            assert!(now.rotation.angle_between(last.rotation) < most, "{step}");
        }
        last = now;
    }
    update(&mut setting.app, 30);
    let layer = current(&setting.app, setting.root);
    let [_, pose] = setting.poses([0.0, layer.time_s]);
    assert_eq!(transforms(&setting.app, setting.joints), in_metres(&pose));
}

#[test]
fn a_crossfade_waits_for_its_clip() {
    let mut setting = setting(block);
    let missing = Handle::Uuid(bevy_asset::uuid::Uuid::from_u128(1), std::marker::PhantomData);
    setting.player().crossfade(missing.clone(), 0.1);
    update(&mut setting.app, 20);
    assert_eq!(current(&setting.app, setting.root).weight, 0.0);
    let before = transforms(&setting.app, setting.joints);
    setting.app.update();
    assert_ne!(transforms(&setting.app, setting.joints), before, "the first clip plays on");
    // There is no pose to fade from, so the clip shows immediately.
    let run = setting.handles[1].clone();
    setting.player().play(missing);
    setting.player().crossfade(run, 0.5);
    setting.app.update();
    let layer = current(&setting.app, setting.root);
    assert_eq!(layer.weight, 1.0);
    let [_, pose] = setting.poses([0.0, layer.time_s]);
    assert_eq!(transforms(&setting.app, setting.joints), in_metres(&pose));
}

#[test]
fn a_masked_layer_moves_a_joint_and_those_below() {
    for scheme in [block, keyed] {
        for weight in [0.25, 1.0] {
            let mut setting = setting(scheme);
            let wave = ClipLayer::new(setting.handles[1].clone()).on(["left arm", "no such joint"]);
            setting.player().layers.push(wave.with_weight(weight));
            update(&mut setting.app, 7);
            let walk_s = current(&setting.app, setting.root).time_s;
            let wave_s = setting.player().layers[0].time_s;
            let [mut pose, other] = setting.poses([walk_s, wave_s]);
            if weight < 1.0 {
                blend(&mut pose[3..5], &other[3..5], weight);
            } else {
                pose[3..5].copy_from_slice(&other[3..5]);
            }
            assert_eq!(transforms(&setting.app, setting.joints), in_metres(&pose));
        }
    }
}

#[test]
fn a_layer_fades_in_and_out() {
    let mut setting = setting(block);
    let mut layer = ClipLayer::new(setting.handles[1].clone()).with_weight(0.0);
    layer.fade_to(0.5, 0.16);
    setting.player().layers.push(layer);
    update(&mut setting.app, 5);
    assert!((setting.player().layers[0].weight - 0.25).abs() < 1e-5);
    update(&mut setting.app, 10);
    assert_eq!(setting.player().layers[0].weight, 0.5);
    setting.player().layers[0].fade_to(0.0, 0.0);
    setting.app.update();
    assert_eq!(setting.player().layers[0].weight, 0.0);
    let [pose, _] = setting.poses([current(&setting.app, setting.root).time_s, 0.0]);
    assert_eq!(transforms(&setting.app, setting.joints), in_metres(&pose));
}

#[test]
fn masks_alone_leave_other_joints_to_others() {
    let mut setting = setting(block);
    let kept = transforms(&setting.app, setting.joints);
    let nod = ClipLayer::new(setting.handles[1].clone()).on(["head", "leg"]);
    setting.player().play(nod.starting_at(1.0));
    update(&mut setting.app, 3);
    let [_, pose] = setting.poses([0.0, current(&setting.app, setting.root).time_s]);
    let pose = in_metres(&pose);
    let now = transforms(&setting.app, setting.joints);
    for joint in 0..FIGURE.len() {
        assert_eq!(now[joint], if [2, 5].contains(&joint) { pose[joint] } else { kept[joint] });
    }
    // Without weight, the layer moves no joint.
    setting.player().current_mut().weight = 0.0;
    update(&mut setting.app, 3);
    assert_eq!(transforms(&setting.app, setting.joints), now);
}

#[test]
fn an_additive_clip_adds() {
    let mut setting = setting(block);
    let (skeleton, base) = (setting.skeleton.clone(), raw(&setting.skeleton, 0.5));
    let breath = additive::difference(&raw(&skeleton, 0.7), &base).unwrap();
    let mut options = BuildOptions::default();
    options.error.base = Some(Arc::new(base));
    let breath = kinepack_anim::offline::build(&breath, &options).unwrap().clip;
    let still = Arc::new(additive::skeleton(&skeleton));
    let handle = add(&mut setting.app, breath.clone(), &still);
    setting.player().layers.push(ClipLayer::new(handle).with_weight(0.5));
    update(&mut setting.app, 4);
    let walk_s = current(&setting.app, setting.root).time_s;
    let breath_s = setting.player().layers[0].time_s;
    let [mut pose, _] = setting.poses([walk_s, 0.0]);
    additive::add(&mut pose, &sampled(&breath, &still, breath_s), 0.5);
    assert_eq!(transforms(&setting.app, setting.joints), in_metres(&pose));
}
