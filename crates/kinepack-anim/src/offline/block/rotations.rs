//! Converts rotations to modified Rodrigues parameters and to codes, and computes means and
//! principal axes of many rotations.

use glam::{DMat3, DQuat, DVec3};

use crate::block::Constant;

use super::eigen::eigenvectors;

/// The size of each code of a constant, in bits.
const CONSTANT_BITS: u32 = 21;

/// Returns the codes of the reference of weighted rotations, which is their mean.
pub(super) fn reference_codes(
    rotations: impl Iterator<Item = (DQuat, f64)>,
    bits: u32,
) -> [u16; 3] {
    rotation_codes(mean(rotations), bits).map(|code| code as u16)
}

/// Returns the codes of the axes of weighted rotations, which are the principal axes of their
/// parameters.
pub(super) fn axes_codes(
    reference: DQuat,
    rotations: impl Iterator<Item = (DQuat, f64)>,
    bits: u32,
) -> [u16; 3] {
    let mut spread = [[0.0; 3]; 3];
    rotations.for_each(|(rotation, weight)| {
        add_square(&mut spread, relative_parameters(reference, rotation).to_array(), weight);
    });
    let [x, y, z] = eigenvectors(spread).map(DVec3::from_array);
    let z = if x.cross(y).dot(z) < 0.0 { -z } else { z };
    let axes = positive(DQuat::from_mat3(&DMat3::from_cols(x, y, z)).normalize());
    rotation_codes(axes, bits).map(|code| code as u16)
}

/// Returns the codes of the constant that is nearest to all of `rotations`.
pub(super) fn constant_codes(rotations: impl Iterator<Item = DQuat>) -> [u32; 3] {
    rotation_codes(mean(rotations.map(|rotation| (rotation, 1.0))), CONSTANT_BITS)
}

/// Returns the rotation that a player decodes from a constant.
pub(super) fn constant_rotation(constant: Constant) -> DQuat {
    match constant {
        Constant::Rotation(_) => DQuat::from_array(constant.value().map(f64::from)).normalize(),
        Constant::Vector(_) => DQuat::IDENTITY,
    }
}

/// Returns the mean of weighted rotations.
fn mean(rotations: impl Iterator<Item = (DQuat, f64)>) -> DQuat {
    let mut sum = [[0.0; 4]; 4];
    rotations.for_each(|(rotation, weight)| add_square(&mut sum, rotation.to_array(), weight));
    positive(DQuat::from_array(eigenvectors(sum)[0]).normalize())
}

/// Adds a vector's outer product with itself, times `weight`.
fn add_square<const N: usize>(sum: &mut [[f64; N]; N], vector: [f64; N], weight: f64) {
    for (row, a) in sum.iter_mut().zip(vector) {
        row.iter_mut().zip(vector).for_each(|(sum, b)| *sum += weight * (a * b));
    }
}

/// Returns the parameters of a rotation relative to its reference.
pub(super) fn relative_parameters(reference: DQuat, rotation: DQuat) -> DVec3 {
    parameters(positive(reference.inverse() * rotation))
}

/// Returns the distance between two rotations. It is about the distance between the two places of a
/// point that is 1 away from the centre.
pub(super) fn turn(from: DQuat, to: DQuat) -> f64 {
    2.0 * (from.inverse() * to).xyz().length()
}

/// Returns the same rotation as a quaternion whose w is not negative.
pub(super) fn positive(q: DQuat) -> DQuat {
    if q.w < 0.0 { -q } else { q }
}

/// Returns the modified Rodrigues parameters of a rotation, whose w must be above −1.
pub(super) fn parameters(q: DQuat) -> DVec3 {
    q.xyz() / (1.0 + q.w)
}

/// Returns the rotation that modified Rodrigues parameters represent.
pub(super) fn rotation_from_parameters(p: DVec3) -> DQuat {
    let n = p.length_squared();
    let d = 1.0 / (1.0 + n);
    DQuat::from_xyzw(2.0 * p.x * d, 2.0 * p.y * d, 2.0 * p.z * d, (1.0 - n) * d)
}

/// Returns the codes of a rotation whose w is not negative.
fn rotation_codes(q: DQuat, bits: u32) -> [u32; 3] {
    let middle = f64::from(1_u32 << (bits - 1));
    parameters(q).to_array().map(|number| (number * (middle - 1.0) + middle).round() as u32)
}

/// Returns the rotation that codes of `bits` bits represent.
pub(super) fn rotation_from_codes<C: Into<u32>>(codes: [C; 3], bits: u32) -> DQuat {
    let middle = f64::from(1_u32 << (bits - 1));
    let [x, y, z] = codes.map(|code| (f64::from(code.into()) - middle) / (middle - 1.0));
    rotation_from_parameters(DVec3::new(x, y, z)).normalize()
}
