//! The module of WebAssembly with which the demo's pages receive. `crates/kinepack-web/build.sh`
//! makes it.

use command_kit::page::File;

/// The module, and what loads it.
pub const MODULE: &[File] = &[
    ("module/demo.js", include_bytes!("module/demo.js")),
    ("module/demo_bg.wasm", include_bytes!("module/demo_bg.wasm")),
    ("memory.js", include_bytes!("../../kinepack-web/package/memory.js")),
];
