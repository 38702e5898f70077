//! Tests of streams: client and server under virtual time over seeded bad links, hostile packets,
//! properties, and frozen vectors.

mod allocations;
mod hostile;
mod naive;
mod properties;
mod rate;
mod session;
mod vectors;
mod world;
