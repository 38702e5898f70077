//! This library is empty, because the tests of this crate are those of other crates.
