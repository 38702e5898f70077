//! Rigs: the track parameters (references, axes, middles and steps) and the constants that clips of
//! the same skeleton share. See `spec/ANIM.md`, section 15.

use super::constant::{Constant, is_constant};
use super::layout::{CONSTANT_BYTES, HEADER_BYTES, hash, is_number};
use super::tracks::{Track, read_group, write_group};
use crate::file_kind::magic;
use crate::rest::{self, Rest};
use crate::{Channel, ClipError, MAX_JOINTS, TrackId};

const VERSION: u8 = 1;
const HASH_BYTES: usize = 8;
/// The format of a track in a rig: a group of one track, with 16-bit codes and without the bytes
/// that signal sharing.
const TRACK_FORMAT: (bool, bool) = (true, false);

/// Parameters and constants that clips of the same skeleton share, so that each clip is smaller. A
/// clip of a rig cannot be read without the rig. [`RigTrainer`](crate::offline::RigTrainer) makes
/// rigs.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::offline::{BuildOptions, RigTrainer};
/// # use kinepack_anim::{Joint, RawClip, Rig, Skeleton, Transform};
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let samples = (0..31).map(sample).collect();
/// # let raw = RawClip::new("slide", Arc::clone(&skeleton), 30.0, samples)?;
/// let mut trainer = RigTrainer::new(&skeleton);
/// trainer.add(&raw, &BuildOptions::default())?;
/// let file = trainer.finish().to_bytes();
///
/// let rig = Rig::from_bytes(&file)?;
/// assert_eq!(rig.tracks().len(), 1);
/// assert_eq!(rig.skeleton_hash(), skeleton.hash());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rig {
    joints: u16,
    skeleton: u64,
    hash: u64,
    /// The constants, by joint, then by channel.
    constants: Vec<(TrackId, Constant)>,
    /// The tracks: rotations, translations, scales, and within each channel by joint.
    tracks: Vec<(TrackId, Track)>,
}

impl Rig {
    /// Returns a rig for the skeleton with the hash `skeleton`. `constants` must be sorted by
    /// joint, then by channel. `tracks` must be sorted by channel, then by joint.
    #[cfg(feature = "offline")]
    pub(crate) fn new(
        joints: u16,
        skeleton: u64,
        constants: Vec<(TrackId, Constant)>,
        tracks: Vec<(TrackId, Track)>,
    ) -> Self {
        let mut rig = Self { joints, skeleton, hash: 0, constants, tracks };
        rig.hash = hash(&rig.body());
        rig
    }

    /// Reads a rig.
    ///
    /// # Errors
    /// Returns [`ClipError`], with the reason, for anything that `spec/ANIM.md` does not allow. The
    /// memory is proportional to the length of `bytes`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ClipError> {
        let head: &[u8; HEADER_BYTES] =
            rest::head(bytes, magic::RIG, VERSION).map_err(|error| match error {
                ClipError::NoClip => ClipError::NoRig,
                error => error,
            })?;
        let [.., reserved, low, high, a, b, c, d, e, f, g, h] = *head;
        let joints = u16::from_le_bytes([low, high]);
        if reserved != 0 {
            return Err(ClipError::BadHeader { field: "reserved bits" });
        }
        if !(1..=MAX_JOINTS).contains(&usize::from(joints)) {
            return Err(ClipError::BadHeader { field: "joints" });
        }
        let mut rest = Rest::new(bytes, HEADER_BYTES);
        let has = rest.take(usize::from(joints), 1, "joints")?;
        if let Some((joint, byte)) =
            has.iter().copied().enumerate().find(|(_, byte)| byte >> 6 != 0)
        {
            return Err(ClipError::BadKind { joint, byte });
        }
        let ids = |first_bit: usize| {
            let all = (0..joints)
                .flat_map(|joint| Channel::ALL.map(|channel| TrackId { joint, channel }));
            let has = move |id: &TrackId| {
                has[usize::from(id.joint)] >> (first_bit + id.channel as usize) & 1 != 0
            };
            all.filter(has)
        };
        let mut constants = Vec::new();
        for track in ids(3) {
            let mut bytes = rest.take(1, CONSTANT_BYTES[track.channel as usize], "constants")?;
            if !is_constant(track.channel, bytes) {
                return Err(ClipError::BadConstant { track });
            }
            constants.push((track, Constant::read(track.channel, &mut bytes)));
        }
        let mut tracks = Vec::new();
        for channel in Channel::ALL {
            for id in ids(0).filter(|id| id.channel == channel) {
                for track in read_group(&mut rest, &[id], TRACK_FORMAT)? {
                    let is_bad = |number: &f32| !is_number(*number);
                    if track.steps.contains(&0) || track.middle.iter().any(is_bad) {
                        return Err(ClipError::BadConstant { track: id });
                    }
                    tracks.push((id, track));
                }
            }
        }
        let body = &bytes[..rest.at()];
        let stored = rest.take(1, HASH_BYTES, "hash")?.first_chunk().copied().unwrap_or_default();
        rest.end()?;
        let hash = hash(body);
        if hash != u64::from_le_bytes(stored) {
            return Err(ClipError::BadHash);
        }
        Ok(Self {
            joints,
            skeleton: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            hash,
            constants,
            tracks,
        })
    }

    /// Returns the bytes of the rig's file. Each track takes 15 bytes, and each constant 8 or 12.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.body();
        bytes.extend(self.hash.to_le_bytes());
        bytes
    }

    /// Returns the bytes of the file without the hash at its end.
    fn body(&self) -> Vec<u8> {
        let mut bytes = magic::RIG.to_vec();
        bytes.extend([VERSION, 0]);
        bytes.extend(self.joints.to_le_bytes());
        bytes.extend(self.skeleton.to_le_bytes());
        let mut has = vec![0_u8; usize::from(self.joints)];
        let tracks = self.tracks.iter().map(|(id, _)| (id, 0));
        for (id, first_bit) in tracks.chain(self.constants.iter().map(|(id, _)| (id, 3))) {
            has[usize::from(id.joint)] |= 1 << (first_bit + id.channel as usize);
        }
        bytes.extend(has);
        self.constants.iter().for_each(|(_, constant)| constant.write(&mut bytes));
        for (_, track) in &self.tracks {
            write_group(std::slice::from_ref(track), TRACK_FORMAT, &mut bytes);
        }
        bytes
    }

    /// Returns the hash that identifies this rig in its clips.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// [`Skeleton::hash`](crate::Skeleton::hash) of the skeleton that the rig is for.
    pub fn skeleton_hash(&self) -> u64 {
        self.skeleton
    }

    /// Returns the number of joints.
    pub fn joints(&self) -> usize {
        usize::from(self.joints)
    }

    /// Returns the tracks whose parameters clips may share: rotations, then translations, then
    /// scales, each by joint.
    pub fn tracks(&self) -> impl ExactSizeIterator<Item = TrackId> + '_ {
        self.tracks.iter().map(|(id, _)| *id)
    }

    /// Returns the tracks for which the rig has a constant, by joint, then by channel.
    pub fn constants(&self) -> impl ExactSizeIterator<Item = TrackId> + '_ {
        self.constants.iter().map(|(id, _)| *id)
    }

    /// Returns the constants, by joint, then by channel.
    pub(super) fn all_constants(&self) -> &[(TrackId, Constant)] {
        &self.constants
    }

    pub(crate) fn track(&self, id: TrackId) -> Option<&Track> {
        let index = self
            .tracks
            .binary_search_by_key(&(id.channel, id.joint), |(id, _)| (id.channel, id.joint));
        index.ok().map(|index| &self.tracks[index].1)
    }

    pub(crate) fn constant(&self, id: TrackId) -> Option<Constant> {
        let index = self
            .constants
            .binary_search_by_key(&(id.joint, id.channel), |(id, _)| (id.joint, id.channel));
        index.ok().map(|index| self.constants[index].1)
    }
}
