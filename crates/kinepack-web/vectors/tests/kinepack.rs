//! Tests of the frozen vectors of the codec, from the tests of `kinepack`.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "../../../kinepack/tests/reference/mod.rs"]
mod reference;
#[path = "../../../kinepack/tests/runner/mod.rs"]
mod runner;
#[path = "../../../kinepack/tests/support/mod.rs"]
mod support;

#[path = "../../../kinepack/tests/adaptive.rs"]
mod adaptive;
#[path = "../../../kinepack/tests/against_reference.rs"]
mod against_reference;
#[path = "../../../kinepack/tests/frames/vectors.rs"]
mod breaks;
#[path = "../../../kinepack/tests/coarser/vectors.rs"]
mod coarser;
#[path = "../../../kinepack/tests/conditions.rs"]
mod conditions;
#[path = "../../../kinepack/tests/kinds.rs"]
mod kinds;
#[path = "../../../kinepack/tests/learning.rs"]
mod learning;
#[path = "../../../kinepack/tests/magnitude.rs"]
mod magnitude;
#[path = "../../../kinepack/tests/precision.rs"]
mod precision;
#[path = "../../../kinepack/tests/profile_files.rs"]
mod profile_files;
#[path = "../../../kinepack/tests/rle.rs"]
mod rle;
#[path = "../../../kinepack/tests/schema_files.rs"]
mod schema_files;
#[path = "../../../kinepack/tests/stream_reference.rs"]
mod stream_reference;
#[path = "../../../kinepack/tests/vectors.rs"]
mod vectors;
