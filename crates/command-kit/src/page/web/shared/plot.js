// A canvas for plots at the screen's resolution: borders, grid lines and labels. Coordinates are device pixels.

import { whole } from "./format.js";
import { colours } from "./theme.js";

/** The width of the value labels to the left of the plot. */
export const LEFT_PX = 44;
const TOP_PX = 8;
const BOTTOM_PX = 20;

export class Plot {
  canvas;
  context;
  /** Device pixels for each CSS pixel, and the plot's borders in device pixels. */
  ratio = 1;
  left = 0;
  right = 0;
  top = 0;
  bottom = 0;
  /** Counts changes of the size. */
  version = 0;
  right_px;
  #visible = true;

  /** `right_px`: the free width to the right of the plot. */
  constructor(canvas, right_px = 12) {
    this.canvas = canvas;
    this.right_px = right_px;
    this.context = canvas.getContext("2d");
    new ResizeObserver(() => this.#resize()).observe(canvas);
    new IntersectionObserver((entries) => { this.#visible = entries.at(-1).isIntersecting; }).observe(canvas);
  }

  /** Whether the canvas is visible and has a size. */
  get ready() {
    if (!this.#visible) return false;
    if (this.ratio !== window.devicePixelRatio) this.#resize();
    return this.right > this.left;
  }

  clear() {
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.plain();
    this.context.lineWidth = Math.max(1, Math.round(this.ratio));
  }

  /** Calls `moved` with the place of a pressed pointer, as a share of the plot's width. */
  onDrag(moved) {
    const { canvas } = this;
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      moved((event.clientX - box.left - LEFT_PX) / (box.width - LEFT_PX - this.right_px));
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      place(event);
    });
    canvas.addEventListener("pointermove", (event) => { if (canvas.hasPointerCapture(event.pointerId)) place(event); });
  }

  /** The font of labels. */
  plain() {
    this.context.font = `${12 * this.ratio}px system-ui, sans-serif`;
  }

  /** Calls `paint`, clipped to the borders. */
  inside(paint) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(this.left, 0, this.right - this.left, this.bottom);
    this.context.clip();
    paint();
    this.context.restore();
  }

  /** A line across or down the plot, aligned to device pixels. */
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

  /** Horizontal lines with their values; `y` maps a value to its position. */
  valueLines(values, y) {
    this.context.strokeStyle = colours.css.line;
    for (const value of values) {
      this.rule(this.left, y(value), this.right, y(value));
      this.text(shortNumber(value), this.left - 6 * this.ratio, y(value), "right", "muted");
    }
  }

  /** A label below the plot, with a vertical line above it. */
  marker(x, words) {
    const { context, ratio } = this;
    context.strokeStyle = colours.css.text;
    this.rule(x, this.top, x, this.bottom);
    const half = context.measureText(words).width / 2 + 8 * ratio;
    const middle = Math.min(this.canvas.width - half, Math.max(half, x));
    context.fillStyle = colours.css.panel;
    context.fillRect(middle - half, this.bottom + 2 * ratio, 2 * half, 16 * ratio);
    this.text(words, middle, this.bottom + 5 * ratio, "center", "text", "top");
  }

  #resize() {
    this.ratio = window.devicePixelRatio;
    this.canvas.width = Math.round(this.canvas.clientWidth * this.ratio);
    this.canvas.height = Math.round(this.canvas.clientHeight * this.ratio);
    this.left = Math.round(LEFT_PX * this.ratio);
    this.right = this.canvas.width - Math.round(this.right_px * this.ratio);
    this.top = Math.round(TOP_PX * this.ratio);
    this.bottom = this.canvas.height - Math.round(BOTTOM_PX * this.ratio);
    this.version += 1;
  }
}

/** A number in few characters. */
function shortNumber(value) {
  if (Math.abs(value) >= 10_000) return `${value / 1000}k`.replace("-", "−");
  return (Math.abs(value) >= 1000 ? whole(value) : String(Number(value.toPrecision(3)))).replace("-", "−");
}
