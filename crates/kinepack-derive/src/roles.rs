//! Reads `body`, `touched` and `mover`: which of a struct's fields are parts of a rigid body, and
//! whether they form one.
//!
//! A derive does not know how many components a type has. So a constant from `limits.rs` checks
//! that a position has three components.

use proc_macro2::{Ident, Span};
use syn::{Error, Result, Type};

use crate::attributes::Given;
use crate::lane_rule::{Floats, Rule};
use crate::types::type_name;

/// The attributes that mark parts of a body, and the variant of `kinepack::schema::Role` for each.
const PARTS: [(&str, &str); 3] = [("body", "Body"), ("touched", "Touched"), ("mover", "Mover")];

/// A field's part in a rigid body.
pub(crate) struct BodyPart {
    /// The name of the attribute, for the spans of errors.
    key: Ident,
    /// The variant of `kinepack::schema::Role`.
    pub(crate) role: &'static str,
}

impl BodyPart {
    /// Removes the attribute of a part from `given`, if the field has one.
    pub(crate) fn take(given: &mut Given, ty: &Type) -> Result<Option<Self>> {
        let Some(part) = PARTS
            .into_iter()
            .find_map(|(name, role)| Some(Self { key: given.take(name)?.0, role }))
        else {
            return Ok(None);
        };
        let key = &part.key;
        for (other, _) in PARTS {
            given.refuse(
                other,
                &format!("a field is one part of a body; remove `{key}` or `{other}`"),
            )?;
        }
        if key != "body" {
            if type_name(ty).is_none_or(|name| name != "bool") {
                let message = format!(
                    "`{key}` is for flags; the type must be written as `bool`, not as an alias; \
                     remove it"
                );
                return Err(part.error(&message));
            }
            given.refuse_rest(&format!(
                "`{key}` marks a flag, which does not take this attribute"
            ))?;
        }
        Ok(Some(part))
    }

    /// Returns an error if a field with these lanes cannot be this part.
    pub(crate) fn check(&self, lanes: &Rule) -> Result<()> {
        let message = match lanes {
            _ if self.key != "body" => return Ok(()),
            Rule::Floats(Floats { wrap: true, .. }) => {
                "`body` marks a position, which cannot wrap; remove `wrap` or `body`"
            }
            Rule::Floats(Floats { velocity: Some(_), .. }) => {
                "`body` marks a position or a rotation, not a velocity; remove `velocity` or `body`"
            }
            Rule::Floats(_) | Rule::Rotation { .. } => return Ok(()),
            Rule::Nested | Rule::Skip | Rule::With(_) | Rule::Integer { .. } => {
                "`body` marks a position, three numbers with `range` and `precision`, or a \
                 `rotation`; write those on `f32`, `f64` or vectors of them, or remove `body`"
            }
        };
        Err(self.error(message))
    }

    fn error(&self, message: &str) -> Error {
        Error::new(self.span(), message)
    }

    fn span(&self) -> Span {
        self.key.span()
    }
}

/// Returns an error if too many or too few fields are marked for one body. `parts` holds the marked
/// fields: the name, the part and the lanes of each.
pub(crate) fn check<'a>(
    parts: impl Iterator<Item = (&'a str, &'a BodyPart, &'a Rule)>,
) -> Result<()> {
    let (mut position, mut rotation, mut touched, mut mover) = (None, None, None, None);
    for (name, part, lanes) in parts {
        let (what, first) = match (part.role, lanes) {
            ("Body", Rule::Rotation { .. }) => ("rotation", &mut rotation),
            ("Body", _) => ("position", &mut position),
            ("Touched", _) => ("flag `touched`", &mut touched),
            _ => ("flag `mover`", &mut mover),
        };
        let key = &part.key;
        if let Some((first, _)) = first {
            return Err(refusal(
                name,
                part,
                &format!(
                    "a struct is one body, and its {what} is already `{first}`; remove `{key}` \
                     from one of them, or give each body its own struct"
                ),
            ));
        }
        *first = Some((name, part));
    }
    match (position, rotation) {
        (Some((name, part)), None) => Err(refusal(
            name,
            part,
            "a body also needs a rotation; write `body` on a `rotation`, or remove it here",
        )),
        (None, Some((name, part))) => {
            let message = "a body also needs a position; write `body` on three numbers with a \
                           `range`, or remove it here";
            Err(refusal(name, part, message))
        }
        _ => Ok(()),
    }
}

fn refusal(name: &str, part: &BodyPart, message: &str) -> Error {
    part.error(&format!("field `{name}`: {message}"))
}
