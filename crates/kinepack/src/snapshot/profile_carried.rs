//! Carries a profile to another schema that has some of the same kinds of entities.

use alloc::vec::Vec;

use super::adaptive::CarriedKinds;
use super::profile::{Context, Profile};
use crate::{Schema, SetupError};

impl Profile {
    /// Returns the same parameters for another schema, `to`. `from` is the schema of this profile.
    /// Each kind of `to` takes the parameters of the kind of `from` that has the same fields. If
    /// several kinds of `from` have these fields, the kind of the same name is used, or else the
    /// first. If no kind has these fields, the kind of `to` is untrained.
    ///
    /// Use the result until the profile is trained again. For example, call `carried` if a kind was
    /// added to a world, or if the only kind of a world was split in two.
    ///
    /// ```
    /// use kinepack::{Codec, Level, Pack, Profile, Schema};
    ///
    /// #[derive(Pack)]
    /// struct Crate {
    ///     #[pack(range = -100.0..=100.0, precision = 0.01)] // metres
    ///     position: [f32; 3],
    /// }
    ///
    /// #[derive(Pack)]
    /// struct Door {
    ///     open: bool,
    /// }
    ///
    /// let crates = Schema::of::<Crate>();
    /// let trained = Profile::magnitudes(&crates); // or from a file
    /// let world = Schema::builder().kind::<Door>("door").kind::<Crate>("crate").build()?;
    /// let profile = trained.carried(&crates, &world)?;
    /// assert_eq!(profile.fields[1], trained.fields[0]);
    /// let codec = Codec::new(world, Level::ADAPTIVE, profile)?;
    /// # Ok::<(), kinepack::SetupError>(())
    /// ```
    ///
    /// # Errors
    /// [`SetupError::ProfileMismatch`] if the profile is not for `from`, and the other
    /// [`SetupError`]s if the profile is malformed.
    pub fn carried(&self, from: &Schema, to: &Schema) -> Result<Self, SetupError> {
        self.validate(from)?;
        let same: Vec<Option<usize>> = to
            .kinds()
            .iter()
            .map(|kind| {
                let hash = kind.types().schema_hash();
                let mut found =
                    (0..).zip(from.kinds()).filter(|(_, of)| of.types().schema_hash() == hash);
                let named = found.clone().find(|(_, of)| of.name() == kind.name());
                named.or_else(|| found.next()).map(|(index, _)| index)
            })
            .collect();
        let kinds = CarriedKinds { from, to, same: &same };
        let [entities, flags] = [&self.entities, &self.flags].map(Clone::clone);
        let mut profile = Self { entities, flags, ..Self::untrained(to) };
        for pair in kinds.pairs() {
            for index in from.kinds()[pair.1].fields() {
                let mut code = self.fields[index].clone();
                if let Context::Field(other) = &mut code.context {
                    *other = kinds.field(pair, *other);
                }
                profile.fields[kinds.field(pair, index)] = code;
            }
        }
        profile.model = match &self.model {
            Some(model) => Some(model.carried(&kinds)?),
            None => None,
        };
        Ok(profile)
    }
}
