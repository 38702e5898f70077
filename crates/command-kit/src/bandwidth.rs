//! Converts bytes to kilobits per second.

/// The bytes of a snapshot's headers, as the article counts them: 28 for IP and UDP, and 4 for a
/// packet header with sequence, baseline and flags.
pub const HEADER_BYTES: f64 = 28.0 + 4.0;

/// Returns the bandwidth in kilobits per second of packets of `bytes` bytes.
pub fn kbps(bytes: f64, rate_hz: impl Into<f64>) -> f64 {
    bytes * 8.0 * rate_hz.into() / 1000.0
}
