//! Makes codecs from the files that a page passes.

use kinepack::{Codec, Level, Profile, Schema};
use wasm_bindgen::JsError;

use crate::failed;

/// Makes a codec from a schema file, a level's name, and a profile file. An empty profile file
/// stands for the untrained profile.
///
/// # Errors
/// Fails if the files do not fit together, or the level is unknown.
pub fn codec(schema: &[u8], level: &str, profile: &[u8]) -> Result<Codec, JsError> {
    let schema = Schema::from_bytes(schema).map_err(failed)?;
    let level = level_named(level)?;
    let profile = match profile {
        [] => Profile::untrained(&schema),
        bytes => Profile::from_bytes(bytes, &schema).map_err(failed)?,
    };
    Codec::new(schema, level, profile).map_err(failed)
}

/// The level with the name `name`.
///
/// # Errors
/// Fails if no level has this name.
pub fn level_named(name: &str) -> Result<Level, JsError> {
    Level::named(name).ok_or_else(|| {
        failed(format_args!("no level is named {name:?}; use packed, adaptive or learning"))
    })
}
