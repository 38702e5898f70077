//! The errors of this crate: one flat enum each for setup, encoding and decoding.

mod baselines;
mod decode;
mod encode;
mod setup;

use core::fmt;

pub use baselines::BaselinesError;
pub use decode::DecodeError;
pub use encode::EncodeError;
pub use setup::SetupError;

/// The message of [`EncodeError`] and [`DecodeError`] for a type that has another schema.
struct OtherType {
    expected_hash: u64,
    hash: u64,
}

impl fmt::Display for OtherType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expected_hash, hash } = self;
        write!(
            f,
            "the type's schema is {hash:016x}, but {expected_hash:016x} is expected; use the type \
             that the schema was made from"
        )
    }
}
