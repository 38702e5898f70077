//! A small figure, its clips, and an app that plays them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bevy_animation::AnimationPlugin;
use bevy_app::{App, Plugins, TaskPoolPlugin};
use bevy_asset::io::memory::{Dir, MemoryAssetReader};
use bevy_asset::io::{AssetSourceBuilder, AssetSourceId};
use bevy_asset::{AssetApp, AssetPlugin, Assets, Handle};
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use bevy_transform::TransformPlugin;
use bevy_transform::components::Transform;
use kinepack_anim::offline::{BuildOptions, KeyedOptions, Scheme, build};
use kinepack_anim::{AnyClip, Joint, RawClip, Skeleton};
use kinepack_bevy::clips::{ClipAsset, ClipLayer, ClipPlayer, ClipsPlugin};

/// The names and parents of the joints.
pub(crate) const FIGURE: [(&str, Option<u16>); 6] = [
    ("hips", None),
    ("spine", Some(0)),
    ("head", Some(1)),
    ("left arm", Some(1)),
    ("left hand", Some(3)),
    ("leg", Some(0)),
];
pub(crate) const FRAME: Duration = Duration::from_millis(16);

pub(crate) fn skeleton() -> Arc<Skeleton> {
    let joints = FIGURE.iter().enumerate().map(|(index, (name, parent))| {
        let translation = [index as f32, 10.0, 0.0];
        let bind = kinepack_anim::Transform { translation, ..kinepack_anim::Transform::IDENTITY };
        Joint { name: (*name).into(), parent: *parent, bind }
    });
    Arc::new(Skeleton::new(joints.collect()).unwrap())
}

/// A clip of 2 s in which all joints turn and the hips move. Different values of `seed` give
/// different clips.
pub(crate) fn raw(skeleton: &Arc<Skeleton>, seed: f32) -> RawClip {
    let pose = |sample: i32| {
        let time_s = sample as f32 / 30.0;
        let mut pose = skeleton.bind_pose();
        pose[0].translation[2] += 50.0 * seed * time_s;
        for (index, transform) in pose.iter_mut().enumerate() {
            let half = 0.3 * (3.0 * time_s + index as f32 + 2.0 * seed).sin();
            transform.rotation = [half.sin(), 0.0, 0.0, half.cos()];
        }
        pose
    };
    RawClip::new("walk", skeleton.clone(), 30.0, (0..=60).flat_map(pose).collect()).unwrap()
}

pub(crate) fn block(raw: &RawClip) -> AnyClip {
    build(raw, &BuildOptions { precision_cm: 0.01, ..BuildOptions::default() }).unwrap().clip
}

pub(crate) fn keyed(raw: &RawClip) -> AnyClip {
    let scheme = Scheme::Keyed(KeyedOptions::default());
    build(raw, &BuildOptions { scheme, ..BuildOptions::default() }).unwrap().clip
}

/// An app with Bevy's animation and clips, whose assets are the files in `dir`.
pub(crate) fn app_with(dir: &Dir) -> App {
    app_of(dir, TransformPlugin)
}

/// An app like that of `app_with`, with other plugins than the one that propagates transforms.
pub(crate) fn app_of<M>(dir: &Dir, plugins: impl Plugins<M>) -> App {
    let mut app = App::new();
    let root = dir.clone();
    let reader = move || Box::new(MemoryAssetReader { root: root.clone() }) as Box<_>;
    app.register_asset_source(AssetSourceId::Default, AssetSourceBuilder::new(reader))
        .add_plugins((TaskPoolPlugin::default(), TimePlugin))
        .add_plugins(plugins)
        .add_plugins((AssetPlugin::default(), AnimationPlugin, ClipsPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(FRAME));
    app.finish();
    app.cleanup();
    app
}

pub(crate) fn app() -> App {
    app_with(&Dir::new(Path::new("").into()))
}

pub(crate) fn add(app: &mut App, clip: AnyClip, skeleton: &Arc<Skeleton>) -> Handle<ClipAsset> {
    let asset = ClipAsset::new(clip, Arc::clone(skeleton)).unwrap();
    app.world_mut().resource_mut::<Assets<ClipAsset>>().add(asset)
}

/// The joints of a character, in the order of [`FIGURE`].
pub(crate) type Joints = [Entity; FIGURE.len()];

/// Spawns the joints below `root`.
pub(crate) fn spawn_joints(app: &mut App, root: Entity) -> Joints {
    let mut joints = [Entity::PLACEHOLDER; FIGURE.len()];
    for (index, (name, parent)) in FIGURE.iter().enumerate() {
        let above = parent.map_or(root, |parent| joints[usize::from(parent)]);
        let bundle = (Name::new(*name), Transform::default(), ChildOf(above));
        joints[index] = app.world_mut().spawn(bundle).id();
    }
    joints
}

/// A character whose joints are children of its entity.
pub(crate) fn spawn(app: &mut App, player: ClipPlayer) -> (Entity, Joints) {
    let root = app.world_mut().spawn((player, Transform::default())).id();
    let joints = spawn_joints(app, root);
    (root, joints)
}

pub(crate) fn update(app: &mut App, frames: usize) {
    (0..frames).for_each(|_| app.update());
}

pub(crate) fn transform(app: &App, entity: Entity) -> Transform {
    *app.world().get::<Transform>(entity).unwrap()
}

pub(crate) fn transforms(app: &App, joints: Joints) -> Vec<Transform> {
    joints.iter().map(|joint| transform(app, *joint)).collect()
}

pub(crate) fn player(app: &mut App, root: Entity) -> Mut<'_, ClipPlayer> {
    app.world_mut().get_mut::<ClipPlayer>(root).unwrap()
}

pub(crate) fn current(app: &App, root: Entity) -> &ClipLayer {
    app.world().get::<ClipPlayer>(root).unwrap().current()
}

/// A pose of `kinepack-anim` in Bevy's type.
pub(crate) fn in_metres(pose: &[kinepack_anim::Transform]) -> Vec<Transform> {
    let joint = |joint: &kinepack_anim::Transform| Transform {
        translation: Vec3::from(joint.translation_m()),
        rotation: Quat::from_array(joint.rotation),
        scale: joint.scale.into(),
    };
    pose.iter().map(joint).collect()
}

/// The pose of a clip as `kinepack-anim` samples it, in centimetres.
pub(crate) fn sampled(
    clip: &AnyClip,
    skeleton: &Skeleton,
    time_s: f32,
) -> Vec<kinepack_anim::Transform> {
    let mut pose = skeleton.bind_pose();
    clip.player(skeleton).unwrap().sample(time_s, &mut pose);
    pose
}

/// The pose of [`sampled`] in Bevy's type.
pub(crate) fn expected(clip: &AnyClip, skeleton: &Skeleton, time_s: f32) -> Vec<Transform> {
    in_metres(&sampled(clip, skeleton, time_s))
}
