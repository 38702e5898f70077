// A scale of values that may be negative, with a margin below the smallest and above the largest value.

import { roundUp } from "../shared/scale.js";

const LINE_STEPS = [1, 2, 2.5, 5, 10];
const MARGIN = 0.08;

export class ValueScale {
  #low;
  #high;

  /** `least` is the smallest range of the scale, so that noise does not look like motion. */
  constructor(low, high, least) {
    const middle = (low + high) / 2;
    const half = Math.max(least / 2, ((high - low) / 2) * (1 + MARGIN));
    this.#low = middle - half;
    this.#high = middle + half;
  }

  height(value) {
    return (value - this.#low) / (this.#high - this.#low);
  }

  lines() {
    const step = roundUp((this.#high - this.#low) / 5, LINE_STEPS);
    const first = Math.ceil(this.#low / step - 1e-9);
    const count = Math.floor(this.#high / step + 1e-9) - first + 1;
    return Array.from({ length: Math.max(0, count) }, (_, index) => (first + index) * step);
  }
}
