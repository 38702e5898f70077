//! Tests clip databases. Clips are found by name and read as they were added, and invalid files are
//! refused. A second reader, written from `spec/ANIM.md` alone, gives the same results.

mod corpus;
mod hostile;
mod made;
mod reader;
mod reading;
mod vectors;
mod writing;
