//! The skeleton and the rig of a database, and the check that a clip belongs to them.

use std::sync::Arc;

use super::DatabaseError;
use crate::{Clip, ClipError, Rig, Skeleton};

#[derive(Clone, Debug)]
pub(super) struct Owner {
    pub(super) skeleton: Arc<Skeleton>,
    pub(super) rig: Option<Arc<Rig>>,
    /// The hash of the skeleton.
    hash: u64,
}

impl Owner {
    pub(super) fn without_rig(skeleton: Arc<Skeleton>) -> Self {
        Self { hash: skeleton.hash(), skeleton, rig: None }
    }

    /// Refuses a rig that was built for another skeleton.
    pub(super) fn with_rig(self, rig: Arc<Rig>) -> Result<Self, DatabaseError> {
        if (rig.skeleton_hash(), rig.joints()) != (self.hash, self.skeleton.len()) {
            return Err(DatabaseError::OtherRig);
        }
        Ok(Self { rig: Some(rig), ..self })
    }

    /// Reads and checks a clip in its memory form.
    pub(super) fn read<B: AsRef<[u8]>>(
        &self,
        name: &str,
        bytes: Result<B, ClipError>,
    ) -> Result<Clip<B>, DatabaseError> {
        let name = || name.to_owned();
        let clip = bytes.and_then(|bytes| Clip::read(bytes, self.rig.as_ref()));
        let clip = clip.map_err(|error| DatabaseError::Clip { name: name(), error })?;
        if (clip.skeleton_hash(), clip.joints()) != (self.hash, self.skeleton.len()) {
            let (clip, skeleton) = (clip.skeleton_hash(), self.hash);
            return Err(DatabaseError::OtherSkeleton { name: name(), clip, skeleton });
        }
        Ok(clip)
    }
}
