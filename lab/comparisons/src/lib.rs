//! The parts that several comparisons share. The comparisons are the examples of this package: each
//! measures Kinepack beside other libraries, or under a load, and prints a table of the book.

#![forbid(unsafe_code)]

pub mod broadcast;
pub mod runs;
