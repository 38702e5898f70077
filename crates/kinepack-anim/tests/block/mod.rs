//! Tests block clips. The builder, reader and player are compared with a second writer, reader and
//! player that were written from `spec/ANIM.md` alone.

mod build;
mod cubic;
mod curves;
mod far;
mod hostile;
mod instructions;
mod large;
mod motions;
pub(crate) mod naive;
mod play;
mod rigs;
mod small;
mod vectors;
mod waves;
mod widths;
pub(crate) mod write;
