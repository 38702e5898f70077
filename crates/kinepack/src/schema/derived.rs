//! What the code of `#[derive(Pack)]` calls: path names, limits in constants, and the loops over components.

use alloc::string::String;
pub use alloc::vec::Vec;

use super::{Components, Field, FieldKind, Role};
use crate::{EncodeError, FloatLimits, IntegerLimits, SmallestThree};

/// `path.name`, or `name` at the top.
pub fn join(path: &str, name: &str) -> String {
    if path.is_empty() { String::from(name) } else { alloc::format!("{path}.{name}") }
}

/// The field of numbers with limits.
pub fn floats_field(path: &str, name: &str, axes: &[FloatLimits], role: Role) -> Field {
    Field::new(join(path, name), FieldKind::Floats(axes.to_vec())).with_role(role)
}

/// Quantizes components lane by lane.
#[inline]
pub fn quantize_floats<T: Components>(
    value: &T,
    axes: &[FloatLimits],
    clamp: bool,
    name: &'static str,
    lanes: &mut [u32],
) -> Result<(), EncodeError> {
    for ((component, limits), lane) in value.components().as_ref().iter().zip(axes).zip(lanes) {
        let code = if clamp { limits.quantize_clamped(*component) } else { limits.quantize(*component) };
        *lane = code.map_err(|error| error.in_field(name))?;
    }
    Ok(())
}

/// The value that the lanes stand for.
#[inline]
pub fn reconstruct_floats<T: Components>(axes: &[FloatLimits], lanes: &[u32]) -> T {
    let mut components = T::ZERO;
    for ((component, limits), lane) in components.as_mut().iter_mut().zip(axes).zip(lanes) {
        *component = limits.reconstruct(*lane);
    }
    T::from_components(components)
}

/// Quantizes a quaternion of four components x, y, z, w.
#[inline]
pub fn quantize_rotation<T: Components<Array = [f64; 4]>>(
    value: &T,
    rotation: &SmallestThree,
    name: &'static str,
    lanes: &mut [u32],
) -> Result<(), EncodeError> {
    let codes = rotation.quantize(value.components().map(|c| c as f32)).map_err(|error| error.in_field(name))?;
    lanes.copy_from_slice(&codes);
    Ok(())
}

/// The quaternion that the lanes stand for.
#[inline]
pub fn reconstruct_rotation<T: Components<Array = [f64; 4]>>(rotation: &SmallestThree, lanes: &[u32]) -> T {
    T::from_components(rotation.reconstruct([lanes[0], lanes[1], lanes[2], lanes[3]]).map(f64::from))
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
    let code = if clamp { limits.quantize_clamped(value) } else { limits.quantize(value).map_err(|e| e.in_field(name))? };
    store_wide(lanes, code);
    Ok(())
}

/// The integer that one lane or two stand for.
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
