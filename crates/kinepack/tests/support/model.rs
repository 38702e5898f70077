//! A naive bit cursor: a vector of bits and a position.

#[derive(Clone, Debug, Default)]
pub(crate) struct BitModel {
    bits: Vec<bool>,
    position: usize,
}

impl BitModel {
    /// Makes a cursor over the bits of `bytes`, least significant first.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let bits =
            bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).collect();
        Self { bits, position: 0 }
    }

    pub(crate) fn len_bits(&self) -> u64 {
        self.bits.len() as u64
    }

    pub(crate) fn position_bits(&self) -> u64 {
        self.position as u64
    }

    pub(crate) fn left_bits(&self) -> u64 {
        (self.bits.len() - self.position) as u64
    }

    pub(crate) fn write(&mut self, value: u64, bits: u32) {
        self.bits.extend((0..bits).map(|bit| value >> bit & 1 == 1));
    }

    /// Appends zero bits up to the next multiple of 8.
    pub(crate) fn pad(&mut self) {
        self.bits.resize(self.bits.len().next_multiple_of(8), false);
    }

    /// Returns the bits in bytes, with the last byte padded.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let byte =
            |bits: &[bool]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
        self.bits.chunks(8).map(byte).collect()
    }

    /// Returns the next `bits` bits, with zeros past the end. The position does not change.
    pub(crate) fn peek(&self, bits: u32) -> u64 {
        let next = self.bits[self.position..].iter().take(bits as usize);
        next.zip(0..).map(|(bit, place)| u64::from(*bit) << place).sum()
    }

    /// Reads the next `bits` bits. If fewer are left, returns `None` and does not change the
    /// position.
    pub(crate) fn read(&mut self, bits: u32) -> Option<u64> {
        if u64::from(bits) > self.left_bits() {
            return None;
        }
        let value = self.peek(bits);
        self.position += bits as usize;
        Some(value)
    }

    /// Returns the number of bits up to the next multiple of 8.
    pub(crate) fn padding_bits(&self) -> u32 {
        (self.position.next_multiple_of(8) - self.position) as u32
    }
}
