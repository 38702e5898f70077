// The third view: the world as it would arrive without compression, over the same link, at the
// bandwidth that Kinepack uses now. The program sends nothing for it. The page computes it from the
// true world, with the same delay as Kinepack's view.

import { BODY_WORDS } from "../protocol.js";

/** Bits of a cube: position 3 × 32, orientation 4 × 32, velocity 3 × 32, and a flag. */
export const CUBE_BITS = 321;
/** Cubes that fit into a datagram of 1,200 bytes, and bits of its IP and UDP headers. */
const CUBES_A_PACKET = 29;
const HEADER_BITS = 28 * 8;
export const CUBE_BITS_WITH_HEADERS = CUBE_BITS + HEADER_BITS / CUBES_A_PACKET;
/** How long unused bandwidth is saved up while no cube moves. */
const SAVED_S = 0.1;
/** The weight of each world in the mean number of moving cubes. */
const MEAN_SHARE = 0.1;

export class Uncompressed {
  /** `whole`: whole snapshots. `moved`: only cubes that moved since their last update, in turn. `none`: no view. */
  mode = "whole";
  /** The bodies to show, laid out as in the program's message, or null. */
  bodies = null;
  /** Updates per second: of whole snapshots, or of each moving cube. */
  rate_hz = null;
  #past;
  #tick = 0;
  #shown_tick = null;
  #bits = 0;
  #next = 0;
  #in_packet = 0;
  #is_lost = false;
  #truth = null;
  #moving = 0;

  /** `past`: the true worlds until now. */
  constructor(past) {
    this.#past = past;
  }

  clear() {
    this.bodies = null;
    this.#shown_tick = null;
    this.#truth = null;
    this.rate_hz = null;
  }

  /** Takes a world. `bits_per_s` is the budget, with headers. `loss_ratio` is the share of packets that the link loses. */
  update(world, { bits_per_s, loss_ratio, tick_hz }) {
    if (this.mode === "none" || world.sent.length === 0) return;
    if (world.tick < this.#tick) this.clear();
    this.#tick = world.tick;
    if (!Number.isFinite(world.shownTick) || world.shown.length === 0) return;
    const truth = this.#past.at(world.shownTick);
    if (this.bodies?.length !== truth.length) {
      // This view begins with the whole world, as Kinepack's does.
      this.bodies = truth.slice();
      this.#moving = 0;
      this.#shown_tick = world.shownTick;
      this.#bits = 0;
      this.#next = 0;
      return;
    }
    const seconds = Math.min(1, Math.max(0, (world.shownTick - this.#shown_tick) / tick_hz));
    this.#shown_tick = world.shownTick;
    this.#bits += bits_per_s * seconds;
    if (this.mode === "whole") this.#updateWhole(truth, bits_per_s, loss_ratio);
    else this.#updateMoved(truth, bits_per_s, loss_ratio);
    if (this.mode === "moved") this.#rate(truth, bits_per_s, tick_hz);
    this.#truth = truth;
  }

  #updateWhole(truth, bits_per_s, loss_ratio) {
    const cubes = truth.length / BODY_WORDS;
    const snapshot_bits = cubes * CUBE_BITS_WITH_HEADERS;
    this.rate_hz = bits_per_s / snapshot_bits;
    if (this.#bits < snapshot_bits) return;
    this.#bits %= snapshot_bits;
    for (let cube = 0; cube < cubes; cube += 1) this.#send(truth, cube, loss_ratio);
  }

  #updateMoved(truth, bits_per_s, loss_ratio) {
    const cubes = truth.length / BODY_WORDS;
    for (let step = 0; step < cubes && this.#bits >= CUBE_BITS_WITH_HEADERS; step += 1) {
      const cube = this.#next;
      this.#next = (cube + 1) % cubes;
      if (!differs(truth, this.bodies, cube)) continue;
      this.#bits -= CUBE_BITS_WITH_HEADERS;
      this.#send(truth, cube, loss_ratio);
    }
    this.#bits = Math.min(this.#bits, Math.max(bits_per_s * SAVED_S, CUBE_BITS_WITH_HEADERS));
  }

  #send(truth, cube, loss_ratio) {
    if (this.#in_packet === 0) this.#is_lost = Math.random() < loss_ratio;
    this.#in_packet = (this.#in_packet + 1) % CUBES_A_PACKET;
    if (this.#is_lost) return;
    const at = cube * BODY_WORDS;
    this.bodies.set(truth.subarray(at, at + BODY_WORDS), at);
  }

  /** The updates per second of each moving cube that the bandwidth allows. */
  #rate(truth, bits_per_s, tick_hz) {
    if (this.#truth?.length !== truth.length || this.#truth === truth) return;
    let moving = 0;
    for (let cube = 0; cube < truth.length / BODY_WORDS; cube += 1) moving += differs(truth, this.#truth, cube) ? 1 : 0;
    this.#moving = this.#moving === 0 ? moving : this.#moving + MEAN_SHARE * (moving - this.#moving);
    this.rate_hz = this.#moving > 0 ? Math.min(tick_hz, bits_per_s / CUBE_BITS_WITH_HEADERS / this.#moving) : null;
  }
}

/** Whether a cube has another position or orientation in another world. */
function differs(bodies, others, cube) {
  const at = cube * BODY_WORDS;
  for (let word = at; word < at + BODY_WORDS - 1; word += 1) {
    if (bodies[word] !== others[word]) return true;
  }
  return false;
}
