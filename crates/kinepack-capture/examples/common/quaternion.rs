//! Computes with rotations as quaternions x, y, z, w.

/// Returns the rotation by `radians` around an axis of length 1.
pub(crate) fn around(axis: [f32; 3], radians: f32) -> [f32; 4] {
    let (sin, cos) = (0.5 * radians).sin_cos();
    [axis[0] * sin, axis[1] * sin, axis[2] * sin, cos]
}

/// Returns the rotation that applies first `b`, then `a`.
pub(crate) fn product(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
    [
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2],
        a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    ]
}
