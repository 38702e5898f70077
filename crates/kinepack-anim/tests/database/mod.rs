//! Clip databases: clips are found and read as they were added, a second reader written from
//! `spec/ANIM.md` alone agrees, and invalid files are refused.

mod corpus;
mod hostile;
mod made;
mod reader;
mod reading;
mod vectors;
mod writing;
