// Scales of the charts: they map a value to a height from 0 to 1, and choose the values of the grid lines.
// They grow at once and shrink only after a while, so an axis stays readable.

const SHRINK_WAIT_MS = 3000;
const STEPS = [1, 1.5, 2, 3, 4, 5, 6, 8, 10];
const LINE_STEPS = [1, 2, 2.5, 5, 10];

/** A value that grows at once, and shrinks only after smaller values for a while. */
class Calm {
  value;
  #lower_since_ms = null;

  constructor(value) {
    this.value = value;
  }

  approach(wanted, now_ms) {
    this.#lower_since_ms = wanted < this.value ? (this.#lower_since_ms ?? now_ms) : null;
    const shrinks = this.#lower_since_ms !== null && now_ms - this.#lower_since_ms > SHRINK_WAIT_MS;
    if (wanted > this.value || shrinks) this.value = wanted;
  }
}

/** From 0 to a round number above all values, at least `least`. */
export class LinearScale {
  #least;
  #top;

  constructor(least) {
    this.#least = least;
    this.#top = new Calm(least);
  }

  fit(peak, now_ms) {
    this.#top.approach(Math.max(this.#least, roundUp(peak * 1.06, STEPS)), now_ms);
  }

  height(value) {
    return value / this.#top.value;
  }

  lines() {
    const step = roundUp(this.#top.value / 5, LINE_STEPS);
    const count = Math.floor(this.#top.value / step + 1e-9);
    return Array.from({ length: count + 1 }, (_, index) => index * step);
  }
}

/** Powers of ten, from `low` over at least `decades` decades. Smaller values are at the bottom. */
export class LogScale {
  #low;
  #least_decades;
  #decades;

  constructor(low, decades) {
    this.#low = low;
    this.#least_decades = decades;
    this.#decades = new Calm(decades);
  }

  fit(peak, now_ms) {
    const decades = peak > this.#low ? Math.ceil(Math.log10(peak / this.#low)) : 0;
    this.#decades.approach(Math.max(this.#least_decades, decades), now_ms);
  }

  height(value) {
    return value <= this.#low ? 0 : Math.log10(value / this.#low) / this.#decades.value;
  }

  lines() {
    return Array.from({ length: this.#decades.value + 1 }, (_, index) => this.#low * 10 ** index);
  }
}

/** The smallest of `steps` times a power of ten that is not below the value. */
export function roundUp(value, steps) {
  if (!(value > 0)) return 0;
  const power = 10 ** Math.floor(Math.log10(value));
  return (steps.find((step) => step * power >= value * (1 - 1e-9)) ?? 10) * power;
}
