// Linear algebra for the views: column-major 4 × 4 matrices, as in WebGL, and vectors as arrays of 3.

export const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const normalize = (a) => {
  const length = Math.hypot(a[0], a[1], a[2]) || 1;
  return [a[0] / length, a[1] / length, a[2] / length];
};

/** A camera at `eye` with orthogonal unit vectors, seen through `half_y` = tan of half the vertical angle. */
export function viewProjection({ eye, right, up, forward }, half_y, aspect, near_m, far_m) {
  const x = 1 / (half_y * aspect);
  const y = 1 / half_y;
  const z = (far_m + near_m) / (far_m - near_m);
  const w = (2 * far_m * near_m) / (far_m - near_m);
  const along = dot(forward, eye);
  return new Float32Array([
    right[0] * x, up[0] * y, forward[0] * z, forward[0],
    right[1] * x, up[1] * y, forward[1] * z, forward[1],
    right[2] * x, up[2] * y, forward[2] * z, forward[2],
    -dot(right, eye) * x, -dot(up, eye) * y, -along * z - w, -along,
  ]);
}
