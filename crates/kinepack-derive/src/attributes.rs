//! Reads `#[pack(...)]`: which attributes a field has, by name and without looking at its type.
//!
//! A rule then takes those that belong to it, `rules.rs`; what is left over cannot stand beside it.

use syn::{Attribute, Error, Expr, Ident, Member, Path, Result, Token, Type, parse_quote};

/// The attributes of fields and how each is written.
const KNOWN: [(&str, &str); 14] = [
    ("range", "range = a..=b"),
    ("precision", "precision = p"),
    ("bits", "bits = n"),
    ("max", "max = m"),
    ("rotation", "rotation"),
    ("wrap", "wrap"),
    ("clamp", "clamp"),
    ("velocity", "velocity"),
    ("step", "step"),
    ("body", "body"),
    ("touched", "touched"),
    ("mover", "mover"),
    ("with", "with = Type"),
    ("skip", "skip"),
];

/// The path in `#[pack(crate = path)]` on the type, or `::kinepack`.
pub(crate) fn crate_path(attributes: &[Attribute]) -> Result<Path> {
    let mut path = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("pack")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(
                    meta.error("the only attribute of a type is `crate = path`; all others belong on its fields")
                );
            }
            match path.replace(meta.value()?.call(Path::parse_mod_style)?) {
                Some(_) => Err(meta.error("`crate` is given twice; remove one")),
                None => Ok(()),
            }
        })?;
    }
    Ok(path.unwrap_or_else(|| parse_quote!(::kinepack)))
}

/// What stands behind the name of an attribute.
pub(crate) enum Value {
    Flag,
    Expr(Expr),
    Type(Type),
    Member(Member),
}

/// The attributes of one field that no rule has taken yet, in order.
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
                    return Err(Error::new(key.span(), format!("`{name}` is given twice; remove one")));
                }
                let has_value = meta.input.peek(Token![=]);
                // `velocity` may say of which field.
                if name != "velocity" && has_value != form.contains('=') {
                    let takes = if has_value { "no value" } else { "a value" };
                    return Err(Error::new(key.span(), format!("`{name}` takes {takes}: write `{form}`")));
                }
                let value = match name.as_str() {
                    "with" => Value::Type(meta.value()?.parse()?),
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

    /// Takes an attribute out.
    pub(crate) fn take(&mut self, name: &str) -> Option<(Ident, Value)> {
        self.0.iter().position(|(key, _)| key == name).map(|index| self.0.remove(index))
    }

    /// Takes an attribute with an expression out.
    pub(crate) fn take_expr(&mut self, name: &str) -> Option<Expr> {
        match self.take(name) {
            Some((_, Value::Expr(expr))) => Some(ungrouped(expr)),
            _ => None,
        }
    }

    /// An error with this message where the attribute is there.
    pub(crate) fn refuse(&self, name: &str, message: &str) -> Result<()> {
        match self.0.iter().find(|(key, _)| key == name) {
            Some((key, _)) => Err(Error::new(key.span(), message)),
            None => Ok(()),
        }
    }

    /// An error where anything is left beside a rule that stands alone.
    pub(crate) fn nothing_left(&self, rule: &str) -> Result<()> {
        match self.0.first() {
            Some((key, _)) => Err(Error::new(key.span(), format!("{rule}; remove `{key}`"))),
            None => Ok(()),
        }
    }
}

fn unknown(name: &str) -> String {
    if name == "crate" {
        return String::from("`crate = path` belongs on the type, not on a field");
    }
    let known = KNOWN.map(|(known, _)| format!("`{known}`")).join(", ");
    format!("unknown attribute `{name}`; the known ones are {known}")
}

/// The expression within the parentheses, or within the invisible ones that `macro_rules!` leaves.
pub(crate) fn ungrouped(expr: Expr) -> Expr {
    match expr {
        Expr::Group(group) => ungrouped(*group.expr),
        Expr::Paren(paren) => ungrouped(*paren.expr),
        other => other,
    }
}
