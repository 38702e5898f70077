//! Reads and writes bytes as the vectors of `spec/vectors/` hold them.

use kinepack::{Profile, Schema};

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn from_hex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// Reads the profile at the beginning of a file of vectors.
pub(crate) fn profile_of(vectors: &str, schema: &Schema) -> Profile {
    let profile = vectors.lines().find_map(|line| line.strip_prefix("profile ")).unwrap();
    Profile::from_bytes(&from_hex(profile), schema).unwrap()
}
