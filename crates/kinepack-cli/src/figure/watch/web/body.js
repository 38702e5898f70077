// The positions of the joints now, as the scene and the camera take them: in metres with z up. Both skeletons of the scene are the same one.

export class Body {
  count = 1;
  joints;
  raw;
  clip;
  /** The largest error that each joint may have, in cm. */
  errors;
  #positions;

  constructor(joints) {
    this.joints = joints.length;
    this.raw = new Float32Array(3 * this.joints);
    this.clip = this.raw;
    this.errors = Float32Array.from(joints, ({ max_error_cm }) => max_error_cm);
    this.#positions = new Float32Array(3 * this.joints);
  }

  /** Takes positions in cm, with the axis `up` upwards. */
  go(positions, up) {
    if (positions.length !== this.#positions.length) return;
    this.#positions = positions;
    this.turn(up);
  }

  /** Turns the newest positions, if the upward axis changed. */
  turn(up) {
    for (let at = 0; at < this.raw.length; at += 3) {
      const [x, y, z] = this.#positions.subarray(at, at + 3);
      this.raw.set(up === "y" ? [x / 100, -z / 100, y / 100] : [x / 100, y / 100, z / 100], at);
    }
  }

  /** The corners of the body's box. */
  bounds() {
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    for (let at = 0; at < this.raw.length; at += 1) {
      low[at % 3] = Math.min(low[at % 3], this.raw[at]);
      high[at % 3] = Math.max(high[at % 3], this.raw[at]);
    }
    return { low, high };
  }
}
