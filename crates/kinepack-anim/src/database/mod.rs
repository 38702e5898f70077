//! Clip databases: files with an index that hold thousands of clips of one skeleton, as motion
//! matching needs. See `spec/ANIM.md`, section 16.
//!
//! Opening a [`ClipDatabase`] checks its index, and reads the skeleton and the rig. It does not
//! read the clips: [`ClipDatabase::clip`] checks each clip on request. The clip shares the
//! database's bytes. A [`DatabaseWriter`] creates databases.
//!
//! ```
//! use std::sync::Arc;
//! use kinepack_anim::database::{ClipDatabase, DatabaseWriter};
//! use kinepack_anim::offline::{BuildOptions, build};
//! use kinepack_anim::{Joint, RawClip, Sampler, Skeleton, Transform};
//!
//! let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
//! let skeleton = Arc::new(Skeleton::new(vec![joint])?);
//! let mut writer = DatabaseWriter::new(&skeleton);
//! for (name, speed) in [("walk", 4.0), ("run", 9.0)] {
//!     let at = |sample: i32| [speed * sample as f32, 0.0, 0.0];
//!     let sample = |i| Transform { translation: at(i), ..Transform::IDENTITY };
//!     let samples = (0..31).map(sample).collect();
//!     let raw = RawClip::new(name, Arc::clone(&skeleton), 30.0, samples)?;
//!     let built = build(&raw, &BuildOptions::default())?;
//!     writer.add(name, built.clip.as_bytes().to_vec())?;
//! }
//! let file = writer.to_bytes();
//!
//! let database = ClipDatabase::from_bytes(file)?;
//! assert_eq!(database.len(), 2);
//! // The index has the facts that a game needs to choose a clip.
//! let longest = database.entries().max_by(|a, b| a.duration_s().total_cmp(&b.duration_s()));
//! assert_eq!(longest.map(|entry| entry.samples), Some(31));
//! let run = database.clip_named("run")?;
//! let sampler = Sampler::new(run, database.skeleton())?;
//! let mut pose = database.skeleton().bind_pose();
//! sampler.sample(0.5, &mut pose);
//! assert!((pose[0].translation[0] - 135.0).abs() < 0.1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Memory maps
//!
//! A database takes any `AsRef<[u8]>`: bytes that the program owns, `&'static [u8]`, `Arc<[u8]>`,
//! or a memory-mapped file, such as `memmap2::Mmap`. With a memory map, the system loads only the
//! pages of the index and of the clips that the game requests. Clips are not copied.
//!
//! **The file must not change while it is mapped**: no program may write to it or shorten it. A
//! clip is checked once, and the kernels rely on that check. If the clip's bytes change later,
//! playing it is undefined behaviour. If the file is shortened, reading past its end terminates the
//! program. That is why creating a map needs `unsafe`. To install an update, write a new file and
//! rename it: the map keeps the old file. A program that cannot guarantee this should read the file
//! instead: `ClipDatabase::from_bytes(fs::read(path)?)`.

mod bytes;
mod error;
mod index;
mod owner;
mod write;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use index::{HEADER_BYTES, Parts, Stated};
use owner::Owner;

use crate::{Clip, Rig, Skeleton, disk};

pub use bytes::ClipBytes;
pub use error::DatabaseError;
pub use write::DatabaseWriter;

/// Many clips of one skeleton in the bytes of a database file, which are owned, borrowed or
/// memory-mapped.
///
/// The database keeps the skeleton and the rig in memory, but no data for each clip. Clones share
/// that memory.
pub struct ClipDatabase<B = Vec<u8>> {
    bytes: Arc<B>,
    parts: Parts,
    owner: Owner,
}

/// The facts that a database's index stores about a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClipEntry<'a> {
    /// The clip's name.
    pub name: &'a str,
    /// Number of sample times of the raw clip that the clip was built from.
    pub samples: usize,
    /// Samples per second.
    pub rate_hz: f32,
    /// Whether the clip loops: its last sample equals the first.
    pub loops: bool,
    /// Number of curves.
    pub curves: usize,
    /// Whether the clip has markers or curve names.
    pub is_labelled: bool,
    /// Whether the clip uses the database's rig.
    pub is_of_rig: bool,
    /// Whether the clip is stored as a disk file, which is unpacked each time the clip is read.
    pub is_disk: bool,
    /// Size of the clip in the file, in bytes.
    pub bytes: usize,
}

impl ClipEntry<'_> {
    /// Seconds from the first sample to the last.
    pub fn duration_s(&self) -> f32 {
        (self.samples - 1) as f32 / self.rate_hz
    }
}

impl<B: AsRef<[u8]>> ClipDatabase<B> {
    /// Opens the database in `bytes`: checks its index, and reads the skeleton and the rig. The
    /// call neither copies the bytes nor reads the clips. Its time grows with the index, which
    /// takes about 24 bytes and a name per clip.
    ///
    /// # Errors
    /// Returns [`DatabaseError`], with the reason, for anything that `spec/ANIM.md` does not allow.
    /// The memory is proportional to the lengths of the skeleton and the rig.
    pub fn from_bytes(bytes: B) -> Result<Self, DatabaseError> {
        let file = bytes.as_ref();
        let parts = Parts::read(file)?;
        parts.check_hash(file)?;
        let skeleton = Skeleton::from_bytes(&file[HEADER_BYTES..parts.rig]);
        let skeleton = Arc::new(skeleton.map_err(DatabaseError::Skeleton)?);
        let mut owner = Owner::without_rig(skeleton);
        if parts.rig < parts.entries {
            let rig = Rig::from_bytes(&file[parts.rig..parts.entries]);
            owner = owner.with_rig(Arc::new(rig.map_err(DatabaseError::Rig)?))?;
        }
        parts.check(file, owner.skeleton.len() as u16)?;
        Ok(Self { parts, owner, bytes: Arc::new(bytes) })
    }

    /// Returns the bytes of the whole file.
    pub fn as_bytes(&self) -> &[u8] {
        B::as_ref(&self.bytes)
    }

    /// Returns the skeleton of all clips.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.owner.skeleton
    }

    /// Returns the rig that clips share, if there is one.
    pub fn rig(&self) -> Option<&Arc<Rig>> {
        self.owner.rig.as_ref()
    }

    /// Returns the number of clips.
    pub fn len(&self) -> usize {
        self.parts.count
    }

    /// Returns whether the database has no clips.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the facts that the index stores about a clip.
    ///
    /// # Panics
    /// Panics if `index` is not below the number of clips.
    #[track_caller]
    pub fn entry(&self, index: usize) -> ClipEntry<'_> {
        self.check_index(index);
        let ranges = self.parts.ranges(self.as_bytes(), index);
        let Stated { samples, rate_hz, curves, .. } = ranges.stated;
        ClipEntry {
            name: std::str::from_utf8(&self.as_bytes()[ranges.name]).unwrap_or_default(),
            samples: samples as usize,
            rate_hz,
            loops: ranges.stated.loops(),
            curves: usize::from(curves),
            is_labelled: ranges.stated.is_labelled(),
            is_of_rig: ranges.stated.is_of_rig(),
            is_disk: ranges.stated.is_disk(),
            bytes: ranges.clip.len(),
        }
    }

    /// Returns the facts that the index stores about all clips, sorted by name.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = ClipEntry<'_>> {
        (0..self.len()).map(|index| self.entry(index))
    }

    /// Returns the index of the clip named `name`, found by a binary search, or `None` if no clip
    /// has this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        let index = self.first(|other| other >= name.as_bytes());
        (index < self.len() && self.name(index) == name.as_bytes()).then_some(index)
    }

    /// Returns the indices of the clips whose names begin with `prefix`, such as `"walk/"`.
    pub fn starting_with(&self, prefix: &str) -> Range<usize> {
        let prefix = prefix.as_bytes();
        let is_after = |name: &[u8]| name > prefix && !name.starts_with(prefix);
        self.first(|name| name >= prefix)..self.first(is_after)
    }

    /// Reads and checks a clip. The clip shares the database's bytes. A clip stored as a disk file
    /// is unpacked instead. A clip remains valid after the database is dropped. The time grows with
    /// the clip's length, so a game should read a clip once and share it.
    ///
    /// # Errors
    /// Returns [`DatabaseError::Clip`], with the reason, for an invalid clip. Returns
    /// [`OtherSkeleton`](DatabaseError::OtherSkeleton) or [`OtherClip`](DatabaseError::OtherClip)
    /// for a clip that does not fit the database. The memory is proportional to the clip's length.
    /// For a disk file, [`UnpackLimits`](disk::UnpackLimits) limit the memory.
    ///
    /// # Panics
    /// Panics if `index` is not below the number of clips.
    #[track_caller]
    pub fn clip(&self, index: usize) -> Result<Clip<ClipBytes<B>>, DatabaseError> {
        self.check_index(index);
        let ranges = self.parts.ranges(self.as_bytes(), index);
        let bytes = if ranges.stated.is_disk() {
            disk::unpack(&self.as_bytes()[ranges.clip]).map(ClipBytes::own)
        } else {
            Ok(ClipBytes::shared(&self.bytes, ranges.clip))
        };
        let name = self.entry(index).name;
        let clip = self.owner.read(name, bytes)?;
        if Stated::new(clip.header(), ranges.stated.is_disk()) != ranges.stated {
            return Err(DatabaseError::OtherClip { name: name.to_owned() });
        }
        Ok(clip)
    }

    /// Reads and checks the clip named `name`, like [`clip`](Self::clip).
    ///
    /// # Errors
    /// Fails as [`clip`](Self::clip) does, and with [`DatabaseError::NoSuchClip`] if no clip has
    /// this name.
    pub fn clip_named(&self, name: &str) -> Result<Clip<ClipBytes<B>>, DatabaseError> {
        let index = self.find(name);
        let missing = || DatabaseError::NoSuchClip { name: name.to_owned() };
        self.clip(index.ok_or_else(missing)?)
    }

    /// Returns the bytes of a clip as the database stores them: a `.kpa` or `.kpd` file. The method
    /// does not check the bytes.
    ///
    /// # Panics
    /// Panics if `index` is not below the number of clips.
    #[track_caller]
    pub fn file(&self, index: usize) -> &[u8] {
        self.check_index(index);
        &self.as_bytes()[self.parts.ranges(self.as_bytes(), index).clip]
    }

    #[track_caller]
    fn check_index(&self, index: usize) {
        assert!(index < self.len(), "clip {index} of a database of {} clips", self.len());
    }

    fn name(&self, index: usize) -> &[u8] {
        self.parts.name(self.as_bytes(), index)
    }

    /// Returns the index of the first clip whose name satisfies `is_reached`. Names are sorted, so
    /// `is_reached` must be false up to some name and true from there on.
    fn first(&self, is_reached: impl Fn(&[u8]) -> bool) -> usize {
        let mut range = 0..self.len();
        while !range.is_empty() {
            let middle = range.start + range.len() / 2;
            if is_reached(self.name(middle)) {
                range.end = middle;
            } else {
                range.start = middle + 1;
            }
        }
        range.start
    }
}

// `Clone` and `Debug` are not derived, because bytes of any type `B` may be neither `Clone` nor
// short enough to print.
impl<B> Clone for ClipDatabase<B> {
    fn clone(&self) -> Self {
        Self { bytes: Arc::clone(&self.bytes), parts: self.parts, owner: self.owner.clone() }
    }
}

impl<B> fmt::Debug for ClipDatabase<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClipDatabase").field("clips", &self.parts.count).finish_non_exhaustive()
    }
}
