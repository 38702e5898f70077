//! Implements 64-bit FNV-1a, which distinguishes schemas, codecs and states. FNV-1a is not
//! cryptographic: an attacker can forge a hash.

/// A 64-bit FNV-1a hasher. This hash is not cryptographic.
///
/// ```
/// use kinepack::hash::Fnv1a;
///
/// let mut hash = Fnv1a::new();
/// hash.add(b"kine");
/// hash.add(b"pack");
/// let mut whole = Fnv1a::new();
/// whole.add(b"kinepack");
/// assert_eq!(hash.finish(), whole.finish());
/// ```
#[derive(Clone, Debug)]
pub struct Fnv1a(u64);

impl Fnv1a {
    /// Makes a hasher without input.
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds `bytes` to the hash.
    pub fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Adds the length of `bytes` as a `u32`, then the bytes.
    pub(crate) fn add_list(&mut self, bytes: &[u8]) {
        self.add(&(bytes.len() as u32).to_le_bytes());
        self.add(bytes);
    }

    /// Returns the hash of all bytes that were added.
    pub fn finish(&self) -> u64 {
        self.0
    }
}

impl Default for Fnv1a {
    fn default() -> Self {
        Self::new()
    }
}
