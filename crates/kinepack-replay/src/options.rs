//! The options of a writer, and the limits of a reader.

use std::time::Duration;

use kinepack::DecodeLimits;
use kinepack_net::EventKinds;

/// The options with which a replay is written.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// The number of ticks per second, from 0.001 to 1,000,000.
    pub rate_hz: f64,
    /// The world's name, as a hint for readers.
    pub name: String,
    /// The duration of a group. A writer that is killed loses at most one group. To show a moment,
    /// a reader decodes at most one group and two frames. Short groups make a larger file, because
    /// the first frame of a group takes as many bytes as 5 to 10 later frames.
    pub group: Duration,
    /// The number of groups from one *key group* to the next, at least 1. A key group can be
    /// decoded without other groups. The first frame of any other group is coded against the first
    /// frame of its key group. Such a frame takes a third of the bytes of the key group's first
    /// frame. If a key group is damaged, all groups up to the next key group are lost.
    pub key_every: u32,
    /// The kinds of events; `None` if there are no events.
    pub events: Option<EventKinds>,
    /// Whether the file contains the codec's profile, so that any program can read the file.
    /// Without the profile, the file is smaller (by 73 kB for the cubes), but a reader must have
    /// the codec: [`ReplayReader::with_codec`](crate::ReplayReader::with_codec). Kill cams can
    /// leave the profile out, because their viewers play the same game.
    pub store_profile: bool,
}

impl ReplayOptions {
    /// Makes options for a world of `rate_hz` ticks per second, with groups of 1 second. Every
    /// eighth group is a key group. With 901 cubes at 60 Hz, the first frames of groups take a
    /// tenth of the file. A reader takes at most 20 ms to show any moment.
    pub fn at_hz(rate_hz: f64) -> Self {
        Self {
            rate_hz,
            name: "world".to_owned(),
            group: Duration::from_secs(1),
            key_every: 8,
            events: None,
            store_profile: true,
        }
    }
}

/// The limits on a reader's memory.
///
/// ```
/// use kinepack_replay::ReplayLimits;
///
/// // For a phone: 4 MiB of decoded frames for each of the two groups around the shown moment.
/// let limits = ReplayLimits { frame_bytes: 4 << 20, ..ReplayLimits::default() };
/// assert_eq!(limits.decode.max_entities, 65_536);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayLimits {
    /// The limits on a snapshot.
    pub decode: DecodeLimits,
    /// The maximum memory for the decoded frames of a group, in bytes. If this memory is too small
    /// for a group, a step back may decode the group again. The default, 64 MiB, has room for 25
    /// seconds of 901 cubes at 60 Hz. A reader keeps at most two groups, with their encoded bytes.
    pub frame_bytes: usize,
}

impl Default for ReplayLimits {
    fn default() -> Self {
        Self { decode: DecodeLimits::default(), frame_bytes: 64 << 20 }
    }
}
