//! Kinepack for JavaScript: the WebAssembly part of the npm package in `package/`.
//!
//! A page can read a world of any schema, because the schema arrives as bytes. The states are
//! columns in the module's memory, which the package shows as typed arrays without copying them.
//! This crate only converts between the types of Rust and JavaScript. The JavaScript in `package/`
//! turns this into the interface that programs use.
//!
//! `build.sh` builds the package's modules. Each module has the classes of one feature. The public
//! functions and types are for crates with modules of their own, such as the demo's.

#[cfg(feature = "clips")]
mod clips;
mod codec;
#[cfg(feature = "figures")]
mod figure_lanes;
#[cfg(feature = "figures")]
mod figures;
mod in_world;
#[cfg(feature = "snapshots")]
mod input_clock;
#[cfg(any(feature = "clips", feature = "figures"))]
mod pose;
#[cfg(feature = "snapshots")]
mod receiver;
mod schema;
mod shown;
#[cfg(any(feature = "clips", feature = "figures"))]
mod skeleton;
#[cfg(feature = "snapshots")]
mod stream;
mod tables;
#[cfg(feature = "crowd")]
mod viewer;

use std::time::Duration;

use wasm_bindgen::JsError;

pub use self::codec::{codec, level_named};
pub use self::schema::described;
pub use self::shown::Shown;
pub use self::tables::places;

/// Converts a page's time. A time that is negative, NaN or too large counts as 0.
pub fn time(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default()
}

/// Makes a JavaScript error with the message of `error`.
pub fn failed(error: impl core::fmt::Display) -> JsError {
    JsError::new(&error.to_string())
}
