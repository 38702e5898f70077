//! Types that have a schema: the traits of `#[derive(Pack)]`, and their implementations for
//! primitives without an attribute.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Field, FieldKind, derived, raw};
use crate::{Between, EncodeError};

/// A type with a schema. Derive it. Write it by hand only for a type whose lanes the attributes
/// cannot describe.
///
/// Without an attribute, `f32` and `f64` are kept bit for bit and integers in their full width. A
/// `bool` takes one bit, and an enum without fields the bits that number its variants. Arrays and
/// structs are coded part by part.
///
/// | attribute | on | meaning |
/// |---|---|---|
/// | `range = a..=b`, `range = a..b` | numbers, vectors, integers | limits; `..` excludes the end |
/// | `range = [r, r, r]` | vectors | limits for each axis |
/// | `precision = p` | with `range` | the step, or one for each axis: `[p, p, p]` |
/// | `bits = n` | with `range`, or an integer alone | that many bits instead of a step, 1 to 32; integers up to 64 |
/// | `max = m` | unsigned integers | the same as `range = 0..=m` |
/// | `rotation, bits = n` | quaternions x, y, z, w | smallest three, 2 to 20 bits a component; off by up to 0.56 degrees at 9 bits, and half of that with each further bit |
/// | `wrap` | with `range = a..b` | an angle: the end equals the beginning |
/// | `clamp` | with `range` or `max` | out-of-range values take the nearest end instead of being an error |
/// | `velocity`, `velocity = field` | numbers and vectors with `range` | the velocity of another field in units per second, for interpolation; zero means at rest, for level 4 |
/// | `step` | anything sent without `with` | is not blended in interpolation, for example a counter of teleports |
/// | `clock` | an integer, or `f32` or `f64` with `range` | a time stamp, by which the other fields of a [`stream`](crate::stream) move |
/// | `body` | three numbers with `range`, and a `rotation` | the position and the rotation of a rigid body |
/// | `touched`, `mover` | `bool` | flags of a rigid body: something moves it; it moves others, as a player does |
/// | `time_precision_ms = t` | numbers and vectors with `range`, without `wrap`; a `rotation` | may be off by the distance that it moves in that time: [`TimePrecision`](super::TimePrecision) |
/// | `max_step = s` | with `time_precision_ms` | the coarsest step, in the field's unit; for a rotation an angle in radians |
/// | `with = Type` | anything | lanes by `Type`'s [`PackWith`] |
/// | `skip` | anything | not sent; `Default::default()` on the other side |
///
/// `velocity = field` names the field that moves with it. That field has the same type, and is not
/// marked `velocity`, `rotation`, `wrap`, `step`, `clock`, `skip` or `with`. `velocity` alone means
/// the nearest such field before it in the struct, or else the nearest after it, or else no field.
/// If several velocities mean the same field, the one that names it counts, or else the first. For
/// example, `position` is followed by `linear_velocity` and `angular_velocity`, and the first is
/// the position's.
///
/// A struct is at most one body: it marks one position with `body`, which is no velocity and does
/// not `wrap`, and one rotation. `body` does not change the lanes, only the schema's hash and the
/// adaptive level's predictions ([`Role`](super::Role),
/// [`Bodies::of`](crate::profile::Bodies::of)). If an entity has several bodies, nested or side by
/// side, the first counts.
///
/// Values are constant expressions. Limits that are impossible, such as a step finer than the
/// field's `f32`, are compile errors. On the type itself, `#[pack(crate = path)]` gives kinepack's
/// path if it is not `::kinepack`. `#[pack(ticks_per_s = f)]` gives the ticks per second, which a
/// field with `time_precision_ms` needs.
///
/// ```
/// use kinepack::Pack;
///
/// #[derive(Pack)]
/// struct Player {
///     #[pack(range = [-256.0..256.0, -256.0..256.0, 0.0..32.0], precision = 1.0 / 64.0, clamp)]
///     position: [f32; 3],
///     #[pack(velocity, range = -32.0..32.0, precision = 1.0 / 32.0)]
///     velocity: [f32; 3],
///     #[pack(rotation, bits = 9)]
///     orientation: [f32; 4],
///     #[pack(max = 100)]
///     health: u8,
///     #[pack(skip)]
///     name: String,
/// }
/// assert_eq!(Player::LANES, 3 + 3 + 4 + 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no schema",
    label = "not `Pack`",
    note = "derive `Pack` for it, or write `#[pack(with = Type)]` or `#[pack(skip)]` on the field"
)]
pub trait Pack: Sized {
    /// Number of lanes.
    const LANES: usize;

    /// Appends the type's fields, with their names below `path`. The fields must stay the same
    /// while a program runs: snapshots and streams ask once and remember that the type has their
    /// schema.
    fn fields(path: &str, fields: &mut Vec<Field>);

    /// Quantizes the state into `lanes`, which are [`LANES`](Self::LANES) long.
    ///
    /// # Errors
    /// [`EncodeError`] for values that are not numbers or out of range.
    fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError>;

    /// Stores the state before quantization, one word per lane, as
    /// [`Schema::quantize_raw`](super::Schema::quantize_raw) takes it; for captures. The derived
    /// method copies numbers and costs a nanosecond each. The default reconstructs the words from
    /// the lanes, and allocates.
    ///
    /// # Errors
    /// [`EncodeError`] for values that have no lanes, if the default is not replaced.
    ///
    /// # Panics
    /// If `raw` does not have one word per lane.
    fn store_raw(&self, raw: &mut [u64]) -> Result<(), EncodeError> {
        raw::of_lanes(
            Self::LANES,
            raw,
            |fields| Self::fields("", fields),
            |lanes| self.quantize(lanes),
        )
    }

    /// The state of `lanes`. Any values of the lanes give a state.
    fn reconstruct(lanes: &[u32]) -> Self;

    /// The state between those of `from` and `to`, for playback. At ratio 0 it is exactly
    /// [`reconstruct`](Self::reconstruct) of `from`, and at ratio 1 of `to`. It stays within
    /// limits, is never NaN unless an end is, and does not allocate. The default steps.
    ///
    /// The derived method, field by field:
    ///
    /// | field | between the ends |
    /// |---|---|
    /// | `f32`, `f64`, vectors, with a `range` or without | on the line, component by component; steps if an end is not finite |
    /// | the same, if another field is its `velocity` | on the cubic of both ends and both velocities (Hermite), within the `range` |
    /// | with `wrap` | the short way round |
    /// | `rotation`, and glam's `Quat` without an attribute | the shorter turn at constant angular speed, with length 1 |
    /// | `bool`, enums, integers, all with `step` | steps: `from` below ratio 1, then `to` |
    /// | structs, arrays | part by part, by their own `interpolate` |
    /// | `with = Type` | by `Type`'s [`PackWith::interpolate`] |
    /// | `skip` | `Default::default()` |
    ///
    /// Integers step because most of them count or name something. A quaternion and its negative
    /// are the same rotation, so the sign may change when the ratio becomes 1. [`Between`] has an
    /// example.
    fn interpolate(from: &[u32], to: &[u32], at: Between) -> Self {
        Self::reconstruct(at.step(from, to))
    }
}

/// Lanes for a foreign type, named in `#[pack(with = Type)]`.
///
/// ```
/// use kinepack::schema::{Field, FieldKind, PackWith};
/// use kinepack::{EncodeError, Pack, Schema};
///
/// /// A colour as a number from a palette of 256.
/// struct Palette;
///
/// impl PackWith<[u8; 3]> for Palette {
///     const LANES: usize = 1;
///
///     fn fields(path: &str, fields: &mut Vec<Field>) {
///         fields.push(Field::new(path, FieldKind::Choice { max: 255 }));
///     }
///
///     fn quantize([red, green, blue]: &[u8; 3], lanes: &mut [u32]) -> Result<(), EncodeError> {
///         lanes[0] = u32::from(red & 0xE0 | (green & 0xE0) >> 3 | blue >> 6);
///         Ok(())
///     }
///
///     fn reconstruct(lanes: &[u32]) -> [u8; 3] {
///         let code = lanes[0] as u8;
///         [code & 0xE0, (code << 3) & 0xE0, code << 6]
///     }
/// }
///
/// #[derive(Pack)]
/// struct Lamp {
///     #[pack(with = Palette)]
///     colour: [u8; 3],
/// }
/// assert_eq!(Schema::of::<Lamp>().bits_per_entity(), 8);
/// ```
pub trait PackWith<T> {
    /// Number of lanes.
    const LANES: usize;

    /// Appends the fields, with their names below `path`. They must stay the same while a program
    /// runs, as for [`Pack::fields`].
    fn fields(path: &str, fields: &mut Vec<Field>);

    /// Quantizes `value` into `lanes`.
    ///
    /// # Errors
    /// [`EncodeError`] for values that are not numbers or out of range.
    fn quantize(value: &T, lanes: &mut [u32]) -> Result<(), EncodeError>;

    /// Stores the value before quantization, one word per lane, as [`Pack::store_raw`] does. The
    /// default reconstructs the words from the lanes, and allocates.
    ///
    /// # Errors
    /// [`EncodeError`] for values that have no lanes, if the default is not replaced.
    fn store_raw(value: &T, raw: &mut [u64]) -> Result<(), EncodeError> {
        raw::of_lanes(
            Self::LANES,
            raw,
            |fields| Self::fields("", fields),
            |lanes| Self::quantize(value, lanes),
        )
    }

    /// The value of `lanes`.
    fn reconstruct(lanes: &[u32]) -> T;

    /// The value between those of `from` and `to`, as [`Pack::interpolate`]. The default steps; use
    /// [`Between::linear`] for numbers.
    fn interpolate(from: &[u32], to: &[u32], at: Between) -> T {
        Self::reconstruct(at.step(from, to))
    }
}

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
    label = "not `f32`, `f64`, or a vector of them",
    note = "integers are known by their names `u8` to `i64`, not by an alias; glam's types need \
            the feature `glam`"
)]
pub trait Components {
    /// The components as an array.
    type Array: AsRef<[f64]> + AsMut<[f64]> + Copy;

    /// Number of components.
    const COUNT: usize;

    /// True if the components are `f32`.
    const SINGLE: bool;

    /// All zero.
    const ZERO: Self::Array;

    /// The components, widened.
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

#[cfg(feature = "glam")]
macro_rules! glam_components {
    ($($type:ty, $count:literal, $scalar:ty, $single:literal;)*) => {$(
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
                <$type>::from_array(components.map(|value| value as $scalar))
            }
        }
    )*};
}

#[cfg(feature = "glam")]
glam_components! {
    glam::Vec2, 2, f32, true;
    glam::Vec3, 3, f32, true;
    glam::Vec3A, 3, f32, true;
    glam::Vec4, 4, f32, true;
    glam::Quat, 4, f32, true;
    glam::DVec2, 2, f64, false;
    glam::DVec3, 3, f64, false;
    glam::DVec4, 4, f64, false;
    glam::DQuat, 4, f64, false;
}

/// `Pack` for plain values: `$to` gives a value's bits, `$raw` its raw words, `$from` makes a value
/// from bits, and `$between` interpolates.
macro_rules! plain {
    ($($type:ty, $kind:expr, $lanes:literal, $to:expr, $raw:expr, $from:expr, $between:expr;)*) => {$(
        impl Pack for $type {
            const LANES: usize = $lanes;

            fn fields(path: &str, fields: &mut Vec<Field>) {
                fields.push(Field::new(path, $kind));
            }

            #[inline]
            fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
                let bits: u64 = $to(*self);
                derived::store_wide(lanes, bits);
                Ok(())
            }

            #[inline]
            fn store_raw(&self, raw: &mut [u64]) -> Result<(), EncodeError> {
                let words: [u64; $lanes] = $raw(*self);
                raw.copy_from_slice(&words);
                Ok(())
            }

            #[inline]
            fn reconstruct(lanes: &[u32]) -> Self {
                $from(derived::load_wide(lanes))
            }

            #[inline]
            fn interpolate(from: &[u32], to: &[u32], at: Between) -> Self {
                let (from, to) = (Self::reconstruct(from), Self::reconstruct(to));
                at.end(from, to).unwrap_or_else(|| $between(at, from, to))
            }
        }
    )*};
}

macro_rules! plain_integers {
    ($($type:ident, $lanes:literal;)*) => { plain! {$(
        $type,
        FieldKind::Integer(derived::full_range($type::MIN as i128, $type::MAX as i128)),
        $lanes,
        |value: $type| value.wrapping_sub($type::MIN) as u64 & (u64::MAX >> (64 - $type::BITS)),
        |value: $type| core::array::from_fn(|word| if word == 0 { value as u64 } else { 0 }),
        |bits: u64| $type::MIN.wrapping_add(bits as $type),
        Between::step;
    )*} };
}

plain! {
    bool, FieldKind::Bool, 1, |value: bool| u64::from(value), |value: bool| [u64::from(value)], |bits: u64| bits != 0, Between::step;
    f32, FieldKind::Raw { lanes: 1 }, 1, |value: f32| u64::from(value.to_bits()), |value: f32| [u64::from(value.to_bits())],
        |bits: u64| f32::from_bits(bits as u32),
        |at: Between, from, to| at.linear(f64::from(from), f64::from(to)) as f32;
    f64, FieldKind::Raw { lanes: 2 }, 2, |value: f64| value.to_bits(),
        |value: f64| [value.to_bits() & u64::from(u32::MAX), value.to_bits() >> 32], f64::from_bits, Between::linear;
}

plain_integers! {
    u8, 1; u16, 1; u32, 1; u64, 2;
    i8, 1; i16, 1; i32, 1; i64, 2;
}

impl<T: Pack, const N: usize> Pack for [T; N] {
    const LANES: usize = N * T::LANES;

    fn fields(path: &str, fields: &mut Vec<Field>) {
        let first = fields.len();
        for index in 0..N {
            T::fields(&alloc::format!("{path}[{index}]"), fields);
        }
        // An array of bare numbers is one field, because its parts change together.
        if N > 0
            && N < 128
            && fields[first..].iter().all(|field| matches!(field.kind, FieldKind::Raw { lanes: 1 }))
        {
            fields.truncate(first);
            fields.push(Field::new(String::from(path), FieldKind::Raw { lanes: N as u8 }));
        }
    }

    fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
        self.iter()
            .zip(lanes.chunks_mut(T::LANES.max(1)))
            .try_for_each(|(part, lanes)| part.quantize(lanes))
    }

    fn store_raw(&self, raw: &mut [u64]) -> Result<(), EncodeError> {
        self.iter()
            .zip(raw.chunks_mut(T::LANES.max(1)))
            .try_for_each(|(part, raw)| part.store_raw(raw))
    }

    fn reconstruct(lanes: &[u32]) -> Self {
        core::array::from_fn(|index| T::reconstruct(part::<T>(lanes, index)))
    }

    fn interpolate(from: &[u32], to: &[u32], at: Between) -> Self {
        core::array::from_fn(|index| {
            T::interpolate(part::<T>(from, index), part::<T>(to, index), at)
        })
    }
}

/// The lanes of one part of an array.
#[inline]
fn part<T: Pack>(lanes: &[u32], index: usize) -> &[u32] {
    &lanes[index * T::LANES..(index + 1) * T::LANES]
}

#[cfg(feature = "glam")]
macro_rules! plain_glam {
    ($($type:ty, $array:ty, $interpolate:path;)*) => {$(
        impl Pack for $type {
            const LANES: usize = <$array as Pack>::LANES;

            fn fields(path: &str, fields: &mut Vec<Field>) {
                <$array as Pack>::fields(path, fields);
            }

            fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
                Pack::quantize(&self.to_array(), lanes)
            }

            fn store_raw(&self, raw: &mut [u64]) -> Result<(), EncodeError> {
                self.to_array().store_raw(raw)
            }

            fn reconstruct(lanes: &[u32]) -> Self {
                <$type>::from_array(Pack::reconstruct(lanes))
            }

            fn interpolate(from: &[u32], to: &[u32], at: Between) -> Self {
                <$type>::from_array($interpolate(from, to, at))
            }
        }
    )*};
}

#[cfg(feature = "glam")]
plain_glam! {
    glam::Vec2, [f32; 2], Pack::interpolate;
    glam::Vec3, [f32; 3], Pack::interpolate;
    glam::Vec3A, [f32; 3], Pack::interpolate;
    glam::Vec4, [f32; 4], Pack::interpolate;
    glam::Quat, [f32; 4], derived::interpolate_raw_rotation;
}
