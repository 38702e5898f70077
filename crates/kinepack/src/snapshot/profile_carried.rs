//! Carries a profile to another schema that has some of the same kinds of entities.

use alloc::vec;
use alloc::vec::Vec;

use super::adaptive::Sources;
use super::profile::{Context, Profile};
use crate::schema::{EntityKind, Field};
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
        let mut fields = vec![None; to.fields().len()];
        for (kind, same) in to.kinds().iter().zip(&same) {
            if let Some(same) = same {
                let sources = from.kinds()[*same].fields();
                kind.fields().zip(sources).for_each(|(index, source)| fields[index] = Some(source));
            }
        }
        let [entities, flags] = [&self.entities, &self.flags].map(Clone::clone);
        let mut profile = Self { entities, flags, ..Self::untrained(to) };
        for (index, source) in fields.iter().enumerate() {
            let Some(source) = *source else { continue };
            let mut code = self.fields[source].clone();
            if let Context::Field(other) = &mut code.context {
                // Both fields keep their order within the kind.
                *other = *other + index - source;
            }
            profile.fields[index] = code;
        }
        let sources = Sources { from, to, kinds: &same, fields: &fields };
        profile.model = self.model.as_ref().map(|model| model.carried(&sources)).transpose()?;
        Ok(profile)
    }

    /// Returns an untrained profile for another schema, `to`, whose model takes the parameters of
    /// single fields. `from` is the schema of this profile, and has one kind. For each field of
    /// `to`, `source` returns the index of the field of `from` from which it takes the parameters;
    /// `None` leaves the field untrained. A kind with such a field also takes the kind's own
    /// parameters.
    ///
    /// The parameters do not depend on the steps of numbers. So a profile that was trained on a few
    /// typical fields suits a schema of many, such as the joints of any skeleton. A number takes
    /// the parameters of a field of numbers. If it has more lanes, the source's last lane counts
    /// for all others. A field of another kind than its source stays untrained, as do the
    /// word lengths for [`Level::PACKED`](crate::Level::PACKED).
    ///
    /// # Errors
    /// [`SetupError::ProfileMismatch`] if the profile is not for `from`, `from` has several kinds,
    /// or `source` returns an index that `from` does not have. [`SetupError::BadModel`] if the
    /// profile has bodies, and the other [`SetupError`]s if the profile is malformed.
    pub fn carried_by_field(
        &self,
        from: &Schema,
        to: &Schema,
        source: impl FnMut(&Field) -> Option<usize>,
    ) -> Result<Self, SetupError> {
        self.validate(from)?;
        let fields: Vec<Option<usize>> = to.fields().iter().map(source).collect();
        let exist = fields.iter().flatten().all(|source| *source < from.fields().len());
        if from.kinds().len() != 1 || !exist {
            return Err(SetupError::ProfileMismatch);
        }
        let Some(model) = &self.model else { return Ok(Self::untrained(to)) };
        if model.bodies().is_some() {
            return Err(SetupError::BadModel);
        }
        let has_source = |kind: &EntityKind| fields[kind.fields()].iter().any(Option::is_some);
        let kinds: Vec<Option<usize>> =
            to.kinds().iter().map(|kind| has_source(kind).then_some(0)).collect();
        let sources = Sources { from, to, kinds: &kinds, fields: &fields };
        Ok(Self { model: Some(model.carried(&sources)?), ..Self::untrained(to) })
    }
}
