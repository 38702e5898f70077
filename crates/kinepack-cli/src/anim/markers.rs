//! Reads the markers of `--markers FILE`.

use std::path::{Path, PathBuf};

use clap::Args;
use kinepack_anim::Marker;
use serde::Deserialize;

use super::sources::Source;
use crate::anim::error::AnimError;

/// The option that names the file.
#[derive(Args, Clone, Debug)]
pub(crate) struct MarkerArguments {
    /// Add markers to the clips: a JSON file like [{ "time_s": 0.4, "name": "foot_left" }], with
    /// times from the clip's start. "clip" limits a marker to the clip of this name.
    #[arg(long, value_name = "FILE.json")]
    markers: Option<PathBuf>,
}

/// A marker of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InFile {
    name: String,
    time_s: f32,
    clip: Option<String>,
}

impl InFile {
    /// Returns whether the marker is for the clip `clip`. The name of the animation is enough.
    fn is_for(&self, clip: &str) -> bool {
        let Some(name) = &self.clip else { return true };
        let is_animation =
            || clip.strip_suffix(name.as_str()).is_some_and(|file| file.ends_with("__"));
        clip == name || is_animation()
    }
}

impl MarkerArguments {
    pub(crate) fn file(&self) -> Option<PathBuf> {
        self.markers.clone()
    }

    /// Adds the markers to the clips that they are for.
    pub(crate) fn add_to(&self, sources: &mut [Source]) -> Result<(), AnimError> {
        let Some(path) = &self.markers else { return Ok(()) };
        let text = std::fs::read(path)
            .map_err(|error| AnimError::ClipFile { path: path.clone(), error })?;
        let markers: Vec<InFile> =
            serde_json::from_slice(&text).map_err(|error| bad(path, error.to_string()))?;
        for marker in &markers {
            if !sources.iter().any(|source| marker.is_for(source.raw.name())) {
                let clip = marker.clip.as_deref().unwrap_or_default();
                let names: Vec<&str> = sources.iter().map(|source| source.raw.name()).collect();
                let names = names.join(", ");
                return Err(bad(path, format!("no clip {clip}; the clips are {names}")));
            }
        }
        for source in sources {
            let raw = &source.raw;
            let own = markers.iter().filter(|marker| marker.is_for(raw.name()));
            let own = own
                .map(|InFile { name, time_s, .. }| Marker { name: name.clone(), time_s: *time_s });
            let all = raw.markers().iter().cloned().chain(own).collect();
            let with_all = raw.clone().with_markers(all);
            source.raw = with_all.map_err(|error| bad(path, format!("{}: {error}", raw.name())))?;
        }
        Ok(())
    }
}

fn bad(path: &Path, reason: String) -> AnimError {
    AnimError::BadClip { path: path.to_owned(), reason }
}
