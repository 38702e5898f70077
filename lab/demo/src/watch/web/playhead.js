// The shown moment, in ticks with a fraction, and how it moves.

export class Playhead {
  tick = 0;
  playing = false;
  speed = 1;
  first = 0;
  last = 0;
  rate_hz = 60;

  /** Takes the length of the replay, which may grow. */
  begin({ ticks, rate_hz }) {
    const isNew = this.last === 0;
    if (!ticks) return;
    [this.first, this.last] = ticks;
    this.rate_hz = rate_hz;
    if (isNew) this.tick = this.first;
  }

  get seconds() {
    return (this.tick - this.first) / this.rate_hz;
  }

  get duration_s() {
    return (this.last - this.first) / this.rate_hz;
  }

  seek(tick) {
    this.tick = Math.min(this.last, Math.max(this.first, tick));
  }

  seekSeconds(seconds) {
    this.seek(this.first + seconds * this.rate_hz);
  }

  /** Plays, from the beginning if it is at the end. */
  toggle() {
    this.playing = !this.playing;
    const [begin, end] = this.speed < 0 ? [this.last, this.first] : [this.first, this.last];
    if (this.playing && this.tick === end) this.tick = begin;
  }

  /** One frame. */
  step(direction) {
    this.playing = false;
    const whole = direction > 0 ? Math.floor(this.tick) : Math.ceil(this.tick);
    this.seek(whole + direction);
  }

  update(seconds) {
    if (!this.playing) return;
    this.seek(this.tick + seconds * this.speed * this.rate_hz);
    const end = this.speed < 0 ? this.first : this.last;
    if (this.tick === end) this.playing = false;
  }
}

/** 1:02:03.4 */
export function clock(seconds) {
  const tenths = Math.round(seconds * 10);
  const [hours, minutes] = [Math.floor(tenths / 36_000), Math.floor(tenths / 600) % 60];
  const rest = ((tenths % 600) / 10).toFixed(1).padStart(4, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}
