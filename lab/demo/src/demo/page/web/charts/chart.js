// The common part of all charts: the last seconds on a plot, the time axis, and the crosshair. A chart
// is drawn only if something changed. Ticks are at whole device pixels, so that a chart does not
// shimmer while it scrolls.

import { LEFT_PX, Plot } from "../shared/plot.js";
import { colours, reducedMotion } from "../shared/theme.js";

/** The labels of the time axis. A narrow chart shows every second one. */
const SECONDS = [20, 15, 10, 5, 0];
const NARROW_PX = 320;

export class Chart extends Plot {
  /** The last minute. `samples` and `packets` are its visible part, with one more sample at each side. */
  all;
  samples = [];
  packets = [];
  #timeline;
  #history;
  #kind;
  #drawn = "";
  #px_per_tick = 1;
  #edge_px = 0;

  /** `kind` has a `scale`, `peak(chart)`, which the scale must reach, and `paint(chart)`. */
  constructor(canvas, timeline, history, kind, right_px) {
    super(canvas, right_px);
    this.#timeline = timeline;
    this.#history = history;
    this.all = history;
    this.#kind = kind;
    const point = (event) => {
      const box = canvas.getBoundingClientRect();
      const back = (box.right - this.right_px - event.clientX) / (box.width - LEFT_PX - this.right_px);
      timeline.hover = Math.min(1, Math.max(0, back));
    };
    canvas.addEventListener("pointermove", point);
    canvas.addEventListener("pointerdown", point);
    canvas.addEventListener("pointerleave", () => { timeline.hover = null; });
  }

  x(tick) {
    return this.right + Math.round(tick * this.#px_per_tick) - this.#edge_px;
  }

  y(value) {
    return Math.round(this.bottom - this.#kind.scale.height(value) * (this.bottom - this.top));
  }

  draw(now_ms) {
    if (!this.ready) return;
    this.#px_per_tick = (this.right - this.left) / this.#timeline.ticks;
    this.#edge_px = Math.round(this.#timeline.edge * this.#px_per_tick);
    const data = reducedMotion() ? "" : this.#history.version;
    const state = [this.#edge_px, data, this.#timeline.hover, colours.version, this.version].join();
    if (state === this.#drawn) return;
    this.#drawn = state;
    const { first, edge } = this.#timeline;
    this.samples = this.#history.samples.slice(Math.max(0, this.#history.sampleIndex(first) - 1), this.#history.sampleIndex(edge) + 1);
    this.packets = this.#history.packets.slice(this.#history.packetIndex(first), this.#history.packetIndex(edge));
    this.#kind.scale.fit(this.#kind.peak(this), now_ms);
    this.clear();
    this.#axes();
    this.inside(() => this.#kind.paint(this));
    this.#kind.label?.(this);
    this.#crosshair();
  }

  #axes() {
    this.valueLines(this.#kind.scale.lines(), (value) => this.y(value));
    const every = this.right - this.left < NARROW_PX * this.ratio ? 2 : 1;
    for (const seconds of SECONDS.filter((_, index) => index % every === 0)) {
      const x = this.right - ((this.right - this.left) * seconds) / SECONDS[0];
      const align = { 0: "right", [SECONDS[0]]: "left" }[seconds] ?? "center";
      this.text(seconds === 0 ? "now" : `−${seconds} s`, x, this.bottom + 5 * this.ratio, align, "muted", "top");
    }
  }

  #crosshair() {
    const tick = this.#timeline.hoverTick;
    if (tick === null) return;
    const x = Math.round(this.right - (this.right - this.left) * this.#timeline.hover);
    this.marker(x, `−${this.#timeline.secondsAgo(tick).toFixed(1)} s`);
  }
}
