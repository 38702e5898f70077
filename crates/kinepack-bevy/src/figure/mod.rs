//! Replicates figures: live bodies whose joints move with every tick, with a promised error.
//!
//! An avatar in virtual reality, a ragdoll or a robot's arm is a skeleton whose pose comes from
//! outside, or from physics. [`add_motion_figure`](crate::MotionAppExt::add_motion_figure) makes
//! its joints a part of a kind of entity. The server reads the joints' transforms in each tick.
//! Clients write interpolated transforms in each frame. No point near a joint is farther off than
//! the precision, in centimetres: see `kinepack_anim::figure`.
//!
//! ```
//! use bevy_app::{App, FixedUpdate};
//! use bevy_ecs::prelude::*;
//! use bevy_time::TimePlugin;
//! use bevy_transform::components::Transform;
//! use kinepack::Pack;
//! use kinepack_anim::Skeleton;
//! use kinepack_anim::figure::FigureOptions;
//! use kinepack_bevy::figure::{FigureBody, FigureKind};
//! use kinepack_bevy::{MotionAppExt, MotionServerPlugin, MotionSettings, Moving, Pose};
//!
//! #[derive(Component, Pack, Clone, Default, PartialEq)]
//! #[require(Moving, Transform)]
//! struct Avatar;
//!
//! /// Both sides call this, with the same skeleton.
//! fn register(app: &mut App, skeleton: Skeleton) -> Result<FigureKind, BevyError> {
//!     let options = FigureOptions { precision_cm: 0.5, ..FigureOptions::default() };
//!     let kind = FigureKind::new(skeleton, options)?;
//!     // The place of the avatar is a component like any other.
//!     app.add_motion_figure::<(Avatar, Pose<200, 100, 11>)>("avatar", &kind);
//!     Ok(kind)
//! }
//!
//! /// On the server. The entities of the joints are below the avatar, for example in its scene.
//! fn spawn(mut commands: Commands, kind: Res<FigureKind>) {
//!     commands.spawn((Avatar, FigureBody::new(&kind)));
//! }
//!
//! # let bind = kinepack_anim::Transform::IDENTITY;
//! # let joint = kinepack_anim::Joint { name: "hips".into(), parent: None, bind };
//! # let skeleton = Skeleton::new(vec![joint])?;
//! let mut server = App::new();
//! let kind = register(&mut server, skeleton)?;
//! server
//!     .insert_resource(kind)
//!     .add_plugins((TimePlugin, MotionServerPlugin::new(MotionSettings::at_hz(60))))
//!     .add_systems(bevy_app::Startup, spawn);
//! # server.finish();
//! # (0..3).for_each(|_| server.update());
//! # Ok::<(), BevyError>(())
//! ```
//!
//! | to … | |
//! |---|---|
//! | choose precisions, ranges, curves, parts | `kinepack_anim::figure::FigureOptions` |
//! | get a skeleton from entities that Bevy loaded | [`skeleton_of`] |
//! | read a pose | [`FigureBody::joints`] |
//! | write a pose without entities for joints | [`FigureBody::joints_mut`] |
//! | send face shapes and other numbers | [`FigureBody::curves_mut`], [`FigureBody::curves`] |
//! | stop sending a part that is not tracked | [`FigureBody::set_absent`] |
//! | play a clip beside the live pose | [`FigureBody::set_clip`], [`FigureBody::shown_clip`] |
//! | find the entity of a joint | [`FigureJoints::entity`] |
//! | know why a body is not sent | the message [`FigureRefused`] |
//!
//! **Joints.** A joint is the first entity below the body with the joint's name, where upper
//! entities come first. On the server, a joint without an entity keeps the transform that the
//! [`FigureBody`] has. On a client, it is ignored, so a client may show another model that has some
//! of the names. The plugin searches again when entities below the body are added, removed, moved
//! or named.
//!
//! **Absent parts.** On a client, the joints of an absent part keep their transforms, so that
//! inverse kinematics or clips can move them.
//!
//! **Clips.** The plugin does not write the clips that a body plays. A client's system samples them
//! at the time of [`FigureBody::shown_clip`], for example into the joints of an absent part.
//!
//! **Far bodies.** If the options have `coarser` tiers, the rings of
//! [`MotionServer::set_rings`](crate::MotionServer::set_rings) name the tier of a body for each
//! client. The server quantizes a body that changed once for each tier that the rings name. A pose
//! that one of these tiers refuses is not sent in any of them.
//!
//! **Curves.** For morph targets, give the options a curve for each weight, in the order of the
//! mesh. A client's system then copies them: `weights.weights_mut().copy_from_slice(body.curves())`
//! for Bevy's `MorphWeights`.
//!
//! **Space.** Transforms are in metres, or in [`FigureKind::with_units_per_m`]. Nodes between the
//! body and its root joints, such as Blender's `Armature`, are treated as for clips: the plugin
//! recognizes them when the joints appear with the transforms of the file.
//!
//! **Order.** [`FigureSystems::Read`] runs in `FixedLast`, before the server's tick.
//! [`FigureSystems::Write`] runs in `PostUpdate`, after `AnimationSystems` and before
//! `TransformSystems::Propagate`. So a figure overrides animations of the same joints. A client's
//! entities that are [`Predicted`](crate::Predicted) keep their joints.
//!
//! **Cost.** Each direction takes about 0.2 µs per joint, and a look-up of the joint's transform.
//! A body that rests costs the server a comparison of its joints.

mod body;
mod joints;
mod kind;
mod rows;
mod shown;
mod skeleton;

use bevy_app::{AnimationSystems, App, FixedLast, Plugin, PostUpdate};
use bevy_ecs::schedule::common_conditions::resource_exists;
use bevy_ecs::schedule::{IntoScheduleConfigs, SystemSet};
use bevy_transform::TransformSystems;
use kinepack::EncodeError;
use kinepack_net::Sample;

pub use body::FigureBody;
pub use joints::FigureJoints;
pub use kind::FigureKind;
pub use rows::{FigureRefusal, FigureRefused};
pub use skeleton::skeleton_of;

use crate::joints::{on_add_owner, on_discard, on_insert};
use crate::late::KindSetup;
use crate::register::add_kind;
use crate::{MotionClient, MotionKind, MotionServer, MotionServerSystems};

/// The sets of systems that connect bodies with the entities of their joints.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FigureSystems {
    /// Runs in `FixedLast` on the server, before [`MotionServerSystems::Tick`], and reads the
    /// joints.
    Read,
    /// Runs in `PostUpdate` on a client, after Bevy's `AnimationSystems` and before transforms are
    /// propagated, and writes the joints.
    Write,
}

/// Connects bodies with the entities of their joints. Registering a figure adds this plugin.
struct FigurePlugin;

impl Plugin for FigurePlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<FigureRefused>()
            .add_observer(on_insert::<FigureJoints>)
            .add_observer(on_discard::<FigureJoints>)
            .add_observer(on_add_owner::<FigureBody, FigureJoints>)
            .add_observer(joints::on_remove_body)
            .add_systems(
                FixedLast,
                (joints::bind, joints::read)
                    .chain()
                    .in_set(FigureSystems::Read)
                    .before(MotionServerSystems::Tick)
                    .run_if(resource_exists::<MotionServer>),
            )
            .add_systems(
                PostUpdate,
                (joints::bind, joints::write)
                    .chain()
                    .in_set(FigureSystems::Write)
                    .after(AnimationSystems)
                    .before(TransformSystems::Propagate)
                    .run_if(resource_exists::<MotionClient>),
            );
    }
}

/// The body in a sample of a kind with the components `K`.
pub(crate) fn body_of<K: MotionKind>(
    kind: &FigureKind,
    sample: &Sample<'_>,
) -> Result<FigureBody, EncodeError> {
    let mut shown = shown::ShownBodies::<K>::new(kind);
    shown.check(sample)?;
    let mut body = FigureBody::new(kind);
    shown.write_body(sample, &mut body);
    Ok(body)
}

/// Registers a kind with the fields of the components `K`, followed by the fields of a figure.
#[track_caller]
pub(crate) fn add_figure<K: MotionKind>(app: &mut App, name: &str, kind: &FigureKind) {
    if !app.is_plugin_added::<FigurePlugin>() {
        app.add_plugins(FigurePlugin);
    }
    let mut fields = Vec::new();
    K::fields("", &mut fields);
    fields.extend(kind.figure().fields());
    let shown = shown::ShownBodies::<K>::new(kind);
    let setup = KindSetup::new::<K>(name);
    add_kind(app.world_mut(), setup, rows::BodyRows::<K>::new(kind), shown, |kinds| {
        kinds.kind_of_fields(name, fields)
    });
}
