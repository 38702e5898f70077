//! Limits that error messages mention. The limits are in a separate file, so that errors do not
//! depend on the modules that check these limits.

/// The maximum number of kinds that a schema can have.
pub const MAX_KINDS: usize = 64;

/// The maximum number of views older than the baseline that a snapshot is coded against.
pub(crate) const MAX_OLDER_VIEWS: usize = 3;
