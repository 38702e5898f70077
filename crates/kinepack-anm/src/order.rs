//! Turns tracks into the keys of a file. The first and last key of each track are doubled, because
//! playback works on four keys at a time. All keys are then sorted into the order in which playback
//! needs them. See `spec/ANM.md`, section 4. The conversion sorts the keys once.
//!
//! The order is exact for the following reason. Playback keeps four keys per track, P0 to P3, all
//! with time 0 before the first key. At a given time, playback takes the next key of the file,
//! unless the given time is before P2 of the key's track. When key n of a track is next, playback
//! has taken all earlier keys of the track. P3 is then key n − 1, and P2 is key n − 2. Key n is
//! therefore *needed* from the time of key n − 2 on, and the first two keys from the start. The
//! keys are sorted by the time from which they are needed. Therefore, at each time the needed keys
//! are a prefix of the file, and playback stops at the first key that is not needed yet. Each track
//! then holds the same keys as if it were read alone. The times from which keys are needed never
//! decrease along a track, so a stable sort keeps each track's own order.

use kinepack_anim::keyed::Key;
use kinepack_anim::{Channel, MAX_JOINTS};

use crate::AnmError;

/// The last key time of a clip.
pub(crate) const END: u16 = u16::MAX;

/// The keys of one channel of one joint, quantized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnmTrack {
    /// Index of the joint.
    pub joint: u16,
    /// The channel of the joint.
    pub channel: Channel,
    /// The times, from 0 to 65535 over the duration, and the values as in [`Key::value`]. Times
    /// increase from 0 at the first key to 65535 at the last. If there is only one key, its time is
    /// ignored.
    pub keys: Vec<(u16, [u16; 3])>,
}

impl AnmTrack {
    /// Returns a track with one value.
    pub fn constant(joint: u16, channel: Channel, value: [u16; 3]) -> Self {
        Self { joint, channel, keys: vec![(0, value)] }
    }

    /// Returns the track's keys, with the first and the last key twice. A single key is
    /// repeated four times, at time 0.
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

/// Returns the keys of the tracks of `joints` joints in playback order, for
/// [`Anm::new`](crate::Anm::new). The first four keys of each track come first. The other keys are
/// sorted by the time from which they are needed. If two keys are needed at the same time, the key
/// of the earlier track comes first. A track of n keys becomes n + 2 keys, and a single key becomes
/// four.
///
/// A channel without a track does not play its bind pose: it plays no rotation, no translation or a
/// scale of one. [`fill_missing`] adds the missing tracks.
///
/// # Errors
/// Returns [`AnmError`] if there are too many joints. The call also fails if a track is empty,
/// repeats an earlier track or has a joint that does not exist, or if its times do not increase
/// from 0 to 65535.
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
        // The times of the two previous keys of the track, or zero if there are none.
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

/// Adds a constant track for each channel of the `joints` joints that has no track. The function
/// `value` returns the track's value, usually that of the bind pose.
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
