//! Clip databases: clips are found and read as they were added, a second reader written from
//! `spec/ANIM.md` alone agrees, and invalid files are refused.

#![allow(clippy::unwrap_used)]

#[path = "../corpora/mod.rs"]
mod corpora;
mod corpus;
// Its items are public for the crate of the fuzz targets.
#[allow(unreachable_pub)]
#[path = "../../../../fuzz/src/clip_database.rs"]
mod driver;
mod hostile;
mod made;
mod memory;
// Shared with the tests of clips, which use all of its items.
#[allow(dead_code)]
#[path = "../clip/naive.rs"]
mod naive;
mod reader;
mod reading;
#[path = "../../../kinepack/tests/runner/mod.rs"]
mod runner;
#[allow(dead_code)]
#[path = "../clip/support.rs"]
mod support;
mod vectors;
mod writing;
