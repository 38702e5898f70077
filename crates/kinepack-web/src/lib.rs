//! Kinepack for JavaScript: the WebAssembly part of the npm package in `package/`.
//!
//! A page reads a world of any schema, because the schema comes as bytes. The states are columns in
//! the module's memory, which the package shows as typed arrays without copying them. This crate
//! only translates between the types of Rust and JavaScript. The package's own part, in
//! `package/`, gives it the shape that people see.
//!
//! `build.sh` makes the modules of the package.

#[cfg(feature = "clips")]
mod clips;
#[cfg(feature = "demo")]
mod costs;
#[cfg(any(feature = "demo", feature = "snapshots"))]
mod receiver;
#[cfg(any(feature = "crowd", feature = "demo", feature = "snapshots"))]
mod schema;
#[cfg(any(feature = "crowd", feature = "demo", feature = "snapshots"))]
mod shown;
#[cfg(feature = "demo")]
mod simulation;
#[cfg(feature = "snapshots")]
mod stream;
#[cfg(any(feature = "crowd", feature = "demo", feature = "snapshots"))]
mod tables;
#[cfg(feature = "crowd")]
mod viewer;

use wasm_bindgen::JsError;

/// The time of a page. Times that do not exist count as the start.
#[cfg(any(feature = "crowd", feature = "demo", feature = "snapshots"))]
fn time(ms: f64) -> std::time::Duration {
    std::time::Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default()
}

/// An error of JavaScript with this message.
fn failed(error: impl core::fmt::Display) -> JsError {
    JsError::new(&error.to_string())
}
