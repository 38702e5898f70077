//! The built-in profile, which makes the packets of figures small from the first second.
//!
//! The file holds a model of a few *typical* fields. It was trained on the joints of many bodies at
//! once, at several precisions and rates. Its weights are free of units, so the fields of any
//! figure take them. `lab/comparisons/examples/figures` trains the file. The chapter on bodies has
//! the command, and names the recordings and their licences.

use kinepack::quantize::FloatLimits;
use kinepack::schema::{EntityKind, Field, FieldKind, any_element};
use std::ops::Range;

use kinepack::{Profile, Schema, SetupError};

/// The indices of the typical fields.
const TRANSLATION: usize = 0;
const ROTATION: usize = 1;

/// The lanes of a typical field. The second lane stands for all later lanes, because a skeleton may
/// name its axes in any order. The first lane differs: it is coded without an earlier lane's error.
const LANES: usize = 2;

/// The profile of the typical fields.
static BUILT_IN: &[u8] = include_bytes!("built_in.kprf");

/// Returns the schema of the typical fields, for which a profile is trained by
/// `kinepack::training::Training::pooled`.
///
/// # Errors
/// Never, because the limits of its fields are constants.
pub fn typical_schema() -> Result<Schema, SetupError> {
    let limits = FloatLimits::new(-1000.0, 1000.0, 1.0)?;
    let field = |name: &str| Field::new(name, FieldKind::Floats(vec![limits; LANES]));
    Schema::builder().kind_of_fields("joint", vec![field("translation"), field("rotation")]).build()
}

/// Returns the typical field whose parameters a field takes: the movement of a joint, or its
/// rotation. Curves are like rotations. Returns `None` for fields that no figure has.
pub fn typical_field(field: &Field) -> Option<usize> {
    if !matches!(field.kind, FieldKind::Floats(_)) {
        return None;
    }
    let name = any_element(&field.name);
    // All tiers have the same fields, in other steps.
    match name.strip_prefix("tiers[*].").unwrap_or(&name) {
        "joints[*].translation" => Some(TRANSLATION),
        "joints[*].rotation" | "curves[*]" => Some(ROTATION),
        _ => None,
    }
}

/// Returns a profile for a schema whose figures take the parameters of `typical`, a profile of the
/// [`typical_schema`].
///
/// # Errors
/// Returns [`SetupError`] if the profile is not for the typical schema, or malformed.
pub fn for_figures(typical: &Profile, schema: &Schema) -> Result<Profile, SetupError> {
    let is_of_figure = fields_of_figures(schema);
    let source = |field: &Field| typical_field(field).filter(|_| is_of_figure(field));
    // A schema without figures has the profile that it had before this one existed.
    if !schema.fields().iter().any(|field| source(field).is_some()) {
        return Ok(Profile::untrained(schema));
    }
    typical.carried_by_field(&typical_schema()?, schema, source)
}

/// Returns a function that says whether a field of this schema belongs to a kind with a figure. Other
/// kinds may have fields of the same names.
pub fn fields_of_figures(schema: &Schema) -> impl Fn(&Field) -> bool + use<> {
    let has_figure = |fields: &[Field]| fields.iter().any(|field| has_digest(&field.name));
    let kinds = schema.kinds().iter();
    let kinds = kinds.filter(|kind| has_figure(&schema.fields()[kind.fields()]));
    let lanes: Vec<Range<usize>> = kinds.map(EntityKind::lanes).collect();
    move |field| {
        typical_field(field).is_some()
            && lanes.iter().any(|lanes| lanes.contains(&field.lanes().start))
    }
}

/// Returns whether the name has the digest of a figure, which is in the name of its first field.
fn has_digest(name: &str) -> bool {
    let digest = name.split_once(']').and_then(|(before, _)| before.rsplit_once(' '));
    digest.is_some_and(|(_, digest)| {
        digest.len() == 16 && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Returns the built-in profile for a schema.
pub(super) fn built_in(schema: &Schema) -> Profile {
    let typical = typical_schema().and_then(|typical| Profile::from_bytes(BUILT_IN, &typical));
    let profile = typical.and_then(|typical| for_figures(&typical, schema));
    // The file is part of the library, and a model without bodies fits every schema.
    profile.expect("the built-in profile is valid")
}
