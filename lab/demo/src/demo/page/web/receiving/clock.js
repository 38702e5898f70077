// The session's time, which the program sends once a tick. Between two ticks this clock runs by
// itself. While the program pauses, the clock stops.

/** The longest time that the clock runs without a message from the program: two ticks. */
const ALONE_S = 2 / 60;
/** A clock that is further off than this jumps. */
const JUMP_S = 0.25;
/** The share of an error that each reading corrects. */
const CORRECTION = 0.1;

export class Clock {
  #told_s = 0;
  #told_at_ms = -Infinity;
  #now_s = 0;
  #read_at_ms = 0;

  /** Takes the time that the program sent. */
  tell(time_s, now_ms) {
    this.#told_s = time_s;
    this.#told_at_ms = now_ms;
  }

  /** The time in seconds. It runs backwards only if the program began anew. */
  read(now_ms) {
    const latest_s = this.#told_s + ALONE_S;
    const target_s = Math.min(latest_s, this.#told_s + (now_ms - this.#told_at_ms) / 1000);
    const run_s = this.#now_s + (now_ms - this.#read_at_ms) / 1000;
    this.#read_at_ms = now_ms;
    const next_s = Math.abs(target_s - run_s) > JUMP_S ? target_s : run_s + CORRECTION * (target_s - run_s);
    const isAnew = this.#now_s > latest_s + JUMP_S;
    this.#now_s = isAnew ? target_s : Math.max(this.#now_s, Math.min(next_s, latest_s));
    return this.#now_s;
  }
}
