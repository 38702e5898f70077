// Lines over time: a thin one and a thick one, so that they differ without colour.

import { runs } from "./chart_stack.js";
import { colours } from "../shared/theme.js";

export class LinesChart {
  scale;
  #series;

  /** `series`: for each line, the field of a sample, the colour, and the width in pixels. */
  constructor(scale, series) {
    this.scale = scale;
    this.#series = series;
  }

  peak({ samples }) {
    return samples.reduce((peak, sample) => Math.max(peak, ...this.#series.map(([field]) => sample[field] ?? 0)), 0);
  }

  paint(chart) {
    const { context, ratio } = chart;
    const all = runs(chart.samples);
    context.lineJoin = "round";
    for (const [field, colour, width_px] of this.#series) {
      context.strokeStyle = colours.css[colour];
      context.lineWidth = width_px * ratio;
      context.beginPath();
      for (const run of all) {
        const measured = run.filter((sample) => Number.isFinite(sample[field]));
        measured.forEach((sample, index) => {
          if (index === 0) context.moveTo(chart.x(sample.tick), chart.y(sample[field]));
          else context.lineTo(chart.x(sample.tick), chart.y(sample[field]));
        });
      }
      context.stroke();
    }
    context.lineWidth = Math.max(1, Math.round(ratio));
  }
}
