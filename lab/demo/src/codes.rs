//! Converts codecs to the form that a page reads.

use kinepack::Codec;
use serde::Serialize;

/// A codec without its profile.
#[derive(Debug, Serialize)]
pub struct Codes {
    /// The schema file in hexadecimal digits.
    pub schema: String,
    pub level: &'static str,
}

impl Codes {
    pub fn of(codec: &Codec) -> Self {
        Self { schema: hex(&codec.schema().to_bytes()), level: codec.level().name() }
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
