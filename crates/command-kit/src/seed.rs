//! Parses seeds of random numbers in options.

/// Reads a seed. Use it with `allow_negative_numbers`, so that a negative number gets this error.
///
/// # Errors
/// Returns a sentence that states which seeds are allowed.
pub fn parse_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("give a whole number from 0 to {}", u64::MAX))
}
