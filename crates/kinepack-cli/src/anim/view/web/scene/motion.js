// The positions of the joints of both skeletons at any time, interpolated between the program's times. In metres with z up, as in the view.

export class Motion {
  joints;
  count;
  /** At the current time, by joint: positions of the raw and the compressed skeleton, and errors in cm. */
  raw;
  clip;
  errors;
  /** The largest error of all joints, by time. */
  maxima;
  #poses;
  #last;
  #half_samples_per_s;

  /** `poses` and `clip` as the program sent them. */
  constructor(poses, { samples, rate_hz }) {
    this.#poses = poses;
    this.#last = 2 * (samples - 1);
    this.#half_samples_per_s = 2 * rate_hz;
    const { joints, count } = poses;
    Object.assign(this, { joints, count });
    this.raw = new Float32Array(joints * 3);
    this.clip = new Float32Array(joints * 3);
    this.errors = new Float32Array(joints);
    this.maxima = Float32Array.from({ length: count }, (_, index) => poses.errors.subarray(index * joints, (index + 1) * joints).reduce((a, b) => Math.max(a, b), 0));
  }

  /** The time of pose `index` in seconds. */
  time(index) {
    return Math.min(index * this.#poses.step, this.#last) / this.#half_samples_per_s;
  }

  /** The corners of the raw skeleton's box in pose `index`. */
  bounds(index, up) {
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    for (let joint = 0; joint < this.joints; joint += 1) {
      const at = (index * this.joints + joint) * 3;
      const point = turned(this.#poses.raw[at], this.#poses.raw[at + 1], this.#poses.raw[at + 2], up);
      for (let axis = 0; axis < 3; axis += 1) {
        low[axis] = Math.min(low[axis], point[axis]);
        high[axis] = Math.max(high[axis], point[axis]);
      }
    }
    return { low, high };
  }

  /** Goes to a time. `factor` scales the differences of the compressed skeleton; `up` is the clip's upward axis. */
  go(time_s, factor, up) {
    const { raw, clip, errors, step } = this.#poses;
    const half = Math.min(this.#last, time_s * this.#half_samples_per_s);
    const from = Math.min(this.count - 1, Math.floor(half / step));
    const to = Math.min(this.count - 1, from + 1);
    const span = Math.min(to * step, this.#last) - from * step;
    const share = span > 0 ? Math.max(0, half - from * step) / span : 0;
    const between = (numbers, at, size) => numbers[from * size + at] * (1 - share) + numbers[to * size + at] * share;
    for (let joint = 0; joint < this.joints; joint += 1) {
      const at = joint * 3;
      const before = [0, 1, 2].map((axis) => between(raw, at + axis, this.joints * 3));
      const after = [0, 1, 2].map((axis) => before[axis] + factor * (between(clip, at + axis, this.joints * 3) - before[axis]));
      this.raw.set(turned(...before, up), at);
      this.clip.set(turned(...after, up), at);
      this.errors[joint] = between(errors, joint, this.joints);
    }
  }
}

/** Converts a point from the clip's cm and axes to metres with z up. */
function turned(x, y, z, up) {
  return up === "y" ? [x / 100, -z / 100, y / 100] : [x / 100, y / 100, z / 100];
}
