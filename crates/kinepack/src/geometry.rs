//! Computes vectors and rotations in `f64`. The functions use only + − × ÷ and square roots, in the
//! order written here, so that every platform gets the same results. See `spec/CODEC.md`, section
//! 12.4.

/// A vector in the order level, level, up, or in a body's own axes.
pub(crate) type Vector = [f64; 3];
/// A unit quaternion with the components x, y, z, w.
pub(crate) type Quaternion = [f64; 4];

/// The index of the axis that points up. The two level axes have the indices 0 and 1.
pub(crate) const UP: usize = 2;

pub(crate) const NO_TURN: Quaternion = [0.0, 0.0, 0.0, 1.0];

/// The number of units of a rotation vector per radian. This factor brings turns to about the scale
/// of steps.
pub(crate) const PER_RADIAN: f64 = 180.0;

#[inline]
pub(crate) fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline]
pub(crate) fn sub(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline]
pub(crate) fn scale(a: Vector, factor: f64) -> Vector {
    [a[0] * factor, a[1] * factor, a[2] * factor]
}

#[inline]
pub(crate) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline]
pub(crate) fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Returns the product of two quaternions: the rotation by `b`, then by `a`.
#[inline]
pub(crate) fn multiply(a: Quaternion, b: Quaternion) -> Quaternion {
    [
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    ]
}

#[inline]
pub(crate) fn conjugate(a: Quaternion) -> Quaternion {
    [-a[0], -a[1], -a[2], a[3]]
}

/// Returns `v` turned by `q`.
#[inline]
pub(crate) fn rotate(q: Quaternion, v: Vector) -> Vector {
    let axis = [q[0], q[1], q[2]];
    let t = scale(cross(axis, v), 2.0);
    let c = cross(axis, t);
    [v[0] + q[3] * t[0] + c[0], v[1] + q[3] * t[1] + c[1], v[2] + q[3] * t[2] + c[2]]
}

/// Returns the motion of the point at `v` when it is rotated by `q`.
#[inline]
pub(crate) fn carried(q: Quaternion, v: Vector) -> Vector {
    sub(rotate(q, v), v)
}

/// Converts a rotation to a vector along its axis, of length 4 tan(θ/4) radians for an angle θ.
/// This length is θ up to a term of θ³/48, and needs no arc tangent.
#[inline]
pub(crate) fn rotation_vector(q: Quaternion) -> Vector {
    let factor =
        if q[3] < 0.0 { -4.0 * PER_RADIAN / (1.0 - q[3]) } else { 4.0 * PER_RADIAN / (1.0 + q[3]) };
    [q[0] * factor, q[1] * factor, q[2] * factor]
}

/// The inverse of [`rotation_vector`].
#[inline]
pub(crate) fn rotation_of(v: Vector) -> Quaternion {
    let s = scale(v, 0.25 / PER_RADIAN);
    let squares = dot(s, s);
    let factor = 2.0 / (1.0 + squares);
    [s[0] * factor, s[1] * factor, s[2] * factor, (1.0 - squares) / (1.0 + squares)]
}

/// Returns the rotation that turns `from` into `to`, in the world's axes.
#[inline]
pub(crate) fn turn(from: Quaternion, to: Quaternion) -> Quaternion {
    multiply(to, conjugate(from))
}

/// Returns the three axes of a body at rotation `q`, in the world's axes.
#[inline]
pub(crate) fn axes(q: Quaternion) -> [Vector; 3] {
    let [x, y, z, w] = q;
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)],
        [2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)],
        [2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
}
