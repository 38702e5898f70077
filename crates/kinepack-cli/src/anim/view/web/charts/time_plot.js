// The common part of both curves: time from left to right and the playhead. A plot is drawn only if something changed. A pointer on the
// plot sets the time.

import { Plot } from "../shared/plot.js";
import { roundUp } from "../shared/scale.js";
import { colours } from "../shared/theme.js";

const STEPS = [1, 2, 5, 10];
/** The width of a time label. */
const LABEL_PX = 70;

export class TimePlot extends Plot {
  scale = null;
  duration_s = 0;
  #drawn = "";

  constructor(canvas, playback) {
    super(canvas);
    this.onDrag((part) => playback.seek(part * this.duration_s));
  }

  x(time_s) {
    return this.left + (this.duration_s > 0 ? time_s / this.duration_s : 0) * (this.right - this.left);
  }

  y(value) {
    return this.bottom - this.scale.height(value) * (this.bottom - this.top);
  }

  /** Marks the plot to be drawn again. */
  stale() {
    this.#drawn = "";
  }

  draw(time_s) {
    if (!this.ready) return;
    const head = Math.round(this.x(time_s));
    const state = [head, colours.version, this.version].join();
    if (state === this.#drawn) return;
    this.#drawn = state;
    this.clear();
    if (!this.scale) return;
    this.valueLines(this.scale.lines(), (value) => Math.round(this.y(value)));
    this.#times();
    this.inside(() => this.paint());
    this.context.lineWidth = Math.max(1, Math.round(this.ratio));
    this.marker(head, `${time_s.toFixed(2)} s`);
  }

  /** A line through values, one for each pixel. With `peak`, a pixel shows the largest of its values. */
  curve(count, time, value, peak = false) {
    const { context } = this;
    const every = Math.max(1, Math.floor(count / (this.right - this.left)));
    context.lineJoin = "round";
    context.beginPath();
    for (let index = 0; index < count; index += every) {
      let shown = value(index);
      if (peak) for (let next = index + 1; next < Math.min(count, index + every); next += 1) shown = Math.max(shown, value(next));
      context.lineTo(this.x(time(index)), this.y(shown));
    }
    if (count > 0) context.lineTo(this.x(time(count - 1)), this.y(value(count - 1)));
    context.stroke();
  }

  #times() {
    const room = Math.max(1, (this.right - this.left) / (LABEL_PX * this.ratio));
    const step = roundUp(this.duration_s / room, STEPS);
    if (!(step > 0)) return;
    for (let index = 0; index * step <= this.duration_s * (1 + 1e-6); index += 1) {
      const words = `${Number((index * step).toPrecision(6))} s`;
      const x = this.x(index * step);
      const isLast = x + this.context.measureText(words).width / 2 > this.canvas.width;
      this.text(words, x, this.bottom + 5 * this.ratio, isLast ? "right" : "center", "muted", "top");
    }
  }
}
