// The whole replay from left to right: the bandwidth of each group, the markers, and the playhead. A pointer goes to a moment.

import { clock } from "./playhead.js";
import { Plot } from "./shared/plot.js";
import { colours } from "./shared/theme.js";

/** The heights of lines of values, as shares of the largest. */
const LINES = [0, 0.5, 1];

export class TimeLine extends Plot {
  #playhead;
  #replay = null;
  #most_kbps = 0;
  #drawn = "";

  constructor(canvas, playhead) {
    super(canvas);
    this.#playhead = playhead;
    this.onDrag((part) => playhead.seekSeconds(part * playhead.duration_s));
  }

  begin(replay) {
    this.#replay = replay;
    this.#most_kbps = Math.max(1, ...replay.groups.map((_, group) => this.#kbps(group)));
    this.canvas.setAttribute("aria-valuemax", this.#playhead.duration_s.toFixed(1));
    this.#drawn = "";
  }

  draw() {
    if (!this.#replay || !this.ready) return;
    const head = Math.round(this.#x(this.#playhead.tick));
    const state = [head, colours.version, this.version].join();
    if (state === this.#drawn) return;
    this.#drawn = state;
    this.canvas.setAttribute("aria-valuenow", this.#playhead.seconds.toFixed(1));
    this.canvas.setAttribute("aria-valuetext", clock(this.#playhead.seconds));
    this.clear();
    const y = (kbps) => Math.round(this.bottom - (kbps / this.#most_kbps) * (this.bottom - this.top));
    this.valueLines(LINES.map((share) => share * this.#most_kbps), y);
    this.inside(() => this.#bars(y));
    for (const [tick, name] of this.#replay.markers) this.#marker(this.#x(tick), name);
    for (const [seconds, align] of [[0, "left"], [this.#playhead.duration_s, "right"]]) {
      this.text(clock(seconds), align === "left" ? this.left : this.right, this.bottom + 5 * this.ratio, align, "muted", "top");
    }
    this.marker(head, clock(this.#playhead.seconds));
  }

  #x(tick) {
    const { first, last } = this.#playhead;
    return this.left + (last > first ? (tick - first) / (last - first) : 0) * (this.right - this.left);
  }

  /** The tick after a group. */
  #end(group) {
    return this.#replay.groups[group + 1]?.[0] ?? this.#playhead.last + 1;
  }

  #kbps(group) {
    const [tick, bytes] = this.#replay.groups[group];
    return (bytes * 8e-3 * this.#playhead.rate_hz) / Math.max(1, this.#end(group) - tick);
  }

  /** A bar for each group; of several groups in one pixel the highest. */
  #bars(y) {
    this.context.fillStyle = colours.css["part-position"];
    const gap = this.ratio >= 2 ? 1 : 0;
    for (const [group, [tick]] of this.#replay.groups.entries()) {
      const [left, right] = [Math.floor(this.#x(tick)), Math.floor(this.#x(this.#end(group)))];
      const top = y(this.#kbps(group));
      this.context.fillRect(left, top, Math.max(1, right - left - gap), this.bottom - top);
    }
  }

  #marker(x, name) {
    const { context, ratio } = this;
    context.strokeStyle = colours.css.interacting;
    context.fillStyle = colours.css.interacting;
    this.rule(Math.round(x), this.top, Math.round(x), this.bottom);
    const isRight = x + context.measureText(name).width + 6 * ratio < this.right;
    this.text(name, x + (isRight ? 4 : -4) * ratio, this.top, isRight ? "left" : "right", "text", "top");
  }
}
