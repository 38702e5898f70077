//! The bytes of one clip in a database.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The bytes of one clip in a [`ClipDatabase`](super::ClipDatabase): a range of the database's
/// bytes. The clip keeps those bytes alive. A clip stored as a disk file is unpacked, so it owns
/// its bytes.
pub struct ClipBytes<B = Vec<u8>>(Stored<B>);

enum Stored<B> {
    Shared { all: Arc<B>, start: usize, end: usize },
    Own(Box<[u8]>),
}

impl<B> ClipBytes<B> {
    pub(super) fn shared(all: &Arc<B>, Range { start, end }: Range<usize>) -> Self {
        Self(Stored::Shared { all: Arc::clone(all), start, end })
    }

    pub(super) fn own(bytes: Vec<u8>) -> Self {
        Self(Stored::Own(bytes.into()))
    }

    /// Returns whether the bytes are a range of the database's bytes, not an unpacked copy.
    pub fn is_shared(&self) -> bool {
        matches!(self.0, Stored::Shared { .. })
    }
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for ClipBytes<B> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            Stored::Shared { all, start, end } => {
                B::as_ref(all).get(*start..*end).unwrap_or_default()
            }
            Stored::Own(bytes) => bytes,
        }
    }
}

// `Clone` is not derived, because a derived `Clone` would need `B: Clone`, and mapped files cannot
// be cloned.
impl<B> Clone for ClipBytes<B> {
    fn clone(&self) -> Self {
        match &self.0 {
            Stored::Shared { all, start, end } => Self::shared(all, *start..*end),
            Stored::Own(bytes) => Self(Stored::Own(bytes.clone())),
        }
    }
}

// `Debug` is not derived, because a derived `Debug` would print the whole database for each clip.
impl<B> fmt::Debug for ClipBytes<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Stored::Shared { start, end, .. } => write!(f, "ClipBytes({start}..{end})"),
            Stored::Own(bytes) => write!(f, "ClipBytes({} of its own)", bytes.len()),
        }
    }
}
