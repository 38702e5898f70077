//! Stores an `f32` as a word of a raw column: the bits of the same number as an `f64`. A NaN keeps
//! its payload, which a conversion by the processor may change.

/// Returns the word of the `f32` with these bits.
pub fn to_word(bits: u32) -> u64 {
    let number = f32::from_bits(bits);
    if number.is_nan() {
        return u64::from(bits >> 31) << 63 | 0x7FF << 52 | u64::from(bits & 0x7F_FFFF) << 29;
    }
    f64::from(number).to_bits()
}

/// Returns the bits of the `f32` that has this word, if there is one.
pub fn to_f32_bits(word: u64) -> Option<u32> {
    let number = f64::from_bits(word);
    let single = if number.is_nan() {
        ((word >> 63) as u32) << 31 | 0x7F80_0000 | ((word >> 29) as u32 & 0x7F_FFFF)
    } else {
        (number as f32).to_bits()
    };
    (to_word(single) == word).then_some(single)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singles_keep_their_bits() {
        for bits in
            [0, 0x8000_0000, 1, 0x7F80_0000, 0x7F80_0001, 0xFFC1_2345, 0x7FFF_FFFF, 0x3F80_0001]
        {
            assert_eq!(to_f32_bits(to_word(bits)), Some(bits), "{bits:x}");
        }
        assert_eq!(to_f32_bits(0.1f64.to_bits()), None);
    }
}
