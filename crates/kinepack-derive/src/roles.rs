//! `body`, `touched` and `mover`: which fields of a struct are parts of a rigid body, and that they
//! make one.
//!
//! Whether a position has three components is known only of its type, so a constant refuses others,
//! `limits.rs`.

use proc_macro2::{Ident, Span};
use syn::{Error, Result, Type};

use crate::attributes::Given;
use crate::expand::StructField;
use crate::rules::{Floats, Rule, type_name};

/// The attributes of parts, and the variant of `kinepack::schema::Role` that each stands for.
const PARTS: [(&str, &str); 3] = [("body", "Body"), ("touched", "Touched"), ("mover", "Mover")];

/// That a field is a part of a rigid body.
pub(crate) struct BodyPart {
    /// The attribute that says so.
    key: Ident,
    /// The variant of `kinepack::schema::Role`.
    pub(crate) role: &'static str,
}

impl BodyPart {
    /// Takes the attribute out, if the field has one.
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
                    "`{key}` is for flags, known by the name `bool`, not by an alias; remove it"
                );
                return Err(part.error(&message));
            }
            given.nothing_left(&format!("`{key}` stands alone, as a flag has no limits"))?;
        }
        Ok(Some(part))
    }

    /// An error where a field with these lanes cannot be that part.
    pub(crate) fn check(&self, lanes: &Rule) -> Result<()> {
        let message = match lanes {
            _ if self.key != "body" => return Ok(()),
            Rule::Floats(Floats { wrap: true, .. }) => {
                "`body` marks a place in space, where no end is a beginning; remove `wrap` or `body`"
            }
            Rule::Floats(Floats { velocity: Some(_), .. }) => {
                "`body` marks a position or a rotation, which no velocity is; remove `velocity` or `body`"
            }
            Rule::Floats(_) | Rule::Rotation { .. } => return Ok(()),
            Rule::Nested | Rule::Skip | Rule::With(_) | Rule::Integer { .. } => {
                "`body` marks a position, three numbers with `range` and `precision`, or a `rotation`; write those on \
                 `f32`, `f64` or vectors of them, or remove `body`"
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

/// An error where the marked fields are too many for one body, or too few.
pub(crate) fn check(fields: &[StructField<'_>]) -> Result<()> {
    let (mut position, mut rotation, mut touched, mut mover) = (None, None, None, None);
    for field in fields {
        let Some(part) = &field.rule.part else { continue };
        let (what, first) = match (part.role, &field.rule.lanes) {
            ("Body", Rule::Rotation { .. }) => ("rotation", &mut rotation),
            ("Body", _) => ("position", &mut position),
            ("Touched", _) => ("flag `touched`", &mut touched),
            _ => ("flag `mover`", &mut mover),
        };
        let key = &part.key;
        if let Some((first, _)) = first {
            return Err(refusal(
                field.name.as_str(),
                part,
                &format!(
                    "a struct is one body, and its {what} is `{first}`; remove `{key}` from one of them, or give each \
                     body a struct of its own"
                ),
            ));
        }
        *first = Some((field.name.as_str(), part));
    }
    match (position, rotation) {
        (Some((name, part)), None) => Err(refusal(
            name,
            part,
            "a body has a rotation too; write `body` on a `rotation`, or remove it here",
        )),
        (None, Some((name, part))) => {
            let message = "a body has a position too; write `body` on three numbers with a `range`, or remove it here";
            Err(refusal(name, part, message))
        }
        _ => Ok(()),
    }
}

fn refusal(name: &str, part: &BodyPart, message: &str) -> Error {
    part.error(&format!("field `{name}`: {message}"))
}
