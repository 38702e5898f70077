//! Reads `#[pack(...)]`: a field's attributes by name, without regard to the field's type.
//!
//! `rules.rs` then removes the attributes that the field's rule uses. Any attribute that then
//! remains contradicts the rule.

use syn::{Attribute, Error, Expr, Ident, Member, Path, Result, Token, Type, parse_quote};

/// The names of all attributes of fields, and the form of each.
const KNOWN: [(&str, &str); 21] = [
    ("range", "range = a..=b"),
    ("precision", "precision = p"),
    ("bits", "bits = n"),
    ("max", "max = m"),
    ("rotation", "rotation"),
    ("wrap", "wrap"),
    ("clamp", "clamp"),
    ("velocity", "velocity"),
    ("frame", "frame = field"),
    ("step", "step"),
    ("body", "body"),
    ("touched", "touched"),
    ("mover", "mover"),
    ("clock", "clock"),
    ("cut", "cut"),
    ("time_precision_ms", "time_precision_ms = t"),
    ("max_step", "max_step = s"),
    ("coarser", "coarser = n"),
    ("with", "with = Type"),
    ("spawn", "spawn"),
    ("skip", "skip"),
];

/// The attributes of the type itself.
pub(crate) struct OfType {
    /// The path in `crate = path`, or `::kinepack`.
    pub(crate) krate: Path,
    /// The name and the expression of `ticks_per_s = f`.
    pub(crate) ticks_per_s: Option<(Ident, Expr)>,
}

impl OfType {
    pub(crate) fn parse(attributes: &[Attribute]) -> Result<Self> {
        let (mut path, mut ticks_per_s) = (None, None);
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("pack")) {
            attribute.parse_nested_meta(|meta| {
                let is_again = if meta.path.is_ident("crate") {
                    path.replace(meta.value()?.call(Path::parse_mod_style)?).is_some()
                } else if meta.path.is_ident("ticks_per_s") {
                    ticks_per_s
                        .replace((meta.path.require_ident()?.clone(), meta.value()?.parse()?))
                        .is_some()
                } else {
                    return Err(meta.error(
                        "a type takes only the attributes `crate = path` and `ticks_per_s = f`; \
                         all others belong on its fields",
                    ));
                };
                let name = meta.path.require_ident()?;
                if is_again {
                    Err(meta.error(format!("`{name}` is given twice; remove one")))
                } else {
                    Ok(())
                }
            })?;
        }
        Ok(Self { krate: path.unwrap_or_else(|| parse_quote!(::kinepack)), ticks_per_s })
    }
}

/// The part of an attribute after its name.
pub(crate) enum Value {
    Flag,
    Expr(Expr),
    Type(Type),
    Member(Member),
}

/// The attributes of one field that no rule has used yet, in order.
pub(crate) struct Given(pub(crate) Vec<(Ident, Value)>);

impl Given {
    /// Reads all `#[pack(...)]` of a field.
    pub(crate) fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut given: Vec<(Ident, Value)> = Vec::new();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("pack")) {
            attribute.parse_nested_meta(|meta| {
                let key = meta.path.require_ident()?.clone();
                let name = key.to_string();
                let Some((_, form)) = KNOWN.iter().find(|(known, _)| *known == name) else {
                    return Err(Error::new(key.span(), unknown(&name)));
                };
                if given.iter().any(|(other, _)| *other == key) {
                    return Err(Error::new(
                        key.span(),
                        format!("`{name}` is given twice; remove one"),
                    ));
                }
                let has_value = meta.input.peek(Token![=]);
                // Only `velocity` may be written both with a value and without.
                if name != "velocity" && has_value != form.contains('=') {
                    let takes = if has_value { "no value" } else { "a value" };
                    return Err(Error::new(
                        key.span(),
                        format!("`{name}` takes {takes}: write `{form}`"),
                    ));
                }
                let value = match name.as_str() {
                    "with" => Value::Type(meta.value()?.parse()?),
                    "frame" => Value::Member(meta.value()?.parse()?),
                    "velocity" if has_value => Value::Member(meta.value()?.parse()?),
                    _ if has_value => Value::Expr(meta.value()?.parse()?),
                    _ => Value::Flag,
                };
                given.push((key, value));
                Ok(())
            })?;
        }
        Ok(Self(given))
    }

    /// Removes an attribute and returns it.
    pub(crate) fn take(&mut self, name: &str) -> Option<(Ident, Value)> {
        self.0.iter().position(|(key, _)| key == name).map(|index| self.0.remove(index))
    }

    /// Removes an attribute that has an expression, and returns the expression.
    pub(crate) fn take_expr(&mut self, name: &str) -> Option<Expr> {
        match self.take(name) {
            Some((_, Value::Expr(expr))) => Some(ungrouped(expr)),
            _ => None,
        }
    }

    /// Returns the attribute's name, with its span in the source.
    pub(crate) fn key(&self, name: &str) -> Option<Ident> {
        self.0.iter().find(|(key, _)| key == name).map(|(key, _)| key.clone())
    }

    /// Returns an error with this message if the field has the attribute.
    pub(crate) fn refuse(&self, name: &str, message: &str) -> Result<()> {
        match self.0.iter().find(|(key, _)| key == name) {
            Some((key, _)) => Err(Error::new(key.span(), message)),
            None => Ok(()),
        }
    }

    /// Returns an error if the field has one of these attributes. `reason` explains why the field
    /// cannot have the attribute. `remedy` is what to do instead of removing the attribute.
    pub(crate) fn refuse_each(&self, names: &[&str], reason: &str, remedy: &str) -> Result<()> {
        names.iter().try_for_each(|name| {
            self.refuse(name, &format!("{reason} `{name}`; remove `{name}`, or {remedy}"))
        })
    }

    /// Returns an error if any attribute remains next to a rule that allows no others.
    pub(crate) fn refuse_rest(&self, rule: &str) -> Result<()> {
        match self.0.first() {
            Some((key, _)) => Err(Error::new(key.span(), format!("{rule}; remove `{key}`"))),
            None => Ok(()),
        }
    }
}

fn unknown(name: &str) -> String {
    if let Some(form) = ["crate = path", "ticks_per_s = f"]
        .into_iter()
        .find(|form| form.starts_with(&format!("{name} ")))
    {
        return format!("`{form}` belongs on the type, not on a field");
    }
    let known = KNOWN.map(|(known, _)| format!("`{known}`")).join(", ");
    format!("unknown attribute `{name}`; the known attributes are {known}")
}

/// Removes the parentheses around an expression, including the invisible ones that `macro_rules!`
/// adds.
pub(crate) fn ungrouped(expr: Expr) -> Expr {
    match expr {
        Expr::Group(group) => ungrouped(*group.expr),
        Expr::Paren(paren) => ungrouped(*paren.expr),
        other => other,
    }
}
