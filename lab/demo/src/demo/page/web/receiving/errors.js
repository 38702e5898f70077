// How far the bodies that this page shows are from the true bodies at the same moment of the
// simulation. Medians count only moving bodies, because the many at rest are all within half a
// step. The largest errors count all bodies. Without a body to count, an error is null: not
// measured.

import { BODY_WORDS } from "../protocol.js";

const UNMEASURED = { error_mm_p50: null, error_mm_max: null, error_deg_p50: null, error_deg_max: null };

export class Errors {
  #mm = [];
  #degrees = [];
  /** Null before the first body. */
  #largest = null;
  #summary = UNMEASURED;

  /** Forgets what was measured on another connection. */
  clear() {
    [this.#mm, this.#degrees, this.#largest, this.#summary] = [[], [], null, UNMEASURED];
  }

  /** Adds a shown world, with the true worlds that `Past.around` returns for its moment. */
  add(shown, [before, after, ratio]) {
    if (before.length !== shown.length || after.length !== shown.length) return;
    for (let at = 0; at < shown.length; at += BODY_WORDS) {
      let [moves, distance_2, beside, length_2, dot] = [false, 0, 0, 0, 0];
      for (let part = at; part < at + 3; part += 1) {
        moves ||= before[part] !== after[part];
        distance_2 += (shown[part] - before[part] - (after[part] - before[part]) * ratio) ** 2;
      }
      for (let part = at + 3; part < at + 7; part += 1) {
        moves ||= before[part] !== after[part];
        beside += before[part] * after[part];
      }
      const side = beside < 0 ? -1 : 1;
      for (let part = at + 3; part < at + 7; part += 1) {
        const blended = before[part] + (side * after[part] - before[part]) * ratio;
        length_2 += blended ** 2;
        dot += blended * shown[part];
      }
      const mm = 1000 * Math.sqrt(distance_2);
      const degrees = (360 / Math.PI) * Math.acos(Math.min(1, Math.abs(dot) / Math.sqrt(length_2)));
      const [largest_mm, largest_degrees] = this.#largest ?? [0, 0];
      this.#largest = [Math.max(largest_mm, mm), Math.max(largest_degrees, degrees)];
      if (moves) {
        this.#mm.push(mm);
        this.#degrees.push(degrees);
      }
    }
  }

  /** Medians and largest errors since the last call, or that call's result if no world was shown. */
  take() {
    if (this.#largest !== null) {
      const [error_mm_max, error_deg_max] = this.#largest;
      this.#summary = { error_mm_p50: median(this.#mm), error_mm_max, error_deg_p50: median(this.#degrees), error_deg_max };
      this.#mm = [];
      this.#degrees = [];
      this.#largest = null;
    }
    return this.#summary;
  }
}

function median(numbers) {
  if (numbers.length === 0) return null;
  return Float64Array.from(numbers).sort()[numbers.length >> 1];
}
