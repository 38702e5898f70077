//! The parts that several comparisons share. The comparisons are the examples of this package. Each
//! compares Kinepack with other libraries, or measures it under a load, and prints a table of the
//! book.

#![forbid(unsafe_code)]

pub mod broadcast;
pub mod runs;
