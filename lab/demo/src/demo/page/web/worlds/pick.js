// Finds the first body that a ray hits. The bounding sphere rejects bodies far from the ray in a few
// operations. Small cubes far away are hit even if the ray misses them by a few pixels.

import { dot } from "../shared/matrix.js";

const MISS_PX = 6;

/**
 * `bodies` is laid out as in the program's message, `ray` is a unit vector from `eye`,
 * `halfEdge(index)` is in metres, and `radians_per_px` is the angle that a pixel covers. Returns the
 * index, or null.
 */
export function pick(bodies, eye, ray, halfEdge, radians_per_px) {
  let hit = null;
  let hit_m = Infinity;
  let near = null;
  let near_px = MISS_PX;
  for (let index = 0, at = 0; at + 8 <= bodies.length; index += 1, at += 8) {
    const x = bodies[at] - eye[0];
    const y = bodies[at + 1] - eye[1];
    const z = bodies[at + 2] - eye[2];
    const along_m = x * ray[0] + y * ray[1] + z * ray[2];
    if (along_m <= 0) continue;
    const beside_m = Math.sqrt(Math.max(0, x * x + y * y + z * z - along_m * along_m));
    const half_m = halfEdge(index);
    const miss_px = (beside_m - half_m) / along_m / radians_per_px;
    if (miss_px < near_px) {
      near = index;
      near_px = miss_px;
    }
    if (beside_m > half_m * 1.7321) continue;
    const enter_m = enterBox(bodies, at, [x, y, z], ray, half_m);
    if (enter_m !== null && enter_m < hit_m) {
      hit = index;
      hit_m = enter_m;
    }
  }
  return hit ?? near;
}

/** Where the ray enters the body's box, in metres from the eye, or null if it misses. `centre` is relative to the eye. */
function enterBox(bodies, at, centre, ray, half_m) {
  let enter_m = -Infinity;
  let leave_m = Infinity;
  for (const axis of axes(bodies[at + 3], bodies[at + 4], bodies[at + 5], bodies[at + 6])) {
    const to_m = dot(axis, centre);
    const speed = dot(axis, ray);
    // For a ray along the face, a very small number keeps the quotients finite.
    const safe = Math.abs(speed) < 1e-9 ? 1e-9 : speed;
    const first_m = (to_m - half_m) / safe;
    const second_m = (to_m + half_m) / safe;
    enter_m = Math.max(enter_m, Math.min(first_m, second_m));
    leave_m = Math.min(leave_m, Math.max(first_m, second_m));
  }
  return enter_m <= leave_m ? enter_m : null;
}

/** The box's axes in the world: the columns of the rotation matrix. */
function axes(x, y, z, w) {
  return [
    [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)],
    [2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)],
    [2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)],
  ];
}
