//! What of a joint moves, and the names of tracks: the same for all clips.

/// What of a joint a track moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// A unit quaternion.
    Rotation = 0,
    /// In cm.
    Translation = 1,
    /// A factor an axis.
    Scale = 2,
}

impl Channel {
    /// In the order of their codes.
    pub const ALL: [Self; 3] = [Self::Rotation, Self::Translation, Self::Scale];

    /// In lower case, as reports say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rotation => "rotation",
            Self::Translation => "translation",
            Self::Scale => "scale",
        }
    }

    /// How many floats a value has.
    pub const fn floats(self) -> usize {
        match self {
            Self::Rotation => 4,
            _ => 3,
        }
    }
}

/// One animated channel of one joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TrackId {
    /// Index of the joint.
    pub joint: u16,
    /// What of the joint.
    pub channel: Channel,
}
