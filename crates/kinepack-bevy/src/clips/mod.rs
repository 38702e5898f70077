//! Compressed animation clips of `kinepack-anim` on Bevy's entities.
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
mod spaces;

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

/// When clips play, in `PostUpdate`: within Bevy's `AnimationSystems`, before transforms are
/// propagated. Systems that change a pose further, such as inverse kinematics, run after it.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClipSystems;

/// Loads clips and skeletons, and plays clips on characters with a [`ClipPlayer`].
///
/// It needs `AssetPlugin` and `TimePlugin`, and must be added after `AssetPlugin`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClipsPlugin;

impl Plugin for ClipsPlugin {
    fn build(&self, app: &mut App) {
        app.init_asset::<ClipAsset>()
            .init_asset::<SkeletonAsset>()
            .init_asset_loader::<ClipLoader>()
            .register_asset_loader(SkeletonLoader)
            .add_observer(bind::on_insert)
            .add_observer(bind::on_discard)
            .add_observer(bind::on_add_player)
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
