//! From tracks to the keys of a file: each track is given the doubled ends that four keys at a time
//! need, and all keys go into the order in which playback needs them. `spec/ANM.md`, section 4.
//! Cost: one sort of the keys.
//!
//! Why the order is exact. Playback keeps four keys a track, P0 to P3, all of time 0 before the
//! first; at a time it takes the next key of the file as long as that time is not before P2 of the
//! key's track. When key n of a track comes, keys before it have come, so P3 is key n − 1 and P2 is
//! key n − 2: key n is *needed* from the time of key n − 2 on, the first two keys from the start.
//! The keys are sorted by that. So at each time those that are needed are a beginning of the file,
//! and the key at which playback stops is the first one that is not: all tracks hold what they
//! would if each were read alone. Needs do not decrease along a track, hence a stable sort keeps
//! each track's own order.

use super::AnmError;
use crate::keyed::Key;
use crate::{Channel, MAX_JOINTS};

/// The last time of a clip.
pub(super) const END: u16 = u16::MAX;

/// The keys of one channel of one joint, quantized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnmTrack {
    /// Index of the joint.
    pub joint: u16,
    /// What of it.
    pub channel: Channel,
    /// Times, 0 to 65535 over the duration, and values as in [`Key::value`]. Times increase; the
    /// first is 0 and the last 65535, but that of a single key says nothing.
    pub keys: Vec<(u16, [u16; 3])>,
}

impl AnmTrack {
    /// A track that does not move.
    pub fn constant(joint: u16, channel: Channel, value: [u16; 3]) -> Self {
        Self { joint, channel, keys: vec![(0, value)] }
    }

    /// With the first and the last key twice, or a single one four times, at the start.
    fn doubled(&self) -> impl Iterator<Item = Key> {
        let (first, last) = (self.keys.first(), self.keys.last());
        let is_single = self.keys.len() == 1;
        let before = std::iter::repeat_n(first, if is_single { 2 } else { 1 });
        let all = before.chain(self.keys.iter().map(Some)).chain([last]).flatten();
        all.map(move |&(time, value)| {
            let time = if is_single { 0 } else { time };
            Key { time, joint: self.joint, channel: self.channel, value }
        })
    }

    fn has_good_times(&self) -> bool {
        let ends = [self.keys.first(), self.keys.last()].map(|key| key.map(|(time, _)| *time));
        self.keys.len() == 1
            || ends == [Some(0), Some(END)] && self.keys.is_sorted_by(|a, b| a.0 < b.0)
    }
}

/// The keys of tracks of `joints` joints in the order of playback, for
/// [`Anm::new`](super::Anm::new): first four of each track, then each key from the time on at which
/// it is needed, of those alike the one of the earlier track first. A track of n keys takes n + 2,
/// a single key four.
///
/// A joint without a track of a channel plays no rotation, no translation or a scale of one there,
/// not its bind pose: [`fill_missing`].
///
/// # Errors
/// [`AnmError`] where there are too many joints, or a track is empty, of no joint, there twice, or
/// its times do not increase from 0 to 65535.
pub fn order(joints: usize, tracks: &[AnmTrack]) -> Result<Vec<Key>, AnmError> {
    if joints > MAX_JOINTS {
        return Err(AnmError::TooManyJoints { joints: joints as u64 });
    }
    let mut is_there = vec![[false; 3]; joints];
    let mut needed = Vec::with_capacity(tracks.iter().map(|track| track.keys.len() + 3).sum());
    for (index, track) in tracks.iter().enumerate() {
        let Some(is_there) = is_there.get_mut(usize::from(track.joint)) else {
            return Err(AnmError::TrackOfNoJoint { track: index, joint: track.joint });
        };
        if std::mem::replace(&mut is_there[track.channel as usize], true) {
            return Err(AnmError::TrackTwice { track: index });
        }
        if track.keys.is_empty() {
            return Err(AnmError::EmptyTrack { track: index });
        }
        if !track.has_good_times() {
            return Err(AnmError::BadTrackTimes { track: index });
        }
        // The times of the two keys before, which for the first two are those of no keys.
        let mut before = [0; 2];
        needed.extend(track.doubled().map(|key| {
            let need = before[0];
            before = [before[1], key.time];
            (need, key)
        }));
    }
    needed.sort_by_key(|(need, _)| *need);
    Ok(needed.into_iter().map(|(_, key)| key).collect())
}

/// Adds a constant track for each channel of each of `joints` joints that has none, with the value
/// that `value` says: of the bind pose, mostly.
pub fn fill_missing(
    tracks: &mut Vec<AnmTrack>,
    joints: usize,
    mut value: impl FnMut(u16, Channel) -> [u16; 3],
) {
    let mut is_there = vec![[false; 3]; joints.min(MAX_JOINTS)];
    for track in tracks.iter() {
        if let Some(is_there) = is_there.get_mut(usize::from(track.joint)) {
            is_there[track.channel as usize] = true;
        }
    }
    for (joint, is_there) in (0..).zip(is_there) {
        for channel in Channel::ALL.into_iter().filter(|channel| !is_there[*channel as usize]) {
            tracks.push(AnmTrack::constant(joint, channel, value(joint, channel)));
        }
    }
}
