//! Tests of figures: a server with bodies, and clients that show them over a simulated link.

#![cfg(feature = "figure")]

mod clips;
mod entities;
mod parts;
mod refused;
mod rewind;
mod support;
mod tiers;
