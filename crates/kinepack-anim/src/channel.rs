//! The channels of a joint, and the ids of tracks. Clips of all schemes share them.

/// The channel of a joint that a track animates.
///
/// ```
/// use kinepack_anim::Channel;
///
/// assert_eq!(Channel::ALL.map(Channel::floats), [4, 3, 3]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// The rotation, a unit quaternion.
    Rotation = 0,
    /// The translation in cm.
    Translation = 1,
    /// The scale, a factor per axis.
    Scale = 2,
}

impl Channel {
    /// All channels, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::Rotation, Self::Translation, Self::Scale];

    /// Returns the lower-case name for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rotation => "rotation",
            Self::Translation => "translation",
            Self::Scale => "scale",
        }
    }

    /// Returns the number of floats in a value of this channel.
    pub const fn floats(self) -> usize {
        match self {
            Self::Rotation => 4,
            _ => 3,
        }
    }
}

/// One animated channel of one joint.
///
/// ```
/// use kinepack_anim::{Channel, TrackId};
///
/// let track = TrackId { joint: 3, channel: Channel::Rotation };
/// assert_eq!(track.channel.name(), "rotation");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TrackId {
    /// Index of the joint.
    pub joint: u16,
    /// The channel of the joint.
    pub channel: Channel,
}
