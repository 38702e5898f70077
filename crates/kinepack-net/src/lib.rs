//! Snapshots over lossy networks, without input or output.

#![forbid(unsafe_code)]
