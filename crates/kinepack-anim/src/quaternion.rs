//! Quaternion arithmetic in `f32`, for poses that are already sampled. It consists of additions,
//! multiplications, divisions and square roots in a fixed order, so every platform computes the
//! same results.

/// The quaternion that does not rotate.
pub(crate) const IDENTITY: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// Returns the rotation `b`, followed by `a`.
pub(crate) fn product(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// Rotates `vector` by a unit quaternion.
pub(crate) fn rotated(vector: [f32; 3], [x, y, z, w]: [f32; 4]) -> [f32; 3] {
    let axis = [x, y, z];
    let twice = cross(axis, vector).map(|c| 2.0 * c);
    let turned = cross(axis, twice);
    std::array::from_fn(|index| vector[index] + w * twice[index] + turned[index])
}

/// Interpolates between two rotations along the shorter arc. The result is their normalized
/// weighted sum.
pub(crate) fn mix(from: [f32; 4], to: [f32; 4], weight: f32) -> [f32; 4] {
    let share = if dot(from, to) < 0.0 { -weight } else { weight };
    unit(std::array::from_fn(|index| from[index] * (1.0 - weight) + to[index] * share))
}

/// Returns the inverse of a unit quaternion.
pub(crate) fn conjugate([x, y, z, w]: [f32; 4]) -> [f32; 4] {
    [-x, -y, -z, w]
}

/// Returns the cosine of half the angle between two rotations.
pub(crate) fn dot(a: [f32; 4], b: [f32; 4]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn cross([ax, ay, az]: [f32; 3], [bx, by, bz]: [f32; 3]) -> [f32; 3] {
    [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]
}

/// Normalizes a quaternion. A quaternion of length zero becomes the identity.
pub(crate) fn unit(q: [f32; 4]) -> [f32; 4] {
    let length = q.iter().map(|c| c * c).sum::<f32>().sqrt();
    if length > 0.0 { q.map(|c| c / length) } else { IDENTITY }
}
