// Where the joints of both skeletons are at a time, between the times that the program told. In metres, z up, as the view has it.

export class Motion {
  joints;
  count;
  /** Now: positions of the raw skeleton and of the compressed one, by joint, and errors in cm. */
  raw;
  clip;
  errors;
  /** By time: the largest error of all joints. */
  maxima;
  #poses;
  #last;
  #half_samples_per_s;

  /** `poses` as the program told them, of a `clip` as it was described. */
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

  /** The time of what was told as the `index`th, in seconds. */
  time(index) {
    return Math.min(index * this.#poses.step, this.#last) / this.#half_samples_per_s;
  }

  /** The raw skeleton's corners, told as the `index`th. */
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

  /** Goes to a time. `factor` multiplies how far the compressed skeleton is off; `up` is the axis that is up in the clip. */
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

/** A point in cm as the clip has it, in metres with z up. */
function turned(x, y, z, up) {
  return up === "y" ? [x / 100, -z / 100, y / 100] : [x / 100, y / 100, z / 100];
}
