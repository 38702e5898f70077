//! Limits that error messages mention. They are separate from the modules that obey them, so that
//! errors depend on no other module.

/// The maximum number of kinds that a schema can have.
pub const MAX_KINDS: usize = 64;

/// The maximum number of views older than the baseline that a snapshot is coded against.
pub(crate) const MAX_OLDER_VIEWS: usize = 3;
