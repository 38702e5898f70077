//! All tests of this crate in one program, which links only once. `cargo test -p kinepack NAME`
//! runs the tests whose paths contain NAME, for example `vectors::`.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

// These modules have code that several tests use.
mod limits;
mod reference;
mod runner;
mod states;
mod support;

// These modules are the drivers of the fuzz targets, which are public in their crate.
#[path = "../../../fuzz/src/coding.rs"]
mod coding;
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/drivers.rs"]
mod drivers;
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/entropy.rs"]
mod entropy_driver;
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/groups.rs"]
mod groups_driver;
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/profile_file.rs"]
mod profile_file;
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/records.rs"]
mod records;
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/streams.rs"]
mod streams;

mod adaptive;
mod against_reference;
mod battery;
mod coarser;
mod columns;
mod conditions;
mod corpus;
mod cuts;
// This module is public, so that `missing_docs` checks the derived code in it.
pub mod derive;
mod displace;
mod entity_bits;
mod entropy;
mod extend;
mod frames;
mod generated;
mod glam;
mod groups;
mod interpolation;
mod kinds;
mod learning;
mod magnitude;
mod newcomers;
mod optional;
mod parts;
mod pooled;
mod precision;
mod profile_files;
mod properties;
mod raw;
mod rle;
mod rounded;
mod schema_files;
mod search;
mod spawn;
mod stream;
mod stream_reference;
mod types;
mod vectors;
mod views;
