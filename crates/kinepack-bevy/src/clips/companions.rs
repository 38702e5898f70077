//! The files that a clip needs besides its own: its skeleton and its rig. A clip stores the hashes
//! of both. If a skeleton or rig with that hash is already in memory, the clip shares it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bevy_asset::io::AssetSources;
use bevy_asset::{AssetPath, LoadContext};
use futures_lite::StreamExt;
use kinepack_anim::{Rig, Skeleton};

use super::ClipFileError;

/// A kind of file that clips need.
pub(super) trait Kind: Sized + Send + Sync + 'static {
    const WHAT: &'static str;
    const EXTENSION: &'static str;

    /// Reads a file. `path` is for the error message.
    fn parse(bytes: &[u8], path: &AssetPath<'_>) -> Result<Self, ClipFileError>;

    fn known(companions: &Companions) -> &Known<Self>;
}

impl Kind for Skeleton {
    const WHAT: &'static str = "skeleton";
    const EXTENSION: &'static str = "kps";

    fn parse(bytes: &[u8], path: &AssetPath<'_>) -> Result<Self, ClipFileError> {
        Self::from_bytes(bytes)
            .map_err(|error| ClipFileError::Skeleton { path: path.to_string(), error })
    }

    fn known(companions: &Companions) -> &Known<Self> {
        &companions.skeletons
    }
}

impl Kind for Rig {
    const WHAT: &'static str = "rig";
    const EXTENSION: &'static str = "kpr";

    fn parse(bytes: &[u8], path: &AssetPath<'_>) -> Result<Self, ClipFileError> {
        Self::from_bytes(bytes)
            .map_err(|error| ClipFileError::Rig { path: path.to_string(), error })
    }

    fn known(companions: &Companions) -> &Known<Self> {
        &companions.rigs
    }
}

/// The files of one kind in memory, by hash.
pub(super) type Known<K> = Mutex<HashMap<u64, Weak<K>>>;

pub(super) struct Companions {
    /// The sources of assets, to list folders.
    sources: Option<AssetSources>,
    skeletons: Known<Skeleton>,
    rigs: Known<Rig>,
}

impl Companions {
    pub(super) fn new(sources: Option<AssetSources>) -> Self {
        Self { sources, skeletons: Known::default(), rigs: Known::default() }
    }

    /// The skeleton or rig with the hash `hash`, from memory, or else from a file. `chosen` is the
    /// path of the file relative to the clip's folder.
    pub(super) async fn get<K: Kind>(
        &self,
        context: &mut LoadContext<'_>,
        chosen: Option<&str>,
        hash: u64,
    ) -> Result<Arc<K>, ClipFileError> {
        if let Some(known) = known(K::known(self)).get(&hash).and_then(Weak::upgrade) {
            return Ok(known);
        }
        let (path, bytes) = match chosen {
            Some(chosen) => {
                let path = context.path().resolve_embed_str(chosen).map_err(|error| {
                    ClipFileError::Path { path: chosen.to_owned(), reason: error.to_string() }
                })?;
                let bytes = context.read_asset_bytes(&path).await;
                let bytes = bytes.map_err(|error| ClipFileError::Companion {
                    path: path.to_string(),
                    reason: error.to_string(),
                })?;
                (path, bytes)
            }
            None => self.find::<K>(context, hash).await?,
        };
        let parsed = Arc::new(K::parse(&bytes, &path)?);
        let mut known = known(K::known(self));
        known.retain(|_, weak| weak.strong_count() > 0);
        known.insert(hash, Arc::downgrade(&parsed));
        Ok(parsed)
    }

    /// Reads the file of the clip's folder whose name ends with the hash.
    async fn find<K: Kind>(
        &self,
        context: &mut LoadContext<'_>,
        hash: u64,
    ) -> Result<(AssetPath<'static>, Vec<u8>), ClipFileError> {
        let clip = context.path().clone();
        let at = |path: PathBuf| AssetPath::from_path_buf(path).with_source(clip.source().clone());
        let stem = clip.path().file_stem().unwrap_or_default().to_string_lossy();
        let asset = stem.split("__").next().unwrap_or_default();
        let end = format!("{hash:016x}.{}", K::EXTENSION);
        let usual = at(clip.path().with_file_name(format!("{asset}-{end}"))).into_owned();
        if let Ok(bytes) = context.read_asset_bytes(&usual).await {
            return Ok((usual, bytes));
        }
        let folder = clip.path().parent().unwrap_or(Path::new(""));
        let listed = self.list(&clip, folder, &end).await.map(|path| at(path).into_owned());
        let missing = || ClipFileError::Missing {
            what: K::WHAT,
            extension: K::EXTENSION,
            hash,
            folder: at(folder.to_owned()).to_string(),
        };
        let path = listed.ok_or_else(missing)?;
        let bytes = context.read_asset_bytes(&path).await.map_err(|_| missing())?;
        Ok((path, bytes))
    }

    /// The path of the file in `folder` whose name ends with `end`.
    async fn list(&self, clip: &AssetPath<'_>, folder: &Path, end: &str) -> Option<PathBuf> {
        let source = self.sources.as_ref()?.get(clip.source()).ok()?;
        let mut files = source.reader().read_directory(folder).await.ok()?;
        let is_wanted = |path: &PathBuf| path.to_string_lossy().ends_with(end);
        files.find(is_wanted).await
    }
}

/// Locks the map. A panic in another thread leaves it valid.
fn known<K>(known: &Known<K>) -> std::sync::MutexGuard<'_, HashMap<u64, Weak<K>>> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}
