//! Writes databases.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use std::sync::Arc;

use super::DatabaseError;
use super::index::{self, Entry, Lengths, Stated};
use super::owner::Owner;
use crate::{FileKind, MAX_NAME_BYTES, Rig, Skeleton, disk};

/// Collects clips of one skeleton and writes them as a database. The writer sorts clips by name, so
/// the same clips give the same bytes, regardless of the order in which they were added.
///
/// The [module](super) has an example.
#[derive(Clone, Debug)]
pub struct DatabaseWriter<'a> {
    owner: Owner,
    clips: BTreeMap<Cow<'a, str>, (Stated, Cow<'a, [u8]>)>,
    name_bytes: u64,
}

impl<'a> DatabaseWriter<'a> {
    /// Returns a writer for clips of `skeleton`, initially without clips.
    pub fn new(skeleton: &Arc<Skeleton>) -> Self {
        Self::empty(Owner::without_rig(Arc::clone(skeleton)))
    }

    /// Returns a writer for clips that may use `rig`.
    ///
    /// # Errors
    /// Returns [`DatabaseError::OtherRig`] if the rig was built for another skeleton.
    pub fn with_rig(skeleton: &Arc<Skeleton>, rig: &Arc<Rig>) -> Result<Self, DatabaseError> {
        Owner::without_rig(Arc::clone(skeleton)).with_rig(Arc::clone(rig)).map(Self::empty)
    }

    fn empty(owner: Owner) -> Self {
        Self { owner, clips: BTreeMap::new(), name_bytes: 0 }
    }

    /// Adds a block clip, or its disk file, from borrowed or owned bytes. The writer checks the
    /// whole clip, as [`ClipDatabase::clip`](super::ClipDatabase::clip) does. It unpacks a disk
    /// file for this check, but stores the file unchanged.
    ///
    /// # Errors
    /// Returns [`DatabaseError`] if the clip is invalid, is not a block clip, or belongs to another
    /// skeleton or rig. The call also fails if another clip has this name, or if the name is too
    /// long. On error, the writer adds nothing.
    pub fn add(
        &mut self,
        name: impl Into<Cow<'a, str>>,
        file: impl Into<Cow<'a, [u8]>>,
    ) -> Result<(), DatabaseError> {
        let (name, file) = (name.into(), file.into());
        let name_bytes = self.name_bytes + name.len() as u64;
        if name.len() > MAX_NAME_BYTES || u32::try_from(name_bytes).is_err() {
            return Err(DatabaseError::LongName);
        }
        let is_disk = FileKind::detect(&file) == Some(FileKind::DiskClip);
        let bytes =
            if is_disk { disk::unpack(&file).map(Cow::Owned) } else { Ok(Cow::Borrowed(&*file)) };
        let stated = Stated::new(self.owner.read(&name, bytes)?.header(), is_disk);
        match self.clips.entry(name) {
            Slot::Vacant(slot) => slot.insert((stated, file)),
            Slot::Occupied(slot) => {
                return Err(DatabaseError::SameName { name: slot.key().to_string() });
            }
        };
        self.name_bytes = name_bytes;
        Ok(())
    }

    /// Returns the number of clips.
    pub fn len(&self) -> usize {
        self.clips.len()
    }

    /// Returns whether the writer has no clips.
    pub fn is_empty(&self) -> bool {
        self.clips.is_empty()
    }

    /// Returns the bytes of the database's file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let skeleton = self.owner.skeleton.to_bytes();
        let rig = self.owner.rig.as_ref().map(|rig| rig.to_bytes()).unwrap_or_default();
        // Names are distinct, so only one can be empty. Their total length fits in 32 bits, and
        // therefore the number of clips does too.
        let lengths = Lengths {
            clips: self.clips.len() as u32,
            skeleton: skeleton.len() as u32,
            rig: rig.len() as u32,
            names: self.name_bytes as u32,
        };
        let mut bytes = [lengths.header(), skeleton, rig].concat();
        let (mut clip_end, mut name_end) = (0, 0);
        for (name, (stated, file)) in &self.clips {
            clip_end += file.len() as u64;
            name_end += name.len() as u32;
            bytes.extend(Entry { clip_end, name_end, stated: *stated }.to_bytes());
        }
        self.clips.keys().for_each(|name| bytes.extend(name.as_bytes()));
        bytes.extend(index::hash(&bytes).to_le_bytes());
        self.clips.values().for_each(|(_, file)| bytes.extend(&**file));
        bytes
    }
}
