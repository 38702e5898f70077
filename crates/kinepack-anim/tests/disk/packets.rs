//! Finds the packets of a disk file without decoding them.

/// Returns the first packet of a file.
pub(crate) fn first_packet(file: &[u8]) -> Vec<u8> {
    let after = |at: usize| at + 1 + file[at..].iter().position(|byte| *byte < 0x80).unwrap();
    let (length, packet) = (after(5), after(after(5)));
    let bytes =
        file[length..packet].iter().rev().fold(0, |sum, byte| sum << 7 | usize::from(byte & 0x7f));
    file[packet..][..bytes].to_vec()
}
