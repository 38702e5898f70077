//! Avatars with a small skeleton, whose joints turn at constant speed.

use bevy_app::{App, FixedUpdate};
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_transform::components::Transform;
use kinepack::Pack;
use kinepack_anim::figure::{FigureClips, FigureCurve, FigureOptions, FigurePart};
use kinepack_anim::{Joint, Skeleton};
use kinepack_bevy::figure::{FigureBody, FigureJoints, FigureKind};
use kinepack_bevy::{MotionAppExt, MotionClient, MotionEntities, MotionId, Moving, Pose};
use kinepack_net::LinkConfig;

use crate::support::Session;

/// The names, the parents, and the places of the joints relative to their parents, in metres.
pub(crate) const JOINTS: [(&str, Option<usize>, [f32; 3]); 6] = [
    ("hips", None, [0.0, 0.9, 0.0]),
    ("spine", Some(0), [0.0, 0.4, 0.02]),
    ("head", Some(1), [0.0, 0.3, 0.0]),
    ("arm", Some(1), [0.3, 0.2, 0.0]),
    ("hand", Some(3), [0.55, 0.0, 0.0]),
    ("leg", Some(0), [-0.1, -0.45, 0.0]),
];
pub(crate) const LEG: usize = 5;
pub(crate) const PRECISION_M: f32 = 0.005;

#[derive(Component, Pack, Clone, Copy, Debug, Default, PartialEq)]
#[require(Moving, Transform)]
pub(crate) struct Avatar {
    #[pack(max = 100)]
    pub(crate) health: u8,
}

pub(crate) fn bind(joint: usize) -> Transform {
    Transform::from_translation(JOINTS[joint].2.into())
}

pub(crate) fn skeleton() -> Skeleton {
    let joints = JOINTS.iter().map(|(name, parent, translation_m)| {
        let bind = kinepack_anim::Transform::IDENTITY.with_translation_m(*translation_m);
        Joint { name: (*name).into(), parent: parent.map(|parent| parent as u16), bind }
    });
    Skeleton::new(joints.collect()).unwrap()
}

pub(crate) fn kind() -> FigureKind {
    kind_of(skeleton(), &[])
}

/// A kind with further tiers. `coarser` has the factor of each.
pub(crate) fn kind_of(skeleton: Skeleton, coarser: &[f64]) -> FigureKind {
    let legs = FigurePart { name: "legs".into(), joints: vec![LEG], curves: vec![] };
    let face = FigurePart { name: "face".into(), joints: vec![], curves: vec![1] };
    let curve = |name: &str| FigureCurve { name: name.into(), min: 0.0, max: 1.0, precision: 0.01 };
    let options = FigureOptions {
        precision_cm: f64::from(PRECISION_M) * 100.0,
        parts: vec![legs, face],
        curves: vec![curve("grip"), curve("jaw")],
        clips: FigureClips { slots: 2, names: ["walk", "bow"].map(String::from).to_vec() },
        coarser: coarser.to_vec(),
        ..FigureOptions::default()
    };
    FigureKind::new(skeleton, options).unwrap()
}

/// What both sides register.
pub(crate) fn register(app: &mut App) {
    let kind = kind();
    app.add_motion_figure::<(Avatar, Pose<100, 100, 11>)>("avatar", &kind).insert_resource(kind);
}

/// Registers avatars with longer arms.
pub(crate) fn register_longer(app: &mut App) {
    let mut joints = skeleton().joints().to_vec();
    joints[4].bind.translation[0] *= 2.0;
    let kind = kind_of(Skeleton::new(joints).unwrap(), &[]);
    app.add_motion_figure::<(Avatar, Pose<100, 100, 11>)>("avatar", &kind);
}

/// Spawns an entity for each joint below `root`, in the bind pose.
pub(crate) fn spawn_joints(world: &mut World, root: Entity) -> Vec<Entity> {
    let mut joints: Vec<Entity> = Vec::new();
    for (joint, (name, parent, _)) in JOINTS.iter().enumerate() {
        let above = parent.map_or(root, |parent| joints[parent]);
        joints.push(world.spawn((Name::new(*name), bind(joint), ChildOf(above))).id());
    }
    joints
}

/// A joint on the server, which turns at a constant speed.
#[derive(Component)]
struct Turns {
    joint: usize,
    ticks: f32,
}

fn turn(mut joints: Query<(&mut Transform, &mut Turns)>) {
    for (mut transform, mut turns) in &mut joints {
        turns.ticks += 1.0;
        let axis = Vec3::new(1.0, turns.joint as f32, -0.5).normalize();
        transform.rotation = Quat::from_axis_angle(axis, 0.02 * turns.ticks);
        if turns.joint == 0 {
            transform.translation.z = 0.01 * turns.ticks;
        }
    }
}

/// Spawns the model of an avatar that appears.
fn attach(add: On<Add, FigureBody>, mut commands: Commands) {
    let body = add.entity;
    commands.queue(move |world: &mut World| {
        spawn_joints(world, body);
    });
}

pub(crate) fn setup(app: &mut App) {
    if app.world().contains_resource::<MotionClient>() {
        app.add_observer(attach);
    } else {
        app.add_systems(FixedUpdate, turn);
    }
}

/// A session with one client, and the server's avatar.
pub(crate) fn session(link: LinkConfig) -> (Session, Entity) {
    let mut session = Session::of(register, link, 1, setup);
    let avatar = spawn_avatar(session.server.world_mut());
    spawn_joints(session.server.world_mut(), avatar);
    (session, avatar)
}

pub(crate) fn spawn_avatar(world: &mut World) -> Entity {
    let kind = world.resource::<FigureKind>().clone();
    let place = Transform::from_xyz(3.0, 0.0, -1.0);
    world.spawn((Avatar { health: 70 }, FigureBody::new(&kind), place)).id()
}

/// Lets the server's joints turn, or stops them.
pub(crate) fn set_turning(world: &mut World, avatar: Entity, is_turning: bool) {
    for joint in 0..JOINTS.len() {
        let entity = joint_of(world, avatar, joint);
        if is_turning {
            world.entity_mut(entity).insert(Turns { joint, ticks: 0.0 });
        } else {
            world.entity_mut(entity).remove::<Turns>();
        }
    }
}

/// The client's entity of the first avatar.
pub(crate) fn shown(session: &Session) -> Entity {
    let world = session.clients[0].app.world();
    world.resource::<MotionEntities>().get(MotionId(0)).expect("the avatar is shown")
}

pub(crate) fn body(world: &World, avatar: Entity) -> &FigureBody {
    world.get::<FigureBody>(avatar).unwrap()
}

/// The entity of a joint, which the plugin must have found.
pub(crate) fn joint_of(world: &World, avatar: Entity, joint: usize) -> Entity {
    world.get::<FigureJoints>(avatar).unwrap().entity(joint).expect("the joint is found")
}

/// The joints' transforms relative to their parents.
pub(crate) fn locals(world: &World, avatar: Entity) -> Vec<Transform> {
    let joint = |joint| *world.get::<Transform>(joint_of(world, avatar, joint)).unwrap();
    (0..JOINTS.len()).map(joint).collect()
}

/// The largest distance in metres between points that are 3 cm from a joint in one pose, and the
/// same points in another pose. The joints' transforms are relative to their parents.
pub(crate) fn distance_m(one: &[Transform], other: &[Transform]) -> f32 {
    let [one, other] = [one, other].map(|locals| {
        let mut models: Vec<Transform> = Vec::new();
        for (local, (_, parent, _)) in locals.iter().zip(JOINTS) {
            models.push(parent.map_or(*local, |parent| models[parent] * *local));
        }
        models
    });
    let shell = [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z];
    let distances = one.iter().zip(&other).flat_map(|(one, other)| {
        shell.map(|point| {
            let point = 0.03 * point;
            one.transform_point(point).distance(other.transform_point(point))
        })
    });
    distances.fold(0.0, f32::max)
}
