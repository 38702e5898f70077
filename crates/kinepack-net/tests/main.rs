//! The tests are one program, which must be linked only once. `cargo test -p kinepack-net NAME`
//! runs the tests whose paths contain NAME.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

// The tests share these modules.
#[path = "reference/mod.rs"]
mod naive;
#[path = "../../kinepack/tests/runner/mod.rs"]
mod runner;
mod support;

// These modules drive the fuzz targets, and are public in `kinepack-fuzz`.
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/net.rs"]
mod net;
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/net_rewind.rs"]
mod net_rewind;
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/net_stream.rs"]
mod net_stream;

mod against_reference;
mod battery;
mod budgets;
mod caller;
mod channels;
mod client;
mod codecs;
mod corpus;
mod costs;
mod cuts;
mod events;
mod extrapolation;
mod faults;
mod frames;
mod groups;
mod hostile;
mod input_clock;
mod kinds;
mod link;
mod link_trace;
mod no_drift;
mod older_views;
mod playout;
mod precision;
mod predict;
mod properties;
mod rates;
mod rewind;
mod rewind_frames;
mod rings;
mod sharing;
mod stream;
mod turns;
mod vectors;
