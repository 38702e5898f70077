//! Values made of real numbers, which a `range` or a `rotation` can apply to.

use core::time::Duration;

/// Numbers and vectors of numbers, for fields with a `range` or a `rotation`.
///
/// ```
/// use kinepack::schema::Components;
/// use kinepack::{Pack, Schema};
///
/// /// A game's own vector.
/// struct Vec2 {
///     x: f32,
///     y: f32,
/// }
///
/// impl Components for Vec2 {
///     type Array = [f64; 2];
///     const COUNT: usize = 2;
///     const SINGLE: bool = true;
///     const ZERO: [f64; 2] = [0.0; 2];
///
///     fn components(&self) -> [f64; 2] {
///         [self.x.into(), self.y.into()]
///     }
///
///     fn from_components([x, y]: [f64; 2]) -> Self {
///         Self { x: x as f32, y: y as f32 }
///     }
/// }
///
/// #[derive(Pack)]
/// struct Unit {
///     #[pack(range = -64.0..=64.0, precision = 1.0 / 4.0)]
///     position: Vec2,
/// }
///
/// let mut lanes = [0; 2];
/// Unit { position: Vec2 { x: -64.0, y: 1.3 } }.quantize(&mut lanes)?;
/// assert_eq!(lanes, [0, 4 * 64 + 5]);
/// assert_eq!(Unit::reconstruct(&lanes).position.y, 1.25);
/// assert_eq!(Schema::of::<Unit>().bits_per_entity(), 2 * 10);
/// # Ok::<(), kinepack::EncodeError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no components that a range or a rotation could apply to",
    label = "not `f32`, `f64`, a vector of them, or a `Duration`",
    note = "integers are known by their names `u8` to `i64`, not by an alias; glam's types need \
            the feature `glam`",
    note = "for attributes on the elements of a list or a tuple, wrap them in a struct"
)]
pub trait Components {
    /// An array of all components.
    type Array: AsRef<[f64]> + AsMut<[f64]> + Copy;

    /// The number of components.
    const COUNT: usize;

    /// True if the components are `f32`.
    const SINGLE: bool;

    /// The array with 0 in each component.
    const ZERO: Self::Array;

    /// Returns the components, widened to `f64`.
    fn components(&self) -> Self::Array;

    /// Makes a value from components, rounded to the type's precision.
    fn from_components(components: Self::Array) -> Self;
}

macro_rules! float_components {
    ($($type:ty, $single:literal;)*) => {$(
        impl Components for $type {
            type Array = [f64; 1];
            const COUNT: usize = 1;
            const SINGLE: bool = $single;
            const ZERO: [f64; 1] = [0.0];

            #[inline]
            fn components(&self) -> [f64; 1] {
                [f64::from(*self)]
            }

            #[inline]
            fn from_components([value]: [f64; 1]) -> Self {
                value as $type
            }
        }

        impl<const N: usize> Components for [$type; N] {
            type Array = [f64; N];
            const COUNT: usize = N;
            const SINGLE: bool = $single;
            const ZERO: [f64; N] = [0.0; N];

            #[inline]
            fn components(&self) -> [f64; N] {
                self.map(f64::from)
            }

            #[inline]
            fn from_components(components: [f64; N]) -> Self {
                components.map(|value| value as $type)
            }
        }
    )*};
}

float_components! {
    f32, true;
    f64, false;
}

/// Codes the duration in seconds. On the way back, negative values and NaN become 0, and values
/// that are too large become the maximum.
impl Components for Duration {
    type Array = [f64; 1];
    const COUNT: usize = 1;
    const SINGLE: bool = false;
    const ZERO: [f64; 1] = [0.0];

    #[inline]
    fn components(&self) -> [f64; 1] {
        [self.as_secs_f64()]
    }

    #[inline]
    fn from_components([seconds]: [f64; 1]) -> Self {
        if seconds > 0.0 {
            Self::try_from_secs_f64(seconds).unwrap_or(Self::MAX)
        } else {
            Self::ZERO
        }
    }
}

/// Implements `Components` for glam's types: `$scalar` makes a component from an `f64`.
#[cfg(feature = "glam")]
macro_rules! glam_components {
    ($($type:ty, $count:literal, $single:literal, $scalar:expr;)*) => {$(
        impl Components for $type {
            type Array = [f64; $count];
            const COUNT: usize = $count;
            const SINGLE: bool = $single;
            const ZERO: [f64; $count] = [0.0; $count];

            #[inline]
            fn components(&self) -> [f64; $count] {
                self.to_array().map(f64::from)
            }

            #[inline]
            fn from_components(components: [f64; $count]) -> Self {
                <$type>::from_array(components.map($scalar))
            }
        }
    )*};
}

#[cfg(feature = "glam")]
glam_components! {
    glam::Vec2, 2, true, |value| value as f32;
    glam::Vec3, 3, true, |value| value as f32;
    glam::Vec3A, 3, true, |value| value as f32;
    glam::Vec4, 4, true, |value| value as f32;
    glam::Quat, 4, true, |value| value as f32;
    glam::DVec2, 2, false, |value| value;
    glam::DVec3, 3, false, |value| value;
    glam::DVec4, 4, false, |value| value;
    glam::DQuat, 4, false, |value| value;
    glam::IVec2, 2, false, |value| libm::round(value) as i32;
    glam::IVec3, 3, false, |value| libm::round(value) as i32;
    glam::IVec4, 4, false, |value| libm::round(value) as i32;
    glam::UVec2, 2, false, |value| libm::round(value) as u32;
    glam::UVec3, 3, false, |value| libm::round(value) as u32;
    glam::UVec4, 4, false, |value| libm::round(value) as u32;
}
