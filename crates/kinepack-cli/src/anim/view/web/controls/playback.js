// The current time of the page, and how it advances.

export class Playback {
  time_s = 0;
  duration_s = 0;
  playing = false;
  loop = true;
  speed = 1;
  #sample_s = 1;

  /** Begins a clip at its first sample. */
  begin({ duration_s, rate_hz }) {
    this.duration_s = duration_s;
    this.#sample_s = 1 / rate_hz;
    this.time_s = 0;
  }

  /** The last sample at or before the time. */
  get sample() {
    return Math.floor(this.time_s / this.#sample_s + 1e-3);
  }

  /** Plays or stops. At the end, it plays from the beginning. */
  toggle() {
    this.playing = !this.playing && this.duration_s > 0;
    if (this.playing && this.time_s >= this.duration_s) this.time_s = 0;
  }

  seek(time_s) {
    this.time_s = Math.min(this.duration_s, Math.max(0, time_s));
  }

  /** Stops at the sample that is `samples` after the current one. */
  step(samples) {
    this.playing = false;
    const at = this.time_s / this.#sample_s;
    const from = samples < 0 ? Math.ceil(at - 1e-3) : Math.floor(at + 1e-3);
    this.seek((from + samples) * this.#sample_s);
  }

  update(seconds) {
    if (!this.playing || this.duration_s === 0) return;
    const next_s = this.time_s + seconds * this.speed;
    if (next_s <= this.duration_s) {
      this.time_s = next_s;
    } else if (this.loop) {
      this.time_s = next_s % this.duration_s;
    } else {
      this.time_s = this.duration_s;
      this.playing = false;
    }
  }
}
