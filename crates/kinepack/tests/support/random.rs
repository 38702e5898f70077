//! A seeded source of numbers (SplitMix64), which gives the same numbers on every platform and in
//! every release.

#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns 64 random bits.
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// Returns a number from 0 to `end` − 1; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(end)) >> 64) as u64
    }

    /// Returns a number from 0 to `max`.
    pub(crate) fn up_to(&mut self, max: u32) -> u32 {
        self.below(u64::from(max) + 1) as u32
    }

    /// Returns true once in `count` times.
    pub(crate) fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    /// Returns a number from −1 to 1.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.word() >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.word() as u8).collect()
    }

    /// Returns a packet cut short, with a bit flipped, or replaced by noise, depending on `round`.
    pub(crate) fn damaged(&mut self, packet: &[u8], round: usize) -> Vec<u8> {
        let mut bytes = packet.to_vec();
        let at = self.below(packet.len() as u64) as usize;
        match round % 3 {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            _ => {
                let len = 1 + self.below(300) as usize;
                bytes = self.bytes(len);
            }
        }
        bytes
    }
}
