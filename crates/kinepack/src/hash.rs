//! FNV-1a with 64 bits: tells schemas, codecs and states apart that were made in good faith. No
//! cryptography.

/// A hash in the making: FNV-1a with 64 bits, which tells things apart that were made in good
/// faith. No cryptography.
#[derive(Clone, Debug)]
pub struct Fnv1a(u64);

impl Fnv1a {
    /// The hash of nothing.
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Goes on over `bytes`.
    pub fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// A list of bytes, its length (u32) first.
    pub(crate) fn add_list(&mut self, bytes: &[u8]) {
        self.add(&(bytes.len() as u32).to_le_bytes());
        self.add(bytes);
    }

    /// The hash of all that was added.
    pub fn finish(&self) -> u64 {
        self.0
    }
}

impl Default for Fnv1a {
    fn default() -> Self {
        Self::new()
    }
}
