// The camera of both views: it orbits a target on the floor, which leans towards the player's cube.

import { approach, Orbit, share } from "../shared/orbit.js";
import { reducedMotion } from "../shared/theme.js";

const FOLLOW_S = 0.5;

export class Camera extends Orbit {
  follow = !reducedMotion();
  #grid_half_m = 15;

  constructor() {
    super({ yaw: 0.35, pitch: 0.72, pitch_min: 0.08 });
  }

  /** Frames the grid that so many bodies make at one for each square metre. */
  frame(bodies) {
    this.#grid_half_m = Math.max(4, Math.sqrt(bodies) / 2);
    this.farthest_m = this.#grid_half_m * 12;
    this.depth_m = this.#grid_half_m * 8;
    this.stand(this.#grid_half_m * 3.9);
  }

  /** Goes on for `seconds`; `player` is where the player's cube is, if there is one. */
  update(seconds, player) {
    this.approachGoals(seconds);
    if (this.follow && player) {
      // From far away the grid stays in view and the camera only leans towards the player.
      const lean = Math.min(1, Math.max(0.2, 1.25 - this.distance_m / (3.8 * this.#grid_half_m)));
      const slow = share(seconds, FOLLOW_S);
      for (let axis = 0; axis < 2; axis += 1) this.target[axis] = approach(this.target[axis], player[axis] * lean, slow);
    }
  }
}
