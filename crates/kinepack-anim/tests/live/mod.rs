//! Tests of the sources of live bodies: packets of VMC built by hand, recordings of faces, clips.

mod body;
mod clip;
mod corpus;
mod face;
mod packets;
mod vmc;
