//! The header and the index of a database, which precede the clips. The index has an entry for each
//! clip. An entry is decoded from the bytes on each access, so opening a database builds no table.
//! See `spec/ANIM.md`, section 16.1.

use std::ops::Range;

use kinepack::hash::Fnv1a;

use crate::block::{BlockLength, Header, Interpolation};
use crate::file_kind::magic;
use crate::{DatabaseError, FileKind, MAX_NAME_BYTES};

pub(super) const VERSION: u8 = 1;
pub(super) const HEADER_BYTES: usize = 24;
pub(super) const ENTRY_BYTES: usize = 24;
pub(super) const HASH_BYTES: usize = 8;

const LOOPS: u8 = 1;
const OF_RIG: u8 = 2;
const LABELLED: u8 = 4;
const DISK: u8 = 8;

/// The lengths that the header states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    /// Number of clips.
    pub(super) clips: u32,
    /// Size of the skeleton in bytes.
    pub(super) skeleton: u32,
    /// Size of the rig in bytes, or 0 if there is none.
    pub(super) rig: u32,
    /// Size of all names in bytes.
    pub(super) names: u32,
}

impl Lengths {
    pub(super) fn header(self) -> Vec<u8> {
        let mut bytes = magic::DATABASE.to_vec();
        bytes.extend([VERSION, 0, 0, 0]);
        for number in [self.clips, self.skeleton, self.rig, self.names] {
            bytes.extend(number.to_le_bytes());
        }
        bytes
    }
}

/// The offset of each part of the head after the skeleton, and the offset at which the head ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    pub(super) rig: usize,
    pub(super) entries: usize,
    pub(super) names: usize,
    pub(super) hash: usize,
    pub(super) clips: usize,
    /// Number of clips.
    pub(super) count: usize,
}

impl Parts {
    /// Reads the header, and checks that the bytes contain the whole head that the header
    /// describes.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, DatabaseError> {
        if !bytes.starts_with(&magic::DATABASE) {
            return Err(FileKind::detect(bytes)
                .map_or(DatabaseError::NoDatabase, |found| DatabaseError::OtherFile { found }));
        }
        let header: &[u8; HEADER_BYTES] =
            bytes.first_chunk().ok_or(DatabaseError::EndOfData { part: "header" })?;
        let [_, _, _, _, version, reserved @ ..] = *header;
        if version != VERSION {
            return Err(DatabaseError::Version { version, newest: VERSION });
        }
        if reserved[..3] != [0; 3] {
            return Err(DatabaseError::BadHeader);
        }
        let number = |at| u64::from(u32_at(header, at));
        let lengths =
            [number(12), number(16), number(8) * ENTRY_BYTES as u64, number(20), HASH_BYTES as u64];
        let mut at = HEADER_BYTES as u64;
        let [rig, entries, names, hash, clips] = lengths.map(|length| {
            at += length;
            at
        });
        // The last part ends within the file, so every offset is at most the file's length and fits
        // in a `usize`.
        if clips > bytes.len() as u64 {
            return Err(DatabaseError::EndOfData { part: "index" });
        }
        let [rig, entries, names, hash, clips] =
            [rig, entries, names, hash, clips].map(|at| at as usize);
        Ok(Self { rig, entries, names, hash, clips, count: number(8) as usize })
    }

    /// Decodes entry `index`, without checking it.
    fn entry(&self, bytes: &[u8], index: usize) -> Entry {
        let at = self.entries + ENTRY_BYTES * index;
        let entry = bytes.get(at..).and_then(<[u8]>::first_chunk).copied();
        Entry::read(&entry.unwrap_or_default())
    }

    /// Returns the offsets at which the clip and the name of entry `index` begin. They equal the
    /// ends that the previous entry stores.
    fn begin(&self, bytes: &[u8], index: usize) -> (u64, u32) {
        let before = index.checked_sub(1).map(|before| self.entry(bytes, before));
        before.map_or((0, 0), |before| (before.clip_end, before.name_end))
    }

    /// Returns the ranges of a clip and its name, and the facts that the index states about the
    /// clip. Opening the database has checked the ranges.
    pub(super) fn ranges(&self, bytes: &[u8], index: usize) -> ClipRanges {
        let Entry { clip_end, name_end, stated } = self.entry(bytes, index);
        let (clip, name) = self.begin(bytes, index);
        let [name, name_end] = [name, name_end].map(|at| self.names + at as usize);
        let [clip, clip_end] = [clip, clip_end].map(|at| self.clips + at as usize);
        ClipRanges { stated, name: name..name_end, clip: clip..clip_end }
    }

    /// Returns the bytes of a clip's name.
    pub(super) fn name<'a>(&self, bytes: &'a [u8], index: usize) -> &'a [u8] {
        bytes.get(self.ranges(bytes, index).name).unwrap_or_default()
    }

    /// Checks the hash of the head.
    pub(super) fn check_hash(&self, bytes: &[u8]) -> Result<(), DatabaseError> {
        let is_right = hash(&bytes[..self.hash]).to_le_bytes() == bytes[self.hash..self.clips];
        if is_right { Ok(()) } else { Err(DatabaseError::BadHash) }
    }

    /// Checks all entries and names.
    pub(super) fn check(&self, bytes: &[u8], joints: u16) -> Result<(), DatabaseError> {
        let names = &bytes[self.names..self.hash];
        let clip_bytes = (bytes.len() - self.clips) as u64;
        let (mut clip, mut name, mut before): (u64, u32, Option<&[u8]>) = (0, 0, None);
        for index in 0..self.count {
            let bad = |reason| DatabaseError::BadEntry { entry: index, reason };
            let entry = self.entry(bytes, index);
            let own = names.get(name as usize..entry.name_end as usize);
            let own = own.ok_or(bad("its name is outside of the names"))?;
            if own.len() > MAX_NAME_BYTES {
                return Err(bad("its name is too long"));
            }
            if std::str::from_utf8(own).is_err() {
                return Err(bad("its name is not UTF-8"));
            }
            if before.is_some_and(|before| before >= own) {
                return Err(bad("its name does not come after the previous one"));
            }
            if entry.clip_end <= clip {
                return Err(bad("it has no bytes"));
            }
            if entry.clip_end > clip_bytes {
                return Err(DatabaseError::EndOfData { part: "clips" });
            }
            entry.check(joints, self.rig < self.entries).map_err(bad)?;
            (clip, name, before) = (entry.clip_end, entry.name_end, Some(own));
        }
        if name as usize != names.len() {
            return Err(DatabaseError::BadEntry {
                entry: self.count,
                reason: "there are more names than clips",
            });
        }
        match clip_bytes - clip {
            0 => Ok(()),
            bytes => Err(DatabaseError::TrailingData { bytes }),
        }
    }
}

/// The ranges of a clip and its name in the file.
pub(super) struct ClipRanges {
    pub(super) stated: Stated,
    pub(super) name: Range<usize>,
    pub(super) clip: Range<usize>,
}

/// An entry of the index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) clip_end: u64,
    pub(super) name_end: u32,
    pub(super) stated: Stated,
}

/// The facts that an entry of the index states about its clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stated {
    pub(super) samples: u32,
    pub(super) rate_hz: f32,
    pub(super) curves: u16,
    bits: u8,
}

impl Entry {
    fn read(bytes: &[u8; ENTRY_BYTES]) -> Self {
        let [a, b, c, d, e, f, g, h, ..] = *bytes;
        let [.., first, second, bits, zero] = *bytes;
        // If the last byte is not 0, the next line sets bits that no clip has, so that the check
        // refuses the entry.
        let bits = if zero == 0 { bits } else { u8::MAX };
        let stated = Stated {
            samples: u32_at(bytes, 12),
            rate_hz: f32::from_bits(u32_at(bytes, 16)),
            curves: u16::from_le_bytes([first, second]),
            bits,
        };
        let clip_end = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        Self { clip_end, name_end: u32_at(bytes, 8), stated }
    }

    pub(super) fn to_bytes(self) -> [u8; ENTRY_BYTES] {
        let Stated { samples, rate_hz, curves, bits } = self.stated;
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..8].copy_from_slice(&self.clip_end.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.name_end.to_le_bytes());
        bytes[12..16].copy_from_slice(&samples.to_le_bytes());
        bytes[16..20].copy_from_slice(&rate_hz.to_le_bytes());
        bytes[20..22].copy_from_slice(&curves.to_le_bytes());
        bytes[22] = bits;
        bytes
    }

    /// Checks the facts that the entry states about its clip.
    fn check(&self, joints: u16, has_rig: bool) -> Result<(), &'static str> {
        let Stated { samples, rate_hz, curves, bits } = self.stated;
        if bits > LOOPS | OF_RIG | LABELLED | DISK {
            return Err("unknown bits");
        }
        if self.stated.is_of_rig() && !has_rig {
            return Err("it needs a rig, and the database has none");
        }
        let header = Header {
            block: BlockLength::N8,
            loops: self.stated.loops(),
            is_fine: false,
            blends: false,
            is_of_rig: self.stated.is_of_rig(),
            offset_bytes: 1,
            joints,
            samples,
            rate_hz,
            curves,
            is_labelled: self.stated.is_labelled(),
            interpolation: Interpolation::default(),
        };
        header.check().map_err(|_| "its samples, rate or curves are out of range")
    }
}

impl Stated {
    /// Returns the facts that the entry of a clip must state, from the clip's header.
    pub(super) fn new(header: &Header, is_disk: bool) -> Self {
        let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        let bits = bit(header.loops, LOOPS)
            | bit(header.is_of_rig, OF_RIG)
            | bit(header.is_labelled, LABELLED)
            | bit(is_disk, DISK);
        let Header { samples, rate_hz, curves, .. } = *header;
        Self { samples, rate_hz, curves, bits }
    }

    pub(super) fn loops(self) -> bool {
        self.bits & LOOPS != 0
    }

    pub(super) fn is_of_rig(self) -> bool {
        self.bits & OF_RIG != 0
    }

    pub(super) fn is_labelled(self) -> bool {
        self.bits & LABELLED != 0
    }

    pub(super) fn is_disk(self) -> bool {
        self.bits & DISK != 0
    }
}

/// Returns the hash of the head's bytes.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let mut hash = Fnv1a::new();
    hash.add(bytes);
    hash.finish()
}

fn u32_at(bytes: &[u8; 24], at: usize) -> u32 {
    let number = bytes.get(at..).and_then(<[u8]>::first_chunk).copied();
    u32::from_le_bytes(number.unwrap_or_default())
}
