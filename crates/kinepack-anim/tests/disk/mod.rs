//! Tests disk files. Unpacking returns every bit of the packed clip, and invalid files are refused.

mod corpus;
mod hostile;
mod made;
pub(crate) mod packets;
mod round_trips;
mod vectors;
