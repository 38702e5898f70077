//! Limits that errors name. They are apart from the modules that obey them, so that errors depend
//! on no other module.

/// The most kinds that a schema can have.
pub const MAX_KINDS: usize = 64;

/// The most views older than the baseline that a snapshot is coded against.
pub(crate) const MAX_OLDER_VIEWS: usize = 3;
