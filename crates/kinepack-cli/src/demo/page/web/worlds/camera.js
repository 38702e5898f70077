// The camera of both views: it orbits a target on the floor. What moves it sets goals; it goes after them in wall-clock time,
// so that it moves alike at any frame rate, and at once where motion is to be reduced.

import { cross, normalize, subtract, viewProjection } from "./matrix.js";
import { reducedMotion } from "../theme.js";

/** Tangent of half the vertical angle of view: about 33 degrees in all. */
const HALF_Y = 0.3;
const PITCH_MIN = 0.08;
const PITCH_MAX = 1.5;
const SMOOTH_S = 0.09;
const FOLLOW_S = 0.5;

export class Camera {
  yaw = 0.35;
  follow = !reducedMotion();
  #pitch = 0.72;
  #distance_m = 60;
  #goal = { yaw: 0.35, pitch: 0.72, distance_m: 60 };
  #target = [0, 0, 0];
  #grid_half_m = 15;

  /** Frames the grid that so many bodies make at one for each square metre. */
  frame(bodies) {
    this.#grid_half_m = Math.max(4, Math.sqrt(bodies) / 2);
    this.#goal.distance_m = this.#distance_m = this.#grid_half_m * 3.9;
  }

  turn(yaw, pitch) {
    this.#goal.yaw += yaw;
    this.#goal.pitch = Math.min(PITCH_MAX, Math.max(PITCH_MIN, this.#goal.pitch + pitch));
  }

  zoom(factor) {
    this.#goal.distance_m = Math.min(this.#grid_half_m * 12, Math.max(4, this.#goal.distance_m * factor));
  }

  /** Goes on for `seconds`; `player` is where the player's cube is, if there is one. Says whether something moved. */
  update(seconds, player) {
    const before = [this.yaw, this.#pitch, this.#distance_m, ...this.#target];
    const share = reducedMotion() ? 1 : 1 - Math.exp(-seconds / SMOOTH_S);
    this.yaw = approach(this.yaw, this.#goal.yaw, share);
    this.#pitch = approach(this.#pitch, this.#goal.pitch, share);
    this.#distance_m = approach(this.#distance_m, this.#goal.distance_m, share);
    if (this.follow && player) {
      // From far away the grid stays in view and the camera only leans towards the player.
      const lean = Math.min(1, Math.max(0.2, 1.25 - this.#distance_m / (3.8 * this.#grid_half_m)));
      const slow = reducedMotion() ? 1 : 1 - Math.exp(-seconds / FOLLOW_S);
      for (let axis = 0; axis < 2; axis += 1) this.#target[axis] = approach(this.#target[axis], player[axis] * lean, slow);
    }
    const after = [this.yaw, this.#pitch, this.#distance_m, ...this.#target];
    return after.some((value, index) => value !== before[index]);
  }

  /** What a view of this aspect needs: matrix, eye, and the vectors for rays. */
  view(aspect) {
    const level = Math.cos(this.#pitch);
    const forward = [Math.sin(this.yaw) * level, Math.cos(this.yaw) * level, -Math.sin(this.#pitch)];
    const right = [Math.cos(this.yaw), -Math.sin(this.yaw), 0];
    const up = cross(right, forward);
    // A narrow view takes a step back, so that as much fits across.
    const distance_m = this.#distance_m * Math.max(1, 1.25 / aspect);
    const eye = subtract(this.#target, forward.map((part) => part * distance_m));
    const basis = { eye, right, up, forward };
    const far_m = distance_m + this.#grid_half_m * 8;
    return { ...basis, aspect, distance_m, half_y: HALF_Y, matrix: viewProjection(basis, HALF_Y, aspect, far_m / 2000, far_m) };
  }
}

/** The direction of the ray through a point of the view, −1 to 1 in x and y. */
export function rayThrough(view, x, y) {
  const { forward, right, up, half_y, aspect } = view;
  return normalize([0, 1, 2].map((axis) => forward[axis] + right[axis] * x * half_y * aspect + up[axis] * y * half_y));
}

function approach(value, goal, share) {
  const next = value + (goal - value) * share;
  return Math.abs(goal - next) < 1e-4 ? goal : next;
}
