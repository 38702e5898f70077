//! Plays compressed animation clips of `kinepack-anim` on the joints of Bevy's scenes.
//!
//! `kinepack anim build Fox.glb --out assets/clips` writes the files. [`ClipsPlugin`] loads them,
//! and a [`ClipPlayer`] plays them on the entities below it that have the names of joints.
//!
//! ```no_run
//! use bevy_app::{App, Startup, Update};
//! use bevy_asset::{AssetPlugin, AssetServer};
//! use bevy_ecs::prelude::*;
//! use bevy_time::TimePlugin;
//! use bevy_transform::components::Transform;
//! use kinepack_bevy::clips::{ClipLayer, ClipPlayer, ClipsPlugin};
//!
//! fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
//!     let walk = assets.load("clips/Fox__Walk.kpa");
//!     // In a game, the entity also has `WorldAssetRoot(assets.load("Fox.glb#Scene0"))`.
//!     // The fox is a model in centimetres.
//!     let mut player = ClipPlayer::new(walk);
//!     player.units_per_m = 100.0;
//!     commands.spawn((player, Transform::from_scale([0.01; 3].into())));
//! }
//!
//! /// Changes from walking to running within 0.2 s. The fox looks around with its neck and head.
//! fn run(mut foxes: Query<&mut ClipPlayer>, assets: Res<AssetServer>) {
//!     for mut fox in &mut foxes {
//!         fox.crossfade(assets.load("clips/Fox__Run.kpa"), 0.2);
//!         let look = ClipLayer::new(assets.load("clips/Fox__Survey.kpa"));
//!         fox.layers.push(look.on(["b_Neck_04"]).with_weight(0.5));
//!     }
//! }
//! # fn is_hunted() -> bool { false }
//!
//! App::new()
//!     // `DefaultPlugins` contain the first two plugins.
//!     .add_plugins((TimePlugin, AssetPlugin::default(), ClipsPlugin))
//!     .add_systems(Startup, spawn)
//!     .add_systems(Update, run.run_if(is_hunted))
//!     .run();
//! ```
//!
//! | to … | |
//! |---|---|
//! | set speed, time, repetition, pause | [`ClipPlayer::current_mut`], fields of [`ClipLayer`] |
//! | change to another clip | [`ClipPlayer::crossfade`], [`ClipPlayer::play`] |
//! | blend clips | [`ClipPlayer::layers`], [`ClipLayer::weight`], [`ClipLayer::fade_to`] |
//! | move some joints only | [`ClipLayer::on`] |
//! | find the entity of a joint | [`ClipJoints::entity`] |
//! | use clips that the program contains | [`ClipAsset::new`] |
//!
//! **Files.** A clip needs its skeleton, and some clips need a rig. [`ClipLoader`] finds both in
//! the clip's folder. Files that change are loaded again if Bevy watches them (Bevy's feature
//! `file_watcher`).
//!
//! **Joints.** A joint is the first entity below the player with the joint's name, where upper
//! entities come first. Joints without an entity are ignored, and other entities keep their
//! transforms. The plugin searches the joints again when entities below the player are added,
//! removed, moved or named. It does not notice a `Name` that changes in place: insert a new one.
//! glTF nodes without a name have other names in Bevy and in clips, so name them.
//!
//! **Space.** Translations are in metres, or in [`units_per_m`](ClipPlayer::units_per_m). Clips
//! contain the static nodes above the joints, such as Blender's `Armature`. The plugin recognizes
//! these nodes when their joints appear with the transforms of the file, and then leaves them out
//! of the joints' transforms.
//!
//! **Order.** [`ClipSystems`] runs in `PostUpdate`, within `AnimationSystems` and before
//! `TransformSystems::Propagate`. It advances clips by the app's `Time`. Bevy's own animation may
//! move other characters, or joints that no layer moves. If both move a joint, their order is not
//! defined.
//!
//! **Cost.** All characters share the memory of a clip. Each character keeps a pose of 40 bytes a
//! joint. Once the joints are found, a frame allocates nothing, except for the tasks of Bevy's
//! threads. These tasks sample the characters in parallel, and then write the joints in parallel.
//! Keyed clips need more memory for each character than block clips, which are the default.

mod asset;
mod bind;
mod companions;
mod error;
mod joints;
mod layer;
mod loader;
mod mask;
mod play;
mod player;
mod pose;

use bevy_app::{AnimationSystems, App, Plugin, PostUpdate};
use bevy_asset::AssetApp;
use bevy_ecs::schedule::{IntoScheduleConfigs, SystemSet};
use bevy_transform::TransformSystems;

pub use asset::{ClipAsset, SkeletonAsset};
pub use error::ClipFileError;
pub use joints::{ClipJoint, ClipJoints};
pub use layer::ClipLayer;
pub use loader::{ClipLoader, ClipSettings, SkeletonLoader};
pub use player::ClipPlayer;

use crate::joints::{on_add_owner, on_discard, on_insert};

/// The set of systems that play clips. It runs in `PostUpdate`, within Bevy's `AnimationSystems`,
/// before transforms are propagated. Systems that change a pose further, such as inverse
/// kinematics, must run after this set.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClipSystems;

/// Loads clips and skeletons, and plays clips on characters with a [`ClipPlayer`].
///
/// The plugin needs `AssetPlugin` and `TimePlugin`, and must be added after `AssetPlugin`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClipsPlugin;

impl Plugin for ClipsPlugin {
    fn build(&self, app: &mut App) {
        app.init_asset::<ClipAsset>()
            .init_asset::<SkeletonAsset>()
            .init_asset_loader::<ClipLoader>()
            .register_asset_loader(SkeletonLoader)
            .add_observer(on_insert::<ClipJoints>)
            .add_observer(on_discard::<ClipJoints>)
            .add_observer(on_add_owner::<ClipPlayer, ClipJoints>)
            .add_observer(bind::on_remove_player)
            .add_systems(
                PostUpdate,
                (bind::bind, play::sample, play::write)
                    .chain()
                    .in_set(ClipSystems)
                    .in_set(AnimationSystems)
                    .before(TransformSystems::Propagate),
            );
    }
}
