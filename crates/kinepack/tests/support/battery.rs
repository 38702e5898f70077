//! The battery: a decoder is given valid data, cut data, data with a tail, data with each bit
//! turned, and noise.

use kinepack::DecodeError;

use super::Random;

/// The longest data of which every bit is turned; of longer ones as many bits, spread over them.
const ALL_FLIPS_BYTES: usize = 512;

/// Gives `decode` everything that a decoder must survive. `decode` reads all of what it is given,
/// checks by itself that what it accepts is valid, and keeps whatever state it has from call to
/// call. `valid` is what it must accept.
pub(crate) fn battery(
    name: &str,
    valid: &[u8],
    decode: impl FnMut(&[u8]) -> Result<(), DecodeError>,
) {
    battery_of(name, valid, Ends::Told, decode);
}

/// What a decoder says of data that are cut or too long.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Ends {
    /// That they are.
    Told,
    /// That they are no data, or what other decisions they are the one form of: the end of an
    /// arithmetic code is not marked.
    OtherDecisions,
    /// Nothing: the end of the data is the end of what they hold, so parts of them are valid.
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
        let is_told = matches!(cut, Err(DecodeError::EndOfData { .. }));
        assert!(is_told || ends != Ends::Told, "{name}, cut to {len} bytes: {cut:?}");
    }
    for tail in [&[0][..], &[0xFF], &[0; 9], &[0xA5; 33]] {
        let extended = decode(&[valid, tail].concat());
        let at_least_bits = 8 * tail.len() as u64;
        let is_told = matches!(extended, Err(DecodeError::TrailingData { left_bits }) if left_bits >= at_least_bits);
        // Zeros are what a decoder takes to be behind the end: they change no decision, and are too
        // many.
        let has_ones = tail.iter().any(|byte| *byte != 0);
        let may_be_other = ends == Ends::OtherData || (ends == Ends::OtherDecisions && has_ones);
        assert!(is_told || may_be_other, "{name}, {} bytes too long: {extended:?}", tail.len());
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
        // A valid beginning, so that the noise gets past the first checks.
        let kept = random.below(valid.len() as u64 + 1) as usize;
        let _ = decode(&[&valid[..kept], &random.bytes(len)].concat());
    }
    assert_eq!(decode(valid), Ok(()), "{name}: the decoder is not what it was");
}
