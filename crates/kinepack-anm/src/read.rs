//! Reads an [`Anm`] from bytes: the header, then the three blocks at the offsets in the header. The
//! bytes are untrusted. Every count is checked against the available bytes before anything is
//! allocated, so memory stays within a small multiple of the file's length. [`Anm::new`] checks
//! fields and keys, both for files and for new content. See `spec/ANM.md`, sections 2, 3 and 7.
//! Reading takes one pass.

use kinepack_anim::MAX_JOINTS;
use kinepack_anim::keyed::{Key, VectorRange};

use crate::layout::{HEAD_BYTES, INDICES_PER_JOINT, MAGIC, OFFSET_BASE, index_bytes};
use crate::{Anm, AnmBlock, AnmError, AnmHead, ErrorMargin};

impl Anm {
    /// Reads a file. Ignores the size in its header and any bytes outside of its blocks.
    ///
    /// # Errors
    /// Returns [`AnmError`] if the file is truncated, its counts exceed its contents, its blocks
    /// overlap, or [`Anm::new`] refuses its contents.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, AnmError> {
        if bytes.get(..MAGIC.len()) != Some(&MAGIC) {
            return Err(AnmError::NoAnmFile);
        }
        let Some(head) = bytes.first_chunk() else {
            return Err(AnmError::TruncatedHead { bytes: bytes.len() });
        };
        let mut fields = Fields { head, at: MAGIC.len() };
        let version = fields.word();
        let _resource_bytes = fields.word();
        let [format_token, flags, joint_count, key_count] = [(); 4].map(|()| fields.word());
        let count = fields.word() as i32;
        let jump_cache_count =
            u32::try_from(count).map_err(|_| AnmError::NegativeCacheCount { count })?;
        let head = AnmHead {
            version,
            format_token,
            flags,
            duration_s: fields.float(),
            rate_hz: fields.float(),
            errors: [(); 3]
                .map(|()| ErrorMargin { margin: fields.float(), discontinuity: fields.float() }),
            translation: fields.range(),
            scale: fields.range(),
        };
        // This check precedes the offsets, because another version may store them elsewhere.
        head.validate()?;
        if joint_count as usize > MAX_JOINTS {
            return Err(AnmError::TooManyJoints { joints: joint_count.into() });
        }
        let index_bytes = index_bytes(key_count as usize);
        let cache_bytes = u128::from(joint_count) * (INDICES_PER_JOINT * index_bytes) as u128;
        let lengths = [
            (AnmBlock::Keys, u128::from(key_count) * Key::BYTES as u128),
            (AnmBlock::JumpCaches, u128::from(jump_cache_count) * cache_bytes),
            (AnmBlock::Joints, u128::from(joint_count) * 4),
        ];
        let [keys, caches, joints] =
            blocks(bytes, lengths.map(|(block, length)| (block, fields.word() as i32, length)))?;

        let joints = joints.chunks_exact(4).map(word_of).collect();
        let mut list = Vec::with_capacity(keys.len() / Key::BYTES);
        for (index, bytes) in keys.chunks_exact(Key::BYTES).enumerate() {
            let key = bytes.first_chunk().and_then(|bytes| Key::from_bytes(*bytes));
            list.push(key.ok_or(AnmError::BadChannel { key: index })?);
        }
        let jump_indices = caches.chunks_exact(index_bytes).map(word_of).collect();
        let anm = Self { jump_cache_count, jump_indices, ..Self::new(head, joints, list)? };
        anm.validate_size(jump_cache_count)?;
        Ok(anm)
    }
}

/// Reads the header's fields in order. With the magic, they take [`HEAD_BYTES`] bytes.
struct Fields<'a> {
    head: &'a [u8; HEAD_BYTES],
    at: usize,
}

impl Fields<'_> {
    fn word(&mut self) -> u32 {
        self.at += 4;
        word_of(&self.head[self.at - 4..self.at])
    }

    fn float(&mut self) -> f32 {
        f32::from_bits(self.word())
    }

    fn range(&mut self) -> VectorRange {
        let mut vector = || [self.float(), self.float(), self.float()];
        VectorRange { min: vector(), max: vector() }
    }
}

/// Converts two or four little-endian bytes to a number.
fn word_of(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

/// Returns the bytes of the three blocks, given their offsets and lengths. Each block must lie
/// after the header and within the file, and no two may overlap.
fn blocks(bytes: &[u8], places: [(AnmBlock, i32, u128); 3]) -> Result<[&[u8]; 3], AnmError> {
    let mut found = [&bytes[..0]; 3];
    let mut taken = [(0, 0, AnmBlock::Keys); 3];
    for (index, (block, offset, block_bytes)) in places.into_iter().enumerate() {
        let begin = usize::try_from(offset).ok().map(|offset| offset + OFFSET_BASE);
        let Some(begin) = begin.filter(|begin| *begin >= HEAD_BYTES) else {
            return Err(AnmError::BadOffset { block, offset });
        };
        let rest = bytes.get(begin..).filter(|rest| rest.len() as u128 >= block_bytes);
        let Some(rest) = rest else {
            return Err(AnmError::PastEnd { block, begin, block_bytes, bytes: bytes.len() });
        };
        found[index] = &rest[..block_bytes as usize];
        taken[index] = (begin, begin + found[index].len(), block);
    }
    taken.sort_by_key(|(begin, end, _)| (*begin, *end));
    for pair in taken.windows(2) {
        let [(_, end, first), (begin, _, second)] = [pair[0], pair[1]];
        if begin < end {
            return Err(AnmError::Overlap { first, second });
        }
    }
    Ok(found)
}
