//! The crate's table of widths. It has 255 profiles each for block length 8, for block length 16,
//! and for both pieces of block length 32.

static WIDTHS: &[u8; 255 * (8 + 16 + 16 + 16)] = include_bytes!("../../src/block/widths.bin");

/// Returns the indices of each piece's coefficients, in a segment of `length` samples with block
/// length `n`.
pub(crate) fn pieces(n: usize, length: usize) -> Vec<std::ops::Range<usize>> {
    if n == 32 { vec![0..length.min(16), length.min(16)..length] } else { vec![0..length; 1] }
}

/// Returns the widths of a profile.
pub(crate) fn profile(n: usize, piece: usize, number: u8) -> &'static [u8] {
    assert_ne!(number, 255);
    let (before, length) = match (n, piece) {
        (8, 0) => (0, 8),
        (16, 0) => (8, 16),
        (32, 0) => (24, 16),
        (32, 1) => (40, 16),
        _ => panic!("no piece {piece} of blocks of {n}"),
    };
    &WIDTHS[255 * before + usize::from(number) * length..][..length]
}
