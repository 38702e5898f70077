// Clips that a page's own body plays, as `ClipPlay` of kinepack_anim in Rust.

const STEPS = 1024;
const MAX_SPEED = 16;
const WEIGHT_STEPS = 255;
const END_TICKS = 2 ** 31 / STEPS;

export class ClipPlay {
  // Times and speeds are integers, so both sides compute the same time.
  #timeSteps = 0;
  #speedSteps = STEPS;
  #weightSteps = WEIGHT_STEPS;

  constructor(clip, tick) {
    this.clip = clip;
    this.since = checkTick(tick);
    Object.freeze(this);
  }

  static start(clip, tick) {
    return new ClipPlay(clip, tick);
  }

  withTime(tick, timeTicks) {
    const time = checked("time", timeTicks, -END_TICKS, END_TICKS - 1 / STEPS);
    return this.#changed(tick, { time: rounded(time * STEPS) });
  }

  withSpeed(tick, speed) {
    const steps = rounded(checked("speed", speed, -MAX_SPEED, MAX_SPEED) * STEPS);
    if (steps === this.#speedSteps) return this;
    return this.#changed(tick, { time: this.#stepsAt(checkTick(tick)), speed: steps });
  }

  withWeight(weight) {
    // Rust takes an f32.
    const of = checked("weight", Math.fround(weight), 0, 1);
    return this.#changed(this.since, { weight: rounded(of * WEIGHT_STEPS) });
  }

  get speed() {
    return this.#speedSteps / STEPS;
  }

  get weight() {
    return this.#weightSteps / WEIGHT_STEPS;
  }

  timeTicks(tick) {
    const whole = Math.floor(tick);
    return (this.#stepsAt(whole) + this.#speedSteps * (tick - whole)) / STEPS;
  }

  #changed(tick, { time = this.#timeSteps, speed = this.#speedSteps, weight = this.#weightSteps }) {
    const play = new ClipPlay(this.clip, tick);
    play.#timeSteps = time;
    play.#speedSteps = speed;
    play.#weightSteps = weight;
    return play;
  }

  // The time wraps at 32 bits. The product has at most 47 bits, so it is exact.
  #stepsAt(tick) {
    const passed = (tick - this.since) >>> 0;
    return (this.#timeSteps + this.#speedSteps * passed) | 0;
  }
}

function checkTick(tick) {
  if (Number.isInteger(tick) && tick >= 0 && tick < 2 ** 32) return tick;
  throw new RangeError(`a tick is an integer from 0 to 2^32 - 1, not ${tick}`);
}

function checked(what, value, min, max) {
  if (value >= min && value <= max) return value;
  throw new RangeError(`the ${what} of a clip is ${value}; it must be from ${min} to ${max}`);
}

// Halves are rounded away from 0, as in Rust.
function rounded(number) {
  return Math.sign(number) * Math.round(Math.abs(number)) | 0;
}
