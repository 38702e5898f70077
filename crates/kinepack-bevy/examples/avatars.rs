//! A server sends eight avatars of 43 joints to a client, which shows them. Both are apps in this
//! program, without a window. The example fails if a shown joint is farther off than the precision.
//!
//! `cargo run -p kinepack-bevy --features figure --example avatars`
//!
//! In a game, Bevy's glTF loader spawns the joints, and a transport moves the datagrams.

mod figure;
#[path = "../../kinepack-anim/examples/walks/mod.rs"]
mod walks;

use std::error::Error;
use std::sync::Arc;

use bevy_app::{App, FixedUpdate, Startup};
use bevy_ecs::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use bevy_transform::components::Transform;
use kinepack::Pack;
use kinepack_anim::figure::FigureOptions;
use kinepack_anim::{RawClip, Skeleton};
use kinepack_bevy::figure::{FigureBody, FigureJoints, FigureKind};
use kinepack_bevy::{
    MotionAppExt, MotionClient, MotionClientPlugin, MotionEntities, MotionId, MotionServer,
    MotionServerPlugin, MotionSettings, Moving, Pose,
};
use kinepack_net::{ReceiverId, ReceiverOptions};

const TICK_HZ: u32 = 30;
const SECONDS: u32 = 4;
const AVATARS: u16 = 8;
const PRECISION_CM: f64 = 0.5;

#[derive(Component, Pack, Clone, Default, PartialEq)]
#[require(Moving, Transform)]
struct Avatar;

/// The part of the app that the server and its clients share.
fn app(skeleton: &Arc<Skeleton>) -> Result<App, Box<dyn Error>> {
    let options = FigureOptions { precision_cm: PRECISION_CM, ..FigureOptions::default() };
    let kind = FigureKind::new(Arc::clone(skeleton), options)?;
    let mut app = App::new();
    app.add_plugins(TimePlugin)
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .add_motion_figure::<(Avatar, Pose<200, 100, 11>)>("avatar", &kind)
        .insert_resource(kind);
    Ok(app)
}

/// The motions, which take the place of trackers.
#[derive(Resource)]
struct Motions(Vec<RawClip>);

fn spawn(world: &mut World) {
    let kind = world.resource::<FigureKind>().clone();
    for number in 0..AVATARS {
        let place = Transform::from_xyz(number.into(), 0.0, 0.0);
        let avatar = world.spawn((Avatar, FigureBody::new(&kind), place)).id();
        figure::spawn_joints(world, avatar, kind.skeleton());
    }
}

/// Moves the joints for three seconds, and then holds them still.
fn track(
    avatars: Query<&FigureJoints>,
    mut transforms: Query<&mut Transform>,
    motions: Res<Motions>,
    mut tick: Local<usize>,
) {
    *tick += 1;
    let sample = (*tick).min(3 * TICK_HZ as usize);
    for (joints, clip) in avatars.iter().zip(motions.0.iter().cycle()) {
        for (joint, pose) in clip.pose(sample % clip.samples()).iter().enumerate() {
            let entity = joints.entity(joint);
            if let Some(Ok(mut transform)) = entity.map(|entity| transforms.get_mut(entity)) {
                transform.translation = pose.translation_m().into();
                transform.rotation = bevy_math::Quat::from_array(pose.rotation);
            }
        }
    }
}

/// Gives an avatar that appears its joints. A game inserts a scene instead.
fn attach(add: On<Add, FigureBody>, mut commands: Commands) {
    let avatar = add.entity;
    commands.queue(move |world: &mut World| {
        let skeleton = Arc::clone(world.resource::<FigureKind>().skeleton());
        figure::spawn_joints(world, avatar, &skeleton);
    });
}

/// The places of all joints of an avatar in its space, in metres.
fn places(app: &App, avatar: MotionId) -> Result<Vec<Transform>, Box<dyn Error>> {
    let world = app.world();
    let avatar = world.resource::<MotionEntities>().get(avatar).ok_or("an avatar is missing")?;
    let joints = world.get::<FigureJoints>(avatar).ok_or("it has no joints")?;
    let skeleton = world.resource::<FigureKind>().skeleton();
    let mut places: Vec<Transform> = Vec::with_capacity(skeleton.len());
    for joint in 0..skeleton.len() {
        let entity = joints.entity(joint).ok_or("a joint is missing")?;
        let own = *world.get::<Transform>(entity).ok_or("it has no transform")?;
        places.push(skeleton.parent(joint).map_or(own, |parent| places[parent] * own));
    }
    Ok(places)
}

fn main() -> Result<(), Box<dyn Error>> {
    let clips = walks::clips(2)?;
    let skeleton = Arc::clone(clips[0].skeleton());
    let (mut server, mut client) = (app(&skeleton)?, app(&skeleton)?);
    server
        .add_plugins(MotionServerPlugin::new(MotionSettings::at_hz(TICK_HZ)))
        .insert_resource(Motions(clips))
        .add_systems(Startup, spawn)
        .add_systems(FixedUpdate, track);
    client
        .add_plugins(MotionClientPlugin::new(MotionSettings::at_hz(TICK_HZ)))
        .add_observer(attach);
    server.finish();
    client.finish();
    let id = ReceiverId(1);
    let mut motion = server.world_mut().resource_mut::<MotionServer>();
    motion.connect(id, &ReceiverOptions::default())?;
    client.world_mut().resource_mut::<MotionClient>().connect();
    for _ in 0..SECONDS * TICK_HZ {
        server.update();
        client.update();
        let mut of_server = server.world_mut().resource_mut::<MotionServer>();
        let mut of_client = client.world_mut().resource_mut::<MotionClient>();
        of_client.outgoing.iter().for_each(|((), bytes)| of_server.incoming.push(id, bytes));
        of_server.outgoing.iter().for_each(|(_, bytes)| of_client.incoming.push((), bytes));
        of_client.outgoing.clear();
        of_server.outgoing.clear();
    }
    let mut largest_cm = 0.0_f32;
    for avatar in (0..AVATARS).map(|number| MotionId(number.into())) {
        for (shown, exact) in places(&client, avatar)?.iter().zip(places(&server, avatar)?) {
            largest_cm = largest_cm.max(shown.translation.distance(exact.translation) * 100.0);
        }
    }
    let stats = server.world().resource::<MotionServer>().stats();
    println!(
        "{AVATARS} avatars of {} joints: {} bytes a tick while they move, joints off by at most \
         {largest_cm:.2} cm",
        skeleton.len(),
        stats.sent_bytes / u64::from(3 * TICK_HZ)
    );
    assert_eq!(stats.refused_values, 0);
    assert!(f64::from(largest_cm) <= PRECISION_CM);
    Ok(())
}
