// A track over time: a thick coloured line for each decoded value, thin lines on them for the raw values, dots for keys.

import { TimePlot } from "./time_plot.js";
import { ValueScale } from "./value_scale.js";
import { colours } from "../shared/theme.js";

export const COLOURS = ["axis-x", "axis-y", "axis-z", "axis-w"];
/** The smallest ranges that are shown: of a rotation or scale, and of a translation in cm. */
const LEAST = { rotation: 0.02, translation: 0.5, scale: 0.02 };
/** Keys that are closer than this are smaller dots without a rim. */
const CROWD_PX = 6;

export class TrackCurve extends TimePlot {
  #track = null;
  #clip = null;

  /** Shows nothing. */
  clearTrack() {
    this.#track = null;
    this.scale = null;
    this.stale();
  }

  begin(track, channel, clip) {
    this.#track = track;
    this.#clip = clip;
    this.duration_s = clip.duration_s;
    const low = [track.raw, track.clip].map((values) => values.reduce((a, b) => Math.min(a, b), Infinity));
    const high = [track.raw, track.clip].map((values) => values.reduce((a, b) => Math.max(a, b), -Infinity));
    this.scale = new ValueScale(Math.min(...low), Math.max(...high), LEAST[channel]);
    this.stale();
  }

  paint() {
    const { context, ratio } = this;
    const { count, size, step, raw, clip, key_times_s, key_values } = this.#track;
    const { samples, rate_hz } = this.#clip;
    const time = (index) => Math.min(index * step, 2 * (samples - 1)) / (2 * rate_hz);
    const components = Array.from({ length: size }, (_, axis) => axis);
    context.lineWidth = 4 * ratio;
    for (const axis of components) {
      context.strokeStyle = colours.css[COLOURS[axis]];
      this.curve(count, time, (index) => clip[index * size + axis]);
    }
    context.lineWidth = ratio;
    context.strokeStyle = colours.css.text;
    for (const axis of this.#clip.compiled ? [] : components) this.curve(count, time, (index) => raw[index * size + axis]);
    const isCrowd = key_times_s.length * CROWD_PX * ratio > this.right - this.left;
    const radius = ratio * (isCrowd ? 2 : 3.5);
    context.strokeStyle = colours.css.panel;
    for (const axis of components) {
      context.fillStyle = colours.css[COLOURS[axis]];
      for (const [index, time_s] of key_times_s.entries()) {
        context.beginPath();
        context.arc(this.x(time_s), this.y(key_values[index * size + axis]), radius, 0, 2 * Math.PI);
        context.fill();
        if (!isCrowd) context.stroke();
      }
    }
  }
}
