//! Kinepack for C: snapshots of moving things in few bits. `include/kinepack.h` contains the same
//! documentation for C.
//!
//! # Rules of every function
//!
//! - *Result.* A function returns a [`KpStatus`]. If it is not `KP_STATUS_OK`, the object has not
//!   changed, except for its counters, and [`kp_error_text`](status::kp_error_text) returns the
//!   reason to the same thread. The comments of some functions name exceptions. After
//!   `KP_STATUS_SIZE`, the count that the caller passed holds the number that is needed.
//! - *Handles.* An object is a handle: a number with a generation. `kp_…_new` and similar functions
//!   return a handle, which the caller frees with `kp_…_free`. Only a [`KpShown`](shown::KpShown)
//!   belongs to another object. Freed handles, handles of another type and all-zero handles are
//!   refused, so a wrong handle never reaches memory.
//! - *Memory.* The library reads and writes the caller's memory only during a call, and never frees
//!   or keeps it. Until the call returns, a pointer must be valid for its count of items, and no
//!   other thread may write there. A pointer may be null if its count is 0.
//! - *Panics.* No panic leaves the library: it becomes `KP_STATUS_PANIC`.
//! - *Threads.* Any thread may call with any handle. Calls that change one object wait for each
//!   other.

// The functions are for C, and their comments become the comments of the header.
#![allow(clippy::missing_safety_doc, reason = "the rules above hold for every function")]

pub mod anm;
pub mod bytes;
pub mod catalogue;
pub mod clip;
pub mod codec;
pub mod coding;
pub mod columns;
pub mod datagrams;
pub mod events;
pub mod extrapolation;
pub mod figure;
pub mod figure_clips;
pub mod figure_options;
mod figure_places;
pub mod figure_push;
pub mod group;
mod handles;
pub mod hub;
pub mod hub_budget;
pub mod hub_rewind;
pub mod hub_rings;
pub mod input_clock;
pub mod magnitude;
mod memory;
pub mod pose;
pub mod predict;
pub mod predict_correct;
pub mod predict_read;
pub mod predict_step;
pub mod publisher;
pub mod receiver;
pub mod recording;
pub mod replay;
pub mod schema;
pub mod schema_builder;
pub mod seen;
pub mod shown;
pub mod shown_places;
mod shown_rows;
pub mod skeleton;
pub mod snapshot;
pub mod status;
pub mod stream;
pub mod stream_codec;
pub mod stream_ticks;
pub mod values;
pub mod viewer;

pub use status::KpStatus;
