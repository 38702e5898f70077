//! Limits of the format, which writers observe and readers check.

/// The maximum number of frames in a group.
pub(crate) const MOST_FRAMES: usize = 1 << 16;
/// The maximum number of bytes of a message that a reader accepts.
pub(crate) const MOST_BYTES: usize = 1 << 26;
/// The maximum size of a group, in bytes. It is below `MOST_BYTES`, because a group's message
/// begins with the tick of the key group.
pub(crate) const MOST_GROUP_BYTES: usize = MOST_BYTES - size_of::<u32>();
