//! The drivers of the fuzz targets, one for each target, and the worlds that the drivers share with
//! the tests of `kinepack`.

pub mod anim;
pub mod anm;
pub mod capture;
pub mod challenge;
pub mod clip;
pub mod clip_database;
pub mod clip_disk;
mod coding;
pub mod crowd;
pub mod drivers;
pub mod entropy;
pub mod figure;
pub mod groups;
pub mod live;
pub mod net;
pub mod net_rewind;
pub mod net_stream;
pub mod profile_file;
pub mod records;
pub mod replay;
pub mod streams;

#[path = "../../crates/kinepack/tests/support/mod.rs"]
mod support;
