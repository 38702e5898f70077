//! All tests of this crate in one program, which links only once.
//! `cargo test -p kinepack-capture NAME` runs the tests whose paths contain NAME.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

// These modules have code that several tests use.
mod files;
#[path = "../../kinepack/tests/runner/mod.rs"]
mod runner;
mod stored;

// This module has the drivers of the fuzz targets, which are public in their crate.
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/capture.rs"]
mod driver;

mod analysis;
mod capture;
mod capture_hostile;
mod capture_properties;
mod coarser;
mod corpus;
mod foreign;
mod guide;
mod kinds;
mod limits;
