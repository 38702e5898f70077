// What all charts have in common: a canvas as sharp as the screen, both axes, the crosshair, and to be drawn only when something
// changed. It works in pixels of the device; ticks are put onto whole ones, so that nothing shimmers while it scrolls.

import { whole } from "../panels/format.js";
import { colours, reducedMotion } from "../theme.js";

const LEFT_PX = 40;
const TOP_PX = 8;
const BOTTOM_PX = 18;
/** Where the axis of time is labelled; a narrow chart has room for every other. */
const SECONDS = [20, 15, 10, 5, 0];
const NARROW_PX = 320;

export class Chart {
  context;
  /** Device pixels for each CSS pixel, and the plot's borders in device pixels. */
  ratio = 1;
  left = 0;
  right = 0;
  top = 0;
  bottom = 0;
  /** What is in sight: packets, and samples with one more at each side. */
  samples = [];
  packets = [];
  #canvas;
  #timeline;
  #history;
  #kind;
  #right_px;
  #visible = true;
  #drawn = "";
  #px_per_tick = 1;
  #edge_px = 0;

  /** `kind`: its `scale`, `peak(chart)` for the scale to hold, and `paint(chart)`. */
  constructor(canvas, timeline, history, kind, right_px = 12) {
    this.#canvas = canvas;
    this.#timeline = timeline;
    this.#history = history;
    this.#kind = kind;
    this.#right_px = right_px;
    this.context = canvas.getContext("2d");
    new ResizeObserver(() => this.#resize()).observe(canvas);
    new IntersectionObserver((entries) => { this.#visible = entries.at(-1).isIntersecting; }).observe(canvas);
    const point = (event) => {
      const box = canvas.getBoundingClientRect();
      const back = (box.right - this.#right_px - event.clientX) / (box.width - LEFT_PX - this.#right_px);
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
    if (!this.#visible) return;
    if (this.ratio !== window.devicePixelRatio) this.#resize();
    if (this.right <= this.left) return;
    this.#px_per_tick = (this.right - this.left) / this.#timeline.ticks;
    this.#edge_px = Math.round(this.#timeline.edge * this.#px_per_tick);
    const data = reducedMotion() ? "" : this.#history.version;
    const state = [this.#edge_px, data, this.#timeline.hover, colours.version, this.#canvas.width, this.#canvas.height].join();
    if (state === this.#drawn) return;
    this.#drawn = state;
    const { first, edge } = this.#timeline;
    this.samples = this.#history.samples.slice(Math.max(0, this.#history.sampleIndex(first) - 1), this.#history.sampleIndex(edge) + 1);
    this.packets = this.#history.packets.slice(this.#history.packetIndex(first), this.#history.packetIndex(edge));
    this.#kind.scale.fit(this.#kind.peak(this), now_ms);
    const { context } = this;
    context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    context.font = `${11 * this.ratio}px system-ui, sans-serif`;
    context.lineWidth = Math.max(1, Math.round(this.ratio));
    this.#axes();
    context.save();
    context.beginPath();
    context.rect(this.left, 0, this.right - this.left, this.bottom);
    context.clip();
    this.#kind.paint(this);
    context.restore();
    this.#kind.label?.(this);
    this.#crosshair();
  }

  /** A line of one device pixel's sharpness across or down the plot. */
  rule(x1, y1, x2, y2) {
    const half = (this.context.lineWidth % 2) / 2;
    this.context.beginPath();
    this.context.moveTo(x1 + half, y1 + half);
    this.context.lineTo(x2 + half, y2 + half);
    this.context.stroke();
  }

  text(words, x, y, align, colour, baseline = "middle") {
    this.context.textAlign = align;
    this.context.textBaseline = baseline;
    this.context.fillStyle = colours.css[colour];
    this.context.fillText(words, x, y);
  }

  #axes() {
    const { context, ratio } = this;
    context.strokeStyle = colours.css.line;
    for (const value of this.#kind.scale.lines()) {
      const y = this.y(value);
      this.rule(this.left, y, this.right, y);
      this.text(shortNumber(value), this.left - 6 * ratio, y, "right", "muted");
    }
    const every = this.right - this.left < NARROW_PX * ratio ? 2 : 1;
    for (const seconds of SECONDS.filter((_, index) => index % every === 0)) {
      const x = this.right - ((this.right - this.left) * seconds) / SECONDS[0];
      const align = { 0: "right", [SECONDS[0]]: "left" }[seconds] ?? "center";
      this.text(seconds === 0 ? "now" : `−${seconds} s`, x, this.bottom + 5 * ratio, align, "muted", "top");
    }
  }

  #crosshair() {
    const tick = this.#timeline.hoverTick;
    if (tick === null) return;
    const { context, ratio } = this;
    const x = Math.round(this.right - (this.right - this.left) * this.#timeline.hover);
    context.strokeStyle = colours.css.text;
    this.rule(x, this.top, x, this.bottom);
    const words = `−${this.#timeline.secondsAgo(tick).toFixed(1)} s`;
    const half = context.measureText(words).width / 2 + 8 * ratio;
    const middle = Math.min(this.#canvas.width - half, Math.max(half, x));
    context.fillStyle = colours.css.panel;
    context.fillRect(middle - half, this.bottom + 2 * ratio, 2 * half, 16 * ratio);
    this.text(words, middle, this.bottom + 5 * ratio, "center", "text", "top");
  }

  #resize() {
    this.ratio = window.devicePixelRatio;
    this.#canvas.width = Math.round(this.#canvas.clientWidth * this.ratio);
    this.#canvas.height = Math.round(this.#canvas.clientHeight * this.ratio);
    this.left = Math.round(LEFT_PX * this.ratio);
    this.right = this.#canvas.width - Math.round(this.#right_px * this.ratio);
    this.top = Math.round(TOP_PX * this.ratio);
    this.bottom = this.#canvas.height - Math.round(BOTTOM_PX * this.ratio);
    this.#drawn = "";
  }
}

/** As few characters as an axis needs. */
function shortNumber(value) {
  if (value >= 10_000) return `${value / 1000}k`;
  return value >= 1000 ? whole(value) : String(Number(value.toPrecision(3)));
}
