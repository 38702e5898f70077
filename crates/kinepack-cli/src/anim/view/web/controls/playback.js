// The time that everything shows, and how it goes on.

export class Playback {
  time_s = 0;
  duration_s = 0;
  playing = false;
  loop = true;
  speed = 1;
  #sample_s = 1;

  /** Another clip, from its beginning. */
  begin({ duration_s, rate_hz }) {
    this.duration_s = duration_s;
    this.#sample_s = 1 / rate_hz;
    this.time_s = 0;
  }

  /** The nearest sample before or at the time. */
  get sample() {
    return Math.floor(this.time_s / this.#sample_s + 1e-3);
  }

  /** Plays or stops; from the end on it plays from the beginning. */
  toggle() {
    this.playing = !this.playing && this.duration_s > 0;
    if (this.playing && this.time_s >= this.duration_s) this.time_s = 0;
  }

  seek(time_s) {
    this.time_s = Math.min(this.duration_s, Math.max(0, time_s));
  }

  /** Stops at a sample time, so many samples from here. */
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
