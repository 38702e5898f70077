//! Converts a field's attributes to the rule by which the field becomes lanes, or to an error with
//! the remedy. [`rule`] puts the field's name in front of each error.

use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, Member, RangeLimits, Result, Type, parse_quote};

use crate::attributes::{Given, Value, ungrouped};
use crate::frames;
use crate::lane_rule::{Ends, Floats, Rule, Step, Velocity};
use crate::precision::{TimePrecision, check_inexact};
use crate::roles::BodyPart;
use crate::types::{in_option, integer_name, type_name};

/// The meaning of a field's attributes.
pub(crate) struct FieldRule {
    pub(crate) lanes: Rule,
    /// Whether interpolation steps from one value of the field to the next, without values in
    /// between.
    pub(crate) steps: bool,
    /// The field's part in a rigid body, if the field is marked as one.
    pub(crate) part: Option<BodyPart>,
    /// How exact the field must be while it moves; `None` if the field is always exact.
    pub(crate) precision: Option<TimePrecision>,
    /// The most bits by which the field may be coarser; `None` if the field is always exact.
    pub(crate) coarser: Option<Expr>,
    /// The field with the id of the entity that this field is relative to.
    pub(crate) frame: Option<Member>,
    /// True if the field is a time stamp.
    pub(crate) clock: bool,
    /// True if the field marks cuts.
    pub(crate) cut: bool,
    /// Whether the rule is for the value in an `Option`.
    pub(crate) optional: bool,
    /// Whether the field is a spawn field, which never changes.
    pub(crate) spawn: bool,
}

impl FieldRule {
    /// Makes the rule of a field with these lanes and no other attributes.
    fn new(lanes: Rule) -> Self {
        Self {
            lanes,
            steps: false,
            part: None,
            precision: None,
            coarser: None,
            frame: None,
            clock: false,
            cut: false,
            optional: false,
            spawn: false,
        }
    }

    /// Returns `Some` if the field is a velocity. The inner option is the field that the attribute
    /// names, if it names one.
    pub(crate) fn velocity(&self) -> Option<Option<&Member>> {
        match &self.lanes {
            Rule::Floats(Floats { velocity: Some(velocity), .. }) => Some(velocity.of.as_ref()),
            _ => None,
        }
    }

    /// Returns the name of the field's variant of `kinepack::schema::Role`.
    pub(crate) fn role(&self) -> Ident {
        let name = match (&self.part, self.velocity()) {
            (Some(part), _) => part.role,
            (None, Some(_)) => "Velocity",
            (None, None) => "Plain",
        };
        Ident::new(name, Span::call_site())
    }
}

/// Returns the rule of the field `name`, and the type that the rule is for. That type is `ty`, or
/// the type inside `ty` if that is an `Option` with attributes.
pub(crate) fn rule<'a>(
    name: &str,
    ty: &'a Type,
    attributes: &[Attribute],
    is_in_variant: bool,
) -> Result<(FieldRule, &'a Type)> {
    let read = || {
        let mut given = Given::parse(attributes)?;
        if is_in_variant {
            given.refuse_each(
                &["body", "touched", "mover", "clock", "cut", "frame"],
                "a field of a variant may be absent, so it cannot be marked",
                "move the field into a struct that holds the enum",
            )?;
            given.refuse(
                "spawn",
                "the variant may change, so a field of it cannot be `spawn`; mark the field that \
                 holds the enum",
            )?;
            given.refuse(
                "coarser",
                "`coarser` is for fields of structs; move the variant's fields into a struct",
            )?;
        }
        let spawn = given.take("spawn").is_some();
        if spawn {
            given.refuse_each(
                &[
                    "body",
                    "touched",
                    "mover",
                    "clock",
                    "cut",
                    "velocity",
                    "time_precision_ms",
                    "coarser",
                    "skip",
                ],
                "a `spawn` field never changes, so it cannot be marked",
                "remove `spawn`",
            )?;
        }
        // Without attributes, the `Pack` of `Option` applies. `skip` applies to the `Option`
        // itself.
        let is_plain = given.0.is_empty() || given.key("skip").is_some();
        let Some(inner) = in_option(ty).filter(|_| !is_plain) else {
            return Ok((FieldRule { spawn, ..given.into_rule(ty)? }, ty));
        };
        given.refuse_each(
            &["body", "touched", "mover", "clock", "cut", "frame", "velocity"],
            "the value of an `Option` may be absent, so it cannot be marked",
            "send it without `Option`",
        )?;
        Ok((FieldRule { optional: true, spawn, ..given.into_rule(inner)? }, inner))
    };
    read().map_err(|error: Error| Error::new(error.span(), format!("field `{name}`: {error}")))
}

/// Returns an error if a field with these lanes cannot be a time stamp.
fn check_clock(key: &Ident, ty: &Type, lanes: &Rule, is_part: bool) -> Result<()> {
    let is_number = match lanes {
        Rule::Integer { .. } => true,
        Rule::Floats(floats) => {
            let is_alone = matches!(type_name(ty).as_deref(), Some("f32" | "f64"));
            floats.velocity.is_none() && !floats.one_an_axis && is_alone
        }
        Rule::Nested => integer_name(ty).is_some(),
        _ => false,
    };
    if is_number && !is_part {
        return Ok(());
    }
    Err(Error::new(
        key.span(),
        "`clock` is for a time stamp: an integer, or `f32` or `f64` with a `range`; remove it",
    ))
}

/// Returns an error if a field with these lanes cannot mark cuts.
fn check_cut(key: &Ident, ty: &Type, lanes: &Rule, has_role: bool) -> Result<()> {
    let is_right = match lanes {
        Rule::Integer { .. } => true,
        Rule::Nested => integer_name(ty).is_some() || type_name(ty).as_deref() == Some("bool"),
        _ => false,
    };
    let message = match (is_right, has_role) {
        (true, false) => return Ok(()),
        (true, true) => "a field is marked once; remove `cut`, or use another field for it",
        _ => "`cut` is for a flag or an integer that changes when the entity jumps; remove it",
    };
    Err(Error::new(key.span(), message))
}

impl Given {
    fn into_rule(mut self, ty: &Type) -> Result<FieldRule> {
        if self.take("skip").is_some() {
            self.refuse_rest("`skip` allows no other attributes, because the field is not sent")?;
            return Ok(FieldRule::new(Rule::Skip));
        }
        if let Some((_, Value::Type(with))) = self.take("with") {
            self.refuse_rest(
                "`with` allows no other attributes, because its type decides everything",
            )?;
            return Ok(FieldRule::new(Rule::With(with)));
        }
        let steps = self.take("step").is_some();
        let (clock, cut) = (self.take("clock"), self.take("cut"));
        let part = BodyPart::take(&mut self, ty)?;
        let precision = TimePrecision::take(&mut self)?;
        let frame = self.take("frame");
        let coarser_key = self.key("coarser");
        let coarser = self.take_expr("coarser");
        let lanes = self.into_lanes(ty)?;
        part.as_ref().map_or(Ok(()), |part| part.check(&lanes))?;
        precision.as_ref().map_or(Ok(()), |precision| precision.check(&lanes))?;
        if let Some(key) = &coarser_key {
            check_inexact(key, &lanes)?;
            if precision.is_some() {
                let message = "`coarser` and `time_precision_ms` both choose the step; remove one";
                return Err(Error::new(key.span(), message));
            }
        }
        if let Some((key, _)) = &frame {
            frames::check(key, &lanes)?;
        }
        if let Some((key, _)) = &clock {
            check_clock(key, ty, &lanes, part.is_some())?;
        }
        if let Some((key, _)) = &cut {
            check_cut(key, ty, &lanes, part.is_some() || clock.is_some())?;
        }
        let frame = frame.and_then(|(_, value)| match value {
            Value::Member(frame) => Some(frame),
            _ => None,
        });
        let (clock, cut) = (clock.is_some(), cut.is_some());
        Ok(FieldRule {
            steps,
            part,
            precision,
            coarser,
            frame,
            clock,
            cut,
            ..FieldRule::new(lanes)
        })
    }

    fn into_lanes(mut self, ty: &Type) -> Result<Rule> {
        if self.0.is_empty() {
            return Ok(Rule::Nested);
        }
        if let Some((key, _)) = self.take("rotation") {
            let bits = self.take_expr("bits");
            self.refuse_rest("a `rotation` does not take this attribute")?;
            let missing = "`rotation` needs the bits of a component: write `rotation, bits = n` \
                           with n from 2 to 20";
            return bits
                .map(|bits| Rule::Rotation { bits })
                .ok_or_else(|| Error::new(key.span(), missing));
        }
        match integer_name(ty) {
            Some(integer) => self.into_integer(ty, &integer),
            None => self.into_floats(),
        }
    }

    /// Makes the rule of an integer.
    fn into_integer(mut self, ty: &Type, integer: &str) -> Result<Rule> {
        if matches!(integer, "u128" | "i128" | "usize" | "isize") {
            let message =
                format!("`{integer}` is not supported; use an integer of 8, 16, 32 or 64 bits");
            return Err(Error::new(ty.span(), message));
        }
        self.refuse("wrap", "`wrap` is for angles in `f32` or `f64`; remove it")?;
        self.refuse("velocity", "`velocity` is for `f32`, `f64` and vectors of them; remove it")?;
        if integer.starts_with('i') {
            self.refuse("max", "`max` is for unsigned integers; write `range = a..=b`")?;
        }
        let clamp = self.take("clamp");
        let max = self.take_expr("max");
        if max.is_some() {
            self.refuse("range", "`max = m` means `range = 0..=m`; remove `range` or `max`")?;
        }
        let ends = match self.take_expr("range") {
            Some(range) if matches!(range, Expr::Array(_)) => {
                return Err(Error::new(
                    range.span(),
                    "an integer has one range, not one for each axis",
                ));
            }
            Some(range) => Some(ends(range)?),
            None => {
                max.map(|max| Ends { min: parse_quote!(0), end: Box::new(max), inclusive: true })
            }
        };
        if ends.is_none() {
            self.refuse("precision", "`precision` divides a range; add `range = a..=b`")?;
        }
        let step = self.take_step()?;
        if let (None, None, Some((key, _))) = (&ends, &step, &clamp) {
            return Err(Error::new(key.span(), "`clamp` needs limits; add `range = a..=b`"));
        }
        Ok(Rule::Integer { ends, step, clamp: clamp.is_some() })
    }

    /// Makes the rule of numbers with limits.
    fn into_floats(mut self) -> Result<Rule> {
        self.refuse("max", "`max` is for unsigned integers; write `range = a..=b`")?;
        let Some((key, Value::Expr(range))) = self.take("range") else {
            self.refuse("precision", "`precision` divides a range; add `range = a..=b`")?;
            self.refuse(
                "bits",
                "`bits` divides a range; add `range = a..=b`, or `rotation` for a quaternion",
            )?;
            let (key, _) = self.0.swap_remove(0);
            let message = format!("`{key}` needs limits; add `range = a..b` and `precision = p`");
            return Err(Error::new(key.span(), message));
        };
        let Some(step) = self.take_step()? else {
            let message = "`range` on real numbers needs a step; add `precision = p` or `bits = n`";
            return Err(Error::new(key.span(), message));
        };
        let (axes, one_an_axis) = axes(ungrouped(range), step)?;
        let clamp = self.take("clamp").is_some();
        let wrap = self.take("wrap");
        if let Some((key, _)) = &wrap {
            if axes.iter().any(|(range, _)| range.inclusive) {
                let message = "`wrap` makes the end of the range equal to its beginning, so \
                               exclude it: write `range = a..b`, not `a..=b`";
                return Err(Error::new(key.span(), message));
            }
            if clamp {
                let message = "with `wrap` no value is out of range, so `clamp` has no effect; \
                               remove `clamp` or `wrap`";
                return Err(Error::new(key.span(), message));
            }
        }
        let velocity = self.take("velocity").map(|(_, value)| match value {
            Value::Member(of) => Velocity { of: Some(of) },
            _ => Velocity { of: None },
        });
        Ok(Rule::Floats(Floats { axes, one_an_axis, wrap: wrap.is_some(), clamp, velocity }))
    }

    /// Removes the attribute that chooses the step, and returns it.
    fn take_step(&mut self) -> Result<Option<Step>> {
        let precision = self.take_expr("precision").map(Step::Precision);
        if precision.is_some() {
            self.refuse("bits", "`precision` and `bits` both choose the step; remove one")?;
        }
        Ok(precision.or_else(|| self.take_expr("bits").map(Step::Bits)))
    }
}

/// Returns the limits of each axis, and whether they were listed by axis. If `range` or `precision`
/// is a list, the other must be a list of the same length, or one value for all axes.
fn axes(range: Expr, step: Step) -> Result<(Vec<(Ends, Step)>, bool)> {
    let span = range.span();
    let listed_ranges = match &range {
        Expr::Array(list) => {
            Some(list.elems.iter().cloned().map(ends).collect::<Result<Vec<_>>>()?)
        }
        _ => None,
    };
    let listed_steps = match &step {
        Step::Precision(Expr::Array(list)) => {
            Some(list.elems.iter().cloned().map(Step::Precision).collect::<Vec<_>>())
        }
        _ => None,
    };
    let (ranges, steps) = match (listed_ranges, listed_steps) {
        (None, None) => return Ok((vec![(ends(range)?, step)], false)),
        (Some(ranges), Some(steps)) => (ranges, steps),
        (Some(ranges), None) => (ranges.clone(), vec![step; ranges.len()]),
        (None, Some(steps)) => (vec![ends(range)?; steps.len()], steps),
    };
    if ranges.len() != steps.len() {
        let message = format!(
            "`range` has {} axes, `precision` has {}; give both for each axis",
            ranges.len(),
            steps.len()
        );
        return Err(Error::new(span, message));
    }
    Ok((ranges.into_iter().zip(steps).collect(), true))
}

fn ends(range: Expr) -> Result<Ends> {
    let span = range.span();
    match ungrouped(range) {
        Expr::Range(syn::ExprRange { start: Some(min), limits, end: Some(end), .. }) => {
            Ok(Ends { min, end, inclusive: matches!(limits, RangeLimits::Closed(_)) })
        }
        _ => {
            Err(Error::new(span, "`range` needs both ends: `a..=b`, or `a..b` to exclude the end"))
        }
    }
}
