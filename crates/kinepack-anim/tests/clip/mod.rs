//! Clips are written, read and played as `spec/ANIM.md` specifies. They are checked by a reader and
//! a writer that were made from that page alone.

mod any;
mod blocks;
mod edges;
mod errors;
mod exchange_files;
mod hostile;
mod joints;
mod naive;
mod numbers;
mod play;
mod small;
mod vectors;
pub(crate) mod write;
