//! How a field becomes lanes, as its attributes define it.

use syn::{Expr, Member, Type};

/// How a field becomes lanes.
pub(crate) enum Rule {
    /// The `Pack` of the field's type converts it.
    Nested,
    /// The field has no lanes.
    Skip,
    /// The `PackWith` of this type converts the field.
    With(Type),
    /// As smallest three.
    Rotation { bits: Expr },
    /// As numbers with limits.
    Floats(Floats),
    /// As an integer between `ends`. Without `ends`, `step` is `Bits` and gives the number of
    /// values.
    Integer { ends: Option<Ends>, step: Option<Step>, clamp: bool },
}

/// Limits of one number or of several.
pub(crate) struct Floats {
    /// The limits: one pair for all components, or one for each.
    pub(crate) axes: Vec<(Ends, Step)>,
    /// True if `axes` has one for each component.
    pub(crate) one_an_axis: bool,
    pub(crate) wrap: bool,
    pub(crate) clamp: bool,
    pub(crate) velocity: Option<Velocity>,
}

/// A velocity's field, if it names one.
pub(crate) struct Velocity {
    pub(crate) of: Option<Member>,
}

/// Both ends of a range.
#[derive(Clone)]
pub(crate) struct Ends {
    pub(crate) min: Box<Expr>,
    pub(crate) end: Box<Expr>,
    /// True for `..=`.
    pub(crate) inclusive: bool,
}

/// How finely a range is divided.
#[derive(Clone)]
pub(crate) enum Step {
    Precision(Expr),
    Bits(Expr),
}
