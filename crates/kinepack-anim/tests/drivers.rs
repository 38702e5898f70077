//! Includes the drivers of the fuzz targets.

// The drivers' items are public for the crate of the fuzz targets.
#![allow(unreachable_pub)]

#[path = "../../../fuzz/src/anim.rs"]
pub(crate) mod anim;
#[path = "../../../fuzz/src/clip.rs"]
pub(crate) mod clip;
#[path = "../../../fuzz/src/clip_database.rs"]
pub(crate) mod clip_database;
#[path = "../../../fuzz/src/clip_disk.rs"]
pub(crate) mod clip_disk;
#[path = "../../../fuzz/src/figure.rs"]
pub(crate) mod figure;
#[path = "../../../fuzz/src/live.rs"]
pub(crate) mod live;
