// The camera of a clip. The whole motion is in view, or the camera follows a motion that leads far away.

import { approach, Orbit, share } from "../shared/orbit.js";

/** The distance in metres at which a sphere of one metre fits into the view, with some margin. */
const AWAY = 3.6;
/** The camera follows a motion that is larger than the skeleton by this factor. */
const FAR = 1.9;
const FOLLOW_S = 0.25;

export class Camera extends Orbit {
  follow = false;
  /** Half of the floor's width, the distance of its lines, and its height, in metres. */
  floor = { half_width_m: 4, step_m: 1, height_m: 0 };
  #centre = [0, 0, 0];

  constructor() {
    super({ yaw: 0.6, pitch: 0.22, pitch_min: -0.4 });
  }

  /** Frames a motion, and returns whether the camera should follow it. */
  frame(motion, up) {
    const all = { low: [Infinity, Infinity, Infinity], high: [-Infinity, -Infinity, -Infinity] };
    let pose_m = 0;
    for (let index = 0; index < motion.count; index += Math.ceil(motion.count / 600)) {
      const { low, high } = motion.bounds(index, up);
      pose_m = Math.max(pose_m, radius(low, high));
      all.low = all.low.map((value, axis) => Math.min(value, low[axis]));
      all.high = all.high.map((value, axis) => Math.max(value, high[axis]));
    }
    const whole_m = Math.max(1e-3, radius(all.low, all.high));
    const isFar = whole_m > FAR * pose_m;
    this.follow = isFar;
    const seen_m = Math.max(1e-3, isFar ? pose_m : whole_m);
    this.#centre = all.low.map((value, axis) => (value + all.high[axis]) / 2);
    this.target = [...this.#centre];
    this.nearest_m = seen_m * 0.3;
    this.farthest_m = whole_m * 12;
    this.depth_m = whole_m * 8;
    this.stand(seen_m * AWAY);
    // Most skeletons stand on a floor at zero. The floor moves to the ones that do not.
    const height_m = all.high[2] - all.low[2];
    const standsOnZero = all.low[2] > -0.2 * height_m && all.low[2] < 0.3 * height_m;
    const step_m = 10 ** Math.round(Math.log10(seen_m / 2));
    this.floor = { half_width_m: Math.max(4 * seen_m, 2 * whole_m), step_m, height_m: standsOnZero ? 0 : all.low[2] };
    return isFar;
  }

  /** Moves the camera for `seconds`. If it follows, it moves towards `motion`. */
  update(seconds, motion) {
    this.approachGoals(seconds);
    const goal = this.follow ? middle(motion) : this.#centre;
    const part = share(seconds, FOLLOW_S);
    for (let axis = 0; axis < 3; axis += 1) this.target[axis] = approach(this.target[axis], goal[axis], part);
  }

  /** Moves the camera to its destination at once. */
  arrive(motion) {
    this.target = [...(this.follow ? middle(motion) : this.#centre)];
  }
}

const radius = (low, high) => Math.hypot(...low.map((value, axis) => high[axis] - value)) / 2;

/** The centre of the raw skeleton now, between its outermost joints. */
function middle({ raw }) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let at = 0; at < raw.length; at += 1) {
    low[at % 3] = Math.min(low[at % 3], raw[at]);
    high[at % 3] = Math.max(high[at % 3], raw[at]);
  }
  return low.map((value, axis) => (value + high[axis]) / 2);
}
