//! Reads the attributes of a time precision, and checks that the field can have one and that the
//! type has `ticks_per_s`.

use proc_macro2::Ident;
use syn::{Error, Expr, Result};

use crate::attributes::{Given, OfType};
use crate::lane_rule::{Floats, Rule};

/// The attributes that set how exact a field must be while it moves.
pub(crate) struct TimePrecision {
    /// The name of the attribute, for the spans of errors.
    key: Ident,
    pub(crate) time_ms: Expr,
    pub(crate) max_step: Option<Expr>,
}

impl TimePrecision {
    /// Removes a time precision's attributes from `given`, if the field has them.
    pub(crate) fn take(given: &mut Given) -> Result<Option<Self>> {
        let key = given.key("time_precision_ms");
        let (Some(key), Some(time_ms)) = (key, given.take_expr("time_precision_ms")) else {
            given.refuse(
                "max_step",
                "`max_step` is the coarsest step of a time precision; add `time_precision_ms = t`",
            )?;
            return Ok(None);
        };
        Ok(Some(Self { key, time_ms, max_step: given.take_expr("max_step") }))
    }

    /// Returns an error if a field with these lanes cannot have a time precision.
    pub(crate) fn check(&self, lanes: &Rule) -> Result<()> {
        check_inexact(&self.key, lanes)
    }
}

/// Returns an error if the attribute `key`, which makes values inexact, is not for a field with
/// these lanes.
pub(crate) fn check_inexact(key: &Ident, lanes: &Rule) -> Result<()> {
    let message = match lanes {
        Rule::Floats(Floats { wrap: false, .. }) | Rule::Rotation { .. } => return Ok(()),
        Rule::Floats(_) => format!("`{key}` is not for angles that `wrap`; remove one of them"),
        Rule::Nested | Rule::Skip | Rule::With(_) | Rule::Integer { .. } => format!(
            "`{key}` is for real numbers with `range` and `precision`, or for a `rotation`; add \
             these, or remove it"
        ),
    };
    Err(Error::new(key.span(), message))
}

/// Returns the ticks per second, if fields need them. `first` is the first field with a time
/// precision, with its name. Returns an error if the ticks are missing, or if they are given but
/// not needed.
pub(crate) fn ticks_per_s<'a>(
    of_type: &'a OfType,
    first: Option<(&str, &TimePrecision)>,
) -> Result<Option<&'a Expr>> {
    match (&of_type.ticks_per_s, first) {
        (Some((_, ticks)), Some(_)) => Ok(Some(ticks)),
        (None, None) => Ok(None),
        (None, Some((name, precision))) => {
            let message = format!(
                "field `{name}`: `time_precision_ms` needs the duration of a tick; write \
                 `#[pack(ticks_per_s = 60.0)]` on the type"
            );
            Err(Error::new(precision.key.span(), message))
        }
        (Some((key, _)), None) => {
            let message =
                "no field has `time_precision_ms`, so `ticks_per_s` has no effect; remove it";
            Err(Error::new(key.span(), message))
        }
    }
}
