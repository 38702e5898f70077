//! Works with schemas of several kinds of entities: the names of their fields, and the same kinds
//! with other fields.

use kinepack::schema::Field;
use kinepack::{EncodeError, Schema, SetupError};

/// Returns the display names of a schema's fields. If there are several kinds, the name of the kind
/// is in front: `player.position`.
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

/// Returns, for each kind, a schema of that kind alone, as [`Schema::of_kind`] makes it.
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

/// Makes a schema of the same kinds with other fields, which are given for each kind.
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
/// [`SetupError::BadCondition`] in the same cases as for [`Schema::try_new`], and
/// [`SetupError::KindCount`] if there are fewer kinds than `schema` has.
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

/// Explains in a message why the raw words of an entity cannot be quantized. The message names the
/// first field that is refused, as in [`field_names`], and gives the reason. `error` is the error
/// of [`Schema::quantize_raw`], which does not name the field.
///
/// ```
/// use kinepack::quantize::FloatLimits;
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::Schema;
/// use kinepack_capture::kinds;
///
/// let height = FieldKind::Floats(vec![FloatLimits::new(0.0, 9.0, 0.1)?]);
/// let schema = Schema::new(vec![Field::new("lit", FieldKind::Bool), Field::new("height", height)]);
/// let raw = [1, f64::NAN.to_bits()];
/// let error = schema.quantize_raw(&raw, &mut [0; 2]).unwrap_err();
/// let why = kinds::refusal(&schema, 0, &raw, &error);
/// assert_eq!(why, "field \"height\": the value is not a number");
/// # Ok::<(), kinepack::SetupError>(())
/// ```
///
/// # Panics
/// If the schema has no kind with the index `kind`, or if the length of `raw` is not the number of
/// the kind's lanes.
pub fn refusal(schema: &Schema, kind: usize, raw: &[u64], error: &EncodeError) -> String {
    let kind = &schema.kinds()[kind];
    let names = field_names(schema);
    let mut lanes = vec![0; schema.lanes().len()];
    for index in kind.fields() {
        let field = &schema.fields()[index];
        let first = kind.lanes().start;
        let words = &raw[field.lanes().start - first..field.lanes().end - first];
        if !field.is_present(&lanes) {
            continue;
        }
        if let Err(error) = field.quantize_raw(words, &mut lanes[field.lanes()]) {
            return format!("field {:?}: {error}", names[index]);
        }
    }
    error.to_string()
}

/// Returns true if the schema was built of kinds. A schema of one struct has one kind without a
/// name.
pub(crate) fn are_named(schema: &Schema) -> bool {
    schema.kinds().iter().any(|kind| !kind.name().is_empty())
}
