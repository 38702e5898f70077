//! Helpers that the code of `#[derive(Pack)]` calls: path names, limits in constants, loops over
//! components, and the lanes of two states side by side.

use alloc::string::String;
pub use alloc::vec::Vec;

pub use super::columns::{float_columns, rotation_columns};
pub use super::optional::{only_if, presence_field};
use super::{Components, Field, FieldKind, Role, TimePrecision};
use crate::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use crate::{Between, EncodeError, SetupError};

/// `path.name`, or `name` at the top.
pub fn join(path: &str, name: &str) -> String {
    if path.is_empty() { String::from(name) } else { alloc::format!("{path}.{name}") }
}

/// The field of numbers with limits; `axes` as for [`quantize_floats`].
pub fn floats_field<T: Components>(
    path: &str,
    name: &str,
    axes: &[FloatLimits],
    role: Role,
) -> Field {
    let axes = (0..T::COUNT).map(|component| *axis(axes, component)).collect();
    Field::new(join(path, name), FieldKind::Floats(axes)).with_role(role)
}

/// The field of a rotation.
pub fn rotation_field(path: &str, name: &str, rotation: &SmallestThree, role: Role) -> Field {
    Field::new(join(path, name), FieldKind::Rotation(*rotation)).with_role(role)
}

/// The field of a flag with a role.
pub fn flag_field(path: &str, name: &str, role: Role) -> Field {
    Field::new(join(path, name), FieldKind::Bool).with_role(role)
}

/// The field of an integer with limits.
pub fn integer_field(path: &str, name: &str, limits: &IntegerLimits) -> Field {
    Field::new(join(path, name), FieldKind::Integer(*limits))
}

/// The error of a part that may not know its name.
pub fn named(error: EncodeError, name: &'static str) -> EncodeError {
    match &error {
        EncodeError::NotANumber { field: "", .. } | EncodeError::OutOfRange { field: "", .. } => {
            error.in_field(name)
        }
        _ => error,
    }
}

/// Makes the last pushed field a time stamp.
pub fn mark_clock(fields: &mut [Field]) {
    if let Some(field) = fields.last_mut() {
        field.role = Role::Clock;
    }
}

/// Makes the fields from the index `first` on spawn fields, which are always exact.
pub fn mark_spawn(fields: &mut [Field], first: usize) {
    for field in &mut fields[first..] {
        field.is_spawn = true;
        field.time_precision = None;
    }
}

/// Quantizes components lane by lane. `axes` has the limits of each component, or one for all.
#[inline]
pub fn quantize_floats<T: Components>(
    value: &T,
    axes: &[FloatLimits],
    clamp: bool,
    name: &'static str,
    lanes: &mut [u32],
) -> Result<(), EncodeError> {
    for (index, (component, lane)) in value.components().as_ref().iter().zip(lanes).enumerate() {
        let limits = axis(axes, index);
        // The usual code without a `Result`, which would go through memory.
        *lane = match limits.inner_code(*component) {
            Some(code) => code,
            None => {
                quantize_at_ends(limits, *component, clamp).map_err(|error| error.in_field(name))?
            }
        };
    }
    Ok(())
}

/// Quantizes any number.
#[cold]
pub(super) fn quantize_at_ends(
    limits: &FloatLimits,
    value: f64,
    clamp: bool,
) -> Result<u32, EncodeError> {
    if clamp { limits.quantize_clamped(value) } else { limits.quantize(value) }
}

/// The value of the lanes; `axes` as for [`quantize_floats`].
#[inline]
pub fn reconstruct_floats<T: Components>(axes: &[FloatLimits], lanes: &[u32]) -> T {
    let mut components = T::ZERO;
    for (index, (component, lane)) in components.as_mut().iter_mut().zip(lanes).enumerate() {
        *component = axis(axes, index).reconstruct(*lane);
    }
    T::from_components(components)
}

#[inline]
pub(super) fn axis(axes: &[FloatLimits], component: usize) -> &FloatLimits {
    if axes.len() == 1 { &axes[0] } else { &axes[component] }
}

/// The same limits, refused if the components of `T` are `f32` and too coarse for them.
pub const fn for_type<T: Components>(
    limits: Result<FloatLimits, SetupError>,
) -> Result<FloatLimits, SetupError> {
    match limits {
        Ok(limits) if T::SINGLE => limits.for_f32(),
        other => other,
    }
}

/// The same time precision, refused if a field of `lanes` lanes cannot have it.
pub const fn time_precision(
    precision: TimePrecision,
    lanes: usize,
) -> Result<TimePrecision, SetupError> {
    if precision.is_possible(lanes) { Ok(precision) } else { Err(SetupError::BadPrecision) }
}

/// True if the range from `min` to `end` is as long as all codes together, to within a thousandth
/// of a step.
pub const fn is_period(limits: &FloatLimits, min: f64, end: f64) -> bool {
    let excess = (limits.max_code() as f64 + 1.0) * limits.step() - (end - min);
    excess.abs() <= limits.step() / 1000.0
}

/// The raw words of numbers or of a quaternion.
#[inline]
pub fn store_raw_components<T: Components>(value: &T, raw: &mut [u64]) {
    raw.iter_mut()
        .zip(value.components().as_ref())
        .for_each(|(word, component)| *word = component.to_bits());
}

/// The raw words of an integer of one lane or two.
#[inline]
pub fn store_raw_integer(value: impl Into<i128>, raw: &mut [u64]) {
    raw.fill(0);
    raw[0] = value.into() as u64;
}

/// Quantizes a quaternion of four components x, y, z, w.
#[inline]
pub fn quantize_rotation<T: Components>(
    value: &T,
    rotation: &SmallestThree,
    name: &'static str,
    lanes: &mut [u32],
) -> Result<(), EncodeError> {
    let components = value.components();
    let xyzw = core::array::from_fn(|index| components.as_ref()[index] as f32);
    let codes = rotation.quantize(xyzw).map_err(|error| error.in_field(name))?;
    lanes.copy_from_slice(&codes);
    Ok(())
}

/// The quaternion of the lanes.
#[inline]
pub fn reconstruct_rotation<T: Components>(rotation: &SmallestThree, lanes: &[u32]) -> T {
    let mut components = T::ZERO;
    let xyzw = rotation.reconstruct([lanes[0], lanes[1], lanes[2], lanes[3]]);
    components.as_mut().copy_from_slice(&xyzw.map(f64::from));
    T::from_components(components)
}

/// The lanes of two states. A derived `interpolate` splits them off field by field.
#[derive(Clone, Copy)]
pub struct LanePair<'a> {
    /// The first state's.
    pub from: &'a [u32],
    /// The second state's, of the same number.
    pub to: &'a [u32],
}

impl<'a> LanePair<'a> {
    /// The first `count` lanes of both.
    #[inline]
    pub fn new(from: &'a [u32], to: &'a [u32], count: usize) -> Self {
        Self { from: &from[..count], to: &to[..count] }
    }

    /// Splits off the next `count` lanes.
    #[inline]
    pub fn split(&mut self, count: usize) -> Self {
        let ((from, from_rest), (to, to_rest)) =
            (self.from.split_at(count), self.to.split_at(count));
        *self = Self { from: from_rest, to: to_rest };
        Self { from, to }
    }

    /// The lanes after the first `count`.
    #[inline]
    pub fn after(self, count: usize) -> Self {
        Self { from: &self.from[count..], to: &self.to[count..] }
    }
}

/// The interpolated value; `axes` as for [`quantize_floats`].
#[inline]
pub fn interpolate_floats<T: Components>(
    axes: &[FloatLimits],
    lanes: LanePair<'_>,
    at: Between,
) -> T {
    let mut components = T::ZERO;
    for (index, component) in components.as_mut().iter_mut().enumerate() {
        let (axis, from, to) = (axis(axes, index), lanes.from[index], lanes.to[index]);
        *component = if axis.wraps() {
            at.around(axis, from, to, |value| round::<T>(index, value))
        } else {
            at.linear(axis.reconstruct(from), axis.reconstruct(to))
        };
    }
    T::from_components(components)
}

/// The number that `value` becomes as the component of a `T`.
#[inline]
fn round<T: Components>(component: usize, value: f64) -> f64 {
    let mut components = T::ZERO;
    components.as_mut()[component] = value;
    T::from_components(components).components().as_ref()[component]
}

/// The interpolated value of two that have velocities, within limits: `axes` as for
/// [`quantize_floats`], or none.
#[inline]
pub fn interpolate_moving<T: Components>(
    axes: &[FloatLimits],
    ends: [T; 2],
    velocities: [T; 2],
    at: Between,
) -> T {
    let [from, to] = ends.each_ref().map(T::components);
    let velocities = velocities.each_ref().map(T::components);
    let mut components = T::ZERO;
    for (index, component) in components.as_mut().iter_mut().enumerate() {
        let (from, to) = (from.as_ref()[index], to.as_ref()[index]);
        let value =
            at.hermite(from, to, [velocities[0].as_ref()[index], velocities[1].as_ref()[index]]);
        *component = match axes {
            // Without limits a cubic may leave the range of `f32`.
            [] if T::SINGLE && (value as f32).is_infinite() => at.linear(from, to),
            [] => value,
            axes => value.clamp(axis(axes, index).min(), axis(axes, index).max()),
        };
    }
    let [from, to] = ends;
    // The ends unchanged, because a conversion to `f64` may change the bits of a NaN.
    at.end(from, to).unwrap_or_else(|| T::from_components(components))
}

/// The interpolated quaternion.
#[inline]
pub fn interpolate_rotation<T: Components>(
    rotation: &SmallestThree,
    lanes: LanePair<'_>,
    at: Between,
) -> T {
    let LanePair { from, to } = lanes;
    // A rotation that does not change keeps its bits.
    let end = if from == to { Some(from) } else { at.end(from, to) };
    if let Some(end) = end {
        return reconstruct_rotation(rotation, end);
    }
    let xyzw = |lanes: &[u32]| {
        rotation.reconstruct([lanes[0], lanes[1], lanes[2], lanes[3]]).map(f64::from)
    };
    let mut components = T::ZERO;
    // Any codes give a rotation, so there is always a turn.
    components
        .as_mut()
        .copy_from_slice(&at.slerp(xyzw(from), xyzw(to)).unwrap_or_else(|| xyzw(from)));
    T::from_components(components)
}

/// The interpolated quaternion of two that are not quantized; steps if one has no direction.
#[cfg(feature = "glam")]
pub fn interpolate_raw_rotation<T>(from: &[u32], to: &[u32], at: Between) -> [T; 4]
where
    T: Copy + PartialEq,
    [T; 4]: super::Pack + Components<Array = [f64; 4]>,
{
    let [from, to] = [from, to].map(<[T; 4] as super::Pack>::reconstruct);
    let end = if from == to { Some(from) } else { at.end(from, to) };
    end.or_else(|| at.slerp(from.components(), to.components()).map(Components::from_components))
        .unwrap_or(from)
}

/// Quantizes an integer into one lane or two.
#[inline]
pub fn quantize_integer(
    value: impl Into<i128>,
    limits: &IntegerLimits,
    clamp: bool,
    name: &'static str,
    lanes: &mut [u32],
) -> Result<(), EncodeError> {
    let value = value.into();
    let code = if clamp {
        limits.quantize_clamped(value)
    } else {
        limits.quantize(value).map_err(|e| e.in_field(name))?
    };
    store_wide(lanes, code);
    Ok(())
}

/// The integer of one lane or two.
#[inline]
pub fn reconstruct_integer(limits: &IntegerLimits, lanes: &[u32]) -> i128 {
    limits.reconstruct(load_wide(lanes))
}

/// Lanes of an integer: two above 32 bits.
pub const fn integer_lanes(limits: &IntegerLimits) -> usize {
    if limits.max_code() > u32::MAX as u64 { 2 } else { 1 }
}

/// Limits of a whole integer type.
pub const fn full_range(min: i128, max: i128) -> IntegerLimits {
    match IntegerLimits::new(min, max, 1) {
        Ok(limits) => limits,
        Err(_) => panic!("an integer type has at most 64 bits"),
    }
}

/// Limits from `min` to `max`, both included, in the finest steps that `bits` bits allow.
pub const fn integer_with_bits(
    min: i128,
    max: i128,
    bits: u32,
) -> Result<IntegerLimits, SetupError> {
    let whole = match IntegerLimits::new(min, max, 1) {
        Ok(limits) => limits,
        error => return error,
    };
    if bits == 0 || bits > whole.bits() {
        return Err(SetupError::BitCount { bits, max_bits: whole.bits() });
    }
    IntegerLimits::new(min, max, whole.max_code().div_ceil(u64::MAX >> (64 - bits)))
}

/// Limits of all integers of `bits` bits, signed if the type from `min` to `max` is.
pub const fn integer_of_bits(min: i128, max: i128, bits: u32) -> Result<IntegerLimits, SetupError> {
    let max_bits = full_range(min, max).bits();
    if bits == 0 || bits > max_bits {
        return Err(SetupError::BitCount { bits, max_bits });
    }
    IntegerLimits::new(min >> (max_bits - bits), max >> (max_bits - bits), 1)
}

/// The same limits, refused if they are wider than the type from `min` to `max`.
pub const fn within(
    limits: Result<IntegerLimits, SetupError>,
    min: i128,
    max: i128,
) -> Result<IntegerLimits, SetupError> {
    match limits {
        Ok(limits) if limits.min() < min || limits.max() > max => Err(SetupError::TooManySteps),
        other => other,
    }
}

/// Splits a code over its lanes, the lower half first.
#[inline]
pub(crate) fn store_wide(lanes: &mut [u32], code: u64) {
    lanes[0] = code as u32;
    if let Some(upper) = lanes.get_mut(1) {
        *upper = (code >> 32) as u32;
    }
}

/// Joins a code from its lanes.
#[inline]
pub(crate) fn load_wide(lanes: &[u32]) -> u64 {
    u64::from(lanes[0]) | lanes.get(1).map_or(0, |upper| u64::from(*upper) << 32)
}
