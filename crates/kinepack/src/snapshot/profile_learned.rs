//! Makes a profile that continues from the state that a session learned.

use super::adaptive::Learned;
use super::codec::Codec;
use super::level::Level;
use super::profile::Profile;
use crate::{Schema, SetupError};

impl Profile {
    /// Returns the profile with the state that a session learned, for later sessions. At levels
    /// that learn, later sessions start where that session ended. [`Level::ADAPTIVE`] uses the
    /// learned model too. `learned` should come from a late view of a session with this profile.
    /// The word lengths do not change.
    ///
    /// ```
    /// use kinepack::schema::{Field, FieldKind};
    /// use kinepack::{Codec, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View};
    ///
    /// let schema = Schema::new(vec![Field::new("lit", FieldKind::Bool)]);
    /// let profile = Profile::untrained(&schema);
    /// let mut encoder = Encoder::new(&Codec::new(schema.clone(), Level::LEARNING, profile.clone())?);
    /// let mut view = View::empty(&schema);
    /// for tick in 0..100 {
    ///     let mut world = Snapshot::new(&schema, Tick(tick));
    ///     world.push_lanes(EntityId(3), &[tick % 2])?;
    ///     view = encoder.encode(&view, &world, &mut Vec::new())?;
    /// }
    /// let learned = view.learned().ok_or("this level learns")?;
    /// let next = profile.with_learned(&schema, learned)?;
    /// std::fs::write(std::env::temp_dir().join("next.profile"), next.to_bytes())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SetupError::ProfileMismatch`] if a codec of another profile or schema learned the state,
    /// and the errors of [`Codec::new`].
    pub fn with_learned(&self, schema: &Schema, learned: &Learned) -> Result<Self, SetupError> {
        let codec = Codec::new(schema.clone(), Level::LEARNING, self.clone())?;
        let adaptive = codec.tables().adaptive.as_ref().ok_or(SetupError::BadModel)?;
        if !learned.is_from_codec(codec.hash()) {
            return Err(SetupError::ProfileMismatch);
        }
        let model = adaptive.model_with(learned);
        Ok(Self { model: Some(model), ..self.clone() })
    }
}
