// The camera of all views. It orbits a target on the floor. The target leans towards the player's cube
// and keeps it in the frame.

import { approach, HALF_Y, Orbit, share } from "../shared/orbit.js";
import { reducedMotion } from "../shared/theme.js";

const FOLLOW_S = 0.5;
const HOME = { yaw: 0.35, pitch: 0.72 };
/** How far the player's cube may be from the target, as a share of half the visible height there. */
const CALM_RATIO = 0.6;
const FARTHEST_RATIO = 0.8;

export class Camera extends Orbit {
  #follow = !reducedMotion();
  #grid_half_m = 15;
  /** Whether the player's cube has been in the frame since the camera began to follow it. */
  #holds = false;

  constructor() {
    super({ ...HOME, pitch_min: 0.08 });
  }

  get follow() {
    return this.#follow;
  }

  set follow(on) {
    this.#follow = on;
    this.#holds = false;
  }

  /** Frames a grid of `bodies` cubes, one for each square metre. */
  frame(bodies) {
    this.#grid_half_m = Math.max(4, Math.sqrt(bodies) / 2);
    this.farthest_m = this.#grid_half_m * 12;
    this.depth_m = this.#grid_half_m * 8;
    this.home();
  }

  /** Returns to the initial view. */
  home() {
    this.look(HOME);
    this.stand(this.#grid_half_m * 3.9);
    this.target = [0, 0, 0];
    this.#holds = false;
  }

  /** Advances by `seconds`. `player` is the position of the player's cube, if there is one. */
  update(seconds, player) {
    this.approachGoals(seconds);
    if (!this.follow || !player) return;
    const seen_m = HALF_Y * this.distance_m;
    // From far away the grid stays in view, and the camera only leans towards the player.
    const lean = Math.min(1, Math.max(0.2, 1.25 - this.distance_m / (3.8 * this.#grid_half_m)));
    const beside = [player[0] * (1 - lean), player[1] * (1 - lean)];
    const kept = Math.min(1, (CALM_RATIO * seen_m) / Math.hypot(...beside));
    const slow = share(seconds, FOLLOW_S);
    for (let axis = 0; axis < 2; axis += 1) {
      this.target[axis] = approach(this.target[axis], player[axis] - beside[axis] * kept, slow);
    }
    const away_m = Math.hypot(player[0] - this.target[0], player[1] - this.target[1]);
    const excess = 1 - (FARTHEST_RATIO * seen_m) / away_m;
    if (excess <= 0) {
      this.#holds = true;
    } else if (this.#holds) {
      // A fast player pulls the camera along.
      for (let axis = 0; axis < 2; axis += 1) this.target[axis] += (player[axis] - this.target[axis]) * excess;
    }
  }
}
