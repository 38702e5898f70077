// A camera that orbits a target. Callers set goals, and the camera moves towards them in wall-clock
// time, so its speed does not depend on the frame rate. With reduced motion it jumps. `z` is up.

import { cross, normalize, subtract, viewProjection } from "./matrix.js";
import { reducedMotion } from "./theme.js";

/** Tangent of half the vertical angle of view, which is about 33 degrees. */
export const HALF_Y = 0.3;
const PITCH_MAX = 1.5;
const SMOOTH_S = 0.09;

export class Orbit {
  yaw;
  pitch;
  distance_m = 60;
  target = [0, 0, 0];
  /** The nearest and the farthest distance, and how far beyond the target objects are visible. */
  nearest_m = 4;
  farthest_m = 180;
  depth_m = 120;
  #pitch_min;
  #goal;

  constructor({ yaw, pitch, pitch_min }) {
    this.yaw = yaw;
    this.pitch = pitch;
    this.#pitch_min = pitch_min;
    this.#goal = { yaw, pitch, distance_m: this.distance_m };
  }

  /** Jumps to this distance. */
  stand(distance_m) {
    this.#goal.distance_m = this.distance_m = distance_m;
  }

  /** Jumps to this direction. */
  look({ yaw, pitch }) {
    this.#goal.yaw = this.yaw = yaw;
    this.#goal.pitch = this.pitch = pitch;
  }

  turn(yaw, pitch) {
    this.#goal.yaw += yaw;
    this.#goal.pitch = Math.min(PITCH_MAX, Math.max(this.#pitch_min, this.#goal.pitch + pitch));
  }

  zoom(factor) {
    this.#goal.distance_m = Math.min(this.farthest_m, Math.max(this.nearest_m, this.#goal.distance_m * factor));
  }

  /** Moves towards its goals for `seconds`. */
  approachGoals(seconds) {
    const part = share(seconds, SMOOTH_S);
    this.yaw = approach(this.yaw, this.#goal.yaw, part);
    this.pitch = approach(this.pitch, this.#goal.pitch, part);
    this.distance_m = approach(this.distance_m, this.#goal.distance_m, part);
  }

  /** The matrix, the eye, and the vectors for rays, for a view of this aspect. */
  view(aspect) {
    const level = Math.cos(this.pitch);
    const forward = [Math.sin(this.yaw) * level, Math.cos(this.yaw) * level, -Math.sin(this.pitch)];
    const right = [Math.cos(this.yaw), -Math.sin(this.yaw), 0];
    const up = cross(right, forward);
    // In a narrow view the camera moves back, so that the same width fits.
    const distance_m = this.distance_m * Math.max(1, 1.25 / aspect);
    const eye = subtract(this.target, forward.map((part) => part * distance_m));
    const basis = { eye, right, up, forward };
    const far_m = distance_m + this.depth_m;
    return { ...basis, aspect, distance_m, half_y: HALF_Y, matrix: viewProjection(basis, HALF_Y, aspect, far_m / 2000, far_m) };
  }
}

/** The direction of the ray through a point of the view, −1 to 1 in x and y. */
export function rayThrough(view, x, y) {
  const { forward, right, up, half_y, aspect } = view;
  return normalize([0, 1, 2].map((axis) => forward[axis] + right[axis] * x * half_y * aspect + up[axis] * y * half_y));
}

/** The share of the remaining way to move in this time; all of it with reduced motion. */
export const share = (seconds, smooth_s) => (reducedMotion() ? 1 : 1 - Math.exp(-seconds / smooth_s));

export function approach(value, goal, part) {
  const next = value + (goal - value) * part;
  return Math.abs(goal - next) < 1e-4 ? goal : next;
}
