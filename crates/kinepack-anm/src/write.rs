//! Writes an [`Anm`] as bytes: the header, the keys, the jump caches and the joints, without gaps.
//! An [`Anm`] is already validated, so writing cannot fail. The same content gives the same file on
//! every platform. See `spec/ANM.md`, sections 2 and 3. Writing takes one pass.

use kinepack_anim::keyed::{Key, VectorRange};

use crate::Anm;
use crate::layout::{HEAD_BYTES, MAGIC, OFFSET_BASE};

/// The number of bytes at the start of the file that the size in the header does not count.
const SIZE_BASE: usize = 16;

impl Anm {
    /// Encodes the file. Apart from the returned bytes, the method allocates nothing.
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = &self.head;
        let caches_at = HEAD_BYTES + Key::BYTES * self.keys.len();
        let joints_at = caches_at + self.index_bytes() * self.jump_indices.len();
        let bytes = joints_at + 4 * self.joints.len();

        let mut out = Vec::with_capacity(bytes);
        let mut word = |word: u32| out.extend_from_slice(&word.to_le_bytes());
        MAGIC
            .chunks_exact(4)
            .for_each(|four| word(u32::from_le_bytes([four[0], four[1], four[2], four[3]])));
        word(head.version);
        word((bytes - SIZE_BASE) as u32);
        [head.format_token, head.flags, self.joints.len() as u32, self.keys.len() as u32]
            .into_iter()
            .for_each(&mut word);
        word(self.jump_cache_count);
        [head.duration_s, head.rate_hz].map(f32::to_bits).into_iter().for_each(&mut word);
        for error in &head.errors {
            [error.margin, error.discontinuity].map(f32::to_bits).into_iter().for_each(&mut word);
        }
        for VectorRange { min, max } in [&head.translation, &head.scale] {
            min.iter().chain(max).for_each(|end| word(end.to_bits()));
        }
        [HEAD_BYTES, caches_at, joints_at]
            .into_iter()
            .for_each(|at| word((at - OFFSET_BASE) as u32));
        debug_assert_eq!(out.len(), HEAD_BYTES);

        self.keys.iter().for_each(|key| out.extend_from_slice(&key.to_bytes()));
        for index in &self.jump_indices {
            out.extend_from_slice(&index.to_le_bytes()[..self.index_bytes()]);
        }
        self.joints.iter().for_each(|hash| out.extend_from_slice(&hash.to_le_bytes()));
        debug_assert_eq!(out.len(), bytes);
        out
    }
}

/// Returns the hash by which a file identifies a joint. It is the hash of ELF symbol tables,
/// computed over the name in lower case.
///
/// ```
/// assert_eq!(kinepack_anm::elf_hash("Root"), 0x0007_9664);
/// ```
pub fn elf_hash(name: &str) -> u32 {
    name.to_lowercase().bytes().fold(0_u32, |hash, byte| {
        let hash = (hash << 4).wrapping_add(byte.into());
        let high = hash & 0xf000_0000;
        (hash ^ high >> 24) & !high
    })
}
