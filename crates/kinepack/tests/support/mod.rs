//! Code that the tests and the fuzz targets share: a seeded source of numbers, worlds of every kind
//! of field, and checks for any codec and any input.

// Each test binary compiles this module, but uses only a part of it.
#![allow(dead_code, unused_imports)]
#![allow(clippy::unwrap_used)]

mod battery;
mod bodies;
mod hex;
mod model;
mod random;
mod state_check;
mod subject;
mod vectors;
mod walk;
mod worlds;

pub(crate) use battery::{Ends, battery, battery_of};
pub(crate) use bodies::{bodies, bodies_run, trained};
pub(crate) use hex::{from_hex, hex, profile_of};
pub(crate) use model::BitModel;
pub(crate) use random::Random;
pub(crate) use state_check::naive_check;
pub(crate) use subject::{DECODED, Subject, assert_valid, at_tick, views};
pub(crate) use vectors::{
    Numbers, PACKETS, StreamPacket, check_stored_schema, packet_lines, packets_profiles,
    packets_schema, packets_states, schema_lines, stream_packets, stream_records, stream_schema,
};
pub(crate) use walk::{Walk, records_schema};
pub(crate) use worlds::{World, bodies_schema, frames, profiles, schema, schemas};
