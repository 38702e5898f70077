//! Schemas of several kinds of entities: their fields' names, and the same kinds with other fields.

use kinepack::schema::Field;
use kinepack::{Schema, SetupError};

/// The names of a schema's fields for people. If there are several kinds, the name of the kind is
/// in front: `player.position`.
///
/// ```
/// use kinepack::Schema;
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack_capture::kinds;
///
/// let lit = || vec![Field::new("lit", FieldKind::Bool)];
/// let schema = Schema::builder().kind_of_fields("lamp", lit()).kind_of_fields("fire", lit());
/// assert_eq!(kinds::field_names(&schema.build()?), ["lamp.lit", "fire.lit"]);
/// assert_eq!(kinds::field_names(&Schema::new(lit())), ["lit"]);
/// # Ok::<(), kinepack::SetupError>(())
/// ```
pub fn field_names(schema: &Schema) -> Vec<String> {
    let has_several = schema.kinds().len() > 1;
    let of_kind = |kind: &kinepack::schema::EntityKind| {
        let prefix = if has_several { format!("{}.", kind.name()) } else { String::new() };
        schema.fields()[kind.fields()].iter().map(move |field| format!("{prefix}{}", field.name))
    };
    schema.kinds().iter().flat_map(of_kind).collect()
}

/// The schema of each kind alone, as [`Schema::of_kind`] makes it.
///
/// ```
/// use kinepack::Schema;
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack_capture::kinds;
///
/// let lit = || vec![Field::new("lit", FieldKind::Bool)];
/// let schema = Schema::builder().kind_of_fields("lamp", lit()).kind_of_fields("fire", lit());
/// assert_eq!(kinds::schemas(&schema.build()?), [Schema::new(lit()), Schema::new(lit())]);
/// # Ok::<(), kinepack::SetupError>(())
/// ```
pub fn schemas(schema: &Schema) -> Vec<Schema> {
    (0..schema.kinds().len()).map(|kind| schema.of_kind(kind)).collect()
}

/// A schema of the same kinds with other fields, given for each kind.
///
/// ```
/// use kinepack::Schema;
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack_capture::kinds;
///
/// let field = |name| vec![Field::new(name, FieldKind::Bool)];
/// let lamps = Schema::builder().kind_of_fields("lamp", field("lit")).build()?;
/// let renamed = kinds::with_fields(&lamps, [field("glows")])?;
/// assert_eq!((renamed.kinds()[0].name(), &*renamed.fields()[0].name), ("lamp", "glows"));
/// # Ok::<(), kinepack::SetupError>(())
/// ```
///
/// # Errors
/// [`SetupError::BadCondition`] as [`Schema::try_new`], and [`SetupError::KindCount`] for fewer
/// kinds than `schema` has.
pub fn with_fields(
    schema: &Schema,
    fields: impl IntoIterator<Item = Vec<Field>>,
) -> Result<Schema, SetupError> {
    let mut fields = fields.into_iter();
    let mut next = || fields.next().ok_or(SetupError::KindCount { kinds: 0 });
    if !are_named(schema) {
        return Schema::try_new(next()?);
    }
    let mut builder = Schema::builder();
    for kind in schema.kinds() {
        builder = builder.kind_of_fields(kind.name(), next()?);
    }
    builder.build()
}

/// True for a schema that was built of kinds. A schema of one struct has one kind without a name.
pub(crate) fn are_named(schema: &Schema) -> bool {
    schema.kinds().iter().any(|kind| !kind.name().is_empty())
}
