//! Loaders of clips and skeletons. A clip stores the hashes of its skeleton and its rig, so the
//! loader of clips finds these two files itself.

use bevy_asset::io::{AssetSourceBuilders, Reader};
use bevy_asset::{AssetLoader, LoadContext};
use bevy_ecs::world::{FromWorld, World};
use bevy_reflect::TypePath;
use kinepack_anim::{AnyClip, ClipError, Rig, Skeleton};
use serde::{Deserialize, Serialize};

use super::companions::{Companions, Kind};
use super::{ClipAsset, ClipFileError, SkeletonAsset};

/// The paths of a clip's skeleton and rig, if the [`ClipLoader`] cannot find these files by their
/// hashes.
///
/// ```
/// # use bevy_asset::{AssetServer, Handle};
/// # use kinepack_bevy::clips::{ClipAsset, ClipSettings};
/// fn load(assets: &AssetServer) -> Handle<ClipAsset> {
///     let settings = |settings: &mut ClipSettings| settings.skeleton = Some("fox.kps".into());
///     assets.load_builder().with_settings(settings).load("clips/walk.kpa")
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClipSettings {
    /// The path of the skeleton, `.kps`, relative to the clip's folder. With `None`, the loader
    /// takes the file in this folder whose name ends with the skeleton's hash.
    pub skeleton: Option<String>,
    /// The path of the rig, `.kpr`, found in the same way. Most clips need no rig.
    pub rig: Option<String>,
}

/// Loads clips from `.kpa` and `.kpd` files, with their skeletons and rigs.
///
/// The loader looks for the skeleton and the rig in the clip's folder, as `kinepack anim build`
/// writes them. `Fox__Walk.kpa` needs a file whose name ends with the skeleton's hash, such as
/// `Fox-f99b285094c24997.kps`. Clips of the same skeleton or rig share it in memory.
///
/// Over HTTP, folders cannot be listed. The loader then asks for a file named after the part before
/// `__` and the hash. [`ClipSettings`] can name other files.
#[derive(TypePath)]
pub struct ClipLoader {
    companions: Companions,
}

impl FromWorld for ClipLoader {
    fn from_world(world: &mut World) -> Self {
        // The asset server holds the loader. If the loader held the asset server, neither would
        // ever be dropped.
        let sources = world
            .get_resource_mut::<AssetSourceBuilders>()
            .map(|mut builders| builders.build_sources(false, false));
        Self { companions: Companions::new(sources) }
    }
}

impl AssetLoader for ClipLoader {
    type Asset = ClipAsset;
    type Settings = ClipSettings;
    type Error = ClipFileError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        settings: &ClipSettings,
        context: &mut LoadContext<'_>,
    ) -> Result<ClipAsset, ClipFileError> {
        let bytes = read(reader).await?;
        let clip = match AnyClip::from_bytes(&bytes) {
            Err(ClipError::Rig { hash }) => {
                let path = settings.rig.as_deref();
                let rig = self.companions.get::<Rig>(context, path, hash).await?;
                AnyClip::with_rig(bytes, &rig)
            }
            read => read,
        };
        let clip = clip.map_err(ClipFileError::Clip)?;
        let path = settings.skeleton.as_deref();
        let skeleton = self.companions.get::<Skeleton>(context, path, clip.skeleton_hash()).await?;
        ClipAsset::new(clip, skeleton).map_err(ClipFileError::Play)
    }

    fn extensions(&self) -> &[&str] {
        &["kpa", "kpd"]
    }
}

/// Loads skeletons from `.kps` files.
#[derive(TypePath, Default)]
pub struct SkeletonLoader;

impl AssetLoader for SkeletonLoader {
    type Asset = SkeletonAsset;
    type Settings = ();
    type Error = ClipFileError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        (): &(),
        context: &mut LoadContext<'_>,
    ) -> Result<SkeletonAsset, ClipFileError> {
        let skeleton = Skeleton::parse(&read(reader).await?, context.path())?;
        Ok(SkeletonAsset(skeleton.into()))
    }

    fn extensions(&self) -> &[&str] {
        &["kps"]
    }
}

async fn read(reader: &mut dyn Reader) -> Result<Vec<u8>, ClipFileError> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).await.map_err(ClipFileError::Read)?;
    Ok(bytes)
}
