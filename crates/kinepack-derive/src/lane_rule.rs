//! The rule by which a field becomes lanes, as its attributes define it.

use syn::{Expr, Member, Type};

/// The rule by which a field becomes lanes.
pub(crate) enum Rule {
    /// The `Pack` of the field's type makes the lanes.
    Nested,
    /// The field has no lanes.
    Skip,
    /// The `PackWith` of this type makes the lanes.
    With(Type),
    /// The lanes are the smallest three of a rotation.
    Rotation { bits: Expr },
    /// The lanes are numbers with limits.
    Floats(Floats),
    /// The lanes are an integer between `ends`. If `ends` is `None`, `step` is `Bits` and gives the
    /// number of bits of the values.
    Integer { ends: Option<Ends>, step: Option<Step>, clamp: bool },
}

/// The limits of one number or of several.
pub(crate) struct Floats {
    /// One pair of limits for all components, or one pair for each.
    pub(crate) axes: Vec<(Ends, Step)>,
    /// True if `axes` has one element for each component.
    pub(crate) one_an_axis: bool,
    pub(crate) wrap: bool,
    pub(crate) clamp: bool,
    pub(crate) velocity: Option<Velocity>,
}

/// A velocity. Its attribute may name the field that it is the velocity of.
pub(crate) struct Velocity {
    pub(crate) of: Option<Member>,
}

/// Both ends of a range.
#[derive(Clone)]
pub(crate) struct Ends {
    pub(crate) min: Box<Expr>,
    pub(crate) end: Box<Expr>,
    /// True for a range with `..=`.
    pub(crate) inclusive: bool,
}

/// The division of a range into steps.
#[derive(Clone)]
pub(crate) enum Step {
    Precision(Expr),
    Bits(Expr),
}
