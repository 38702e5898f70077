//! The WebAssembly modules with which the program's pages receive, and the JavaScript around them.
//! `crates/kinepack-web/build.sh` makes them.

use command_kit::page::File;

/// The module of the demo, and the JavaScript that loads it.
pub const MODULE: &[File] = &[
    ("module/demo.js", include_bytes!("module/demo.js")),
    ("module/demo_bg.wasm", include_bytes!("module/demo_bg.wasm")),
    ("memory.js", include_bytes!("../../../crates/kinepack-web/package/memory.js")),
];

/// Includes files of the npm package under the same paths as in the package.
#[cfg(any(feature = "broadcast", feature = "web"))]
macro_rules! package {
    ($($name:literal,)*) => {
        &[$((
            concat!("kinepack/", $name),
            include_bytes!(concat!("../../../crates/kinepack-web/package/", $name)).as_slice(),
        )),*]
    };
}

/// The files with which a page joins a server.
#[cfg(feature = "web")]
pub const JOINING: &[File] = package![
    "connection.js",
    "frame.js",
    "memory.js",
    "module/snapshots.js",
    "module/snapshots_bg.wasm",
    "snapshots.js",
];

/// The files with which a page watches a broadcast.
#[cfg(feature = "broadcast")]
pub const WATCHING: &[File] = package![
    "connection.js",
    "crowd.js",
    "frame.js",
    "memory.js",
    "module/crowd.js",
    "module/crowd_bg.wasm",
    "moq.js",
];
