//! The battery: tries a decoder on valid data, truncated data, data with a tail, data with each bit
//! flipped, and noise.

use kinepack::DecodeError;

use super::Random;

/// The length of the longest data in which every bit is flipped. In longer data, the same number of
/// bits is flipped, spread evenly.
const ALL_FLIPS_BYTES: usize = 512;

/// Calls `decode` with everything that a decoder must survive. `decode` must read all of its input,
/// check that every accepted result is valid, and keep its state between calls. The decoder must
/// accept `valid`.
pub(crate) fn battery(
    name: &str,
    valid: &[u8],
    decode: impl FnMut(&[u8]) -> Result<(), DecodeError>,
) {
    battery_of(name, valid, Ends::Reported, decode);
}

/// The way in which a decoder treats data that are truncated or too long.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Ends {
    /// The decoder reports an error.
    Reported,
    /// The decoder reports an error, or decodes other decisions that the data encode, because the
    /// end of an arithmetic code is not marked.
    OtherDecisions,
    /// The decoder accepts such data, because the content ends with the data, so parts of it are
    /// valid too.
    OtherData,
}

pub(crate) fn battery_of(
    name: &str,
    valid: &[u8],
    ends: Ends,
    mut decode: impl FnMut(&[u8]) -> Result<(), DecodeError>,
) {
    assert_eq!(decode(valid), Ok(()), "{name}");
    for len in 0..valid.len() {
        let cut = decode(&valid[..len]);
        let is_reported = matches!(cut, Err(DecodeError::EndOfData { .. }));
        assert!(is_reported || ends != Ends::Reported, "{name}, cut to {len} bytes: {cut:?}");
    }
    for tail in [&[0][..], &[0xFF], &[0; 9], &[0xA5; 33]] {
        let extended = decode(&[valid, tail].concat());
        let at_least_bits = 8 * tail.len() as u64;
        let is_reported = matches!(extended, Err(DecodeError::TrailingData { left_bits }) if left_bits >= at_least_bits);
        // A decoder reads zeros past the end of the data. So a tail of zeros changes no decision,
        // but the data are too long.
        let has_ones = tail.iter().any(|byte| *byte != 0);
        let may_be_other = ends == Ends::OtherData || (ends == Ends::OtherDecisions && has_ones);
        assert!(is_reported || may_be_other, "{name}, {} bytes too long: {extended:?}", tail.len());
    }
    let mut random = Random::new(valid.len() as u64);
    let mut flipped = valid.to_vec();
    for bit in 0..8 * valid.len().min(ALL_FLIPS_BYTES) {
        let spread = valid.len() > ALL_FLIPS_BYTES;
        let bit = if spread { random.below(8 * valid.len() as u64) as usize } else { bit };
        flipped[bit / 8] ^= 1 << (bit % 8);
        let _ = decode(&flipped);
        flipped[bit / 8] ^= 1 << (bit % 8);
    }
    for len in (0..20).chain([31, 64, 257]) {
        let _ = decode(&vec![0; len]);
        let _ = decode(&vec![0xFF; len]);
        let _ = decode(&random.bytes(len));
        // The data keep a valid beginning, so that the noise gets past the first checks.
        let kept = random.below(valid.len() as u64 + 1) as usize;
        let _ = decode(&[&valid[..kept], &random.bytes(len)].concat());
    }
    assert_eq!(decode(valid), Ok(()), "{name}: the decoder's state has changed");
}
