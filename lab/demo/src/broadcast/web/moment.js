// Which moment is shown: the present, or one of the history.

export class Moment {
  /** Null for the present. */
  tick = null;
  paused = false;

  /** Pauses at the tick that is shown, or continues from the paused moment. */
  toggle(shown) {
    this.paused = !this.paused;
    this.tick ??= shown;
  }

  /** Goes to a tick. From the end of the history on, the present is shown. */
  seek(tick, { first, last }) {
    if (tick >= last) this.goLive();
    else this.tick = Math.max(first, tick);
  }

  goLive() {
    this.tick = null;
    this.paused = false;
  }

  /** Moves on by some ticks. A paused moment moves when the history no longer contains it. */
  advance(ticks, history) {
    if (this.tick === null) return;
    if (!history) this.goLive();
    else this.seek(this.paused ? this.tick : this.tick + ticks, history);
  }
}
